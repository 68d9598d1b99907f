"""Define the graph of steps as plain nodes, which the site can show and traverse without the engine."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from boundpaper.errors import SpecError


@dataclass(frozen=True)
class Node:
    """A step in the form that the site shows.

    `makes` says whether the step makes an artifact (source, measurement or result), which other steps may read; `reads`
    are the artifacts that this step reads. `doc` is the first docstring line, or empty if the file is not Python.
    """

    key: str
    kind: str
    name: str
    file: str
    line: int
    doc: str
    makes: bool
    reads: tuple[str, ...]


class Outline:
    """The nodes of a project by key, and the edges between them in both directions.

    For each node's key, `inputs` has the keys of the nodes that it uses, and `users` the keys of the nodes that use it.
    `maker` has the key of the node that makes each artifact. The parameter `uses` has edges besides `Node.reads`, such
    as a chapter's exhibits and claims. Raises SpecError for an edge to a node that does not exist.
    """

    def __init__(self, nodes: Iterable[Node], uses: Mapping[str, Iterable[str]]) -> None:
        self.nodes = {node.key: node for node in nodes}
        self.maker = {node.name: node.key for node in self.nodes.values() if node.makes}
        self.inputs: dict[str, tuple[str, ...]] = {}
        users: dict[str, dict[str, None]] = {key: {} for key in self.nodes}
        for key, node in self.nodes.items():
            used_keys = dict.fromkeys([*(self.maker[name] for name in node.reads), *uses.get(key, ())])
            for used_key in used_keys:
                if used_key not in self.nodes:
                    raise SpecError(f"{node.file}: {key} uses {used_key}, which does not exist; correct the name")
                users[used_key][key] = None
            self.inputs[key] = tuple(used_keys)
        self.users = {key: tuple(keys) for key, keys in users.items()}

    def all_inputs(self, key: str) -> tuple[str, ...]:
        """Return all nodes that a node depends on, directly or indirectly, nearest first."""
        return self._reachable(key, self.inputs)

    def all_users(self, key: str) -> tuple[str, ...]:
        """Return all nodes that depend on a node, directly or indirectly, nearest first."""
        return self._reachable(key, self.users)

    @staticmethod
    def _reachable(key: str, edges: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        reachable: dict[str, None] = {}
        front = list(edges[key])
        while front:
            reachable.update(dict.fromkeys(front))
            front = [target for source in front for target in edges[source] if target not in reachable]
        return tuple(reachable)
