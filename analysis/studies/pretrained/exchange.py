"""Compare queries early and late in the context of pretrained models when two keys exchange their positions."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.studies.pretrained._named import display_names
from analysis.studies.pretrained._pairs import HEAD, by_quarter
from analysis.studies.pretrained.one_position import KEY_HEAD
from analysis.studies.pretrained.other_texts import CODE
from boundpaper.statistics.locations.student import student_interval

QUANTITIES = ("plasticity", "sway", "position_part", "content_part", "gap", "spread", "linear_share")
ALIKE, COST = "all", "cost"


def pretrained_exchange_levels(
    pretrained_exchange: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame
) -> pd.DataFrame:
    """Return each quantity by the distance between two keys, early and late in the context of pretrained models.

    One row per capture, range of distances, quantity and weights of heads (`all`: equal; `cost`: what removing a head
    costs keys, at least 0; `most` is the largest share of one head). `first` is the mean over heads in the first
    quarter of queries that has such keys, `last` in the last one; `change` is last minus first, with equal weights the
    mean over key heads, with Student's interval. Ranges that only the last quarter has are left out. `role` is that of
    the model in `subjects`: pretrained, or made of one.
    """
    rows = []
    told_as = subjects.set_index("model")
    names = told_as["label"].to_dict() | display_names(pretrained_models, subjects)
    for (model, low, high), cells in pretrained_exchange.groupby(["model", "apart_low", "apart_high"]):
        plain = str(model).removesuffix(CODE)
        facts: dict[str, Any] = {"model": model, "display_name": names[plain], "role": told_as.loc[plain, "role"]}
        facts |= {"texts": "code" if str(model).endswith(CODE) else "prose", "apart_low": low, "apart_high": high}
        for quantity in QUANTITIES:
            places = by_quarter(cells, quantity)
            if places.shape[1] < 2:
                continue
            early, late = places.iloc[:, 0], places.iloc[:, -1]
            units = (late - early).groupby(level=KEY_HEAD).mean().to_numpy(dtype=float)
            interval = student_interval(units)
            for weights, some in _weights(cells, places).items():
                first, last = (float(np.average(values, weights=some)) for values in (early, late))
                row: dict[str, Any] = {"quantity": quantity, "weights": weights, "first_low": places.columns[0]}
                change, span = (float(units.mean()), interval) if weights == ALIKE else (last - first, None)
                row |= {"first": first, "last": last, "change": change}
                row |= {"low": span and span[0], "high": span and span[1], "most": float(some.max() / some.sum())}
                reason = "equal weights only" if weights == COST else "one key head, or several that agree exactly"
                row |= {"key_heads": len(units), "heads": len(places), "note": "" if span else f"low, high: {reason}"}
                rows.append(facts | row)
    return pd.DataFrame(rows)


def _weights(cells: pd.DataFrame, places: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Return the weights of the heads of `places`: equal, and by cost."""
    cost = cells.groupby(HEAD)[COST].first().reindex(places.index).to_numpy(dtype=np.float64)
    return {ALIKE: np.ones(len(places)), COST: np.maximum(cost, 0.0)}
