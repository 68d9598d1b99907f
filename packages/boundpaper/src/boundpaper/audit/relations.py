"""Find columns that are a difference, ratio, change, sum or mean of others in most rows, and the rows that are not."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import pairwise, permutations, product
from operator import mul, sub

from boundpaper.audit import number
from boundpaper.audit.documents import ALL_OF, FileLine, NumberColumn, ReadDocument, ReadTable
from boundpaper.audit.finding import LEVELS, CellRelation, Finding, Formula, format_interval
from boundpaper.statistics.rounding import Interval, meets

FORMULAS = {
    "+": Formula(" + ", lambda *parts: sum(parts[1:], parts[0])),
    "-": Formula(" - ", lambda *parts: reduce(sub, parts)),
    "*": Formula(" * ", lambda *parts: reduce(mul, parts)),
    "/": Formula("{0} / {1}", lambda a, b: a / b),
    "share": Formula("{0} / {1} * 100", lambda a, b: a / b * 100),
    "change": Formula("({0} / {1} - 1) * 100", lambda a, b: (a / b - 1) * 100),
    "relative": Formula("{0} / {1} - 1", lambda a, b: a / b - 1),
    "drop": Formula("-({1} / {0} - 1) * 100", lambda a, b: -(b / a - 1) * 100),
    "lost": Formula("-({1} / {0} - 1)", lambda a, b: -(b / a - 1)),
    "mean": Formula("mean", lambda *parts: sum(parts[1:], parts[0]) * (1 / len(parts))),
}
_MORE = "delta gain improvement increase growth overhead decrease reduction drop change"
_LESS = "decrease reduction drop change saving savings saved loss"
_CUES = {  # header words that suggest a formula
    "-": "difference diff delta drop gain change improvement increase decrease reduction gap loss margin",
    "/": "ratio speedup speed-up factor relative times x", "+": "total sum",
    "share": "share percent percentage ratio rate relative fraction",
    "change": f"{_MORE} speedup diff", "relative": f"{_MORE} relative", "drop": _LESS, "lost": _LESS,
}  # fmt: skip
_SIGNED = ("-", "change", "relative", "drop", "lost")
_TOTAL_NAME = re.compile(
    r"(?:the |grand |macro[- ]?)?(?:(?P<sum>total|sum)|average|avg|mean|overall)\.?(?: \([^()]{1,20}\))?", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]++(?:-[^\W_]++)*+")
Columns = tuple[NumberColumn, ...]
MOST_COLUMNS = 24  # pairs of columns are not tried in wider tables


@dataclass(frozen=True)
class ColumnRelation:
    """A relation between a column and others, and how well the rows of a table satisfy it."""

    table: ReadTable
    formula: str
    columns: Columns  # the result, then its operands
    kept: tuple[int, ...]  # the rows that satisfy it
    broken: tuple[tuple[int, Interval], ...]  # the rows that do not, with the expected intervals
    chance: float  # probability that as many rows satisfy it by chance
    total: bool = False

    def cells(self, row: int) -> list[number.Number]:
        """Return the numbers in a row: the result, then its operands."""
        return [one for column in self.columns if (one := column.numbers[row])]


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield a finding for each row or column that breaks a relation: a note unless one digit mends all of them."""
    for table in document.tables:
        said: set[tuple[int, str]] = set()
        for held in accepted(table):
            few = len(held.kept) < 3 and held.chance > 0.01
            told = len(held.broken) == 1 and _slip_chance(held) <= (0.5 if few else 1)
            for row, expected in held.broken:
                lines = [held.table.lines[each.index if held.table.sideways else row] for each in held.columns]
                places = [(line, one.text) for line, one in zip(lines, held.cells(row), strict=True)]
                if said.isdisjoint(places) and not _is_explained(held, row, expected):
                    found = _finding_with_rows(held, row, expected, FileLine(table.file, lines[0]))
                    yield found if told else replace(found, level="note", why=f"{found.why}; no one digit mends it")
                said.add(places[0])


