"""Compute Student's interval over texts from stored deviations, and the cost of an intervention in nats per token."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats


def half_interval(deviation: float, count: int) -> float:
    """Return half the width of Student's interval of a mean, from the standard deviation over `count` texts."""
    return float(stats.t.ppf(0.975, count - 1) * deviation / np.sqrt(count))


def cost(rows: pd.DataFrame, metric: str = "delta_nats") -> dict[str, Any] | None:
    """Return value, interval, layer and number of texts for the rows of one condition; None if they lack the metric.

    The standard deviation over texts is in the row `METRIC_sd`. If a value or its spread is missing, `note` says so.
    """
    mean, deviation = (rows[rows["metric"] == name] for name in (metric, f"{metric}_sd"))
    if len(mean) != 1:
        return None
    value, count, layer = (mean[name].iloc[0] for name in ("value", "n", "layer"))
    if pd.isna(value):
        return {"value": None, "n": 0, "note": str(mean["reason"].iloc[0])}
    if len(deviation) != 1 or pd.isna(deviation["value"].iloc[0]):
        return {"value": value, "layer": layer, "n": int(count), "note": "low, high: one text has no spread"}
    half = half_interval(float(deviation["value"].iloc[0]), int(count))
    return {"value": value, "low": value - half, "high": value + half, "layer": layer, "n": int(count), "note": ""}
