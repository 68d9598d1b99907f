"""Make what all formats share: the texts of cells, headings and notes, and the separators between rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from boundpaper.errors import ThesisError
from boundpaper.tables.align import DASH, align_column
from boundpaper.tables.cells import Cell, Grid, is_number
from boundpaper.tables.notes import Note
from boundpaper.tables.spec import Align, Column
from boundpaper.typeset.numbers import Words
from boundpaper.typeset.numbers import text as plain_words
from boundpaper.typeset.text import Markup, escape, numerals, prose


@dataclass(frozen=True)
class Spanner:
    """A heading above columns `first` to `last`, counted from 1; `text` is empty above columns without a group."""

    text: str
    first: int
    last: int

    @property
    def span(self) -> int:
        """Return the number of columns below the heading."""
        return self.last - self.first + 1


def body(grid: Grid, format: Markup, hanging_marks: list[list[str]] | None = None) -> list[list[str]]:
    """Return the body of a table: the texts of its cells, row by row, with numbers aligned.

    Marks and stars are left out unless `hanging_marks` has those of each cell, row by row, as for LaTeX.
    """
    columns = []
    for index, column in enumerate(grid.columns):
        cells = [row[index] for row in grid.rows]
        numbers = [""] * len(cells)
        for unit in dict.fromkeys(grid.units):
            unit_rows = [row for row, row_unit in enumerate(grid.units) if row_unit == unit]
            aligned = align_column(
                [cells[row].pieces for row in unit_rows],
                format,
                [cells[row].is_best for row in unit_rows],
                [hanging_marks[row][index] for row in unit_rows] if hanging_marks else None,
            )
            for row, number in zip(unit_rows, aligned, strict=True):
                numbers[row] = number
        texts = []
        for row, (number, cell) in enumerate(zip(numbers, cells, strict=True)):
            try:
                texts.append("" if cell.is_hidden else number or _cell_words(column, cell, format))
            except ThesisError as error:
                raise type(error)(f"table {grid.name}, column {column.title!r}, row {row + 1}: {error}") from None
        columns.append(texts)
    return [list(row) for row in zip(*columns, strict=True)]


def _cell_words(column: Column, cell: Cell, format: Markup) -> str:
    if cell.value is None:
        return escape(DASH, format) if cell.reason else ""
    show = column.show if isinstance(column.show, Words) else plain_words
    return show.show(cell.words, format)


def heading_lines(grid: Grid, format: Markup) -> list[list[str]]:
    """Return the lines of the headings, column by column; a unit is on the line of the title if it fits there."""
    headings = []
    for index, column in enumerate(grid.columns):
        lines = column.title.split("\n")
        if column.unit:
            cell_width = max(plain_width(row[index]) for row in grid.rows)
            unit = f"({column.unit})"
            if len(lines) == 1 and len(lines[0]) + len(unit) < max(cell_width, 12):
                lines = [f"{lines[0]} {unit}"]
            else:
                lines.append(unit)
        headings.append([prose(line, format) for line in lines])
    return headings


def plain_width(cell: Cell) -> int:
    """Return the approximate number of characters in a cell."""
    if cell.pieces is None:
        return len(cell.words) or 2
    return sum(len(piece.tokens) for piece in cell.pieces)


def spanners(grid: Grid, format: Markup) -> list[Spanner]:
    """Return a spanner over each group of columns, empty spanners elsewhere, and none if no column has a group."""
    if not any(column.group for column in grid.columns):
        return []
    headings, first = [], 1
    for group, columns in groupby(grid.columns, key=lambda column: column.group or ""):
        count = len(list(columns))
        headings.append(Spanner(prose(group, format) if group else "", first, first + count - 1))
        first += count
    return headings


def group_headings(grid: Grid, format: Markup) -> dict[int, str]:
    """Map the index of each column that has a group to the heading of the group."""
    return {index: prose(column.group, format) for index, column in enumerate(grid.columns) if column.group}


def alignment(column: Column) -> Align:
    """Return the alignment of a column; by default, numbers are right-aligned and texts left-aligned."""
    return column.align or ("right" if is_number(column) else "left")


def note_text(note: Note, format: Markup) -> str:
    """Return a note's text; footnotes end with a full stop."""
    capitalised = note.text[:1].upper() + note.text[1:] if note.label and note.label != DASH else note.text
    text = prose(capitalised, format) if note.is_prose else escape(numerals(capitalised), format)
    if note.label == DASH:
        text = f"{escape(DASH, format)} {text}"
    return text + "." if note.label and not note.text.rstrip("*$)").endswith((".", "?", "!")) else text


def label_text(note: Note) -> str:
    """Return the label of a note; empty for a dash, since `note_text` writes the dash."""
    return "" if note.label == DASH else note.label


def has_row_space(grid: Grid) -> bool:
    """Return whether small spaces separate all rows; by default, they do so in a table with a paragraph column."""
    has_paragraphs = any(column.width is not None for column in grid.columns)
    return grid.table.space == 1 or (grid.table.space is None and has_paragraphs)


Separator = Literal["group", "rule", "space"]


def separators(grid: Grid) -> Iterator[frozenset[Separator]]:
    """Yield the separators above each row: the heading of a group, a rule, or a small space after a block."""
    has_space, blocks = has_row_space(grid), grid.blocks
    for row in range(len(grid.rows)):
        before: set[Separator] = set()
        if grid.ruled[row] or (grid.starts_group(row) and grid.table.group_style == "rule"):
            before.add("rule")
        if grid.starts_group(row) and grid.table.group_style == "row":
            before.add("group")
        if not before and (has_space or (row and blocks[row] != blocks[row - 1] and _has_several_rows(blocks, row))):
            before.add("space")
        yield frozenset(before - {"rule", "space"} if row == 0 else before)


def _has_several_rows(blocks: Sequence[str], row: int) -> bool:
    """Return whether the block that begins at a row, or the block that ends before the row, has several rows."""
    return blocks[row - 2 : row - 1] == blocks[row - 1 : row] or blocks[row : row + 1] == blocks[row + 1 : row + 2]
