"""Illustration of plasticity for a measured mean and spread: how often the query's content changes the winner."""

from statistics import NormalDist

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Points, Rule, Shade
from figures.overview.exchanged_keys import LOOKS

REACH = 100  # scores are plotted from -REACH to REACH
BIN = 10  # width of the score interval in which queries are counted
HIGHEST = 2.5  # ratio of mean to spread at which the curve ends
ENDS = {"first": "early in the text", "last": "late in the text"}


def figure(pretrained_competition: pd.DataFrame) -> Figure:
    """Return the figure for the first model, with key pairs at all distances."""
    row = pretrained_competition[pretrained_competition["distance"] == 0].iloc[0]
    panels, ratios = [], []
    scores = [float(score) for score in range(-REACH, REACH + 1, 2)]
    for end, title in ENDS.items():
        normal = NormalDist(row[f"gap_{end}"], row[f"spread_{end}"])
        ratios.append(normal.mean / normal.stdev)
        panels.append(
            Panel(
                title=title,
                series=[Line(x=scores, y=[BIN * normal.pdf(score) for score in scores], marks=False, entity="neutral")],
                x=Axis(label="lead of key 1 in score", ticks=[-80, 0, 80]),
                y=Axis(label="share per 10 points", ticks=[0, 0.1, 0.2], low=0, high=0.25),
                shades=[Shade(low=None, high=0)],
                annotations=[
                    Annotation(x=x, y=y, text=text, anchor="center", entity=f"key {key}")
                    for x, key, share in ((-60, 2, normal.cdf(0)), (84, 1, 1 - normal.cdf(0)))
                    for y, text in ((0.17, f"key {key}"), (0.14, f"{100 * share:.0f} %"))
                ],
                rules=[Rule(at=normal.mean, axis="x")],
            )
        )
    grid = [HIGHEST * step / 50 for step in range(51)]
    panels.append(
        Panel(
            title="plasticity of the pair",
            series=[
                Line(x=grid, y=[plasticity(ratio) for ratio in grid], marks=False, entity="neutral"),
                Points(
                    x=ratios,
                    y=[plasticity(ratio) for ratio in ratios],
                    labels=["early (a)", "late (b)"],
                    entity="neutral",
                ),
            ],
            x=Axis(label="mean over spread", ticks=[0, 1, 2]),
            y=Axis(label="plasticity", low=0, high=1.05, ticks=[0, 0.5, 1]),
        )
    )
    return Figure(
        panels=panels,
        letters=True,
        height=27,
        entities=LOOKS,
        caption=(
            "What plasticity measures. Two keys compete for the queries at one place of a text; a query's content "
            f"decides how far key 1 is ahead. Mean (dashed) and spread are those of {row['display_name']} over heads "
            "and pairs: (a) in its first bin of queries, (b) in its last. Percentages: how often each key wins; grey: "
            "where key 2 does. (c) Plasticity of such a pair, four times the product of both keys' shares; the model's "
            f"is a mean over pairs. Curves: normal distributions, as shares in a score interval of {BIN}."
        ),
        short="What plasticity measures: mean, spread and who wins",
    )


def plasticity(ratio: float) -> float:
    """Return the plasticity of a pair whose mean score difference is `ratio` times its spread over queries."""
    share = NormalDist().cdf(ratio)
    return 4 * share * (1 - share)
