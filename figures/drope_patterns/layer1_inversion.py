"""Shares of attention and MLP in the output of layer 1, by kind of token (Figure E of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel, Rule

SCOPES = ("all tokens", "content tokens", "BOS")
MODELS = {"rope": "RoPE", "drope": "DroPE"}
COMPONENTS = ("Attention", "MLP")


def figure(content_layers: pd.DataFrame, drope_figures: pd.DataFrame, drope_protocols: pd.DataFrame) -> Figure:
    """Plot one panel per kind of token; diamonds mark the values in the report's figure."""
    shares = content_layers[content_layers["layer"] == 1].set_index(["positional", "scope"])["share"]
    values = drope_figures[drope_figures["figure"] == "E"].set_index(["series", "x"])["value"]
    panels = []
    for scope in SCOPES:
        bars = []
        for entity, model in MODELS.items():
            share = float(shares[(model, scope)])
            reported = (
                [float(values[(model, component)]) for component in COMPONENTS] if scope == "all tokens" else None
            )
            bars.append(
                Bars(
                    entity=entity,
                    x=[component.lower().replace("mlp", "MLP") for component in COMPONENTS],
                    y=[share, 100 - share],
                    values=True,
                    decimals=1,
                    reported=reported,
                    reported_label="as drawn in the report",
                )
            )
        panels.append(Panel(title=scope, series=bars, rules=[Rule(at=50)], y=Axis(label="share, %", low=0, high=115)))
    return Figure(
        panels=panels,
        letters=True,
        share_y=True,
        height=42,
        caption=(
            "Shares of attention and MLP in the summed norms that layer 1 writes: ratio of means over "
            f"{drope_protocols.set_index('experiment')['items']['8']}, published values [@africa2026]. Diamonds: the "
            "report's Figure E, which averages the ratios of single texts. Dashed: equal parts."
        ),
        short="Shares of attention and MLP in layer 1",
        note="The larger part changes for content tokens, not at BOS.",
    )
