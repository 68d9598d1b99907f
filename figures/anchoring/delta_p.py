"""Delta P by layer and model, for samples whose prediction flips when the question is cut off, and for the others."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Points
from boundpaper.figures.series import Series
from figures.population._arms import ARMS, LOOKS

GROUPS = {"question": "question-anchored", "answer": "answer-anchored"}
MOST_SERIES = 8  # greatest number of series in one panel


def figure(anchoring_curves: pd.DataFrame, subjects: pd.DataFrame) -> Figure:
    """Plot one line per model and data set in two panels; another figure shows planted data in pretrained models."""
    points = anchoring_curves[(anchoring_curves["split"] == "layer") & (anchoring_curves["n"] > 0)]
    pretrained = subjects.loc[subjects["role"] == "pretrained", "model"]
    points = points[~((points["data"] == "planted") & points["model"].isin(pretrained))]
    lab = subjects[subjects["role"] == "lab"].set_index("model")
    models = [name for name in lab.index if name in set(points["model"])]
    models += [name for name in dict.fromkeys(points["model"]) if name not in models]
    pairs = [(model, data) for model in models for data in dict.fromkeys(points.loc[points["model"] == model, "data"])]
    curves = {pair: points[(points["model"] == pair[0]) & (points["data"] == pair[1])] for pair in pairs[:MOST_SERIES]}
    column = "layer" if points.groupby("model")["layer"].max().nunique() == 1 else "depth"
    last_layer = int(points["layer"].max())
    axis = Axis(label="layer", ticks=range(0, last_layer + 1, max(1, round(last_layer / 5))))
    if column == "depth":
        axis = Axis(label="layer, from first to last, %", ticks=[0, 25, 50, 75, 100])
    panels: list[Panel] = []
    for group, title in GROUPS.items():
        series: list[Series] = []
        for number, ((model, data), curve) in enumerate(curves.items(), start=1):
            rows = curve[curve["group"] == group].sort_values("layer")
            if rows.empty:
                continue
            arm = next((arm for arm in ARMS if arm == rows["entity"].iloc[0]), "")
            entity = arm or f"series-{number}"
            name = f"{arm}: {ARMS[arm]}" if arm else str(lab["label"].get(model, rows["display_name"].iloc[0]))
            name = name if data == "planted" else f"{name}, {data}"
            control = "control" if len(curves) <= MOST_SERIES // 2 else ""
            series += delta_p_series(rows, column, entity, name, control, 0.16 * number - 0.4)
        annotations = []
        controls = [line for line in series if isinstance(line, Line) and line.dash]
        if controls and not panels:  # the name of the first control serves for all
            x, y = controls[0].x[-1], min(controls[0].y)
            annotations.append(Annotation(x=x, y=y, text="other tokens cut", anchor="below left"))
        panels.append(
            Panel(title=title, series=series, x=axis, y=Axis(label="$\\Delta P$, points"), annotations=annotations)
        )
    return Figure(
        panels=panels,
        letters=True,
        height=48,
        entities=LOOKS,
        caption=(
            "What a probe of truth believes of its own prediction when the answer can no longer attend to the "
            "question: $\\Delta P$, the change of the probability that it gives, by layer; mean over "
            f"{points['n'].min()} to {points['n'].max()} units of one training each, bands: 95 % bootstrap. A sample "
            "is question-anchored at a layer where its prediction flips, so that (a) lies below zero by construction. "
            "Unit: question, or the name that planted statements are about."
        ),
        short="Measured $\\Delta P$ over the layers",
        note=(
            "Models of the population, by their arms. Dotted, near zero: as many other tokens cut as the question has. "
            "Hollow, not joined, beside their layer: layers that are not read, since the probe is not above chance."
        ),
    )


def delta_p_series(
    rows: pd.DataFrame, column: str, entity: str, label: str, control: str, offset: float
) -> list[Series]:
    """Return a line with band and control for layers where the probe beats chance, and points for other layers."""
    is_above = rows["above_chance"].astype(bool)
    above, below = rows[is_above], rows[~is_above]
    series: list[Series] = []
    if len(above):
        low, high = above["delta_p_low"], above["delta_p_high"]
        line = Line(entity=entity, label=label, x=above[column], y=above["delta_p"], low=low, high=high, marks=True)
        series.append(replace(line, uncertainty="band"))
    controlled = above[above[control].notna()] if control else above.head(0)
    if len(controlled):
        x, y = controlled[column], controlled[control]
        series.append(Line(entity=entity, dash="densely dotted", x=x, y=y, marks=False, legend=False))
    if len(below):
        x, y, legend = below[column] + offset, below["delta_p"], above.empty
        series.append(Points(entity=entity, label=label, origin="reported", x=x, y=y, legend=legend))
    return series
