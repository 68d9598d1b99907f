"""Represent a document by the parts that the checks need: its sentences, headings and tables, with their lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations

from boundpaper.audit import number
from boundpaper.audit.number import Number
from boundpaper.paper.sentences import split_sentences
from boundpaper.statistics.rounding import Interval, printed_interval, shared_decimals

NUMERIC_SHARE = 0.6  # least share of numbers among the filled cells of a column of numbers
FIRST_PRIVATE = 0xE000  # code of the first private-use character
_COUNTS = re.compile(r"(\d[\d,]*+)\s?(?:/|out of|of)\s?(\d[\d,]*+)(?:\s?\(([~≈]?\d[\d.]*+\s?%)\))?")
ALL_OF = "all of "  # begins the name of a column of totals, which follows the column of their counts
Row = tuple[int, Sequence[str]]  # the line of a row, and its cells
EMPTY = frozenset({"", "-", "–", "—", "--", "---", "n/a", "N/A", "na", "NA", "?", "x", "✓", "✗"})
"""Texts of cells without a number."""


@dataclass(frozen=True)
class FileLine:
    """A file and the number of a line in the file; the number is 0 if the line is unknown."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Sentence:
    """A sentence or a heading."""

    place: FileLine
    text: str
    headings_above: tuple[str, ...] = ()
    level: int = 0  # the level of a heading; 0 for a sentence
    is_aside: bool = False  # whether it is in a list or quotation

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Return the quantities in the text, in order."""
        return tuple(number.in_text(self.text))

    @cached_property
    def masked_text(self) -> str:
        """Return the text with a private-use character in place of each number, so that patterns stay short."""
        text, end = "", 0
        for index, quantity in enumerate(self.numbers):
            text, end = text + self.text[end : quantity.start] + chr(FIRST_PRIVATE + index), quantity.end
        return text + self.text[end:]

    def number(self, char: str) -> Number:
        """Return the number that a private-use character replaces in `masked_text`."""
        return self.numbers[ord(char) - FIRST_PRIVATE]


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers in a table, or in its transpose, with None for a cell without a number."""

    name: str
    index: int
    numbers: tuple[Number | None, ...]

    @cached_property
    def intervals(self) -> tuple[Interval | None, ...]:
        """Return the rounding interval of each number; final decimals that are 0 in every number do not count."""
        numbers = [number for number in self.numbers if number]
        if len({number.decimals for number in numbers}) != 1:
            return tuple(number.interval if number else None for number in self.numbers)
        decimals = shared_decimals([number.value for number in numbers], numbers[0].decimals)
        return tuple(printed_interval(number.value, decimals) if number else None for number in self.numbers)


