"""Columns that follow from others: a difference, ratio, change, sum or mean that most rows satisfy and one breaks.

A relation is believed by two things: a word in the header of the column (gain, ratio, total), and rows that keep it
where chance would not.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from boundpaper.audit import number
from boundpaper.audit.documents import Column, Document, Place, Table
from boundpaper.audit.finding import Finding, Formula, Relation, spread
from boundpaper.audit.number import Number
from boundpaper.statistics.rounding import Interval, meets, printed_interval, shared_decimals

FORMULAS = {
    "-": Formula("{0} - {1}", lambda a, b: a - b),
    "/": Formula("{0} / {1}", lambda a, b: a / b),
    "+": Formula("{0} + {1}", lambda a, b: a + b),
    "share": Formula("{0} / {1} * 100", lambda a, b: a / b * 100),
    "change": Formula("({0} / {1} - 1) * 100", lambda a, b: (a / b - 1) * 100),
    "relative": Formula("{0} / {1} - 1", lambda a, b: a / b - 1),
    "drop": Formula("-({1} / {0} - 1) * 100", lambda a, b: -(b / a - 1) * 100),
    "lost": Formula("-({1} / {0} - 1)", lambda a, b: -(b / a - 1)),
    "mean": Formula("mean", lambda *parts: sum(parts[1:], parts[0]) * (1 / len(parts))),
    "sum": Formula(" + ", lambda *parts: sum(parts[1:], parts[0])),
}
_LESS = "drop reduction decrease change saving savings saved loss"
_CUES = {
    "-": "difference diff delta δ Δ drop gain change improvement increase decrease reduction gap loss margin",
    "/": "ratio speedup speed-up factor relative times x",
    "+": "total sum",
    "share": "share percent percentage ratio rate relative fraction",
    "change": "change delta δ Δ gain drop improvement increase decrease reduction growth speedup overhead diff",
    "relative": "change delta gain drop improvement increase decrease reduction growth overhead relative",
    "drop": _LESS,
    "lost": _LESS,
    "mean": "mean average avg",
}
_WORDS = {key: frozenset(words.split()) for key, words in _CUES.items()}
_TOTALS = {"total": "sum", "sum": "sum"}
_TOTAL_NAME = re.compile(r"(?:the |grand |macro[- ]?)?(total|sum|average|avg|mean|overall)\.?(?: \([^()]{1,20}\))?")
_WORD = re.compile(r"[^\W_]++(?:-[^\W_]++)*+")
MOST_COLUMNS = 24
"""Columns of wider tables are not tried in pairs."""
Intervals = Mapping[int, Sequence[Interval | None]]


@dataclass(frozen=True)
class Held:
    """How a relation fares in a table that was read down or across.

    The columns are that of the result and those of the operands; `broken` gives the rows that break the relation with
    what they should print, and `chance` how likely the others keep it by chance.
    """

    table: Table
    formula: str
    columns: tuple[Column, ...]
    kept: tuple[int, ...]
    broken: tuple[tuple[int, Interval], ...]
    chance: float
    total: bool = False

    @property
    def target(self) -> Column:
        """The column of the result."""
        return self.columns[0]

    def cells(self, row: int) -> list[Number]:
        """The numbers of a row: the result, then its operands."""
        return [one for column in self.columns if (one := column.numbers[row])]

    def declared(self) -> Relation:
        """The relation with the numbers of each row that has them all."""
        rows = [row for row in range(len(self.table.rows)) if len(self.cells(row)) == len(self.columns)]
        named = number.distinct([self.table.row_name(row) or str(row + 1) for row in rows])
        names = number.distinct([each.name or "cell" for each in self.columns])
        cells = tuple((name, tuple(self.cells(row))) for name, row in zip(named, rows, strict=True))
        return Relation(FORMULAS[self.formula], names, cells)


def check(document: Document) -> Iterator[Finding]:
    """Findings of every table, read down and across."""
    for table in document.tables:
        said: set[tuple[int, str]] = set()
        for held in held_in(table):
            yield from _told(held, said)


@lru_cache(maxsize=512)
def held_in(table: Table) -> tuple[Held, ...]:
    """Relations that are accepted for a table, read down and across."""
    found: list[Held] = []
    for each in (table, table.turned()) if table.kind == "table" else ():
        intervals = {column.index: _intervals(column) for column in each.columns}
        summed = list(_totals(each, intervals))
        more = {held.target.index: len(held.kept) for held in summed}
        found += summed
        found += [held for held in _pairs(each, intervals) if len(held.kept) > more.get(held.target.index, 0)]
    return tuple(found)


def _intervals(column: Column) -> list[Interval | None]:
    """What the cells stand for; zeros at the end of all of them tell nothing."""
    plain = [one for one in column.numbers if one is not None]
    printed = {one.decimals for one in plain}
    if len(printed) != 1:
        return [one.interval if one else None for one in column.numbers]
    fewest = shared_decimals([one.value for one in plain], printed.pop())
    return [printed_interval(one.value, fewest) if one else None for one in column.numbers]


def _pairs(table: Table, intervals: Intervals) -> Iterator[Held]:
    """The best relation of each column to two others, if it is accepted; what a head says to follow is told first."""
    columns = table.columns
    if not 3 <= len(columns) <= MOST_COLUMNS:
        return
    names = {re.sub(r"\s", "", each.name): each for each in columns}
    cues = {each.index: _cues(each, names) for each in columns}
    for target in sorted(columns, key=lambda each: not cues[each.index]):
        cued = cues[target.index]
        others = [each for each in columns if each.index != target.index]
        far = sorted(_distance(target, *two) for two in product(others, others) if two[0] is not two[1])
        best: tuple[tuple[float, ...], Held] | None = None
        most = max(1, int((0.4 if cued else 0.15) * len(table.rows)))
        for formula in cued or (() if table.sideways else ("-", "/")):
            for first, second in product(others, others):
                if first is second or (formula in ("+", "mean") and first.index > second.index):
                    continue
                held = _fares(table, formula, (target, first, second), intervals, most=most)
                distance = _distance(target, first, second)
                tried = bisect_right(far, distance) * (len(cued) or 2)
                said = _bare(target.name) == _bare(first.name + formula + second.name)
                if held and ((said and len(held.kept) >= len(held.broken)) or _believed(held, tried, bool(cued))):
                    key = (len(held.kept) - len(held.broken), -distance, -held.chance)
                    best = (key, held) if best is None or key > best[0] else best
        if best is not None:
            yield best[1]


def _bare(name: str) -> str:
    return re.sub(r"\s", "", name).replace("\u2212", "-")


def _cues(target: Column, names: Mapping[str, Column]) -> list[str]:
    """The formulas that the head of a column names: by a word, or as `A+B`, `A-B`, `A/B` of two heads."""
    bare = _bare(target.name)
    written = [sign for sign in "+-/" if len(parts := bare.split(sign)) == 2 and all(part in names for part in parts)]
    said = {word.lower() for word in _WORD.findall(re.sub("[Δδ]", " delta ", target.name))}
    return written or [key for key, words in _WORDS.items() if said & words]


def _distance(target: Column, first: Column, second: Column) -> int:
    return abs(first.index - target.index) + abs(second.index - target.index)


def _believed(held: Held, tried: int, cued: bool) -> bool:
    """Whether more rows keep a relation than chance explains; fewer have to where one digit of one row is the fault."""
    kept, broken, chance, across = len(held.kept), len(held.broken), held.chance * tried, held.table.sideways
    fewest = max(3 if across or broken else 2 if cued else 5, 3 * broken if cued else 5.6 * broken)
    if kept >= fewest and chance <= (0.01 if cued else 1e-6):
        return True
    if broken != 1 or kept < (1 if cued else 4) or (across and kept < 3) or not slip(held):
        return False
    return chance <= ((1e-3, 3e-3, 0.01)[min(kept, 3) - 1] if cued else 1e-6)


def slip(held: Held) -> bool:
    """Whether one other digit in one cell of the row that breaks a relation would mend it."""
    cells = held.cells(held.broken[0][0])
    for place, cell in enumerate(cells):
        for other in number.other_digits(cell):
            printed, *parts = [one.interval for one in (*cells[:place], other, *cells[place + 1 :])]
            try:
                if meets(FORMULAS[held.formula].apply(*parts), printed):
                    return True
            except ValueError:
                continue
    return False


def again(table: Table, held: Held) -> Held | None:
    """How a relation fares in another state of its table, whose columns are named as they were."""
    columns = {(each.name, each.index): each for each in table.columns}
    found = tuple(columns[each.name, each.index] for each in held.columns if (each.name, each.index) in columns)
    intervals = {column.index: _intervals(column) for column in table.columns}
    whole = len(found) == len(held.columns)
    return _fares(table, held.formula, found, intervals, total=held.total) if whole else None


def _fares(
    table: Table, formula: str, columns: tuple[Column, ...], intervals: Intervals, most: int = 9999, total: bool = False
) -> Held | None:
    """How a relation fares in a table; None where more than `most` rows break it or, but for a total, none keeps it."""
    shown = [one for one in columns[0].numbers if one is not None]
    width = max(one.value for one in shown) - min(one.value for one in shown) if shown else 0.0
    unsigned = formula in ("-", "change", "relative", "drop", "lost") and not any(one.text[0] in "+-−" for one in shown)
    kept, broken, chance, turned = [], [], 1.0, 0
    seen: set[tuple[float, ...]] = set()
    for row in range(len(table.rows) if width or total else 0):
        numbers = [one for each in columns if (one := each.numbers[row]) and not one.qualifier and not one.marked]
        values = tuple(one.value for one in numbers)
        if len(numbers) < len(columns) or (values in seen and not total) or not _units_fit(formula, numbers, total):
            continue
        printed, *parts = [each for column in columns if (each := intervals[column.index][row])]
        if not any(values[1:]) if total else 0.0 in values[1:]:
            continue
        seen.add(values)
        try:
            expected = FORMULAS[formula].apply(*parts)
        except ValueError:
            continue
        if unsigned and expected.high < 0:
            expected = -expected
            turned += 1
        if not meets(expected, printed):
            broken.append((row, expected))
            if len(broken) > most:
                return None
        elif values[0] != 0 or total:
            kept.append(row)
            apart = max(values[1:]) - min(values[1:])
            room = apart if formula == "mean" else sum(map(abs, values[1:])) if total else width
            chance *= min(1.0, (expected.width + printed.width) / room) if room else 1.0
    if not (kept or (total and broken)) or 2 * turned > len(kept) + len(broken):
        return None  # where most are turned, the other order of the operands says the same
    return Held(table, formula, columns, tuple(kept), tuple(broken), chance, total)


def _units_fit(formula: str, numbers: Sequence[Number], total: bool) -> bool:
    """Whether a result in its unit can be a formula of operands in theirs."""
    unit, *units = [one.unit for one in numbers]
    sizes = [one.value for one in numbers[1:]]
    if total:  # a share of all between shares of parts is no sum of them
        whole = formula == "sum" and unit == "%" and min(sizes) <= numbers[0].value <= max(sizes)
        return len({unit, *units}) == 1 and not whole
    if len(set(units)) > 1:
        return False
    if formula in ("-", "+", "mean"):
        return unit in ("", units[0]) or (unit in ("points", "%") and units[0] in ("%", "points", ""))
    return unit in {"/": ("", "x"), "relative": ("",), "lost": ("",)}.get(formula, ("", "%"))


def _totals(table: Table, intervals: Intervals) -> Iterator[Held]:
    """Columns named total, sum, mean or average, as the sum or the mean of those beside, before, between or after."""
    matches = {each.index: _TOTAL_NAME.fullmatch(each.name.strip().lower()) for each in table.columns}
    named = {index: match[1] for index, match in matches.items() if match}
    others = [each for each in table.columns if each.index not in named]
    for target in (each for each in table.columns if each.index in named):
        before = [each for each in others if each.index < target.index]
        last = max((index for index in named if index < target.index), default=-1)
        since = [each for each in before if each.index > last]
        after = [each for each in others if each.index > target.index]
        kinds = dict.fromkeys((_TOTALS.get(named[target.index], "mean"), "sum", "mean"))
        tried = [
            held for chosen in (others, before, since, after) if len(chosen) > 1 for kind in kinds
            if (held := _fares(table, kind, (target, *chosen), intervals, total=True))
        ]  # fmt: skip
        best = max(tried, key=lambda held: (len(held.kept), -len(held.broken)), default=None)
        if best and (_believed_total(best) or _alone(best)):
            yield best


def _believed_total(held: Held) -> bool:
    kept, broken = len(held.kept), len(held.broken)
    believed = broken == 0 or (kept >= 2 and kept >= 2 * broken) or (broken == 1 and slip(held))
    return kept > 0 and held.chance < 0.01 and believed


def _alone(held: Held) -> bool:
    """Whether the only total of a table is a sum of three counts or more that nearly comes out."""
    if held.kept or len(held.broken) != 1 or held.formula != "sum" or len(held.columns) < 4:
        return False
    row, expected = held.broken[0]
    printed, *_ = numbers = held.cells(row)
    counts = all(one.decimals == 0 and not one.unit for one in numbers)
    return counts and abs(expected.middle - printed.value) <= 0.1 * abs(printed.value)


def _told(held: Held, said: set[tuple[int, str]]) -> Iterator[Finding]:
    """A finding for each row that breaks a relation, unless one of its cells was found wrong before."""
    table, formula = held.table, FORMULAS[held.formula]
    for row, expected in held.broken:
        printed, *operands = held.cells(row)
        lines = [table.line_of(row, each.index) for each in held.columns]
        places = [(line, one.text) for line, one in zip(lines, (printed, *operands), strict=True)]
        wrong = said.intersection(places)
        said.add(places[0])
        if wrong or (held.formula in ("+", "-", "sum") and _accounted(held, row, expected)):
            continue
        shown = [one.text for one in operands]
        why = formula.of([*shown[:8], *["..."][: len(shown) > 8]])
        if held.total and held.formula == "mean":
            why = f"the mean of {', '.join([*shown[:8], *['...'][: len(shown) > 8]])}"
        elif not held.total:
            why += f", which is {formula.of([each.name for each in held.columns[1:]])}"
        where, count = table.row_name(row), len(held.kept) + len(held.broken)
        so = f"so in {len(held.kept)} of {count} {'columns' if table.sideways else 'rows'}" if held.kept else "alone"
        yield Finding(
            "total" if held.total else "relation",
            "error" if held.kept else "warning",
            Place(table.file, lines[0]),
            f"{held.target.name} = {printed.text}" + (f" of {where}" if where else ""),
            spread(expected),
            f"it is {why}; {so}",
            (held.target.name, where, printed.text, *shown),
            relation=held.declared(),
        )


def _accounted(held: Held, row: int, expected: Interval) -> bool:
    """Whether another cell of the row is just what lacks: the row has a part that the others have not."""
    printed = held.cells(row)[0]
    lacks = printed.interval - expected
    taken = {each.index for each in held.columns}
    cells = [number.in_text(cell) for index, cell in enumerate(held.table.rows[row].cells) if index not in taken]
    read = [[one.interval for one in each if one.value and one.decimals == printed.decimals] for each in cells]
    parts = [one for each in read for one in (*each, sum(each, Interval(0, 0)))]
    return any(meets(lacks, one) or meets(-lacks, one) for one in parts if one.middle)
