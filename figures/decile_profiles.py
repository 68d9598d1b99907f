"""Plasticity by decile of the context, one panel per family."""

import pandas as pd

from artifacts.wording import tokens
from figures import Axis, Figure, Line, Panel


def figure(decile_profiles: pd.DataFrame) -> Figure:
    """Return the figure."""
    names = [f"d{number}" for number in range(10)]
    middles = [10 * number + 5 for number in range(10)]
    full = decile_profiles["captured_context"].max()
    panels = []
    for family, rows in decile_profiles.groupby("family", sort=False):
        lines = [
            Line(entity=row["model"], x=middles, y=row[names], direct=True, origin="reported", legend=False)
            for _, row in rows.iterrows()
        ]
        context = rows["captured_context"].iloc[0]
        title = str(family) if context == full else f"{family} ({tokens(context)} tokens)"
        panels.append(
            Panel(
                series=lines,
                x=Axis(label="position (% of the context)", low=0, high=100, ticks=[0, 20, 40, 60, 80, 100]),
                y=Axis(label="plasticity"),
                title=title,
            )
        )
    shown = decile_profiles[decile_profiles["shape"] == "rises"].sort_values("draw_up", ascending=False)
    said = ", ".join(f"{row['display_name']} {row['draw_up']:+.3f}" for _, row in shown.iterrows())
    return Figure(
        panels=panels,
        columns=2,
        share_y=True,
        legend="none",
        caption=(
            f"Plasticity by decile of the context, {len(decile_profiles)} captured models by family, as printed in "
            "Tables 4 and 10 of the source [@shcherb2026] (hollow marks: reported values). Unit: one model, mean over "
            f"heads; each decile at its middle; {tokens(full)} tokens unless the title says otherwise. Profiles with a "
            f"rise that rounding cannot explain, and its size: {said}."
        ),
        short="Plasticity by decile of the context",
    )