@lru_cache(maxsize=512)
def accepted(table: ReadTable) -> tuple[ColumnRelation, ...]:
    """Return the accepted relations of a table, between its columns and between its rows."""
    found: list[ColumnRelation] = []
    whole = table.split_counts()
    for each in (whole, whole.turned()) if table.kind == "table" else ():
        summed = [*_totals(each), *_count_shares(each)]
        kept = {held.columns[0].index: len(held.kept) for held in summed}
        found += summed + [held for held in _pairs(each) if len(held.kept) > kept.get(held.columns[0].index, 0)]
    return tuple(found)


def _pairs(table: ReadTable) -> Iterator[ColumnRelation]:
    """Yield the best accepted relation of each column to two others, first of columns whose header names a formula."""
    columns = table.columns if len(table.columns) <= MOST_COLUMNS else ()
    cues = {each.index: _named_formulas(each, columns) for each in columns}
    for target in sorted(columns, key=lambda each: not cues[each.index]):
        cued = cues[target.index]
        pairs = [two for two in permutations(columns, 2) if target not in two]
        far = [sum(abs(each.index - target.index) for each in two) for two in pairs]
        most = max(1, int((0.4 if cued else 0.15) * len(table.rows)))
        best: list[tuple[tuple[float, ...], ColumnRelation]] = []
        formulas = cued or (() if table.sideways else ("-", "/"))
        for formula, ((first, second), distance) in product(formulas, zip(pairs, far, strict=True)):
            if held := fit_relation(table, formula, (target, first, second), most=most, cued=bool(cued)):
                fitting = sum(any(_units_fit(each, held.cells(row), False) for row in held.kept) for each in cued)
                tried = sum(each <= distance for each in far) * (fitting or 2)
                said = _bare_name(target.name) == _bare_name(first.name + formula + second.name)
                more = len(held.kept) - len(held.broken)
                if (said and more >= 0) or _is_accepted(held, tried, bool(cued)):
                    best.append(((more, -distance, -held.chance), held))
        yield from (held for _, held in sorted(best, key=lambda each: each[0], reverse=True)[:1])


def _count_shares(table: ReadTable) -> Iterator[ColumnRelation]:
    """Yield the column of percentages that best fits the counts `k of n`, if most rows agree."""
    for count, of in pairwise(table.columns):
        if of.name == ALL_OF + count.name:
            percent = [each for each in table.columns if any(one and one.unit == "%" for one in each.numbers)]
            own = [each for each in percent if each.name == f"share of {count.name}"]  # of the same cells
            shares = own or [each for each in percent if not each.name.startswith("share of ")]
            tried = [held for each in shares if (held := fit_relation(table, "share", (each, count, of)))]
            for best in sorted(tried, key=lambda held: len(held.broken) - len(held.kept))[:1]:
                many = len(best.kept) > max(1, 2 * len(best.broken)) and best.chance < 0.01
                if many or (len(best.kept) >= len(best.broken) == 1 and best.chance < 0.1 and _slip_chance(best) <= 1):
                    yield best


def _bare_name(name: str) -> str:
    return re.sub(r"\s", "", name).replace("\u2212", "-")


def _named_formulas(target: NumberColumn, columns: Sequence[NumberColumn]) -> list[str]:
    """Return the formulas that a column's header suggests: by a word, or as `A+B`, `A-B`, `A/B` of two headers."""
    names = {_bare_name(each.name) for each in columns}
    pieces = {sign: _bare_name(target.name).split(sign) for sign in "+-/"}
    written = [sign for sign, parts in pieces.items() if len(parts) == 2 and names.issuperset(parts)]
    name = re.sub(r"(?<![^\W_])[^\W_]++\s?[<>≤≥]", " ", target.name)  # `delta < 5` is a condition
    said = {word.lower() for word in _WORD.findall(re.sub("[Δδ]", " delta ", name))}
    cued = written or [formula for formula, words in _CUES.items() if not said.isdisjoint(words.split())]
    times = ["/"] * ({one.unit for one in target.numbers if one} == {"x"})
    return [] if name.startswith("share of ") else cued or times


