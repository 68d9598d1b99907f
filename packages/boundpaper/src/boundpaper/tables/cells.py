"""Represent a table's cells after reading, checking and rounding, before they are written in a format."""

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
        The value in the data; None if missing or blank.
    uncertainty, low, high, p : float or None
        Uncertainty, interval ends and p-value of the value.
    digits : int or None
        Digits after the point, if the row gives them.
    pieces : Pieces or None
        The pieces of the rounded number for alignment; None for text.
    words : str
        The text of a cell whose column has text.
    marks : tuple of str
        Names of the cell's footnotes.
    stars : int
        Number of significance levels that the p-value is below.
    reason : str
        Why the value, its uncertainty or its interval is missing.
    is_best : bool
        Whether the value is the best of its group of rows, and its interval overlaps no other.
    is_hidden : bool
        Whether the cell is not printed, since it repeats the cell above.
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
    is_best: bool = False
    is_hidden: bool = False


@dataclass(frozen=True)
class Grid:
    """The cells of a table, with the groups, rules, blocks and units of its rows.

    Attributes
    ----------
    name : str
    table : Table
    columns : tuple of Column
        The columns, with default formats filled in.
    rows : tuple of tuples of Cell
    groups : tuple of str
        The group of each row; empty strings if the table has no groups.
    ruled : tuple of bool
        Whether a rule precedes each row.
    blocks : tuple of str
        A label for each row: adjacent rows with equal labels form a block, and small spaces separate blocks.
    units : tuple of str
        A label for each row: numbers line up in rows with equal labels.
    """

    name: str
    table: Table
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    groups: tuple[str, ...]
    ruled: tuple[bool, ...]
    blocks: tuple[str, ...]
    units: tuple[str, ...]

    def starts_group(self, row: int) -> bool:
        """Return whether a row is the first of its group."""
        return self.table.groups is not None and (row == 0 or self.groups[row] != self.groups[row - 1])


def is_number(column: Column) -> bool:
    """Return whether a column's cells are aligned as numbers."""
    return not isinstance(column.show, Words)
