"""Find cells of one quantity that differ by a digit in two tables, or a table and a figure, whose other cells agree."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations

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
FEWEST = 3  # fewest distinct numbers of three digits on which two tables must agree
MOST_TABLES, MOST_CELLS = 80, 400  # most tables of a document, and most cells of a table, that are compared
Words = frozenset[str]


def ordered_words(text: str) -> tuple[str, ...]:
    """Return the significant words of a name in order; a word without a digit is cut to six letters."""
    lower_words = (word.lower() for word in _WORD.findall(text))
    significant_words = (_ALIASES.get(word, word) for word in lower_words if not _GENERIC.fullmatch(word))
    return tuple(word if any(map(str.isdigit, word)) else word[:6].rstrip("s") or word for word in significant_words)


def words(text: str) -> Words:
    """Return the words that `ordered_words` returns, as a set."""
    return frozenset(ordered_words(text))


@dataclass(frozen=True)
class WordedNumber:
    """A number of a table, with the words of its row and column names."""

    row: tuple[str, ...]  # words of the row's key
    column: tuple[str, ...]  # words of the column's name
    number: Number
    place: FileLine
    name: str

    @cached_property
    def words(self) -> Words:
        """Return the words of the row and column names as a set."""
        return frozenset(self.row + self.column)

    @property
    def digits(self) -> int:
        """Return how many digits remain without zeros at the start and end; 100 counts as three digits."""
        return 3 if abs(self.number.value) == 100 else len(re.sub(r"\D", "", self.number.text).strip("0"))


class WordedTable:
    """A table with the words of its cells and of its context: the caption and the last two headings."""

    def __init__(self, table: ReadTable) -> None:
        self.kind = table.kind
        self.name = f"the {table.kind} at line {table.line}"
        self.context = words(" ".join((table.caption, *table.headings_above[-2:])))
        row_words = list(map(ordered_words, table.row_keys))
        self.cells = [
            WordedNumber(
                row_words[row], ordered_words(column.name), number, FileLine(table.file, table.lines[row]),
                f"{table.row_names[row]}, {column.name}",
            )
            for column in table.columns
            for row, number in enumerate(column.numbers) if number and not number.qualifier and not number.has_mark
        ]  # fmt: skip
        self.vocabulary = self.context.union(*(cell.words for cell in self.cells))


def check(document: ReadDocument) -> Iterator[Finding]:
    """Yield the findings of each pair of tables."""
    tables = [WordedTable(table) for table in document.tables[:MOST_TABLES] if table.columns]
    for first, second in combinations([table for table in tables if table.cells], 2):
        yield from _differences(first, second)


def _matching_cells(first: WordedTable, second: WordedTable) -> Iterator[tuple[WordedNumber, WordedNumber]]:
    """Yield pairs of cells of one quantity; a word that only one cell has must be in the context of the other table."""
    right_cells: dict[Words, list[WordedNumber]] = {}
    for right in [cell for cell in second.cells if cell.words <= first.vocabulary][:MOST_CELLS]:
        right_cells.setdefault(right.words, []).append(right)
    pairs: list[tuple[WordedNumber, WordedNumber]] = []
    for left in [cell for cell in first.cells if cell.words <= second.vocabulary][:MOST_CELLS]:
        if left.words in right_cells:
            matches = [right for right in right_cells[left.words] if left.row in (right.row, right.column)]
        else:
            similar_terms = [
                terms for terms in right_cells
                if len(common := left.words & terms) > 1 and not common.isdisjoint(left.row)
                and left.words - terms <= second.context and terms - left.words <= first.context
                and (terms <= set(left.row) or not common.isdisjoint(left.column))
            ]  # fmt: skip
            matches = right_cells[similar_terms[0]] if len(similar_terms) == 1 else []
        if len(matches) == 1:
            pairs.append((left, matches[0]))
    right_counts = Counter(id(right) for _, right in pairs)
    for left, right in pairs:
        if right_counts[id(right)] == 1 and len({left.number.unit, right.number.unit} - {""}) < 2:
            yield left, right


def _differences(first: WordedTable, second: WordedTable) -> Iterator[Finding]:
    """Yield findings on cells that differ by a digit while most agree, and on a figure that differs from its table."""
    pairs = list(_matching_cells(first, second))
    agreeing_pairs = [(left, right) for left, right in pairs if meets(left.number.interval, right.number.interval)]
    opposite_pairs = [(left, right) for left, right in pairs if meets(-left.number.interval, right.number.interval)]
    is_negated = len(opposite_pairs) > len(agreeing_pairs)
    agreeing_pairs = opposite_pairs if is_negated else agreeing_pairs
    differing_pairs = [pair for pair in pairs if pair not in agreeing_pairs]
    names = {name for left, _ in agreeing_pairs for name in (left.row, left.column)}
    has_columns = len({left.column for left, _ in pairs}) > 1
    differing_cells = [left for left, _ in differing_pairs]
    is_isolated = any(cell.column not in names or (has_columns and cell.row not in names) for cell in differing_cells)
    shared_values = {left.number.value for left, right in agreeing_pairs if min(left.digits, right.digits) > 2}
    two_digit_agreements = sum(min(left.digits, right.digits) > 1 for left, right in agreeing_pairs)
    n_points = next((len(table.cells) for table in (first, second) if table.kind == "figure"), 0)
    are_slips = all(_is_slip(left.number.text, right.number.text) for left, right in differing_pairs)
    if len(shared_values) >= max(FEWEST, 2 * len(differing_pairs)) and are_slips and not is_isolated:
        cell_names = distinct([left.name for left, _ in pairs])
        rows = [(name, (right.number, left.number)) for name, (left, right) in zip(cell_names, pairs, strict=True)]
        formula = Formula("-{0}", lambda a: -a) if is_negated else Formula("{0}", lambda a: a)
        relation = CellRelation(formula, distinct([second.name, first.name]), tuple(rows))
        for left, right in differing_pairs:
            name, left_text, right_text = values = left.name, left.number.text, right.number.text
            source = f"the {first.kind} at line {left.place.line}"
            reason = f"{source} prints {left_text}; {len(agreeing_pairs)} other cells agree"
            printed = f"{name} = {right_text}"
            yield Finding(
                "same-quantity", "warning", right.place, printed, reason, left_text, values, left.place, relation
            )
    elif differing_pairs and first.kind != second.kind and len(pairs) == n_points >= 4 and two_digit_agreements > 1:
        left, right = differing_pairs[0]
        texts = [(left.name, left.number.text, right.number.text) for left, right in differing_pairs]
        cells = "; ".join(f"{name} = {left_text} and {right_text}" for name, left_text, right_text in texts)
        sign = ", with the other sign" if is_negated else ""
        printed = f"{len(differing_pairs)} of {len(pairs)} cells"
        reason = f"the {first.kind} at line {left.place.line} differs{sign}: {cells}"
        all_texts = tuple(chain.from_iterable(texts))
        yield Finding("same-quantity", "warning", right.place, printed, reason, "", all_texts, left.place)


def _is_slip(left: str, right: str) -> bool:
    """Return whether changing one digit, adding one at the end, or swapping two digits makes two numbers equal."""
    left_digits, right_digits = (re.sub(r"\D", "", text) for text in (left, right))
    differences = sum(a != b for a, b in zip(left_digits, right_digits, strict=False))
    differences += abs(len(left_digits) - len(right_digits))
    return differences == 1 or (differences == 2 and sorted(left_digits) == sorted(right_digits))
