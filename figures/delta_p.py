"""Delta P over the layers of every measured model, in the two groups that its own flips make."""

import pandas as pd

from figures import Axis, Figure, Line, Panel, Points, Rule

GROUPS = {"question": "question-anchored", "answer": "answer-anchored"}
MOST = 8  # series; further training seeds are in their table
OWN = {"tiny-rope": "rope", "tiny-drope": "drope"}


def figure(anchoring_curves: pd.DataFrame) -> Figure:
    """Two panels, a line a model and data set; layers whose probe is not above chance are hollow."""
    curves = anchoring_curves[~anchoring_curves["model"].str.contains(r"-s\d+$")]
    names = curves[["model", "data"]].drop_duplicates().itertuples(index=False)
    shown = list(dict.fromkeys((str(model), str(data)) for model, data in names))[:MOST]
    split = curves[curves["split"] == "layer"]
    one_depth = split.groupby("model")["layer"].max().nunique() == 1
    place = "layer" if one_depth else "depth"
    panels = []
    for group, title in GROUPS.items():
        series: list[Line | Points] = []
        for number, (model, data) in enumerate(shown, start=1):
            rows = split[(split["model"] == model) & (split["data"] == data) & (split["group"] == group)]
            rows = rows[rows["n"] > 0].sort_values("layer")
            if rows.empty:
                continue
            entity = OWN.get(model, f"series-{number}")
            name = str(rows["display_name"].iloc[0])
            series.append(
                Line(
                    entity=entity,
                    label=name if data == "planted" else f"{name}, {data}",
                    legend=group == "question",
                    origin="measured",
                    x=rows[place],
                    y=rows["delta_p"],
                    low=rows["delta_p_low"],
                    high=rows["delta_p_high"],
                    uncertainty="band",
                    marks=True,
                )
            )
            with_control = rows[rows["control"].notna()]
            if len(with_control) and len(shown) <= MOST // 2:
                series.append(
                    Line(
                        entity=entity,
                        legend=False,
                        dash="densely dotted",
                        x=with_control[place],
                        y=with_control["control"],
                        marks=False,
                    )
                )
            blind = rows[~rows["above_chance"].astype(bool)]
            if len(blind):
                series.append(
                    Points(entity="reported", legend=False, origin="reported", x=blind[place], y=blind["delta_p"])
                )
        panels.append(
            Panel(
                title=title,
                series=series,
                rules=[Rule(at=0)],
                x=_axis(split, one_depth),
                y=Axis(label="$\\Delta P$, points"),
            )
        )
    units = split.loc[split["n"] > 0, "n"]
    hollow = "" if split["above_chance"].astype(bool).all() else " Hollow grey points: the probe is not above chance."
    return Figure(
        panels=panels,
        columns=2,
        letters=True,
        share_y=True,
        height=48,
        caption=(
            "Measured $\\Delta P$ over the layers: change of the probability that a probe of truth gives to its own "
            "prediction when the answer can no longer attend to the question, in percentage points, mean over "
            f"{units.min()} to {units.max()} units with a 95 % bootstrap band. A sample is question-anchored at a "
            "layer where its prediction flips, so that (a) lies below zero by construction. Unit: question, or the "
            "name that planted statements are about."
        ),
        short="Measured $\\Delta P$ over the layers",
        note=(
            "Dotted: as many other tokens cut instead of the question's."
            + hollow
            + " The charts that the source describes show other models and data; of them only landmarks are known."
        ),
    )


def _axis(rows: pd.DataFrame, one_depth: bool) -> Axis:
    if not one_depth:
        return Axis(label="layer, from first to last, %", ticks=[0, 25, 50, 75, 100])
    last = int(rows["layer"].max())
    return Axis(label="layer", ticks=list(range(0, last + 1, max(1, round(last / 5)))))
