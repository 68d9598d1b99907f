"""Turn a relation that was found into a declared check of a ledger: its table as a source, and its claim."""

from __future__ import annotations

import csv
import io
import re
from pathlib import PurePath

from boundpaper.audit import number
from boundpaper.audit.documents import Table
from boundpaper.audit.finding import Finding
from boundpaper.errors import SpecError

_TERMS = {
    "-": "{0} - {1}", "/": "{0} / {1}", "+": "{0} + {1}", "change": "percent_change({1}, {0})",
    "drop": "percent_lost({0}, {1})",
}  # fmt: skip
_CLAIM = '''"""Checks of the table at {place}, as the audit found them."""

from boundpaper.claims import Artifact, Cells, Relation
{more}
TABLE = Artifact("{stem}", "the table at {place}")

{stem}_{metric} = Cells(
    {says!r},
    {source!r},
    Relation(
        each={{"row": {rows!r}}},
        cell={cell},
        follows={follows},
        because={because!r},
        key="{{row}}",
        says={each!r},
    ),
)
'''


def promoted(finding: Finding, stem: str) -> tuple[str, str]:
    """The claim as Python and the table as CSV, one row per cell, with the keys `row` and `metric`.

    Parameters
    ----------
    finding : Finding
        One with a relation of columns.
    stem : str
        The table's name in the store, a word of Python.

    Raises
    ------
    SpecError
        The finding is of another kind, its formula is none that a ledger declares, or the name is no word.
    """
    relation = finding.relation
    if relation is None:
        raise SpecError(f"{finding.id} is [{finding.kind}], no relation of columns: write a function for it by hand")
    if not stem.isidentifier():
        raise SpecError(f"{stem}: the file's name becomes the table's; give letters, digits and underscores")
    operands = [_cell(name) for name in relation.operands]
    if relation.formula in _TERMS:
        follows = _TERMS[relation.formula].format(*operands)
    elif relation.formula in ("sum", "mean"):
        follows = " + ".join(operands) if relation.formula == "sum" else f"mean({', '.join(operands)})"
    else:
        raise SpecError(
            f"{finding.id}: a ledger declares no {relation.formula!r} of two cells; write a function for it"
        )
    called = [name for name in ("mean", "percent_change", "percent_lost") if f"{name}(" in follows]
    rows = _rows(relation.table, (relation.target, *relation.operands))
    words = f"{relation.target} follows from {', '.join(relation.operands)}"
    claim = _CLAIM.format(
        more=f"from boundpaper.claims.terms import {', '.join(called)}\n" if called else "",
        place=finding.place,
        stem=stem,
        metric=re.sub(r"\W+", "_", relation.target.lower()).strip("_") or "cells",
        says=f"{words}.",
        source=f"{PurePath(finding.place.file).stem}, line {relation.table.line}",
        rows=list(dict.fromkeys(row for row, _, _ in rows)),
        cell=_cell(relation.target),
        follows=follows,
        because=f"From {', '.join(f'{{{place}}}' for place in range(len(operands)))}.",
        each=f"{words} at {{row}}.",
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([("row", "metric", "printed"), *rows])
    return claim, text.getvalue()


def _cell(name: str) -> str:
    return f'TABLE(row="{{row}}", metric={name!r})'


def _rows(table: Table, names: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Row, column and number of each cell of the columns, of rows that have all of them."""
    columns = [next(each for each in table.columns if each.name == name) for name in names]
    found = []
    for index, row in enumerate(table.rows):
        numbers = [each.numbers[index] for each in columns]
        if all(one is not None for one in numbers):
            name = table.row_name(index) or str(index + 1)
            found += [(name, each.name, _bare(row.cells[each.index])) for each in columns]
    return found


def _bare(cell: str) -> str:
    """The number of a cell without what stands behind it."""
    read = number.of_cell(cell)
    return read.text if read else cell
