"""Show the mean and the spread of score differences along the context, at a fixed key distance and over all pairs."""

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

    There is one row per model and `distance` between the keys, which is the middle of a range in tokens, or 0 for the
    mean over all pairs. `first_bin` is the first bin of queries in which every head has enough pairs, `last_bin` the
    last. `gap_change` and `spread_change` are last over first value, minus 1. Pretrained models come first, then the
    null model with random weights. There is no interval, since cells do not store the spread over heads. Raises
    DataError if no pretrained model is measured.
    """
    names = display_names(pretrained_models, subjects)
    if not head_competition["model"].isin(list(names)).any():
        raise DataError(f"head_competition has no pretrained model; run: {RERUN}")
    null_models = subjects[subjects["role"] == "null reference"]  # random weights
    names |= dict(zip(null_models["model"], null_models["label"], strict=True))
    rows: list[dict[str, Any]] = []
    for model, name in names.items():
        model_cells = head_competition[head_competition["model"] == model]
        model_cells = model_cells[model_cells["pairs"] >= FEWEST_PAIRS * model_cells["heads"]]
        if model_cells.empty:
            continue
        model_cells = model_cells.assign(distance=pd.to_numeric(model_cells["key_distance"]))
        averaged = ("mean_gap", "spread")
        weighted = model_cells.assign(**{column: model_cells[column] * model_cells["pairs"] for column in averaged})
        sums = weighted.groupby("bin", as_index=False)[[*averaged, "pairs"]].sum()
        pooled = sums.assign(**{column: sums[column] / sums["pairs"] for column in averaged})
        rows.append(_first_and_last_bin(model, name, 0.0, pooled))
        complete_cells = model_cells[model_cells["heads"] == model_cells["heads"].max()]
        rows += [
            _first_and_last_bin(model, name, float(distance), cells)
            for distance, cells in complete_cells.groupby("distance", sort=True)
            if cells["bin"].nunique() > 1
        ]
    return pd.DataFrame(rows)


def _first_and_last_bin(model: str, name: str, distance: float, cells: pd.DataFrame) -> dict[str, Any]:
    """Return a row that compares the first with the last bin of `cells`."""
    bins = cells.sort_values("bin")
    first, last = bins.iloc[0], bins.iloc[-1]
    row: dict[str, Any] = {"model": model, "display_name": name, "distance": distance}
    row |= {"first_bin": int(first["bin"]), "last_bin": int(last["bin"])}
    for column, quantity in (("mean_gap", "gap"), ("spread", "spread")):
        row |= {f"{quantity}_first": float(first[column]), f"{quantity}_last": float(last[column])}
        row[f"{quantity}_change"] = float(last[column] / first[column] - 1)
    return row
