"""Variants of the correlation between plasticity drop and loss of score, and one joint test over them."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from boundpaper.statistics.correlations.coefficient import Method, relabelled, tie_tolerance
from boundpaper.statistics.locations.permutation import PermutationP, permutation_p
from boundpaper.statistics.sample import FloatArray, IntArray

END = "128k"
MODES = ("nonthinking", "thinking")
COEFFICIENTS: tuple[Method, ...] = ("pearson", "spearman", "kendall")


class Variant(NamedTuple):
    """A correlation of drop and loss over the first `n` models, for any relabelling; `tie` is the tolerance of ties."""

    coefficient: Callable[[IntArray], FloatArray]
    n: int
    tie: float


def source_models_first(matched_models: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the models with those of source 002 first, and the number of models of source 002."""
    models = matched_models.sort_values("in_source", ascending=False, kind="stable", ignore_index=True)
    return models, int(models["in_source"].astype(bool).sum())


def scores_by_length(lbp_lengths: pd.DataFrame) -> pd.DataFrame:
    """Return scores by mode and model, one column per length."""
    return lbp_lengths.pivot(index=["mode", "model"], columns="length", values="lbp")


def score_loss(
    scores: pd.DataFrame, models: pd.DataFrame, start: str, end: str, mode: str, unit: str = "share"
) -> FloatArray:
    """Return each model's loss of score from one length to another, in "points" or as a "share" of the first score."""
    first, last = (models["model"].map(scores[length].xs(mode)).to_numpy(dtype=float) for length in (start, end))
    loss: FloatArray = 1 - last / first if unit == "share" else first - last
    return loss


def variants(
    scores: pd.DataFrame, models: pd.DataFrame, source_count: int, starts: Sequence[str], unit: str = "share"
) -> list[Variant]:
    """Return a variant per starting length, mode, coefficient, and sample (a drop, its models); losses end at `END`."""
    samples = (("ap_drop", 1, source_count), ("ap_drop", 1, len(models)), ("total_drop", -1, source_count))
    correlations = []
    for start, mode, (metric, sign, n) in product(starts, MODES, samples):
        loss = score_loss(scores, models, start, END, mode, unit)[:n]
        drop = sign * models[metric].to_numpy(dtype=float)[:n]
        correlations += [
            Variant(relabelled(drop, loss, name), n, tie_tolerance(drop, loss, name)) for name in COEFFICIENTS
        ]
    return correlations


def joint_median(correlations: Sequence[Variant], count: int, source_count: int) -> tuple[float, PermutationP]:
    """Return the median coefficient over variants, and its test by exchanging the source models' drops."""

    def median(index: IntArray) -> FloatArray:
        coefficients = [variant.coefficient(index[:, : variant.n]) for variant in correlations]
        return np.asarray(np.median(coefficients, axis=0), dtype=np.float64)

    observed = float(median(np.arange(count)[None, :])[0])
    blocks = [block for block in (np.arange(source_count), np.arange(source_count, count)) if block.size]
    tie = max(variant.tie for variant in correlations)
    return observed, permutation_p(observed, median, blocks, tie=tie, cells_per_draw=count**2)
