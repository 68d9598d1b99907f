"""Compute the share of keys found, by arm of the population, distance and prompt length, over seeds; post hoc."""

from typing import Any

import pandas as pd

from analysis.studies.population._effects import seed_summary


def population_profile(population_distances: pd.DataFrame) -> pd.DataFrame:
    """Return the share of keys found, by base, arm, prompt length and distance: mean, interval, extremes over seeds.

    All trained models are included. `low` (included) and `high` (excluded) are words from the key to its question.
    """
    rows: list[dict[str, Any]] = []
    keys = ["base", "arm", "multiple", "low", "high"]
    for key, group in population_distances.sort_values("seed", kind="stable").groupby(keys):
        rows.append({**dict(zip(keys, key, strict=True)), **seed_summary(group["share"].to_numpy(dtype=float))})
    columns = [*keys, "value", "ci_low", "ci_high", "least", "most", "seeds", "note"]
    return pd.DataFrame(rows, columns=columns)
