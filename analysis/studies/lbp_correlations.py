"""Correlation of every metric with the LongBench Pro score, with what a sceptic asks of seven models."""

from __future__ import annotations

import pandas as pd

from analysis.statistics import correlation, covariate
from analysis.statistics.estimate import Estimate, frame
from analysis.statistics.multiplicity import holm

METRICS = (
    "ap_drop",
    "ap_last_20",
    "ap_first_20",
    "ap_overall",
    "bias_strength",
    "bias_window",
    "r_k_a",
    "r_q_a",
    "plane_var",
)
CAVEAT = "some models were captured as base and scored as instruct checkpoints"


def lbp_correlations(matched_models: pd.DataFrame) -> pd.DataFrame:
    """Correlations over the 7 models that source 002 compares; Holm over the metrics within each coefficient."""
    return _correlations(matched_models[matched_models["in_source"]], "lbp_correlations")


def lbp_correlations_extended(matched_models: pd.DataFrame) -> pd.DataFrame:
    """The same over all models with a published score, Llama-3.1-8B included."""
    return _correlations(matched_models, "lbp_correlations_extended")


def _correlations(models: pd.DataFrame, study: str) -> pd.DataFrame:
    score = models["lbp"].to_numpy(dtype=float)
    tests: list[Estimate] = []
    for method in (correlation.pearson, correlation.spearman, correlation.kendall):
        family = [
            method(
                models[metric], score, study=study, comparison=metric, unit="model", note=CAVEAT, names=(metric, "lbp")
            )
            for metric in METRICS
        ]
        tests += holm(family, by=("study", "test"))
    for metric in METRICS:
        values = models[metric].to_numpy(dtype=float)
        about = {"study": study, "comparison": metric, "unit": "model", "note": CAVEAT}
        tests.append(correlation.leave_one_out(values, score, units=list(models["display_name"]), **about))
        size = models["log_parameters"].to_numpy(dtype=float)
        tests.append(covariate.partial(values, score, size, given_name="log parameters", **about))
        tests.append(covariate.within_family(values, score, list(models["family"]), **about))
    return frame(tests)
