"""Find columns that in most rows are a difference, ratio, change, sum or mean of others, and the deviating rows."""

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
        return [cell for column in self.columns if (cell := column.numbers[row])]


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield a finding for each row or column that breaks a relation; a note unless changing one digit repairs it."""
    for table in document.tables:
        seen: set[tuple[int, str]] = set()
        for fit in accepted(table):
            weak = len(fit.kept) < 3 and fit.chance > 0.01
            is_sure = len(fit.broken) == 1 and _slip_chance(fit) <= (0.5 if weak else 1)
            for row, expected in fit.broken:
                lines = [fit.table.lines[column.index if fit.table.sideways else row] for column in fit.columns]
                places = [(line, cell.text) for line, cell in zip(lines, fit.cells(row), strict=True)]
                if seen.isdisjoint(places) and not _is_explained(fit, row, expected):
                    found = _finding_with_rows(fit, row, expected, FileLine(table.file, lines[0]))
                    yield found if is_sure else replace(found, level="note", why=f"{found.why}; no digit mends it")
                seen.add(places[0])


@lru_cache(maxsize=512)
def accepted(table: ReadTable) -> tuple[ColumnRelation, ...]:
    """Return the accepted relations of a table, between its columns and between its rows."""
    fits: list[ColumnRelation] = []
    split = table.split_counts()
    for side in (split, split.turned()) if table.kind == "table" else ():
        totals = [*_totals(side), *_count_shares(side)]
        counts = {fit.columns[0].index: len(fit.kept) for fit in totals}
        fits += totals + [fit for fit in _pairs(side) if len(fit.kept) > counts.get(fit.columns[0].index, 0)]
    return tuple(fits)


def _pairs(table: ReadTable) -> Iterator[ColumnRelation]:
    """Yield the best accepted relation of each column to two others, first of columns whose header names a formula."""
    columns = table.columns if len(table.columns) <= MOST_COLUMNS else ()
    cues = {column.index: _named_formulas(column, columns) for column in columns}
    for target in sorted(columns, key=lambda column: not cues[column.index]):
        named = cues[target.index]
        pairs = [pair for pair in permutations(columns, 2) if target not in pair]
        distances = [sum(abs(column.index - target.index) for column in pair) for pair in pairs]
        limit = max(1, int((0.4 if named else 0.15) * len(table.rows)))
        best: list[tuple[tuple[float, ...], ColumnRelation]] = []
        formulas = named or (() if table.sideways else ("-", "/"))
        for formula, ((left, right), distance) in product(formulas, zip(pairs, distances, strict=True)):
            if fit := fit_relation(table, formula, (target, left, right), limit=limit, cued=bool(named)):
                fitting = sum(any(_units_fit(cue, fit.cells(row), False) for row in fit.kept) for cue in named)
                attempts = sum(other <= distance for other in distances) * (fitting or 2)
                is_named = _bare_name(target.name) == _bare_name(left.name + formula + right.name)
                surplus = len(fit.kept) - len(fit.broken)
                if (is_named and surplus >= 0) or _is_accepted(fit, attempts, bool(named)):
                    best.append(((surplus, -distance, -fit.chance), fit))
        yield from (fit for _, fit in sorted(best, key=lambda pair: pair[0], reverse=True)[:1])


def _count_shares(table: ReadTable) -> Iterator[ColumnRelation]:
    """Yield the column of percentages that best fits the counts `k of n`, if most rows agree."""
    for count, of in pairwise(table.columns):
        if of.name == ALL_OF + count.name:
            percent = [column for column in table.columns if any(cell and cell.unit == "%" for cell in column.numbers)]
            siblings = [column for column in percent if column.name == f"share of {count.name}"]  # of the same cells
            shares = siblings or [column for column in percent if not column.name.startswith("share of ")]
            fits = [fit for column in shares if (fit := fit_relation(table, "share", (column, count, of)))]
            for best in sorted(fits, key=lambda fit: len(fit.broken) - len(fit.kept))[:1]:
                holds = len(best.kept) > max(1, 2 * len(best.broken)) and best.chance < 0.01
                if holds or (len(best.kept) >= len(best.broken) == 1 and best.chance < 0.1 and _slip_chance(best) <= 1):
                    yield best


def _bare_name(name: str) -> str:
    return re.sub(r"\s", "", name).replace("\u2212", "-")


def _named_formulas(target: NumberColumn, columns: Sequence[NumberColumn]) -> list[str]:
    """Return the formulas that a column's header suggests: by a word, or as `A+B`, `A-B`, `A/B` of two headers."""
    names = {_bare_name(column.name) for column in columns}
    pieces = {sign: _bare_name(target.name).split(sign) for sign in "+-/"}
    from_names = [sign for sign, parts in pieces.items() if len(parts) == 2 and names.issuperset(parts)]
    name = re.sub(r"(?<![^\W_])[^\W_]++\s?[<>≤≥]", " ", target.name)  # `delta < 5` is a condition
    header_words = {word.lower() for word in _WORD.findall(re.sub("[Δδ]", " delta ", name))}
    formulas = from_names or [formula for formula, words in _CUES.items() if not header_words.isdisjoint(words.split())]
    times = ["/"] * ({cell.unit for cell in target.numbers if cell} == {"x"})
    return [] if name.startswith("share of ") else formulas or times


