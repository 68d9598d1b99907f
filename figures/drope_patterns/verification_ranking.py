"""Ranking and verification of the exact number against near-misses (Figure J of the source)."""

import pandas as pd

from figures import Axis, Bars, Figure, Panel, Rule

MODELS = {"rope": "RoPE", "drope": "DroPE"}


def figure(ranking_cells: pd.DataFrame, drope_verification: pd.DataFrame) -> Figure:
    """Ranking with exact intervals and chance, then the difference of P(yes) with its rounding."""
    contexts = sorted(set(ranking_cells["context"]))
    names = [f"{context // 1024}K" for context in contexts]
    ranks = {
        model: ranking_cells[ranking_cells["positional"] == model].set_index("context").loc[contexts]
        for model in MODELS.values()
    }
    gaps = {
        model: drope_verification[drope_verification["positional"] == model].set_index("context").loc[contexts]
        for model in MODELS.values()
    }
    panels = [
        Panel(
            title="ranked first",
            series=[
                Bars(
                    entity=entity,
                    x=names,
                    y=ranks[model]["share"],
                    low=ranks[model]["ci_low"],
                    high=ranks[model]["ci_high"],
                )
                for entity, model in MODELS.items()
            ],
            rules=[Rule(at=float(ranking_cells["chance"].iloc[0]), label="chance")],
            x=Axis(label="context, tokens"),
            y=Axis(label="trials, %", low=0, high=100),
        ),
        Panel(
            title="difference of P(yes)",
            series=[
                Bars(
                    entity=entity,
                    x=names,
                    y=gaps[model]["value"],
                    low=gaps[model]["low"].clip(lower=0),
                    high=gaps[model]["high"],
                )
                for entity, model in MODELS.items()
            ],
            x=Axis(label="context, tokens"),
            y=Axis(label="exact minus near-miss", low=0, high=0.03, ticks=[0, 0.01, 0.02, 0.03]),
        ),
    ]
    trials = ranking_cells["trials"].iloc[0]
    return Figure(
        panels=panels,
        columns=2,
        letters=True,
        height=45,
        caption=(
            "Telling the exact number from near-misses, Section 11.4 of the source [@africa2026]. (a) Share of "
            "trials in which the "
            f"exact number has the largest P(yes) of four, {trials} trials a bar; error bars: exact 95 % intervals. "
            "(b) Mean "
            "difference of P(yes) as printed; error bars: what two printed decimals leave open, no spread is given. "
            "Unit: trial."
        ),
        short="Ranking and verification of the exact number",
        note="The two measures of the same answers order the models differently.",
    )
