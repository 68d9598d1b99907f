"""Effect of exchanging the positions of two keys, with the measured contributions of content and position."""

from statistics import NormalDist

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Points, Rule, Shade, Style

KEYS = {"as they stand": (90.0, 40.0), "exchanged": (40.0, 90.0)}  # plotted positions of keys 1 and 2
BASE, ARM = 400, "B"
LOOKS = {"key 1": Style(color="okblack"), "key 2": Style(color="okgrey", mark="square*")}


def figure(retrained_levels: pd.DataFrame) -> Figure:
    """Return the figure: the control arm at the primary base, queries at one position within the training length."""
    keys = ["base", "arm", "quantity", "estimator", "width", "weights", "low"]
    levels = retrained_levels.set_index(keys)["value"]
    content, position, sway = (
        float(levels.loc[(BASE, ARM, name, "aligned_full", 1, "all", 0)])
        for name in ("content_part", "position_part", "sway")
    )
    positions = Panel(
        title="positions",
        series=[
            Points(x=[places[key] for places in KEYS.values()], y=[2, 1], entity=name, label=name)
            for key, name in enumerate(LOOKS)
        ],
        x=Axis(label="words", low=0, high=140, ticks=[0, 50, 100]),
        y=Axis(low=0.4, high=2.6, ticks=dict(zip((2, 1), KEYS, strict=True))),
        rules=[Rule(at=120, axis="x", label="query")],
    )
    panels, leads = [positions], [step / 20 for step in range(-60, 81)]
    for sign, name in zip((1, -1), KEYS, strict=True):
        normal, edge = NormalDist(content + sign * position, 1), 2 * sign * position
        low, high = sorted((0, edge))  # leads at which the winner changes
        xs = [low + step * (high - low) / 20 for step in range(21)]
        share, ys = normal.cdf(high) - normal.cdf(low), list(map(normal.pdf, xs))
        panels.append(
            Panel(
                title=name,
                series=[
                    Line(x=leads, y=list(map(normal.pdf, leads)), marks=False, entity="neutral", legend=False),
                    Line(x=xs, y=ys, low=[0] * len(xs), high=ys, uncertainty="band", marks=False, entity="sway"),
                ],
                x=Axis(label="lead of key 1 / spread", ticks=[-2, 0, 2]),
                y=Axis(label="share per spread", low=0, high=0.5, ticks=[0, 0.2, 0.4]),
                shades=[Shade(low=None, high=0)],
                rules=[Rule(at=normal.mean, axis="x", label="mean")],
                annotations=[
                    Annotation(x=-1.4, y=0.15, text="sway", anchor="left", entity="sway", target=(edge / 2, 0.15)),
                    Annotation(x=-1.4, y=0.09, text=f"{100 * share:.0f} %", anchor="left", entity="sway"),
                    *(
                        Annotation(x=x, y=y, text=text, anchor="center", entity=f"key {key}")
                        for x, key, share in ((-2.2, 2, normal.cdf(0)), (2.9, 1, 1 - normal.cdf(0)))
                        for y, text in ((0.36, f"key {key}"), (0.3, f"{100 * share:.0f} %"))
                    ),
                ],
            )
        )
    return Figure(
        panels=panels,
        letters=True,
        height=25,
        entities={**LOOKS, "sway": Style(color="okblue")},
        caption=(
            "What the exchange of positions tells. (a) Drawn: each of two keys is turned to where the other stands; "
            f"content stays. (b, c) Key 1, which content prefers, is ahead by the part of content ({content:.2f} of "
            f"the spread) plus that of position ({position:.2f}) while it is the nearer one, and by their difference "
            "once it is the farther one. Percentages: how often each key wins, key 2 left of 0; blue, sway: queries "
            "whose winner changes. Curves: normal, of a pair with these mean parts. Parts differ from pair to pair: "
            f"over all measured pairs sway is {100 * sway:.0f} % (arm {ARM}, base {BASE}, training length)."
        ),
        short="What the exchange of positions of two keys tells of position and content",
    )