def _is_accepted(fit: ColumnRelation, attempts: int, cued: bool) -> bool:
    """Return whether more rows satisfy a relation than by chance; fewer suffice if a wrong digit explains the break."""
    right, wrong, chance, rowwise = len(fit.kept), len(fit.broken), fit.chance * attempts, fit.table.sideways
    fewest = max(3 if rowwise or wrong else 2 if cued else 5, 3 * wrong if cued else 5.6 * wrong)
    enough = right >= fewest and chance <= (0.01 if cued else 1e-6)
    rare = right >= (1 if cued else 4) and wrong == 1 and not (rowwise and right < 3)
    slip = _slip_chance(fit) if rare else math.inf
    return enough or (slip <= 1 and (chance * slip <= 0.05 if cued else chance <= 1e-6))


def _slip_chance(fit: ColumnRelation) -> float:
    """Return the probability that changing a digit, or swapping two, repairs the row by chance; inf if none does."""
    row, expected = fit.broken[0]
    cells = fit.cells(row)
    if cells[0].unit not in [row_cells[0].unit for row_cells in map(fit.cells, fit.kept)]:
        return math.inf
    largest = max(abs(cell.value) for cell in fit.columns[0].numbers if cell)
    mended = [(at, cell) for at, old in enumerate(cells) for new in _slips(old.text) if (cell := number.of_cell(new))]
    for place, cell in mended:
        result, *parts = [term.interval for term in (*cells[:place], cell, *cells[place + 1 :])]
        if (value := FORMULAS[fit.formula].of_intervals(parts)) and meets(value, result):
            differs = 2 * abs(value.middle - result.middle) > result.width * (1 + 1e-9)
            return min(1.0, len(mended) * (result.width + differs * expected.width) / largest)
    return math.inf


