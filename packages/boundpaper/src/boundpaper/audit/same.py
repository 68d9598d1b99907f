"""One quantity in two tables, or in a table and the code of a figure: cells of one name that differ.

Names alone are weak: the same words stand over other conditions. So two tables are held against each other only where
most of the cells that share their names agree, to three digits at least, and one digit sets the few others apart.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from boundpaper.audit.documents import Document, Place, Table
from boundpaper.audit.finding import Finding, Formula, Relation
from boundpaper.audit.number import Number, distinct
from boundpaper.statistics.rounding import meets

_WORD = re.compile(r"[^\W_]++(?:[.-][^\W_]++)*+")
_GENERIC_TEXT = (
    "a an and as at by for from in is of on or our ours the this to vs with value values score scores rate result "
    "results model  method methods table figure number all each we per"
)
_GENERIC = frozenset(word.removesuffix("s") for word in _GENERIC_TEXT.split())
_ALIASES = {"avg": "average", "acc": "accuracy", "params": "parameters", "attn": "attent"}
STEM = 6
FEWEST = 3
"""Different cells of three digits in two tables that have to agree before one that differs is named."""
MOST_TABLES, MOST_CELLS = 80, 400
Words = frozenset[str]


def listed(text: str) -> tuple[str, ...]:
    """Significant words of a name in order: their first six letters, or the whole word if it has a digit."""
    found = (word.lower() for word in _WORD.findall(text))
    told = (_ALIASES.get(word, word) for word in found if word.removesuffix("s") not in _GENERIC)
    return tuple(word if any(sign.isdigit() for sign in word) else word[:STEM].rstrip("s") or word for word in told)


def words(text: str) -> Words:
    """The same without their order."""
    return frozenset(listed(text))


@dataclass(frozen=True)
class Cell:
    """A number with the words of its row and of its column, and those of both."""

    row: tuple[str, ...]
    column: tuple[str, ...]
    number: Number
    place: Place
    name: str
    own: Words


class Named:
    """A table with the words of its cells and of its context: the caption and the last two headings."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.context = words(" ".join((table.caption, *table.path[-2:])))
        rows = [listed(table.key(row)) for row in range(len(table.rows))]
        self.cells = [
            Cell(
                rows[row], heads, one, Place(table.file, table.rows[row].line),
                f"{table.row_name(row)}, {column.name}", frozenset((*rows[row], *heads)),
            )
            for column in table.columns for heads in [listed(column.name)]
            for row, one in enumerate(column.numbers)
            if one is not None and not one.qualifier and not one.marked
        ]  # fmt: skip
        self.vocabulary = self.context.union(*(cell.own for cell in self.cells))


def check(document: Document) -> Iterator[Finding]:
    """Findings of each two tables."""
    named = [each for table in document.tables[:MOST_TABLES] if table.columns and (each := Named(table)).cells]
    for index, first in enumerate(named):
        for second in named[index + 1 :]:
            yield from _compared(first, second)


def _matched(first: Named, second: Named) -> Iterator[tuple[Cell, Cell]]:
    """Cells of one quantity, where only one of each table fits the other and their units are no two.

    What one says more has to stand in the other's context, and each axis has to share a word with the other cell.
    """
    known = [each for each in first.cells if each.own <= second.vocabulary][:MOST_CELLS]
    by_own: dict[Words, list[Cell]] = {}
    for two in [each for each in second.cells if each.own <= first.vocabulary][:MOST_CELLS]:
        by_own.setdefault(two.own, []).append(two)
    fits: list[tuple[Cell, list[Cell]]] = []
    for one in known:
        found = [two for two in by_own.get(one.own, ()) if one.row in (two.row, two.column)]
        if one.own not in by_own:
            groups = [own for own in by_own if _one_quantity(one, own, first.context, second.context)]
            found = by_own[groups[0]] if len(groups) == 1 else []
        fits.append((one, found))
    taken = [id(found[0]) for _, found in fits if len(found) == 1]
    for one, found in fits:
        units = {one.number.unit, *(two.number.unit for two in found)} - {""}
        if len(found) == 1 and taken.count(id(found[0])) == 1 and len(units) < 2:
            yield one, found[0]


