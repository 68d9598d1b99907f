"""What the removal of each head costs, against its plasticity, in every model of the population."""

import pandas as pd

from figures import Axis, Figure, Panel, Points
from figures.population._arms import ARMS, of_base, seeds

BASE = 400
SHOWN = ("A", "B", "C")


def figure(population_ablations: pd.DataFrame) -> Figure:
    """Return the figure."""
    rows = of_base(population_ablations, BASE)
    rows = rows[rows["arm"].isin(SHOWN)]
    layers = sorted(rows["layer"].unique())
    return Figure(
        panels=[
            Panel(
                title=f"{arm}: {ARMS[str(arm)]}",
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
                x=Axis(label="plasticity of the head"),
                y=Axis(label="nats a key that its removal costs", scale="symlog", threshold=0.1),
            )
            for arm, part in rows.groupby("arm")
        ],
        columns=3,
        share_x=True,
        share_y=True,
        caption=(
            "What keys lose when one head is removed, against the plasticity of that head, at the training length "
            f"(base {BASE}; {seeds(rows)}). Each point is one head of one model; colours are layers. The vertical axis "
            "is linear below a tenth of a nat and logarithmic above."
        ),
        short="Cost of removing a head against its plasticity",
    )
