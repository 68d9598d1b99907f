"""Documents as the checks see them: sentences, headings among them, and tables with the line of each row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

from boundpaper.audit import number
from boundpaper.audit.number import Number
from boundpaper.paper.sentences import split

NUMERIC = 0.6
"""The share of a column's filled cells that have to be numbers for the column to be one of numbers."""
EMPTY = frozenset({"", "-", "–", "—", "--", "---", "n/a", "N/A", "na", "NA", "?", "x", "✓", "✗"})


@dataclass(frozen=True)
class Place:
    """A file and a line."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Sentence:
    """A sentence or a heading, its place, and the headings above it; the level of a heading counts from 1."""

    place: Place
    text: str
    path: tuple[str, ...] = ()
    level: int = 0

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Its quantities, in order."""
        return tuple(number.in_text(self.text))


@dataclass(frozen=True)
class Row:
    """A row: its line and the text of its cells."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """A column of numbers, or a row of a table read sideways: one number or None for each line."""

    name: str
    index: int
    numbers: tuple[Number | None, ...]


@dataclass(frozen=True)
class Table:
    """A table or the code of a figure, with the line of its head, its header, and rows of as many cells.

    The caption may be the sentence that leads to it; `path` holds the headings above it. Where rows and columns were
    exchanged, it is `sideways`, and `lines` holds the line of each column.
    """

    file: str
    line: int
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    path: tuple[str, ...] = ()
    kind: str = "table"
    sideways: bool = False
    lines: tuple[int, ...] = field(default=(), compare=False)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Columns of numbers; the first column names the rows and is left out."""
        found = []
        for index in range(1, len(self.header)):
            texts = [row.cells[index].strip() for row in self.rows]
            numbers = tuple(number.of_cell(text) for text in texts)
            filled = sum(text not in EMPTY for text in texts)
            if filled and sum(one is not None for one in numbers) >= NUMERIC * filled:
                found.append(Column(self.header[index], index, numbers))
        return tuple(found)

    @cached_property
    def numbers(self) -> int:
        """How many cells hold a number."""
        return sum(one is not None for column in self.columns for one in column.numbers)

    def row_name(self, index: int) -> str:
        """The text of the cells of a row that hold no numbers, joined."""
        numeric = {column.index for column in self.columns}
        texts = [text for place, text in enumerate(self.rows[index].cells) if place not in numeric and text.strip()]
        return " ".join(texts)

    @cached_property
    def _keys(self) -> tuple[int, ...]:
        """The fewest columns without numbers, two at most, that tell the rows apart; all of them where none do."""
        numeric = {column.index for column in self.columns}
        labels = [index for index in range(len(self.header)) if index not in numeric]
        for chosen in (*((one,) for one in labels), *combinations(labels, 2)):
            if len({tuple(row.cells[index] for index in chosen) for row in self.rows}) == len(self.rows):
                return chosen
        return tuple(labels)

    def key(self, index: int) -> str:
        """What tells a row from the others; a number with the name of its column before it."""
        cells = [(self.header[place].rstrip("s"), self.rows[index].cells[place].strip()) for place in self._keys]
        return " ".join(f"{name} {text}" if text[:1].isdigit() else text for name, text in cells)

    def line_of(self, row: int, column: int) -> int:
        """The line of a cell."""
        return self.lines[column] if self.sideways else self.rows[row].line

    def turned(self) -> Table:
        """The transposed table, for relations that run along a row."""
        labels = [index for index in range(len(self.header)) if index not in {each.index for each in self.columns}]
        keep = [index for index in range(len(self.header)) if index not in labels]
        header = ("", *(self.row_name(index) for index in range(len(self.rows))))
        rows = tuple(Row(self.line, (self.header[index], *(row.cells[index] for row in self.rows))) for index in keep)
        lines = (self.line, *(row.line for row in self.rows))
        return Table(self.file, self.line, header, rows, self.caption, self.path, self.kind, True, lines)


@dataclass
class Document:
    """What was read of a file, whose name is as the user gave it.

    `labels` and `references` are those of LaTeX with their places; the document is `whole` where no other file is read
    into it, so that a reference without a label is an error. `path` holds the headings above the place reached.
    """

    file: str
    whole: bool = False
    tables: list[Table] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    labels: list[tuple[str, Place]] = field(default_factory=list)
    references: list[tuple[str, Place]] = field(default_factory=list)
    path: list[Sentence] = field(default_factory=list)

    @property
    def headings(self) -> list[Sentence]:
        """The sentences that are headings."""
        return [each for each in self.sentences if each.level]

    @property
    def above(self) -> tuple[str, ...]:
        """The headings above the place reached."""
        return tuple(each.text for each in self.path)

    def head(self, line: int, level: int, text: str) -> None:
        """Add a heading."""
        self.path = [each for each in self.path if each.level < level]
        self.sentences.append(Sentence(Place(self.file, line), text, self.above, level))
        self.path.append(self.sentences[-1])

    def say(self, line: int, text: str) -> None:
        """Add the sentences of a text, whose first line is `line`, each with the line in which it begins."""
        words = list(re.finditer(r"\S+", text))
        for each in split(" ".join(word[0] for word in words)) if words else ():
            begun = line + text.count("\n", 0, words[0].start())
            self.sentences.append(Sentence(Place(self.file, begun), each, self.above))
            words = words[len(each.split()) :]

    def tabulate(self, line: int, rows: Sequence[Row], heads: int = 1, caption: str = "", kind: str = "table") -> None:
        """Add a table of some rows of heads, unless it has no others; a blank first cell is filled with that above."""
        width = max([len(row.cells) for row in rows], default=0)
        grid = [Row(row.line, (*row.cells, *[""] * (width - len(row.cells)))) for row in rows]
        header = tuple(_joined(names) for names in zip(*(row.cells for row in grid[:heads]), strict=True))
        above, found = "", []
        for row in grid[heads:]:
            if any(cell.strip() for cell in row.cells):
                above = row.cells[0].strip() or above
                found.append(Row(row.line, (above, *row.cells[1:])))
        if found:
            self.tables.append(Table(self.file, line, header, tuple(found), caption, self.above, kind))


def together(documents: Sequence[Document], *, whole: bool = False) -> Document:
    """Several documents as one, in their order."""
    one = Document(documents[0].file, whole)
    for name in ("tables", "sentences", "labels", "references"):
        setattr(one, name, [part for each in documents for part in getattr(each, name)])
    return one


def _joined(names: Sequence[str]) -> str:
    """Join the names of a column from several header rows, without repeats."""
    return " ".join(dict.fromkeys(name.strip() for name in names if name.strip()))
