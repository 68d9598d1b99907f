"""Recall against length."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel


def figure(recall_by_length: pd.DataFrame) -> Figure:
    """Plot one line per reader."""
    series = [
        Line(entity=str(reader), x=reader_rows["length"], y=reader_rows["value"], origin="reported", marks=True)
        for reader, reader_rows in recall_by_length.groupby("reader", sort=False)
    ]
    panel = Panel(series=series, x=Axis(label="length (tokens)", scale="log"), y=Axis(label="recall (%)"))
    return Figure(panels=[panel], caption=f"Recall by length, {len(series)} readers [@nobody2026].")
