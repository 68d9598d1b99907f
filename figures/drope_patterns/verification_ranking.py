"""Ranking and verification of the exact number against near-misses (Figure J of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Points, Rule
from boundpaper.typeset.wording import whole

MODELS = {"rope": "RoPE", "drope": "DroPE"}
ASIDE = {"rope": 0.93, "drope": 1.0 / 0.93}
"""Factors of the context that set the two models of a length side by side."""


def figure(ranking_cells: pd.DataFrame, drope_verification: pd.DataFrame) -> Figure:
    """Ranking with exact intervals and chance, then the difference of P(yes) with its rounding."""
    contexts = sorted(set(ranking_cells["context"]))
    axis = Axis(
        label="context (tokens)",
        scale="log",
        base=2,
        low=min(contexts) / 1.3,
        high=max(contexts) * 1.3,
        ticks={float(context): f"{context // 1024}K" for context in contexts},
    )
    panels = [
        Panel(
            title="ranked first",
            series=[
                Points(
                    entity=entity,
                    x=rows["context"] * ASIDE[entity],
                    y=rows["share"],
                    y_low=rows["ci_low"],
                    y_high=rows["ci_high"],
                )
                for entity, rows in _of_models(ranking_cells)
            ],
            rules=[Rule(at=float(ranking_cells["chance"].iloc[0]), label="chance")],
            x=axis,
            y=Axis(label="trials", low=0, high=102, percent=True),
        ),
        Panel(
            title="difference of P(yes)",
            series=[
                Points(
                    entity=entity,
                    x=rows["context"] * ASIDE[entity],
                    y=rows["value"],
                    y_low=rows["low"],
                    y_high=rows["high"],
                )
                for entity, rows in _of_models(drope_verification)
            ],
            rules=[Rule(at=0.0, dash="solid")],
            x=axis,
            y=Axis(label="exact minus near-miss", ticks=[0, 0.01, 0.02]),
        ),
    ]
    trials = ranking_cells["trials"].iloc[0]
    return Figure(
        panels=panels,
        columns=2,
        letters=True,
        height=45,
        caption=(
            "RoPE ranks the exact number above near-misses, DroPE not more often than by chance, while their means of "
            "P(yes) say the opposite. (a) Share of trials in which the exact number has the largest P(yes) of four, "
            f"{whole(trials)} trials a point; bars: exact 95 % intervals. (b) Mean difference of P(yes) as printed; "
            "bars: what two printed decimals leave open, no spread is given. Unit: trial; Section 11.4 of the report "
            "[@africa2026]."
        ),
        short="Ranking and verification of the exact number",
    )


def _of_models(cells: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Each model's cells in the order of the context."""
    return [(entity, cells[cells["positional"] == name].sort_values("context")) for entity, name in MODELS.items()]
