"""The effects that the chapters cite, each in its unit, with interval and verdict."""

from dataclasses import replace

import pandas as pd

from boundpaper.figures import Axis, Figure, Forest, Panel, Rule
from boundpaper.figures.style import style

AXES = {
    "correlation": ("correlation", Axis(low=-1, high=1, ticks=[-1, -0.5, 0, 0.5, 1])),
    "points": ("change or difference, percentage points", Axis(ticks=[-100, -50, 0, 50, 100])),
    "nats": ("massive dimensions zeroed, nats per token", Axis(low=0)),
    "ratio": ("ratio", Axis(scale="log", low=0.5, high=5000, ticks=[1, 10, 100, 1000])),
}
COLORS = dict.fromkeys(("holds", "holds after rounding", "contradicted"), "okblack")  # other colours are of models
COLORS |= dict.fromkeys(("not significant", "not supported"), "okgrey")


def figure(effect_overview: pd.DataFrame) -> Figure:
    """Plot one panel per scale and one row per effect."""
    panels = []
    for scale, (title, axis) in AXES.items():
        rows = effect_overview[effect_overview["scale"] == scale]
        panels.append(
            Panel(
                title=title,
                series=[
                    Forest(
                        rows=list(rows["effect"]),
                        estimate=rows["estimate"],
                        low=rows["low"],
                        high=rows["high"],
                        entities=list(rows["verdict"]),
                        texts=[f"$n = {count}$" for count in rows["n"]],
                    )
                ],
                x=axis,
                rules=[Rule(at=1 if scale == "ratio" else 0, axis="x")],
            )
        )
    failing = int((~effect_overview["verdict"].str.startswith("holds")).sum())
    tests = effect_overview[effect_overview["interval"] != "rounding"]
    return Figure(
        panels=panels,
        columns=1,
        letters=True,
        entities={verdict: replace(style(verdict, {}, ""), color=color) for verdict, color in COLORS.items()},
        caption=(
            f"Of {len(effect_overview)} effects that the chapters cite {failing} stand under a statement that does not "
            "hold: each in its unit, with the ledger's verdict on the statement that rests on it [@shcherb2026; "
            f"@africa2026; @longbenchpro2026; @hsieh2024]. Bars: 95 % intervals of {len(tests)} tests, each by itself; "
            "correction, unit or comparison may leave a statement unsupported whose bar is clear of zero. Units: "
            "models, lengths, checkpoints, layers, trials, items or text sets; lengths, checkpoints and layers are not "
            "independent. In panel (d) bars are what rounding of the printed values leaves open, narrower than the "
            "marks. $n$ counts units, or printed values in (d)."
        ),
        short="Effects that the chapters cite, with their verdicts",
    )
