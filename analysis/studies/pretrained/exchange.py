"""Compare queries early and late in the context of pretrained models when two keys exchange their positions."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.studies.pretrained._named import display_names
from analysis.studies.pretrained._pairs import HEAD_KEY, by_quarter
from analysis.studies.pretrained.one_position import KEY_HEAD
from analysis.studies.pretrained.other_texts import CODE
from boundpaper.statistics.locations.student import student_interval

QUANTITIES = ("plasticity", "sway", "position_part", "content_part", "gap", "spread", "linear_share")
ALIKE, COST = "all", "cost"


def pretrained_exchange_levels(
    pretrained_exchange: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return each quantity by the distance between two keys, early and late in the context of pretrained models.

    There is one row per capture, range of distances, quantity and `weights` of heads: `all` weights heads equally,
    `cost` by the increase of the loss on keys without the head, at least 0. `most` is the largest share of one head in
    the weights. `first` is the mean over heads in the first quarter of queries that has such keys, `last` in the last
    quarter. `change` is last minus first; with equal weights it is a mean over key heads, with Student's interval.
    Ranges that only the last quarter has are left out. `role` is the model's role in `subjects`.
    """
    rows = []
    subject_rows = subjects.set_index("model")
    names = subject_rows["label"].to_dict() | display_names(pretrained_models, subjects)
    for (model, low, high), cells in pretrained_exchange.groupby(["model", "apart_low", "apart_high"]):
        subject = str(model).removesuffix(CODE)
        role = subject_rows.loc[subject, "role"]
        facts: dict[str, Any] = {"model": model, "display_name": names[subject], "role": role}
        facts |= {"texts": "code" if str(model).endswith(CODE) else "prose", "apart_low": low, "apart_high": high}
        for quantity in QUANTITIES:
            quarters = by_quarter(cells, quantity)
            if quarters.shape[1] < 2:
                continue
            first_values, last_values = quarters.iloc[:, 0], quarters.iloc[:, -1]
            units = (last_values - first_values).groupby(level=KEY_HEAD).mean().to_numpy(dtype=float)
            interval = student_interval(units)
            for weights, shares in _weights(cells, quarters).items():
                first, last = (float(np.average(values, weights=shares)) for values in (first_values, last_values))
                row: dict[str, Any] = {"quantity": quantity, "weights": weights, "first_low": quarters.columns[0]}
                change, ends = (float(units.mean()), interval) if weights == ALIKE else (last - first, None)
                row |= {"first": first, "last": last, "change": change}
                row |= {"low": ends and ends[0], "high": ends and ends[1], "most": float(shares.max() / shares.sum())}
                reason = "equal weights only" if weights == COST else "one key head, or several that agree exactly"
                row |= {"key_heads": len(units), "heads": len(quarters), "note": "" if ends else f"low, high: {reason}"}
                rows.append(facts | row)
    return pd.DataFrame(rows)


def _weights(cells: pd.DataFrame, quarters: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Return the weights of the heads of `quarters`: equal, and by cost."""
    cost = cells.groupby(HEAD_KEY)[COST].first().reindex(quarters.index).to_numpy(dtype=np.float64)
    return {ALIKE: np.ones(len(quarters)), COST: np.maximum(cost, 0.0)}
