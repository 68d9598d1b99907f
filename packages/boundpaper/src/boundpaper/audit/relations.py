"""Find columns that are a difference, ratio, change, sum or mean of others in most rows, and report the other rows."""

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
_CHANGE_WORDS = "delta gain improvement increase growth overhead decrease reduction drop change"
_LOSS_WORDS = "decrease reduction drop change saving savings saved loss"
_HEADER_WORDS = {  # words in a header that suggest a formula
    "-": "difference diff delta drop gain change improvement increase decrease reduction gap loss margin",
    "/": "ratio speedup speed-up factor relative times x", "+": "total sum",
    "share": "share percent percentage ratio rate relative fraction",
    "change": f"{_CHANGE_WORDS} speedup diff", "relative": f"{_CHANGE_WORDS} relative",
    "drop": _LOSS_WORDS, "lost": _LOSS_WORDS,
}  # fmt: skip
_SIGNED_FORMULAS = ("-", "change", "relative", "drop", "lost")  # formulas whose result may be printed without its sign
_TOTAL_NAME = re.compile(
    r"(?:the |grand |macro[- ]?)?(?:(?P<sum>total|sum)|average|avg|mean|overall)\.?(?: \([^()]{1,20}\))?", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]++(?:-[^\W_]++)*+")
Columns = tuple[NumberColumn, ...]
MOST_COLUMNS = 24  # in wider tables, pairs of columns are not tried


