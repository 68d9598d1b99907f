"""Attention's share of what each layer writes, measured and as drawn in the report (Figures G and 22)."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel, Points, Rule, Shade

MODELS = {"rope": "RoPE", "drope": "DroPE"}


def figure(
    balance_layers: pd.DataFrame,
    balance_summary: pd.DataFrame,
    figure_g_layers: pd.DataFrame,
    drope_protocols: pd.DataFrame,
) -> Figure:
    """All layers with the report's coordinates, then the difference in the later layers."""
    later = balance_layers[balance_layers["layer"] >= 2]
    points = figure_g_layers[figure_g_layers["layer"] >= 2]
    drawn = points.pivot(index="layer", columns="positional", values="drawn")
    summary = balance_summary.set_index("layers").loc["2-31"]
    panels = [
        Panel(
            title="share of attention",
            series=[
                *(
                    Line(entity=entity, x=balance_layers["layer"], y=balance_layers[f"share_{entity}"], marks=True)
                    for entity in MODELS
                ),
                Points(
                    entity="reported",
                    label="drawn in the report, layers 2–31",
                    origin="reported",
                    x=points["layer"],
                    y=points["drawn"],
                ),
            ],
            shades=[Shade(low=-0.5, high=1.5)],
            x=Axis(label="layer", low=-0.5, high=31.5, ticks=[0, 10, 20, 30]),
            y=Axis(label="share of the summed norms, %", low=0, high=75),
        ),
        Panel(
            title="DroPE minus RoPE, layers 2-31",
            series=[
                Line(entity="measured", label="published", x=later["layer"], y=later["difference"], marks=True),
                Points(
                    entity="reported",
                    legend=False,
                    origin="reported",
                    x=drawn.index,
                    y=(drawn["DroPE"] - drawn["RoPE"]).round(6),
                ),
            ],
            rules=[Rule(at=0, dash="solid")],
            x=Axis(label="layer", low=1.5, high=31.5, ticks=[10, 20, 30]),
            y=Axis(label="points"),
        ),
    ]
    return Figure(
        panels=panels,
        columns=2,
        letters=True,
        height=52,
        caption=(
            "Attention's share of the summed norms that attention and MLP write, by layer: published values, means "
            "over "
            f"{drope_protocols.set_index('experiment')['items']['9']} [@africa2026]. Hollow: the coordinates of the "
            "report's "
            "Figure G for layers 2 to 31, which the published values do not bear out; layers 0 and 1 (shaded) agree. "
            "Unit: layer."
        ),
        short="Attention's share by layer",
        note=(
            f"In layers 2 to 31 the published shares run from {min(summary['low_rope'], summary['low_drope']):.0f} to "
            f"{max(summary['high_rope'], summary['high_drope']):.0f} %, the drawn ones from "
            f"{points['drawn'].min():.1f} to "
            f"{points['drawn'].max():.1f} %."
        ),
    )
