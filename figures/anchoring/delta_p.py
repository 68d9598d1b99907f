"""Delta P over the layers of every measured model, in the two groups that its own flips make."""

import pandas as pd

from figures import Axis, Bundle, Figure, Line, Panel, Points
from figures._press.series import Series

GROUPS = {"question": "question-anchored", "answer": "answer-anchored"}
MOST = 8
"""Series that one panel holds."""


def figure(anchoring_curves: pd.DataFrame, subjects: pd.DataFrame) -> Figure:
    """Two panels, a line a model and data set, with its training seeds; hollow where a probe is not above chance."""
    split = anchoring_curves[(anchoring_curves["split"] == "layer") & (anchoring_curves["n"] > 0)]
    own = subjects[subjects["role"] == "lab"].set_index("model")["side"].to_dict()
    split = split.assign(trained=[own.get(model, model) for model in split["model"]])
    sides = dict.fromkeys(own.values())
    order = [*sides, *dict.fromkeys(name for name in split["trained"] if name not in sides)]
    shown = [(model, data) for model in order for data in dict.fromkeys(split.loc[split["trained"] == model, "data"])][
        :MOST
    ]
    drawn = {pair: _over_seeds(split[(split["trained"] == pair[0]) & (split["data"] == pair[1])]) for pair in shown}
    place = "layer" if split.groupby("model")["layer"].max().nunique() == 1 else "depth"
    panels = []
    for group, title in GROUPS.items():
        series: list[Series] = []
        blind: list[pd.DataFrame] = []
        for number, ((model, data), curve) in enumerate(drawn.items(), start=1):
            rows = curve[curve["group"] == group].sort_values("layer")
            if rows.empty:
                continue
            entity = model if model in sides else f"series-{number}"
            name = str(rows["name"].iloc[0])
            alone = rows["seeds"].max() == 1
            if not alone:
                of_model = (split["trained"] == model) & (split["data"] == data) & (split["group"] == group)
                single = split[of_model].pivot(index="model", columns=place, values="delta_p")
                series.append(
                    Bundle(entity=entity, x=list(single.columns), lines=single, band=False, mean=False, legend=False)
                )
            series.append(
                Line(
                    entity=entity,
                    label=name if data == "planted" else f"{name}, {data}",
                    origin="measured",
                    x=rows[place],
                    y=rows["delta_p"],
                    low=rows["low"] if alone else None,
                    high=rows["high"] if alone else None,
                    uncertainty="band",
                    marks=True,
                    direct=True,
                )
            )
            with_control = rows[rows["control"].notna()]
            if len(with_control) and len(shown) <= MOST // 2:
                series.append(
                    Line(
                        entity=entity,
                        dash="densely dotted",
                        x=with_control[place],
                        y=with_control["control"],
                        marks=False,
                        legend=False,
                    )
                )
            blind.append(rows[~rows["above_chance"].astype(bool)])
        unread = pd.concat(blind) if blind else split.head(0)
        if len(unread):
            series.append(
                Points(entity="reported", origin="reported", x=unread[place], y=unread["delta_p"], legend=False)
            )
        panels.append(
            Panel(
                title=title,
                series=series,
                x=_axis(split, place),
                y=Axis(label="$\\Delta P$, points"),
            )
        )
    seeds = pd.concat(list(drawn.values()))["seeds"]
    return Figure(
        panels=panels,
        columns=2,
        letters=True,
        share_y=True,
        height=48,
        caption=(
            "A probe of truth believes less in its own prediction when the answer can no longer attend to the "
            "question: $\\Delta P$, the change of the probability that it gives, by layer; mean over "
            f"{split['n'].min()} to {split['n'].max()} units and over {_count(seeds)}; {_bands(seeds)}. A sample is "
            "question-anchored at a layer where its prediction flips, so that (a) lies below zero by construction. "
            "Unit: question, or the name that planted statements are about."
        ),
        short="Measured $\\Delta P$ over the layers",
        note=(
            "Dotted, near zero: as many other tokens cut as the question has, mean over the same seeds. A point is "
            "hollow where one seed's probe is not above chance. The charts of the description show other models and "
            "data; of them only landmarks are known."
        ),
    )


def _over_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over a model's training seeds by group and layer, with the least and the most of them.

    One seed keeps its own bootstrap interval. A control counts where every seed has one.
    """
    found = []
    for (group, layer), seeds in rows.groupby(["group", "layer"]):
        alone = len(seeds) == 1
        found.append(
            {
                "group": group,
                "layer": layer,
                "depth": seeds["depth"].iloc[0],
                "name": str(seeds["display_name"].iloc[0]).partition(", seed")[0],
                "delta_p": seeds["delta_p"].mean(),
                "low": seeds["delta_p_low" if alone else "delta_p"].min(),
                "high": seeds["delta_p_high" if alone else "delta_p"].max(),
                "control": seeds["control"].mean() if seeds["control"].notna().all() else float("nan"),
                "above_chance": seeds["above_chance"].astype(bool).all(),
                "seeds": len(seeds),
            }
        )
    return pd.DataFrame(found)


def _count(seeds: pd.Series) -> str:
    low, high = int(seeds.min()), int(seeds.max())
    return f"{high} training seed{'s' * (high > 1)}" if low == high else f"{low} to {high} training seeds"


def _bands(seeds: pd.Series) -> str:
    """How spread is drawn, for models of one seed and of several."""
    kinds = ["thin lines: single seeds"] if seeds.max() > 1 else []
    kinds += ["bands: 95 % bootstrap where there is one seed"] if seeds.min() == 1 else []
    return ", ".join(kinds)


def _axis(rows: pd.DataFrame, place: str) -> Axis:
    if place == "depth":
        return Axis(label="layer, from first to last, %", ticks=[0, 25, 50, 75, 100])
    last = int(rows["layer"].max())
    return Axis(label="layer", ticks=list(range(0, last + 1, max(1, round(last / 5)))))
