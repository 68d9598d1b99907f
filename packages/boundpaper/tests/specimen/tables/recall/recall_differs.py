"""Comparison of the readers over their training seeds."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer, pvalue


def table(recall_tests: pd.DataFrame) -> Table:
    """Return one row per test."""
    return Table(
        rows=recall_tests.assign(what="large − small"),
        columns=[
            Column("what", "Readers"),
            Column("n", "Trainings", integer()),
            Column("estimate", "Difference", fixed(1), ci=("ci_low", "ci_high"), unit="points"),
            Column("p_value", "$p$", pvalue()),
        ],
        caption="Recall over the same length by training. Unit: one training; Welch's $t$ with its 95 % interval.",
    )
