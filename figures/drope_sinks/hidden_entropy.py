"""Entropy of the representations by layer (Figure 15 of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel


def figure(phase_layers: pd.DataFrame, drope_protocols: pd.DataFrame, drope_captions: pd.DataFrame) -> Figure:
    """Plot one panel on a logarithmic axis, with standard deviations over prompts."""
    protocol = drope_protocols.set_index("section")
    printed = drope_captions.set_index("statement")["printed"]["fig_15_all_layers"]
    series = []
    for model in ("rope", "drope"):
        mean, sd = phase_layers[f"entropy_{model}"], phase_layers[f"entropy_sd_{model}"]
        series.append(Line(entity=model, x=phase_layers["layer"], y=mean, low=mean - sd, high=mean + sd, marks=True))
    lower = phase_layers.loc[phase_layers["more_entropy"] == "RoPE", "layer"]
    return Figure(
        panels=[
            Panel(
                series=series,
                x=Axis(label="layer", ticks=[0, 5, 10, 15, 20, 25, 30]),
                y=Axis(label="entropy, nats", scale="log"),
            )
        ],
        width=110,
        height=52,
        caption=(
            "Entropy of the singular values of the hidden states after each layer, published series [@africa2026]: "
            f"mean and one standard deviation over {protocol['items']['5 (phase metrics)']}. Logarithmic axis."
        ),
        short="Entropy of the representations by layer",
        note=(
            f"The report's Figure 15 calls DroPE's entropy higher {printed}; it is lower in layer "
            f"{', '.join(map(str, lower))}. The two runs differ in precision and padding "
            f"({protocol['precision']['5 (phase metrics)']}), which changes the entropy by itself."
        ),
    )
