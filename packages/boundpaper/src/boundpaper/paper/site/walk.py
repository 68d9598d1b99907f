"""List links from a node to its dependencies and its dependents, direct and indirect, by kind."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from boundpaper.paper.site.project import SiteProject

NAMES = {  # headings of lists of nodes by kind, in the order in which data flow
    "source": "Sources",
    "measurement": "Measurements",
    "result": "Results",
    "ledger": "The ledger",
    "places": "Places of claims",
    "inventory": "Provenance",
    "claim": "Claims",
    "table": "Tables",
    "figure": "Figures",
    "chapter": "Chapters",
}


@dataclass(frozen=True)
class NodeLink:
    """A link to a node: its kind, name, page and description, and for a claim its verdicts."""

    key: str
    kind: str
    name: str
    address: str
    doc: str
    verdicts: tuple[str, ...] = ()


def node_links(project: SiteProject, keys: Iterable[str]) -> list[NodeLink]:
    """Return links to the nodes with the given keys, in their order."""
    links = []
    for key in keys:
        node = project.outline.nodes[key]
        verdicts: tuple[str, ...] = ()
        if node.kind == "claim":
            verdicts = tuple(row["verdict"] for row in project.claims_of.get(node.name, ()))
        links.append(NodeLink(key, node.kind, project.title(key), project.address(key), node.doc, verdicts))
    return links


def links_by_kind(project: SiteProject, keys: Iterable[str]) -> list[tuple[str, list[NodeLink]]]:
    """Return links to nodes, grouped by kind in the order of `NAMES`."""
    kinds: dict[str, list[NodeLink]] = {}
    for link in node_links(project, keys):
        kinds.setdefault(link.kind, []).append(link)
    return [(NAMES[kind], sorted(kinds[kind], key=lambda link: link.name)) for kind in NAMES if kind in kinds]


def neighbours(project: SiteProject, key: str) -> dict[str, Any]:
    """Return links to a node's dependencies (`below`) and dependents (`above`), as values for a template.

    `far_below` has links to sources and measurements, and `far_above` to chapters, with which the node is connected
    only through other nodes.
    """
    outline = project.outline
    below, above = outline.inputs[key], outline.users[key]
    data_keys = [found for found in outline.all_inputs(key) if outline.nodes[found].kind in ("source", "measurement")]
    chapter_keys = [found for found in outline.all_users(key) if outline.nodes[found].kind == "chapter"]
    return {
        "below": links_by_kind(project, below),
        "above": links_by_kind(project, above),
        "far_below": links_by_kind(project, [found for found in data_keys if found not in below]),
        "far_above": links_by_kind(project, [found for found in chapter_keys if found not in above]),
    }
