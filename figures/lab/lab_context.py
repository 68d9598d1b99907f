"""Keys retrieved by the tiny pair, by length: with rotation, without it, and with rotation stretched."""

import pandas as pd

from figures import Axis, Figure, Line, Panel, Rule, Style

LOOKS = {
    "rope": "RoPE",
    "drope": "DroPE",
    "pi": "RoPE, positions interpolated",
    "yarn": "RoPE, YaRN",
}


def figure(lab_context_scores: pd.DataFrame, lab_pair_models: pd.DataFrame) -> Figure:
    """Return the figure."""
    trained = int(lab_pair_models["training_length"].iloc[0])
    ratios = sorted(lab_context_scores["ratio"].unique())
    return Figure(
        panels=[
            Panel(
                series=[
                    Line(
                        entity=encoding,
                        label=label,
                        x=rows["ratio"],
                        y=100 * rows["value"],
                        low=100 * rows["least"],
                        high=100 * rows["most"],
                        origin="measured",
                    )
                    for encoding, label in LOOKS.items()
                    for rows in [lab_context_scores[lab_context_scores["encoding"] == encoding]]
                    if len(rows)
                ],
                x=Axis(label=f"length of the prompt over the training length ({trained} tokens)", ticks=ratios),
                y=Axis(label="keys retrieved exactly", low=0, high=102, percent=True),
                rules=[Rule(at=1.0, axis="x", label="training length")],
            )
        ],
        entities={
            "pi": Style(color="okblue!55!white", mark="triangle*", dash="dash dot"),
            "yarn": Style(color="okblue!60!black", mark="diamond*", dash="densely dotted"),
        },
        caption=(
            f"Keys retrieved by the tiny pair, measured: {int(lab_context_scores['n'].min())} prompts a length and "
            "training seed, the same for all models. Means over "
            f"{int(lab_context_scores['seeds'].max())} training seeds; bars reach from the least to the most of them. "
            "Unit: one training seed. Position interpolation and YaRN stretch the rotation of the RoPE model by the "
            "prompt's length over the training length, without training. Two tiny models trained here on a synthetic "
            "language."
        ),
        short="Keys retrieved by the tiny pair, by length",
    )
