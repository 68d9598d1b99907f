"""Numbered rows: a mean over a range of them that does not come out, and values that only repeat themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from boundpaper.audit.documents import Column, Document, Place, Table
from boundpaper.audit.finding import Finding, spread
from boundpaper.audit.number import Number
from boundpaper.audit.same import words
from boundpaper.statistics.rounding import mean, meets

_MEAN_OF = re.compile(
    r"(?:\w+ )?(?P<first>\d{1,5})\s?[-–]\s?(?P<last>\d{1,5})\s?\(?(?:avg|mean|average)\.?\)?", re.IGNORECASE
)
LONGEST, FEWEST_POINTS, FEWEST_CYCLES = 6, 12, 3
"""The longest period that is looked for, and how many values and cycles of it have to repeat."""


def check(document: Document) -> Iterator[Finding]:
    """Findings of each table and drawing whose rows are numbered."""
    numbered = [(table, at) for table in document.tables if len(at := _numbered(table)) >= 5]
    for table in document.tables:
        for row, cells in enumerate(table.rows):
            match = _MEAN_OF.fullmatch(cells.cells[0].strip())
            for other, at in numbered if match else ():
                asked = range(int(match["first"]), int(match["last"]) + 1) if match else range(0)
                if len(asked) > 2 and all(each in at for each in asked):
                    yield from _means(table, row, other, [at[each] for each in asked])
    for table, at in numbered:
        for column in table.columns:
            yield from _repeated(table, column, list(at.values()))


def _numbered(table: Table) -> dict[int, int]:
    """The rows of a table by the whole number that names each."""
    names = [row.cells[0].strip() for row in table.rows]
    return {int(name): row for row, name in enumerate(names) if name.isdecimal() and len(name) < 7}


def _means(table: Table, row: int, other: Table, rows: list[int]) -> Iterator[Finding]:
    """The means of a row against the columns of a table whose single rows agree."""
    context = words(f"{other.caption} {' '.join(other.path[-2:])}")
    single = _numbered(table)
    for column in table.columns:
        printed = column.numbers[row]
        own = words(column.name)
        for series in other.columns:
            told = words(series.name)
            values = [series.numbers[each] for each in rows]
            if printed is None or not told <= own or not own - told <= context or None in values:
                continue
            shared = [
                meets(one.interval, two.interval)
                for number, at in _numbered(other).items()
                if number in single and (one := column.numbers[single[number]]) and (two := series.numbers[at])
            ]
            expected = mean(one.interval for one in values if one)
            if shared and all(shared) and not meets(expected, printed.interval):
                yield Finding(
                    "series", "warning", Place(table.file, table.rows[row].line),
                    f"{column.name} = {printed.text} of {table.row_name(row)}", spread(expected),
                    f"the mean of {len(rows)} values of {series.name} in the {other.kind} at line {other.line}, "
                    f"which agrees in {len(shared)} single rows", (column.name, printed.text, other.kind),
                    Place(other.file, other.line),
                )  # fmt: skip


def _repeated(table: Table, column: Column, rows: list[int]) -> Iterator[Finding]:
    """A series whose end goes round in a period."""
    values: list[Number] = [one for row in rows if (one := column.numbers[row]) is not None]
    for period in range(2, LONGEST + 1):
        start = len(values)
        while start > period and values[start - 1].value == values[start - 1 - period].value:
            start -= 1
        count = len(values) - start + period
        if count >= max(FEWEST_POINTS, FEWEST_CYCLES * period) and len({one.value for one in values[-period:]}) > 1:
            shown = ", ".join(one.text for one in values[-period:])
            name = table.row_name(rows[len(values) - count]) if len(values) == len(rows) else ""
            if all(one.decimals > 0 for one in values[-period:]):
                yield Finding(
                    "series", "warning", Place(table.file, table.line), f"{column.name} = {shown}, ...", "",
                    f"the last {count} of {len(values)} values, from {name}, only repeat these", (column.name, shown),
                )  # fmt: skip
            return
