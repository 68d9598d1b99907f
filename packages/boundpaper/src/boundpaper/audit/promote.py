"""Turn a relation that was found into a declared check of a ledger: its table as a source, and its claim."""

import csv
import io
import re
from pathlib import PurePath

from boundpaper.audit.finding import Finding
from boundpaper.errors import SpecError

_CLAIM = '''"""Checks of the table at {place}, as the audit found them."""

from boundpaper.claims import Artifact, Cells, Relation
from boundpaper.claims.terms import Combined

TABLE = Artifact("{stem}", "the table at {place}")


def follows({variables}):
    """What the cell follows from, of numbers as of their ranges."""
    return {formula}


{stem}_{metric} = Cells(
    {says!r},
    {source!r},
    Relation(
        each={{"row": {rows!r}}},
        cell=TABLE(row="{{row}}", metric={target!r}),
        follows=Combined(
            (
                {terms}
            ),
            follows,
            follows,
        ),
        because={because!r},
        key="{{row}}",
        says={each!r},
    ),
)
'''
WHY_NOT = {
    "arithmetic": "a sentence allows several readings of a change; say in a function which is meant",
    "statistic": "a ledger computes tests from data; write a function with the data at hand",
    "rows": "a ledger has no declared check for what a sentence says of several rows; write a function",
    "same-quantity": "no cells of the two tables are one quantity by name; write a function",
}
"""By kind, why a finding without a relation of cells cannot become a check; the others are about numbering."""


def promoted(finding: Finding, stem: str) -> tuple[str, str]:
    """The claim as Python and the table as CSV, one row per cell, with the keys `row` and `metric`.

    Parameters
    ----------
    finding : Finding
        One with a relation of cells.
    stem : str
        The table's name in the store, a word of Python.

    Raises
    ------
    SpecError
        The finding has no relation of cells, or the name is no word.
    """
    relation = finding.relation
    if relation is None:
        why = WHY_NOT.get(finding.kind, "a ledger judges no numbering of headings, captions and labels")
        raise SpecError(f"{finding.id} is [{finding.kind}] and cannot be promoted: {why}")
    if not stem.isidentifier():
        raise SpecError(f"{stem}: the file's name becomes the table's; give letters, digits and underscores")
    target, *operands = relation.names
    variables = [f"x{place}" for place in range(1, len(operands) + 1)]
    words = f"{target} follows from {', '.join(operands)}"
    claim = _CLAIM.format(
        place=finding.place,
        stem=stem,
        variables=", ".join(variables),
        formula=relation.formula.of(variables),
        metric=re.sub(r"\W+", "_", target.lower()).strip("_") or "cells",
        says=f"{words}.",
        source=f"{PurePath(finding.place.file).stem}, line {finding.place.line}",
        rows=[row for row, _ in relation.rows],
        target=target,
        terms="\n                ".join(f'TABLE(row="{{row}}", metric={name!r}),' for name in operands),
        because=f"From {', '.join(f'{{{place}}}' for place in range(len(operands)))}.",
        each=f"{words} at {{row}}.",
    )
    text = io.StringIO()
    cells = [
        (row, name, one.text)
        for row, numbers in relation.rows for name, one in zip(relation.names, numbers, strict=True)
    ]  # fmt: skip
    csv.writer(text, lineterminator="\n").writerows([("row", "metric", "printed"), *cells])
    return claim, text.getvalue()
