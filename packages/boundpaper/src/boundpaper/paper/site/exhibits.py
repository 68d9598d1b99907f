"""Write pages of tables and figures: the exhibit, its data, and the claims that read the same artifacts."""

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from markupsafe import Markup

from boundpaper.build.outline import Node
from boundpaper.errors import DataError
from boundpaper.figures import Figure
from boundpaper.paper.site.grid import PageTable, table_of_csv, table_of_frame
from boundpaper.paper.site.page import page, typeset
from boundpaper.paper.site.plotted import plotted_rows
from boundpaper.paper.site.project import SiteProject
from boundpaper.paper.site.spoken import describe_figure
from boundpaper.paper.site.walk import neighbours
from boundpaper.paper.site.works import link_citations
from boundpaper.paper.tex.pictures import convert
from boundpaper.tables import Table
from boundpaper.tables.cells import Grid
from boundpaper.tables.data import csv
from boundpaper.tables.html import html
from boundpaper.tables.read import read
from boundpaper.typeset import addresses
from boundpaper.typeset.text import prose


def exhibit_pages(project: SiteProject, labels: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yield `table/NAME.html`, `figure/NAME.html`, and the pictures and data that these pages show.

    `labels` has the printed number of each exhibit by key, such as `Figure 8.1`, or an empty text.
    """
    for key, label in labels.items():
        node = project.outline.nodes[key]
        yield from (_table_pages if node.kind == "table" else _figure_pages)(project, node, label)


def exhibit_list(
    project: SiteProject, labels: Mapping[str, str], captions: Mapping[str, Markup]
) -> Iterator[tuple[str, bytes]]:
    """Yield `exhibits.html`, the list of all exhibits; `labels` and `captions` have each exhibit's text by its key."""
    exhibits = [(project.outline.nodes[key], label, captions[key]) for key, label in labels.items()]
    chapters = {key: project.outline.users[key] for key in labels}
    values = {"exhibits": exhibits, "chapters": chapters, "project": project}
    yield "exhibits.html", page("exhibits.html.j2", "exhibits.html", title="Exhibits", **values)


def short_caption(project: SiteProject, key: str, root: str = "") -> Markup:
    """Return an exhibit's short caption for a page; `root` is the relative path from the page to the site's folder."""
    spec = project.spec(key)
    return typeset(link_citations(prose(spec.short or spec.caption, "html"), project.works, root)[0])


def exhibit_html(project: SiteProject, kind: str, name: str, label: str) -> Markup:
    """Return an exhibit as HTML for a chapter; its number `label` links to its page, and its id is its LaTeX label."""
    node = project.outline.nodes[f"{kind}:{name}"]
    number = Markup('<a class="no" href="../{}">{}.</a> ').format(addresses.exhibit(kind, name), label)
    if kind == "table":
        body = project.cached(_table_html, node).replace("<caption>", Markup("<caption>") + number, 1)
        frame = Markup('<div class="scroll typeset" id="tab:{}" tabindex="0" role="region" aria-label="{}">{}</div>')
        return frame.format(name, label, body)
    values = project.cached(_picture_values, node)
    picture = Markup('<img src="../figure/{}" alt="{}" width="{}" height="{}" loading="lazy">').format(
        values["picture"], values["alt"], *values["size"]
    )
    notes = Markup().join(Markup("<p>{}</p>").format(note) for note in values["notes"])
    frame = Markup('<figure class="picture" id="fig:{}">{}<figcaption>{}{}{}</figcaption></figure>')
    return frame.format(name, picture, number, values["caption"], notes)


def _table_pages(project: SiteProject, node: Node, label: str) -> Iterator[tuple[str, bytes]]:
    text = csv(project.cached(_grid, node))
    yield f"table/{node.name}.csv", text.encode()
    body = project.cached(_table_html, node)
    yield from _page(project, node, label, {"body": body, "data": table_of_csv(text), "picture": ""})


def _grid(project: SiteProject, node: Node) -> Grid:
    return read(project.spec(node.key), node.name)


def _table_html(project: SiteProject, node: Node) -> Markup:
    """Return a table as HTML; readers can sort it if all columns repeat equal cells instead of leaving them empty."""
    spec: Table = project.spec(node.key)
    body = _link_citations(project, node, html(project.cached(_grid, node)))
    is_sortable = all(column.repeat for column in spec.columns)
    return body.replace('class="exhibit"', Markup('class="exhibit sortable"'), 1) if is_sortable else body


def _figure_pages(project: SiteProject, node: Node, label: str) -> Iterator[tuple[str, bytes]]:
    yield f"figure/{node.name}.svg", _picture(project, node.name)
    frame = plotted_rows(project.spec(node.key))
    data = None if frame.empty else table_of_frame(frame)
    if data is not None:
        yield f"figure/{node.name}.csv", frame.to_csv(index=False, lineterminator="\n").encode()
    yield from _page(project, node, label, {"body": "", "data": data, **project.cached(_picture_values, node)})


def _picture_values(project: SiteProject, node: Node) -> dict[str, Any]:
    """Return the file of a figure's picture, its alternative text, size in pixels, caption and notes."""
    spec: Figure = project.spec(node.key)
    size = re.search(r'width="([\d.]+)(?:pt)?" height="([\d.]+)', _picture(project, node.name)[:500].decode("latin-1"))
    return {
        "picture": f"{node.name}.svg",
        "alt": describe_figure(spec),
        "size": [round(float(side) * 4 / 3) for side in size.groups()] if size else (0, 0),
        "caption": _link_citations(project, node, prose(spec.caption, "html")),
        "notes": [_link_citations(project, node, prose(spec.note, "html"))] if spec.note else [],
    }


def _link_citations(project: SiteProject, node: Node, text: str) -> Markup:
    """Return an exhibit's HTML with typeset formulas and linked citations, and record the citations."""
    linked, keys = link_citations(text, project.works, "../")
    for key in keys:
        project.used.setdefault(key, set()).add(node.key)
    return typeset(linked)


def draw_pictures(project: SiteProject, jobs: int) -> None:
    """Convert the PDF of each figure to SVG, unless the SVG is up to date, `jobs` figures at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(partial(_picture, project), [node.name for node in project.nodes if node.kind == "figure"]))


def _picture(project: SiteProject, name: str) -> bytes:
    """Return a figure's picture as SVG; convert its PDF first, unless the SVG is up to date."""
    pdf, svg = (project.root / f"out/figures/{name}.{ending}" for ending in ("pdf", "svg"))
    if not pdf.is_file():
        raise DataError(f"{pdf.relative_to(project.root)} is missing; run `python build.py figure {name}`")
    if not svg.is_file() or svg.stat().st_mtime_ns < pdf.stat().st_mtime_ns:
        convert(pdf, svg)
        svg.touch()  # `convert` does not write an equal picture again
    return svg.read_bytes()


def _page(project: SiteProject, node: Node, label: str, values: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    path = addresses.exhibit(node.kind, node.name)
    data: PageTable | None = values["data"]
    common = {
        "node": node,
        "label": label,
        "short": short_caption(project, node.key, "../"),
        "project": project,
        "claims": _rows_by_artifact(project, node),
        "file": f"{node.name}.csv" if data else "",
        "addresses": addresses,
        **neighbours(project, node.key),
    }
    title = label or f"{node.kind.capitalize()} {node.name}"
    yield path, page("exhibit.html.j2", path, title=title, **common, **values)


def _rows_by_artifact(project: SiteProject, node: Node) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Return, for each artifact that an exhibit reads, the ledger rows that use it, fewest rows first."""
    by_artifact = [(name, [row for row in project.claims if name in row["inputs"]]) for name in node.reads]
    return sorted(((name, rows) for name, rows in by_artifact if rows), key=lambda name_and_rows: len(name_and_rows[1]))
