"""The three analyses of the captured queries and keys: the question and the computation of each."""

import pandas as pd

from boundpaper.tables import Column, Table


def table(reported_analyses: pd.DataFrame) -> Table:
    """Return one row per analysis."""
    return Table(
        rows=reported_analyses,
        columns=[
            Column("title", "Analysis", width=0.2),
            Column("computes", "Computes", width=0.38),
            Column("asks", "Asks", width=0.34),
        ],
        caption=(
            f"The {len(reported_analyses)} analyses of the captured queries and keys, after the study's overview "
            "[@shcherb2026]."
        ),
        short="Three analyses of captured queries and keys",
    )
