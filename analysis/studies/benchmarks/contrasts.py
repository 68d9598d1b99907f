"""Test whether one metric predicts the score better than another, and whether the drop predicts it within families."""

from typing import Any

import pandas as pd

from boundpaper.statistics.correlations import correlation
from boundpaper.statistics.correlations.contrast import correlation_difference
from boundpaper.statistics.correlations.dependent import dependent_correlations
from boundpaper.statistics.estimate import Estimate, frame
from boundpaper.statistics.families import corrected

PAIRS = (("ap_drop", "ap_overall"), ("ap_drop", "ap_last_20"), ("ap_last_20", "ap_overall"))
CAVEAT = "some models were captured as base and scored as instruct checkpoints"


def correlation_contrasts(matched_models: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return |r(first, score)| - |r(second, score)| for the metrics that source 002 ranks, over models.

    Both coefficients are compared over the source's 7 models and over all 8 with a published score, with Holm over all
    tests. Williams' t repeats the test for Pearson's r, and does not count in the correction.
    """
    tests: list[Estimate] = []
    labels: dict[str, Any] = {"study": "correlation_contrasts", "unit": "model", "note": CAVEAT}
    for models in (matched_models[matched_models["in_source"]], matched_models):
        names = {pair: f"{pair[0]} - {pair[1]}, n = {len(models)}" for pair in PAIRS}
        for method in ("pearson", "spearman"):
            for (first, second), name in names.items():
                columns = (models["lbp"], models[first], models[second])
                tests.append(correlation_difference(*columns, comparison=name, method=method, **labels))
        for (first, second), name in names.items():
            tests.append(
                dependent_correlations(models["lbp"], models[first], models[second], comparison=name, **labels)
            )
    return frame(corrected(tests, test_families, "correlation_contrasts"))


def family_correlations(matched_models: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return the correlation of ap_drop with the score in each family with three or more scored members."""
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
    return frame(corrected(tests, test_families, "family_correlations"))
