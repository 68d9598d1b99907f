"""What a sentence says of several rows of a table: a range, a bound on their spread, an order, a likeness, one value.

A row is named by its words, several by the word that they begin with (`Pine 2 (3B/8B)`), a column by its words or its
initials. The words alone are weak: a sentence is held against rows only where some of them keep what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from boundpaper.audit.documents import Column, Document, Sentence, Table
from boundpaper.audit.finding import Finding, Place, spread
from boundpaper.audit.number import Number
from boundpaper.audit.same import words
from boundpaper.errors import DataError
from boundpaper.statistics.rounding import Interval, meets, ratio
from boundpaper.typeset.printed import parse

_TOKEN = re.compile(r"[^\W_](?:[\w.]*[^\W_])?(?:-[\w.]*[^\W_])*+%?")
_SIZES = re.compile(r"[\s*]{0,4}(?:models?\s|family\s)?\((?P<sizes>[\d.]+[A-Za-z]+(?:(?:/|,\s?|,? and )[\d.]+[A-Za-z]+)*)\)")
_LISTED = re.compile(r"\b(?P<noun>[A-Za-z]{3,12}?)s\s(?P<first>\d{1,4})(?P<sign>\s?[-–]\s?|,? and )(?P<last>\d{1,4})\b")
_RANGE = re.compile(
    r"(?<![\w.,+\u2212–-])(?P<low>\d{1,6}(?:\.\d{1,6})?)%?\s?[-–]\s?(?P<high>\d{1,6}(?:\.\d{1,6})?)(?P<unit>%?)(?![\w.,]*\d|[\w–-])"
)
_WITHIN = re.compile(r"\b(?:differ|var(?:y|ies)|spread|agree|lie)\w*+ (?:by|within|to within) [^.;]{0,12}?(?=[<≤]?\s?\d)")
_EVERY = re.compile(r"\b(?:each|every|all|any)\b", re.IGNORECASE)
_BOTH = re.compile(r"\b(?:both|each|all|every|identical|equal|same|similar)(?:ly)?\b|\b\w{1,12}/\w{1,12}\b", re.IGNORECASE)
_ORDERED = re.compile(r"\b(?:order|rank|separat)\w*", re.IGNORECASE)
_ALIKE = re.compile(r"\b(?:(?P<same>identical|equal)|comparable|similar)\s(?=(?P<next>[\w%]+))", re.IGNORECASE)
_FALLS = re.compile(r"(?<!non-)(?<!not )\bmonoton\w+", re.IGNORECASE)
_COUNTED = re.compile(r"\b(?:all|across|in)\s(?:of\s)?(?:the\s)?(?P<count>\d{1,3})\b", re.IGNORECASE)
_TRIGGER = re.compile(
    "|".join(each.pattern for each in (_RANGE, _BOTH, _ORDERED)) + r"|\bdiffer|\bmonoton|comparable|\d\s?[×x]|≈|within",
    re.IGNORECASE,
)
_DULL = frozenset("overal total mean averag magnit level percen change avg".split())
ALIKE, SAME = 2.0, 1.1
"""By which factor at most values are alike, and the same."""


def squeezed(text: str) -> str:
    """A name without signs that join its parts: `Pine-2 3B` and `pine2-3b` are one."""
    return re.sub(r"[^\w.%]|_", "", text.lower())


@dataclass(frozen=True)
class Group:
    """Rows that one mention names, and where it stands."""

    start: int
    end: int
    rows: tuple[int, ...]
    listed: bool = False


@dataclass(frozen=True)
class Said:
    """A sentence held against a table: the rows and columns that it names."""

    sentence: Sentence
    table: Table
    before: str = ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The squeezed names of the rows; a number takes the name of its column before it."""
        return tuple(squeezed(self.table.key(row)) for row in range(len(self.table.rows)))

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """What of the sentence names a row, or the beginning of several."""
        found: list[Group] = []
        tokens = list(_TOKEN.finditer(self.sentence.text))
        for index, token in enumerate(tokens):
            if found and token.start() < found[-1].end:
                continue
            following = tokens[index + 1] if index + 1 < len(tokens) else None
            for last in filter(None, (following if following and following[0][0].isdigit() else None, token)):
                rows = self._beginning(squeezed(self.sentence.text[token.start() : last.end()]))
                if rows:
                    sizes = _SIZES.match(self.sentence.text, last.end())
                    ends = re.findall(r"[\d.]+[a-z]+", sizes["sizes"].lower()) if sizes else ()
                    fitting = tuple(row for row in rows if any(self._ends(row, end) for end in ends))
                    found.append(Group(token.start(), last.end(), fitting or rows))
                    break
        for match in _LISTED.finditer(self.sentence.text):
            first, last = int(match["first"]), int(match["last"])
            numbers = (first, last) if "and" in match["sign"] else range(first, min(last, first + 99) + 1)
            wanted = {f"{match['noun'].lower()}{each}" for each in numbers}
            rows = tuple(row for row, name in enumerate(self.names) if name in wanted)
            if len(rows) == len(wanted):
                found.append(Group(match.start(), match.end(), rows, True))
        return tuple(found)

    def _ends(self, row: int, size: str) -> bool:
        return re.search(rf"(?<![\d.]){re.escape(size)}$", self.table.key(row).lower()) is not None

    def _beginning(self, word: str) -> tuple[int, ...]:
        """The rows whose names are a word or begin with it, where a digit or a new word follows."""
        if len(word) < 4 or not word[0].isalpha():
            return ()
        exact = tuple(row for row, name in enumerate(self.names) if name == word)
        return exact or tuple(
            row for row, name in enumerate(self.names)
            if name.startswith(word) and not (name[len(word)].isalpha() and word[-1].isalpha())
        )  # fmt: skip

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the sentence and the one before it, with the initials of names in capitals."""
        text = f"{self.before} {self.sentence.text}"
        initials = ("".join(sign for sign in name if sign.isupper()).lower() for name in _CAPITALS.findall(text))
        return words(text) | frozenset(each for each in initials if len(each) > 1)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are named: all words of their heads, but dull ones, stand in the sentence."""
        return tuple(each for each in self.table.columns if (told := words(each.name) - _DULL) and told <= self.words)

    def numbers(self, column: Column, rows: Sequence[int]) -> dict[int, Number]:
        """The numbers of a column in rows."""
        return {row: one for row in rows if (one := column.numbers[row]) is not None and not one.marked}

    def finding(self, printed: str, column: Column | None, row: int, expected: str, why: str) -> Finding:
        """Tell what the sentence prints against a cell."""
        where = Place(self.sentence.file, self.sentence.line)
        index = column.index if column else 0
        other = Place(self.table.file, self.table.line_of(row, index))
        name = f"{column.name} of {self.table.row_name(row)}" if column else self.table.row_name(row)
        return Finding("rows", "warning", where, printed.strip(), expected, why, (printed, name), other)


