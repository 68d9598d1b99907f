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
    """Return |r(first, score)| - |r(second, score)| for pairs of metrics that source 002 ranks, over models.

    Both coefficients are compared over the source's 7 models and over all 8 with a published score, with Holm over all
    tests. Williams' t repeats the test for Pearson's r, and does not count in the correction.
    """
    tests: list[Estimate] = []
    labels: dict[str, Any] = {"study": "correlation_contrasts", "unit": "model", "note": CAVEAT}
    for models in (matched_models[matched_models["in_source"]], matched_models):
        columns_by_name = {
            f"{first} - {second}, n = {len(models)}": (models["lbp"], models[first], models[second])
            for first, second in PAIRS
        }
        for method in ("pearson", "spearman"):
            for name, columns in columns_by_name.items():
                tests.append(correlation_difference(*columns, comparison=name, method=method, **labels))
        for name, columns in columns_by_name.items():
            tests.append(dependent_correlations(*columns, comparison=name, **labels))
    return frame(corrected(tests, test_families, "correlation_contrasts"))


def family_correlations(matched_models: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return the correlation of ap_drop with the score in each family with three or more scored members."""
    source = matched_models[matched_models["in_source"]]
    labels: dict[str, Any] = {"study": "family_correlations", "unit": "model", "note": CAVEAT}
    tests = [
        method(rows["ap_drop"], rows["lbp"], comparison=str(family), names=("ap_drop", "lbp"), **labels)
        for family, rows in source.groupby("family", sort=False)
        if len(rows) >= 3
        for method in (correlation.pearson, correlation.spearman)
    ]
    return frame(corrected(tests, test_families, "family_correlations"))
