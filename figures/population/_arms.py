"""Helpers for figures of the population: line styles of its arms, and captions that name arms and count seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from boundpaper.errors import DataError
from boundpaper.figures.style import Style

if TYPE_CHECKING:
    import pandas as pd

ARMS: Mapping[str, str] = {
    "A": "rotation",
    "B": "trained further with rotation",
    "C": "trained further without",
    "D": "a fifth of the steps without",
    "E": "never rotated",
}
BASES = (400, 10_000)
LOOKS: Mapping[str, Style] = {
    "A": Style(color="okblack", mark="*"),
    "B": Style(color="okblue", mark="*"),
    "C": Style(color="okvermillion", mark="square*", dash="dashed"),
    "D": Style(color="okorange", mark="diamond*", dash="dash dot"),
    "E": Style(color="okgreen", mark="pentagon*", dash="densely dotted"),
}


def bases(rows: pd.DataFrame) -> list[int]:
    """Return the rotation bases of the trained models, the primary base first.

    Raises
    ------
    DataError
        If no model has a rotation.
    """
    trained = [base for base in BASES if (rows["base"] == base).any()]
    if not trained:
        raise DataError("no model with a rotation has been trained yet; train some: python build.py lab population")
    return trained


def seeds_phrase(rows: pd.DataFrame) -> str:
    """Return a caption phrase: how many seeds of each arm are plotted, and how many models the plan counts."""
    seeds_by_arm = {key: group["seed"].nunique() for key, group in rows.groupby(["base", "arm"])}
    models = rows.groupby("model")["counted"].first()
    models_phrase = f"{int(models.sum())} of {len(models)} models count by the plan, all are drawn"
    if len(set(seeds_by_arm.values())) == 1:
        return f"{next(iter(seeds_by_arm.values()))} seeds of each arm; {models_phrase}"
    phrases = [
        f"{count} of {arm}" + (f" at base {base:,}" if base else "") for (base, arm), count in seeds_by_arm.items()
    ]
    return f"seeds: {', '.join(phrases)}; {models_phrase}"
