"""Find a cell that differs from a range or factor that a sentence states for several rows, if the other rows agree."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from boundpaper.audit.documents import FileLine, NumberColumn, ReadDocument, ReadTable, Sentence
from boundpaper.audit.finding import Finding
from boundpaper.audit.number import Number
from boundpaper.audit.same import words
from boundpaper.statistics.rounding import Interval, meets

_TOKEN = re.compile(r"[^\W_](?:[\w.]*[^\W_])?(?:-[\w.]*[^\W_])*+%?")
_PART = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_CAPITALS = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)+")
_SIZES = re.compile(r"(?:\s\w{1,12})?\s?\((?P<sizes>[\d.]+[A-Za-z]+(?:(?:/|,\s?|,? and )[\d.]+[A-Za-z]+)*)\)")
_SIZE = re.compile(r"(?<![\d.])[\d.]++[a-z]+")
_RANGE = re.compile(
    r"(?<![\w.,+\u2212–-])(?P<low>\d++(?:\.\d++)?)%?\s?[-–]\s?(?P<high>\d++(?:\.(?P<places>\d++))?)%?(?![\w–-]|[.,]\d)"
)
_BOTH = re.compile(r"\b(?:both|each|all|every|identical|equal|similar)(?:ly)?\b|\b\w{1,12}/\w{1,12}\b", re.IGNORECASE)
_TRIGGER = re.compile(f"(?:{_RANGE.pattern})|(?:{_BOTH.pattern})", re.IGNORECASE)
Cells = dict[tuple[int, NumberColumn], Number]
_VAGUE = words("overall total mean average magnitude level percent change")


def _bare_name(text: str) -> str:
    """Return a name in small letters without separators, so that `Pine-2 3B` and `pine2-3b` become equal."""
    return re.sub(r"[^\w.%]|_", "", text.lower())


@dataclass(frozen=True)
class TableSentence:
    """A sentence and a table that it may be about; `before` is the text just before the sentence."""

    sentence: Sentence
    table: ReadTable
    before: str

    @cached_property
    def row_mentions(self) -> list[tuple[int, tuple[int, ...]]]:
        """Return the place where each mention of rows ends, and the mentioned rows (two for `Pine 2 (3B/8B)`)."""
        rows_by_name: dict[str, tuple[int, ...]] = {}  # by the first words of row keys, which rows may share
        for row, key in enumerate(self.table.row_keys):
            for name in {_bare_name(key[: word.end()]) for word in _PART.finditer(key)}:
                rows_by_name[name] = (*rows_by_name.get(name, ()), row)
        rows_by_name |= {_bare_name(key): (row,) for row, key in enumerate(self.table.row_keys)}
        mentions: list[tuple[int, tuple[int, ...]]] = []
        text = self.sentence.text
        for token, next_token in pairwise([*_TOKEN.finditer(text), None]):
            if token is None or (mentions and token.start() < mentions[-1][0]):
                continue
            for end in (next_token, token) if next_token and next_token[0][0].isdigit() else (token,):
                name = _bare_name(text[token.start() : end.end()])
                if len(name) > 2 and name[0].isalpha() and (rows := rows_by_name.get(name)):
                    sizes = _SIZES.match(text, end.end())
                    named_sizes = _SIZE.findall(sizes["sizes"].lower()) if sizes else []
                    keys = self.table.row_keys
                    row_sizes = ((row, re.search(rf"{_SIZE.pattern}$", keys[row].lower())) for row in rows)
                    rows_of_sizes = tuple(row for row, size in row_sizes if size and size[0] in named_sizes)
                    mentions.append((end.end(), rows_of_sizes or rows))
                    break
        return mentions

    @cached_property
    def columns(self) -> list[NumberColumn]:
        """Return columns whose header words (except vague ones) are words or initials in or before the sentence."""
        text = f"{self.before} {self.sentence.text}"
        initials = ("".join(filter(str.isupper, name)).lower() for name in _CAPITALS.findall(text))
        terms = words(text) | frozenset(word for word in initials if len(word) > 1)
        return [column for column in self.table.columns if (header := words(column.name) - _VAGUE) and header <= terms]

    def cells(self, column: NumberColumn, rows: Sequence[int]) -> Cells:
        """Return the numbers of a column in these rows, by row and column."""
        return {(row, column): number for row in rows if (number := column.numbers[row]) and not number.has_mark}

    def finding(self, quote: str, cells: Cells, cell: tuple[int, NumberColumn]) -> Finding:
        """Return a finding on `cell`, which alone among `cells` differs from `quote`, a part of the sentence."""
        (row, column), text = cell, cells[cell].text
        name, source = f"{column.name} of {self.table.row_names[row]}", FileLine(self.table.file, self.table.lines[row])
        reason = f"{name} is {text}; {len(cells) - 1} of {len(cells)} named cells agree"
        return Finding("rows", "warning", self.sentence.place, quote.strip(), reason, text, (quote, name), source)


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield findings on each sentence, compared with the tables of its document, the nearest table above it first."""
    tables = [table for table in document.tables if table.columns and len(table.rows) > 1]
    for index, sentence in enumerate(document.sentences if tables else ()):
        if not sentence.level and _TRIGGER.search(sentence.text):
            file, line = sentence.place.file, sentence.place.line
            previous = [s for s in document.sentences[max(0, index - 3) : index] if s.place.file == file]
            context = [s.text for s in previous if line - s.place.line <= 2]
            nearest = sorted(tables, key=lambda table: (table.file != file, table.line > line, abs(table.line - line)))
            candidates = [TableSentence(sentence, table, " ".join(context)) for table in nearest]
            yield from filter(None, (next(search(candidates), None) for search in (_ranges, _factors)))


