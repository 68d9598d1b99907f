"""Plasticity of pretrained models along the context."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel
from boundpaper.typeset.wording import whole


def figure(pretrained_profiles: pd.DataFrame, decile_profiles: pd.DataFrame) -> Figure:
    """One panel, a line per measured model over the range of the reported ones."""
    names = [f"d{number}" for number in range(10)]
    middles = [10 * number + 5 for number in range(10)]
    reported = decile_profiles[names]
    lines = [
        Line(
            entity="reported",
            label=f"median of {len(reported)} reported models",
            x=middles,
            y=reported.median(),
            low=reported.min(),
            high=reported.max(),
            uncertainty="band",
            origin="reported",
        )
    ]
    said = []
    for number, (name, rows) in enumerate(pretrained_profiles.groupby("display_name", sort=False), 1):
        lines.append(
            Line(
                entity=f"series-{number}",
                label=str(name),
                x=100 * rows["position"],
                y=rows["plasticity"],
                low=rows["ci_low"],
                high=rows["ci_high"],
                uncertainty="bars",
                origin="measured",
            )
        )
        said.append(f"{name} over {whole(rows['context'].iloc[0])} tokens, {rows['heads'].max()} heads")
    return Figure(
        panels=[
            Panel(
                series=lines,
                x=Axis(label="% of the context", low=0, high=100, ticks=[0, 20, 40, 60, 80, 100]),
                y=Axis(label="plasticity"),
            )
        ],
        height=38,
        caption=(
            f"Plasticity along the context of models measured here ({'; '.join(said)}): mean over heads by query bin, "
            "with 95 % bootstrap intervals over key heads, which cover heads and not texts. Grey: median and range of "
            f"the {len(reported)} reported models by tenth of their own contexts [@shcherb2026]."
        ),
        short="Plasticity of pretrained models along the context",
    )
