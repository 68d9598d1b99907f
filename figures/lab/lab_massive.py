"""Massive values of the tiny pair over the threshold that makes a value massive."""

import pandas as pd

from artifacts.typeset.wording import listed
from figures import Axis, Bars, Figure, Panel

TENSORS = {"query": "queries", "key": "keys", "value": "values"}
ROOM = 1.3  # above the tallest bar, for its number


def figure(lab_massive: pd.DataFrame) -> Figure:
    """One panel per tensor; counts of a model, bars from the least to the most of the seeds."""
    most = lab_massive[["rope_most", "drope_most"]].max(axis=1)
    top = ROOM * max(float(most.max()), 1.0)
    panels = []
    for tensor, title in TENSORS.items():
        rows = lab_massive[lab_massive["tensor"] == tensor].sort_values("threshold")
        panels.append(
            Panel(
                title=title,
                series=[
                    Bars(
                        entity=side,
                        x=[f"{threshold:g}" for threshold in rows["threshold"]],
                        y=rows[side],
                        low=rows[f"{side}_least"],
                        high=rows[f"{side}_most"],
                        values=True,
                        decimals=1,
                        origin="measured",
                    )
                    for side in ("rope", "drope")
                ],
                x=Axis(label=r"threshold $\lambda$"),
                y=Axis(label="massive values", low=0, high=top),
            )
        )
    return Figure(
        panels=panels,
        columns=3,
        letters=True,
        height=45,
        share_y=True,
        caption=(
            r"Massive values of the tiny pair by threshold: dimensions of a head whose norm over a text is above "
            r"$\lambda$ times the mean of their layer, summed over layers and heads, mean over "
            f"{int(lab_massive['texts'].min())} texts. Unit: one training seed, n = {int(lab_massive['seeds'].max())} "
            "a model; bars are means over seeds, whiskers run from the least to the most of them. "
            f"{_empty(lab_massive)} Measured here on two small models of a synthetic language; the report counts at "
            "five times the mean [@africa2026]."
        ),
        short="Massive values of the tiny pair by threshold",
    )


def _empty(counts: pd.DataFrame) -> str:
    """Say where no seed of either model has any."""
    largest = counts.groupby("threshold")[["rope_most", "drope_most"]].max().max(axis=1)
    empty = [f"{threshold:g}" for threshold, most in largest.items() if most == 0]
    if not empty:
        return "Every threshold is passed in some tensor."
    return f"No dimension of any tensor passes {listed(empty)} times the mean in any seed of either model."
