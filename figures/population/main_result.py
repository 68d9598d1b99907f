"""The main result: keys found, plasticity at one position, and the effect of exchanging positions."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel
from figures.population._arms import LOOKS, seeds
from figures.population._runs import BEYOND, measured, seed_bundles

ARMS = ("B", "C")
BASE = 400
LENGTHS = {2.0: "2", 4.0: "4", 8.0: "8"}
QUARTERS = {1.0: "1", 2.0: "2", 3.0: "3", 4.0: "4"}
TICKS = [0.2, 0.4, 0.6, 0.8]


def figure(
    population_outcomes: pd.DataFrame, retrained_points: pd.DataFrame, population_members: pd.DataFrame
) -> Figure:
    """Return the figure for the two arms that continue from the same model, at the primary base."""
    found = population_outcomes[
        (population_outcomes["outcome"] == "keys_far")
        & (population_outcomes["encoding"] == "own")
        & (population_outcomes["base"] == BASE)
        & population_outcomes["arm"].isin(ARMS)
    ].rename(columns={"multiple": "place"})
    again = retrained_points[
        (retrained_points["weights"] == "all")
        & (retrained_points["estimator"] == "aligned_full")
        & (retrained_points["base"] == BASE)
        & retrained_points["arm"].isin(ARMS)
    ]
    length = Axis(label="× trained length", scale="log", ticks=LENGTHS)
    quarter = Axis(label="quarter of the text", ticks=QUARTERS)
    panels = [Panel(title="far keys found", series=seed_bundles(found, 100), x=length, y=Axis(label="% of far keys"))]
    for quantity, title, factor, axis in (
        ("plasticity", "plasticity", 1, Axis(label="at one position", low=0.2, high=0.8, ticks=TICKS)),
        ("sway", "winners turned", 100, Axis(label="% of pairs of keys", low=-3, high=70, ticks=[0, 20, 40, 60])),
    ):
        part = again[again["quantity"] == quantity]
        lines = seed_bundles(part, factor, legend=False)
        panels.append(Panel(title=title, series=lines, x=quarter, y=axis, shades=[BEYOND]))
    return Figure(
        panels=panels,
        columns=3,
        letters=True,
        height=34,
        entities=LOOKS,
        caption=(
            "Models trained on with their rotation (B) and without it (C). (a) First run: keys found that lie beyond "
            f"the trained distance, by length of the prompt: {seeds(found)}, so this is post hoc. (b, c) Second run, "
            "of the same plan: (b) plasticity with queries at one position, and (c) the share of pairs of keys whose "
            "winner changes when they exchange positions (0 in C, by construction: only the rotation is exchanged), "
            "by quarter of texts of four trained lengths; grey: beyond the "
            f"trained length. {measured(again, population_members)} Thin lines: single seeds; thick: their mean. Unit: "
            "one training seed."
        ),
        short="Retrieval, plasticity and exchange of positions with rotation and without",
    )
