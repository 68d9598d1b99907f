"""Plasticity of pretrained models along the context."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel
from boundpaper.typeset.wording import whole
from figures.pretrained._models import models


def figure(pretrained_profiles: pd.DataFrame, decile_profiles: pd.DataFrame) -> Figure:
    """A panel per measured model, over the range of the reported ones."""
    names = [f"d{number}" for number in range(10)]
    middles = [10 * number + 5 for number in range(10)]
    reported = decile_profiles[names]
    beside = Line(
        entity="reported",
        label=f"median of {len(reported)} reported models",
        x=middles,
        y=reported.median(),
        low=reported.min(),
        high=reported.max(),
        uncertainty="band",
        marks=False,
    )
    panels, said = [], []
    for entity, name, rows in models(pretrained_profiles):
        line = Line(
            entity=entity,
            label=name,
            x=100 * rows["position"],
            y=rows["plasticity"],
            low=rows["ci_low"],
            high=rows["ci_high"],
            uncertainty="bars",
            origin="measured",
        )
        panels.append(
            Panel(
                title=name,
                series=[beside, line],
                x=Axis(label="% of the context", low=0, high=100, ticks=[0, 25, 50, 75, 100]),
                y=Axis(label="plasticity"),
            )
        )
        said.append(
            f"{rows['display_name'].iloc[0]} over {whole(rows['context'].iloc[0])} tokens, {rows['heads'].max()} heads"
        )
    return Figure(
        panels=panels,
        columns=min(2, len(panels)),
        letters=len(panels) > 1,
        share_y=True,
        legend="none",
        height=40,
        caption=(
            f"Plasticity along the context of models measured here ({'; '.join(said)}): mean over heads by query bin, "
            "with 95 % bootstrap intervals over key heads, which cover heads and not texts. Grey: median and range of "
            f"the {len(reported)} reported models by tenth of their own contexts [@shcherb2026]."
        ),
        short="Plasticity of pretrained models along the context",
    )
