"""Queries and keys of some heads of the tiny pair in their plane, drawn in matplotlib."""

import pandas as pd

from figures import Figure, from_matplotlib, matplotlib_style
from figures.lab._heads import TITLES, drawn, of_side, whose

SHOWN = 3  # heads of each model: the first, the middle and the last of those that were drawn from


def figure(head_plane: pd.DataFrame, lab_geometry_seeds: pd.DataFrame) -> Figure:
    """Return the figure."""
    from matplotlib.figure import Figure as Drawing

    models = drawn(lab_geometry_seeds)
    sides = {side: of_side(head_plane, row) for side, row in models.items()}
    heads = [list(dict.fromkeys(zip(rows["layer"], rows["head"], strict=True))) for rows in sides.values()]
    shared = [place for place in heads[0] if place in heads[1]]
    picked = [shared[round(step * (len(shared) - 1) / (SHOWN - 1))] for step in range(SHOWN)]
    half = int(models["rope"]["context"]) // 2
    drawing = Drawing(figsize=(6.0, 3.6))
    grid = drawing.subplots(len(sides), len(picked))
    for across, (side, rows) in zip(grid, sides.items(), strict=True):
        for axes, (layer, head) in zip(across, picked, strict=True):
            points = rows[(rows["layer"] == layer) & (rows["head"] == head)]
            for role in ("query", "key"):
                for late in (False, True):
                    some = points[(points["side"] == role) & ((points["position"] >= half) == late)]
                    look = {**matplotlib_style(role), "linestyle": "None", "markersize": 3}
                    look["markerfacecolor"] = look["color"] if late else "white"
                    place = f"from {half} on" if late else f"before {half}"
                    axes.plot(some["a"], some["b"], label=f"{role}, {place}", **look)
            axes.set(xlabel=f"drift $a$, layer {layer}, head {head}", ylabel="")
        across[0].set_ylabel(f"{TITLES[side]}: separation $b$")
    grid[0][SHOWN // 2].legend()
    queries = sides["rope"].query("side == 'query'").groupby(["layer", "head"]).size()
    return from_matplotlib(
        drawing,
        height=34,
        caption=(
            "Queries and keys in the plane of the axes of drift and separation of their head. "
            f"{whose(lab_geometry_seeds, len(picked))} The same heads of both models: the first, the middle and the "
            f"last of {len(shared)} that were kept; layers and heads count from zero. Points are {queries.iloc[0]} "
            "queries and as many keys of each head, evenly over the positions; hollow marks lie in the first half of "
            "the context, filled ones in the second. Each panel has axes of its own."
        ),
        short="Queries and keys of the tiny pair in their plane",
    )
