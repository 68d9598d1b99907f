"""Open a paper on disk from Python: its artifacts, faults, claims, and the origin of its numbers.

Methods that only read artifacts work in this process. Methods that run code of the paper call its command line in a new
process, so that a file saved a moment ago counts, and two papers may be open at once.
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
    """A paper: its folder, and what can be asked of it.

    Attributes
    ----------
    root : Path
        The folder.

    Examples
    --------
    >>> import boundpaper as bp
    >>> paper = bp.new("harvest", title="A Harvest")
    >>> paper.read("documents")["title"].tolist()
    ['A Harvest']
    """

    root: Path

    def read(self, name: str) -> pd.DataFrame:
        """Return an artifact as a frame, with the types that the data package gives its columns.

        A column `printed` gains `value`, `decimals`, `low` and `high`: the number, and the range that its digits leave.

        Parameters
        ----------
        name : str
            Of the artifact.

        Raises
        ------
        DataError
            When there is no such artifact, or its file is not the table that the data package describes.

        Examples
        --------
        >>> import boundpaper as bp
        >>> bp.new("hay").read("documents")["document"].tolist()
        ['thesis']
        """
        from boundpaper.store.reader import read

        return read(self.root, name)

    def check(self) -> list[Fault]:
        """Return every fault that `boundpaper check` finds, with file, row and field; an empty list if there is none.

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
        """Return the ledger, one row per verdict, after building whatever is out of date.

        Raises
        ------
        ThesisError
            When the paper has no claim, or one fails.

        Examples
        --------
        >>> import boundpaper as bp
        >>> bp.new("chaff").claims()
        Traceback (most recent call last):
        boundpaper.errors.ThesisError: ... analysis/claims holds no claim; ...
        """
        self._command("analyze", "claims")
        return self.read("claims")

    def trace(self, what: str, every: bool = False) -> list[str]:
        """Return the lines that lead from a printed number, or an address, down to its source.

        Parameters
        ----------
        what : str
            `0.935`, `table:NAME/ROW/COLUMN`, `claim:NAME`, or the name of any step.
        every : bool
            Follow every place where a number stands.

        Raises
        ------
        ThesisError
            When it is found nowhere; the nearest is named.

        Examples
        --------
        >>> import boundpaper as bp
        >>> bp.new("stubble").trace("documents")[0]
        'source:documents...'
        """
        return self._command("trace", *["--all"] * every, "--", what).splitlines()

    def _command(self, *words: str) -> str:
        """Run a command in the paper's folder in a new process, and return what it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "boundpaper", *words],
            cwd=self.root,
            env={**os.environ, VARIABLE: str(self.root)},
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        if done.returncode:
            lines = [line for line in done.stderr.strip().splitlines() if not line.startswith(("Usage:", "Try "))]
            raise ThesisError("\n".join(lines).strip().removeprefix("Error: ").removeprefix("error: "))
        return done.stdout


def open(folder: str | Path = ".") -> Paper:
    """Open the paper in a folder, or the nearest one above it.

    Parameters
    ----------
    folder : str or Path
        The paper's folder, or one in it.

    Raises
    ------
    DataError
        When there is none.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.new("meadow").root == bp.open("meadow/paper/chapters").root
    True
    """
    place = Path(folder).absolute()
    if not place.is_dir():
        raise DataError(f"{folder}: no such folder; give the folder of a paper")
    found = project_above(place)
    if found is None:
        raise DataError(f"{place}: no paper here or above; name the folder that holds {MARK}, or begin one: new()")
    return Paper(found)


def new(folder: str | Path, title: str = "A New Paper") -> Paper:
    """Write the frame of a new paper into a folder and open it, as `boundpaper new` does.

    Parameters
    ----------
    folder : str or Path
        Made if it is not there.
    title : str
        Of the paper.

    Raises
    ------
    SpecError
        When there is something in the folder, or it lies inside another paper.

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
