"""Cell checks in bulk: values that a text repeats from a table, and cells that stand in two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from analysis.claims._verdicts.judge import Quoted, about, compare, judge, pick, quote
from analysis.claims._verdicts.repeats import repeating
from analysis.claims._verdicts.said import said
from analysis.claims._verdicts.verdict import Verdict
from analysis.statistics.rounding import Interval


@dataclass(frozen=True)
class Cell:
    """Where a value stands: a long frame, what picks its row, how the exhibit is called, and which rows judge it."""

    frame: pd.DataFrame
    label: str
    where: Mapping[str, Any]
    judged: tuple[str, ...] = ()

    def quoted(self) -> Quoted:
        """The printed value."""
        return quote(self.frame, **self.where)

    def by(self, *claims: str) -> Cell:
        """The same cell, whose number the ledger rows `claims` judge: who prints it again shares their verdict."""
        return replace(self, judged=claims)


def cell(frame: pd.DataFrame, label: str, **where: Any) -> Cell:
    """A cell of `frame`, called `label` in reasons, in the row that `where` picks."""
    return Cell(frame, label, where)


def restated(stated: pd.DataFrame, cells: Mapping[str, Cell], *, words: bool = False) -> list[Verdict]:
    """One cell check for each value of the prose or of a caption that repeats a cell of a table.

    Parameters
    ----------
    stated : DataFrame
        `stated_001`, `stated_002`, `drope_stated` or `drope_captions`: values with the columns `statement`,
        `quantity`, and `model` or `positional`. One whose `qualifier` is "about" is judged as an approximate number.
    cells : mapping of str to Cell
        The statement's key, and the cell it should round from.
    words : bool
        Whether the values are given in words (`zero`).
    """
    read = _spelled if words else quote
    return [_restated(pick(stated, statement=key), read(stated, statement=key), key, cells[key]) for key in cells]


def _spelled(stated: pd.DataFrame, *, statement: str) -> Quoted:
    row = pick(stated, statement=statement)
    number = said(row)
    return Quoted(str(row["printed"]), number, 0, Interval(number - 0.5, number + 0.5))


def _restated(row: pd.Series, reported: Quoted, key: str, place: Cell) -> Verdict:
    original = place.quoted()
    reason = f"{place.label[:1].upper()}{place.label[1:]} prints {original.printed}."
    statement = f"The {_place(row)} gives {_named(row)} as {row['printed']}."
    if original.value is None:
        same = reported.value is None and reported.interval == original.interval
        made = judge(
            same,
            reason,
            reported=reported.printed,
            recomputed=original.printed,
            key=key,
            statement=statement,
        )
        return repeating(replace(made, kind="cell check"), *place.judged)
    if row.get("qualifier") == "about" and reported.value is not None:
        made = about(reported, original.number, reason=reason, key=key, statement=statement, kind="cell check")
        return repeating(made, *place.judged)
    made = compare(
        reported,
        original.number,
        original.interval,
        reason=reason,
        places=original.decimals,
        key=key,
        statement=statement,
        kind="cell check",
    )
    return repeating(made, *place.judged)


def _place(row: pd.Series) -> str:
    """Where a repeated value stands: in a figure's caption, or in the text."""
    return f"caption of Figure {row['figure']}" if "figure" in row else "text"


def _named(row: pd.Series) -> str:
    """What is measured, and of which model; the quantities of document 004 begin with a capital, as in a table."""
    quantity = str(row["quantity"])
    if "positional" not in row:
        return f"{quantity} of {row['model']}" if row["model"] else quantity
    word = quantity.split()[0]
    quantity = quantity if len(word) > 1 and not word[1:].islower() else quantity[0].lower() + quantity[1:]
    return f"{quantity} of {row['positional']}" if row["positional"] else quantity


def copies(
    copy: pd.DataFrame,
    original: pd.DataFrame,
    on: Sequence[str],
    *,
    label: str,
    keep: str = "",
    judged: Mapping[str, str] | None = None,
) -> list[Verdict]:
    """One cell check for each cell that stands in two tables; cells that either leaves empty are passed over.

    Parameters
    ----------
    copy, original : DataFrame
        Long frames with the columns `on`.
    on : sequence of str
        Key columns, in both frames.
    label : str
        How the original exhibit is called.
    keep : str
        Put before each key, where a claim compares with several originals.
    judged : mapping of str to str or None
        By key, the ledger rows (put apart by blanks) that judge the original's number.
    """
    pairs = copy[copy["low"].notna()].merge(original[original["low"].notna()], on=list(on), suffixes=("", "_original"))
    verdicts = []
    for _, row in pairs.iterrows():
        names = [str(row[name]) for name in on]
        key = keep + "-".join(names)
        made = compare(
            quote(copy, **{name: row[name] for name in on}),
            float(row["value_original"]),
            quote(original, **{name: row[name] for name in on}).interval,
            reason=f"{label} prints {row['printed_original']}.",
            places=int(row["decimals_original"]),
            key=key,
            statement=f"The cell {', '.join(names)} equals {label}.",
            kind="cell check",
        )
        verdicts.append(repeating(made, *(judged or {}).get(key, "").split()))
    return verdicts
