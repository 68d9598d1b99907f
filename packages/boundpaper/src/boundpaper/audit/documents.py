"""Represent a document as the checks need it: its sentences, headings and tables, with their lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations

from boundpaper.audit import number
from boundpaper.audit.number import Number
from boundpaper.paper.sentences import split_sentences
from boundpaper.statistics.rounding import Interval, printed_interval, shared_decimals

NUMERIC = 0.6  # least share of numbers among the filled cells of a column of numbers
FIRST = 0xE000  # code of the first private-use character
_COUNTS = re.compile(r"(\d[\d,]*+)\s?(?:/|out of|of)\s?(\d[\d,]*+)(?:\s?\(([~≈]?\d[\d.]*+\s?%)\))?")
ALL_OF = "all of "  # the prefix in the name of a column with the totals of the counts in the column before it
Row = tuple[int, Sequence[str]]  # the line of a row, and its cells
EMPTY = frozenset({"", "-", "–", "—", "--", "---", "n/a", "N/A", "na", "NA", "?", "x", "✓", "✗"})
"""Texts of cells without a number."""


@dataclass(frozen=True)
class FileLine:
    """A line of a file; 0 if the line is unknown."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Sentence:
    """A sentence, or a heading if `level` is not 0.

    `path` has the headings above the sentence; `aside` says whether the sentence is in a list or quotation.
    """

    place: FileLine
    text: str
    path: tuple[str, ...] = ()
    level: int = 0
    aside: bool = False

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Return the quantities in the text, in order."""
        return tuple(number.in_text(self.text))

    @cached_property
    def signed(self) -> str:
        """Return the text with a private-use character for each number, which patterns match as one character."""
        text, end = "", 0
        for index, quantity in enumerate(self.numbers):
            text, end = text + self.text[end : quantity.start] + chr(FIRST + index), quantity.end
        return text + self.text[end:]

    def number(self, char: str) -> Number:
        """Return the number of a private-use character in `signed`."""
        return self.numbers[ord(char) - FIRST]


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers in a table, or in its transpose, with None for a cell without a number."""

    name: str
    index: int
    numbers: tuple[Number | None, ...]

    @cached_property
    def intervals(self) -> tuple[Interval | None, ...]:
        """Return the rounding interval of each number; decimals that are 0 in every number do not count."""
        numbers = [number for number in self.numbers if number]
        if len({number.decimals for number in numbers}) != 1:
            return tuple(number.interval if number else None for number in self.numbers)
        decimals = shared_decimals([number.value for number in numbers], numbers[0].decimals)
        return tuple(printed_interval(number.value, decimals) if number else None for number in self.numbers)


@dataclass(frozen=True)
class ReadTable:
    """A table, or a figure's coordinates: a header, and rows of as many cells."""

    file: str
    line: int  # where the table begins
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]  # of its rows, or of its columns if it is transposed
    caption: str = ""  # or the sentence that introduces the table
    path: tuple[str, ...] = ()  # the headings above it
    kind: str = "table"  # or `figure`
    is_transposed: bool = False

    @cached_property
    def columns(self) -> tuple[NumberColumn, ...]:
        """Return the columns of numbers, except the first column, which names the rows."""
        columns = []
        for index in range(1, len(self.header)):
            texts = [row[index].strip() for row in self.rows]
            numbers = tuple(map(number.of_cell, texts))
            filled = sum(text not in EMPTY for text in texts)
            if filled and len(numbers) - numbers.count(None) >= NUMERIC * filled:
                columns.append(NumberColumn(self.header[index], index, numbers))
        return tuple(columns)

    @cached_property
    def labels(self) -> tuple[int, ...]:
        """Return the indices of the columns without numbers."""
        numeric = {column.index for column in self.columns}
        return tuple(index for index in range(len(self.header)) if index not in numeric)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the name of each row: its cells in the columns without numbers, joined by blanks."""
        return tuple(" ".join(row[index] for index in self.labels if row[index].strip()) for row in self.rows)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return a key for each row, of as few columns without numbers as identify the rows.

        A text that begins with a digit follows the name of its column.
        """
        columns = self.labels
        for choice in (*combinations(self.labels, 1), *combinations(self.labels, 2)):
            if len({tuple(row[index] for index in choice) for row in self.rows}) == len(self.rows):
                columns = choice
                break
        cells = [[(self.header[index].rstrip("s"), row[index].strip()) for index in columns] for row in self.rows]
        return tuple(" ".join(f"{name} {text}" if text[:1].isdigit() else text for name, text in row) for row in cells)

    def split_counts(self) -> "ReadTable":
        """Return the table with each column of counts `k of n` split into a column of `k` and a column of `n`.

        The name of the column of `n` begins with `ALL_OF`. If a percentage follows the counts, it is a third column.
        """
        columns: list[tuple[str, ...]] = []
        for name, *cells in zip(self.header, *self.rows, strict=True):
            counts = [_COUNTS.fullmatch(cell.strip()) for cell in cells]
            if sum(map(bool, counts)) < max(2, NUMERIC * sum(cell.strip() not in EMPTY for cell in cells)):
                columns.append((name, *cells))
                continue
            names = [name, ALL_OF + name]
            if any(count and count[3] for count in counts):
                names.append(f"share of {name}")
            for group, new_name in enumerate(names, 1):
                columns.append((new_name, *((count and count[group]) or "" for count in counts)))
        header, *rows = zip(*columns, strict=True)
        return replace(self, header=header, rows=tuple(rows))

    def transposed(self) -> "ReadTable":
        """Return the transpose of the columns of numbers, in which relations along a row are relations of columns."""
        rows = tuple((column.name, *(row[column.index] for row in self.rows)) for column in self.columns)
        return replace(self, header=("", *self.names), rows=rows, lines=(self.line, *self.lines), is_transposed=True)