@dataclass(frozen=True)
class ColumnRelation:
    """A relation between a column and other columns, and how well the rows of a table satisfy it."""

    table: ReadTable
    formula: str
    columns: Columns  # the result, then its operands
    agreeing_rows: tuple[int, ...]
    deviations: tuple[tuple[int, Interval], ...]  # the rows that disagree, each with the expected interval
    chance: float  # probability that as many rows agree by chance
    total: bool = False  # whether the result is a total or mean of all operands

    def cells(self, row: int) -> list[number.Number]:
        """Return the numbers in a row: the result, then its operands."""
        return [cell for column in self.columns if (cell := column.numbers[row])]


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield a finding for each deviation; the finding is a note, unless a changed digit repairs the only deviation."""
    for table in document.tables:
        seen: set[tuple[int, str]] = set()
        for fit in accepted(table):
            is_weak = len(fit.agreeing_rows) < 3 and fit.chance > 0.01
            is_slip = len(fit.deviations) == 1 and _slip_chance(fit) <= (0.5 if is_weak else 1)
            for row, expected in fit.deviations:
                lines = [fit.table.lines[column.index if fit.table.is_transposed else row] for column in fit.columns]
                cells = [(line, cell.text) for line, cell in zip(lines, fit.cells(row), strict=True)]
                if seen.isdisjoint(cells) and not _is_explained(fit, row, expected):
                    finding = _finding_with_rows(fit, row, expected, FileLine(table.file, lines[0]))
                    if not is_slip:
                        explanation = f"{finding.explanation}; no change of one digit repairs it"
                        finding = replace(finding, level="note", explanation=explanation)
                    yield finding
                seen.add(cells[0])


@lru_cache(maxsize=512)
def accepted(table: ReadTable) -> tuple[ColumnRelation, ...]:
    """Return the accepted relations of a table, between its columns and between its rows."""
    fits: list[ColumnRelation] = []
    split_table = table.split_counts()
    for view in (split_table, split_table.transposed()) if table.kind == "table" else ():
        totals = [*_totals(view), *_count_shares(view)]
        counts = {fit.columns[0].index: len(fit.agreeing_rows) for fit in totals}
        fits += totals
        fits += [fit for fit in _pair_relations(view) if len(fit.agreeing_rows) > counts.get(fit.columns[0].index, 0)]
    return tuple(fits)


def _pair_relations(table: ReadTable) -> Iterator[ColumnRelation]:
    """Yield the best accepted relation of each column to two others, first for columns whose header names a formula."""
    columns = table.columns if len(table.columns) <= MOST_COLUMNS else ()
    formulas_by_column = {column.index: _named_formulas(column, columns) for column in columns}
    for target in sorted(columns, key=lambda column: not formulas_by_column[column.index]):
        named_formulas = formulas_by_column[target.index]
        pairs = [pair for pair in permutations(columns, 2) if target not in pair]
        distances = [sum(abs(column.index - target.index) for column in pair) for pair in pairs]
        is_named = bool(named_formulas)
        limit = max(1, int((0.4 if is_named else 0.15) * len(table.rows)))
        ranked: list[tuple[tuple[float, ...], ColumnRelation]] = []
        formulas = named_formulas or (() if table.is_transposed else ("-", "/"))
        for formula, ((left, right), distance) in product(formulas, zip(pairs, distances, strict=True)):
            if fit := fit_relation(table, formula, (target, left, right), limit=limit, is_named=is_named):
                rows = list(map(fit.cells, fit.agreeing_rows))
                n_formulas = sum(any(_units_fit(name, cells, False) for cells in rows) for name in named_formulas)
                attempts = sum(other <= distance for other in distances) * (n_formulas or 2)
                is_spelled_out = _bare_name(target.name) == _bare_name(left.name + formula + right.name)
                surplus = len(fit.agreeing_rows) - len(fit.deviations)
                if (is_spelled_out and surplus >= 0) or _is_accepted(fit, attempts, is_named):
                    ranked.append(((surplus, -distance, -fit.chance), fit))
        if ranked:
            yield max(ranked, key=lambda pair: pair[0])[1]


def _count_shares(table: ReadTable) -> Iterator[ColumnRelation]:
    """Yield for each column of counts `k of n` its relation to the best column of percentages, if most rows agree."""
    for count, total in pairwise(table.columns):
        if total.name != ALL_OF + count.name:
            continue
        percents = [column for column in table.columns if any(cell and cell.unit == "%" for cell in column.numbers)]
        siblings = [column for column in percents if column.name == f"share of {count.name}"]  # `p` of `k of n (p %)`
        shares = siblings or [column for column in percents if not column.name.startswith("share of ")]
        fits = [fit for column in shares if (fit := fit_relation(table, "share", (column, count, total)))]
        best = min(fits, key=lambda fit: len(fit.deviations) - len(fit.agreeing_rows), default=None)
        if best is not None:
            n_right, n_wrong = len(best.agreeing_rows), len(best.deviations)
            is_slip = n_right >= n_wrong == 1 and best.chance < 0.1 and _slip_chance(best) <= 1
            if is_slip or (n_right > max(1, 2 * n_wrong) and best.chance < 0.01):
                yield best


def _bare_name(name: str) -> str:
    return re.sub(r"\s", "", name).replace("\u2212", "-")


def _named_formulas(target: NumberColumn, columns: Sequence[NumberColumn]) -> list[str]:
    """Return the formulas that a column's header suggests: by a word, or as `A+B`, `A-B` or `A/B` of two headers."""
    names = {_bare_name(column.name) for column in columns}
    operands = {sign: _bare_name(target.name).split(sign) for sign in "+-/"}
    formulas = [sign for sign, pair in operands.items() if len(pair) == 2 and names.issuperset(pair)]
    name = re.sub(r"(?<![^\W_])[^\W_]++\s?[<>≤≥]", " ", target.name)  # `delta < 5` is a condition
    if name.startswith("share of "):
        return []
    header_words = {word.lower() for word in _WORD.findall(re.sub("[Δδ]", " delta ", name))}
    formulas = formulas or [
        formula for formula, words in _HEADER_WORDS.items() if not header_words.isdisjoint(words.split())
    ]
    return formulas or ["/"] * ({cell.unit for cell in target.numbers if cell} == {"x"})


def _is_accepted(fit: ColumnRelation, attempts: int, is_named: bool) -> bool:
    """Return whether more rows agree than by chance; fewer rows suffice if a wrong digit explains the deviation."""
    n_right, n_wrong, chance = len(fit.agreeing_rows), len(fit.deviations), fit.chance * attempts
    fewest = max(3 if fit.table.is_transposed or n_wrong else 2 if is_named else 5, (3 if is_named else 5.6) * n_wrong)
    if n_right >= fewest and chance <= (0.01 if is_named else 1e-6):
        return True
    if n_wrong != 1 or n_right < (3 if fit.table.is_transposed else 0) or n_right < (1 if is_named else 4):
        return False
    slip_chance = _slip_chance(fit)
    return slip_chance <= 1 and (chance * slip_chance <= 0.05 if is_named else chance <= 1e-6)


