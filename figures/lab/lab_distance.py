"""Keys retrieved by the tiny pair, by the distance from the key to the question that asks for it."""

import pandas as pd

from figures import Axis, Figure, Line, Panel, Rule


def figure(lab_key_distances: pd.DataFrame, lab_pair_models: pd.DataFrame) -> Figure:
    """Return the figure."""
    trained = int(lab_pair_models["training_length"].iloc[0])
    far = float(lab_key_distances["high"].max())
    prompts = int(lab_key_distances.groupby("side")["n"].sum().min())
    return Figure(
        panels=[
            Panel(
                series=[
                    Line(
                        entity=side,
                        label=label,
                        x=(rows["low"] + rows["high"]) / 2,
                        y=100 * rows["share"],
                        low=100 * rows["least"],
                        high=100 * rows["most"],
                        origin="measured",
                    )
                    for side, label in {"rope": "RoPE", "drope": "DroPE"}.items()
                    for rows in [lab_key_distances[lab_key_distances["side"] == side]]
                ],
                x=Axis(
                    label=f"distance from key to question over the training length ({trained} tokens)",
                    low=0,
                    high=far,
                    ticks=[part / 2 for part in range(int(2 * far) + 1)],
                ),
                y=Axis(label="keys retrieved exactly", low=0, high=102, percent=True),
                rules=[Rule(at=1.0, axis="x", label="training length")],
            )
        ],
        caption=(
            f"Keys retrieved by the tiny pair, measured, by the tokens between key and question: {prompts} prompts of "
            f"each model, of half to {far:g} times the training length, pooled over "
            f"{int(lab_key_distances['seeds'].max())} training seeds; bars reach from the least to the most of them. "
            "Each point stands in the middle of its range of distances. Unit: one prompt of one training seed. Two "
            "tiny models trained here on a synthetic language."
        ),
        short="Keys retrieved by the tiny pair, by distance",
    )
