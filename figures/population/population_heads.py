"""Cost of removing each head against its plasticity, for every model of arms A, B and C of the population."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel, Points
from figures.population._arms import bases, seeds_phrase

ARMS = ("A", "B", "C")


def figure(population_ablations: pd.DataFrame) -> Figure:
    """Return the figure: one row per arm and one column per layer; each panel shows both rotation bases."""
    rows = population_ablations[population_ablations["arm"].isin(ARMS)]
    layers = sorted(rows["layer"].unique())
    cells = [(arm, layer, rows[(rows["arm"] == arm) & (rows["layer"] == layer)]) for arm in ARMS for layer in layers]
    return Figure(
        panels=[
            Panel(
                title=f"{arm}, layer {layer}",
                series=[
                    Points(
                        entity=f"series-{number}",
                        label=f"base {base:,}",
                        x=heads.loc[heads["base"] == base, "ap_overall"],
                        y=heads.loc[heads["base"] == base, "nats_1x"],
                        origin="measured",
                    )
                    for number, base in enumerate(bases(heads), 1)
                ],
                x=Axis(label="plasticity", low=0, high=1.08, ticks=[0, 0.5, 1]),
                y=Axis(label="cost (nats)", scale="symlog", threshold=0.1, ticks={0: "0", 1: "1", 10: "10"}),
            )
            for arm, layer, heads in cells
        ],
        columns=len(layers),
        height=26,
        share_x=True,
        share_y=True,
        caption=(
            "What passkeys lose when one head is removed, in nats each at the training length, against that head's "
            f"plasticity ({seeds_phrase(rows)}): A with rotation, B trained further with it, C without it. Each point "
            "is one head of one model. The vertical axis is linear below a tenth of a nat and logarithmic above."
        ),
        short="Cost of removing a head against its plasticity",
    )