@dataclass(frozen=True)
class ReadTable:
    """A table, or the coordinates of a figure: a header, and rows with as many cells as the header."""

    file: str
    line: int  # where the table begins
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]  # the line of each row, or of each column if the table is transposed
    caption: str = ""  # the caption, or the sentence that introduces the table
    headings_above: tuple[str, ...] = ()
    kind: str = "table"  # `table` or `figure`
    is_transposed: bool = False

    @cached_property
    def columns(self) -> tuple[NumberColumn, ...]:
        """Return the columns of numbers, except the first column, which names the rows."""
        columns = []
        for index in range(1, len(self.header)):
            texts = [row[index].strip() for row in self.rows]
            numbers = tuple(map(number.of_cell, texts))
            n_filled = sum(text not in EMPTY for text in texts)
            if n_filled and len(numbers) - numbers.count(None) >= NUMERIC_SHARE * n_filled:
                columns.append(NumberColumn(self.header[index], index, numbers))
        return tuple(columns)

    @cached_property
    def label_columns(self) -> tuple[int, ...]:
        """Return the indices of the columns without numbers."""
        numeric_columns = {column.index for column in self.columns}
        return tuple(index for index in range(len(self.header)) if index not in numeric_columns)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Return the name of each row: its cells in the columns without numbers, joined by blanks."""
        return tuple(" ".join(row[index] for index in self.label_columns if row[index].strip()) for row in self.rows)

    @cached_property
    def row_keys(self) -> tuple[str, ...]:
        """Return a key for each row, from one or two label columns if these suffice; numbers follow column names."""
        columns = self.label_columns
        for choice in (*combinations(columns, 1), *combinations(columns, 2)):
            if len({tuple(row[index] for index in choice) for row in self.rows}) == len(self.rows):
                columns = choice
                break
        cells = [[(self.header[index].rstrip("s"), row[index].strip()) for index in columns] for row in self.rows]
        return tuple(" ".join(f"{name} {text}" if text[:1].isdigit() else text for name, text in row) for row in cells)

    def split_counts(self) -> "ReadTable":
        """Return the table with each column of counts `k of n (p %)` split into columns of `k`, `n` and `p`."""
        columns: list[tuple[str, ...]] = []
        for name, *cells in zip(self.header, *self.rows, strict=True):
            counts = [_COUNTS.fullmatch(cell.strip()) for cell in cells]
            if sum(map(bool, counts)) < max(2, NUMERIC_SHARE * sum(cell.strip() not in EMPTY for cell in cells)):
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
        """Return the transpose of the columns of numbers, so that relations along a row become relations of columns."""
        rows = tuple((column.name, *(row[column.index] for row in self.rows)) for column in self.columns)
        lines = (self.line, *self.lines)
        return replace(self, header=("", *self.row_names), rows=rows, lines=lines, is_transposed=True)


@dataclass
class ReadDocument:
    """The sentences, headings, tables, labels and references of a file."""

    file: str  # the name that the user gave
    is_complete: bool = False  # whether all files were read, so that a reference without a label is an error
    tables: list[ReadTable] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    labels: list[tuple[str, FileLine]] = field(default_factory=list)  # LaTeX labels and their places
    references: list[tuple[str, FileLine]] = field(default_factory=list)
    code_headings: list[str] = field(default_factory=list)  # lines of code that would be headings outside code
    headings_above: dict[int, str] = field(default_factory=dict)  # the headings above the current line, by level

    def add_heading(self, line: int, level: int, text: str) -> None:
        """Add a heading, which ends the sections of its level and below."""
        self.headings_above = {upper: heading for upper, heading in self.headings_above.items() if upper < level}
        self.sentences.append(Sentence(FileLine(self.file, line), text, tuple(self.headings_above.values()), level))
        self.headings_above[level] = text

    def add_sentences(self, line: int, text: str, *, is_aside: bool = False) -> None:
        """Add the sentences of a text that begins at `line`, each with the line of its first word."""
        words, headings = list(re.finditer(r"\S+", text)), tuple(self.headings_above.values())
        for sentence in split_sentences(" ".join(word[0] for word in words)) if words else ():
            first_line = line + text.count("\n", 0, words[0].start())
            self.sentences.append(Sentence(FileLine(self.file, first_line), sentence, headings, is_aside=is_aside))
            words = words[len(sentence.split()) :]

    def add_table(
        self, line: int, rows: Sequence[Row], header_rows: int = 1, caption: str = "", kind: str = "table"
    ) -> None:
        """Add a table, unless it has only header rows; an empty first cell repeats the first cell above it."""
        width = max([len(cells) for _, cells in rows], default=0)
        padded_rows = [(row_line, (*cells, *[""] * (width - len(cells)))) for row_line, cells in rows]
        titles = zip(*(cells for _, cells in padded_rows[:header_rows]), strict=True)
        header = tuple(" ".join(dict.fromkeys(filter(None, map(str.strip, title)))) for title in titles)
        label, body = "", []
        for row_line, cells in padded_rows[header_rows:]:
            if any(cell.strip() for cell in cells):
                label = cells[0].strip() or label
                body.append((row_line, (label, *cells[1:])))
        if body:
            lines, body_rows = zip(*body, strict=True)
            headings_above = tuple(self.headings_above.values())
            self.tables.append(ReadTable(self.file, line, header, body_rows, lines, caption, headings_above, kind))


def joined(documents: Sequence[ReadDocument], *, is_complete: bool = False) -> ReadDocument:
    """Return one document with the tables, sentences, labels and references of several documents, in their order."""
    document = ReadDocument(documents[0].file, is_complete)
    for name in ("tables", "sentences", "labels", "references"):
        setattr(document, name, list(chain.from_iterable(getattr(source, name) for source in documents)))
    return document
