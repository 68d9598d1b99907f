"""Correlate the drop of plasticity with the loss of score: all variants in one joint test, and means of families."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from boundpaper.statistics.correlations import correlation
from boundpaper.statistics.correlations.coefficient import Method, relabelled, tie_tolerance
from boundpaper.statistics.estimate import Estimate, frame, join_notes, no
from boundpaper.statistics.families import corrected
from boundpaper.statistics.locations.permutation import permutation_p
from boundpaper.statistics.sample import FloatArray, IntArray

END = "128k"
STARTS = ("8k", "16k", "32k")
MODES = ("nonthinking", "thinking")
COEFFICIENTS: tuple[Method, ...] = ("pearson", "spearman", "kendall")
STUDY = "decline_joint"


@dataclass(frozen=True)
class _Variant:
    """One correlation of drop and loss: the length where the loss starts, the statistic, and its tolerance for ties."""

    start: str
    statistic: Callable[[IntArray], FloatArray]
    tie: float


def decline_joint(lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return a joint test over all variants of drop and loss, and correlations with families as units.

    `median_coefficient` is the median over variants, from 8k alone and from all starting lengths. Its p is exact: the
    models of source 002 exchange their drops in all variants at once, which accounts for the dependence of variants
    (Simonsohn, Simmons & Nelson 2020); the additional model keeps its drop. `pearson` and `spearman` correlate means
    of model families, which are too few for any p below 0.05.
    """
    models, variants = _variants(lbp_lengths, matched_models)
    in_source = int(models["in_source"].astype(bool).sum())
    blocks = [np.arange(in_source), np.arange(in_source, len(models))]
    tests = []
    from_8k = [variant for variant in variants if variant.start == "8k"]
    for name, subset in (("from 8k", from_8k), ("from every start", variants)):
        median = _median_statistic(subset)
        observed = float(median(np.arange(len(models))[None, :])[0])
        outcome = permutation_p(
            observed,
            median,
            [block for block in blocks if block.size],
            tie=max(variant.tie for variant in subset),
            cells_per_draw=len(models) ** 2,
        )
        tests.append(
            Estimate(
                study=STUDY,
                comparison=f"drop and loss, variants {name}",
                test="median_coefficient",
                unit="model",
                n=len(models),
                estimate=observed,
                p_value=outcome.p_value,
                note=join_notes(
                    f"{len(subset)} variants",
                    f"{outcome.note} of the {in_source} models of the source, in all variants at once",
                    no("interval", "statistic", "df", "effect", because="a median of dependent coefficients"),
                ),
            )
        )
    scores = _scores_by_length(lbp_lengths)
    for mode in MODES:
        loss = 1 - scores[END] / scores["8k"]
        rows = models.assign(loss=models["model"].map(loss.xs(mode)))
        means = rows.groupby("family")[["ap_drop", "loss"]].mean()
        for method in (correlation.pearson, correlation.spearman):
            tests.append(
                method(
                    means["ap_drop"],
                    means["loss"],
                    study=STUDY,
                    comparison=f"drop and loss from 8k, means of families, {mode}",
                    unit="family",
                    names=("drop", "loss"),
                )
            )
    return frame(corrected(tests, test_families, STUDY))


def _scores_by_length(lbp_lengths: pd.DataFrame) -> pd.DataFrame:
    return lbp_lengths.pivot(index=["mode", "model"], columns="length", values="lbp")


def _variants(lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame) -> tuple[pd.DataFrame, list[_Variant]]:
    """Return the models, those of the source first, and the variants as functions of the models' relabelings."""
    models = matched_models.sort_values("in_source", ascending=False, kind="stable", ignore_index=True)
    in_source = models["in_source"].astype(bool).to_numpy()
    scores = _scores_by_length(lbp_lengths)
    drops = {"ap_drop": models["ap_drop"], "total_drop": -models["total_drop"]}
    samples = [("ap_drop", in_source), ("ap_drop", np.ones(len(models), dtype=bool)), ("total_drop", in_source)]
    variants = []
    for start, mode, (metric, sample), method in product(STARTS, MODES, samples, COEFFICIENTS):
        loss = models["model"].map((1 - scores[END] / scores[start]).xs(mode)).to_numpy(dtype=float)
        drop = drops[metric].to_numpy(dtype=float)
        n = int(sample.sum())
        coefficient = relabelled(drop[:n], loss[:n], method)

        def statistic(
            index: IntArray, coefficient: Callable[[IntArray], FloatArray] = coefficient, n: int = n
        ) -> FloatArray:
            return coefficient(index[:, :n])

        variants.append(_Variant(start, statistic, tie_tolerance(drop[:n], loss[:n], method)))
    return models, variants


def _median_statistic(variants: list[_Variant]) -> Callable[[IntArray], FloatArray]:
    def statistic(index: IntArray) -> FloatArray:
        return np.asarray(np.median([variant.statistic(index) for variant in variants], axis=0), dtype=np.float64)

    return statistic
