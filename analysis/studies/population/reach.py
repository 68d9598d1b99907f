"""Test whether plasticity falls beyond the training length, where keys are no longer found; post hoc."""

import itertools
from typing import Any

import numpy as np
import pandas as pd

from analysis.population.recipe import BASES
from analysis.studies.population._effects import corrected, effect_columns, over_seeds

TESTED = {"B_change": ("B", "B", True), "C_change": ("C", "C", True), "C_less_B": ("C", "B", False)}


def population_reach_levels(population_reach: pd.DataFrame, population_models: pd.DataFrame) -> pd.DataFrame:
    """Return mean plasticity over heads by arm and training length in a text: mean, interval, extremes over seeds.

    All trained models of the smaller base are included, whether or not they met the criterion.
    """
    values = _means_by_length(population_reach, population_models, BASES[0])
    rows = []
    for _, group in values.groupby(["arm", "low"]):
        seeds = group["plasticity"].to_numpy(dtype=np.float64)
        interval = over_seeds(seeds)
        rows.append(
            {
                "arm": str(group["arm"].iloc[0]),
                "low": int(group["low"].iloc[0]),
                "high": int(group["high"].iloc[0]),
                "value": float(seeds.mean()),
                "ci_low": interval[0],
                "ci_high": interval[1],
                "least": float(seeds.min()),
                "most": float(seeds.max()),
                "seeds": len(seeds),
                "note": "" if interval[0] is not None else "one seed has no interval",
            }
        )
    return pd.DataFrame(rows)


def population_reach_tests(population_reach: pd.DataFrame, population_models: pd.DataFrame) -> pd.DataFrame:
    """Three comparisons a base over seeds, Holm-corrected together: how plasticity changes from first to last length.

    `B_change` and `C_change` are last minus first of an arm, `C_less_B` the arms at the last length. A larger base
    stands in the name. Exact sign flips over seeds, with Student's interval beside them.
    """
    rows: list[dict[str, Any]] = []
    for base, (item, (one, two, change)) in itertools.product(BASES, TESTED.items()):
        wide = _means_by_length(population_reach, population_models, base).pivot_table(
            index="seed", columns=["arm", "low"], values="plasticity"
        )
        lows = sorted(wide[one].columns) if one in wide else []
        early, last = (
            (wide[one][lows[-1]], wide[two][lows[0 if change else -1]]) if lows and two in wide else (None, None)
        )
        gaps = (early - last).dropna().to_numpy(dtype=np.float64) if early is not None else np.empty(0)
        note = "" if len(gaps) > 1 else "fewer than two seeds have both"
        name = item if base == BASES[0] else f"{item}_{base}"
        rows.append({"item": name, "base": base, **effect_columns(gaps), "seeds": len(gaps), "note": note})
    return corrected(pd.DataFrame(rows), "base").drop(columns="base")


def _means_by_length(reach: pd.DataFrame, models: pd.DataFrame, base: int) -> pd.DataFrame:
    """Return one row per model and training length: the mean over the heads that have a value."""
    members = models.loc[models["base"] == base, ["model", "arm", "seed"]]
    means = reach.dropna(subset="plasticity").groupby(["model", "low", "high"], as_index=False)["plasticity"].mean()
    table: pd.DataFrame = means.merge(members, on="model").sort_values(["arm", "seed", "low"], ignore_index=True)
    return table
