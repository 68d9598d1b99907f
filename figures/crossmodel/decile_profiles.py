"""Plasticity by decile of the context, one panel per family."""

import math

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel
from boundpaper.typeset.wording import short_names, whole

SHORT = {"SmolLM2-135M-Instruct": "SmolLM2", "Gemma 3 270M": "Gemma 3", "random-llama": "random"}
"""Names that fit beside the last panel."""


def figure(decile_profiles: pd.DataFrame, measured_profiles: pd.DataFrame) -> Figure:
    """Return the figure."""
    position = Axis(label="% of the context", low=0, high=100, ticks=[0, 50, 100])
    names = [f"d{number}" for number in range(10)]
    middles = [10 * number + 5 for number in range(10)]
    full = decile_profiles["captured_context"].max()
    lowest = min(decile_profiles[names].min().min(), measured_profiles["ci_low"].min())
    highest = max(decile_profiles[names].max().max(), measured_profiles["ci_high"].max())
    scale = Axis(label="plasticity", low=math.floor(10 * lowest) / 10, high=math.ceil(10 * highest) / 10)
    panels = []
    for family, rows in decile_profiles.groupby("family", sort=False):
        lines = [
            Line(
                entity=row["model"],
                x=middles,
                y=row[names],
                direct=_short(str(row["display_name"]), str(family)),
                origin="reported",
                legend=False,
            )
            for _, row in rows.iterrows()
        ]
        context = rows["captured_context"].iloc[0]
        title = str(family) if context == full else f"{family} ({whole(context)} tokens)"
        panels.append(Panel(series=lines, x=position, y=scale, title=title))
    labels = {name: SHORT.get(name, name) for name in map(str, measured_profiles["display_name"])}
    labels |= short_names((name for name in labels if name not in SHORT), most=14)
    null = measured_profiles["model"] == "random-llama"
    for title, shown in {"Measured here": measured_profiles[~null], "Random weights": measured_profiles[null]}.items():
        measured = [
            Line(
                entity="measured" if title == "Random weights" else f"series-{number}",
                x=10 * rows["decile"] + 5,
                y=rows["plasticity"],
                low=rows["ci_low"],
                high=rows["ci_high"],
                direct=labels[str(name)],
                origin="measured",
                legend=False,
            )
            for number, (name, rows) in enumerate(shown.groupby("display_name", sort=False), 1)
        ]
        panels += [Panel(series=measured, x=position, y=scale, title=title)] if measured else []
    shown = decile_profiles[decile_profiles["shape"] == "rises"].sort_values("draw_up", ascending=False)
    said = ", ".join(f"{row['display_name']} {row['draw_up']:+.3f}" for _, row in shown.iterrows())
    return Figure(
        panels=panels,
        columns=3,
        legend="none",
        height=38,
        note=(
            "Last two panels: models measured by this project (solid marks), mean over heads with "
            f"95 % bootstrap interval over key heads, {_contexts(measured_profiles)}. The model random-llama has "
            "random weights and reads random words: a null reference, no model of language. Profiles with a rise that "
            f"rounding cannot explain, and its size: {said}."
        ),
        caption=(
            f"Plasticity by decile of the context, {len(decile_profiles)} captured models by family, as printed in "
            "Tables 4 and 10 of the study [@shcherb2026] (hollow marks: reported values). Unit: one model, mean over "
            f"heads, named within its family; each decile at its middle; {whole(full)} tokens unless the title says "
            "otherwise."
        ),
        short="Plasticity by decile of the context",
    )


def _short(name: str, family: str) -> str:
    """A model's name below its family's, which is the panel's title."""
    short = name.removeprefix(f"{family.replace(' ', '-')}-").replace("-Instruct", "").replace("-Vision", "")
    return short.removeprefix(f"{family.split()[0]}-")


def _contexts(measured: pd.DataFrame) -> str:
    """Which context each measured model was captured over, in words."""
    rows = measured.drop_duplicates("display_name")
    pairs = zip(rows["display_name"], rows["captured_context"], rows["heads"], strict=True)
    return ", ".join(f"{name} over {whole(context)} tokens and {heads} heads" for name, context, heads in pairs)
