"""Every metric against LongBench Pro, with what is left of it when a model, the size or the family is held fixed."""

import pandas as pd

from artifacts.wording import metric, stated, the_test
from tables import Table
from tables._correlations import CORRELATION_NOTE, correlation_columns, correlation_rows, guard_footnote


def table(
    lbp_correlations: pd.DataFrame, lbp_correlations_extended: pd.DataFrame, lbp_correlation_differences: pd.DataFrame
) -> Table:
    """Return the table."""
    seven, eight = (int(tests["n"].max()) for tests in (lbp_correlations, lbp_correlations_extended))
    rows = correlation_rows(
        {
            f"The {seven} models that the source compares": lbp_correlations,
            f"All {eight} captured models with a score": lbp_correlations_extended,
        },
        metric,
    )
    difference = the_test(lbp_correlation_differences, comparison=f"ap_drop against ap_overall, n = {seven}")
    return Table(
        rows=rows,
        columns=correlation_columns(),
        groups="group",
        landscape=True,
        marks=guard_footnote(),
        caption=(
            f"Correlation of every metric with LongBench Pro [@longbenchpro2026], over the {seven} models of Table 1 "
            f"of the source [@shcherb2026] and over {eight}. Unit: one model."
        ),
        short="Correlation of every metric with LongBench Pro",
        note=[
            CORRELATION_NOTE,
            (
                "The bias per window is the bias per token in another unit here, since all these models were captured "
                f"over one context length. The drop against plasticity overall, $n = {seven}$: {stated(difference)} "
                "(difference of absolute correlations, bootstrap over models)."
            ),
        ],
    )
