"""Plasticity of pretrained models along the context."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Annotation, Axis, Bundle, Figure, Line, Panel
from boundpaper.figures.series import Series
from boundpaper.typeset.wording import whole
from figures.pretrained._models import by_model

FEWEST = 10  # with fewer key heads no interval is plotted


def figure(pretrained_profiles: pd.DataFrame, decile_profiles: pd.DataFrame, head_profile: pd.DataFrame) -> Figure:
    """Plot one panel per measured model, with the range of the reported models."""
    reported = decile_profiles[[f"d{number}" for number in range(10)]]
    middles = [10 * number + 5 for number in range(10)]
    reference = Line(entity="reported", x=middles, y=reported.median(), low=reported.min(), high=reported.max())
    reference = replace(reference, label=f"median of {len(reported)} reported models", uncertainty="band", marks=False)
    panels, models = [], []
    for entity, name, rows in by_model(pretrained_profiles):
        heads = head_profile[head_profile["model"] == rows["model"].iloc[0]]
        key_heads = heads.pivot_table(index=["layer", "key_head"], columns="bin", values="plasticity")
        x, is_few = 100 * rows["position"], 0 < len(key_heads) < FEWEST
        low, high = (None, None) if is_few else (rows["ci_low"], rows["ci_high"])
        mean = Line(entity=entity, label=name, x=x, y=rows["plasticity"], low=low, high=high, origin="measured")
        series: list[Series] = [reference, mean]
        if is_few:
            series.append(Bundle(entity=entity, x=x, lines=key_heads, band=False, mean=False, origin="measured"))
        panels.append(
            Panel(
                title=f"{name}, {len(key_heads)} key heads",
                series=series,
                x=Axis(label="% of the context", low=0, high=100, ticks=[0, 25, 50, 75, 100]),
                y=Axis(label="plasticity"),
                annotations=[Annotation(x=2, y=reported.min().min(), text="grey: reported, median and range")],
            )
        )
        models.append(
            f"{rows['display_name'].iloc[0]} over {whole(rows['context'].iloc[0])} tokens, {rows['heads'].max()} heads"
        )
    return Figure(
        panels=panels,
        columns=min(2, len(panels)),
        letters=len(panels) > 1,
        share_y=True,
        legend="none",
        height=32,
        caption=(
            f"Plasticity falls along the context in SmolLM2, as in reported models ({'; '.join(models)}): mean over "
            "heads by query bin, with 95 % bootstrap intervals over key heads, which cover heads and not texts; where "
            "key heads are too few for an interval, each as a thin line. Grey: median and range of the "
            f"{len(reported)} reported models by tenth of their own contexts [@shcherb2026]."
        ),
        short="Plasticity of pretrained models along the context",
    )
