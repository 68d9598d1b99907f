"""Analyse decile profiles: rises of plasticity against the trend, and distance from a monotone decline."""

import pandas as pd

from boundpaper.statistics.trend import draw_up, draw_up_interval, isotonic_distance, rises
from boundpaper.store.frames import wide

DECILES = [f"d{number}" for number in range(10)]

# tolerance for interval ends that touch in decimals but not in floating point
TOUCHING = 1e-9


def decile_profiles(reported_deciles: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return the ten deciles of every captured model, with recovery, draw-up, distance to a falling fit, and rises.

    `recovery` is mean(deciles 6, 7) - mean(deciles 4, 5), counted from 0; `draw_up` the largest rise from a decile to
    a later one, with the range that the rounding of the printed deciles leaves (`draw_up_low`, `draw_up_high`);
    `distance` the largest gap to the closest non-increasing profile. `shape` is "falls" if no rise is possible,
    "rises" if rounding cannot explain the rise, else "open"; `rise_shown` is true only for "rises". `rises` counts
    deciles above the previous one, `rises_sure` those with disjoint rounding intervals. `rounding` is one unit of the
    last digit printed.
    """
    cells = reported_deciles.assign(decile="d" + reported_deciles["decile"].astype(str))
    deciles, lows, highs = (wide(cells, metric="decile", value=end, by=["model"]) for end in ("value", "low", "high"))
    table = models[["model", "display_name", "family", "layers", "captured_context"]].merge(deciles, on="model")
    profiles = list(table[DECILES].to_numpy(dtype=float))
    low_ends, high_ends = (frame.set_index("model").loc[table["model"], DECILES] for frame in (lows, highs))
    bounds = list(zip(low_ends.to_numpy(dtype=float), high_ends.to_numpy(dtype=float), strict=True))
    ranges = [draw_up_interval(low, high) for low, high in bounds]
    table["recovery"] = [row[6:8].mean() - row[4:6].mean() for row in profiles]
    table["draw_up"] = [draw_up(row) for row in profiles]
    table["draw_up_low"] = [round(rise.low, 12) for rise in ranges]
    table["draw_up_high"] = [round(rise.high, 12) for rise in ranges]
    table["distance"] = [isotonic_distance(row)[0] for row in profiles]
    table["rises"] = [rises(row) for row in profiles]
    table["rises_sure"] = [int((low[1:] > high[:-1] + TOUCHING).sum()) for low, high in bounds]
    table["rounding"] = 10.0 ** -reported_deciles["decimals"].min()
    table["shape"] = [_shape_name(rise.low, rise.high) for rise in ranges]
    table["rise_shown"] = table["shape"] == "rises"
    table["first_20"] = [row[:2].mean() for row in profiles]
    table["last_20"] = [row[8:].mean() for row in profiles]
    table["drop"] = table["first_20"] - table["last_20"]
    return table


def _shape_name(low: float, high: float) -> str:
    if low > TOUCHING:
        return "rises"
    return "open" if high > TOUCHING else "falls"
