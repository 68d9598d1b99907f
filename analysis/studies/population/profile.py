"""Compute the share of keys that arms of the population find by distance and prompt length, over seeds; post hoc."""

from typing import Any

import pandas as pd

from analysis.studies.population._effects import seed_interval


def population_profile(population_distances: pd.DataFrame) -> pd.DataFrame:
    """Return the share of keys found by base, arm, prompt length and distance: mean, interval, extremes over seeds.

    All trained models are included. `low` (included) and `high` (excluded) are words from the key to its question.
    """
    rows: list[dict[str, Any]] = []
    keys = ["base", "arm", "multiple", "low", "high"]
    for key, group in population_distances.sort_values("seed", kind="stable").groupby(keys):
        seeds = group["share"].to_numpy(dtype=float)
        interval = seed_interval(seeds)
        row = dict(zip(keys, key, strict=True)) | {"value": float(seeds.mean())}
        row |= {"ci_low": interval[0], "ci_high": interval[1], "least": float(seeds.min()), "most": float(seeds.max())}
        rows.append({**row, "seeds": len(seeds), "note": "" if interval[0] is not None else "one seed has no interval"})
    columns = [*keys, "value", "ci_low", "ci_high", "least", "most", "seeds", "note"]
    return pd.DataFrame(rows, columns=columns)