def _slip_chance(fit: ColumnRelation) -> float:
    """Return the probability that changing or swapping digits repairs the deviation by chance; inf if nothing does."""
    row, expected = fit.deviations[0]
    cells = fit.cells(row)
    if cells[0].unit not in [row_cells[0].unit for row_cells in map(fit.cells, fit.agreeing_rows)]:
        return math.inf
    largest = max(abs(cell.value) for cell in fit.columns[0].numbers if cell)
    repaired_texts = ((index, text) for index, old in enumerate(cells) for text in _repairs(old.text))
    repairs = [(index, cell) for index, text in repaired_texts if (cell := number.of_cell(text))]
    for index, cell in repairs:
        result, *operands = [term.interval for term in (*cells[:index], cell, *cells[index + 1 :])]
        if (value := FORMULAS[fit.formula].of_intervals(operands)) and meets(value, result):
            differs = 2 * abs(value.middle - result.middle) > result.width * (1 + 1e-9)
            return min(1.0, len(repairs) * (result.width + differs * expected.width) / largest)
    return math.inf


def _repairs(text: str) -> Iterator[str]:
    """Yield a number with each digit changed to each other digit, and with each two neighbouring digits swapped."""
    for offset in (match.start() for match in re.finditer(r"\d", text)):
        before, digit, after = text[:offset], text[offset], text[offset + 1 :]
        yield from (before + new_digit + after for new_digit in "0123456789" if new_digit != digit)
        if after[:1].isdigit() and digit != after[0]:
            yield before + after[0] + digit + after[1:]


def fit_relation(
    table: ReadTable, formula: str, columns: Columns, *, limit: int = 9999, total: bool = False, is_named: bool = False
) -> ColumnRelation | None:
    """Return a relation of the first column to the others; None if too many rows deviate or agreement proves nothing.

    A relation may deviate in at most `limit` rows. `is_named` says whether the header of the first column names the
    formula; with `total`, the result is a sum or mean of all other columns.
    """
    results = [cell for cell in columns[0].numbers if cell]
    spread = max(cell.value for cell in results) - min(cell.value for cell in results) if results else 0.0
    are_factors = {cell.unit for cell in results} == {"x"}
    if is_named and spread and (are_factors or formula in _SIGNED_FORMULAS):  # distances from 0 (or 1) suit few values
        distance = sorted(abs(cell.value - are_factors) for cell in results)[-2]  # the largest value may be wrong
        spread = distance if are_factors else max(distance, min(spread, 3 * distance))
    elif spread and formula == "-" and not is_named and not total:  # an operand that hardly varies proves nothing
        values_by_column = [[cell.value for cell in column.numbers if cell] or [0.0] for column in columns]
        spread = max(1e-9, min(max(values) - min(values) for values in values_by_column))
    has_no_sign = formula in _SIGNED_FORMULAS and not any(cell.text[0] in "+-−" for cell in results)
    agreeing_rows, deviations, n_swapped, n_copies = [], [], 0, 0
    chance, exact_chance = 1.0, 2.0  # of agreement within the intervals, and of agreement to the last digit
    seen: set[tuple[float, ...]] = set()
    are_counts = columns[-1].name.startswith(ALL_OF)
    for row in range(len(table.rows) if spread or total else 0):
        cells = [cell for column in columns if (cell := column.numbers[row])]
        numbers = [cell for cell in cells if not (cell.qualifier or cell.has_mark)]
        values = tuple(cell.value for cell in numbers)
        if len(numbers) < len(columns) or (values in seen and not total) or not _units_fit(formula, numbers, total):
            continue
        if not any(values[1:]) if total else 0.0 in values[1:]:
            continue
        seen.add(values)
        stated, *operands = [interval for column in columns if (interval := column.intervals[row])]
        operands = [Interval(value, value) for value in values[1:]] if are_counts else operands
        if (expected := FORMULAS[formula].of_intervals(operands)) is None:
            continue
        if has_no_sign and expected.high < 0:
            expected, n_swapped = -expected, n_swapped + 1
        if are_counts:  # a truncated percentage is up to a whole unit too small
            stated = Interval(stated.low, stated.high + stated.width / 2)
        differs = 2 * abs(expected.middle - stated.middle) > stated.width * (1 + 1e-9)
        if not meets(expected, stated):
            deviations.append((row, expected))
            if len(deviations) > limit:
                return None
        elif (values[0] or total) and (not differs or formula != "+" or numbers[0].decimals):  # counts add up exactly
            agreeing_rows.append(row)
            is_copy = meets(operands[0], stated) and formula in ("+", "-", "*", "/", "share")
            n_copies += not total and (is_copy or (values[1] == values[-1] and formula in "+-*/"))
            if formula == "mean":
                width = max(values[1:]) - min(values[1:])
            else:
                width = sum(map(abs, values[1:])) if total else spread
            chance *= min(1.0, (expected.width + stated.width) / width) if width else 1.0
            exact_chance *= math.inf if differs else min(1.0, stated.width / width) if width else 1.0
    n_right, n_wrong = len(agreeing_rows), len(deviations)
    if not (n_right or (total and n_wrong)) or 2 * n_swapped > n_right + n_wrong or 2 * n_copies > n_right:
        return None  # if most rows need swapped operands, the reverse is the relation; copies prove nothing
    if n_wrong and not total and n_right > 1:
        agreeing_results = {(cell := columns[0].numbers[row]) and cell.value for row in agreeing_rows}
        if len(agreeing_results) == 1:
            return None  # a constant proves nothing either
    chance = min(chance, exact_chance)
    return ColumnRelation(table, formula, columns, tuple(agreeing_rows), tuple(deviations), chance, total)


