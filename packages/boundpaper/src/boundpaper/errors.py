"""Define the project's errors, with a common base class; messages say what is wrong, where, and how to correct it.

The command line prints an error without a traceback and exits with 1.

>>> import boundpaper as bp
>>> try:
...     bp.open("no-such-folder")
... except bp.errors.ThesisError as error:
...     print(error)
no-such-folder: no such folder; give the folder of a paper
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


def install_line(extra: str = "") -> str:
    """Return the shell command that installs the project with the optional dependencies `extra` (`press,test`)."""
    return f"{sys.executable} -m pip install -c constraints.txt " + (f"'.[{extra}]'" if extra else ".")


class ThesisError(Exception):
    """An error that the user can correct; its text is the whole message."""


@contextmanager
def about(subject: str, kind: type[Exception] = ThesisError) -> Iterator[None]:
    """Put `subject`, the name of a file or model, before the message of each `kind` error that this block raises.

    A message that already contains the name stays unchanged.
    """
    try:
        yield
    except kind as error:
        if subject not in str(error):
            error.args = (f"{subject}: {error}", *error.args[1:])
        raise


class DataError(ThesisError):
    """An artifact is missing, malformed, or breaks its schema."""


class SpecError(ThesisError):
    """A step, table, figure, claim or chapter is not specified correctly."""


class LatexError(ThesisError):
    """LaTeX could not compile a document.

    Parameters
    ----------
    message : str
        The message from LaTeX.
    file : str
        The generated file, relative to the project.
    line : int
        The line in `file`; 0 when LaTeX gave none.
    source : str
        The template or exhibit that `file` was rendered from.
    """

    def __init__(self, message: str, file: str = "", line: int = 0, source: str = "") -> None:
        self.message, self.file, self.line, self.source = message, file, line, source
        location = f"{file}:{line}" if line else file
        origin = f" (from {source})" if source else ""
        super().__init__(f"{location}{origin}: {message}" if location else message)


class MissingDependency(ThesisError):
    """A program or package is absent; the text ends with the command that installs it."""

    @classmethod
    def package(cls, name: str | None, extra: str = "", purpose: str = "") -> MissingDependency:
        """Return the error for a Python package that cannot be imported; it says how to install the package.

        `extra` lists the optional groups that contain the package, separated by commas; it is empty for a package that
        every installation has. `purpose` ends the phrase `needed ...`, as in `for the executor slurm`.
        """
        reason = f" (needed {purpose})" if purpose else ""
        return cls(f"{name} is not installed{reason}; run: {install_line(extra)}")


class ModelError(ThesisError):
    """A model cannot be loaded, measured or modified as requested."""
