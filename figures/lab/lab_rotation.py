"""The rotation of the tiny pair's heads: correlations on the axis of drift, and the bias per token and per window."""

import pandas as pd

from artifacts.typeset.wording import tokens
from figures import Axis, Figure, Panel, Points, Rule
from figures.lab._heads import drawn, of_side, whose

APART = 0.14  # of a layer, between the rows of the two models


def figure(head_metrics: pd.DataFrame, lab_geometry_seeds: pd.DataFrame) -> Figure:
    """Return the figure."""
    models = drawn(lab_geometry_seeds)
    sides = {side: of_side(head_metrics, row) for side, row in models.items()}
    context = tokens(models["rope"]["context"])
    layers = sorted({int(layer) for rows in sides.values() for layer in rows["layer"]})
    depth = Axis(label="layer", low=layers[0] - 0.5, high=layers[-1] + 0.5, ticks=layers, reverse=True, grid=False)
    lowest = min(0.0, *(rows["r_k_a"].min() for rows in sides.values()))
    drift = Panel(
        series=[Points(entity=side, x=rows["r_q_a"], y=rows["r_k_a"]) for side, rows in sides.items()],
        x=Axis(label="$r_q$ on the axis of drift", low=0, high=1),
        y=Axis(label="$r_k$ on the axis of drift", low=lowest, high=1),
        title="Drift",
    )
    return Figure(
        panels=[
            drift,
            _strip(sides, "bias_strength", "Per token", depth, 1 / models["rope"]["context"]),
            _strip(sides, "bias_window", "Per window", depth, 1.0),
        ],
        columns=3,
        height=48,
        letters=True,
        caption=(
            f"Rotation of queries and keys. {whose(lab_geometry_seeds)} (a) Correlations with position of the "
            "projections on the head's axis of drift, within queries and within keys. (b), (c) The positional bias of "
            "each head by layer (counted from zero, DroPE just below RoPE): the mean projection of queries times the "
            f"drift of keys per token, and the same times the {context} tokens of the window. Both models have one "
            "window, so that the two panels differ in scale only; over unequal windows they would not. Scores before "
            "scaling; both axes are linear about zero, up to a bias of one per window, and logarithmic beyond; the "
            "dashed line is no bias."
        ),
        short="Rotation of the tiny pair's heads",
    )


def _strip(sides: dict[str, pd.DataFrame], metric: str, title: str, depth: Axis, straight: float) -> Panel:
    """Every head's value at its layer, on an axis that is linear up to `straight` and logarithmic beyond."""
    return Panel(
        series=[
            Points(entity=side, x=rows[metric], y=rows["layer"] + shift, legend=False)
            for (side, rows), shift in zip(sides.items(), (-APART, APART), strict=True)
        ],
        x=Axis(label=f"bias {title.lower()}", scale="symlog", threshold=straight),
        y=depth,
        rules=[Rule(at=0, axis="x")],
        title=title,
    )
