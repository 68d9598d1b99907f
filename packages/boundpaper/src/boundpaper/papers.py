"""Open a paper on disk from Python: its artifacts, faults, claims, and the origin of its numbers.

`read` and `check` run in this process. `claims` and `trace`, which run code of the paper, call the command line in a
new process, so that saved changes take effect and two papers can be open at once.
"""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from boundpaper.errors import DataError, SpecError, ThesisError
from boundpaper.places import MARK, VARIABLE, project_above

if TYPE_CHECKING:
    import pandas as pd

    from boundpaper.store.schema import Fault


@dataclass(frozen=True)
class Paper:
    """A paper in a folder, with methods to read, check and trace it.

    Attributes
    ----------
    root : Path
        The paper's folder.

    Examples
    --------
    >>> import boundpaper as bp
    >>> paper = bp.new("harvest", title="A Harvest")
    >>> paper.read("documents")["title"].tolist()
    ['A Harvest']
    """

    root: Path

    def read(self, name: str) -> pd.DataFrame:
        """Return an artifact as a DataFrame, with the column types of the data package.

        A column `printed` adds `value`, `decimals`, `low` and `high`: the number, its decimals and its rounding range.

        Parameters
        ----------
        name : str
            Name of the artifact.

        Raises
        ------
        DataError
            When the artifact is unknown, or its file does not match the data package.

        Examples
        --------
        >>> import boundpaper as bp
        >>> bp.new("hay").read("documents")["document"].tolist()
        ['thesis']
        """
        from boundpaper.store.reader import read

        return read(self.root, name)

    def check(self) -> list[Fault]:
        """Return every fault that `boundpaper check` finds, with file, row and field; empty if there are none.

        Examples
        --------
        >>> import boundpaper as bp
        >>> bp.new("straw").check()
        []
        """
        from boundpaper.build.facts import FactReader
        from boundpaper.build.graph import load
        from boundpaper.checks import check_paper

        return check_paper(self.root, load(self.root, FactReader(self.root))).faults

    def claims(self) -> pd.DataFrame:
        """Return the ledger, one row per verdict, after building all steps that are out of date.

        Raises
        ------
        ThesisError
            When the paper has no claims, or a claim fails.

        Examples
        --------
        >>> import boundpaper as bp
        >>> bp.new("chaff").claims()
        Traceback (most recent call last):
        boundpaper.errors.ThesisError: ... analysis/claims contains no claim; ...
        """
        self._command("analyze", "claims")
        return self.read("claims")

    def trace(self, what: str, every: bool = False) -> list[str]:
        """Return the lines that trace a printed number or an address to its source.

        Parameters
        ----------
        what : str
            `0.935`, `table:NAME/ROW/COLUMN`, `claim:NAME`, or the name of any step.
        every : bool
            Whether to trace every place that prints the number.

        Raises
        ------
        ThesisError
            When nothing is found; the message suggests the nearest name.

        Examples
        --------
        >>> import boundpaper as bp
        >>> bp.new("stubble").trace("documents")[0]
        'source:documents...'
        """
        return self._command("trace", *["--all"] * every, "--", what).splitlines()

    def _command(self, *words: str) -> str:
        """Run a command in the paper's folder in a new process, and return its output."""
        result = subprocess.run(
            [sys.executable, "-m", "boundpaper", *words],
            cwd=self.root,
            env={**os.environ, VARIABLE: str(self.root)},
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        if result.returncode:
            lines = [line for line in result.stderr.splitlines() if not line.startswith(("Usage:", "Try "))]
            message = "\n".join(lines).strip()
            raise ThesisError(message.removeprefix("Error: ").removeprefix("error: "))
        return result.stdout


def open(folder: str | Path = ".") -> Paper:
    """Open the paper in a folder or in the nearest folder above it.

    Parameters
    ----------
    folder : str or Path
        The paper's folder, or a folder inside it.

    Raises
    ------
    DataError
        When `folder` does not exist, or neither `folder` nor a folder above it is a paper.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.new("meadow").root == bp.open("meadow/paper/chapters").root
    True
    """
    path = Path(folder).absolute()
    if not path.is_dir():
        raise DataError(f"{folder}: no such folder; give the folder of a paper")
    root = project_above(path)
    if root is None:
        raise DataError(f"{path}: no paper here or above; give the folder with {MARK}, or create a paper: new()")
    return Paper(root)


def new(folder: str | Path, title: str = "A New Paper") -> Paper:
    """Write the files of a new paper into a folder, as `boundpaper new` does, and open it.

    Parameters
    ----------
    folder : str or Path
        The folder, created if absent.
    title : str
        Title of the paper.

    Raises
    ------
    SpecError
        When the folder is not empty or is inside another paper, or when the title is empty.

    Examples
    --------
    >>> import boundpaper as bp
    >>> sorted(path.name for path in bp.new("field").root.iterdir() if path.is_dir())
    ['artifacts', 'paper', 'tests']
    """
    from boundpaper.build.new_paper import new_paper

    if not title.strip():
        raise SpecError("a paper needs a title; give one")
    new_paper(Path(folder), title, f"{datetime.date.today():%B %Y}")
    return Paper(Path(folder).absolute())
