"""Correlation of every metric with the RULER score at 128k tokens: five models, and four without the short one."""

from __future__ import annotations

import pandas as pd

from analysis.statistics.estimate import Estimate, frame
from analysis.studies._metrics import correlations
from artifacts.errors import DataError


def ruler_correlations(captured_models: pd.DataFrame) -> pd.DataFrame:
    """Correlations over all captured models with a RULER score; Holm over the metrics within each coefficient."""
    return frame(correlations(_scored(captured_models), "ruler_128k", "ruler_correlations"))


def ruler_correlations_full_context(captured_models: pd.DataFrame) -> pd.DataFrame:
    """The same without the models whose captured context is shorter than the scored length."""
    return frame(correlations(_full(_scored(captured_models)), "ruler_128k", "ruler_correlations_full_context"))


def ruler_correlation_signs(captured_models: pd.DataFrame) -> pd.DataFrame:
    """How far one model decides: each metric's r with and without the models of shorter context, side by side.

    `turns` says whether r changes its sign when they are left out.
    """
    scored = _scored(captured_models)
    samples = {"all": scored, "full": _full(scored)}
    rows = {name: correlations(models, "ruler_128k", name) for name, models in samples.items()}
    values = {name: _coefficients(tests) for name, tests in rows.items()}
    table = pd.DataFrame(
        [{"metric": metric, "r_all": r, "r_full": values["full"].get(metric)} for metric, r in values["all"].items()]
    )
    table["turns"] = table["r_all"] * table["r_full"] < 0
    table["note"] = ["" if pd.notna(r) else "r_full: equals that of the bias per token" for r in table["r_full"]]
    return table


def _coefficients(tests: list[Estimate]) -> dict[str, float]:
    return {row.comparison: row.estimate for row in tests if row.test == "pearson" and row.estimate is not None}


def _scored(captured_models: pd.DataFrame) -> pd.DataFrame:
    scored = captured_models[captured_models["ruler_128k"].notna()]
    if scored.empty:
        raise DataError("ruler_correlations: no captured model has a RULER score; see sources/published_ruler.csv")
    return scored.sort_values("ruler_128k", ascending=False, ignore_index=True)


def _full(scored: pd.DataFrame) -> pd.DataFrame:
    full: pd.DataFrame = scored[scored["captured_context"] == scored["captured_context"].max()]
    return full
