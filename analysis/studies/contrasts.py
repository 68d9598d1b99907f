"""Is one metric a better guide to the score than another, within families, and length by length?"""

from __future__ import annotations

import pandas as pd

from analysis.statistics import correlation
from analysis.statistics.contrast import correlation_difference
from analysis.statistics.estimate import Estimate, frame
from analysis.statistics.multiplicity import holm

PAIRS = (("ap_drop", "ap_overall"), ("ap_drop", "ap_last_20"), ("ap_last_20", "ap_overall"))
CAVEAT = "some models were captured as base and scored as instruct checkpoints"


def correlation_contrasts(matched_models: pd.DataFrame) -> pd.DataFrame:
    """Difference |r(first, score)| - |r(second, score)| of the metrics that source 002 ranks, by bootstrap over models.

    Over the 7 models of the source and over all 8 with a published score; Holm within each coefficient and set.
    """
    tests: list[Estimate] = []
    for models in (matched_models[matched_models["in_source"]], matched_models):
        for method in ("pearson", "spearman"):
            family = [
                correlation_difference(
                    models["lbp"],
                    models[first],
                    models[second],
                    study="correlation_contrasts",
                    comparison=f"{first} - {second}, n = {len(models)}",
                    unit="model",
                    note=CAVEAT,
                    method=method,
                )
                for first, second in PAIRS
            ]
            tests += holm(family, by=("study", "test"))
    return frame(tests)


def family_correlations(matched_models: pd.DataFrame) -> pd.DataFrame:
    """Correlation of ap_drop with the score inside each family that has at least three scored members of source 002."""
    tests: list[Estimate] = []
    source = matched_models[matched_models["in_source"]]
    for family, rows in source.groupby("family", sort=False):
        if len(rows) >= 3:
            for method in (correlation.pearson, correlation.spearman):
                tests.append(
                    method(
                        rows["ap_drop"],
                        rows["lbp"],
                        study="family_correlations",
                        comparison=str(family),
                        unit="model",
                        note=CAVEAT,
                        names=("ap_drop", "lbp"),
                    )
                )
    return frame(tests)


def length_orders(lbp_lengths: pd.DataFrame) -> pd.DataFrame:
    """Hypothesis H3, its first part: does the order of the models by plasticity at a length match that by score?

    Spearman over the models with length bins, at each shared length and in both prompt modes; Holm over all of them.
    """
    shared = lbp_lengths[lbp_lengths["plasticity"].notna()]
    tests = [
        correlation.spearman(
            rows["plasticity"],
            rows["lbp"],
            study="length_orders",
            comparison=f"{length}, {mode}",
            unit="model",
            note=CAVEAT,
            names=("plasticity", "lbp"),
        )
        for (mode, length), rows in shared.groupby(["mode", "length"], sort=False)
    ]
    return frame(holm(tests, by=("study",)))