def _slips(text: str) -> Iterator[str]:
    """Yield a number with one other digit, and with two neighbouring digits swapped."""
    for at in (match.start() for match in re.finditer(r"\d", text)):
        yield from (text[:at] + digit + text[at + 1 :] for digit in "0123456789" if digit != text[at])
        if text[at + 1 : at + 2].isdigit() and text[at] != text[at + 1]:
            yield text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def fit_relation(
    table: ReadTable, formula: str, columns: Columns, *, limit: int = 9999, total: bool = False, cued: bool = False
) -> ColumnRelation | None:
    """Test a relation in a table; None if over `limit` rows break it or, except for totals, no row satisfies it."""
    results = [cell for cell in columns[0].numbers if cell]
    width = max(cell.value for cell in results) - min(cell.value for cell in results) if results else 0.0
    times = {cell.unit for cell in results} == {"x"}
    if cued and width and (times or formula in _SIGNED):  # few values: use distances from 0, not the range
        second = sorted(abs(cell.value - times) for cell in results)[-2]
        width = second if times else max(second, min(width, 3 * second))  # the largest value may be the wrong one
    elif width and formula == "-" and not cued and not total:  # where an operand hardly varies, the other says it all
        values_by_column = [[cell.value for cell in column.numbers if cell] or [0.0] for column in columns]
        width = max(1e-9, min(max(values) - min(values) for values in values_by_column))
    no_sign = formula in _SIGNED and not any(cell.text[0] in "+-−" for cell in results)
    kept, broken, swapped, copies = [], [], 0, 0
    chance, sharp = 1.0, 2.0  # probability of a match within the intervals, or to the digit: two attempts
    seen: set[tuple[float, ...]] = set()
    exact = columns[-1].name.startswith(ALL_OF)
    for row in range(len(table.rows) if width or total else 0):
        numbers = [cell for column in columns if (cell := column.numbers[row]) and not (cell.qualifier or cell.marked)]
        values = tuple(cell.value for cell in numbers)
        if len(numbers) < len(columns) or (values in seen and not total) or not _units_fit(formula, numbers, total):
            continue
        if not any(values[1:]) if total else 0.0 in values[1:]:
            continue
        seen.add(values)
        stated, *parts = [interval for column in columns if (interval := column.intervals[row])]
        parts = [Interval(value, value) for value in values[1:]] if exact else parts
        if (expected := FORMULAS[formula].of_intervals(parts)) is None:
            continue
        if no_sign and expected.high < 0:
            expected, swapped = -expected, swapped + 1
        if exact:  # a truncated percentage is up to a whole unit too small
            stated = Interval(stated.low, stated.high + stated.width / 2)
        differs = 2 * abs(expected.middle - stated.middle) > stated.width * (1 + 1e-9)
        if not meets(expected, stated):
            broken.append((row, expected))
            if len(broken) > limit:
                return None
        elif (values[0] or total) and (not differs or formula != "+" or numbers[0].decimals):  # counts add up exactly
            kept.append(row)
            is_copy = meets(parts[0], stated) and formula in ("+", "-", "*", "/", "share")
            copies += not total and (is_copy or (values[1] == values[-1] and formula in "+-*/"))
            size, gap = sum(map(abs, values[1:])) if total else width, max(values[1:]) - min(values[1:])
            room = gap if formula == "mean" else size
            chance *= min(1.0, (expected.width + stated.width) / room) if room else 1.0
            sharp *= math.inf if differs else min(1.0, stated.width / room) if room else 1.0
    if not (kept or (total and broken)) or 2 * swapped > len(kept) + len(broken) or 2 * copies > len(kept):
        return None  # if most are swapped, the other operand order is the same relation; copies prove nothing
    if broken and not total and len({(cell := columns[0].numbers[at]) and cell.value for at in kept}) == 1 < len(kept):
        return None  # nor does a constant
    return ColumnRelation(table, formula, columns, tuple(kept), tuple(broken), min(chance, sharp), total)


def _units_fit(formula: str, numbers: Sequence[number.Number], total: bool) -> bool:
    """Return whether the units of result and operands suit a formula; factors (`x`) cannot be added."""
    unit, *units = [cell.unit for cell in numbers]
    sizes = [cell.value for cell in numbers[1:]]
    if formula == "+" and numbers[0].decimals < max(cell.decimals for cell in numbers[1:]):
        return False  # a sum has all digits of its parts
    if total:  # an overall percentage between those of its parts is not their sum
        cannot_add = formula == "+" and (unit == "x" or (unit == "%" and min(sizes) <= numbers[0].value <= max(sizes)))
        return len({unit, *units}) == 1 and not cannot_add
    if formula in ("-", "+") and len(set(units)) == 1:
        return unit in ("", units[0]) or (unit in ("points", "%") and units[0] in ("%", "points", ""))
    return len(set(units)) == 1 and unit in {"/": ("", "x"), "relative": ("",), "lost": ("",)}.get(formula, ("", "%"))


def _totals(table: ReadTable) -> Iterator[ColumnRelation]:
    """Yield columns named total or mean that are the total or mean of all other columns, or of those on one side."""
    totals = {column: match for column in table.columns if (match := _TOTAL_NAME.fullmatch(column.name.strip()))}
    parts = [column for column in table.columns if column not in totals]
    for target, match in totals.items():
        last = max((column.index for column in totals if column.index < target.index), default=-1)
        left = [column for column in parts if column.index < target.index]
        right = [column for column in parts if column.index > target.index]
        fits = [
            fit for group in (parts, left, [column for column in left if column.index > last], right) if len(group) > 1
            for formula in (("+", "mean") if match["sum"] else ("mean", "+"))
            if (fit := fit_relation(table, formula, (target, *group), total=True))
        ]  # fmt: skip
        best = max(fits, key=lambda fit: (len(fit.kept), -len(fit.broken)), default=None)
        if best and _total_accepted(best):
            yield best


