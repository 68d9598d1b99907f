"""All checks, the most productive first, and how much was read when they find nothing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from boundpaper.audit import arithmetic, relations, reported, rows, same, structure
from boundpaper.audit.documents import Document, together
from boundpaper.audit.finding import LEVELS, Finding

CHECKS: tuple[tuple[tuple[str, ...], Callable[[Document], Iterator[Finding]]], ...] = (
    (("section-number", "caption-number", "reference"), structure.check),
    (("total", "relation"), relations.check),
    (("same-quantity",), same.check),
    (("arithmetic",), arithmetic.check),
    (("statistic",), reported.check),
    (("rows",), rows.check),
)
"""Each check with the kinds of its findings."""
KINDS = sorted(kind for kinds, _ in CHECKS for kind in kinds)


@dataclass(frozen=True)
class Coverage:
    """Counts of what was read in documents, and of what no check could use."""

    tables: int
    cells: int
    figures: int
    sentences: int
    quantities: int
    relations: int
    untied: int

    def __str__(self) -> str:
        return (
            f"read {_count(self.tables, 'table')} with {_count(self.cells, 'number')}, "
            f"{_count(self.figures, 'figure')} in code, {_count(self.sentences, 'sentence')} with "
            f"{_count(self.quantities, 'quantity')}; {_count(self.relations, 'relation')} of columns; "
            f"{_count(self.untied, 'quantity')} of sentences in no table: silence about those proves nothing"
        )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else 'quantities' if noun == 'quantity' else noun + 's'}"


def audit(documents: Sequence[Document], *, joint: bool = False, only: Sequence[str] = ()) -> list[Finding]:
    """Findings in documents, each read alone or all together, by file and line, without duplicates.

    Parameters
    ----------
    documents : sequence of Document
    joint : bool
        Whether sentences of one are held against the tables of all.
    only : sequence of str
        The kinds to look for; all where it is empty.
    """
    read = [together(documents)] if joint and len(documents) > 1 else documents
    found: dict[tuple[str, int, str], Finding] = {}
    for kinds, check in CHECKS:
        for document in documents if check is structure.check else read:
            for each in check(document) if not only or set(kinds) & set(only) else ():
                if not only or each.kind in only:
                    found.setdefault((each.place.file, each.place.line, each.what), each)
    return sorted(found.values(), key=lambda each: (each.place.file, each.place.line, LEVELS.index(each.level)))


def coverage(documents: Sequence[Document]) -> Coverage:
    """Count what was read."""
    tables = [table for each in documents for table in each.tables]
    cells = [one.value for table in tables for column in table.columns for one in column.numbers if one is not None]
    printed = set(cells)
    counts = [len(sentence.numbers) for each in documents for sentence in each.sentences]
    quantities = [one.value for each in documents for sentence in each.sentences for one in sentence.numbers]
    return Coverage(
        tables=sum(table.kind == "table" for table in tables),
        cells=len(cells),
        figures=sum(table.kind == "figure" for table in tables),
        sentences=sum(map(bool, counts)),
        quantities=sum(counts),
        relations=sum(len(relations.held_in(table)) for table in tables),
        untied=sum(one not in printed for one in quantities),
    )
