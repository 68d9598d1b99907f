"""Plasticity and exchange of positions along texts of four training lengths, a line per model of the second run."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Panel, Points, Rule
from figures.population._arms import LOOKS, bases
from figures.population._runs import BEYOND, bundles, measured

PARTS = (-0.3, 0, 0.3)
SHOWN = (
    ("plasticity", "bucket_full", "pooled", Axis(label="plasticity", low=0.2, high=1, ticks=[0.2, 0.4, 0.6, 0.8])),
    ("plasticity", "aligned_full", "one position", Axis(low=0.2, high=1, ticks=[0.2, 0.4, 0.6, 0.8])),
    ("sway", "aligned_full", "winners turned", Axis(label="share of pairs", low=-0.05, high=0.8, ticks=[0, 0.3, 0.6])),
    ("position_part", "aligned_full", "position part", Axis(label="of the spread", low=-0.4, high=0.6, ticks=PARTS)),
)
ARMS = ("A", "B", "C")
TICKS = {1.0: "1", 2.0: "2", 3.0: "3", 4.0: "4"}


def figure(
    retrained_points: pd.DataFrame, population_members: pd.DataFrame, plasticity_settings: pd.DataFrame
) -> Figure:
    """Return the figure: a row per base of the rotation."""
    words = plasticity_settings.set_index("setting")["value"]
    rows = retrained_points[(retrained_points["weights"] == "all") & retrained_points["arm"].isin(ARMS)]
    panels: list[Panel] = []
    shown = bases(rows)
    for base in shown:
        for quantity, estimator, title, axis in SHOWN:
            part = rows[(rows["base"] == base) & (rows["quantity"] == quantity) & (rows["estimator"] == estimator)]
            first, others = part[part["arm"] == "A"].groupby("place")["value"].mean(), part[part["arm"] != "A"]
            legend = not panels
            mean = [Points(entity="A", label="A: rotation, mean", x=first.index, y=first, legend=legend)]
            panels.append(
                Panel(
                    title=title,
                    series=[*bundles(others, legend=legend), *mean[: len(first)]],  # A without seeds, which hide B
                    shades=[replace(BEYOND, label="")],
                    annotations=[Annotation(x=0.9, y=axis.high or 1.0, text=f"base {base:,}", anchor="below right")],
                    x=Axis(label="quarter of text", ticks=TICKS),
                    y=axis,
                    rules=[Rule(at=0.0, dash="solid")] if quantity == "position_part" else [],
                )
            )
    return Figure(
        panels=panels,
        columns=len(SHOWN),
        letters=True,
        height=27,
        entities=LOOKS,
        caption=(
            "Plasticity and position by quarter of texts of four training lengths, grey beyond the first: (a, e) "
            f"queries pooled in bins of {words['population_bin']} words, (b, f) at one position, bins of "
            f"{words['second_bin']}; (c, g) pairs whose winner changes when two keys exchange positions; (d, h) what "
            "position prefers, above 0 the nearer key. In C, without rotation, (c, d, g, h) are 0 by construction. "
            "Mean over heads. Thin: seeds of B and C; thick: their mean; points: the mean of A. "
            f"{measured(rows, population_members)} Unit: one training seed."
        ),
        short="Plasticity at one position and exchange of positions",
    )
