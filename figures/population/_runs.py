"""Helpers for figures of the population's second run: one line per seed, and how many of the planned seeds exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundpaper.figures import Bundle, Shade
from figures.population._arms import ARMS

if TYPE_CHECKING:
    import pandas as pd

    from boundpaper.figures.series import Series

BEYOND = Shade(low=1.5, high=None, label="beyond training")  # the last three quarters of a text


def seed_bundles(rows: pd.DataFrame, factor: float = 1.0, legend: bool = True, ending: str = "") -> list[Series]:
    """Return one bundle per arm, with one line per seed over the column `place`; legend entries end in `ending`."""
    series: list[Series] = []
    for arm, group in rows.groupby("arm"):
        table = group.pivot(index="seed", columns="place", values="value")
        x, lines, label = list(table.columns), factor * table, f"{arm}: {ARMS[str(arm)]}{ending}"
        bundle = Bundle(entity=str(arm), label=label, legend=legend, x=x, lines=lines, band=False, origin="measured")
        series.append(bundle)
    return series


def seeds_sentence(rows: pd.DataFrame, members: pd.DataFrame) -> str:
    """Return a sentence for each base: how many of the planned seeds each arm has."""
    sentences = []
    for base in sorted({int(base) for base in rows["base"]}):
        base_rows = rows[rows["base"] == base]
        planned = members.loc[members["base"] == base, "seed"].nunique()
        arms = [str(arm) for arm in sorted(base_rows["arm"].unique())]
        counts = {arm: base_rows.loc[base_rows["arm"] == arm, "seed"].nunique() for arm in arms}
        if len(set(counts.values())) == 1:
            phrase = f"{next(iter(counts.values()))} of {planned} seeds of each arm"
        else:
            phrase = ", ".join(f"{count} of {planned} seeds of {arm}" for arm, count in counts.items())
        sentences.append(f"At base {base:,}: {phrase}." if base else f"Without a base: {phrase}.")
    return " ".join(sentences)
