"""Plasticity and exchange of positions along texts of four training lengths, a line per model of the second run."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Rule
from figures.population._arms import LOOKS, bases
from figures.population._runs import bundles, measured

SHOWN = (
    ("plasticity", "bucket_full", "pooled", Axis(label="plasticity", low=0.3, high=0.9, ticks=[0.3, 0.5, 0.7, 0.9])),
    ("plasticity", "aligned_full", "one position", Axis(low=0.3, high=0.9, ticks=[0.3, 0.5, 0.7, 0.9])),
    ("sway", "aligned_full", "winners turned", Axis(label="share of pairs", ticks=[0, 0.2, 0.4, 0.6])),
    ("position_part", "aligned_full", "position part", Axis(label="of the spread", ticks=[-0.2, 0, 0.2])),
)
ARMS = ("A", "B", "C")
TICKS = {1.0: "1", 2.0: "2", 3.0: "3", 4.0: "4"}


def figure(
    retrained_points: pd.DataFrame, population_members: pd.DataFrame, plasticity_settings: pd.DataFrame
) -> Figure:
    """Return the figure: a row per base of the rotation."""
    words = plasticity_settings.set_index("setting")["value"]
    rows = retrained_points[(retrained_points["weights"] == "all") & retrained_points["arm"].isin(ARMS)]
    panels = []
    shown = bases(rows)
    for base in shown:
        for quantity, estimator, title, axis in SHOWN:
            part = rows[(rows["base"] == base) & (rows["quantity"] == quantity) & (rows["estimator"] == estimator)]
            panels.append(
                Panel(
                    title=title if base == shown[0] else f"base {base:,}",  # below the same quantity of the first
                    series=bundles(part, legend=(quantity, estimator) == SHOWN[0][:2]),
                    x=Axis(label="quarter of text", ticks=TICKS),
                    y=axis,
                    rules=[Rule(at=0.0, dash="solid")] if quantity == "position_part" else [],
                )
            )
    return Figure(
        panels=panels,
        columns=len(SHOWN),
        letters=True,
        height=34,
        entities=LOOKS,
        caption=(
            "Plasticity and position by quarter of texts of four training lengths, of which the first was trained on: "
            f"(a) queries pooled in bins of {words['population_bin']} words, (b) at one position, bins of "
            f"{words['second_bin']}; (c) the share of pairs whose winner changes when two keys exchange positions; (d) "
            "what position prefers, above 0 the nearer key. Mean over heads. "
            f"Thin lines: seeds; thick lines: their mean. {measured(rows, population_members)} Unit: one training seed."
        ),
        short="Plasticity at one position and exchange of positions",
    )
