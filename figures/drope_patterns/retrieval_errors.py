"""Kinds of answers to the retrieval prompts by model and context (Figure I of the report)."""

import pandas as pd

from analysis.vocabulary import PAIR
from boundpaper.figures import Axis, Figure, Panel, Stacked, Style

KINDS = {
    "exact": ("exact",),
    "near-miss or wrong digits": ("near_miss", "wrong_digits"),
    "one digit off in length": ("off_by_one_length",),
    "wrong length": ("wrong_length",),
    "no number": ("no_number",),
}


def figure(error_shares: pd.DataFrame) -> Figure:
    """Plot one bar per model and context."""
    bars = [(model, context) for model in PAIR for context in sorted(set(error_shares["context"]))]
    names = [f"{model} {context // 1024}K" for model, context in bars]
    cells = error_shares.set_index(["positional", "context", "category"])["share"]
    series = [
        Stacked(
            entity=kind,
            x=names,
            y=[sum(float(cells.get((*bar, category), 0.0)) for category in categories) for bar in bars],
            values=True,
            decimals=0,
        )
        for kind, categories in KINDS.items()
    ]
    trials = error_shares["trials"].iloc[0]
    return Figure(
        panels=[Panel(series=series, y=Axis(label="share of trials, %", low=0, high=100))],
        height=55,
        width=130,
        entities={
            "exact": Style(color="okgreen!60!black", label="exact"),
            "near-miss or wrong digits": Style(color="oksky", mark="square*", label="near-miss or wrong digits"),
            "one digit off in length": Style(
                color="okpurple!40!white", mark="diamond*", label="one digit off in length"
            ),
            "wrong length": Style(color="okorange", hatch="north west lines", mark="triangle*", label="wrong length"),
            "no number": Style(color="okgrey", mark="pentagon*", label="no number"),
        },
        caption=(
            f"Answers by kind, {trials} trials a bar (unit: trial, unseeded), Section 11.5 of the report "
            "[@africa2026]. The report's Figure I merges wrong length and no number, and leaves 4K out."
        ),
        short="Answers by kind, model and context",
    )