_CAPITALS = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)+")


def check(document: Document) -> Iterator[Finding]:
    """Findings of each sentence against each table, where no table has it right."""
    tables = [each for each in document.tables if each.columns and len(each.rows) > 1]
    before: list[Sentence] = []
    for sentence in document.sentences:
        if sentence.kind == "heading":
            continue
        if tables and _TRIGGER.search(sentence.text):
            near = [each.text for each in before[-3:] if each.file == sentence.file and sentence.line - each.line <= 2]
            said = [Said(sentence, table, " ".join(near)) for table in tables]
            for claim in (_ranges, _spreads, _orders, _likeness, _factors, _falls, _values):
                yield from claim(said)
        before.append(sentence)


def _ranges(said: Sequence[Said]) -> Iterator[Finding]:
    """`Pines at 37-40`: a column whose values give both ends, and hold one that lies outside."""
    sentence = said[0].sentence
    for match in _RANGE.finditer(sentence.text):
        try:
            printed = parse(match[0].replace("%", ""))
        except DataError:
            continue
        unit = printed.high - float(match["high"])
        low, high = printed.low + unit, printed.high - unit
        wide = Interval(low - 2 * unit, high + 2 * unit)
        broken: Finding | None = None
        for each in said:
            rows = next((one.rows for one in reversed(each.groups) if one.end <= match.start()), ())
            for column in each.table.columns:
                numbers = each.numbers(column, rows)
                ends = [{row for row, one in numbers.items() if abs(one.value - end) <= 2 * unit} for end in (low, high)]
                if len(numbers) < 2 or not all(ends) or len(ends[0] | ends[1]) < 2:
                    continue
                outside = [row for row, one in numbers.items() if not meets(one.interval, wide)]
                if not outside:
                    broken = None
                    break
                if broken is None and 2 * len(outside) < len(numbers) and column in each.columns:
                    row = outside[0]
                    why = f"{column.name} of {each.table.row_name(row)} is {numbers[row].text}; {len(numbers) - len(outside)}"
                    broken = each.finding(
                        match[0], column, row, _ends(numbers.values()), f"{why} of {len(numbers)} rows named lie in it"
                    )
            else:
                continue
            break
        if broken is not None:
            yield broken


