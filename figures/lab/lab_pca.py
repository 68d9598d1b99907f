"""Principal components of the tiny pair's queries and keys: their variance, and what the first one carries."""

import pandas as pd

from figures import Annotation, Axis, Bundle, Figure, Panel, Points, Rule
from figures._press.spec import Anchor
from figures.lab._heads import drawn, of_side, whose

LOW, HIGH = 0.3, 0.7  # the taxonomy's borders
# names of the regions stand above and below the points where they can
REGIONS: tuple[tuple[float, float, str, Anchor], ...] = (
    (0.99, 1.02, "both", "above left"),
    (0.99, -1.02, "both", "below left"),
    (-0.09, 1.02, "keys", "above right"),
    (-0.09, -1.02, "keys", "below right"),
    (-0.09, -0.28, "neither", "above right"),
    (0.99, -0.28, "queries", "above left"),
)


def figure(head_spectrum: pd.DataFrame, lab_geometry_seeds: pd.DataFrame) -> Figure:
    """Return the figure."""
    sides = {side: of_side(head_spectrum, row) for side, row in drawn(lab_geometry_seeds).items()}
    count = max(rows["component"].max() for rows in sides.values()) + 1
    variance = Panel(
        series=[
            Bundle(
                entity=side,
                x=[1 + component for component in range(count)],
                lines=rows.pivot(index=["layer", "head"], columns="component", values="explained"),
            )
            for side, rows in sides.items()
        ],
        x=Axis(label="component", low=1, high=count, ticks=range(1, count + 1)),
        y=Axis(label="share of the variance", zero=True),
        title="Variance per component",
    )
    firsts = {side: rows[rows["component"] == 0] for side, rows in sides.items()}
    taxonomy = Panel(
        series=[Points(entity=side, x=rows["r_q"], y=rows["r_k"], legend=False) for side, rows in firsts.items()],
        x=Axis(label="correlation of queries with position, $r_q$", low=-0.1, high=1),
        y=Axis(label="correlation of keys, $r_k$", low=-1.2, high=1.2, ticks=(-1, -0.5, 0, 0.5, 1), grid=False),
        rules=[Rule(at=at, axis="x", dash="densely dotted") for at in (LOW, HIGH)]
        + [Rule(at=sign * at, dash="densely dotted") for at in (LOW, HIGH) for sign in (1, -1)],
        annotations=[
            Annotation(x=x, y=y, text=text, anchor=anchor, entity="neutral") for x, y, text, anchor in REGIONS
        ],
        title="The first component",
    )
    return Figure(
        panels=[variance, taxonomy],
        columns=2,
        height=66,
        letters=True,
        caption=(
            f"Principal components of the pooled queries and keys of each head. {whose(lab_geometry_seeds)} "
            f"(a) Share of the pooled variance of the first {count} components: thin lines are heads, the thick line "
            "their mean, the band holds the middle 80 %. (b) Correlations of the first component with position, within "
            f"queries and within keys; dotted lines at ${LOW}$ and ${HIGH}$ bound the kinds of heads: both follow "
            "position (position-dominated), queries do (Q-positional), keys do (K-positional), or neither "
            "(content-focused); what lies outside the named regions is mixed. The sign of a component is "
            "chosen so that $r_q$ is not negative, unless it is negligible."
        ),
        short="Principal components of the tiny pair's heads",
    )
