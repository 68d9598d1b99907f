"""One quantity in two tables, or in a table and the code of a figure: cells of one name that differ.

Names alone are weak: the same words stand over other conditions. So two tables are held against each other only where
most of the cells that share their names agree, to two digits at least, and then the few that differ are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from boundpaper.audit.documents import Document, Table
from boundpaper.audit.finding import Finding, Place
from boundpaper.audit.number import Number
from boundpaper.statistics.rounding import meets

_WORD = re.compile(r"[^\W_]++(?:[.-][^\W_]++)*+")
_GENERIC_TEXT = (
    "a an and as at by for from in is of on or our ours the this to vs with value values score scores rate result "
    "results model  method methods table figure number all each we per"
)
_GENERIC = frozenset(word.removesuffix("s") for word in _GENERIC_TEXT.split())
_ALIASES = {"avg": "average", "acc": "accuracy", "params": "parameters"}
STEM = 6
FEWEST = 3
"""Cells of two tables that have to agree before one that differs is named."""
MOST_TABLES = 80


@dataclass(frozen=True)
class Named:
    """A table with the words of its row names, its column names and its context."""

    table: Table

    @cached_property
    def context(self) -> frozenset[str]:
        """Words of the caption and the last heading."""
        return words(f"{self.table.caption} {self.table.path[-1] if self.table.path else ''}")

    @cached_property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Words of the rows' names, in order."""
        return tuple(listed(self.table.row_name(index)) for index in range(len(self.table.rows)))

    @cached_property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """Words of the columns' names, in order."""
        return tuple(listed(column.name) for column in self.table.columns)


def listed(text: str) -> tuple[str, ...]:
    """Significant words of a name in order: their first six letters, or the whole word if it has a digit."""
    found = (word.lower() for word in _WORD.findall(text))
    told = (_ALIASES.get(word, word) for word in found if word.removesuffix("s") not in _GENERIC)
    return tuple(word if any(sign.isdigit() for sign in word) else word[:STEM] for word in told)


def words(text: str) -> frozenset[str]:
    """The same without their order."""
    return frozenset(listed(text))


def check(document: Document) -> Iterator[Finding]:
    """Findings for each pair of tables."""
    named = [Named(each) for each in document.tables[:MOST_TABLES] if each.columns]
    for index, first in enumerate(named):
        for second in named[index + 1 :]:
            yield from _compared(first, second)


def _matched(
    first: Sequence[tuple[str, ...]],
    second: Sequence[tuple[str, ...]],
    of_first: frozenset[str],
    of_second: frozenset[str],
) -> dict[int, int]:
    """Which names of one table are which of another, where only one fits."""
    fits: dict[int, list[int]] = {}
    for index, one in enumerate(first):
        found = [place for place, two in enumerate(second) if one and one == two]
        if not found:
            found = [place for place, two in enumerate(second) if _same_name(one, two, of_first, of_second)]
        fits[index] = found
    chosen = {index: found[0] for index, found in fits.items() if len(found) == 1}
    taken = list(chosen.values())
    return {index: place for index, place in chosen.items() if taken.count(place) == 1}


def _same_name(one: tuple[str, ...], two: tuple[str, ...], of_one: frozenset[str], of_two: frozenset[str]) -> bool:
    """Whether names share a word, and what one says more stands in the other's context; never a word with a digit."""
    a, b = frozenset(one), frozenset(two)
    if not a & b or a == b:
        return False
    more, less = a - b, b - a
    digits = any(any(sign.isdigit() for sign in word) for word in more | less)
    return not digits and more <= of_two and less <= of_one


def _compared(first: Named, second: Named) -> Iterator[Finding]:
    """The cells that differ where most agree."""
    digits = [
        {word for word in each.context if any(sign.isdigit() for sign in word)} - other.context
        for each, other in ((first, second), (second, first))
    ]
    best: list[tuple[Number, Number, Place, Place, str]] = []
    for turned in (False, True):
        rows, columns = (second.columns, second.rows) if turned else (second.rows, second.columns)
        by_row = _matched(first.rows, rows, first.context, second.context)
        by_column = _matched(first.columns, columns, first.context, second.context)
        pairs = []
        for row, other_row in by_row.items():
            for column, other_column in by_column.items():
                at = (other_column, other_row) if turned else (other_row, other_column)
                one = first.table.columns[column].numbers[row]
                two = second.table.columns[at[1]].numbers[at[0]]
                if one is None or two is None or (one.unit and two.unit and one.unit != two.unit):
                    continue
                if one.qualifier or two.qualifier or one.marked or two.marked:
                    continue
                name = f"{first.table.row_name(row)}, {first.table.columns[column].name}"
                places = (
                    Place(first.table.file, first.table.rows[row].line),
                    Place(second.table.file, second.table.rows[at[0]].line),
                )
                pairs.append((one, two, *places, name))
        if len(pairs) > len(best):
            best = pairs
    agree = [pair for pair in best if meets(pair[0].interval, pair[1].interval)]
    differ = [pair for pair in best if pair not in agree]
    told = [pair for pair in agree if _tells(pair[0]) and _tells(pair[1])]
    if not differ or len(told) < FEWEST + 2 * any(digits) or len(told) < 3 * len(differ):
        return
    for one, two, place, other, name in differ:
        yield Finding(
            "same-quantity", "warning", other, f"{name} = {two.text}", one.text,
            f"the {first.table.kind} at line {place.line} prints {one.text}; {len(agree)} other cells of the two agree",
            (name, one.text, two.text), place,
        )  # fmt: skip


def _tells(one: Number) -> bool:
    """Whether a number has two digits at least, so that it agrees with another by more than chance."""
    return len(re.sub(r"\D", "", one.text).strip("0")) >= 2
