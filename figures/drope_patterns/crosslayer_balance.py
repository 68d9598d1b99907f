"""Share of attention in each layer's output, as published and as plotted in the report (Figures G and 22)."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel, Shade

MODELS = {"rope": "RoPE", "drope": "DroPE"}


def figure(
    balance_layers: pd.DataFrame,
    balance_summary: pd.DataFrame,
    figure_g_layers: pd.DataFrame,
    drope_protocols: pd.DataFrame,
) -> Figure:
    """Plot the published shares, and on the same scale the values read off the report's figure."""
    points = figure_g_layers[figure_g_layers["layer"] >= 2]
    plotted_values = figure_g_layers.pivot(index="layer", columns="positional", values="drawn")
    shares_by_title = {
        "published values": {entity: balance_layers.set_index("layer")[f"share_{entity}"] for entity in MODELS},
        "as the report draws them": {entity: plotted_values[name] for entity, name in MODELS.items()},
    }
    summary = balance_summary.set_index("layers").loc["2-31"]
    panels = [
        Panel(
            title=title,
            series=[
                Line(entity=entity, x=shares.index, y=shares, marks=False, legend=title == "published values")
                for entity, shares in series.items()
            ],
            shades=[Shade(low=-0.5, high=1.5, label="layers 0, 1")],
            x=Axis(label="layer", low=-0.5, high=31.5, ticks=[0, 10, 20, 30]),
            y=Axis(label="attention's share, %", low=0, high=80, ticks=[0, 25, 50, 75]),
        )
        for title, series in shares_by_title.items()
    ]
    return Figure(
        panels=panels,
        letters=True,
        height=38,
        share_y=True,
        caption=(
            "From layer 2 on the report draws both models alike and flat, which its published values do not bear out: "
            "attention's share of the summed norms that attention and MLP write, (a) published, means over "
            f"{drope_protocols.set_index('experiment')['items']['9']} [@africa2026], (b) the coordinates of the "
            "report's Figure G. Layers 0 and 1 agree. Unit: layer."
        ),
        short="Attention's share by layer",
        note=(
            f"In layers 2 to 31 the published shares run from {min(summary['low_rope'], summary['low_drope']):.0f} to "
            f"{max(summary['high_rope'], summary['high_drope']):.0f} %, the drawn ones from "
            f"{points['drawn'].min():.1f} to {points['drawn'].max():.1f} %."
        ),
    )
