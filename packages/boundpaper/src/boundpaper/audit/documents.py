"""Represent a document for the checks: sentences and headings, and tables with the line of each row."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

from boundpaper.audit import number
from boundpaper.audit.number import Number
from boundpaper.paper.sentences import split_sentences
from boundpaper.statistics.rounding import Interval, printed_interval, shared_decimals

NUMERIC = 0.6  # least share of numbers among the filled cells of a column of numbers
FIRST = 0xE000  # the first private-use character of Unicode
_COUNTS = re.compile(r"(\d[\d,]*+)\s?(?:/|out of|of)\s?(\d[\d,]*+)(?:\s?\(([~≈]?\d[\d.]*+\s?%)\))?")
ALL_OF = "all of "  # begins the name of a column with the total of the column before it
Row = tuple[int, Sequence[str]]  # the line of a row, and its cells
EMPTY = frozenset({"", "-", "–", "—", "--", "---", "n/a", "N/A", "na", "NA", "?", "x", "✓", "✗"})


@dataclass(frozen=True)
class FileLine:
    """A file and a line."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Sentence:
    """A sentence, or a heading if `level` is not 0; `path` has the headings above, `aside` marks lists and quotes."""

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
        """Return the text with each number replaced by one private-use character, so that patterns can match words."""
        text, end = "", 0
        for index, quantity in enumerate(self.numbers):
            text, end = text + self.text[end : quantity.start] + chr(FIRST + index), quantity.end
        return text + self.text[end:]

    def number(self, sign: str) -> Number:
        """Return the number that a private-use character of `signed` stands for."""
        return self.numbers[ord(sign) - FIRST]


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers (or a row of the transposed table): one number or None for each row."""

    name: str
    index: int
    numbers: tuple[Number | None, ...]

    @cached_property
    def intervals(self) -> tuple[Interval | None, ...]:
        """Return the rounding interval of each number; zeros that end every number do not count as digits."""
        numbers = [number for number in self.numbers if number]
        if len({number.decimals for number in numbers}) != 1:
            return tuple(number.interval if number else None for number in self.numbers)
        fewest = shared_decimals([number.value for number in numbers], numbers[0].decimals)
        return tuple(printed_interval(number.value, fewest) if number else None for number in self.numbers)


@dataclass(frozen=True)
class ReadTable:
    """A table, or a figure's coordinates: a header, and rows of as many cells."""

    file: str
    line: int  # of its head
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]  # of its rows, or of its columns if it is transposed
    caption: str = ""  # or the sentence that introduces the table
    path: tuple[str, ...] = ()  # the headings above it
    kind: str = "table"
    sideways: bool = False  # whether it is turned

    @cached_property
    def columns(self) -> tuple[NumberColumn, ...]:
        """Return the columns of numbers, except the first column, which names the rows."""
        columns = []
        for index in range(1, len(self.header)):
            texts = [row[index].strip() for row in self.rows]
            numbers = tuple(map(number.of_cell, texts))
            count = sum(text not in EMPTY for text in texts)
            if count and sum(entry is not None for entry in numbers) >= NUMERIC * count:
                columns.append(NumberColumn(self.header[index], index, numbers))
        return tuple(columns)

    @cached_property
    def labels(self) -> tuple[int, ...]:
        """Return the indices of the columns without numbers."""
        numeric = {column.index for column in self.columns}
        return tuple(index for index in range(len(self.header)) if index not in numeric)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return for each row the joined text of its cells that are not numbers."""
        return tuple(" ".join(row[index] for index in self.labels if row[index].strip()) for row in self.rows)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return a key for each row, made of as few labels as suffice; a number follows the name of its column."""
        groups = (*combinations(self.labels, 1), *combinations(self.labels, 2))
        distinct = ((group, {tuple(row[index] for index in group) for row in self.rows}) for group in groups)
        chosen = next((group for group, marks in distinct if len(marks) == len(self.rows)), self.labels)
        cells = [[(self.header[index].rstrip("s"), row[index].strip()) for index in chosen] for row in self.rows]
        return tuple(" ".join(f"{name} {text}" if text[:1].isdigit() else text for name, text in row) for row in cells)

    def split_counts(self) -> "ReadTable":
        """Split each column of counts `k of n` into `k`, `n` (headed `all of ...`) and, if present, a percentage."""
        columns: list[tuple[str, ...]] = []
        for name, *cells in zip(self.header, *self.rows, strict=True):
            counts = [_COUNTS.fullmatch(cell.strip()) for cell in cells]
            if sum(map(bool, counts)) < max(2, NUMERIC * sum(cell.strip() not in EMPTY for cell in cells)):
                columns.append((name, *cells))
                continue
            heads = (name, ALL_OF + name, f"share of {name}")[: 3 if any(count and count[3] for count in counts) else 2]
            columns += [(head, *((count and count[at]) or "" for count in counts)) for at, head in enumerate(heads, 1)]
        header, *rows = zip(*columns, strict=True)
        return replace(self, header=header, rows=tuple(rows))

    def turned(self) -> "ReadTable":
        """Return the transposed table, for relations along a row."""
        rows = tuple((column.name, *(row[column.index] for row in self.rows)) for column in self.columns)
        return replace(self, header=("", *self.names), rows=rows, lines=(self.line, *self.lines), sideways=True)


