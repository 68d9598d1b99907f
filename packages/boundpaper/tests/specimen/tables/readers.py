"""The two readers."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer


def table(readers: pd.DataFrame) -> Table:
    """Return one row per reader."""
    return Table(
        rows=readers,
        columns=[
            Column("name", "Reader"),
            Column("parameters", "Parameters", fixed(1), unit="billion"),
            Column("layers", "Layers", integer()),
        ],
        caption=f"The {len(readers)} readers of the document [@nobody2026].",
    )
