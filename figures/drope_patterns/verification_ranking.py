"""Ranking and verification of the exact number against near-misses (Figure J of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Points, Rule
from boundpaper.typeset.wording import whole

MODELS = {"rope": "RoPE", "drope": "DroPE"}
FACTORS = {"rope": 0.93, "drope": 1.0 / 0.93}  # by which contexts are multiplied, to set both models side by side


def figure(ranking_cells: pd.DataFrame, drope_verification: pd.DataFrame) -> Figure:
    """Plot ranking accuracy with exact intervals and chance, then the difference of P(yes) with its rounding error."""
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
            series=_points_by_model(ranking_cells, "share", "ci_low", "ci_high"),
            rules=[Rule(at=float(ranking_cells["chance"].iloc[0]), label="chance")],
            x=axis,
            y=Axis(label="share of trials", low=0, high=102, percent=True),
        ),
        Panel(
            title="difference of P(yes)",
            series=_points_by_model(drope_verification, "value", "low", "high"),
            rules=[Rule(at=0.0, dash="solid")],
            x=axis,
            y=Axis(label="exact minus near-miss", ticks=[0, 0.01, 0.02]),
        ),
    ]
    trials = ranking_cells["trials"].iloc[0]
    return Figure(
        panels=panels,
        letters=True,
        height=45,
        caption=(
            "RoPE ranks the exact number above near-misses, DroPE not more often than by chance, while their means of "
            "P(yes) say the opposite. (a) Share of trials in which the exact number has the largest P(yes) of four, "
            f"{whole(trials)} trials per point; bars: exact 95 % intervals. (b) Mean difference of P(yes) as printed; "
            "bars: what two printed decimals leave open, no spread is given. Unit: trial; Section 11.4 of the report "
            "[@africa2026]."
        ),
        short="Ranking and verification of the exact number",
    )


def _points_by_model(cells: pd.DataFrame, value: str, low: str, high: str) -> list[Points]:
    """Return values and interval ends by context, for each model."""
    points = []
    for entity, name in MODELS.items():
        rows = cells[cells["positional"] == name].sort_values("context")
        x = rows["context"] * FACTORS[entity]
        points.append(Points(entity=entity, x=x, y=rows[value], y_low=rows[low], y_high=rows[high]))
    return points
