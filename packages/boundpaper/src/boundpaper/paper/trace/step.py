"""Attributes of a step that a trace uses, since this room does not import the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Kind(Protocol):
    """The kind of a step: its name, and the artifact that its steps make or check; empty if there is none."""

    @property
    def name(self) -> str:
        """Name of the kind, such as `table`."""

    @property
    def artifact(self) -> str:
        """The file of the artifact, with `{name}`."""


class Step(Protocol):
    """A step: where it is written, and the artifacts that it reads."""

    @property
    def key(self) -> str:
        """Key of the step, `kind:name`."""

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
        """Name of the function; empty if the step is not Python."""

    @property
    def doc(self) -> str:
        """The first paragraph of its docstring."""

    @property
    def artifacts(self) -> Mapping[str, str]:
        """The artifacts that it reads, with their files."""
