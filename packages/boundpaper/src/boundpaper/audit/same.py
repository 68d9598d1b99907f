"""Find cells of equal name in two tables or a table and a figure that differ by a digit, while most agree."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from boundpaper.audit.documents import FileLine, ReadDocument, ReadTable
from boundpaper.audit.finding import CellRelation, Finding, Formula
from boundpaper.audit.number import Number, distinct
from boundpaper.statistics.rounding import meets

_WORD = re.compile(r"[^\W_]++(?:[.-][^\W_]++)*+")
_GENERIC = re.compile(
    "(?:a|an|and|at|by|for|from|i|in|of|on|or|our|the|thi|to|v|with|value|score|rate|result|model|method|table|figure|"
    "number|all|each|we|per)s?"
)
_ALIASES = {"avg": "average", "acc": "accuracy", "params": "parameters", "attn": "attent"}
FEWEST = 3  # distinct numbers of three digits on which two tables must agree before a difference is reported
MOST_TABLES, MOST_CELLS = 80, 400
Words = frozenset[str]


def listed(text: str) -> tuple[str, ...]:
    """Return the significant words of a name in order, cut to six letters unless the word has a digit."""
    found = (word.lower() for word in _WORD.findall(text))
    told = (_ALIASES.get(word, word) for word in found if not _GENERIC.fullmatch(word))
    return tuple(word if any(sign.isdigit() for sign in word) else word[:6].rstrip("s") or word for word in told)


def words(text: str) -> Words:
    """Return the significant words of a name as a set (see `listed`)."""
    return frozenset(listed(text))


@dataclass(frozen=True)
class WordedNumber:
    """A number, the words of its row, the words of its column, and the union of both."""

    row: tuple[str, ...]
    column: tuple[str, ...]
    number: Number
    place: FileLine
    name: str
    own: Words

    @property
    def digits(self) -> int:
        """Return the number of digits without zeros at the start and end."""
        return 3 if abs(self.number.value) == 100 else len(re.sub(r"\D", "", self.number.text).strip("0"))


class WordedTable:
    """A table with the words of its cells and of its context: the caption and the last two headings."""

    def __init__(self, table: ReadTable) -> None:
        self.kind = table.kind
        self.told = f"the {table.kind} at line {table.line}"
        self.context = words(" ".join((table.caption, *table.path[-2:])))
        rows = [listed(key) for key in table.keys]
        self.cells = [
            WordedNumber(
                rows[row], heads, one, FileLine(table.file, table.lines[row]), f"{table.names[row]}, {column.name}",
                frozenset(rows[row] + heads),
            )
            for column in table.columns for heads in [listed(column.name)]
            for row, one in enumerate(column.numbers) if one and not one.qualifier and not one.marked
        ]  # fmt: skip
        self.vocabulary = self.context.union(*(cell.own for cell in self.cells))


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield the findings of each pair of tables."""
    named = [each for table in document.tables[:MOST_TABLES] if table.columns and (each := WordedTable(table)).cells]
    for first, second in combinations(named, 2):
        yield from _differences(first, second)


def _matching_cells(first: WordedTable, second: WordedTable) -> Iterator[tuple[WordedNumber, WordedNumber]]:
    """Pair cells of one quantity: a word in only one of the two names must occur in the other table's context."""
    by_own: dict[Words, list[WordedNumber]] = {}
    for two in [each for each in second.cells if each.own <= first.vocabulary][:MOST_CELLS]:
        by_own.setdefault(two.own, []).append(two)
    fits: list[tuple[WordedNumber, WordedNumber]] = []
    for one in [each for each in first.cells if each.own <= second.vocabulary][:MOST_CELLS]:
        found = [two for two in by_own.get(one.own, ()) if one.row in (two.row, two.column)]
        if one.own not in by_own:
            groups = [
                own for own in by_own if len(common := one.own & own) > 1 and not common.isdisjoint(one.row)
                and one.own - own <= second.context and own - one.own <= first.context
                and (own <= set(one.row) or not common.isdisjoint(one.column))
            ]  # fmt: skip
            found = by_own[groups[0]] if len(groups) == 1 else []
        if len(found) == 1:
            fits.append((one, found[0]))
    taken = [id(two) for _, two in fits]
    for one, two in fits:
        if taken.count(id(two)) == 1 and len({one.number.unit, two.number.unit} - {""}) < 2:
            yield one, two


def _differences(first: WordedTable, second: WordedTable) -> Iterator[Finding]:
    """Find cells that differ by one digit while most agree, or a figure all of whose cells the table has."""
    pairs = list(_matching_cells(first, second))
    agree = [(one, two) for one, two in pairs if meets(one.number.interval, two.number.interval)]
    turned = [(one, two) for one, two in pairs if meets(-one.number.interval, two.number.interval)]
    flipped = len(turned) > len(agree)
    agree = turned if flipped else agree
    differ = [pair for pair in pairs if pair not in agree]
    lines = {line for one, _ in agree for line in (one.row, one.column)}
    several = len({one.column for one, _ in pairs}) > 1
    alone = any(one.column not in lines or (several and one.row not in lines) for one, _ in differ)
    told = {one.number.value for one, two in agree if min(one.digits, two.digits) > 2}
    alike = sum(min(one.digits, two.digits) > 1 for one, two in agree)
    drawn = next((len(each.cells) for each in (first, second) if each.kind == "figure"), 0)
    slips = all(_is_slip(one.number.text, two.number.text) for one, two in differ)
    if len(told) >= max(FEWEST, 2 * len(differ)) and slips and not alone:
        names = distinct([one.name for one, _ in pairs])
        held = [(name, (two.number, one.number)) for name, (one, two) in zip(names, pairs, strict=True)]
        equal = Formula("-{0}", lambda a: -a) if flipped else Formula("{0}", lambda a: a)
        relation = CellRelation(equal, distinct([second.told, first.told]), tuple(held))
        for one, two in differ:
            printed, other = two.number.text, one.number.text
            why = f"the {first.kind} at line {one.place.line} prints {other}; {len(agree)} other cells of the two agree"
            what, values = f"{one.name} = {printed}", (one.name, other, printed)
            yield Finding("same-quantity", "warning", two.place, what, why, other, values, one.place, relation)
    elif differ and first.kind != second.kind and len(pairs) == drawn >= 4 and alike > 1:
        one, two = differ[0]
        parts = tuple(part for one, two in differ for part in (one.name, one.number.text, two.number.text))
        cells = "; ".join(f"{one.name} = {one.number.text} and {two.number.text}" for one, two in differ)
        sign = ", with the other sign" if flipped else ""
        what, why = f"{len(differ)} of {len(pairs)} cells", f"the {first.kind} at line {one.place.line} differs"
        yield Finding("same-quantity", "warning", two.place, what, why + f"{sign}: {cells}", "", parts, one.place)


def _is_slip(one: str, two: str) -> bool:
    """Return whether changing one digit or swapping two makes two numbers equal."""
    first, second = (re.sub(r"\D", "", each) for each in (one, two))
    changed = sum(a != b for a, b in zip(first, second, strict=False)) + abs(len(first) - len(second))
    return changed == 1 or (changed == 2 and sorted(first) == sorted(second))
