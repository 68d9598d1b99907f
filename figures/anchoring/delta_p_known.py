"""Delta P by layer in pretrained models, for planted statements decided by their beginning or by their end."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Rule, Style, display
from boundpaper.figures.series import Series
from figures.anchoring.delta_p import delta_p_series
from figures.pretrained._models import full_attention

GROUPS = {"question": "needs the beginning", "answer": "end alone tells"}
LOOKS = {"question": Style(color="okblack"), "answer": Style(color="okgrey", mark="square*", dash="dashed")}


def figure(anchoring_curves: pd.DataFrame, subjects: pd.DataFrame, pretrained_heads: pd.DataFrame) -> Figure:
    """Plot one panel per model and one line per group; points are hollow where the probe does not beat chance."""
    labels = subjects[subjects["role"] == "pretrained"].set_index("model")["label"]
    points = anchoring_curves[(anchoring_curves["data"] == "planted") & (anchoring_curves["split"] == "design")]
    points = points[points["model"].isin(labels.index) & (points["n"] > 0)]
    panels, notes = [], ""
    for model in [name for name in labels.index if name in set(points["model"])]:
        curves = points[points["model"] == model]
        series: list[Series] = []
        for group, label in reversed(GROUPS.items()):  # marks of the first group lie on top
            rows = curves[curves["group"] == group].sort_values("layer")
            series += delta_p_series(rows, "layer", group, label, "", 0.3 if group == "answer" else -0.3)
        last, strips = int(curves["layer"].max()), full_attention(curves, pretrained_heads)
        rules = [Rule(at=float(s.low or 0) + 0.5, axis="x", label=s.label, dash="densely dotted") for s in strips]
        if rules:
            notes += f" Both groups fall in the first layer of full attention of {display(model)} ({rules[0].at:.0f})."
        panels.append(
            Panel(
                title=display(model),
                series=series,
                rules=[Rule(at=0, dash="solid"), *rules],
                x=Axis(label="layer", low=-1, high=last + 0.5, ticks=range(0, last + 1, max(1, round(last / 5)))),
                y=Axis(label="$\\Delta P$, points"),
            )
        )
    least, most = points["n"].min(), points["n"].max()
    return Figure(
        panels=panels,
        letters=True,
        share_y=True,
        height=45,
        entities=LOOKS,
        caption=(
            "Statements whose truth needs their beginning lose a probe's belief when their end can no longer attend to "
            "it: $\\Delta P$ by layer, for statements about cities and athletes that the model itself completes "
            f"rightly, by what the truth needs. Unit: one name, $n$ from {least} to {most}; bands: 95 % bootstrap."
        ),
        short="$\\Delta P$ of planted statements in pretrained models",
        note=(
            f"Not drawn: as many tokens of the text before cut, from ${points['filler'].min():.1f}$ to "
            f"${points['filler'].max():.1f}$ points. Hollow, not joined, beside their layer: layers that are not read, "
            "since the probe is not above chance on statements that need their beginning. The end alone tells where it "
            "is a word such as butter, in which no city lies and which nobody plays." + notes
        ),
    )
