"""Pages of tables and figures: the exhibit, its data, and the claims that rest on the same artifacts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from boundpaper.build.outline import Node
from boundpaper.errors import DataError
from boundpaper.figures import Figure
from boundpaper.paper.site.grid import Grid, grid, of_csv
from boundpaper.paper.site.page import page, typeset
from boundpaper.paper.site.plotted import plotted_rows
from boundpaper.paper.site.project import EXHIBITS, Project
from boundpaper.paper.site.walk import around
from boundpaper.paper.site.works import cited
from boundpaper.paper.tex.pictures import convert
from boundpaper.tables import Table
from boundpaper.tables.render import render
from boundpaper.typeset import addresses
from boundpaper.typeset.text import prose
from boundpaper.typeset.words_of import words


def exhibit_pages(project: Project, used: dict[str, list[str]]) -> Iterator[tuple[str, bytes]]:
    """`table/NAME.html` and `figure/NAME.html` with the files that they show, and `exhibits.html`, the list of all.

    `used` takes the exhibits by the key of each work that they cite.
    """
    shown: list[tuple[Node, Markup]] = []
    for node in project.nodes:
        if node.kind in EXHIBITS:
            spec = project.call(node.key)
            shown.append((node, typeset(cited(prose(spec.short or spec.caption, "html"), project.works)[0])))
            yield from (_table if node.kind == "table" else _figure)(project, node, spec, used)
    chapters = {key: project.outline.up[key] for key in (node.key for node, _ in shown)}
    values = {"shown": shown, "chapters": chapters, "project": project}
    yield "exhibits.html", page("exhibits.html.j2", "exhibits.html", title="Exhibits", **values)


def _table(project: Project, node: Node, spec: Table, used: dict[str, list[str]]) -> Iterator[tuple[str, bytes]]:
    text = render(spec, node.name, "csv")
    yield f"table/{node.name}.csv", text.encode()
    body = _linked(project, node, render(spec, node.name, "html"), used)
    plainly = spec.groups is None and spec.rule_before is None and all(column.repeat for column in spec.columns)
    yield from _page(project, node, {"body": body, "sortable": plainly, "data": of_csv(text), "picture": ""})


def _figure(project: Project, node: Node, spec: Figure, used: dict[str, list[str]]) -> Iterator[tuple[str, bytes]]:
    yield f"figure/{node.name}.svg", _picture(project, node.name)
    frame = plotted_rows(spec)
    data = None if frame.empty else grid(frame)
    if data is not None:
        yield f"figure/{node.name}.csv", frame.to_csv(index=False, lineterminator="\n").encode()
    caption = prose(spec.caption, "html")
    values = {
        "body": "",
        "sortable": False,
        "data": data,
        "picture": f"{node.name}.svg",
        "alt": words(cited(caption, project.works)[0]),
        "caption": _linked(project, node, caption, used),
        "notes": [_linked(project, node, prose(spec.note, "html"), used)] if spec.note else [],
    }
    yield from _page(project, node, values)


def _linked(project: Project, node: Node, html: str, used: dict[str, list[str]]) -> Markup:
    """HTML of an exhibit with its formulas set, and its citations leading to the bibliography, which `used` learns."""
    shown, keys = cited(html, project.works, "../")
    for key in keys:
        used.setdefault(key, []).append(node.key)
    return typeset(shown)


def _picture(project: Project, name: str) -> bytes:
    """A figure's picture as SVG, drawn from its PDF when that is newer."""
    pdf, svg = (project.root / f"out/figures/{name}.{form}" for form in ("pdf", "svg"))
    if not pdf.is_file():
        raise DataError(f"{pdf.relative_to(project.root)} is missing; `python build.py figure {name}` makes it")
    if not svg.is_file() or svg.stat().st_mtime_ns < pdf.stat().st_mtime_ns:
        convert(pdf, svg)
    return svg.read_bytes()


def _page(project: Project, node: Node, values: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    path = addresses.exhibit(node.kind, node.name)
    data: Grid | None = values["data"]
    common = {
        "node": node,
        "project": project,
        "claims": resting(project, node),
        "file": f"{node.name}.csv" if data else "",
        "addresses": addresses,
        **around(project, node.key),
    }
    yield path, page("exhibit.html.j2", path, title=f"{node.kind.capitalize()} {node.name}", **common, **values)


def resting(project: Project, node: Node) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """For each artifact that an exhibit reads, the rows of the ledger whose functions read it too; fewest first."""
    by_result = [(name, [row for row in project.claims if name in row["inputs"]]) for name in node.reads]
    return sorted(((name, rows) for name, rows in by_result if rows), key=lambda item: len(item[1]))
