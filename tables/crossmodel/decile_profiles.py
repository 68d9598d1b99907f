"""Plasticity by decile of the context for every captured model, with the largest rise against the trend."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, signed
from tables._house import model_footnotes, model_marks

SHAPES = {"falls": "falls throughout", "rises": "rises", "open": "open"}


def table(decile_profiles: pd.DataFrame) -> Table:
    """Return one row per captured model."""
    longest = decile_profiles["captured_context"].max()
    rows = decile_profiles.assign(
        mark=model_marks(decile_profiles, longest, scored=False), shape=decile_profiles["shape"].map(SHAPES)
    )
    deciles = [
        Column(
            f"d{number}",
            f"{10 * number}–{10 * number + 10}",
            fixed(3),
            group="Plasticity in the decile (% of the context)",
        )
        for number in range(10)
    ]
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model", mark="mark"),
            *deciles,
            Column("draw_up", "Draw-up", signed(3), ci=("draw_up_low", "draw_up_high")),
            Column("rises", "Rises"),
            Column("shape", "Profile"),
        ],
        groups="family",
        group_style="rule",
        landscape=True,
        marks=model_footnotes(rows, longest),
        caption=(
            f"Plasticity by decile of the context, {len(rows)} captured models, from Tables 4 and 10 of the study "
            "[@shcherb2026]. Unit: one model, mean over heads."
        ),
        short="Plasticity by decile of the context",
        note=(
            "Draw-up: the largest rise from a decile to a later one, negative where every later decile is lower; in "
            "brackets what the rounding of the printed deciles leaves open, no confidence interval. Rises: deciles "
            "above the one before. A profile falls throughout where no rounding allows a rise, rises where none "
            "explains the rise away, and is open in between."
        ),
    )
