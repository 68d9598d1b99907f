"""Delta P by layer of every measured model, for samples whose prediction flips and samples whose prediction stays."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Points
from boundpaper.figures.series import Series
from figures.population._arms import ARMS, LOOKS

GROUPS = {"question": "question-anchored", "answer": "answer-anchored"}
MOST_SERIES = 8  # greatest number of series in one panel


def figure(anchoring_curves: pd.DataFrame, subjects: pd.DataFrame) -> Figure:
    """Plot one line per model and data set in two panels; pretrained models have a separate figure."""
    split = anchoring_curves[(anchoring_curves["split"] == "layer") & (anchoring_curves["n"] > 0)]
    pretrained = subjects.loc[subjects["role"] == "pretrained", "model"]
    split = split[~((split["data"] == "planted") & split["model"].isin(pretrained))]
    lab = subjects[subjects["role"] == "lab"].set_index("model")
    order = [name for name in lab.index if name in set(split["model"])]
    order += [name for name in dict.fromkeys(split["model"]) if name not in order]
    pairs = [(model, data) for model in order for data in dict.fromkeys(split.loc[split["model"] == model, "data"])]
    curves = {pair: split[(split["model"] == pair[0]) & (split["data"] == pair[1])] for pair in pairs[:MOST_SERIES]}
    column = "layer" if split.groupby("model")["layer"].max().nunique() == 1 else "depth"
    last = int(split["layer"].max())
    layers = Axis(label="layer", ticks=range(0, last + 1, max(1, round(last / 5))))
    if column == "depth":
        layers = Axis(label="layer, from first to last, %", ticks=[0, 25, 50, 75, 100])
    panels: list[Panel] = []
    for group, title in GROUPS.items():
        series: list[Series] = []
        for number, ((model, data), curve) in enumerate(curves.items(), start=1):
            rows = curve[curve["group"] == group].sort_values("layer")
            if rows.empty:
                continue
            arm = str(rows["entity"].iloc[0])
            arm = arm if arm in ARMS else ""
            entity = arm or f"series-{number}"
            name = f"{arm}: {ARMS[arm]}" if arm else str(lab["label"].get(model, rows["display_name"].iloc[0]))
            name = name if data == "planted" else f"{name}, {data}"
            control = "control" if len(curves) <= MOST_SERIES // 2 else ""
            series += delta_p_series(rows, column, entity, name, control, 0.16 * number - 0.4)
        controls = [line for line in series if isinstance(line, Line) and line.dash]
        annotations = [
            Annotation(x=line.x[-1], y=min(line.y), text="other tokens cut", anchor="below left")
            for line in controls[: not panels]
        ]
        panels.append(
            Panel(title=title, series=series, x=layers, y=Axis(label="$\\Delta P$, points"), annotations=annotations)
        )
    return Figure(
        panels=panels,
        letters=True,
        height=48,
        entities=LOOKS,
        caption=(
            "What a probe of truth believes of its own prediction when the answer can no longer attend to the "
            "question: $\\Delta P$, the change of the probability that it gives, by layer; mean over "
            f"{split['n'].min()} to {split['n'].max()} units of one training each, bands: 95 % bootstrap. A sample is "
            "question-anchored at a layer where its prediction flips, so that (a) lies below zero by construction. "
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
    """Return a line with its band and control where the probe beats chance, and shifted points where it does not."""
    above = rows["above_chance"].astype(bool)
    read, unread = rows[above], rows[~above]
    series: list[Series] = []
    if len(read):
        low, high = read["delta_p_low"], read["delta_p_high"]
        line = Line(entity=entity, label=label, x=read[column], y=read["delta_p"], low=low, high=high, marks=True)
        series.append(replace(line, uncertainty="band"))
    controlled = read[read[control].notna()] if control else read.head(0)
    if len(controlled):
        x, y = controlled[column], controlled[control]
        series.append(Line(entity=entity, dash="densely dotted", x=x, y=y, marks=False, legend=False))
    if len(unread):
        x, y, legend = unread[column] + offset, unread["delta_p"], read.empty
        series.append(Points(entity=entity, label=label, origin="reported", x=x, y=y, legend=legend))
    return series
