"""Cell checks in bulk: values that a text repeats from a table, and cells that stand in two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.claims._judge import Quoted, compare, pick, quote
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
    """One cell check for each value of the prose that repeats a cell of a table.

    Parameters
    ----------
    stated : DataFrame
        `stated_001` or `stated_002`.
    cells : mapping of str to Cell
        The statement's key, and the cell it should round from.
    """
    return [_restated(stated, key, place) for key, place in cells.items()]


def _restated(stated: pd.DataFrame, key: str, place: Cell) -> Verdict:
    row, original = pick(stated, statement=key), place.quoted()
    of = f" of {row['model']}" if row["model"] else ""
    return compare(
        quote(stated, statement=key),
        original.number,
        original.interval,
        reason=f"{place.label} prints {original.printed}.",
        places=original.decimals,
        key=key,
        statement=f"The text gives {row['quantity']}{of} as {row['printed']}.",
        kind="cell check",
    )


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
