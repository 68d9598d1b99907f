"""Find cells that differ by a digit between two tables, or a table and a figure, whose other cells agree."""

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
    lowered = (word.lower() for word in _WORD.findall(text))
    significant = (_ALIASES.get(word, word) for word in lowered if not _GENERIC.fullmatch(word))
    return tuple(word if any(sign.isdigit() for sign in word) else word[:6].rstrip("s") or word for word in significant)


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
                rows[row], heads, number, FileLine(table.file, table.lines[row]), f"{table.names[row]}, {column.name}",
                frozenset(rows[row] + heads),
            )
            for column in table.columns for heads in [listed(column.name)]
            for row, number in enumerate(column.numbers) if number and not number.qualifier and not number.marked
        ]  # fmt: skip
        self.vocabulary = self.context.union(*(cell.own for cell in self.cells))


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield the findings of each pair of tables."""
    worded = [item for table in document.tables[:MOST_TABLES] if table.columns and (item := WordedTable(table)).cells]
    for first, second in combinations(worded, 2):
        yield from _differences(first, second)


def _matching_cells(first: WordedTable, second: WordedTable) -> Iterator[tuple[WordedNumber, WordedNumber]]:
    """Pair cells of one quantity: a word in only one of the two names must occur in the other table's context."""
    by_own: dict[Words, list[WordedNumber]] = {}
    for right in [cell for cell in second.cells if cell.own <= first.vocabulary][:MOST_CELLS]:
        by_own.setdefault(right.own, []).append(right)
    fits: list[tuple[WordedNumber, WordedNumber]] = []
    for left in [cell for cell in first.cells if cell.own <= second.vocabulary][:MOST_CELLS]:
        matches = [right for right in by_own.get(left.own, ()) if left.row in (right.row, right.column)]
        if left.own not in by_own:
            groups = [
                terms for terms in by_own if len(common := left.own & terms) > 1 and not common.isdisjoint(left.row)
                and left.own - terms <= second.context and terms - left.own <= first.context
                and (terms <= set(left.row) or not common.isdisjoint(left.column))
            ]  # fmt: skip
            matches = by_own[groups[0]] if len(groups) == 1 else []
        if len(matches) == 1:
            fits.append((left, matches[0]))
    right_ids = [id(right) for _, right in fits]
    for left, right in fits:
        if right_ids.count(id(right)) == 1 and len({left.number.unit, right.number.unit} - {""}) < 2:
            yield left, right


def _differences(first: WordedTable, second: WordedTable) -> Iterator[Finding]:
    """Find cells that differ by one digit while most agree, and differences from a table that has all of a figure."""
    pairs = list(_matching_cells(first, second))
    agree = [(left, right) for left, right in pairs if meets(left.number.interval, right.number.interval)]
    opposite = [(left, right) for left, right in pairs if meets(-left.number.interval, right.number.interval)]
    flipped = len(opposite) > len(agree)
    agree = opposite if flipped else agree
    differ = [pair for pair in pairs if pair not in agree]
    lines = {line for left, _ in agree for line in (left.row, left.column)}
    several = len({left.column for left, _ in pairs}) > 1
    alone = any(left.column not in lines or (several and left.row not in lines) for left, _ in differ)
    shared_values = {left.number.value for left, right in agree if min(left.digits, right.digits) > 2}
    alike = sum(min(left.digits, right.digits) > 1 for left, right in agree)
    points = next((len(table.cells) for table in (first, second) if table.kind == "figure"), 0)
    slips = all(_is_slip(left.number.text, right.number.text) for left, right in differ)
    if len(shared_values) >= max(FEWEST, 2 * len(differ)) and slips and not alone:
        names = distinct([left.name for left, _ in pairs])
        named = [(name, (right.number, left.number)) for name, (left, right) in zip(names, pairs, strict=True)]
        equal = Formula("-{0}", lambda a: -a) if flipped else Formula("{0}", lambda a: a)
        relation = CellRelation(equal, distinct([second.told, first.told]), tuple(named))
        for left, right in differ:
            right_text, printed = right.number.text, left.number.text
            reason = f"the {first.kind} at line {left.place.line} prints {printed}; {len(agree)} other cells agree"
            what, values = f"{left.name} = {right_text}", (left.name, printed, right_text)
            yield Finding("same-quantity", "warning", right.place, what, reason, printed, values, left.place, relation)
    elif differ and first.kind != second.kind and len(pairs) == points >= 4 and alike > 1:
        left, right = differ[0]
        parts = tuple(text for left, right in differ for text in (left.name, left.number.text, right.number.text))
        cells = "; ".join(f"{left.name} = {left.number.text} and {right.number.text}" for left, right in differ)
        sign = ", with the other sign" if flipped else ""
        what, reason = f"{len(differ)} of {len(pairs)} cells", f"the {first.kind} at line {left.place.line} differs"
        yield Finding("same-quantity", "warning", right.place, what, reason + f"{sign}: {cells}", "", parts, left.place)


def _is_slip(left: str, right: str) -> bool:
    """Return whether changing one digit or swapping two makes two numbers equal."""
    first, second = (re.sub(r"\D", "", text) for text in (left, right))
    differing = sum(a != b for a, b in zip(first, second, strict=False)) + abs(len(first) - len(second))
    return differing == 1 or (differing == 2 and sorted(first) == sorted(second))
