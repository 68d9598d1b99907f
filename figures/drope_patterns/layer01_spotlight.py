"""Layers 0 and 1 compared with the later layers: shares, and the norms behind the shares (Figure 23 of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel, Rule

MODELS = {"rope": "RoPE", "drope": "DroPE"}


def figure(balance_layers: pd.DataFrame, balance_summary: pd.DataFrame, drope_protocols: pd.DataFrame) -> Figure:
    """Plot the shares of single layers and the mean of later layers, then attention and MLP norms of layers 0 and 1."""
    later = balance_summary[balance_summary["layers"] == "2-31"].iloc[0]
    farthest = int(later["largest_difference_layer"])
    layers = balance_layers.set_index("layer").loc[[0, 1, 2, farthest]]
    labels = [*(f"{layer}" for layer in layers.index), "mean 2–31"]
    first_layers = layers.loc[[0, 1]]
    names = [f"{component}, layer {layer}" for layer in (0, 1) for component in ("attention", "MLP")]
    panels = [
        Panel(
            title="share of attention",
            series=[
                Bars(
                    entity=entity,
                    x=labels,
                    y=[*layers[f"share_{entity}"], later[f"mean_{entity}"]],
                    values=True,
                    decimals=0,
                )
                for entity in MODELS
            ],
            rules=[Rule(at=50)],
            x=Axis(label="layer"),
            y=Axis(label="share, %", low=0, high=80),
        ),
        Panel(
            title="norms behind it",
            series=[
                Bars(
                    entity=entity,
                    x=names,
                    y=first_layers[[f"attention_{entity}", f"mlp_{entity}"]].to_numpy().ravel(),
                    values=True,
                )
                for entity in MODELS
            ],
            y=Axis(label="L2 norm", scale="log", low=0.5, high=1000),
        ),
    ]
    layer0 = layers.loc[0]
    return Figure(
        panels=panels,
        letters=True,
        height=48,
        caption=(
            "Attention's share of the summed norms in the first layers, in the later layer with the largest difference "
            "and as the mean of layers 2 to 31, and the norms of layers 0 and 1; published values, means over "
            f"{drope_protocols.set_index('experiment')['items']['9']} [@africa2026]. Dashed: equal parts. (b) "
            "Logarithmic axis. Unit: layer."
        ),
        short="The first layers against the later ones",
        note=(
            f"In layer 0 DroPE's attention writes {layer0['attention_ratio']:.1f} times as much as RoPE's; its share "
            f"falls because the MLP writes {layer0['mlp_ratio']:.0f} times as much. It is the larger part in both."
        ),
    )
