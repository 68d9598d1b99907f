"""What goes with the loss of keys over length, one point a model of the population."""

import pandas as pd

from figures import Axis, Figure, Panel, Points
from figures.population._arms import ARMS, LOOKS, of_base, seeds

BASE = 400
METRICS = {
    "ap_last_20": ("late plasticity", 1.0),
    "ap_drop": ("drop of plasticity", 1.0),
    "bias_strength": ("bias a token ($\\times 10^{-3}$)", 1e3),
    "bias_window": ("bias over the window", 1.0),
}


def figure(population_outcomes: pd.DataFrame, population_relations_every: pd.DataFrame) -> Figure:
    """Return the figure."""
    rows = of_base(population_outcomes, BASE)
    # what never rotated has no base and is in no relation of the plan
    rows = rows[(rows["encoding"] == "own") & (rows["base"] == BASE)]
    decline = rows[rows["outcome"] == "decline"].set_index("model")["value"]
    known = population_relations_every.dropna(subset="rho")
    rho = dict(zip(known["outcome"], known["rho"].astype(float), strict=True))
    panels = []
    for metric, (label, factor) in METRICS.items():
        part = rows[(rows["outcome"] == metric) & rows["model"].isin(decline.index)]
        panels.append(
            Panel(
                title=f"mean $\\rho$ {rho[metric]:+.2f}" if metric in rho else "",
                series=[
                    Points(
                        entity=str(arm),
                        label=f"{arm}: {ARMS[str(arm)]}",
                        legend=metric == "ap_last_20",
                        x=factor * each["value"],
                        y=100 * each["model"].map(decline),
                        origin="measured",
                    )
                    for arm, each in part.groupby("arm")
                ],
                x=Axis(label=label),
                y=Axis(label="keys lost, 1× to 4×", percent=True),
            )
        )
    return Figure(
        panels=panels,
        columns=2,
        letters=True,
        share_y=True,
        height=30,
        entities=LOOKS,
        caption=(
            "Loss of keys from one to four training lengths against what was measured in the heads of the same models "
            f"(base {BASE}; {seeds(rows)}); each point is one model, its value the mean over its heads. Above each "
            "panel the rank correlation within a seed, averaged over seeds: models of a seed differ in their arm alone."
        ),
        short="Loss over length against the heads' metrics in the population",
    )
