"""Delta P of planted statements about what pretrained models know, by layer and by what the truth needs."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel, Points, Rule, display
from boundpaper.figures.series import Series

GROUPS = {"question": "needs the question", "answer": "answer alone tells"}


def figure(anchoring_curves: pd.DataFrame, subjects: pd.DataFrame) -> Figure:
    """One panel per model, a line per group; hollow where the probe is not above chance."""
    role = subjects[subjects["role"] == "pretrained"].set_index("model")["label"]
    mine = anchoring_curves[(anchoring_curves["data"] == "planted") & (anchoring_curves["split"] == "design")]
    mine = mine[mine["model"].isin(role.index) & (mine["n"] > 0)]
    panels = []
    for model in [each for each in role.index if each in set(mine["model"])]:
        curves = mine[mine["model"] == model]
        series: list[Series] = []
        for number, (group, words) in enumerate(GROUPS.items(), start=1):
            rows = curves[curves["group"] == group].sort_values("layer")
            series.append(
                Line(
                    entity=f"series-{number}",
                    label=words,
                    origin="measured",
                    x=rows["layer"],
                    y=rows["delta_p"],
                    low=rows["delta_p_low"],
                    high=rows["delta_p_high"],
                    uncertainty="band",
                    marks=True,
                )
            )
            series.append(
                Line(
                    entity=f"series-{number}",
                    dash="densely dotted",
                    x=rows["layer"],
                    y=rows["filler"],
                    marks=False,
                    legend=False,
                )
            )
        unread = curves[~curves["above_chance"].astype(bool)]
        if len(unread):
            series.append(
                Points(entity="reported", origin="reported", x=unread["layer"], y=unread["delta_p"], legend=False)
            )
        last = int(curves["layer"].max())
        panels.append(
            Panel(
                title=display(model),
                series=series,
                rules=[Rule(at=0, dash="solid")],
                x=Axis(label="layer", ticks=list(range(0, last + 1, max(1, round(last / 5))))),
                y=Axis(label="$\\Delta P$, points"),
            )
        )
    least, most = mine["n"].min(), mine["n"].max()
    return Figure(
        panels=panels,
        columns=len(panels),
        letters=True,
        share_y=True,
        height=45,
        caption=(
            "Belief of a probe of truth when the end of a statement can no longer attend to its beginning, in "
            "statements about cities and athletes that the model itself completes rightly: $\\Delta P$ by layer, by "
            f"what the truth needs. Unit: one name, n = {least} to {most}; bands: 95 % bootstrap."
        ),
        short="$\\Delta P$ of planted statements in pretrained models",
        note=(
            "Dotted: as many tokens of the text before cut. A point is hollow where the probe is not above chance on "
            "statements that need the question. The answer alone tells where a statement ends in what nothing is in or "
            "plays."
        ),
    )
