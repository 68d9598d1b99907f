"""Every metric against RULER at 128K tokens, with and without the model captured over a shorter context."""

import pandas as pd

from boundpaper.tables import Table
from boundpaper.typeset.wording import listed, whole
from tables._house import metric
from tables.benchmarks._correlations import (
    CORRELATION_NOTE,
    correlation_columns,
    correlation_rows,
    guard_footnote,
    measured_models_note,
)


def table(
    ruler_correlations: pd.DataFrame,
    ruler_correlations_full_context: pd.DataFrame,
    ruler_correlation_signs: pd.DataFrame,
    captured_models: pd.DataFrame,
    ruler_correlations_measured: pd.DataFrame,
    measured_ruler_models: pd.DataFrame,
) -> Table:
    """Return one row per metric and group of models."""
    longest = captured_models["captured_context"].max()
    scored = captured_models[captured_models["ruler_128k"].notna()]
    short_models = scored[scored["captured_context"] < longest]
    names = listed(list(short_models["display_name"]))
    groups = {
        f"All {len(scored)} captured models with a score": ruler_correlations,
        f"{len(scored) - len(short_models)} models, without {names}": ruler_correlations_full_context,
    }
    if measured_ruler_models["enters"].astype(bool).any():
        total = int(ruler_correlations_measured["n"].max())
        groups[f"All of them and the models that this project scored, {total} in all"] = ruler_correlations_measured
    rows = correlation_rows(groups, metric)
    turning = listed([metric(key) for key in ruler_correlation_signs.loc[ruler_correlation_signs["turns"], "metric"]])
    return Table(
        rows=rows,
        columns=correlation_columns(),
        groups="group",
        landscape=True,
        marks=guard_footnote(),
        caption=(
            f"Correlation of every metric with RULER at 128K tokens [@hsieh2024; @qwen2025], over {len(scored)} "
            f"captured models and without {names}, which was captured over "
            f"{whole(short_models['captured_context'].max())} tokens only. Unit: one model; metrics from Table 1, the "
            "all-models table and Table 9 of the study [@shcherb2026]."
        ),
        short="Correlation of every metric with RULER at 128K tokens",
        note=[
            CORRELATION_NOTE,
            f"Without {names}, Pearson's $r$ changes its sign for {turning}. Where all contexts are equal the bias per "
            "window is the bias per token in another unit and is left out.",
            measured_models_note(measured_ruler_models),
        ],
    )
