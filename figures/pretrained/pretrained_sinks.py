"""Attention to the first token by layer, in pretrained models."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel, Rule
from figures.pretrained._models import by_model, full_attention

SINK = 0.3  # least share of attention to the first token of a head that is a sink


def figure(pretrained_layers: pd.DataFrame, pretrained_heads: pd.DataFrame) -> Figure:
    """Plot one panel per model."""
    panels, models, rises = [], [], []
    for entity, name, rows in by_model(pretrained_layers):
        attention = rows.set_index("layer")["first_attention"]
        rise = int(rows["layer"].iloc[int(attention.diff().to_numpy()[1:].argmax()) + 1])
        shades = full_attention(rows, pretrained_heads)
        first = ", its first of full attention," if shades and shades[0].low == rise - 0.5 else ","
        rises.append(f"{name} at layer {rise}{first} from {attention[rise - 1]:.3f} to {attention[rise]:.3f}")
        line = Line(entity=entity, x=rows["layer"], y=rows["first_attention"], low=rows["low"], high=rows["high"])
        panels.append(
            Panel(
                series=[replace(line, uncertainty="band", origin="measured", marks=True, legend=False)],
                x=Axis(label="layer", low=-0.5, high=int(rows["layer"].max()) + 0.5),
                shades=shades,
                rules=[Rule(at=SINK, dash="solid")],
                y=Axis(label="attention", low=-0.02, high=0.8, ticks=[0, 0.2, 0.4, 0.6, 0.8]),
                title=name,
            )
        )
        models.append(
            f"{rows['display_name'].iloc[0]}: {rows['heads_sink'].sum()} of {rows['heads'].sum()} heads are sinks, "
            f"$n = {rows['texts'].min()}$ texts"
        )
    return Figure(
        panels=panels,
        columns=min(2, len(panels)),
        height=30,
        share_y=True,
        letters=True,
        legend="none",
        caption=(
            f"Attention to the first token rises most from one layer to the next in {' and in '.join(rises)}. Mean "
            f"over heads and texts with Student's 95 % interval over texts. Unit: text. {'; '.join(models)}. Sink: a "
            f"head that pays the first token at least {SINK} of its attention (line), and no less than the five before."
        ),
        short="Attention to the first token by layer of pretrained models",
    )
