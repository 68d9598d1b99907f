"""How well position explains each dimension of the tiny pair's queries."""

import pandas as pd

from figures import Axis, Figure, Heatmap, Panel, Rule
from figures.lab._heads import TITLES, drawn, of_side, whose


def figure(head_components: pd.DataFrame, lab_geometry_seeds: pd.DataFrame) -> Figure:
    """Return the figure."""
    sides = {side: of_side(head_components, row) for side, row in drawn(lab_geometry_seeds).items()}
    top = max(rows["r2"].max() for rows in sides.values())
    panels = []
    for side, rows in sides.items():
        table = rows.pivot(index=["layer", "head"], columns="dimension", values="r2")
        size = table.shape[1]
        layers = list(table.index.get_level_values("layer"))
        starts = {layers.index(layer): str(layer) for layer in dict.fromkeys(layers)}
        panels.append(
            Panel(
                series=[
                    Heatmap(
                        values=table,
                        x_edges=range(size + 1),
                        y_edges=range(len(table) + 1),
                        low=0,
                        high=top,
                        bar="explained share",
                    )
                ],
                x=Axis(label="dimension of the head", ticks=range(0, size + 1, size // 4)),
                y=Axis(label="heads by layer", ticks=starts, reverse=True),
                rules=[Rule(at=place, dash="solid") for place in starts if place]
                + [Rule(at=size // 2, axis="x", dash="solid")],
                title=TITLES[side],
            )
        )
    half = size // 2
    return Figure(
        panels=panels,
        columns=2,
        height=48,
        caption=(
            "Share of the variance of each dimension of the queries that is linear in position ($R^2$). "
            f"{whose(lab_geometry_seeds)} A row is a head; lines part the layers, counted from zero. Dimensions "
            f"$i$ and $i + {half}$ form one pair of the rotation, which turns the slower the larger $i$ is; the "
            "vertical line parts the two halves. One scale of colours for both panels."
        ),
        short="Position in the dimensions of the tiny pair's queries",
    )
