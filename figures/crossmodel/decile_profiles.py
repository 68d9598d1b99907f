"""Plasticity by decile of the context, by family."""

import math

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel
from boundpaper.figures.series import Origin, Values
from boundpaper.typeset.wording import abbreviated_names, whole
from figures.pretrained._models import by_model

MOST_LINES = 4  # greatest number of lines in a panel, so that their names at its edge do not overlap
RANDOM, SHORT = "random weights", "shorter contexts"


def figure(decile_profiles: pd.DataFrame, measured_profiles: pd.DataFrame, subjects: pd.DataFrame) -> Figure:
    """Plot one line per model, at most four to a panel: of one family, of shorter contexts, or of random weights."""
    deciles = [f"d{number}" for number in range(10)]
    middles = [10 * number + 5 for number in range(10)]
    full = decile_profiles["captured_context"].max()
    is_null = measured_profiles["model"].isin(subjects.loc[subjects["role"] == "null reference", "model"])
    values = [*decile_profiles[deciles].stack(), *measured_profiles["plasticity"]]
    lines_by_title: dict[str, list[Line]] = {}
    for family, rows in decile_profiles.groupby("family", sort=False):
        names = [_name_without_family(str(name), str(family)) for name in rows["display_name"]]
        chunks = math.ceil(len(rows) / MOST_LINES)
        for chunk in range(chunks):
            members = slice(math.ceil(chunk * len(rows) / chunks), math.ceil((chunk + 1) * len(rows) / chunks))
            title = f"{family}, {names[members][0]} to {names[members][-1]}" if chunks > 1 else str(family)
            if rows["captured_context"].iloc[0] < full:
                title, names = SHORT, [str(family)] * len(rows)
            for name, (_, row) in zip(names[members], rows[members].iterrows(), strict=True):
                line = _line(row["model"], middles, row[deciles], name, "reported")
                lines_by_title.setdefault(title, []).append(line)
    for title, profiles in ((SHORT, measured_profiles[~is_null]), (RANDOM, measured_profiles[is_null])):
        for entity, name, rows in by_model(profiles):
            look, direct = (entity, abbreviated_names([name], longest=16)[name]) if title == SHORT else ("neutral", "")
            line = _line(look, 100 * rows["position"], rows["plasticity"], direct, "measured")
            lines_by_title.setdefault(title, []).append(line)
    x = Axis(label="% of the context", low=0, high=100, ticks=[0, 50, 100])
    y = Axis(label="plasticity", low=math.floor(5 * min(values)) / 5, high=math.ceil(5 * max(values)) / 5)
    panels = [
        Panel(series=lines[start : start + MOST_LINES], x=x, y=y, title=title)
        for title, lines in lines_by_title.items()
        for start in range(0, len(lines), MOST_LINES)
    ]
    rising = decile_profiles[decile_profiles["shape"] == "rises"].sort_values("draw_up", ascending=False)
    rises = ", ".join(f"{row['display_name']} {row['draw_up']:+.3f}" for _, row in rising.iterrows())
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
            f"rounding cannot explain, and its size: {rises}."
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
    name = name.removeprefix(f"{family.replace(' ', '-')}-").replace("-Instruct", "").replace("-Vision", "")
    return name.removeprefix(f"{family.split()[0]}-")


def _contexts(rows: pd.DataFrame) -> str:
    """Return a phrase that lists the captured context of each model."""
    contexts = rows.groupby("display_name", sort=False)["captured_context"].first()
    return ", ".join(f"{name} over {whole(context)} tokens" for name, context in contexts.items())
