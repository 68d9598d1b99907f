"""Helpers for figures of the population: styles of its arms, and captions that name the arms and count seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from boundpaper.errors import DataError
from boundpaper.figures.style import Style

if TYPE_CHECKING:
    import pandas as pd

ARMS: Mapping[str, str] = {
    "A": "rotation",
    "B": "trained on with rotation",
    "C": "trained on without",
    "D": "a fifth of the steps without",
    "E": "never rotated",
}
BASES = (400, 10_000)
LOOKS: Mapping[str, Style] = {
    "A": Style(color="okblack", mark="*"),
    "B": Style(color="okblue", mark="square*", dash="dashed"),
    "C": Style(color="okvermillion", mark="triangle*"),
    "D": Style(color="okorange", mark="diamond*", dash="dash dot"),
    "E": Style(color="okgreen", mark="pentagon*", dash="densely dotted"),
}


def bases(rows: pd.DataFrame) -> list[int]:
    """Return the bases of the rotation that models were trained at, the primary one first.

    Raises
    ------
    DataError
        When there is none.
    """
    there = [base for base in BASES if (rows["base"] == base).any()]
    if not there:
        raise DataError("no model with a rotation is there yet; train some: python build.py lab population")
    return there


def rows_of_base(rows: pd.DataFrame, base: int) -> pd.DataFrame:
    """Return rows of the trained models of one base of the rotation, and of the arm that has none."""
    own: pd.DataFrame = rows[rows["base"].isin([0, base])]
    return own


def seeds(rows: pd.DataFrame) -> str:
    """Return for a caption how many seeds of which arms are drawn, and how many of the models the plan counts."""
    counts = {place: part["seed"].nunique() for place, part in rows.groupby(["base", "arm"])}
    models = rows.groupby("model")["counted"].first()
    told = f"{int(models.sum())} of {len(models)} models count by the plan, all are drawn"
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values()))} seeds of each arm; {told}"
    parts = [f"{count} of {arm}" + (f" at base {base:,}" if base else "") for (base, arm), count in counts.items()]
    return f"seeds: {', '.join(parts)}; {told}"
