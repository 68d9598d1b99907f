"""Plasticity by decile of the context, by family."""

import math

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel
from boundpaper.figures.series import Origin, Values
from boundpaper.typeset.wording import abbreviated_names, whole
from figures.pretrained._models import by_model

MOST = 4  # lines of one panel whose names can be told apart at its edge
RANDOM, SHORT = "random weights", "shorter contexts"


def figure(decile_profiles: pd.DataFrame, measured_profiles: pd.DataFrame, subjects: pd.DataFrame) -> Figure:
    """Plot one line per model, in panels of at most four models of one family."""
    names = [f"d{number}" for number in range(10)]
    middles = [10 * number + 5 for number in range(10)]
    full = decile_profiles["captured_context"].max()
    null = measured_profiles["model"].isin(subjects.loc[subjects["role"] == "null reference", "model"])
    ends = [*decile_profiles[names].stack(), *measured_profiles["plasticity"]]
    shown: dict[str, list[Line]] = {}
    for family, rows in decile_profiles.groupby("family", sort=False):
        short = [_name_without_family(str(name), str(family)) for name in rows["display_name"]]
        chunks = math.ceil(len(rows) / MOST)
        for chunk in range(chunks):
            chosen = slice(math.ceil(chunk * len(rows) / chunks), math.ceil((chunk + 1) * len(rows) / chunks))
            title = f"{family}, {short[chosen][0]} to {short[chosen][-1]}" if chunks > 1 else str(family)
            if rows["captured_context"].iloc[0] < full:
                title, short = SHORT, [str(family)] * len(rows)
            for name, (_, row) in zip(short[chosen], rows[chosen].iterrows(), strict=True):
                shown.setdefault(title, []).append(_line(row["model"], middles, row[names], name, "reported"))
    for title, profiles in ((SHORT, measured_profiles[~null]), (RANDOM, measured_profiles[null])):
        for entity, name, rows in by_model(profiles):
            look, direct = (entity, abbreviated_names([name], longest=16)[name]) if title == SHORT else ("neutral", "")
            line = _line(look, 100 * rows["position"], rows["plasticity"], direct, "measured")
            shown.setdefault(title, []).append(line)
    scale = Axis(label="plasticity", low=math.floor(5 * min(ends)) / 5, high=math.ceil(5 * max(ends)) / 5)
    split = [(title, lines[at : at + MOST]) for title, lines in shown.items() for at in range(0, len(lines), MOST)]
    panels = [
        Panel(series=lines, x=Axis(label="% of the context", low=0, high=100, ticks=[0, 50, 100]), y=scale, title=title)
        for title, lines in split
    ]
    risen = decile_profiles[decile_profiles["shape"] == "rises"].sort_values("draw_up", ascending=False)
    draws_up = ", ".join(f"{row['display_name']} {row['draw_up']:+.3f}" for _, row in risen.iterrows())
    return Figure(
        panels=panels,
        legend="none",
        height=34,
        share_x=True,
        share_y=True,
        letters=True,
        note=(
            f"Shorter contexts: {_contexts(decile_profiles[decile_profiles['captured_context'] < full])}; measured by "
            f"this project (marks): {_contexts(measured_profiles)}. Intervals over heads stand with the profiles of "
            "pretrained models. Random weights read random words, as a null reference. Profiles with a rise that "
            f"rounding cannot explain, and its size: {draws_up}."
        ),
        caption=(
            f"In all {len(decile_profiles)} captured models the first decile of the context is the most plastic and "
            "the last the least. Plasticity by family, as printed in Tables 4 and 10 of the study [@shcherb2026] "
            "(lines without marks). Unit: one model, mean over heads, named within its family; each decile, and each "
            f"query bin of a model measured here, at its middle; {whole(full)} tokens unless noted otherwise."
        ),
        short="Plasticity by decile of the context",
    )


def _line(entity: str, x: Values, y: Values, direct: str, origin: Origin) -> Line:
    """Return the profile of a model, with its name at the right end."""
    return Line(entity=entity, x=x, y=y, direct=direct, origin=origin, marks=origin == "measured", legend=False)


def _name_without_family(name: str, family: str) -> str:
    """Return a model's name without its family name, which the panel title shows."""
    short = name.removeprefix(f"{family.replace(' ', '-')}-").replace("-Instruct", "").replace("-Vision", "")
    return short.removeprefix(f"{family.split()[0]}-")


def _contexts(rows: pd.DataFrame) -> str:
    """Return a phrase that lists the captured context of each model."""
    contexts = rows.groupby("display_name", sort=False)["captured_context"].first()
    return ", ".join(f"{name} over {whole(context)} tokens" for name, context in contexts.items())
