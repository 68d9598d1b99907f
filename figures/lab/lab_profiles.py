"""Plasticity of the tiny pair's heads along the context."""

import pandas as pd

from figures import Axis, Bundle, Figure, Panel
from figures.lab._heads import TITLES, drawn, estimated, of_side, whose


def figure(head_profile: pd.DataFrame, lab_geometry_seeds: pd.DataFrame) -> Figure:
    """Return the figure."""
    models = drawn(lab_geometry_seeds)
    sides = {side: of_side(head_profile, row) for side, row in models.items()}
    context, bins = int(models["rope"]["context"]), int(models["rope"]["bins"])
    middles = [(place + 0.5) * context / bins for place in range(bins)]
    first = pd.concat([rows[rows["bin"] == 0] for rows in sides.values()])["pairs"]
    position = Axis(
        label="position of the query (tokens)", low=0, high=context, ticks=range(0, context + 1, context // 4)
    )
    panels = [
        Panel(
            series=[
                Bundle(
                    entity=side,
                    x=middles,
                    lines=rows.pivot(index=["layer", "head"], columns="bin", values="plasticity"),
                    legend=False,
                )
            ],
            x=position,
            y=Axis(label="plasticity", low=0, high=1),
            title=TITLES[side],
        )
        for side, rows in sides.items()
    ]
    return Figure(
        panels=panels,
        columns=2,
        height=50,
        share_y=True,
        legend="none",
        caption=(
            f"Plasticity along the context. {whose(lab_geometry_seeds)} Thin lines are heads, the thick line their "
            f"mean, the band holds the middle 80 % of heads. {estimated(lab_geometry_seeds)} Bins are drawn at their "
            f"middles; the first one rests on {first.min():.0f} to {first.max():.0f} pairs of keys per head only."
        ),
        short="Plasticity of the tiny pair's heads along the context",
    )
