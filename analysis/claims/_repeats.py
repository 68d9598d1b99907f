"""Numbers of the report on dropped rotations that its prose repeats or rounds: equal to their table, or near it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.claims._judge import Quoted, compare, pick, quote
from analysis.claims._verdict import Verdict

Place = tuple[pd.DataFrame, str, Mapping[str, Any]]
"""A long source, what it is called, and what picks the row."""


def repeated(stated: pd.DataFrame, places: Mapping[str, Place]) -> list[Verdict]:
    """One cell check for each statement of the prose that repeats a cell of a table.

    Parameters
    ----------
    stated : DataFrame
        `drope_stated` or `drope_captions`.
    places : mapping of str to Place
        The statement's key, and the cell that it repeats.
    """
    verdicts = []
    for key, (frame, label, where) in places.items():
        row, original = pick(stated, statement=key), quote(frame, **where)
        model = f" of {row['positional']}" if row["positional"] else ""
        verdicts.append(
            compare(
                quote(stated, statement=key),
                original.number,
                original.interval,
                reason=f"{label} prints {original.printed}.",
                places=original.decimals,
                key=key,
                statement=f"The text gives {_lowered(str(row['quantity']))}{model} as {row['printed']}.",
                kind="cell check",
            )
        )
    return verdicts


def _lowered(text: str) -> str:
    return text if text[1:2].isupper() or text[1:2] == "/" else text[:1].lower() + text[1:]


def about(reported: Quoted, value: float, *, reason: str, key: str = "", statement: str = "") -> Verdict:
    """The verdict on a number that the source itself calls approximate (`~`, about).

    It holds where the value rounds to the number, holds after rounding where it rounds to a neighbour of the number (a
    unit of its last digit away, trailing zeros aside: 96 and 98 for ~97, 100 and 300 for ~200), and is contradicted
    beyond.
    """
    number = abs(reported.number)
    decimals = reported.decimals or 0
    unit = 10.0**-decimals
    while decimals <= 0 and number and number % (10 * unit) == 0:
        unit *= 10
    near = abs(value - reported.number) <= 1.5 * unit * (1 + 1e-9)
    rounds = abs(value - reported.number) <= unit / 2 * (1 + 1e-9)
    return Verdict(
        verdict="holds" if rounds else "holds after rounding" if near else "contradicted",
        reason=f"{reason} {reported.printed} is taken as {reported.number:g} give or take {unit:g}, rounded.",
        reported=reported.printed,
        recomputed=f"{value:.{max(decimals, 0) + 1}f}",
        key=key,
        statement=statement,
    )