def _ends(numbers: Sequence[Number] | object) -> str:
    listed = sorted(numbers, key=lambda one: one.value)  # type: ignore[call-overload]
    return f"{listed[0].text} to {listed[-1].text}"


def _spreads(said: Sequence[Said]) -> Iterator[Finding]:
    """`differ by < 0.02 in each column`: the rows of a group spread further in a column, and not in most."""
    sentence = said[0].sentence
    match, every = _WITHIN.search(sentence.text), _EVERY.search(sentence.text)
    bound = next((one for one in sentence.numbers if match and match.end() <= one.start <= match.end() + 2), None)
    if bound is None or every is None:
        return
    for each in _nearest(said):
        for group in each.groups:
            spreads = {}
            for column in each.table.columns:
                numbers = each.numbers(column, group.rows)
                if len(numbers) == len(group.rows) >= 2 and not words(column.name) & _DULL:
                    ends = [one.interval for one in numbers.values()]
                    spreads[column.index] = (column, max(one.low for one in ends) - min(one.high for one in ends))
            over = [column for column, least in spreads.values() if least > bound.value]
            if over and 2 * len(over) < len(spreads):
                column, least = spreads[over[0].index]
                numbers = each.numbers(column, group.rows)
                yield each.finding(
                    match[0] + bound.text if match else "", column, group.rows[0], f"at least {least:.3g}",
                    f"{column.name} runs from {_ends(list(numbers.values()))}; so in {len(spreads) - len(over)} of "
                    f"{len(spreads)} columns",
                )  # fmt: skip
                return


def _nearest(said: Sequence[Said]) -> list[Said]:
    """The tables of the same file by their distance, those above first."""
    line, file = said[0].sentence.line, said[0].sentence.file
    return sorted(said, key=lambda each: (each.table.file != file, each.table.line > line, abs(each.table.line - line)))


