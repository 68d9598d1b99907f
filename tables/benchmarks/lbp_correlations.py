"""Correlation of every metric with LongBench Pro over models: plain, at equal size, and within families."""

import pandas as pd

from boundpaper.store.frames import pick
from boundpaper.tables import Table
from boundpaper.typeset.wording import correlation_phrase
from tables._house import metric
from tables.benchmarks._correlations import (
    CORRELATION_NOTE,
    correlation_columns,
    correlation_rows,
    guard_footnote,
    measured_models_note,
)


def table(
    lbp_correlations: pd.DataFrame,
    lbp_correlations_extended: pd.DataFrame,
    correlation_contrasts: pd.DataFrame,
    lbp_correlations_measured: pd.DataFrame,
    measured_lbp_models: pd.DataFrame,
) -> Table:
    """Return one row per metric and group of models."""
    source_count, count = (int(tests["n"].max()) for tests in (lbp_correlations, lbp_correlations_extended))
    groups = {
        f"The {source_count} models that the study compares": lbp_correlations,
        f"All {count} captured models with a score": lbp_correlations_extended,
    }
    if measured_lbp_models["enters"].astype(bool).any():
        total = int(lbp_correlations_measured["n"].max())
        groups[f"These and the models that this project scored, {total} in all"] = lbp_correlations_measured
    rows = correlation_rows(groups, metric)
    comparison = f"ap_drop - ap_overall, n = {source_count}"
    difference = pick(correlation_contrasts, comparison=comparison, test="pearson_difference")
    return Table(
        rows=rows,
        columns=correlation_columns(),
        groups="group",
        landscape=True,
        marks=guard_footnote(),
        caption=(
            f"Correlation of every metric with LongBench Pro [@longbenchpro2026], over the {source_count} models of "
            f"Table 1 of the study [@shcherb2026] and over {count}. Unit: one model."
        ),
        short="Correlation of every metric with LongBench Pro",
        note=[
            CORRELATION_NOTE,
            (
                "The bias per window is the bias per token in another unit here, since all these models were captured "
                f"over one context length. The drop against plasticity overall, $n = {source_count}$: "
                f"{correlation_phrase(difference)} (difference of absolute correlations [@zou2007])."
            ),
            measured_models_note(measured_lbp_models),
        ],
    )
