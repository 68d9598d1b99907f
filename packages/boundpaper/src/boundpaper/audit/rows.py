"""Check a range or factor that a sentence states for several table rows, most of which agree."""

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
_DULL = words("overall total mean average magnitude level percent change")


def _joined_name(text: str) -> str:
    """Return a name in lower case without separators, so that `Pine-2 3B` and `pine2-3b` become equal."""
    return re.sub(r"[^\w.%]|_", "", text.lower())


@dataclass(frozen=True)
class TableSentence:
    """A sentence and a table: the rows and columns named in the sentence or just before it."""

    sentence: Sentence
    table: ReadTable
    before: str

    @cached_property
    def groups(self) -> list[tuple[int, tuple[int, ...]]]:
        """Return the end of each row name in the text, with the rows it names (several for `Pine 2 (3B/8B)`)."""
        called: dict[str, tuple[int, ...]] = {}  # rows by name, or by the words with which several names begin
        for row, key in enumerate(self.table.keys):
            for name in {_joined_name(key[: part.end()]) for part in _PART.finditer(key)}:
                called[name] = (*called.get(name, ()), row)
        called |= {_joined_name(key): (row,) for row, key in enumerate(self.table.keys)}
        found: list[tuple[int, tuple[int, ...]]] = []
        text = self.sentence.text
        for token, following in pairwise([*_TOKEN.finditer(text), None]):
            if token is None or (found and token.start() < found[-1][0]):
                continue
            for last in (following, token) if following and following[0][0].isdigit() else (token,):
                name = _joined_name(text[token.start() : last.end()])
                if len(name) > 2 and name[0].isalpha() and (rows := called.get(name)):
                    sizes = _SIZES.match(text, last.end())
                    named = _SIZE.findall(sizes["sizes"].lower()) if sizes else []
                    sized = ((row, re.search(rf"{_SIZE.pattern}$", self.table.keys[row].lower())) for row in rows)
                    fitting = tuple(row for row, size in sized if size and size[0] in named)
                    found.append((last.end(), fitting or rows))
                    break
        return found

    @cached_property
    def columns(self) -> list[NumberColumn]:
        """Return columns whose header words (except vague ones) or initials all occur in or before the sentence."""
        text = f"{self.before} {self.sentence.text}"
        initials = ("".join(sign for sign in name if sign.isupper()).lower() for name in _CAPITALS.findall(text))
        known = words(text) | frozenset(each for each in initials if len(each) > 1)
        return [each for each in self.table.columns if (own := words(each.name) - _DULL) and own <= known]

    def cells(self, column: NumberColumn, rows: Sequence[int]) -> Cells:
        """Return the numbers of a column in the given rows."""
        return {(row, column): one for row in rows if (one := column.numbers[row]) and not one.marked}

    def odd_cell(self, printed: str, cells: Cells, wrong: tuple[int, NumberColumn]) -> Finding:
        """Make a finding on the only cell that differs from what the sentence says."""
        (row, column), text = wrong, cells[wrong].text
        name, other = f"{column.name} of {self.table.names[row]}", FileLine(self.table.file, self.table.lines[row])
        why = f"{name} is {text}; {len(cells) - 1} of {len(cells)} named cells agree"
        return Finding("rows", "warning", self.sentence.place, printed.strip(), why, text, (printed, name), other)


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield findings of each sentence against the tables of its document, the nearest tables above it first."""
    tables = [each for each in document.tables if each.columns and len(each.rows) > 1]
    for index, sentence in enumerate(document.sentences if tables else ()):
        if not sentence.level and _TRIGGER.search(sentence.text):
            file, line = sentence.place.file, sentence.place.line
            last = document.sentences[max(0, index - 3) : index]
            near = [each.text for each in last if each.place.file == file and line - each.place.line <= 2]
            order = sorted(tables, key=lambda each: (each.file != file, each.line > line, abs(each.line - line)))
            candidates = [TableSentence(sentence, table, " ".join(near)) for table in order]
            yield from filter(None, (next(look(candidates), None) for look in (_ranges, _factors)))


def _ranges(candidates: Sequence[TableSentence]) -> Iterator[Finding]:
    """Check `Pines at 37-40`: both ends are values of a named column, but one value is outside; skip ranges from 0."""
    for match in _RANGE.finditer(candidates[0].sentence.text):
        unit, ends = 10.0 ** -len(match["places"] or ""), (float(match["low"]), float(match["high"]))
        broken: list[Finding] = []
        for each, column, cells in _groups(candidates, match.start()) if 0 < ends[0] <= ends[1] else ():
            near = [{row for (row, _), one in cells.items() if abs(one.value - end) <= unit} for end in ends]
            if not all(near) or len(near[0] | near[1]) < 2:
                continue
            wide = Interval(ends[0] - unit, ends[1] + unit)
            outside = [place for place, one in cells.items() if not meets(one.interval, wide)]
            if not outside:
                break
            if len(outside) == 1 and column in each.columns:
                broken.append(each.odd_cell(match[0], cells, outside[0]))
        else:
            yield from broken[:1]


def _groups(candidates: Sequence[TableSentence], before: int) -> Iterator[tuple[TableSentence, NumberColumn, Cells]]:
    """Yield each column's cells in the rows that the text names last before an offset."""
    for each in candidates:
        rows = next((rows for end, rows in reversed(each.groups) if end <= before), ())
        for column in each.table.columns if len(rows) > 1 else ():
            yield each, column, each.cells(column, rows)


def _factors(candidates: Sequence[TableSentence]) -> Iterator[Finding]:
    """Check `both about 4x`: find the only cell that is not this factor."""
    sentence = candidates[0].sentence
    for number in sentence.numbers if _BOTH.search(sentence.text) else ():
        for each in candidates if number.unit == "x" and number.qualifier != "bound" else ():
            cells = _factor_cells(each)
            failing = [place for place, one in cells.items() if not meets(one.loose, number.loose)]
            told = any(meets(cells[place].loose, one.loose) for place in failing for one in sentence.numbers)
            if told or (cells and not failing):
                break
            if len(failing) == 1 < len(cells):
                yield each.odd_cell(number.text, cells, failing[0])


def _factor_cells(candidates: TableSentence) -> Cells:
    """Return factors (`x`) of rows whose words are in the sentence: all of one row, or one of each for `A/B`."""
    text, table = candidates.sentence.text, candidates.table
    known = words(text)
    own = {row: len(each) for row, key in enumerate(table.keys) if (each := words(key)) <= known}
    most = max(own.values(), default=0)
    best = [row for row, count in own.items() if count == most > 1]
    cells = {place: one for column in table.columns for place, one in candidates.cells(column, best).items()}
    found = {place: one for place, one in cells.items() if one.unit == "x" and not one.qualifier}
    return found if len(found) in (2, 3) and (len(best) == 1) != ("/" in text and len(best) == 2) else {}
