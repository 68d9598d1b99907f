"""Correlate every metric with the LongBench Pro score, with the checks that only seven models make necessary."""

import pandas as pd

from analysis.studies._metrics import correlations
from boundpaper.statistics.estimate import frame


def lbp_correlations(matched_models: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return correlations over the models that source 002 compares; Holm over metrics and coefficients."""
    source_models = matched_models[matched_models["in_source"].astype(bool)]
    return frame(correlations(source_models, "lbp", "lbp_correlations", test_families))


def lbp_correlations_extended(matched_models: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return correlations as in `lbp_correlations`, over all models with a published score, including Llama-3.1-8B."""
    return frame(correlations(matched_models, "lbp", "lbp_correlations_extended", test_families))
