"""Correlate every metric with the RULER score at 128k tokens, with and without models captured at less context."""

import pandas as pd

from analysis.studies._metrics import compared_metrics, correlations
from boundpaper.errors import DataError
from boundpaper.statistics.correlations.coefficient import coefficient
from boundpaper.statistics.estimate import frame


def ruler_correlations(captured_models: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return correlations over all captured models with a RULER score; Holm over metrics and coefficients."""
    return frame(correlations(_scored_models(captured_models), "ruler_128k", "ruler_correlations", test_families))


def ruler_correlations_full_context(captured_models: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return correlations as in `ruler_correlations`, for models whose captured context covers the scored length."""
    models = _full_context_models(_scored_models(captured_models))
    return frame(correlations(models, "ruler_128k", "ruler_correlations_full_context", test_families))


def ruler_correlation_signs(captured_models: pd.DataFrame) -> pd.DataFrame:
    """Return each metric's r with and without the models of shorter context.

    `turns` says whether r changes its sign without these models.
    """
    scored = _scored_models(captured_models)
    samples = {"all": scored, "full": _full_context_models(scored)}
    by_sample = {name: _coefficients(models) for name, models in samples.items()}
    table = pd.DataFrame(
        [
            {"metric": metric, "r_all": r, "r_full": by_sample["full"].get(metric)}
            for metric, r in by_sample["all"].items()
        ]
    )
    table["turns"] = table["r_all"] * table["r_full"] < 0
    table["note"] = ["" if pd.notna(r) else "r_full: equals that of the bias per token" for r in table["r_full"]]
    return table


def _coefficients(models: pd.DataFrame) -> dict[str, float]:
    """Return Pearson's r of every metric with the score, where it is defined."""
    coefficients = {}
    for name in compared_metrics(models):
        rows = models[models[name].notna()]
        r = coefficient(rows[name].to_numpy(dtype=float), rows["ruler_128k"].to_numpy(dtype=float))
        if r is not None:
            coefficients[name] = r
    return coefficients


def _scored_models(captured_models: pd.DataFrame) -> pd.DataFrame:
    scored = captured_models[captured_models["ruler_128k"].notna()]
    if scored.empty:
        raise DataError("ruler_correlations: no captured model has a RULER score; see sources/published_ruler.csv")
    return scored.sort_values("ruler_128k", ascending=False, ignore_index=True)


def _full_context_models(scored: pd.DataFrame) -> pd.DataFrame:
    models: pd.DataFrame = scored[scored["captured_context"] == scored["captured_context"].max()]
    return models