def _orders(said: Sequence[Said]) -> Iterator[Finding]:
    """`A < B < C, as the score has it`: three groups that a named column parts, and another named one does not."""
    sentence = said[0].sentence
    if not _ORDERED.search(sentence.text):
        return
    for each in said:
        parts: list[Group] = []
        for group in each.groups:
            gap = sentence.text[parts[-1].end : group.start] if parts else ""
            if parts and (len(gap) > 40 or not re.search(r"[<>]|\bfrom\b", gap)):
                parts = parts if len(parts) > 2 else []
            if len(parts) < 3 or re.search(r"[<>]|\bfrom\b", gap):
                parts.append(group)
        rows = [set(group.rows) for group in parts]
        if len(parts) < 3 or len(set().union(*rows)) < sum(map(len, rows)) or sum(len(one) > 1 for one in rows) < 2:
            continue
        mixed: list[tuple[Column, int, int]] = []
        apart = 0
        for column in each.columns:
            ranges = [each.numbers(column, group.rows) for group in parts]
            if not all(ranges):
                continue
            ups = [_overlap(one, two) for one, two in zip(ranges, ranges[1:], strict=False)]
            downs = [_overlap(two, one) for one, two in zip(ranges, ranges[1:], strict=False)]
            wrong = min(([pair for pair in one if pair] for one in (ups, downs)), key=len)
            apart += not wrong
            mixed += [(column, *wrong[0])] if wrong else []
        if mixed and apart:
            column, higher, lower = mixed[0]
            one, two = column.numbers[higher], column.numbers[lower]
            yield each.finding(
                sentence.text[parts[0].start : parts[2].end], column, higher, "",
                f"{column.name} does not part them: {each.table.row_name(higher)} has {one.text if one else ''}, "
                f"{each.table.row_name(lower)} has {two.text if two else ''}",
            )  # fmt: skip
            return


def _overlap(first: dict[int, Number], second: dict[int, Number]) -> tuple[int, int] | None:
    """The largest row of what should be lower and the smallest of what should be higher, where they overlap."""
    top, bottom = max(first, key=lambda row: first[row].value), min(second, key=lambda row: second[row].value)
    return (top, bottom) if first[top].interval.low > second[bottom].interval.high else None


def _likeness(said: Sequence[Said]) -> Iterator[Finding]:
    """`A has a comparable slope to B`: two rows whose values of the column behind the word are far apart."""
    sentence = said[0].sentence
    for match in _ALIKE.finditer(sentence.text):
        told = words(match["next"])
        most = SAME if match["same"] else ALIKE
        for each in _nearest(said):
            rows = list(dict.fromkeys(row for group in each.groups for row in group.rows if len(group.rows) == 1))
            if not rows and re.search(r"\bboth\b", sentence.text) and len(each.table.rows) == 2:
                rows = [0, 1] if each.table.path[-1:] == sentence.path[-1:] else []
            columns = [column for column in each.columns if words(column.name) & told]
            if len(rows) != 2 or len(columns) != 1:
                continue
            numbers = each.numbers(columns[0], rows)
            if len(numbers) == 2 and all(one.interval.low > 0 for one in numbers.values()):
                one, two = sorted(numbers.values(), key=lambda number: -number.value)
                times = ratio(one.interval, two.interval)
                if times.low > most:
                    yield each.finding(
                        sentence.text[match.start() : match.end() + 24], columns[0], rows[0],
                        f"within {most:g} times", f"{one.text} and {two.text} are {spread(times)} times apart",
                    )  # fmt: skip
                return


def _factors(said: Sequence[Said]) -> Iterator[Finding]:
    """`A has 2x longer context than B`: the ratio of two rows in the column whose word follows the number."""
    sentence = said[0].sentence
    for number in sentence.numbers:
        told = words(" ".join(sentence.text[number.end :].split()[:2]))
        if number.unit != "x" or not told or number.qualifier == "bound":
            continue
        for each in _nearest(said):
            single = [group for group in each.groups if len(group.rows) == 1]
            sides = [{group.rows[0] for group in single if (group.start < number.start) is side} for side in (True, False)]
            rows = [min(side) for side in sides if len(side) == 1]
            columns = [column for column in each.table.columns if words(column.name) & told - _DULL]
            if len(set(rows)) != 2 or len(columns) != 1:
                continue
            numbers = list(each.numbers(columns[0], rows).values())
            if len(numbers) != 2 or any(one.interval.low <= 0 for one in numbers) or numbers[0].unit != numbers[1].unit:
                continue
            times = ratio(numbers[0].interval, numbers[1].interval)
            readings = [times, ratio(numbers[1].interval, numbers[0].interval), times - 1]
            if not any(meets(reading, number.loose) for reading in readings):
                yield each.finding(
                    sentence.text[number.start : number.end + 20], columns[0], rows[0], f"{spread(max(readings[:2], key=lambda one: one.low))} x",
                    f"{columns[0].name} is {numbers[0].text} and {numbers[1].text}",
                )  # fmt: skip
            break


