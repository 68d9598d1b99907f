"""Norms of queries, keys and values in layers 0 to 2 (Figure F of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel

TENSORS = ("query", "key", "value")
MODELS = {"rope": "RoPE", "drope": "DroPE"}


def figure(layer_norms: pd.DataFrame, drope_figures: pd.DataFrame, drope_protocols: pd.DataFrame) -> Figure:
    """Plot one panel per layer on a logarithmic axis."""
    plotted_values = drope_figures[drope_figures["figure"] == "F"].set_index(["series", "x"])["value"]
    panels = []
    for layer in (0, 1, 2):
        rows = layer_norms[layer_norms["layer"] == layer].set_index("tensor").loc[list(TENSORS)]
        panels.append(
            Panel(
                title=f"layer {layer}",
                series=[
                    Bars(
                        entity=entity,
                        x=list(TENSORS),
                        y=rows[f"mean_{entity}"],
                        reported=[plotted_values.get((model, tensor.capitalize())) for tensor in TENSORS]
                        if layer == 1
                        else None,
                        reported_label="as drawn in the report",
                    )
                    for entity, model in MODELS.items()
                ],
                y=Axis(label="L2 norm", scale="log"),
            )
        )
    ratio = layer_norms[layer_norms["layer"] == 1].set_index("tensor")["mean_ratio"]
    return Figure(
        panels=panels,
        letters=True,
        share_y=True,
        height=42,
        caption=(
            "L2 norms of the query, key and value projections in layers 0 to 2, mean over tokens and "
            f"{drope_protocols.set_index('experiment')['items']['8']}, published values [@africa2026]; logarithmic "
            "axis. Diamonds: the report's Figure F."
        ),
        short="Norms of queries, keys and values",
        note=(
            f"In layer 1 DroPE's queries are {ratio['query']:.0f}, its keys {ratio['key']:.0f} and its values "
            f"{ratio['value']:.0f} times as large; the report's figure leaves the values out."
        ),
    )
