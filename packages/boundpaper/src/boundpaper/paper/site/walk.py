"""Link a node to its dependencies and its dependents, direct and indirect, by kind."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from boundpaper.paper.site.project import SiteProject

ORDER = ("source", "measurement", "result", "ledger", "places", "inventory", "claim", "table", "figure", "chapter")
NAMES = {
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
    """A link to a node: kind, name, page, description, and for claims the verdicts."""

    key: str
    kind: str
    name: str
    address: str
    doc: str
    verdicts: tuple[str, ...] = ()


def node_links(project: SiteProject, keys: Iterable[str]) -> list[NodeLink]:
    """Return links to nodes, in order."""
    neighbours = []
    for key in keys:
        node = project.outline.nodes[key]
        verdicts: tuple[str, ...] = ()
        if node.kind == "claim":
            verdicts = tuple(row["verdict"] for row in project.claims_of.get(node.name, ()))
        neighbours.append(NodeLink(key, node.kind, project.title(key), project.address(key), node.doc, verdicts))
    return neighbours


def links_by_kind(project: SiteProject, keys: Iterable[str]) -> list[tuple[str, list[NodeLink]]]:
    """Return links to nodes, grouped by kind in the order of data flow."""
    kinds: dict[str, list[NodeLink]] = {}
    for link in node_links(project, keys):
        kinds.setdefault(link.kind, []).append(link)
    return [(NAMES[kind], sorted(kinds[kind], key=lambda link: link.name)) for kind in ORDER if kind in kinds]


def neighbours(project: SiteProject, key: str) -> dict[str, Any]:
    """Return links to a node's dependencies and dependents, for the template of its page."""
    outline = project.outline
    near_below, near_above = set(outline.down[key]), set(outline.up[key])
    ends = ("source", "measurement")
    far_below = [each for each in outline.below(key) if each not in near_below and outline.nodes[each].kind in ends]
    far_above = [
        each for each in outline.above(key) if each not in near_above and outline.nodes[each].kind == "chapter"
    ]
    return {
        "below": links_by_kind(project, outline.down[key]),
        "above": links_by_kind(project, outline.up[key]),
        "far_below": links_by_kind(project, far_below),
        "far_above": links_by_kind(project, far_above),
    }
