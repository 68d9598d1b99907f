"""Plasticity by decile of the context, one panel per family."""

import math
from dataclasses import replace

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel
from boundpaper.typeset.wording import whole
from figures.pretrained._models import each_model


def figure(decile_profiles: pd.DataFrame, measured_profiles: pd.DataFrame, subjects: pd.DataFrame) -> Figure:
    """Return the figure."""
    position = Axis(label="% of the context", low=0, high=100, ticks=[0, 50, 100])
    names = [f"d{number}" for number in range(10)]
    middles = [10 * number + 5 for number in range(10)]
    full = decile_profiles["captured_context"].max()
    ends = (decile_profiles[names].min().min(), *measured_profiles["plasticity"].agg(["min", "max"]))
    scale = Axis(label="plasticity", low=math.floor(10 * min(ends)) / 10 - 0.1, high=math.ceil(10 * max(ends)) / 10)
    panels = []
    for family, rows in decile_profiles.groupby("family", sort=False):
        lines = [
            Line(
                entity=row["model"],
                x=middles,
                y=row[names],
                direct=_name_without_family(str(row["display_name"]), str(family)),
                origin="reported",
                legend=False,
            )
            for _, row in rows.iterrows()
        ]
        context = rows["captured_context"].iloc[0]
        title = str(family) if context == full else f"{family} ({whole(context)} tokens)"
        panels.append(Panel(series=lines, x=position, y=scale, title=title))
    null = measured_profiles["model"].isin(subjects.loc[subjects["role"] == "null reference", "model"])
    for entity, name, rows in each_model(measured_profiles[~null]):
        panels.append(Panel(series=[_measured_line(rows, entity)], x=position, y=scale, title=f"{name}, measured here"))
    beside = [_measured_line(rows, "neutral", "random") for _, _, rows in each_model(measured_profiles[null])]
    panels = [replace(panel, series=[*panel.series, *beside]) for panel in panels]
    shown = decile_profiles[decile_profiles["shape"] == "rises"].sort_values("draw_up", ascending=False)
    draws_up = ", ".join(f"{row['display_name']} {row['draw_up']:+.3f}" for _, row in shown.iterrows())
    return Figure(
        panels=panels,
        columns=3,
        legend="none",
        height=38,
        letters=True,
        share_x=True,
        share_y=True,
        note=(
            f"Measured by this project (solid marks): {_contexts(measured_profiles)}; intervals over heads stand with "
            "the profiles of pretrained models. Grey, in every panel: random weights that read random words, a null "
            f"reference. Profiles with a rise that rounding cannot explain, and its size: {draws_up}."
        ),
        caption=(
            f"Plasticity by decile of the context, {len(decile_profiles)} captured models by family, as printed in "
            "Tables 4 and 10 of the study [@shcherb2026] (hollow marks: reported values). Unit: one model, mean over "
            f"heads, named within its family; each decile, and each query bin of a model measured here, at its middle; "
            f"{whole(full)} tokens unless the title or the note says otherwise."
        ),
        short="Plasticity by decile of the context",
    )


def _measured_line(rows: pd.DataFrame, entity: str, direct: str = "") -> Line:
    """Return the profile line of a model measured by this project."""
    x, y = 100 * rows["position"], rows["plasticity"]
    return Line(entity=entity, x=x, y=y, direct=direct, origin="measured", legend=False)


def _name_without_family(name: str, family: str) -> str:
    """Return a model's name without its family name, which the panel title shows."""
    short = name.removeprefix(f"{family.replace(' ', '-')}-").replace("-Instruct", "").replace("-Vision", "")
    return short.removeprefix(f"{family.split()[0]}-")


def _contexts(measured: pd.DataFrame) -> str:
    """Return a phrase that lists the captured context of each measured model."""
    rows = measured.drop_duplicates("display_name")
    pairs = zip(rows["display_name"], rows["captured_context"], rows["heads"], strict=True)
    return ", ".join(f"{name} over {whole(context)} tokens and {heads} heads" for name, context, heads in pairs)
