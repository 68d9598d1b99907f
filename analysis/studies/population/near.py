"""Compare between arms, by prompt length, how many keys within one training length of the question are found."""

from typing import Any

import pandas as pd

from analysis.studies.population._effects import FloatArray, corrected, effect_columns
from analysis.studies.population._outcomes import TRAINED

CONTRAST = ("C", "B")  # arms contrasted in the plan


def population_near(population_distances: pd.DataFrame) -> pd.DataFrame:
    """Return the share of near keys that are found, by base, arm and prompt length, over seeds; post hoc.

    Near keys are within one training length of the question. `compared` is an arm, or `C minus B` by seed, with p from
    exact sign flips and Holm's over the lengths of a base; `p_least` and `p_holm_least` are the smallest possible with
    this number of seeds. Intervals are Student's over seeds; all trained models are included.
    """
    near_keys = population_distances[population_distances["high"] <= TRAINED]
    counts = near_keys.groupby(["base", "arm", "multiple", "seed"])[["right", "n"]].sum()
    shares = counts["right"] / counts["n"]
    rows = []
    key: Any
    for key, values in shares.groupby(level=["base", "arm", "multiple"]):
        base, arm, multiple = key
        rows.append(_near_row(base, arm, multiple, values.to_numpy()))
    by_arm = shares.unstack("arm").reindex(columns=list(CONTRAST)).dropna()
    first, second = (by_arm[arm] for arm in CONTRAST)
    for key, gaps in (first - second).groupby(level=["base", "multiple"]):
        base, multiple = key
        rows.append(_near_row(base, " minus ".join(CONTRAST), multiple, gaps.to_numpy(), is_tested=True))
    table = corrected(pd.DataFrame(rows), "base")
    table["note"] = ["; ".join(_why_empty(row)) for _, row in table.iterrows()]
    return table.sort_values(["base", "compared", "multiple"], ignore_index=True)


def _near_row(base: int, compared: str, multiple: float, values: FloatArray, is_tested: bool = False) -> dict[str, Any]:
    effect = effect_columns(values)
    row: dict[str, Any] = {"base": base, "compared": compared, "multiple": multiple, "value": effect["difference"]}
    row |= {name: effect[name] for name in ("low", "high", "least", "most")} | {"seeds": len(values)}
    return row | {name: effect[name] if is_tested else None for name in ("p", "p_least")}


def _why_empty(row: pd.Series) -> list[str]:
    """Return which cells of a row are empty, and why."""
    reasons = ["low, high: one seed"] if pd.isna(row["low"]) else []
    return reasons + (["p, p_least, p_holm, p_holm_least: one arm is no test"] if pd.isna(row["p"]) else [])
