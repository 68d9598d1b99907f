"""Queries and keys of single heads of a pretrained model, projected onto the drift and separation directions."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Points, Style

HEADS = 4  # number of plotted heads, spread evenly over those with kept vectors
HALVES = {"early": "first half", "late": "second half"}
SIDES = {"query": "queries", "key": "keys"}
LOOKS = {
    "query-early": Style(color="oksky", mark="o"),
    "query-late": Style(color="okblue", mark="*"),
    "key-early": Style(color="okorange", mark="square"),
    "key-late": Style(color="okvermillion", mark="square*"),
}


def figure(head_plane: pd.DataFrame, pretrained_geometry: pd.DataFrame) -> Figure:
    """Plot one panel for each of a few heads of the pretrained model that has the most captured key heads."""
    models = pretrained_geometry[pretrained_geometry["column"].isin(head_plane["model"].unique())]
    model, name = models.sort_values("n", kind="stable")[["column", "label"]].iloc[-1]
    rows = head_plane[head_plane["model"] == model].copy()
    rows["half"] = (rows["position"] > rows["position"].max() / 2).map({False: "early", True: "late"})
    heads = rows[["layer", "head"]].drop_duplicates().sort_values(["layer", "head"], ignore_index=True)
    step = (len(heads) - 1) / (HEADS - 1)
    panels = []
    for number in range(HEADS):
        layer, head = heads.iloc[round(number * step)]
        head_rows = rows[(rows["layer"] == layer) & (rows["head"] == head)]
        panels.append(
            Panel(
                title=f"layer {layer}, head {head}",
                series=[
                    Points(
                        entity=f"{side}-{half}",
                        label=f"{SIDES[str(side)]}, {HALVES[str(half)]}",
                        legend=number == 0,
                        x=vectors["b"],
                        y=vectors["a"],
                        origin="measured",
                    )
                    for (side, half), vectors in head_rows.groupby(["side", "half"], sort=False)
                ],
                x=Axis(label="axis of separation"),
                y=Axis(label="axis of drift"),
            )
        )
    return Figure(
        panels=panels,
        letters=True,
        height=35,
        entities=LOOKS,
        caption=(
            f"Queries and keys of four heads of {name}, evenly over depth among those of which vectors were kept, in "
            "the plane of the axis along which both drift with position and of the one that separates them. Each point "
            f"is one vector; halves are of the {rows['position'].max():,.0f} tokens of a text."
        ),
        short="Queries and keys of heads of a pretrained model in their plane",
    )
