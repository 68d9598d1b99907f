"""Effect of removing the first token's values, or its outputs in layer 1, in nats (last panel of Figure 18)."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel, Rule
from boundpaper.typeset.numbers import printed

NAMES = {
    "bos_value_spike_layer": "values, one layer",
    "bos_value_all_layers": "values, all layers",
    "layer1_bos_only": "outputs, layer 1",
}
MODELS = {"rope": "RoPE", "drope": "DroPE"}


def figure(bos_ablations: pd.DataFrame) -> Figure:
    """Plot one bar per ablation: the effect in nats, with the perplexity ratio printed at each bar."""
    rows = bos_ablations.set_index(["positional", "ablation"])
    bars = []
    for entity, model in MODELS.items():
        cells = rows.loc[[(model, ablation) for ablation in NAMES]]
        bars.append(
            Bars(
                entity=entity,
                x=list(NAMES.values()),
                y=cells["nats"],
                values=[printed().show(text, "plain").replace("x", "$\\times$") for text in cells["ratio_printed"]],
            )
        )
    layers = bos_ablations[bos_ablations["ablation"] == "bos_value_spike_layer"].set_index("positional")["layers"]
    return Figure(
        panels=[Panel(series=bars, y=Axis(label="effect, nats per token"), rules=[Rule(at=0, dash="solid")])],
        width=110,
        height=52,
        caption=(
            "Effect of removing the first token's values, Section 6.3 of the report, and of removing its outputs in "
            "layer 1 of both models, Section 7.3 [@africa2026]: difference of mean log-perplexity, one perplexity per "
            "bar; printed at the bars: ratio to the baseline."
        ),
        short="Perplexity without the first token's values",
        note=f"One layer: layer {layers['RoPE']} of RoPE, layer {layers['DroPE']} of DroPE. No spread over texts is "
        "published.",
    )