def _one_quantity(one: Cell, own: Words, of_first: Words, of_second: Words) -> bool:
    common = one.own & own
    return (
        len(common) > 1 and one.own - own <= of_second and own - one.own <= of_first
        and not common.isdisjoint(one.row) and (own <= frozenset(one.row) or not common.isdisjoint(one.column))
    )  # fmt: skip


def _compared(first: Named, second: Named) -> Iterator[Finding]:
    """The cells that differ by a digit where most agree, or where all of a figure are of a table and most differ."""
    pairs = list(_matched(first, second))
    turned = [pair for pair in pairs if meets(-pair[0].number.interval, pair[1].number.interval)]
    agree = [pair for pair in pairs if meets(pair[0].number.interval, pair[1].number.interval)]
    flipped = len(turned) > len(agree)
    agree = turned if flipped else agree
    differ = [pair for pair in pairs if pair not in agree]
    if not differ:
        return
    lines = {line for one, _ in agree for line in (one.row, one.column)}
    several = len({one.column for one, _ in pairs}) > 1
    alone = any(one.column not in lines or (several and one.row not in lines) for one, _ in differ)
    slips = all(_slip(one.number, two.number) for one, two in differ)
    told = {one.number.value for one, two in agree if min(map(_digits, (one.number, two.number))) > 2}
    fewest = max(FEWEST, 2 * len(differ))
    figure = next((each for each in (first, second) if each.table.kind == "figure"), first)
    drawn = first.table.kind != second.table.kind and len(pairs) == len(figure.cells) >= 4
    if len(told) >= fewest and slips and not alone:
        names = distinct([one.name for one, _ in pairs])
        held = [(name, (two.number, one.number)) for name, (one, two) in zip(names, pairs, strict=True)]
        sides = distinct([f"the {each.table.kind} at line {each.table.line}" for each in (second, first)])
        equal = Formula("-{0}", lambda a: -a) if flipped else Formula("{0}", lambda a: a)
        relation = Relation(equal, sides, tuple(held))
        for one, two in differ:
            yield Finding(
                "same-quantity", "warning", two.place, f"{one.name} = {two.number.text}", one.number.text,
                f"the {first.table.kind} at line {one.place.line} prints {one.number.text}; "
                f"{len(agree)} other cells of the two agree", (one.name, one.number.text, two.number.text), one.place,
                relation,
            )  # fmt: skip
    elif drawn and sum(min(map(_digits, (one.number, two.number))) > 1 for one, two in agree) > 1:
        cells = "; ".join(f"{one.name} = {one.number.text} and {two.number.text}" for one, two in differ)
        yield Finding(
            "same-quantity", "warning", differ[0][1].place, f"{len(differ)} of {len(pairs)} cells", "",
            f"the {first.table.kind} at line {differ[0][0].place.line} prints others"
            f"{', with the other sign' if flipped else ''}: {cells}",
            tuple(part for one, two in differ for part in (one.name, one.number.text, two.number.text)),
            differ[0][0].place,
        )  # fmt: skip


def _slip(one: Number, two: Number) -> bool:
    """Whether one other digit, or two digits exchanged, make two numbers one."""
    first, second = (re.sub(r"\D", "", each.text) for each in (one, two))
    changed = sum(a != b for a, b in zip(first, second, strict=False)) + abs(len(first) - len(second))
    return changed == 1 or (changed == 2 and sorted(first) == sorted(second))


def _digits(one: Number) -> int:
    """The digits that tell a number from others by more than chance: those without zeros at either end."""
    return 3 if abs(one.value) == 100 else len(re.sub(r"\D", "", one.text).strip("0"))
