"""Massive values of layer 1 by tensor, from the published counts (Figures B and 6 of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel

TENSORS = ("query", "key", "value")
SERIES = {"rope": "RoPE", "drope": "DroPE"}


def figure(massive_layers: pd.DataFrame, massive_counts: pd.DataFrame, drope_figures: pd.DataFrame) -> Figure:
    """Plot published counts as bars, and the values read off the report's Figure B as diamonds."""
    layer = massive_layers[massive_layers["layer"] == 1].set_index("tensor").loc[list(TENSORS)]
    plotted_values = drope_figures[drope_figures["figure"] == "B"].set_index(["series", "x"])["value"]
    bars = [
        Bars(
            entity=entity,
            x=list(TENSORS),
            y=layer[entity],
            reported=[plotted_values[(name, tensor.capitalize())] for tensor in TENSORS],
            reported_label="plotted in the report's Figure B",
        )
        for entity, name in SERIES.items()
    ]
    return Figure(
        panels=[Panel(series=bars, y=Axis(label="massive values, layer 1", zero=True))],
        height=55,
        width=110,
        caption=(
            "Massive values in layer 1, counts published with the report [@africa2026]: means over "
            f"{int(massive_counts['texts'].min())} texts, without error bars since no deviation is published. "
            "Diamonds: the coordinates of the report's Figure B, which disagree with these counts and with the "
            "report's Section 2.3."
        ),
        short="Massive values in layer 1",
    )
