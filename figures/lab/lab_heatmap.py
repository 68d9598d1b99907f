"""Plasticity of the tiny pair by the distance between two keys and the distance of the query from their middle."""

from itertools import pairwise
from typing import Any

import pandas as pd

from figures import Axis, Figure, Heatmap, Panel
from figures.lab._heads import TITLES, drawn, estimated, of_side, whose


def figure(head_pairs: pd.DataFrame, lab_geometry_seeds: pd.DataFrame) -> Figure:
    """Return the figure."""
    models = drawn(lab_geometry_seeds)
    sides = {side: of_side(head_pairs, row) for side, row in models.items()}
    both = pd.concat(list(sides.values()))
    context, heads = int(models["rope"]["context"]), int(models["rope"]["heads"])
    ticks = range(0, context + 1, context // 4)
    panels = []
    for side, rows in sides.items():
        # a cell is in the middle of its width, and the first one starts at zero
        widths = {name: 2 * both[name].min() for name in ("key_distance", "query_distance")}
        edges = {name: [place * wide for place in range(round(context / wide) + 1)] for name, wide in widths.items()}
        panels.append(
            Panel(
                series=[
                    Heatmap(
                        values=_cells(rows, edges["key_distance"], edges["query_distance"]),
                        x_edges=edges["key_distance"],
                        y_edges=edges["query_distance"],
                        low=both["plasticity"].min(),
                        high=both["plasticity"].max(),
                        bar="plasticity",
                    )
                ],
                x=Axis(label="distance between the keys (tokens)", ticks=ticks),
                y=Axis(label="distance of the query (tokens)", ticks=ticks),
                title=TITLES[side],
            )
        )
    fewest = both["heads"].min()
    shown = f"all {heads} heads" if fewest == heads else f"the {fewest} to {heads} heads that have pairs there"
    return Figure(
        panels=panels,
        columns=2,
        height=48,
        caption=(
            "Plasticity by the distance between the two keys and the distance of the query from their middle. "
            f"{whose(lab_geometry_seeds)} Cells are means over {shown}, each head over all pairs of keys in the cell "
            f"({both['pairs'].min():,.0f} to {both['pairs'].max():,.0f} over the heads together); white cells cannot "
            "occur, or hold no pair. "
            f"One scale of colours for both panels. {estimated(lab_geometry_seeds)}"
        ),
        short="Plasticity of the tiny pair by two distances",
    )


def _cells(rows: pd.DataFrame, x: list[float], y: list[float]) -> list[list[Any]]:
    """The matrix, a row a query distance from zero up; None where no pair of keys has these distances."""
    middles = zip(rows["query_distance"].round(6), rows["key_distance"].round(6), strict=True)
    known = dict(zip(middles, rows["plasticity"], strict=True))
    across = [round((left + right) / 2, 6) for left, right in pairwise(x)]
    return [[known.get((round((low + high) / 2, 6), middle)) for middle in across] for low, high in pairwise(y)]
