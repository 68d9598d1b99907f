"""Correlate the drop of plasticity with the loss of score, as a share and in points, up to each end length."""

from typing import Any

import numpy as np
import pandas as pd

from boundpaper.errors import DataError
from boundpaper.statistics.correlations import correlation
from boundpaper.statistics.correlations.coefficient import Method, relabelled, tie_tolerance
from boundpaper.statistics.locations.permutation import permutation_p
from boundpaper.statistics.sample import FloatArray, IntArray

START = "8k"
ENDS = ("64k", "128k", "256k")
MODES = ("nonthinking", "thinking")
UNITS = ("share", "points")
COEFFICIENTS: tuple[Method, ...] = ("pearson", "spearman", "kendall")
JOINT = "128k"  # end length of the joint test


def decline_units(lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame) -> pd.DataFrame:
    """Return Pearson's r between plasticity drop and loss of score from 8k, by unit, end length, mode and models.

    The loss of a score s over length is 1 - s(end) / s(8k) as a `share`, and s(8k) - s(end) in `points`. `p` is exact,
    over relabellings of the models, and uncorrected. Rows with mode `both` and n of all models are the joint test: the
    median over modes, sets of models, drops and coefficients from 8k to 128k, with p from permuting the source models'
    drops in all variants at once. Raises DataError if a length has no score.
    """
    models = matched_models.sort_values("in_source", ascending=False, kind="stable", ignore_index=True)
    in_source = int(models["in_source"].astype(bool).sum())
    scores = lbp_lengths.pivot(index=["mode", "model"], columns="length", values="lbp")
    if absent := {START, *ENDS} - set(scores.columns):
        raise DataError(f"lbp_lengths has no scores at {', '.join(sorted(absent))}")
    rows: list[dict[str, Any]] = []
    for unit in UNITS:
        for end in ENDS:
            for mode in MODES:
                loss = _score_loss(scores, models, unit, end, mode)
                for n in sorted({in_source, len(models)}):
                    outcome = correlation.pearson(
                        models["ap_drop"][:n],
                        pd.Series(loss[:n]),
                        study="decline_units",
                        comparison=f"{unit}, {mode}, {end}, n = {n}",
                        unit="model",
                        names=("drop", "loss"),
                    )
                    variant = {"unit": unit, "end": end, "mode": mode, "n": n}
                    rows.append({**variant, "estimate": outcome.estimate, "p": outcome.p_value})
        median, p = _joint_median(scores, models, unit, in_source)
        rows.append({"unit": unit, "end": JOINT, "mode": "both", "n": len(models), "estimate": median, "p": p})
    return pd.DataFrame(rows)


def _score_loss(scores: pd.DataFrame, models: pd.DataFrame, unit: str, end: str, mode: str) -> FloatArray:
    """Return the loss of each model from 8k to an end length."""
    start, stop = (models["model"].map(scores[length].xs(mode)).to_numpy(dtype=float) for length in (START, end))
    loss: FloatArray = 1 - stop / start if unit == "share" else start - stop
    return loss


def _joint_median(scores: pd.DataFrame, models: pd.DataFrame, unit: str, in_source: int) -> tuple[float, float]:
    """Return the median coefficient over all variants from 8k to 128k, and its exact p."""
    statistics, ties = [], []
    for mode in MODES:
        loss = _score_loss(scores, models, unit, JOINT, mode)
        for metric, n in (("ap_drop", in_source), ("ap_drop", len(models)), ("total_drop", in_source)):
            drop = models[metric].to_numpy(dtype=float)[:n] * (-1 if metric == "total_drop" else 1)
            for method in COEFFICIENTS:
                statistics.append((relabelled(drop, loss[:n], method), n))
                ties.append(tie_tolerance(drop, loss[:n], method))

    def median(index: IntArray) -> FloatArray:
        return np.asarray(np.median([statistic(index[:, :n]) for statistic, n in statistics], axis=0), dtype=np.float64)

    observed = float(median(np.arange(len(models))[None, :])[0])
    blocks = [np.arange(in_source), np.arange(in_source, len(models))]
    outcome = permutation_p(
        observed, median, [block for block in blocks if block.size], tie=max(ties), cells_per_draw=len(models) ** 2
    )
    return observed, float(outcome.p_value)
