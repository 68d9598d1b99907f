"""Delta P by layer of every measured model, for samples whose prediction flips and samples whose prediction stays."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Points
from boundpaper.figures.series import Series
from figures.population._arms import ARMS, LOOKS

GROUPS = {"question": "question-anchored", "answer": "answer-anchored"}
MOST = 8  # greatest number of series in one panel


def figure(anchoring_curves: pd.DataFrame, subjects: pd.DataFrame) -> Figure:
    """Plot one line per model and data set in two panels; pretrained models have a separate figure."""
    split = anchoring_curves[(anchoring_curves["split"] == "layer") & (anchoring_curves["n"] > 0)]
    apart = subjects.loc[subjects["role"] == "pretrained", "model"]
    split = split[~((split["data"] == "planted") & split["model"].isin(apart))]
    small = subjects[subjects["role"] == "lab"].set_index("model")
    order = [name for name in small.index if name in set(split["model"])]
    order += [name for name in dict.fromkeys(split["model"]) if name not in order]
    shown = [(model, data) for model in order for data in dict.fromkeys(split.loc[split["model"] == model, "data"])]
    drawn = {pair: split[(split["model"] == pair[0]) & (split["data"] == pair[1])] for pair in shown[:MOST]}
    place = "layer" if split.groupby("model")["layer"].max().nunique() == 1 else "depth"
    last = int(split["layer"].max())
    layers = Axis(label="layer", ticks=range(0, last + 1, max(1, round(last / 5))))
    if place == "depth":
        layers = Axis(label="layer, from first to last, %", ticks=[0, 25, 50, 75, 100])
    panels: list[Panel] = []
    for group, title in GROUPS.items():
        series: list[Series] = []
        for number, ((model, data), curve) in enumerate(drawn.items(), start=1):
            rows = curve[curve["group"] == group].sort_values("layer")
            if rows.empty:
                continue
            arm = str(rows["entity"].iloc[0])
            arm = arm if arm in ARMS else ""
            entity = arm or f"series-{number}"
            name = f"{arm}: {ARMS[arm]}" if arm else str(small["label"].get(model, rows["display_name"].iloc[0]))
            name = name if data == "planted" else f"{name}, {data}"
            control = "control" if len(drawn) <= MOST // 2 else ""
            series += read_and_unread(rows, place, entity, name, control, 0.16 * number - 0.4)
        cut = [line for line in series if isinstance(line, Line) and line.dash]
        told = [
            Annotation(x=line.x[-1], y=min(line.y), text="other tokens cut", anchor="below left")
            for line in cut[: not panels]
        ]
        panels.append(
            Panel(title=title, series=series, x=layers, y=Axis(label="$\\Delta P$, points"), annotations=told)
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


def read_and_unread(
    rows: pd.DataFrame, place: str, entity: str, label: str, control: str, aside: float
) -> list[Series]:
    """Return a line, its band and its control column (if any) where the probe beats chance; else points `aside`."""
    above = rows["above_chance"].astype(bool)
    read, unread = rows[above], rows[~above]
    series: list[Series] = []
    if len(read):
        low, high = read["delta_p_low"], read["delta_p_high"]
        line = Line(entity=entity, label=label, x=read[place], y=read["delta_p"], low=low, high=high, marks=True)
        series.append(replace(line, uncertainty="band"))
    cut = read[read[control].notna()] if control else read.head(0)
    if len(cut):
        x, y = cut[place], cut[control]
        series.append(Line(entity=entity, dash="densely dotted", x=x, y=y, marks=False, legend=False))
    if len(unread):
        x, y, alone = unread[place] + aside, unread["delta_p"], read.empty
        series.append(Points(entity=entity, label=label, origin="reported", x=x, y=y, legend=alone))
    return series
