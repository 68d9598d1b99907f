"""Correlation of every metric with the LongBench Pro score, with what a sceptic asks of seven models."""

from __future__ import annotations

import pandas as pd

from analysis.statistics.contrast import correlation_difference
from analysis.statistics.estimate import frame
from analysis.statistics.multiplicity import holm
from analysis.studies._metrics import caveats, correlations


def lbp_correlations(matched_models: pd.DataFrame) -> pd.DataFrame:
    """Correlations over the models that source 002 compares; Holm over the metrics within each coefficient."""
    return frame(correlations(_compared(matched_models), "lbp", "lbp_correlations"))


def lbp_correlations_extended(matched_models: pd.DataFrame) -> pd.DataFrame:
    """The same over all models with a published score, Llama-3.1-8B included."""
    return frame(correlations(matched_models, "lbp", "lbp_correlations_extended"))


def lbp_correlation_differences(matched_models: pd.DataFrame) -> pd.DataFrame:
    """Whether ap_drop and ap_last_20 go with the score more closely than aggregate plasticity does.

    |r(metric, score)| - |r(ap_overall, score)| over the models of source 002 and over all, bootstrapped over models.
    """
    tests = []
    for models in (_compared(matched_models), matched_models):
        for metric in ("ap_drop", "ap_last_20"):
            tests.append(
                correlation_difference(
                    models["lbp"],
                    models[metric],
                    models["ap_overall"],
                    study="lbp_correlation_differences",
                    comparison=f"{metric} against ap_overall, n = {len(models)}",
                    unit="model",
                    note=caveats(models, "lbp"),
                )
            )
    return frame(holm(tests))


def _compared(matched_models: pd.DataFrame) -> pd.DataFrame:
    return matched_models[matched_models["in_source"].astype(bool)]
