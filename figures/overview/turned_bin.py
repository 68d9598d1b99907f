"""Effect of rotating queries inside a bin: sketched for one pair of dimensions, and measured for several bin widths."""

import math

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Points, Rule, Style

TURN = 0.9  # rotation of the sketched pair of dimensions, in radians, from the first to the last position of the bin
CONTENTS = 15  # number of queries sketched at each position; no two have the same content
PLACES = {"first": (-0.5, "triangle*"), "middle": (0.0, "square"), "last": (0.5, "*")}  # share of TURN, and mark


def figure(bin_kept: pd.DataFrame, pretrained_competition: pd.DataFrame) -> Figure:
    """Return the figure; its last panel shows the first pretrained model, in the first bins with keys before them."""
    model, name = pretrained_competition[["model", "display_name"]].iloc[0]
    rows = bin_kept[(bin_kept["model"] == model) & (bin_kept["low"] > 0)]
    rows = rows[rows["low"] == rows["low"].min()].sort_values("width")
    panels = [cloud_panel("as captured", 1.0), cloud_panel("aligned", 0.0)]
    panels.append(
        Panel(
            title="plasticity, measured",
            series=[
                Line(x=rows["width"], y=rows["pooled"], entity="total", legend=False),
                Line(x=rows["width"], y=rows["aligned"], entity="neutral", dash="dashed", legend=False),
            ],
            x=Axis(label="tokens in a bin", scale="log", base=2, ticks={turn: f"{turn:,}" for turn in rows["width"]}),
            y=Axis(low=0.4, high=0.8, ticks=[0.4, 0.6, 0.8]),
            annotations=[
                Annotation(x=256, y=0.70, text="as captured", anchor="above", entity="total"),
                Annotation(x=256, y=0.50, text="aligned", anchor="below", entity="neutral"),
            ],
        )
    )
    return Figure(
        panels=panels,
        letters=True,
        height=27,
        entities={
            name: Style(color="okgrey" if turn > 0 else "okblack", mark=mark) for name, (turn, mark) in PLACES.items()
        },
        caption=(
            "What rotation inside a bin does to the spread of queries. (a) Drawn, in one pair of dimensions: the "
            "contents of one spread at three positions are turned by different angles, and their pooled cloud is wider "
            "than that of one. (b) Aligned (turned to the middle) they are one cloud. (c) Measured: plasticity of "
            f"{name} in the first bins that have keys before them rises with their width as captured, and not when "
            "queries are aligned."
        ),
        short="What turning queries to the middle of a bin does to their spread",
    )


def cloud_panel(title: str, fraction: float) -> Panel:
    """Return a panel of queries at three positions of a bin, each rotated by `fraction` of its position's angle."""
    series = []
    for index, (name, (share, _)) in enumerate(PLACES.items()):
        points = []
        for number in range(index, CONTENTS * len(PLACES), len(PLACES)):
            radius, angle = 0.42 * math.sqrt(number / CONTENTS / len(PLACES)), 2.39996 * number  # even over a disc
            x, y = 1.2 + radius * math.cos(angle), radius * math.sin(angle)
            turn = fraction * share * TURN
            points.append((x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn)))
        xs, ys = zip(*points, strict=True)
        series.append(Points(x=xs, y=ys, entity=name, label=f"{name} position of the bin"))
    first = Axis(low=-0.5, high=2.1, ticks=[0, 1, 2], label="first dimension")  # units are as long on the other axis
    second = Axis(low=-1, high=1, ticks=[-1, 0, 1], label="second dimension")
    return Panel(title=title, series=series, x=first, y=second, rules=[Rule(at=0, axis="x", dash="solid")])