def _total_accepted(fit: ColumnRelation) -> bool:
    """Return whether enough rows satisfy a total, or the only row is nearly the sum of three or more counts."""
    right, wrong, chance = len(fit.kept), len(fit.broken), fit.chance
    if right:
        return (chance < 0.01 and right >= 2 * wrong) or (chance < 0.1 and wrong == 1 and _slip_chance(fit) <= 1)
    numbers, aim = fit.cells(fit.broken[0][0]), fit.broken[0][1].middle
    are_counts = fit.formula == "+" and len(numbers) > 3 and not any(cell.decimals or cell.unit for cell in numbers)
    return wrong == 1 and are_counts and abs(aim - numbers[0].value) <= 0.02 * abs(numbers[0].value)


def _finding_with_rows(fit: ColumnRelation, row: int, expected: Interval, place: FileLine) -> Finding:
    """Make a finding that stores its relation and the numbers of each complete row."""
    table, formula = fit.table, FORMULAS[fit.formula]
    complete = {index: cells for index in range(len(table.rows)) if len(cells := fit.cells(index)) == len(fit.columns)}
    row_names = number.distinct(table.names[index] or str(index + 1) for index in complete)
    names = number.distinct(column.name or "cell" for column in fit.columns)
    relation = CellRelation(formula, names, tuple(zip(row_names, map(tuple, complete.values()), strict=True)))
    printed, *operands = (cell.text for cell in complete[row])
    listed = [*operands[:8], *["..."][: len(operands) > 8]]
    reason = f"the mean of {', '.join(listed)}" if fit.total and fit.formula == "mean" else formula.of(listed)
    reason += "" if fit.total else f", which is {formula.of([column.name for column in fit.columns[1:]])}"
    count = f"{len(fit.kept)} of {len(fit.kept) + len(fit.broken)} {'columns' if table.sideways else 'rows'}"
    name, where = fit.columns[0].name or "cell", table.names[row]
    what, reason = f"{name} = {printed}" + (f" of {where}" if where else ""), f"it is {reason}; "
    reason += f"so in {count}" if fit.kept else "alone"
    kind, level, values = "total" if fit.total else "relation", LEVELS[not fit.kept], (name, where, printed, *operands)
    return Finding(kind, level, place, what, reason, format_interval(expected), values, relation=relation)


def _is_explained(fit: ColumnRelation, row: int, expected: Interval) -> bool:
    """Return whether a row has another explanation: truncation, a change, a sum, or one more operand."""
    result, *operands = fit.cells(row)
    parts = [operand.interval for operand in operands]
    if fit.formula == "mean" and fit.total:
        return meets(FORMULAS["+"].apply(*parts), result.interval)
    weak = fit.table.sideways or len(fit.kept) < 3
    if weak and fit.total and fit.formula == "+" and result.value in [v.value for v in operands]:
        return True  # it is the maximum or the minimum
    half = math.copysign(result.interval.width / 2, result.value)
    wider, loose = result.interval + Interval(half, half), expected.width > max(abs(expected.low), abs(expected.high))
    if fit.formula not in ("-", "+", "*", "mean") and (loose or meets(expected, wider)):
        return True  # it is truncated, or the whole numbers are too small to judge
    second = FORMULAS["change" if fit.formula == "-" else "-"].of_intervals(parts) if fit.formula in _SIGNED else None
    sharp = second and second.width <= 4 * result.interval.width
    if second and sharp and (meets(second, result.interval) or meets(-second, result.interval)):
        return True
    remainder = result.interval - expected
    rows, used = fit.table.rows, {column.index for column in fit.columns}
    for kept_row in fit.kept:  # a number that other rows have too explains nothing
        used.update(index for index, cell in enumerate(rows[kept_row]) if any(v.value for v in number.in_text(cell)))
    cells = [number.in_text(cell) for index, cell in enumerate(rows[row]) if index not in used]
    values = [[v.interval for v in cell if v.value and v.decimals == result.decimals] for cell in cells]
    parts = [v for terms in values for v in (*terms, sum(terms, Interval(0, 0)))]
    return fit.formula in ("+", "-") and any(meets(remainder, v) or meets(-remainder, v) for v in parts if v.middle)
