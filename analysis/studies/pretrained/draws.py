"""What drawing some of a model's heads adds to its mean: known exactly where every head was captured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.statistics.bootstrap import percentile_interval, resamples
from analysis.studies.pretrained._named import display_names
from artifacts.errors import DataError

METRICS = ("ap_overall", "ap_first_20", "ap_last_20", "ap_drop")
DRAWN = (10, 30, 100)  # heads
TWIN = "llama3.1-8b"  # one of the two captures of one network that the source has
DRAWS = 2000


def pretrained_draws(
    head_metrics: pd.DataFrame,
    pretrained_models: pd.DataFrame,
    subjects: pd.DataFrame,
    capture_heads: pd.DataFrame,
    capture_noise: pd.DataFrame,
) -> pd.DataFrame:
    """Standard deviation of a mean over heads that are drawn, one row a model, metric and number of heads.

    Of N heads with the standard deviation S (divisor N - 1), k drawn without replacement have a mean with the standard
    deviation S sqrt((1 - k / N) / k), whatever their distribution (Cochran 1977, theorem 2.2). Rows `own` take N from
    the model itself; the row `source` takes S from it, k and N from the source's captures of one network, made twice.
    `twice_sd` is that of the difference of two independent draws, beside `twin_difference`, by which those two captures
    differ. Intervals resample key heads, since heads that share one are alike. A model of which not every head of the
    captured layers is there (`sampled` of its capture) has the spread of those that are.

    Raises
    ------
    DataError
        When no pretrained model is measured, or the source's captures are not among those described.
    """
    twin = capture_heads[capture_heads["model"] == TWIN]
    if len(twin) != 1:
        raise DataError(f"capture_heads has {len(twin)} rows of {TWIN}, whose heads the draws are compared with")
    theirs = (int(twin["sampled"].iloc[0]), int(twin["heads"].iloc[0]))
    reported: Any = capture_noise.drop_duplicates("metric").set_index("metric")["twin_difference"]
    rows: list[dict[str, Any]] = []
    for model, name in display_names(pretrained_models, subjects).items():
        mine = head_metrics[head_metrics["model"] == model]
        for metric in METRICS:
            part = mine.dropna(subset=[metric])
            if len(part) < 2:
                continue
            groups = [np.asarray(each[metric], dtype=float) for _, each in part.groupby(["layer", "key_head"])]
            spread, ends = _deviation(groups)
            common = {"model": model, "display_name": name, "metric": metric, "key_heads": len(groups)}
            cases = [("own", k, len(part)) for k in DRAWN if k < len(part)] + [("source", *theirs)]
            for of, k, heads in cases:
                share = float(np.sqrt((1 - k / heads) / k))
                twice = float(np.sqrt(2)) * share
                difference = abs(float(reported[metric])) if of == "source" else None
                rows.append(
                    {
                        **common,
                        **{"of": of, "drawn": k, "heads": heads, "spread": spread, "draw_sd": share * spread},
                        **{"twice_sd": twice * spread, "twice_low": twice * ends[0], "twice_high": twice * ends[1]},
                        "twin_difference": difference,
                        "note": "" if of == "source" else "twin_difference: of the source's captures only",
                    }
                )
    if not rows:
        raise DataError("head_metrics has no pretrained model; run: python build.py heads CAPTURE --name MODEL")
    keys = ["model", "display_name", "metric", "of", "drawn", "heads", "key_heads"]
    return pd.DataFrame(rows)[
        [*keys, "spread", "draw_sd", "twice_sd", "twice_low", "twice_high", "twin_difference", "note"]
    ]


def _deviation(groups: list[NDArray[np.float64]]) -> tuple[float, tuple[float, float]]:
    """Standard deviation over heads, and its interval when key heads are drawn anew."""
    counts = np.array([len(each) for each in groups], dtype=float)
    sums = np.array([each.sum() for each in groups])
    squares = np.array([np.square(each).sum() for each in groups])
    spreads = []
    for index in resamples(len(groups), DRAWS):
        n, total, square = (each[index].sum(axis=-1) for each in (counts, sums, squares))
        spreads.append(np.sqrt(np.maximum(square - total**2 / n, 0.0) / (n - 1)))
    return float(np.concatenate(groups).std(ddof=1)), percentile_interval(np.concatenate(spreads))
