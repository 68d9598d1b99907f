"""Layer 1 in four panels: output norms, shares, projections, attention output by layer (Figure 21 of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Line, Panel

MODELS = {"rope": "RoPE", "drope": "DroPE"}
TENSORS = ("query", "key", "value")


def figure(
    layer1_ratios: pd.DataFrame, layer_norms: pd.DataFrame, balance_layers: pd.DataFrame, drope_protocols: pd.DataFrame
) -> Figure:
    """Plot bars for layer 1, and the norms of all layers."""
    ratios = layer1_ratios.set_index("metric")
    norms = layer_norms[layer_norms["layer"] == 1].set_index("tensor").loc[list(TENSORS)]

    def bars(
        metrics: dict[str, str], rows: pd.DataFrame = ratios, column: str = "{}_published", decimals: int = 1
    ) -> list[Bars]:
        names = list(metrics.values())
        heights = {entity: [rows[column.format(entity)][metric] for metric in metrics] for entity in MODELS}
        return [Bars(entity=entity, x=names, y=y, values=True, decimals=decimals) for entity, y in heights.items()]

    panels = [
        Panel(
            title="output norms",
            series=bars({"attention_output_norm": "attention", "mlp_output_norm": "MLP"}),
            y=Axis(label="L2 norm", scale="log", low=0.5, high=1000),
        ),
        Panel(
            title="share of the summed norms",
            series=bars({"attention_contribution": "attention", "mlp_contribution": "MLP"}),
            y=Axis(label="share, %", low=0, high=115),
        ),
        Panel(
            title="projections",
            series=bars(dict(zip(TENSORS, TENSORS, strict=True)), norms, "mean_{}", 0),
            y=Axis(label="L2 norm", scale="log"),
        ),
        Panel(
            title="attention output by layer",
            series=[
                Line(entity=entity, x=balance_layers["layer"], y=balance_layers[f"attention_{entity}"], marks=True)
                for entity in MODELS
            ],
            x=Axis(label="layer", ticks=[0, 10, 20, 30]),
            y=Axis(label="L2 norm", scale="log", low=0.8, high=150),
        ),
    ]
    items = drope_protocols.set_index("experiment")["items"]
    return Figure(
        panels=panels,
        letters=True,
        height=42,
        caption=(
            f"What layer 1 writes and projects, published values [@africa2026]: means over tokens and {items['8']}; "
            "(d) all layers. (a), (c) and (d) have logarithmic axes; shares are means over texts."
        ),
        short="Layer 1: outputs, shares, projections",
        note="Attention also writes more in most later layers of DroPE (d).",
    )
