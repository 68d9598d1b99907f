"""Recall of near and far words, with intervals."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer


def table(recall_shares: pd.DataFrame) -> Table:
    """Return one row per reader and position."""
    return Table(
        rows=recall_shares,
        columns=[
            Column("name", "Reader", repeat=False),
            Column("place", "Place"),
            Column("share", "Recalled", fixed(1), ci=("low", "high"), unit="%"),
            Column("n", "Words", integer()),
        ],
        caption="Words recalled near the end of the text and far from it, with Wilson's 95 % intervals.",
    )
