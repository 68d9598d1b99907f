"""The effect of exchanging the positions of two keys, with the measured parts of content and position."""

from statistics import NormalDist

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Points, Rule, Shade

KEYS = {"as they stand": (90.0, 40.0), "exchanged": (40.0, 90.0)}  # drawn positions of keys 1 and 2
QUERY = 120.0
BASE, ARM = 400, "B"


def figure(retrained_levels: pd.DataFrame) -> Figure:
    """Return the figure, of the control at the primary base within its training length, queries at one position."""
    keys = ["base", "arm", "quantity", "estimator", "width", "weights", "low"]
    levels = retrained_levels.set_index(keys)["value"]
    content, position = (
        float(levels.loc[(BASE, ARM, f"{name}_part", "aligned_full", 1, "all", 0)]) for name in ("content", "position")
    )
    stands = Panel(
        title="positions",
        series=[
            Points(
                x=[spots[key] for spots in KEYS.values()], y=[2, 1], entity=f"series-{key + 1}", label=f"key {key + 1}"
            )
            for key in range(2)
        ],
        x=Axis(label="words", low=0, high=140, ticks=[0, 50, 100]),
        y=Axis(low=0.4, high=2.6, ticks=dict(zip((2, 1), KEYS, strict=True))),
        rules=[Rule(at=QUERY, axis="x", label="query")],
    )
    panels, leads = [stands], [step / 20 for step in range(-60, 81)]
    for sign, name in zip((1, -1), KEYS, strict=True):
        law = NormalDist(content + sign * position, 1)
        panels.append(
            Panel(
                title=name,
                series=[
                    Line(x=leads, y=[law.pdf(lead) for lead in leads], marks=False, entity="neutral", legend=False)
                ],
                x=Axis(label="lead of key 1 / spread", ticks=[-2, 0, 2]),
                y=Axis(label="density", low=0, high=0.5, ticks=[0, 0.2, 0.4]),
                shades=[Shade(low=None, high=0, label="key 2 wins")],
                rules=[Rule(at=law.mean, axis="x")],
                annotations=[
                    Annotation(x=x, y=0.3, text=f"{100 * share:.0f} %", anchor="center")
                    for x, share in ((-1.9, law.cdf(0)), (2.9, 1 - law.cdf(0)))
                ],
            )
        )
    return Figure(
        panels=panels,
        columns=3,
        letters=True,
        height=27,
        caption=(
            "What the exchange of positions tells. (a) Drawn: each of two keys is turned to where the other stands; "
            "content stays. (b, c) Key 1, which content prefers, is ahead by the part of content "
            f"({content:.2f} of the spread) plus that of position ({position:.2f}) while it is the nearer one, and by "
            "their difference once it is the farther one. Percentages: shares of both. Parts: means of arm B at base "
            f"{BASE} over its training length; curves: normal distributions."
        ),
        short="What the exchange of positions of two keys tells of position and content",
    )
