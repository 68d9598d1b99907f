"""The first page, with verdicts by document, the chapters and links; and one page per chapter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from boundpaper.paper.site.page import page
from boundpaper.paper.site.project import Chapter, Project
from boundpaper.paper.site.walk import links
from boundpaper.paper.site.works import link
from boundpaper.typeset import addresses

VERDICTS = ("holds", "holds after rounding", "not significant", "not supported", "contradicted", "not testable")
"""In the order from good to bad."""


def overview_pages(project: Project) -> Iterator[tuple[str, bytes]]:
    """`index.html`, and `chapter/NAME.html` for each chapter."""
    counts = Counter((row["source"], row["kind"], row["verdict"]) for row in project.claims)
    documents = [
        (document, [counts[document.key, kind, verdict] for verdict in VERDICTS], kind)
        for document in project.documents
        for kind in ("statement", "cell check")
        if any(counts[document.key, kind, verdict] for verdict in VERDICTS)
    ]
    kinds = Counter(node.kind for node in project.nodes)
    yield (
        "index.html",
        page(
            "index.html.j2",
            "index.html",
            title=project.metadata.title,
            project=project,
            verdicts=VERDICTS,
            documents=documents,
            kinds=kinds,
            addresses=addresses,
        ),
    )
    for chapter in project.chapters:
        path = addresses.chapter(chapter.name)
        yield path, page("chapter.html.j2", path, title=chapter.title, **_exhibits(project, chapter))


def _exhibits(project: Project, chapter: Chapter) -> dict[str, object]:
    nodes = project.outline.nodes
    rows = {row["claim"]: row for row in project.claims}
    return {
        "chapter": chapter,
        "project": project,
        "tables": [nodes[f"table:{name}"] for name in chapter.tables],
        "figures": [nodes[f"figure:{name}"] for name in chapter.figures],
        "numbers": links(project, [project.outline.maker[name] for name in chapter.numbers]),
        "works": [link(project.works[key], "../") for key in chapter.cites if key in project.works],
        "claims": [rows[name] for name in chapter.claims if name in rows],
        "addresses": addresses,
    }