def _units_fit(formula: str, numbers: Sequence[number.Number], total: bool) -> bool:
    """Return whether units and decimals allow that a formula gives the first number from the other numbers."""
    unit, *units = [cell.unit for cell in numbers]
    values = [cell.value for cell in numbers[1:]]
    if formula == "+" and numbers[0].decimals < max(cell.decimals for cell in numbers[1:]):
        return False  # a sum has as many decimals as its parts
    if total:  # factors have no sum, and an overall percentage between those of its parts is not their sum
        is_overall = unit == "%" and min(values) <= numbers[0].value <= max(values)
        return len({unit, *units}) == 1 and not (formula == "+" and (unit == "x" or is_overall))
    if formula in ("-", "+") and len(set(units)) == 1:
        return unit in ("", units[0]) or (unit in ("points", "%") and units[0] in ("%", "points", ""))
    return len(set(units)) == 1 and unit in {"/": ("", "x"), "relative": ("",), "lost": ("",)}.get(formula, ("", "%"))


def _totals(table: ReadTable) -> Iterator[ColumnRelation]:
    """For each column called total or mean, yield its accepted relation to all other columns or those on one side."""
    totals = {column: match for column in table.columns if (match := _TOTAL_NAME.fullmatch(column.name.strip()))}
    parts = [column for column in table.columns if column not in totals]
    for target, match in totals.items():
        previous_total = max((column.index for column in totals if column.index < target.index), default=-1)
        left = [column for column in parts if column.index < target.index]
        since_total = [column for column in left if column.index > previous_total]
        right = [column for column in parts if column.index > target.index]
        fits = [
            fit for operands in (parts, left, since_total, right) if len(operands) > 1
            for formula in (("+", "mean") if match["sum"] else ("mean", "+"))
            if (fit := fit_relation(table, formula, (target, *operands), total=True))
        ]  # fmt: skip
        best = max(fits, key=lambda fit: (len(fit.agreeing_rows), -len(fit.deviations)), default=None)
        if best and _is_accepted_total(best):
            yield best


