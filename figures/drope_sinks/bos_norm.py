"""Norm of the first token by layer, and its ratio to other tokens (Figure 14 of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel, Rule, Shade

PANELS = {"norm": "norm of the first token", "ratio": "ratio to other tokens"}


def figure(phase_layers: pd.DataFrame, drope_stated: pd.DataFrame, drope_protocols: pd.DataFrame) -> Figure:
    """Plot two panels on logarithmic axes."""
    limit = float(drope_stated.set_index("statement")["value"]["s5_4_spike_ratio"])
    texts, precision = drope_protocols.set_index("section").loc["5 (phase metrics)", ["items", "precision"]]
    layers, last = phase_layers["layer"], int(phase_layers["layer"].max())
    panels = [
        Panel(
            title=title,
            series=[
                Line(entity=model, x=layers, y=mean, low=mean - sd, high=mean + sd, uncertainty="band", marks=False)
                for model in ("rope", "drope")
                for mean, sd in [(phase_layers[f"{metric}_{model}"], phase_layers[f"{metric}_sd_{model}"])]
            ],
            shades=[Shade(low=last - 0.5, high=last + 0.5, label="final norm")],
            rules=[Rule(at=limit, label=f"ratio {limit:g}")] if metric == "ratio" else [],
            x=Axis(label="layer", low=-1, high=last + 0.5, ticks=[0, 10, 20, 30]),
            y=Axis(label="L2 norm" if metric == "norm" else "ratio", scale="log"),
        )
        for metric, title in PANELS.items()
    ]
    return Figure(
        panels=panels,
        letters=True,
        height=37,
        caption=(
            "In both models the first token's norm grows in layer 1: after each layer, and its ratio to the norms of "
            f"other tokens, published series [@africa2026], mean and one standard deviation over {texts} (seen in "
            f"DroPE's ratio only). Dashed: the ratio of {limit:g} that the report calls the spike; RoPE's is "
            f"{phase_layers['ratio_rope'].iloc[0]:.1f} in layer 0 already. Logarithmic axes."
        ),
        short="Norm of the first token by layer",
        note=f"Layer {last} is read after the final normalisation. The two runs differ ({precision}).",
    )
