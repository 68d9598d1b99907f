"""What a sentence says of several rows of a table: a range, a bound on their spread, an order, likeness, one value.

A row is named by its words, several by the word that they begin with (`Pine 2 (3B/8B)`), a column by its words or its
initials. The words alone are weak: a sentence is held against rows only where some of them keep what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from boundpaper.audit.documents import Column, Document, Place, Sentence, Table
from boundpaper.audit.finding import Finding, spread
from boundpaper.audit.number import Number
from boundpaper.audit.same import words
from boundpaper.errors import DataError
from boundpaper.statistics.rounding import Interval, meets, ratio
from boundpaper.typeset.printed import parse

_TOKEN = re.compile(r"[^\W_](?:[\w.]*[^\W_])?(?:-[\w.]*[^\W_])*+%?")
_PART = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_CAPITALS = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)+")
_SIZES = re.compile(r"(?:\s\w{1,12})?\s?\((?P<sizes>[\d.]+[A-Za-z]+(?:(?:/|,\s?|,? and )[\d.]+[A-Za-z]+)*)\)")
_LISTED = re.compile(r"\b(?P<noun>[A-Za-z]{3,12}?)s\s(?P<first>\d{1,4})(?P<sign>\s?[-–]\s?|,? and )(?P<last>\d{1,4})\b")
_RANGE = re.compile(
    r"(?<![\w.,+\u2212–-])(?P<low>\d++(?:\.\d++)?)%?\s?[-–]\s?(?P<high>\d++(?:\.\d++)?)%?(?![\w–-]|[.,]\d)"
)
_WITHIN = re.compile(
    r"\b(?:differ|var(?:y|ies)|spread|agree|lie)\w*+ (?:by|within|to within) [^.;]{0,12}?(?=[<≤]?\s?\d)"
)
_EVERY = re.compile(r"\b(?:each|every|all|any)\b", re.IGNORECASE)
_BOTH = re.compile(r"\b(?:both|each|all|every|identical|equal|similar)(?:ly)?\b|\b\w{1,12}/\w{1,12}\b", re.IGNORECASE)
_ORDERED = re.compile(r"\b(?:order|rank|separat)\w*", re.IGNORECASE)
_SIGN = re.compile(r"[<>]|\bfrom\b")
_ALIKE = re.compile(r"\b(?:(?P<same>identical|equal)|comparable|similar)\s(?P<next>[\w%]+)", re.IGNORECASE)
_FALLS = re.compile(r"(?:(?!\bnon|\bnot\b).)*\bmonoton(?:(?!\bnon|\bnot\b).)*", re.IGNORECASE)
_COUNTED = re.compile(r"\b(?:all|across|in)\s(?:of\s)?(?:the\s)?(?P<count>\d{1,3})\b", re.IGNORECASE)
_LEAD = re.compile(r"(\S{1,24})\s?(?:[~≈=]|is|of|are)\s?~?$")
_TRIGGER = re.compile(
    "|".join(f"(?:{each.pattern})" for each in (_RANGE, _BOTH, _ORDERED, _LISTED))
    + r"|\bdiffer|\bmonoton|comparable|≈|within",
    re.IGNORECASE,
)
_DULL = words("overall total mean average magnitude level percent change")
ALIKE, SAME = 2.0, 1.1
"""By which factor at most values are alike, and the same."""


def squeezed(text: str) -> str:
    """A name without signs that join its parts: `Pine-2 3B` and `pine2-3b` are one."""
    return re.sub(r"[^\w.%]|_", "", text.lower())


@dataclass(frozen=True)
class Group:
    """Rows that one mention names, where it stands, and whether it lists their numbers."""

    start: int
    end: int
    rows: tuple[int, ...]
    listed: bool = False


@dataclass(frozen=True)
class Said:
    """A sentence, and the words of those before it, held against a table: the rows and columns that it names."""

    sentence: Sentence
    table: Table
    before: str = ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The squeezed names of the rows."""
        return tuple(squeezed(self.table.key(row)) for row in range(len(self.table.rows)))

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """What of the sentence names a row, or the beginning of several."""
        found: list[Group] = []
        text, parts = self.sentence.text, list(_TOKEN.finditer(self.sentence.text))
        for token, following in pairwise([*parts, None]):
            if token is None or (found and token.start() < found[-1].end):
                continue
            for last in (following, token) if following and following[0][0].isdigit() else (token,):
                rows = self._beginning(squeezed(text[token.start() : last.end()]))
                sizes = _SIZES.match(text, last.end()) if rows else None
                named = re.findall(r"(?<![\d.])[\d.]++[a-z]+", sizes["sizes"].lower()) if sizes else []
                ends = "|".join(map(re.escape, named))
                of_size = re.compile(rf"(?<![\d.])(?:{ends})$")
                fitting = tuple(row for row in rows if ends and of_size.search(self.table.key(row).lower()))
                if rows:
                    found.append(Group(token.start(), last.end(), fitting or rows))
                    break
        for match in _LISTED.finditer(text):
            low, high = int(match["first"]), int(match["last"])
            numbers = (low, high) if "and" in match["sign"] else range(low, min(high, low + 99) + 1)
            wanted = {f"{match['noun'].lower()}{each}" for each in numbers}
            if wanted <= set(self.names):
                rows = tuple(row for row, name in enumerate(self.names) if name in wanted)
                found.append(Group(match.start(), match.end(), rows, True))
        return tuple(sorted(found, key=lambda group: group.start))

    @cached_property
    def beginnings(self) -> tuple[frozenset[str], ...]:
        """What each row's name can be called by: its squeezed beginnings, up to the end of a word or number."""
        keys = [self.table.key(row) for row in range(len(self.table.rows))]
        return tuple(frozenset(squeezed(key[: part.end()]) for part in _PART.finditer(key)) for key in keys)

    def _beginning(self, word: str) -> tuple[int, ...]:
        """The rows whose names are a word, or else begin with it."""
        if len(word) < 3 or not word[0].isalpha():
            return ()
        exact = tuple(row for row, name in enumerate(self.names) if name == word)
        return exact or tuple(row for row, begun in enumerate(self.beginnings) if word in begun)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are named: all words of their heads, but dull ones, stand in the sentence or before it."""
        text = f"{self.before} {self.sentence.text}"
        initials = ("".join(sign for sign in name if sign.isupper()).lower() for name in _CAPITALS.findall(text))
        known = words(text) | frozenset(each for each in initials if len(each) > 1)
        return tuple(each for each in self.table.columns if (own := words(each.name) - _DULL) and own <= known)

    @cached_property
    def single(self) -> list[int]:
        """The rows that are named alone."""
        return list(dict.fromkeys(group.rows[0] for group in self.groups if len(group.rows) == 1))

    def numbers(self, column: Column, rows: Sequence[int]) -> dict[int, Number]:
        """The numbers of a column in rows."""
        return {row: one for row in rows if (one := column.numbers[row]) is not None and not one.marked}

    def finding(self, printed: str, column: Column | None, row: int, expected: str, why: str) -> Finding:
        """Tell what the sentence prints against a cell."""
        other = Place(self.table.file, self.table.rows[row].line)
        name = f"{column.name if column else ''} of {self.table.row_name(row)}"
        place = Place(self.sentence.file, self.sentence.line)
        return Finding("rows", "warning", place, printed.strip(), expected, why, (printed, name), other)


def check(document: Document) -> Iterator[Finding]:
    """Findings of each sentence against each table of its document, those above it and near it first."""
    tables = [each for each in document.tables if each.columns and len(each.rows) > 1]
    before: list[Sentence] = []
    for sentence in document.sentences if tables else ():
        if sentence.kind != "heading" and _TRIGGER.search(sentence.text):
            near = [each.text for each in before[-3:] if each.file == sentence.file and sentence.line - each.line <= 2]
            said = [Said(sentence, table, " ".join(near)) for table in tables]
            said.sort(key=lambda each: _distance(each.sentence, each.table))
            for claim in (_ranges, _spreads, _orders, _likeness, _falls, _values):
                if finding := claim(said):
                    yield finding
        before.append(sentence)


def _distance(sentence: Sentence, table: Table) -> tuple[bool, bool, int]:
    return table.file != sentence.file, table.line > sentence.line, abs(table.line - sentence.line)


def _ends(numbers: Sequence[Number]) -> str:
    low, high = (each(numbers, key=lambda one: one.value) for each in (min, max))
    return f"{low.text} to {high.text}"


def _ranges(said: Sequence[Said]) -> Finding | None:
    """`Pines at 37-40`: a named column whose values give both ends, and hold one that lies outside."""
    for match in _RANGE.finditer(said[0].sentence.text):
        try:
            printed = parse(match[0].replace("%", ""))
        except DataError:
            continue
        unit = 2 * (printed.high - float(match["high"]))
        ends = float(match["low"]), float(match["high"])
        broken: list[Finding] = []
        whole = False
        for each in said:
            rows = next((one.rows for one in reversed(each.groups) if one.end <= match.start()), ())
            for column in each.table.columns if len(rows) > 1 else ():
                numbers = each.numbers(column, rows)
                near = [{row for row, one in numbers.items() if abs(one.value - end) <= unit} for end in ends]
                if not all(near) or len(near[0] | near[1]) < 2:
                    continue
                wide = Interval(ends[0] - unit, ends[1] + unit)
                outside = [row for row, one in numbers.items() if not meets(one.interval, wide)]
                whole = whole or not outside
                if 0 < 2 * len(outside) < len(numbers) and column in each.columns:
                    why = (
                        f"{column.name} of {each.table.row_name(outside[0])} is {numbers[outside[0]].text}; "
                        f"{len(numbers) - len(outside)} of {len(numbers)} rows named lie in it"
                    )
                    broken.append(each.finding(match[0], column, outside[0], _ends(list(numbers.values())), why))
        if broken and not whole:
            return broken[0]
    return None


def _spreads(said: Sequence[Said]) -> Finding | None:
    """`differ by < 0.02 in each column`: the rows of a group spread further in a column, and not in most."""
    sentence = said[0].sentence
    match = _WITHIN.search(sentence.text)
    bound = next((one for one in sentence.numbers if match and match.end() <= one.start <= match.end() + 2), None)
    if match is None or bound is None or not _EVERY.search(sentence.text):
        return None
    for each, group in ((held, group) for held in said for group in held.groups if len(group.rows) > 1):
        columns = [column for column in each.table.columns if not words(column.name) & _DULL]
        held = {column: list(each.numbers(column, group.rows).values()) for column in columns}
        least = {
            column: max(one.interval.low for one in numbers) - min(one.interval.high for one in numbers)
            for column, numbers in held.items() if len(numbers) == len(group.rows)
        }  # fmt: skip
        over = [column for column, width in least.items() if width > bound.value]
        if over and 2 * len(over) < len(least):
            within = f"{len(least) - len(over)} of {len(least)}"
            why = f"{over[0].name} runs from {_ends(held[over[0]])}; so in {within} columns"
            return each.finding(
                sentence.text[match.start() : bound.end], over[0], group.rows[0], f"at least {least[over[0]]:.3g}", why
            )
    return None


def _orders(said: Sequence[Said]) -> Finding | None:
    """`A < B < C, as the score has it`: three groups that a named column parts, and another named one does not."""
    text = said[0].sentence.text
    for each in said if _ORDERED.search(text) else ():
        for first in range(len(each.groups) - 2):
            parts = each.groups[first : first + 3]
            gaps = [text[one.end : two.start] for one, two in pairwise(parts)]
            sizes = [len(group.rows) for group in parts]
            apart = len({row for group in parts for row in group.rows}) == sum(sizes) and sum(n > 1 for n in sizes) > 1
            if not apart or not all(len(gap) <= 40 and _SIGN.search(gap) for gap in gaps):
                continue
            wrong = {column: _mixed([each.numbers(column, group.rows) for group in parts]) for column in each.columns}
            mixed = [(column, *pair) for column, pair in wrong.items() if pair]
            if mixed and len(mixed) < len(wrong):
                column, higher, lower = mixed[0]
                shown = [
                    f"{each.table.row_name(row)} has {one.text}"
                    for row, one in each.numbers(column, (higher, lower)).items()
                ]
                why = f"{column.name} does not part them: {', '.join(shown)}"
                return each.finding(text[parts[0].start : parts[2].end], column, higher, "", why)
    return None


def _mixed(groups: Sequence[dict[int, Number]]) -> tuple[int, int] | None:
    """Two rows that stand in the wrong order, whether the groups are to rise or to fall; None where they do one."""
    if not all(groups):
        return None
    wrong: list[list[tuple[int, int]]] = [[], []]
    for one, two in pairwise(groups):
        for found, low, high in ((wrong[0], one, two), (wrong[1], two, one)):
            top, bottom = max(low, key=lambda row: low[row].value), min(high, key=lambda row: high[row].value)
            if low[top].interval.low > high[bottom].interval.high:
                found.append((top, bottom))
    fewest = min(wrong, key=len)
    return fewest[0] if fewest else None


def _likeness(said: Sequence[Said]) -> Finding | None:
    """`A has a comparable slope to B`: two rows whose values of the column behind the word are far apart."""
    sentence = said[0].sentence
    for match in _ALIKE.finditer(sentence.text):
        for each in said:
            rows, own = each.single, each.table.path[-1:] == sentence.path[-1:]
            if not rows and own and len(each.table.rows) == 2 and re.search(r"\bboth\b", sentence.text):
                rows = [0, 1]
            columns = [column for column in each.columns if words(column.name) & words(match["next"])]
            if len(rows) != 2 or len(columns) != 1:
                continue
            numbers = list(each.numbers(columns[0], rows).values())
            if len(numbers) < 2 or min(one.interval.low for one in numbers) <= 0:
                return None
            times = max(
                (ratio(one.interval, two.interval) for one, two in (numbers, numbers[::-1])), key=lambda x: x.low
            )
            most = SAME if match["same"] else ALIKE
            if times.low <= most:
                return None
            why = f"{numbers[0].text} and {numbers[1].text} are {spread(times)} times apart"
            return each.finding(match[0], columns[0], rows[0], f"within {most:g} times", why)
    return None


def _falls(said: Sequence[Said]) -> Finding | None:
    """`All 11 fall monotonically`: a row that rises and falls over ordered columns, among as many as are counted."""
    text = said[0].sentence.text
    counts = {int(match["count"]) for match in _COUNTED.finditer(text)}
    for each in said if counts and _FALLS.fullmatch(text) else ():
        columns = each.table.columns
        rows = list(dict.fromkeys(row for group in each.groups for row in group.rows))
        if len(columns) < 5 or len(rows) < 3 or len(rows) not in counts:
            continue
        bent = []
        for row in rows if all(column.name[:1].isdigit() for column in columns) else ():
            steps = list(pairwise(one.interval for column in columns if (one := column.numbers[row])))
            if any(two.low > one.high for one, two in steps) and any(one.low > two.high for one, two in steps):
                bent.append(row)
        if 0 < 2 * len(bent) < len(rows):
            names = ", ".join(each.table.row_name(row) for row in bent)
            why = f"{len(bent)} of {len(rows)} rows rise and fall by more than rounding: {names}"
            return each.finding("monotone", None, bent[0], "", why)
    return None


def _values(said: Sequence[Said]) -> Finding | None:
    """`both about 4x`: one quantity of several cells, of which some are so and some are not."""
    sentence = said[0].sentence
    for number in sentence.numbers:
        for each in said:
            cells = _cells(each, number)
            failing = [place for place, one in cells.items() if not meets(one.loose, number.loose)]
            if any(meets(cells[place].loose, one.loose) for place in failing for one in sentence.numbers):
                break
            if cells and not failing:
                break
            if 0 < len(failing) < len(cells):
                row, column = failing[0]
                why = (
                    f"{column.name} of {each.table.row_name(row)} is {cells[failing[0]].text}; "
                    f"{len(cells) - len(failing)} of {len(cells)} cells named are so"
                )
                return each.finding(number.text, column, row, cells[failing[0]].text, why)
    return None


def _cells(said: Said, number: Number) -> dict[tuple[int, Column], Number]:
    """The cells that a number is said of.

    Those of listed rows in the column whose name leads to the number, or those in its unit of rows whose words the
    sentence holds: of one row both, of `A/B` one each.
    """
    text, table = said.sentence.text, said.table
    lead = _LEAD.search(text[: number.start])
    led = [column for column in table.columns if lead and squeezed(lead[1]) == squeezed(column.name)]
    last = next((group for group in reversed(said.groups) if group.end <= number.start), None)
    if led and last and len(last.rows) > 1 and (last.listed or _EVERY.search(text)):
        return {(row, led[0]): one for row, one in said.numbers(led[0], last.rows).items()}
    if number.unit != "x" or number.qualifier == "bound" or not _BOTH.search(text):
        return {}
    known = words(text)
    own = {row: words(table.key(row)) for row in range(len(table.rows))}
    most = max((len(each) for each in own.values() if len(each) > 1 and each <= known), default=0)
    best = [row for row, each in own.items() if len(each) == most and each <= known]
    found = {
        (row, column): one
        for column in table.columns for row, one in said.numbers(column, best).items()
        if one.unit == "x" and not one.qualifier
    }  # fmt: skip
    return found if len(found) in (2, 3) and (len(best) == 1) != ("/" in text and len(best) == 2) else {}