def _is_accepted(held: ColumnRelation, tried: int, cued: bool) -> bool:
    """Return whether more rows satisfy a relation than by chance; fewer suffice if a wrong digit explains the break."""
    kept, broken, chance, across = len(held.kept), len(held.broken), held.chance * tried, held.table.sideways
    fewest = max(3 if across or broken else 2 if cued else 5, 3 * broken if cued else 5.6 * broken)
    many = kept >= fewest and chance <= (0.01 if cued else 1e-6)
    rare = kept >= (1 if cued else 4) and broken == 1 and not (across and kept < 3)
    slip = _slip_chance(held) if rare else math.inf
    return many or (slip <= 1 and (chance * slip <= 0.05 if cued else chance <= 1e-6))


def _slip_chance(held: ColumnRelation) -> float:
    """Return the probability that one other digit, or two swapped, mend the row by chance; inf if none does."""
    row, expected = held.broken[0]
    cells = held.cells(row)
    if cells[0].unit not in [each[0].unit for each in map(held.cells, held.kept)]:
        return math.inf
    most = max(abs(one.value) for one in held.columns[0].numbers if one)
    tried = [(at, one) for at, old in enumerate(cells) for new in _misprints(old.text) if (one := number.of_cell(new))]
    for place, one in tried:
        printed, *parts = [each.interval for each in (*cells[:place], one, *cells[place + 1 :])]
        if (mended := FORMULAS[held.formula].of_intervals(parts)) and meets(mended, printed):
            off = 2 * abs(mended.middle - printed.middle) > printed.width * (1 + 1e-9)
            return min(1.0, len(tried) * (printed.width + off * expected.width) / most)
    return math.inf


def _misprints(text: str) -> Iterator[str]:
    """Yield a number with one other digit, and with two neighbouring digits swapped."""
    for at in (digit.start() for digit in re.finditer(r"\d", text)):
        yield from (text[:at] + other + text[at + 1 :] for other in "0123456789" if other != text[at])
        if text[at + 1 : at + 2].isdigit() and text[at] != text[at + 1]:
            yield text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def fit_relation(
    table: ReadTable, formula: str, columns: Columns, *, most: int = 9999, total: bool = False, cued: bool = False
) -> ColumnRelation | None:
    """Test a relation in a table; None if over `most` rows break it or, except for totals, no row satisfies it."""
    shown = [one for one in columns[0].numbers if one]
    width = max(one.value for one in shown) - min(one.value for one in shown) if shown else 0.0
    times = {one.unit for one in shown} == {"x"}
    if cued and width and (times or formula in _SIGNED):  # few values: use distances from 0, not the range
        second = sorted(abs(one.value - times) for one in shown)[-2]
        width = second if times else max(second, min(width, 3 * second))  # the largest value may be the wrong one
    elif width and formula == "-" and not cued and not total:  # where an operand hardly varies, the other says it all
        sizes = [[one.value for one in each.numbers if one] or [0.0] for each in columns]
        width = max(1e-9, min(max(each) - min(each) for each in sizes))
    unsigned = formula in _SIGNED and not any(one.text[0] in "+-−" for one in shown)
    kept, broken, turned, copies = [], [], 0, 0
    chance, sharp = 1.0, 2.0  # probability of a match within the intervals, or to the digit: two attempts
    seen: set[tuple[float, ...]] = set()
    exact = columns[-1].name.startswith(ALL_OF)
    for row in range(len(table.rows) if width or total else 0):
        numbers = [one for each in columns if (one := each.numbers[row]) and not one.qualifier and not one.marked]
        values = tuple(one.value for one in numbers)
        if len(numbers) < len(columns) or (values in seen and not total) or not _units_fit(formula, numbers, total):
            continue
        if not any(values[1:]) if total else 0.0 in values[1:]:
            continue
        seen.add(values)
        printed, *parts = [each for column in columns if (each := column.intervals[row])]
        parts = [Interval(value, value) for value in values[1:]] if exact else parts
        if (expected := FORMULAS[formula].of_intervals(parts)) is None:
            continue
        if unsigned and expected.high < 0:
            expected, turned = -expected, turned + 1
        if exact:  # a truncated percentage is up to a whole unit too small
            printed = Interval(printed.low, printed.high + printed.width / 2)
        off = 2 * abs(expected.middle - printed.middle) > printed.width * (1 + 1e-9)
        if not meets(expected, printed):
            broken.append((row, expected))
            if len(broken) > most:
                return None
        elif (values[0] or total) and (not off or formula != "+" or numbers[0].decimals):  # counts add up exactly
            kept.append(row)
            same = meets(parts[0], printed) and formula in ("+", "-", "*", "/", "share")
            copies += not total and (same or (values[1] == values[-1] and formula in "+-*/"))
            size, apart = sum(map(abs, values[1:])) if total else width, max(values[1:]) - min(values[1:])
            room = apart if formula == "mean" else size
            chance *= min(1.0, (expected.width + printed.width) / room) if room else 1.0
            sharp *= math.inf if off else min(1.0, printed.width / room) if room else 1.0
    if not (kept or (total and broken)) or 2 * turned > len(kept) + len(broken) or 2 * copies > len(kept):
        return None  # if most are swapped, the other operand order is the same relation; copies prove nothing
    if broken and not total and len({(one := columns[0].numbers[row]) and one.value for row in kept}) == 1 < len(kept):
        return None  # nor does a constant
    return ColumnRelation(table, formula, columns, tuple(kept), tuple(broken), min(chance, sharp), total)


