"""Plasticity of the heads of pretrained models, by layer: median, least and largest."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel
from boundpaper.typeset.wording import whole
from figures.pretrained._models import by_model

METRICS = {"ap_overall": "overall plasticity", "ap_drop": "drop of plasticity"}


def figure(pretrained_heads: pd.DataFrame, model_metrics: pd.DataFrame) -> Figure:
    """Plot one panel per metric and one line per model."""
    panels, counts = [], []
    for metric, label in METRICS.items():
        lines = []
        for entity, name, rows in by_model(pretrained_heads[pretrained_heads["metric"] == metric]):
            line = Line(
                x=rows["layer"], y=rows["value"], low=rows["least"], high=rows["most"], entity=entity, label=name
            )
            lines.append(replace(line, origin="measured", marks=True))
        panels.append(Panel(series=lines, title=label, x=Axis(label="layer"), y=Axis(label="plasticity")))
    for _, _, rows in by_model(pretrained_heads[pretrained_heads["metric"] == "ap_overall"]):
        model, name = rows[["model", "display_name"]].iloc[0]
        context = model_metrics.loc[model_metrics["model"] == model, "context"].iloc[0]
        counts.append(f"{name} {rows['heads'].sum()} heads of {len(rows)} layers at {whole(context)} tokens")
    return Figure(
        panels=panels,
        columns=2,
        height=40,
        letters=True,
        caption=(
            "Plasticity of single heads by layer: median of the layer's heads, and from the least to the largest of "
            f"them, which is a spread over heads and no interval. {'; '.join(counts)}."
        ),
        short="Plasticity of the heads of pretrained models by layer",
    )
