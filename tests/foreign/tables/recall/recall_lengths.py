"""Recall by length as printed."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed


def table(recall_by_length: pd.DataFrame, models: pd.DataFrame) -> Table:
    """One row a reader, one column a length."""
    wide = recall_by_length.pivot(index="model", columns="length", values="value")
    lengths = [int(length) for length in wide.columns]
    wide.columns = [f"at_{length}" for length in lengths]
    rows = models[["model", "display_name"]].merge(wide.reset_index(), on="model")
    columns = [Column(f"at_{length}", f"{length:,}", fixed(1), group="Tokens") for length in lengths]
    return Table(
        rows=rows,
        columns=[Column("display_name", "Reader"), *columns],
        caption="Recall in percent by the length of the text [@nobody2026]. Unit: one reader.",
    )
