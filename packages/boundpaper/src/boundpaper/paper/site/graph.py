"""Write a page with the dependency graph in columns; choosing a node shows only its dependencies and dependents."""

import json
from collections.abc import Iterator

from markupsafe import Markup

from boundpaper.paper.site.page import page
from boundpaper.paper.site.project import SiteProject
from boundpaper.paper.site.walk import NAMES, NodeLink, links_by_kind, node_links

COLUMNS = (
    ("Sources and measurements", ("source", "measurement")),
    ("Results", ("result", "ledger", "places", "inventory")),
    ("Claims", ("claim",)),
    ("Exhibits", ("table", "figure")),
    ("Chapters", ("chapter",)),
)


def graph_pages(project: SiteProject) -> Iterator[tuple[str, bytes]]:
    """Yield `graph.html`, which contains the edges, since a page that is opened from a folder cannot load files."""
    columns: list[tuple[str, list[tuple[str, list[NodeLink]]]]] = []
    for title, kinds in COLUMNS:
        keys = [key for key, node in project.outline.nodes.items() if node.kind in kinds]
        groups = links_by_kind(project, keys)
        if kinds == ("chapter",):
            chapter_keys = (f"chapter:{chapter.name}" for chapter in project.chapters)
            groups = [(NAMES["chapter"], node_links(project, chapter_keys))]
        columns.append((title, groups))
    edges = {key: list(inputs) for key, inputs in project.outline.inputs.items()}
    yield "graph.html", page("graph.html.j2", "graph.html", title="The graph", columns=columns, edges=embedded(edges))


def embedded(value: object) -> Markup:
    """Return a value as JSON for a script element, in which no character can end the element."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