def _ranges(candidates: Sequence[TableSentence]) -> Iterator[Finding]:
    """Yield a finding if only one of the rows that a sentence names is outside the stated range (`Pines at 37-40`)."""
    for match in _RANGE.finditer(candidates[0].sentence.text):
        unit, ends = 10.0 ** -len(match["places"] or ""), (float(match["low"]), float(match["high"]))
        findings: list[Finding] = []
        for candidate, column, cells in _named_cells(candidates, match.start()) if 0 < ends[0] <= ends[1] else ():
            end_rows = [{row for (row, _), number in cells.items() if abs(number.value - end) <= unit} for end in ends]
            if not all(end_rows) or len(end_rows[0] | end_rows[1]) < 2:
                continue
            allowed_interval = Interval(ends[0] - unit, ends[1] + unit)
            outside_cells = [cell for cell, number in cells.items() if not meets(number.interval, allowed_interval)]
            if not outside_cells:
                break
            if len(outside_cells) == 1 and column in candidate.columns:
                findings.append(candidate.finding(match[0], cells, outside_cells[0]))
        else:
            yield from findings[:1]


def _named_cells(
    candidates: Sequence[TableSentence], offset: int
) -> Iterator[tuple[TableSentence, NumberColumn, Cells]]:
    """Yield each column's cells in the rows that the sentence mentions last before an offset."""
    for candidate in candidates:
        rows = next((rows for end, rows in reversed(candidate.row_mentions) if end <= offset), ())
        for column in candidate.table.columns if len(rows) > 1 else ():
            yield candidate, column, candidate.cells(column, rows)


def _factors(candidates: Sequence[TableSentence]) -> Iterator[Finding]:
    """Yield findings on the only cell that differs from a factor stated for several cells, as in `both about 4x`."""
    sentence = candidates[0].sentence
    stated_intervals = [number.loose_interval for number in sentence.numbers]
    for number in sentence.numbers if _BOTH.search(sentence.text) else ():
        for candidate in candidates if number.unit == "x" and number.qualifier != "bound" else ():
            cells = _factor_cells(candidate)
            intervals = {cell: factor.loose_interval for cell, factor in cells.items()}
            outside_cells = [cell for cell, interval in intervals.items() if not meets(interval, number.loose_interval)]
            is_stated = any(meets(intervals[cell], interval) for cell in outside_cells for interval in stated_intervals)
            if is_stated or (cells and not outside_cells):
                break
            if len(outside_cells) == 1 < len(cells):
                yield candidate.finding(number.text, cells, outside_cells[0])


def _factor_cells(candidate: TableSentence) -> Cells:
    """Return the two or three numbers with `x` in the row that the sentence names, or in two rows given as `A/B`."""
    text, table = candidate.sentence.text, candidate.table
    terms = words(text)
    word_counts = {row: len(key_words) for row, key in enumerate(table.row_keys) if (key_words := words(key)) <= terms}
    most_words = max(word_counts.values(), default=0)
    rows = [row for row, count in word_counts.items() if count == most_words > 1]
    cells = {cell: number for column in table.columns for cell, number in candidate.cells(column, rows).items()}
    factors = {cell: number for cell, number in cells.items() if number.unit == "x" and not number.qualifier}
    return factors if len(factors) in (2, 3) and (len(rows) == 1) != ("/" in text and len(rows) == 2) else {}
