"""The two readers."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer


def table(models: pd.DataFrame) -> Table:
    """One row a reader."""
    return Table(
        rows=models,
        columns=[
            Column("display_name", "Reader"),
            Column("parameters_nominal_b", "Parameters", fixed(1), unit="billion"),
            Column("layers", "Layers", integer()),
        ],
        caption=f"The {len(models)} readers of the document [@nobody2026].",
    )
