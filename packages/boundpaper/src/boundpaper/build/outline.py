"""Convert the graph of steps to plain nodes, which the site can show and traverse without the engine."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from boundpaper.errors import SpecError


class _Kind(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def artifact(self) -> str: ...

    @property
    def follows(self) -> str: ...


class _Step(Protocol):
    @property
    def key(self) -> str: ...

    @property
    def kind(self) -> _Kind: ...

    @property
    def name(self) -> str: ...

    @property
    def file(self) -> str: ...

    @property
    def line(self) -> int: ...

    @property
    def doc(self) -> str: ...

    @property
    def artifacts(self) -> Mapping[str, str]: ...


@dataclass(frozen=True)
class Node:
    """A step in the form that the site shows.

    `makes` says whether the step makes an artifact (source, measurement or result), which other steps may name as a
    parameter. `doc` is the first line of the docstring; empty if the file is not Python.
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

    `down` has the keys of the nodes that a node uses, `up` those of the nodes that use it, and `maker` the key of the
    node that makes each artifact. `uses` has edges besides `Node.reads`, from a node's key to the keys that it uses,
    such as a chapter's exhibits and claims. Raises SpecError for an edge to a node that does not exist.
    """

    def __init__(self, nodes: Iterable[Node], uses: Mapping[str, Iterable[str]]) -> None:
        self.nodes = {node.key: node for node in nodes}
        self.maker = {node.name: node.key for node in self.nodes.values() if node.makes}
        self.down: dict[str, tuple[str, ...]] = {}
        up: dict[str, dict[str, None]] = {key: {} for key in self.nodes}
        for key, node in self.nodes.items():
            used_keys = dict.fromkeys([*(self.maker[name] for name in node.reads), *uses.get(key, ())])
            for used_key in used_keys:
                if used_key not in self.nodes:
                    raise SpecError(f"{node.file}: {key} uses {used_key}, which does not exist; correct the name")
                up[used_key][key] = None
            self.down[key] = tuple(used_keys)
        self.up = {key: tuple(keys) for key, keys in up.items()}

    def below(self, key: str) -> tuple[str, ...]:
        """Return all nodes that a node depends on, nearest first."""
        return self._reachable(key, self.down)

    def above(self, key: str) -> tuple[str, ...]:
        """Return all nodes that depend on a node, nearest first."""
        return self._reachable(key, self.up)

    @staticmethod
    def _reachable(key: str, edges: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        reachable: dict[str, None] = {}
        front = list(edges[key])
        while front:
            reachable.update(dict.fromkeys(front))
            front = [target for source in front for target in edges[source] if target not in reachable]
        return tuple(reachable)


def outline_nodes(steps: Iterable[_Step]) -> list[Node]:
    """Return nodes for a graph's steps; a step that follows another (a figure's picture) shares its node."""
    return [
        Node(
            key=step.key,
            kind=step.kind.name,
            name=step.name,
            file=step.file,
            line=step.line,
            doc=step.doc,
            makes=bool(step.kind.artifact),
            reads=tuple(step.artifacts),
        )
        for step in steps
        if not step.kind.follows
    ]