@dataclass
class ReadDocument:
    """What was read from a file: sentences, headings, tables, labels and references."""

    file: str  # the name that the user gave
    is_complete: bool = False  # whether all files were read, so that a reference without a label is an error
    tables: list[ReadTable] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    labels: list[tuple[str, FileLine]] = field(default_factory=list)  # LaTeX labels and their places
    references: list[tuple[str, FileLine]] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)  # lines of code that would be headings outside code
    headings_above: dict[int, str] = field(default_factory=dict)  # the headings above the current line, by level

    def add_heading(self, line: int, level: int, text: str) -> None:
        """Add a heading, which ends the sections of its level and below."""
        self.headings_above = {upper: heading for upper, heading in self.headings_above.items() if upper < level}
        self.sentences.append(Sentence(FileLine(self.file, line), text, tuple(self.headings_above.values()), level))
        self.headings_above[level] = text

    def add_sentences(self, line: int, text: str, *, aside: bool = False) -> None:
        """Add the sentences of a text that begins at `line`, each with the line of its first word."""
        words, headings = list(re.finditer(r"\S+", text)), tuple(self.headings_above.values())
        for sentence in split_sentences(" ".join(word[0] for word in words)) if words else ():
            first_line = line + text.count("\n", 0, words[0].start())
            self.sentences.append(Sentence(FileLine(self.file, first_line), sentence, headings, aside=aside))
            words = words[len(sentence.split()) :]

    def add_table(
        self, line: int, rows: Sequence[Row], header_rows: int = 1, caption: str = "", kind: str = "table"
    ) -> None:
        """Add a table whose first `header_rows` rows are its header, unless it has no other rows.

        A row whose first cell is empty has the first cell of the row above.
        """
        width = max([len(cells) for _, cells in rows], default=0)
        padded_rows = [(row_line, (*cells, *[""] * (width - len(cells)))) for row_line, cells in rows]
        headings = zip(*(cells for _, cells in padded_rows[:header_rows]), strict=True)
        header = tuple(" ".join(dict.fromkeys(filter(None, map(str.strip, heading)))) for heading in headings)
        label, body = "", []
        for row_line, cells in padded_rows[header_rows:]:
            if any(cell.strip() for cell in cells):
                label = cells[0].strip() or label
                body.append((row_line, (label, *cells[1:])))
        if body:
            lines, body_rows = zip(*body, strict=True)
            path = tuple(self.headings_above.values())
            self.tables.append(ReadTable(self.file, line, header, body_rows, lines, caption, path, kind))


def joined(documents: Sequence[ReadDocument], *, is_complete: bool = False) -> ReadDocument:
    """Return one document with the tables, sentences, labels and references of several documents, in their order."""
    document = ReadDocument(documents[0].file, is_complete)
    for name in ("tables", "sentences", "labels", "references"):
        setattr(document, name, list(chain.from_iterable(getattr(source, name) for source in documents)))
    return document
