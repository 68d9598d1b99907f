"""Attention in layer 1 compared with uniform attention, and the sink heads of this layer (Figure 20 of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Bars, Figure, Panel, Shade

MODELS = {"rope": "RoPE", "drope": "DroPE"}
KINDS = {"bos": ("bos_attention", "BOS"), "local": ("local_attention", "neighbours")}


def figure(
    attention_layers: pd.DataFrame,
    attention_experiments: pd.DataFrame,
    uniform_bos_attention: pd.DataFrame,
    drope_attention_layer1: pd.DataFrame,
    drope_protocols: pd.DataFrame,
) -> Figure:
    """Plot the attention of Experiment 7, then the share of sink heads by the definition of each experiment."""
    layer = attention_layers.set_index("layer").loc[1]
    printed_values = drope_attention_layer1.set_index(["metric", "positional"])["value"]
    low, high = uniform_bos_attention["bos"].min(), uniform_bos_attention["bos"].max()
    sinks = attention_experiments[attention_experiments["quantity"] == "sink heads"].set_index(["layers", "experiment"])
    sink_keys = (("layer 1", 4), ("all layers", 4), ("all layers", 7))
    names = [f"{layers}, Exp. {number}" for layers, number in sink_keys]
    panels = [
        Panel(
            title="attention in layer 1",
            series=[
                Bars(
                    entity=entity,
                    x=[name for _, name in KINDS.values()],
                    y=[layer[f"{kind}_{entity}"] for kind in KINDS],
                    values=True,
                    decimals=1,
                    reported=[printed_values[(metric, model)] for metric, _ in KINDS.values()],
                    reported_label="as printed",
                )
                for entity, model in MODELS.items()
            ],
            shades=[Shade(low=float(low), high=float(high), axis="y", label="even attention to BOS")],
            y=Axis(label="mean over heads, %", low=0, high=60),
        ),
        Panel(
            title="sink heads",
            series=[
                Bars(entity=entity, x=names, y=[sinks[entity][key] for key in sink_keys], values=True, decimals=0)
                for entity in MODELS
            ],
            y=Axis(label="share of heads, %", low=0, high=115),
        ),
    ]
    items = drope_protocols.set_index("section")["items"]
    return Figure(
        panels=panels,
        letters=True,
        height=45,
        caption=(
            f"(a) Attention in layer 1, published values, mean over heads and {items['8']} [@africa2026]; the band is "
            "what a head that attends evenly gives BOS on texts of that length. (b) Share of sink heads as printed in "
            f"Experiments 4 ({items['5 (sinks)']}) and 7."
        ),
        short="Attention in layer 1",
        note="Alike over all layers, the two models are far apart in the sink heads of layer 1.",
    )
