"""What the three typeset formats share: a grid's cells as text of the format, its headings in lines, its rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from artifacts.errors import ThesisError
from artifacts.numbers import Words
from artifacts.text import Markup, escape, prose
from tables._align import DASH, lined_up
from tables._cells import Cell, Grid, is_number
from tables._notes import Note
from tables._spec import Align, Column


@dataclass(frozen=True)
class Spanner:
    """A heading above columns `first` to `last` (counted from 1); without text, a gap."""

    text: str
    first: int
    last: int

    @property
    def span(self) -> int:
        """How many columns it covers."""
        return self.last - self.first + 1


def body(grid: Grid, format: Markup, hung: list[list[str]] | None = None) -> list[list[str]]:
    """Return the cells' text, row by row, numbers lined up, without marks and stars but for `hung`.

    `hung` gives for LaTeX each cell's marks, row by row; only numbers take them up.
    """
    columns = []
    for index, column in enumerate(grid.columns):
        cells = [row[index] for row in grid.rows]
        numbers = lined_up(
            [cell.pieces for cell in cells],
            format,
            [cell.best for cell in cells],
            [row[index] for row in hung] if hung else None,
        )
        texts = []
        for row, (number, cell) in enumerate(zip(numbers, cells, strict=True)):
            try:
                texts.append("" if cell.hidden else number or _words(column, cell, format))
            except ThesisError as error:
                raise type(error)(f"table {grid.name}, column {column.title!r}, row {row + 1}: {error}") from None
        columns.append(texts)
    return [list(row) for row in zip(*columns, strict=True)]


def _words(column: Column, cell: Cell, format: Markup) -> str:
    if cell.value is None:
        return escape(DASH, format) if cell.reason else ""
    if isinstance(column.show, Words) and column.show.markup:
        return prose(cell.words, format)
    return escape(cell.words, format)


def titles(grid: Grid, format: Markup) -> list[list[str]]:
    """Return the headings' lines, column by column; a unit goes on the title's line where the column is wide enough."""
    found = []
    for index, column in enumerate(grid.columns):
        lines = column.title.split("\n")
        if column.unit:
            content = max(plain_width(row[index]) for row in grid.rows)
            unit = f"({column.unit})"
            if len(lines) == 1 and len(lines[0]) + len(unit) < max(content, 12):
                lines = [f"{lines[0]} {unit}"]
            else:
                lines.append(unit)
        found.append([prose(line, format) for line in lines])
    return found


def plain_width(cell: Cell) -> int:
    """Count a cell's characters, roughly."""
    if cell.pieces is None:
        return len(cell.words) or 2
    return sum(len(piece.tokens) for piece in cell.pieces)


def spanners(grid: Grid, format: Markup) -> list[Spanner]:
    """Return the headings above groups of columns, with the gaps between them; none where no column has a group."""
    if not any(column.group for column in grid.columns):
        return []
    found, first = [], 1
    for group, members in groupby(grid.columns, key=lambda column: column.group or ""):
        count = len(list(members))
        found.append(Spanner(prose(group, format) if group else "", first, first + count - 1))
        first += count
    return found


def alignment(column: Column) -> Align:
    """Return how a column is aligned."""
    return column.align or ("right" if is_number(column) else "left")


def note_text(note: Note, format: Markup) -> str:
    """Write a note's text; footnotes end with a full stop."""
    text = prose(note.text, format) if note.prose else escape(note.text, format)
    if note.label == DASH:
        text = f"{escape(DASH, format)} {text}"
    return text + "." if note.label and not note.text.rstrip("*$)").endswith((".", "?", "!")) else text


def label_text(note: Note) -> str:
    """Return a note's letter; the dash stands in the text."""
    return "" if note.label == DASH else note.label


def spacing(grid: Grid) -> int:
    """Return after how many rows a little space stands; 0 for never."""
    paragraphs = any(column.width is not None for column in grid.columns)
    return grid.table.space if grid.table.space is not None else 1 if paragraphs else 4


Separator = Literal["group", "rule", "space"]


def separators(grid: Grid) -> Iterator[frozenset[Separator]]:
    """Yield for each row what stands before it: a group's heading, a rule, a little space every few rows."""
    every, since = spacing(grid), 0
    for row in range(len(grid.rows)):
        before: set[Separator] = set()
        if grid.ruled[row] or (grid.starts(row) and grid.table.group_style == "rule" and row):
            before.add("rule")
        if grid.starts(row) and grid.table.group_style == "row":
            before.add("group")
        if before:
            since = 0
        elif every and since and since % every == 0:
            before.add("space")
        if row == 0:
            before -= {"rule", "space"}
        since += 1
        yield frozenset(before)
