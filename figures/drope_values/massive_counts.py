"""Massive values by tensor with and without rotary positions (Figure A of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel

TENSORS = ("query", "key", "value")
SERIES = {"rope": "RoPE", "drope": "DroPE"}


def figure(massive_counts: pd.DataFrame) -> Figure:
    """Plot bars with one standard deviation; diamonds mark the totals of the second run."""
    has_deviation = massive_counts["rope_sd"].notna()
    runs = (massive_counts[mask].set_index("tensor") for mask in (has_deviation, ~has_deviation))
    reported, layers = (run.loc[list(TENSORS)] for run in runs)
    first, second = reported.iloc[0], layers.iloc[0]
    bars = [
        Bars(
            entity=entity,
            x=list(TENSORS),
            y=reported[f"{entity}_mean"],
            low=reported[f"{entity}_mean"] - reported[f"{entity}_sd"],
            high=reported[f"{entity}_mean"] + reported[f"{entity}_sd"],
            values=True,
            decimals=0,
            reported=layers[f"{entity}_mean"],
            reported_label=f"published layers, {second['texts']} texts",
        )
        for entity in SERIES
    ]
    return Figure(
        panels=[Panel(series=bars, y=Axis(label="massive values", zero=True))],
        height=55,
        width=110,
        caption=(
            "Massive values summed over layers, as reported in Section 2.2 of the report [@africa2026]: mean over "
            f"{first['texts']} texts in {first['precision']}; numbers are those of the bars, error "
            "bars one standard deviation over texts. "
            f"Diamonds: totals of the counts published per layer, {second['texts']} texts in {second['precision']}."
        ),
        short="Massive values with and without rotary positions",
    )
