"""The main result: passkeys found, plasticity at one position, and the effect of exchanging positions."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Panel
from figures.population._arms import LOOKS, seeds_phrase
from figures.population._runs import BEYOND, seed_bundles, seeds_sentence

ARMS = ("B", "C")
BASE = 400
LENGTHS = {2.0: "2", 4.0: "4", 8.0: "8"}
QUARTERS = {1.0: "1", 2.0: "2", 3.0: "3", 4.0: "4"}
TICKS = [0.2, 0.4, 0.6, 0.8]


def figure(
    population_outcomes: pd.DataFrame, retrained_points: pd.DataFrame, population_members: pd.DataFrame
) -> Figure:
    """Return the figure for the two arms that continue from the same model, at the primary base."""
    arms = "base == @BASE and arm in @ARMS"
    keys = population_outcomes.query(f"outcome == 'keys_far' and encoding == 'own' and {arms}")
    keys = keys.rename(columns={"multiple": "place"})
    retrained = retrained_points.query(f"weights == 'all' and estimator == 'aligned_full' and {arms}")
    length = Axis(label="× trained length", scale="log", base=2, ticks=LENGTHS)
    quarter = Axis(label="quarter of the text", ticks=QUARTERS)
    panels = [
        Panel(
            title="far passkeys found",
            series=seed_bundles(keys, 100, ending=", mean"),
            x=length,
            y=Axis(label="% found"),
        )
    ]
    for quantity, title, factor, axis in (
        ("plasticity", "plasticity, aligned", 1, Axis(label="plasticity", low=0.2, high=0.8, ticks=TICKS)),
        ("sway", "sway", 100, Axis(label="% of pairs of keys", low=45, high=70, ticks=[50, 60, 70])),
    ):
        cells = retrained[retrained["quantity"] == quantity]
        varies = cells[cells.groupby("arm")["value"].transform("max") > 0]  # of the other arms it is 0 by construction
        lines = seed_bundles(varies, factor, legend=False)
        below_axis = Annotation(x=1.0, y=46.5, text="C: 0, below this axis", entity="C")
        annotations = [below_axis] if len(varies) < len(cells) else []
        panels.append(Panel(title=title, series=lines, x=quarter, y=axis, shades=[BEYOND], annotations=annotations))
    return Figure(
        panels=panels,
        letters=True,
        height=31,
        entities=LOOKS,
        caption=(
            "Trained further without rotation (C), models find passkeys beyond the trained distance that those with "
            f"it (B) lose, though their plasticity is lower. (a) First run: {seeds_phrase(keys)}, so this is post hoc. "
            "(b, c) Second run, texts of four trained lengths: plasticity of aligned queries, and sway, the share of "
            "pairs of keys whose winner changes when they exchange positions (0 in C, by construction). "
            f"{seeds_sentence(retrained, population_members)} Thin, solid: single seeds, the unit; thick: their mean."
        ),
        short="Retrieval, plasticity and exchange of positions with rotation and without",
    )
