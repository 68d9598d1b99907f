"""Decile profiles: how far plasticity rises against the trend, and how far it is from any monotone decline."""

from __future__ import annotations

import pandas as pd

from analysis.statistics.trend import draw_up, isotonic_distance, rises
from artifacts import wide


def decile_profiles(reported_deciles: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """The ten deciles of every captured model with recovery, draw-up, distance to a falling fit, and rises.

    `recovery` is mean(deciles 6, 7) - mean(deciles 4, 5), counted from 0; `draw_up` the largest rise from a decile to
    a later one; `distance` the largest gap to the closest non-increasing profile. `rise_shown` says whether some rise
    exceeds what the rounding of two printed deciles can make (`rounding`, one unit of the last digit).
    """
    deciles = wide(
        reported_deciles.assign(decile="d" + reported_deciles["decile"].astype(str)), metric="decile", by=["model"]
    )
    names = [f"d{number}" for number in range(10)]
    table = models[["model", "display_name", "family", "layers", "captured_context"]].merge(deciles, on="model")
    step = 10.0 ** -reported_deciles["decimals"].min()
    rows = [table.loc[index, names].to_numpy(dtype=float) for index in table.index]
    table["recovery"] = [row[6:8].mean() - row[4:6].mean() for row in rows]
    table["draw_up"] = [draw_up(row) for row in rows]
    table["distance"] = [isotonic_distance(row)[0] for row in rows]
    table["rises"] = [rises(row) for row in rows]
    table["rounding"] = step
    table["rise_shown"] = table["draw_up"] > step * (1 + 1e-9)
    table["first_20"] = [row[:2].mean() for row in rows]
    table["last_20"] = [row[8:].mean() for row in rows]
    table["drop"] = table["first_20"] - table["last_20"]
    return table
