"""Plasticity and exchange of positions along texts of four training lengths, a line per model of the second run."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Rule
from figures.population._arms import LOOKS, bases
from figures.population._runs import bundles, measured

SHOWN = (
    ("plasticity", "bucket_full", "plasticity, pooled bins"),
    ("plasticity", "aligned_full", "plasticity, one position"),
    ("sway", "aligned_full", "sway"),
    ("position_part", "aligned_full", "position part / spread"),
)
ARMS = ("A", "B", "C")
TICKS = {1.0: "1", 2.0: "2", 3.0: "3", 4.0: "4"}


def figure(retrained_points: pd.DataFrame, population_members: pd.DataFrame) -> Figure:
    """Return the figure: a row per base of the rotation."""
    rows = retrained_points[(retrained_points["weights"] == "all") & retrained_points["arm"].isin(ARMS)]
    panels = []
    for base in bases(rows):
        for quantity, estimator, label in SHOWN:
            part = rows[(rows["base"] == base) & (rows["quantity"] == quantity) & (rows["estimator"] == estimator)]
            panels.append(
                Panel(
                    title=f"base {base:,}",
                    series=bundles(part, legend=(quantity, estimator) == SHOWN[0][:2]),
                    x=Axis(label="quarter of the text", ticks=TICKS),
                    y=Axis(label=label),
                    rules=[Rule(at=0.0, axis="y", label="neither key")] if quantity == "position_part" else [],
                )
            )
    return Figure(
        panels=panels,
        columns=len(SHOWN),
        letters=True,
        height=34,
        entities=LOOKS,
        caption=(
            "Plasticity of queries pooled in bins of 8 words, and turned to one position; the probability that the "
            "exchange of two keys' positions changes the winner; and what position prefers, above 0 the nearer key: "
            "by quarter of texts of four training lengths, mean over heads. Thin lines: single seeds; thick lines: "
            f"their mean. {measured(rows, population_members)} Unit: one training seed."
        ),
        short="Plasticity at one position and exchange of positions",
    )
