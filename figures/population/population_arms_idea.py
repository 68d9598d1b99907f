"""The arms of the population: the starting point and length of training of each, and the differences between pairs."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel
from figures.population._arms import ARMS, LOOKS

BASE = 400
SOURCES = {"A": "", "B": "A", "C": "A", "D": "A", "E": ""}
BETWEEN = {("A", "B"): "B minus A: further training", ("B", "C"): "C minus B: the rotation dropped"}


def figure(population_record: pd.DataFrame) -> Figure:
    """Return the figure for the arms at the primary base and the arm without a base."""
    steps = population_record[population_record["base"].isin([0, BASE])].groupby("arm")["steps"]
    shortest, longest = steps.min().to_dict(), steps.max().to_dict()
    series = [Line(x=[longest["A"]] * 2, y=[2, 5], entity="neutral", marks=False, dash="solid", legend=False)]
    annotations = []
    for row, (arm, source) in enumerate(SOURCES.items()):
        height, start = float(len(SOURCES) - row), longest[source] if source else 0.0
        least, most = start + shortest[arm], start + longest[arm]
        series.append(Line(x=[start, least], y=[height, height], entity=arm, marks=False, dash="solid"))
        if most > least:
            series.append(Line(x=[least, most], y=[height, height], entity=arm, marks=False, dash="densely dotted"))
    for (upper, lower), text in BETWEEN.items():
        x = longest["A"] + 400
        high, low = (len(SOURCES) - list(SOURCES).index(arm) for arm in (upper, lower))
        series.append(Line(x=[x, x], y=[low + 0.15, high - 0.15], entity="total", marks=False, legend=False))
        annotations.append(Annotation(x=x + 50, y=(high + low) / 2, text=text, anchor="right"))
    panel = Panel(
        series=series,
        x=Axis(label="steps of training", low=0, high=10_500, ticks=[0, 2000, 4000, 6000, 8000, 10_000]),
        y=Axis(
            low=0.4,
            grid=False,
            high=len(SOURCES) + 0.6,
            ticks={len(SOURCES) - row: f"{arm}: {ARMS[arm]}" for row, arm in enumerate(SOURCES)},
        ),
        annotations=annotations,
    )
    count = int(population_record["seed"].nunique())
    return Figure(
        panels=[panel],
        height=32,
        entities=LOOKS,
        caption=(
            f"The arms of the population, in each of {count} seeds. B, C and D start from the last weights of A (grey "
            "line), read the same documents: B and C differ in rotation (some in extensions), C and D in steps. Solid: "
            f"steps at base {BASE}; dotted: the longest extension of a seed. E starts anew."
        ),
        short="The arms of the population: what each starts from and differs in",
    )