def _falls(said: Sequence[Said]) -> Iterator[Finding]:
    """`All 11 fall monotonically`: a row that rises and falls over ordered columns, among as many as are counted."""
    sentence = said[0].sentence
    count = next((int(match["count"]) for match in _COUNTED.finditer(sentence.text)), 0)
    if not _FALLS.search(sentence.text) or count < 3:
        return
    for each in said:
        columns = [column for column in each.table.columns if column.name[:1].isdigit()]
        rows = list(dict.fromkeys(row for group in each.groups for row in group.rows))
        if len(columns) < 5 or len(columns) != len(each.table.columns) or len(rows) != count:
            continue
        bent = []
        for row in rows:
            ends = [one.interval for column in columns if (one := column.numbers[row])]
            steps = list(zip(ends, ends[1:], strict=False))
            rises, falls = (sum(two.low > one.high for one, two in pairs) for pairs in (steps, [(b, a) for a, b in steps]))
            bent += [row] if rises and falls else []
        if bent and 2 * len(bent) < len(rows):
            names = ", ".join(each.table.row_name(row) for row in bent)
            yield each.finding(
                "monotone", None, bent[0], "", f"{len(bent)} of {count} rows rise and fall by more than rounding: {names}"
            )
            return


def _values(said: Sequence[Said]) -> Iterator[Finding]:
    """`both about 4x`: one quantity of several cells, of which some are so and some are not."""
    sentence, every = said[0].sentence, _EVERY.search(said[0].sentence.text)
    for number in sentence.numbers:
        lead = re.search(r"(\S{1,24})\s?(?:[~≈=]|is|of|are)\s?~?$", sentence.text[: number.start])
        named = squeezed(lead[1].strip("(*")) if lead else ""
        broken: Finding | None = None
        for each in _nearest(said):
            listed = [group.rows for group in each.groups if len(group.rows) > 1 and (group.listed or every)]
            cells: dict[tuple[int, int], Number] = {}
            for column in each.table.columns:
                if named and squeezed(column.name) == named and listed:
                    cells |= {(row, column.index): one for row, one in each.numbers(column, listed[-1]).items()}
            if not cells and number.unit == "x" and number.qualifier != "bound" and _BOTH.search(sentence.text):
                cells = _told_cells(each, number)
            fitting = [place for place, one in cells.items() if meets(one.loose, number.loose)]
            failing = [place for place in cells if place not in fitting]
            if cells and not failing:
                broken = None
                break
            if any(meets(cells[place].loose, one.loose) for place in failing for one in sentence.numbers):
                break
            if broken is None and fitting and failing:
                row, index = failing[0]
                column = next(column for column in each.table.columns if column.index == index)
                broken = each.finding(
                    number.text, column, row, cells[failing[0]].text,
                    f"{each.table.row_name(row)}, {column.name} is {cells[failing[0]].text}; "
                    f"{len(fitting)} of {len(cells)} cells named are so",
                )  # fmt: skip
        if broken is not None:
            yield broken


def _told_cells(said: Said, number: Number) -> dict[tuple[int, int], Number]:
    """The cells of a unit of the rows that a sentence names: of one row both, of rows with a word in common a column."""
    named = []
    for row in range(len(said.table.rows)):
        told = words(said.table.key(row))
        if len(told) > 1 and told <= words(said.sentence.text):
            named.append((row, told))
    most = max((len(told) for _, told in named), default=0)
    best = [row for row, told in named if len(told) == most]
    found = {}
    for column in said.table.columns:
        for row, one in said.numbers(column, best).items():
            if one.unit == number.unit and not one.qualifier:
                found[row, column.index] = one
    return found if len(found) in (2, 3) and (len(best) == 1) != ("/" in said.sentence.text and len(best) == 2) else {}
