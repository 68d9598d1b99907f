"""Cell checks in bulk: values that a text repeats from a table, and cells that stand in two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.claims._judge import Quoted, about, compare, pick, quote
from analysis.claims._verdict import Verdict


@dataclass(frozen=True)
class Cell:
    """Where a value stands: a long frame, what picks its row, and how the exhibit is called."""

    frame: pd.DataFrame
    label: str
    where: Mapping[str, Any]

    def quoted(self) -> Quoted:
        """The printed value."""
        return quote(self.frame, **self.where)


def cell(frame: pd.DataFrame, label: str, **where: Any) -> Cell:
    """A cell of `frame`, called `label` in reasons, in the row that `where` picks."""
    return Cell(frame, label, where)


def restated(stated: pd.DataFrame, cells: Mapping[str, Cell]) -> list[Verdict]:
    """One cell check for each value of the prose or of a caption that repeats a cell of a table.

    Parameters
    ----------
    stated : DataFrame
        `stated_001`, `stated_002`, `drope_stated` or `drope_captions`: values with the columns `statement`,
        `quantity`, and `model` or `positional`. One whose `qualifier` is "about" is judged as an approximate number.
    cells : mapping of str to Cell
        The statement's key, and the cell it should round from.
    """
    return [_restated(pick(stated, statement=key), quote(stated, statement=key), key, cells[key]) for key in cells]


def _restated(row: pd.Series, reported: Quoted, key: str, place: Cell) -> Verdict:
    original = place.quoted()
    reason = f"{place.label[:1].upper()}{place.label[1:]} prints {original.printed}."
    statement = f"The text gives {_named(row)} as {row['printed']}."
    if row.get("qualifier") == "about" and reported.value is not None:
        return about(reported, original.number, reason=reason, key=key, statement=statement, kind="cell check")
    return compare(
        reported,
        original.number,
        original.interval,
        reason=reason,
        places=original.decimals,
        key=key,
        statement=statement,
        kind="cell check",
    )


def _named(row: pd.Series) -> str:
    """What is measured, and of which model; the quantities of document 004 begin with a capital, as in a table."""
    quantity = str(row["quantity"])
    if "positional" not in row:
        return f"{quantity} of {row['model']}" if row["model"] else quantity
    word = quantity.split()[0]
    quantity = quantity if len(word) > 1 and not word[1:].islower() else quantity[0].lower() + quantity[1:]
    return f"{quantity} of {row['positional']}" if row["positional"] else quantity


def copies(
    copy: pd.DataFrame, original: pd.DataFrame, on: Sequence[str], *, label: str, keep: str = ""
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
    """
    pairs = copy[copy["low"].notna()].merge(original[original["low"].notna()], on=list(on), suffixes=("", "_original"))
    verdicts = []
    for _, row in pairs.iterrows():
        names = [str(row[name]) for name in on]
        verdicts.append(
            compare(
                quote(copy, **{name: row[name] for name in on}),
                float(row["value_original"]),
                quote(original, **{name: row[name] for name in on}).interval,
                reason=f"{label} prints {row['printed_original']}.",
                places=int(row["decimals_original"]),
                key=keep + "-".join(names),
                statement=f"The cell {', '.join(names)} equals {label}.",
                kind="cell check",
            )
        )
    return verdicts
