"""Separate mean and spread of score differences along the context, at a fixed key distance and over all pairs."""

from typing import Any

import pandas as pd

from analysis.studies.pretrained._named import display_names
from boundpaper.errors import DataError

FEWEST_PAIRS = 100  # least number of pairs per head for a cell
RERUN = "python build.py heads CAPTURE"


def pretrained_competition(
    head_competition: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return the absolute mean score difference of two keys and its spread over queries, in first and last bin.

    There is one row per model and `distance` between the keys in tokens. It is the middle of a range of distances, or 0
    for all pairs, weighted by their number. `first_bin` is the first bin of queries in which every head has enough
    pairs, `last_bin` the last. `gap_change` and `spread_change` are last over first value, minus 1. Pretrained models
    come first, then the null model with random weights. There is no interval, since cells do not store the spread over
    heads. Raises DataError if no pretrained model is measured.
    """
    names = display_names(pretrained_models, subjects)
    if not head_competition["model"].isin(list(names)).any():
        raise DataError(f"head_competition has no pretrained model; run: {RERUN}")
    null_models = subjects[subjects["role"] == "null reference"]  # random weights
    names |= dict(zip(null_models["model"], null_models["label"], strict=True))
    rows: list[dict[str, Any]] = []
    for model, name in names.items():
        selected = head_competition[head_competition["model"] == model]
        selected = selected[selected["pairs"] >= FEWEST_PAIRS * selected["heads"]]
        if selected.empty:
            continue
        selected = selected.assign(distance=pd.to_numeric(selected["key_distance"]))
        pooled = (
            selected.assign(
                mean_gap=selected["mean_gap"] * selected["pairs"], spread=selected["spread"] * selected["pairs"]
            )
            .groupby("bin", as_index=False)[["mean_gap", "spread", "pairs"]]
            .sum()
        )
        pooled = pooled.assign(mean_gap=pooled["mean_gap"] / pooled["pairs"], spread=pooled["spread"] / pooled["pairs"])
        rows.append(_first_and_last_bin(model, name, 0.0, pooled))
        complete = selected[selected["heads"] == selected["heads"].max()]
        rows += [
            _first_and_last_bin(model, name, float(distance), cells)
            for distance, cells in complete.groupby("distance", sort=True)
            if cells["bin"].nunique() > 1
        ]
    return pd.DataFrame(rows)


def _first_and_last_bin(model: str, name: str, distance: float, cells: pd.DataFrame) -> dict[str, Any]:
    """Return one row from the first and the last bin of these cells."""
    bins = cells.sort_values("bin")
    first, last = bins.iloc[0], bins.iloc[-1]
    row: dict[str, Any] = {"model": model, "display_name": name, "distance": distance}
    row |= {"first_bin": int(first["bin"]), "last_bin": int(last["bin"])}
    for column, quantity in (("mean_gap", "gap"), ("spread", "spread")):
        row |= {f"{quantity}_first": float(first[column]), f"{quantity}_last": float(last[column])}
        row[f"{quantity}_change"] = float(last[column] / first[column] - 1)
    return row
