"""Plasticity of pretrained models by the distance between keys and the distance from the query to the keys."""

import numpy as np
import pandas as pd

from boundpaper.figures import Axis, Figure, Heatmap, Panel
from figures.pretrained._models import by_model

TICKS = {0.0: "0", 2048.0: "2K", 4096.0: "4K", 6144.0: "6K", 8192.0: "8K"}


def figure(pretrained_map: pd.DataFrame) -> Figure:
    """Plot one panel per model."""
    panels = []
    low, largest = pretrained_map["plasticity"].min(), pretrained_map["plasticity"].max()
    high = largest + 0.2 * (largest - low)  # the data end at green, since yellow resembles the white of missing cells
    for _, name, cells in by_model(pretrained_map):
        table = cells.pivot(index="query_distance", columns="key_distance", values="plasticity")
        values = [[None if np.isnan(cell) else float(cell) for cell in row] for row in table.to_numpy()]
        x, y = (_cell_borders(centres) for centres in (table.columns, table.index))
        panels.append(
            Panel(
                title=name,
                series=[Heatmap(values=values, x_edges=x, y_edges=y, low=low, high=high, bar="plasticity")],
                x=Axis(label="tokens between the keys", ticks=TICKS),
                y=Axis(label="query to the keys' midpoint", ticks=TICKS),
            )
        )
    return Figure(
        panels=panels,
        columns=2,
        letters=True,
        height=31,
        caption=(
            "Plasticity falls as two keys move apart, most where the query is near. As the query moves away it falls a "
            "little between close keys and rises between far ones. Mean over heads and pairs, distances in tokens. "
            "White: no such pairs, or fewer than a hundred a head."
        ),
        short="Plasticity of pretrained models by two distances",
    )


def _cell_borders(centres: pd.Index) -> list[float]:
    """Return the borders of equally wide cells, given the cell centres."""
    half = (centres[1] - centres[0]) / 2
    return [float(centre - half) for centre in centres] + [float(centres[-1] + half)]