def _units_fit(formula: str, numbers: Sequence[number.Number], total: bool) -> bool:
    """Return whether the units of result and operands suit a formula; factors (`x`) cannot be added."""
    unit, *units = [one.unit for one in numbers]
    sizes = [one.value for one in numbers[1:]]
    if formula == "+" and numbers[0].decimals < max(one.decimals for one in numbers[1:]):
        return False  # a sum has all digits of its parts
    if total:  # an overall percentage between those of its parts is not their sum
        whole = formula == "+" and (unit == "x" or (unit == "%" and min(sizes) <= numbers[0].value <= max(sizes)))
        return len({unit, *units}) == 1 and not whole
    if formula in ("-", "+") and len(set(units)) == 1:
        return unit in ("", units[0]) or (unit in ("points", "%") and units[0] in ("%", "points", ""))
    return len(set(units)) == 1 and unit in {"/": ("", "x"), "relative": ("",), "lost": ("",)}.get(formula, ("", "%"))


def _totals(table: ReadTable) -> Iterator[ColumnRelation]:
    """Yield columns named total or mean, if they are that of all other columns or of those before, between or after."""
    named = {each: match for each in table.columns if (match := _TOTAL_NAME.fullmatch(each.name.strip()))}
    others = [each for each in table.columns if each not in named]
    for target, match in named.items():
        last = max((each.index for each in named if each.index < target.index), default=-1)
        before = [each for each in others if each.index < target.index]
        after = [each for each in others if each.index > target.index]
        tried = [
            held for chosen in (others, before, [one for one in before if one.index > last], after) if len(chosen) > 1
            for formula in (("+", "mean") if match["sum"] else ("mean", "+"))
            if (held := fit_relation(table, formula, (target, *chosen), total=True))
        ]  # fmt: skip
        best = max(tried, key=lambda held: (len(held.kept), -len(held.broken)), default=None)
        if best and _total_accepted(best):
            yield best


