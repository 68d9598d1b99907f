"""What the claims on Experiments 7 to 10 of document 004 share: restated values, and shares in percent."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from analysis.claims._cells import Cell
from analysis.claims._judge import compare, pick, quote
from analysis.claims._verdict import Verdict
from artifacts.numbers import pvalue


def restated(stated: pd.DataFrame, cells: Mapping[str, Cell]) -> list[Verdict]:
    """One cell check for each value of the prose or of a caption that repeats a cell of a table.

    Parameters
    ----------
    stated : DataFrame
        `drope_stated` or `drope_captions`.
    cells : mapping of str to Cell
        The statement's key, and the cell it should round from.
    """
    verdicts = []
    for key, place in cells.items():
        row, original = pick(stated, statement=key), place.quoted()
        of = f" of {row['positional']}" if row["positional"] else ""
        quantity = str(row["quantity"])
        verdicts.append(
            compare(
                quote(stated, statement=key),
                original.number,
                original.interval,
                reason=f"{place.label} prints {original.printed}.",
                places=original.decimals,
                key=key,
                statement=f"The text gives {quantity[0].lower()}{quantity[1:]}{of} as {row['printed']}.",
                kind="cell check",
            )
        )
    return verdicts


def p(value: float) -> str:
    """A p-value with its relation, for a reason: `p = 0.012`, `p < 0.001`."""
    return f"p {pvalue(relation=True).show(value, 'plain')}"


def of_trials(row: pd.Series) -> str:
    """`4 of 5 (38 to 96 %)` for a row with correct, trials and an interval in percent."""
    return f"{int(row['correct'])} of {int(row['trials'])} ({row['ci_low']:.0f} to {row['ci_high']:.0f} %)"
