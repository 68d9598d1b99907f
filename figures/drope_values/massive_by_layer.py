"""Massive values of every layer with and without rotary positions (Figure 2 of the report, for all tensors)."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel, Shade

TITLES = {"query": "queries", "key": "keys", "value": "values"}


def figure(massive_layers: pd.DataFrame, massive_counts: pd.DataFrame) -> Figure:
    """Plot one panel per tensor on a common scale; layer 1 is shaded."""
    text_count = int(massive_counts["texts"].min())
    row = massive_layers[massive_layers["layer"] == 1].set_index("tensor").loc["query"]
    panels = []
    for tensor, title in TITLES.items():
        rows = massive_layers[massive_layers["tensor"] == tensor]
        panels.append(
            Panel(
                title=title,
                series=[
                    Line(entity=entity, x=rows["layer"], y=rows[entity], marks=False) for entity in ("rope", "drope")
                ],
                shades=[Shade(low=0.5, high=1.5, label="layer 1")],
                x=Axis(label="layer", ticks=[0, 10, 20, 30]),
                y=Axis(label="massive values", low=-4, ticks=[0, 50, 100]),
            )
        )
    return Figure(
        panels=panels,
        letters=True,
        height=34,
        share_y=True,
        caption=(
            f"In layer 1 queries have {row['rope']:.1f} massive values with rotation (RoPE) and {row['drope']:.0f} "
            "without (DroPE), in later layers fewer without: counts published with the report [@africa2026], means "
            f"over {text_count} texts, no deviation is published. The report shows the queries only (its Figure 2)."
        ),
        short="Massive values by layer",
    )
