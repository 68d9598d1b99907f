"""Plasticity of every head of pretrained models, by layer."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel
from boundpaper.typeset.wording import whole

METRICS = {"ap_overall": "overall plasticity", "ap_drop": "drop of plasticity"}


def figure(pretrained_heads: pd.DataFrame, model_metrics: pd.DataFrame) -> Figure:
    """One panel per metric, a line per model."""
    panels, said = [], []
    models = dict(zip(pretrained_heads["model"], pretrained_heads["display_name"], strict=True))
    for metric, label in METRICS.items():
        lines = []
        for number, (model, name) in enumerate(models.items(), 1):
            mine = pretrained_heads[(pretrained_heads["model"] == model) & (pretrained_heads["metric"] == metric)]
            columns = {"x": mine["layer"], "y": mine["value"], "low": mine["least"], "high": mine["most"]}
            lines.append(Line(entity=f"series-{number}", label=name, origin="measured", marks=True, **columns))
        panels.append(Panel(series=lines, title=label, x=Axis(label="layer"), y=Axis(label="plasticity")))
    for model, name in models.items():
        mine = pretrained_heads[(pretrained_heads["model"] == model) & (pretrained_heads["metric"] == "ap_overall")]
        context = model_metrics.loc[model_metrics["model"] == model, "context"].iloc[0]
        said.append(f"{name} {mine['heads'].sum()} heads of {len(mine)} layers at {whole(context)} tokens")
    return Figure(
        panels=panels,
        columns=2,
        height=40,
        legend="below",
        caption=(
            "Plasticity of single heads by layer: median of the layer's heads, and from the least to the largest of "
            f"them, which is a spread over heads and no interval. {'; '.join(said)}."
        ),
        short="Plasticity of the heads of pretrained models by layer",
    )
