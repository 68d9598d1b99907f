"""Recall by length as printed."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed


def table(recall_by_length: pd.DataFrame, readers: pd.DataFrame) -> Table:
    """Return one row per reader and one column per length."""
    wide = recall_by_length.pivot(index="reader", columns="length", values="value")
    lengths = [int(length) for length in wide.columns]
    wide.columns = [f"at_{length}" for length in lengths]
    rows = readers[["reader", "name"]].merge(wide.reset_index(), on="reader")
    columns = [Column(f"at_{length}", f"{length:,}", fixed(1), group="Tokens") for length in lengths]
    return Table(
        rows=rows,
        columns=[Column("name", "Reader"), *columns],
        caption="Recall in percent by the length of the text [@nobody2026]. Unit: one reader.",
    )
