"""Test whether plasticity falls beyond the training length, where keys are no longer found; post hoc."""

import itertools
from typing import Any

import numpy as np
import pandas as pd

from analysis.population.recipe import BASES
from analysis.studies.population._effects import corrected, effect_columns, seed_summary

COMPARISONS = {"B_change": ("B", "B", True), "C_change": ("C", "C", True), "C_less_B": ("C", "B", False)}


def population_reach_levels(population_reach: pd.DataFrame, population_models: pd.DataFrame) -> pd.DataFrame:
    """Return plasticity by arm and part of the text (one training length): mean, interval, extremes over seeds.

    All trained models of the smaller base are included, whether or not they met the criterion.
    """
    values = _means_by_length(population_reach, population_models, BASES[0])
    rows = []
    for _, group in values.groupby(["arm", "low"]):
        first = group.iloc[0]
        cell = {"arm": str(first["arm"]), "low": int(first["low"]), "high": int(first["high"])}
        rows.append(cell | seed_summary(group["plasticity"].to_numpy(dtype=np.float64)))
    return pd.DataFrame(rows)


def population_reach_tests(population_reach: pd.DataFrame, population_models: pd.DataFrame) -> pd.DataFrame:
    """Return three comparisons of plasticity per base, over seeds: each arm's change along the text, and C against B.

    `B_change` and `C_change` are an arm's last training length minus its first, `C_less_B` compares the arms at the
    last length. Names at the larger base end in this base. `p` is from exact sign flips, Holm-corrected over the three.
    """
    rows: list[dict[str, Any]] = []
    for base, (item, (first, second, is_change)) in itertools.product(BASES, COMPARISONS.items()):
        by_arm = _means_by_length(population_reach, population_models, base).pivot_table(
            index="seed", columns=["arm", "low"], values="plasticity"
        )
        gaps = np.empty(0)
        if first in by_arm and second in by_arm:
            lows = sorted(by_arm[first].columns)
            reference = by_arm[second][lows[0 if is_change else -1]]
            gaps = (by_arm[first][lows[-1]] - reference).dropna().to_numpy(dtype=np.float64)
        note = "" if len(gaps) > 1 else "fewer than two seeds have both"
        name = item if base == BASES[0] else f"{item}_{base}"
        rows.append({"item": name, "base": base, **effect_columns(gaps), "seeds": len(gaps), "note": note})
    return corrected(pd.DataFrame(rows), "base").drop(columns="base")


def _means_by_length(reach: pd.DataFrame, models: pd.DataFrame, base: int) -> pd.DataFrame:
    """Return mean plasticity over the heads with a value, one row per model and part of the text."""
    members = models.loc[models["base"] == base, ["model", "arm", "seed"]]
    means = reach.dropna(subset="plasticity").groupby(["model", "low", "high"], as_index=False)["plasticity"].mean()
    table: pd.DataFrame = means.merge(members, on="model").sort_values(["arm", "seed", "low"], ignore_index=True)
    return table
