"""What a trace looks at in a step of the graph, which this room does not import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Kind(Protocol):
    """The kind of a step: its name, and the artifact that its steps make or check, empty when they make none."""

    @property
    def name(self) -> str:
        """Such as `table`."""

    @property
    def artifact(self) -> str:
        """The file of the artifact, with `{name}`."""


class Step(Protocol):
    """A step: where it is written, and the artifacts that it reads."""

    @property
    def key(self) -> str:
        """`kind:name`."""

    @property
    def kind(self) -> Kind:
        """Its kind."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def file(self) -> str:
        """The file that defines it."""

    @property
    def line(self) -> int:
        """The line there."""

    @property
    def function(self) -> str:
        """The function; empty for what is no Python."""

    @property
    def doc(self) -> str:
        """The first paragraph of its docstring."""

    @property
    def artifacts(self) -> Mapping[str, str]:
        """The artifacts that it reads, with their files."""