def _is_accepted_total(fit: ColumnRelation) -> bool:
    """Return whether enough rows agree, or the result of the only row is nearly the sum of three or more counts."""
    n_right, n_wrong, chance = len(fit.agreeing_rows), len(fit.deviations), fit.chance
    if n_right:
        return (chance < 0.01 and n_right >= 2 * n_wrong) or (chance < 0.1 and n_wrong == 1 and _slip_chance(fit) <= 1)
    row, expected = fit.deviations[0]
    numbers = fit.cells(row)
    are_counts = fit.formula == "+" and len(numbers) > 3 and not any(cell.decimals or cell.unit for cell in numbers)
    return n_wrong == 1 and are_counts and abs(expected.middle - numbers[0].value) <= 0.02 * abs(numbers[0].value)


def _finding_with_rows(fit: ColumnRelation, row: int, expected: Interval, place: FileLine) -> Finding:
    """Return a finding on a row, with the relation and the numbers of each complete row."""
    table, formula = fit.table, FORMULAS[fit.formula]
    complete_rows = {
        index: cells for index in range(len(table.rows)) if len(cells := fit.cells(index)) == len(fit.columns)
    }
    row_names = number.distinct(table.row_names[index] or str(index + 1) for index in complete_rows)
    names = number.distinct(column.name or "cell" for column in fit.columns)
    relation = CellRelation(formula, names, tuple(zip(row_names, map(tuple, complete_rows.values()), strict=True)))
    result, *operands = (cell.text for cell in complete_rows[row])
    terms = [*operands[:8], *["..."][: len(operands) > 8]]
    meaning = f"the mean of {', '.join(terms)}" if fit.total and fit.formula == "mean" else formula.with_names(terms)
    if not fit.total:
        meaning += f", which is {formula.with_names([column.name for column in fit.columns[1:]])}"
    n_right, unit = len(fit.agreeing_rows), "columns" if table.is_transposed else "rows"
    extent = f"so in {n_right} of {n_right + len(fit.deviations)} {unit}" if n_right else "alone"
    name, row_name = fit.columns[0].name or "cell", table.row_names[row]
    printed = f"{name} = {result}" + (f" of {row_name}" if row_name else "")
    kind, level, values = "total" if fit.total else "relation", LEVELS[not n_right], (name, row_name, result, *operands)
    expected_text = format_interval(expected)
    return Finding(kind, level, place, printed, f"it is {meaning}; {extent}", expected_text, values, relation=relation)


def _is_explained(fit: ColumnRelation, row: int, expected: Interval) -> bool:
    """Return whether a deviation has another explanation: truncation, another formula, or one more operand."""
    result, *operands = fit.cells(row)
    intervals = [operand.interval for operand in operands]
    if fit.formula == "mean" and fit.total:
        return meets(FORMULAS["+"].apply(*intervals), result.interval)
    is_weak = fit.table.is_transposed or len(fit.agreeing_rows) < 3
    if is_weak and fit.total and fit.formula == "+" and result.value in [operand.value for operand in operands]:
        return True  # the result may be the maximum or the minimum of the operands
    half_unit = math.copysign(result.interval.width / 2, result.value)
    truncated = result.interval + Interval(half_unit, half_unit)
    is_imprecise = expected.width > max(abs(expected.low), abs(expected.high))
    if fit.formula not in ("-", "+", "*", "mean") and (is_imprecise or meets(expected, truncated)):
        return True  # the result is truncated, or the operands are too imprecise
    if fit.formula in _SIGNED_FORMULAS:
        value = FORMULAS["change" if fit.formula == "-" else "-"].of_intervals(intervals)
        is_precise = value and value.width <= 4 * result.interval.width
        if value and is_precise and (meets(value, result.interval) or meets(-value, result.interval)):
            return True
    if fit.formula not in ("+", "-"):
        return False
    remainder = result.interval - expected
    rows, known_columns = fit.table.rows, {column.index for column in fit.columns}
    for agreeing_row in fit.agreeing_rows:  # a number in a column that other rows also fill explains nothing
        known_columns |= {
            index for index, cell in enumerate(rows[agreeing_row]) if any(term.value for term in number.in_text(cell))
        }
    for cell in [cell for index, cell in enumerate(rows[row]) if index not in known_columns]:
        terms = [term.interval for term in number.in_text(cell) if term.value and term.decimals == result.decimals]
        for term in (*terms, sum(terms, Interval(0, 0))):
            if term.middle and (meets(remainder, term) or meets(-remainder, term)):
                return True
    return False
