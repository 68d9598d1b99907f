"""The cost of removing each head against its plasticity, in every model of the population."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Points
from figures.population._arms import bases, of_base, seeds

SHOWN = ("A", "B", "C")


def figure(population_ablations: pd.DataFrame) -> Figure:
    """Return the figure."""
    rows = population_ablations[population_ablations["arm"].isin(SHOWN)]
    layers = sorted(rows["layer"].unique())
    parts = [(base, arm, part) for base in bases(rows) for arm, part in of_base(rows, base).groupby("arm")]
    return Figure(
        panels=[
            Panel(
                title=f"{arm}, base {base:,}",
                series=[
                    Points(
                        entity=f"series-{number}",
                        label=f"layer {layer}",
                        x=part.loc[part["layer"] == layer, "ap_overall"],
                        y=part.loc[part["layer"] == layer, "nats_1x"],
                        origin="measured",
                    )
                    for number, layer in enumerate(layers, 1)
                ],
                x=Axis(label="plasticity of the head", ticks=[0.25, 0.5, 0.75, 1]),
                y=Axis(label="nats a key that its removal costs", scale="symlog", threshold=0.1),
            )
            for base, arm, part in parts
        ],
        columns=3,
        share_x=True,
        letters=True,
        share_y=True,
        caption=(
            "What keys lose when one head is removed, against the plasticity of that head, at the training length "
            f"({seeds(rows)}): A with rotation, B trained on with it, C trained on without. Each point is one head of "
            "one model; colours are layers. The vertical axis is linear below a tenth of a nat and logarithmic above."
        ),
        short="Cost of removing a head against its plasticity",
    )