def _total_accepted(held: ColumnRelation) -> bool:
    """Return whether enough rows satisfy a total, or the only row is nearly the sum of three or more counts."""
    kept, broken, chance = len(held.kept), len(held.broken), held.chance
    if kept:
        return (chance < 0.01 and kept >= 2 * broken) or (chance < 0.1 and broken == 1 and _slip_chance(held) <= 1)
    numbers, aim = held.cells(held.broken[0][0]), held.broken[0][1].middle
    counts = held.formula == "+" and len(numbers) > 3 and not any(one.decimals or one.unit for one in numbers)
    return broken == 1 and counts and abs(aim - numbers[0].value) <= 0.02 * abs(numbers[0].value)


def _finding_with_rows(held: ColumnRelation, row: int, expected: Interval, place: FileLine) -> Finding:
    """Make a finding that stores its relation and the numbers of each complete row."""
    table, formula = held.table, FORMULAS[held.formula]
    whole = {each: cells for each in range(len(table.rows)) if len(cells := held.cells(each)) == len(held.columns)}
    named = number.distinct(table.names[each] or str(each + 1) for each in whole)
    names = number.distinct(each.name or "cell" for each in held.columns)
    relation = CellRelation(formula, names, tuple(zip(named, map(tuple, whole.values()), strict=True)))
    printed, *shown = (one.text for one in whole[row])
    few = [*shown[:8], *["..."][: len(shown) > 8]]
    why = f"the mean of {', '.join(few)}" if held.total and held.formula == "mean" else formula.of(few)
    why += "" if held.total else f", which is {formula.of([each.name for each in held.columns[1:]])}"
    count = f"{len(held.kept)} of {len(held.kept) + len(held.broken)} {'columns' if table.sideways else 'rows'}"
    name, where = held.columns[0].name or "cell", table.names[row]
    what, why = f"{name} = {printed}" + (f" of {where}" if where else ""), f"it is {why}; "
    why += f"so in {count}" if held.kept else "alone"
    kind, level, values = "total" if held.total else "relation", LEVELS[not held.kept], (name, where, printed, *shown)
    return Finding(kind, level, place, what, why, format_interval(expected), values, relation=relation)


def _is_explained(held: ColumnRelation, row: int, expected: Interval) -> bool:
    """Return whether a row has another explanation: truncation, a change, a sum, or one more operand."""
    printed, *operands = held.cells(row)
    parts = [each.interval for each in operands]
    if held.formula == "mean" and held.total:
        return meets(FORMULAS["+"].apply(*parts), printed.interval)
    few = held.table.sideways or len(held.kept) < 3
    if few and held.total and held.formula == "+" and printed.value in [one.value for one in operands]:
        return True  # it is the maximum or the minimum
    half = math.copysign(printed.interval.width / 2, printed.value)
    cut, loose = printed.interval + Interval(half, half), expected.width > max(abs(expected.low), abs(expected.high))
    if held.formula not in ("-", "+", "*", "mean") and (loose or meets(expected, cut)):
        return True  # it is truncated, or the whole numbers are too small to judge
    other = FORMULAS["change" if held.formula == "-" else "-"].of_intervals(parts) if held.formula in _SIGNED else None
    sharp = other and other.width <= 4 * printed.interval.width
    if other and sharp and (meets(other, printed.interval) or meets(-other, printed.interval)):
        return True
    lacks = printed.interval - expected
    rows, taken = held.table.rows, {each.index for each in held.columns}
    for each in held.kept:  # nor is it what the rows that hold have too
        taken.update(index for index, cell in enumerate(rows[each]) if any(one.value for one in number.in_text(cell)))
    cells = [number.in_text(cell) for index, cell in enumerate(rows[row]) if index not in taken]
    read = [[one.interval for one in each if one.value and one.decimals == printed.decimals] for each in cells]
    parts = [one for each in read for one in (*each, sum(each, Interval(0, 0)))]
    return held.formula in ("+", "-") and any(meets(lacks, one) or meets(-lacks, one) for one in parts if one.middle)
