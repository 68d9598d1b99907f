"""Represent a table's cells, read, checked, rounded and judged, independent of the output format."""

from dataclasses import dataclass

from boundpaper.tables.align import Pieces
from boundpaper.tables.spec import Column, Table
from boundpaper.typeset.numbers import Words


@dataclass(frozen=True)
class Cell:
    """A cell, independent of the output format.

    Attributes
    ----------
    value : object
        What the data hold; None when missing or blank.
    uncertainty, low, high, p : float or None
        What goes with the value.
    digits : int or None
        Its own digits after the point.
    pieces : Pieces or None
        The rounded number in pieces; None for text.
    words : str
        The text of a cell that is not a number.
    marks : tuple of str
        Names of its footnotes.
    stars : int
        Levels that its p-value is below.
    reason : str
        Why the value or what goes with it is missing.
    best : bool
        Distinguishable from all others as the best of its group.
    hidden : bool
        Repeats the cell above it and is not printed.
    """

    value: object = None
    uncertainty: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    digits: int | None = None
    pieces: Pieces | None = None
    words: str = ""
    marks: tuple[str, ...] = ()
    stars: int = 0
    reason: str = ""
    best: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class Grid:
    """The cells of a table, row by row, with the separators between the rows.

    Attributes
    ----------
    name : str
    table : Table
    columns : tuple of Column
        With the formats that were left out filled in.
    rows : tuple of tuples of Cell
    groups : tuple of str
        Each row's group; empty strings where the table has none.
    ruled : tuple of bool
        Whether a rule stands before each row.
    blocks : tuple of str
        Equal for neighbouring rows that belong together; empty strings where the table has no such rows.
    units : tuple of str
        Equal for rows whose numbers line up; empty strings where all do.
    """

    name: str
    table: Table
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    groups: tuple[str, ...]
    ruled: tuple[bool, ...]
    blocks: tuple[str, ...]
    units: tuple[str, ...]

    def starts(self, row: int) -> bool:
        """Return whether a group starts with this row."""
        return self.table.groups is not None and (row == 0 or self.groups[row] != self.groups[row - 1])


def is_number(column: Column) -> bool:
    """Return whether a column's cells are aligned as numbers."""
    return not isinstance(column.show, Words)
