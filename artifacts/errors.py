"""The errors of the project: one small tree; each says what went wrong, where, and how to mend it.

The command line prints them without a traceback and exits with 1.
"""

from __future__ import annotations

import sys


class ThesisError(Exception):
    """A failure that the user can mend; its text is the whole message."""


class DataError(ThesisError):
    """An artifact is missing, malformed, or breaks its schema."""


class SpecError(ThesisError):
    """A step, table, figure, claim or chapter is written wrongly."""


class LatexError(ThesisError):
    """LaTeX refused a document.

    Parameters
    ----------
    message : str
        LaTeX's own message.
    file : str
        The generated file, relative to the project.
    line : int
        The line in `file`; 0 when LaTeX gave none.
    source : str
        The template or exhibit that `file` was rendered from.
    """

    def __init__(self, message: str, file: str = "", line: int = 0, source: str = "") -> None:
        self.message, self.file, self.line, self.source = message, file, line, source
        place = f"{file}:{line}" if line else file
        origin = f" (from {source})" if source else ""
        super().__init__(f"{place}{origin}: {message}" if place else message)


class MissingDependency(ThesisError):
    """A program or package is absent; the text ends with the line that installs it."""

    @classmethod
    def package(cls, name: str | None, extra: str = "") -> MissingDependency:
        """The error for a Python package that cannot be imported; `extra` names the group that brings it."""
        wanted = f"'.[{extra}]'" if extra else "."
        return cls(f"{name} is not installed; run: {sys.executable} -m pip install -c constraints.txt {wanted}")


class ModelError(ThesisError):
    """A model cannot be loaded, captured or changed as asked."""
