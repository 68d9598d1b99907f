"""Columns that follow from others: a difference, ratio, change, sum or mean that most rows satisfy and one breaks.

A relation is believed by two things: a word in the header of the column (gain, ratio, total), and rows that keep it
where chance would not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from boundpaper.audit import number
from boundpaper.audit.documents import Column, Document, Table
from boundpaper.audit.finding import ColumnRelation, Finding, Place, spread
from boundpaper.audit.number import Number
from boundpaper.statistics.rounding import Interval, meets, printed_interval, ratio, shared_decimals

Formula = Callable[[Interval, Interval], Interval]
_FORMULAS: dict[str, tuple[str, Formula]] = {
    "-": ("{0} - {1}", lambda a, b: a - b),
    "/": ("{0} / {1}", ratio),
    "+": ("{0} + {1}", lambda a, b: a + b),
    "share": ("100 {0} / {1}", lambda a, b: ratio(a, b) * 100),
    "change": ("100 ({0} - {1}) / {1}", lambda a, b: (ratio(a, b) - 1) * 100),
    "relative": ("({0} - {1}) / {1}", lambda a, b: ratio(a, b) - 1),
    "drop": ("100 ({0} - {1}) / {0}", lambda a, b: (Interval(1, 1) - ratio(b, a)) * 100),
    "lost": ("({0} - {1}) / {0}", lambda a, b: Interval(1, 1) - ratio(b, a)),
    "mean": ("({0} + {1}) / 2", lambda a, b: (a + b) * 0.5),
}
_CUES = {
    "-": "difference diff delta δ Δ drop gain change improvement increase decrease reduction gap loss margin",
    "/": "ratio speedup speed-up factor relative times x",
    "+": "total sum",
    "share": "share percent percentage ratio rate relative fraction",
    "change": "change delta δ Δ gain drop improvement increase decrease reduction growth speedup overhead diff",
    "relative": "change delta gain drop improvement increase decrease reduction growth overhead relative",
    "drop": "drop reduction decrease change saving savings saved loss",
    "lost": "drop reduction decrease change saving savings saved loss",
    "mean": "mean average avg",
}
_WORDS = {key: frozenset(words.split()) for key, words in _CUES.items()}
_TOTALS = {"total": "sum", "sum": "sum", "average": "mean", "avg": "mean", "mean": "mean", "overall": "mean"}
_TOTAL_NAME = re.compile(r"(?:the |grand |macro[- ]?)?(total|sum|average|avg|mean|overall)\.?(?: \([^()]{1,20}\))?")
_WORD = re.compile(r"[^\W_]++(?:-[^\W_]++)*+")
MOST_COLUMNS = 24
"""Columns of wider tables are not tried in pairs."""


@dataclass(frozen=True)
class Held:
    """How well a relation holds: rows that satisfy it, rows that break it with the expected value, and their chance."""

    formula: str
    target: Column
    operands: tuple[Column, ...]
    kept: tuple[int, ...]
    broken: tuple[tuple[int, Interval], ...]
    chance: float
    total: bool = False


def check(document: Document) -> Iterator[Finding]:
    """Findings of every table, read down and across."""
    for table in document.tables:
        said: set[tuple[int, str]] = set()
        for read, held in held_in(table):
            yield from _told(read, held, said)


@lru_cache(maxsize=512)
def held_in(table: Table) -> tuple[tuple[Table, Held], ...]:
    """Relations that are accepted for a table, with the table as it was read: down or across."""
    if table.kind == "figure":
        return ()
    found: list[tuple[Table, Held]] = []
    for each in (table, table.turned()):
        summed = list(totals(each))
        more = {held.target.index: len(held.kept) for held in summed}
        found += [(each, held) for held in summed]
        found += [(each, held) for held in pairs(each) if len(held.kept) > more.get(held.target.index, 0)]
    return tuple(found)


def _intervals(column: Column) -> list[Interval | None]:
    """What the cells stand for; zeros at the end of all of them tell nothing."""
    plain = [one for one in column.numbers if one is not None]
    fewest = {
        decimals: shared_decimals([one.value for one in plain], decimals) for decimals in {o.decimals for o in plain}
    }
    same = len(fewest) == 1
    return [
        None if one is None else printed_interval(one.value, fewest[one.decimals]) if same else one.interval
        for one in column.numbers
    ]


def _usable(one: Number | None) -> bool:
    return one is not None and not one.qualifier and not one.marked


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(name)} | ({"delta"} if "Δ" in name or "δ" in name else set())


def pairs(table: Table) -> Iterator[Held]:
    """The best relation of each column to two others, if it is accepted."""
    columns = table.columns
    if not 3 <= len(columns) <= MOST_COLUMNS:
        return
    intervals = {column.index: _intervals(column) for column in columns}
    names = {re.sub(r"\s", "", each.name): each for each in columns}
    cues = {each.index: _cues(each, names) for each in columns}
    for target in sorted(columns, key=lambda each: not cues[each.index]):  # what is said to follow is told first
        cued = cues[target.index]
        others = [each for each in columns if each.index != target.index]
        far = sorted(_distance(target, one, two) for one in others for two in others if one.index != two.index)
        best: tuple[tuple[float, ...], Held] | None = None
        most = max(1, int((0.4 if cued else 0.15) * len(table.rows)))
        for formula in cued or (() if table.sideways else ("-", "/")):
            for first, second in product(others, others):
                if first.index == second.index or (formula in ("+", "mean") and first.index > second.index):
                    continue
                held = _held(table, formula, target, (first, second), intervals, most)
                distance = _distance(target, first, second)
                tried = bisect_right(far, distance) * (len(cued) or 2)
                written = re.sub(r"\s", "", target.name).replace("\u2212", "-")
                said = written == re.sub(r"\s", "", first.name + formula + second.name)
                if held is None or not (
                    (said and len(held.kept) >= len(held.broken)) or _believed(held, tried, bool(cued), table)
                ):
                    continue
                key = (len(held.kept) - len(held.broken), -distance, -held.chance)
                if best is None or key > best[0]:
                    best = (key, held)
        if best is not None:
            yield best[1]


def _cues(target: Column, names: Mapping[str, Column]) -> list[str]:
    """The formulas that the head of a column names: by a word, or as `A+B`, `A-B`, `A/B` of two heads."""
    bare = re.sub(r"\s", "", target.name).replace("\u2212", "-")
    written = [sign for sign in "+-/" if len(parts := bare.split(sign)) == 2 and all(part in names for part in parts)]
    return written or [key for key in _FORMULAS if _words(target.name) & _WORDS[key]]


def _distance(target: Column, first: Column, second: Column) -> int:
    return abs(first.index - target.index) + abs(second.index - target.index)


def _believed(held: Held, tried: int, cued: bool, table: Table) -> bool:
    """Whether more rows keep a relation than chance explains; fewer have to where one digit of one row is the fault."""
    kept, broken, chance = len(held.kept), len(held.broken), held.chance * tried
    fewest = max(3 if table.sideways or broken else 2 if cued else 5, 2 * broken + 1 if cued else 5.6 * broken)
    if kept >= fewest and chance <= (0.01 if cued else 1e-6):
        return True
    if broken != 1 or kept < (1 if cued else 4) or (table.sideways and kept < 3) or not slip(held):
        return False
    return chance <= ((1e-3, 3e-3, 0.01)[min(kept, 3) - 1] if cued else 1e-6)


def slip(held: Held) -> bool:
    """Whether one other digit in one cell of the row that breaks a relation would mend it."""
    row = held.broken[0][0]
    cells = [each.numbers[row] for each in (held.target, *held.operands)]
    for place, cell in enumerate(cells):
        for match in re.finditer(r"\d", cell.text) if cell else ():
            for digit in "0123456789":
                other = number.of_cell(cell.text[: match.start()] + digit + cell.text[match.end() :]) if cell else None
                if other is None:
                    continue
                printed, *parts = [one.interval for one in (*cells[:place], other, *cells[place + 1 :]) if one]
                try:
                    expected = _FORMULAS[held.formula][1](*parts) if not held.total else _sum_of(parts, held.formula)
                except ValueError:
                    continue
                if meets(expected, printed):
                    return True
    return False


def _sum_of(parts: Sequence[Interval], kind: str) -> Interval:
    """The sum of several, or their mean."""
    return sum(parts, Interval(0, 0)) * (1 / len(parts) if kind == "mean" else 1)


def again(table: Table, held: Held) -> Held | None:
    """How a relation fares in another state of its table, whose columns are named as they were."""
    columns = {(each.name, each.index): each for each in table.columns}
    target, *operands = (columns.get((each.name, each.index)) for each in (held.target, *held.operands))
    if target is None or not all(operands):
        return None
    parts = [each for each in operands if each]
    if held.total:
        return _totalled(table, held.formula, target, parts)
    intervals = {column.index: _intervals(column) for column in table.columns}
    return _held(table, held.formula, target, (parts[0], parts[1]), intervals, len(table.rows))


def _held(
    table: Table,
    formula: str,
    target: Column,
    operands: tuple[Column, Column],
    intervals: dict[int, list[Interval | None]],
    most: int,
) -> Held | None:
    """How a relation fares in a table; None where more than `most` rows break it or none keeps it."""
    apply = _FORMULAS[formula][1]
    spread_of = [one.value for one in target.numbers if one is not None]
    width = max(spread_of) - min(spread_of) if spread_of else 0.0
    if not width:
        return None
    unsigned = formula in ("-", "change", "relative", "drop", "lost") and min(spread_of) >= 0
    unsigned = unsigned and not any(one.text.startswith("+") for one in target.numbers if one)
    kept, broken, chance, turned = [], [], 1.0, 0
    seen: set[tuple[float, ...]] = set()
    for row in range(len(table.rows)):
        numbers = (target.numbers[row], operands[0].numbers[row], operands[1].numbers[row])
        printed = intervals[target.index][row]
        a, b = (intervals[each.index][row] for each in operands)
        if printed is None or a is None or b is None or not all(_usable(one) for one in numbers):
            continue
        units = {one.unit for one in numbers[1:] if one}
        if len(units) > 1 or not _unit_fits(formula, numbers):
            continue
        values = tuple(one.value for one in numbers if one)
        if 0.0 in values[1:] or values in seen:
            continue
        seen.add(values)
        try:
            expected = apply(a, b)
        except ValueError:
            continue
        if unsigned and expected.high < 0:
            expected = -expected
            turned += 1
        if meets(expected, printed):
            if values[0] != 0:
                kept.append(row)
                chance *= min(1.0, (expected.width + printed.width) / width)
        else:
            broken.append((row, expected))
            if len(broken) > most:
                return None
    if not kept or 2 * turned > len(kept) + len(broken):  # the other order of the operands says the same
        return None
    return Held(formula, target, operands, tuple(kept), tuple(broken), chance)


def _unit_fits(formula: str, numbers: Sequence[Number | None]) -> bool:
    """Whether a target in its unit can be a formula of operands in theirs."""
    target, first = numbers[0], numbers[1]
    if target is None or first is None or not target.unit:
        return True
    if formula in ("-", "+", "mean"):
        return target.unit == first.unit or (target.unit in ("points", "%") and first.unit in ("%", "points", ""))
    if formula == "/":
        return target.unit == "x"
    return target.unit == "%" if formula in ("share", "change", "drop") else False


def totals(table: Table) -> Iterator[Held]:
    """Relations of columns named total, sum, mean or average to the other columns of their unit, if most rows satisfy
    them.
    """
    columns = table.columns
    for place, target in enumerate(columns):
        named = _TOTAL_NAME.fullmatch(target.name.strip().lower())
        if named is None:
            continue
        others = [each for each in columns if not _TOTAL_NAME.fullmatch(each.name.strip().lower())]
        before = [each for each in others if each.index < target.index]
        after = [each for each in others if each.index > target.index]
        earlier = [each.index for each in columns[:place] if each not in others]
        since = [each for each in before if not earlier or each.index > earlier[-1]]
        best: Held | None = None
        for chosen in (others, before, since, after):
            if len(chosen) < 2:
                continue
            for kind in dict.fromkeys((_TOTALS[named[1]], "sum", "mean")):
                held = _totalled(table, kind, target, chosen)
                if held is not None and (
                    best is None or (len(held.kept), -len(held.broken)) > (len(best.kept), -len(best.broken))
                ):
                    best = held
        if best is not None and (_believed_total(best) or _alone(best)):
            yield best


def _believed_total(held: Held) -> bool:
    kept, broken = len(held.kept), len(held.broken)
    believed = broken == 0 or (kept >= 2 and kept >= 2 * broken) or (broken == 1 and slip(held))
    return kept > 0 and held.chance < 0.01 and believed


def _alone(held: Held) -> bool:
    """Whether the only total of a table is a sum of three counts or more that nearly comes out."""
    if held.kept or len(held.broken) != 1 or held.formula != "sum" or len(held.operands) < 3:
        return False
    row, expected = held.broken[0]
    numbers = [each.numbers[row] for each in (held.target, *held.operands)]
    printed = numbers[0]
    return (
        printed is not None
        and all(one is not None and one.decimals == 0 and not one.unit for one in numbers)
        and abs(expected.middle - printed.value) <= 0.1 * abs(printed.value)
    )


def _totalled(table: Table, kind: str, target: Column, parts: Sequence[Column]) -> Held | None:
    """How a total or a mean of columns fares; rows with an empty part say nothing."""
    intervals = [_intervals(each) for each in parts]
    kept, broken, chance = [], [], 1.0
    for row, printed in enumerate(target.numbers):
        values = [each.numbers[row] for each in parts]
        if printed is None or not all(_usable(one) for one in (printed, *values)):
            continue
        sizes = [one.value for one in values if one]
        if len({one.unit for one in (printed, *values) if one}) > 1 or not any(sizes):
            continue
        if kind == "sum" and printed.unit == "%" and min(sizes) <= printed.value <= max(sizes):
            continue  # a share of all, not a sum of shares
        expected = _sum_of([one for each in intervals if (one := each[row])], kind)
        if meets(expected, printed.interval):
            kept.append(row)
            room = (max(sizes) - min(sizes)) if kind == "mean" else sum(map(abs, sizes))
            chance *= min(1.0, (expected.width + printed.interval.width) / room) if room else 1.0
        else:
            broken.append((row, expected))
    return Held(kind, target, tuple(parts), tuple(kept), tuple(broken), chance, True) if kept or broken else None


def _told(table: Table, held: Held, said: set[tuple[int, str]]) -> Iterator[Finding]:
    """A finding for each row that breaks a relation."""
    names = tuple(each.name for each in held.operands)
    for row, expected in held.broken:
        printed = held.target.numbers[row]
        line = table.line_of(row, held.target.index)
        if printed is None or (line, printed.text) in said:
            continue
        said.add((line, printed.text))
        if held.formula in ("+", "-", "sum") and _accounted(table, row, held, printed, expected):
            continue
        operands = [one.text for each in held.operands if (one := each.numbers[row])]
        if any(
            (table.line_of(row, each.index), text) in said - {(line, printed.text)}
            for each, text in zip(held.operands, operands, strict=True)
        ):
            continue  # one of its parts was found wrong, which is why it does not come out
        if held.total:
            shown = (", " if held.formula == "mean" else " + ").join([*operands[:8], *["..."][: len(operands) > 8]])
            why = f"the mean of {shown}" if held.formula == "mean" else f"{shown}"
        else:
            formula = _FORMULAS[held.formula][0]
            why = f"{formula.format(*operands)}, which is {formula.format(*names)}"
        where, count = table.row_name(row), len(held.kept) + len(held.broken)
        so = f"so in {len(held.kept)} of {count} {'columns' if table.sideways else 'rows'}" if held.kept else "alone"
        yield Finding(
            "total" if held.total else "relation",
            "error" if held.kept else "warning",
            Place(table.file, line),
            f"{held.target.name} = {printed.text}" + (f" of {where}" if where else ""),
            spread(expected),
            f"it is {why}; {so}",
            (held.target.name, where, printed.text, *operands),
            relation=ColumnRelation(table, held.formula, held.target.name, names),
        )


def _accounted(table: Table, row: int, held: Held, printed: Number, expected: Interval) -> bool:
    """Whether another cell of the row is just what lacks: the row has a part that the others have not."""
    lacks = Interval(printed.interval.low - expected.high, printed.interval.high - expected.low)
    taken = {each.index for each in (held.target, *held.operands)}
    texts = [cell for index, cell in enumerate(table.rows[row].cells) if index not in taken]
    read = ([one for one in number.in_text(cell) if one.value] for cell in texts)
    cells = [[one.interval for one in each if one.decimals == printed.decimals] for each in read]
    parts = [one for each in cells for one in (*each, sum(each, Interval(0, 0)))]
    return any(meets(lacks, one) or meets(-lacks, one) for one in parts if one.middle)
