"""Plasticity and exchange of positions along texts of four training lengths, one line per model of the second run."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Panel, Points, Rule
from figures.population._arms import LOOKS, bases
from figures.population._runs import BEYOND, seed_bundles, seeds_sentence

PARTS = (-0.3, 0, 0.3)
PANELS = (
    ("plasticity", "plasticity", Axis(label="plasticity", low=0.2, high=0.9, ticks=[0.2, 0.4, 0.6, 0.8])),
    ("sway", "sway", Axis(label="% of pairs", low=45, high=70, ticks=[50, 60, 70])),
    ("position_part", "position", Axis(label="lead of nearer key", low=-0.6, high=0.4, ticks=PARTS)),
)
ARMS = ("A", "B", "C")
TICKS = {1.0: "1", 2.0: "2", 3.0: "3", 4.0: "4"}


def figure(
    retrained_points: pd.DataFrame, population_members: pd.DataFrame, plasticity_settings: pd.DataFrame
) -> Figure:
    """Return the figure: one row per rotation base."""
    words = plasticity_settings.set_index("setting")["value"]
    rows = retrained_points[(retrained_points["weights"] == "all") & retrained_points["arm"].isin(ARMS)]
    rows = rows[rows["estimator"] == "aligned_full"]
    rows = rows.assign(value=rows["value"] * rows["quantity"].map({"sway": 100.0}).fillna(1.0))
    panels: list[Panel] = []
    for base in bases(rows):
        for quantity, title, axis in PANELS:
            cells = rows[(rows["base"] == base) & (rows["quantity"] == quantity)]
            first, continued = cells[cells["arm"] == "A"].groupby("place")["value"].mean(), cells[cells["arm"] != "A"]
            varies = continued[continued.groupby("arm")["value"].transform(lambda values: values.abs().max()) > 0]
            label = Annotation(x=1.0, y=46.5, text="C: 0, below this axis", entity="C")
            if quantity != "sway":
                label = replace(label, x=2.6, y=0.11, text="C: 0")
            mean = Points(entity="A", label="A: rotation, mean", x=first.index, y=first, legend=not panels)
            means = [mean] if len(first) else []  # the seeds of A would hide those of B
            panels.append(
                Panel(
                    title=f"{title}, base {base:,}",
                    series=[*seed_bundles(varies, legend=not panels), *means],
                    shades=[replace(BEYOND, label="")],
                    x=Axis(label="quarter of text", ticks=TICKS),
                    y=axis,
                    rules=[Rule(at=0.0, dash="solid")] if quantity == "position_part" else [],
                    annotations=[label] if len(varies) < len(continued) else [],
                )
            )
    return Figure(
        panels=panels,
        letters=True,
        height=26,
        entities=LOOKS,
        caption=(
            "Within the trained length models without rotation (C) are less plastic than with it (B); beyond it "
            "(grey), with rotation, the exchange of two keys turns more winners, and the farther key is preferred. By "
            "quarter of texts of four training lengths: (a, d) plasticity of aligned queries, in bins of "
            f"{words['second_bin']} words; (b, e) sway, the share of pairs whose winner changes when two keys exchange "
            "positions; (c, f) position part, the lead in spreads that position gives to the nearer key, below 0 to "
            "the farther one; of C it is 0 by construction. Mean over heads. Thin, solid: seeds of B and C; thick: "
            f"their mean; points: mean of A. {seeds_sentence(rows, population_members)} Unit: one training seed."
        ),
        short="Plasticity at one position and exchange of positions",
    )