@dataclass
class ReadDocument:
    """The sentences, tables and references read from a file."""

    file: str  # the file name given by the user
    whole: bool = False  # whether the document is complete, so that a reference without a label is an error
    tables: list[ReadTable] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    labels: list[tuple[str, FileLine]] = field(default_factory=list)  # LaTeX labels and their places
    references: list[tuple[str, FileLine]] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)  # lines of code that would be headings outside code
    above: dict[int, str] = field(default_factory=dict)  # the headings above the current line, by level

    def head(self, line: int, level: int, text: str) -> None:
        """Add a heading, which closes earlier headings of its level and below."""
        self.above = {upper: heading for upper, heading in self.above.items() if upper < level}
        self.sentences.append(Sentence(FileLine(self.file, line), text, tuple(self.above.values()), level))
        self.above[level] = text

    def say(self, line: int, text: str, *, aside: bool = False) -> None:
        """Add the sentences of a text that begins at `line`, each with the line of its first word."""
        words, headings = list(re.finditer(r"\S+", text)), tuple(self.above.values())
        for sentence in split_sentences(" ".join(word[0] for word in words)) if words else ():
            first_line = line + text.count("\n", 0, words[0].start())
            self.sentences.append(Sentence(FileLine(self.file, first_line), sentence, headings, aside=aside))
            words = words[len(sentence.split()) :]

    def add_table(self, line: int, rows: Sequence[Row], heads: int = 1, caption: str = "", kind: str = "table") -> None:
        """Add a table that has more than `heads` rows, its header; a blank first cell repeats the text above it."""
        width = max([len(cells) for _, cells in rows], default=0)
        grid = [(place, (*cells, *[""] * (width - len(cells)))) for place, cells in rows]
        heading = zip(*(cells for _, cells in grid[:heads]), strict=True)
        header = tuple(" ".join(dict.fromkeys(filter(None, map(str.strip, names)))) for names in heading)
        label, body = "", []
        for place, cells in grid[heads:]:
            if any(cell.strip() for cell in cells):
                label = cells[0].strip() or label
                body.append((place, (label, *cells[1:])))
        if body:
            lines, body_rows = zip(*body, strict=True)
            path = tuple(self.above.values())
            self.tables.append(ReadTable(self.file, line, header, body_rows, lines, caption, path, kind))


def joined(documents: Sequence[ReadDocument], *, complete: bool = False) -> ReadDocument:
    """Join several documents into one, in their order."""
    document = ReadDocument(documents[0].file, complete)
    for name in ("tables", "sentences", "labels", "references"):
        setattr(document, name, [item for source in documents for item in getattr(source, name)])
    return document
