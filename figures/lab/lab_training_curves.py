"""The tiny pair along its training: losses and accuracies, both phases, over seeds."""

import pandas as pd

from figures import Axis, Figure, Line, Panel

PHASES = {"pretraining": "RoPE, from scratch", "recalibration": "DroPE, recalibrated"}
TASKS = {
    "cities": "facts, yes or no",
    "statements": "statements",
    "sentiment": "tone",
    "copy": "copy",
    "verification_1x": "key, yes or no",
    "passkey_1x": "key in filler",
}
LOSSES = {"loss": "all tokens", "answer_loss": "answers"}
ENTITIES = dict(zip((*TASKS, *LOSSES), (f"series-{number}" for number in range(1, 9)), strict=True))
"""One look for each name of the legend, which serves both rows of panels."""


def figure(lab_curves: pd.DataFrame, lab_pair_models: pd.DataFrame) -> Figure:
    """Return the figure."""
    panels = []
    for names, axis in (
        (LOSSES, Axis(label="loss (nats)", zero=True)),
        (TASKS, Axis(label="share answered exactly", low=0, high=1.02)),
    ):
        for phase, title in PHASES.items():
            panels.append(
                Panel(
                    series=[
                        Line(
                            x=rows["step"],
                            y=rows["value"],
                            low=rows["least"],
                            high=rows["most"],
                            uncertainty="band",
                            entity=ENTITIES[metric],
                            label=label,
                            marks=False,
                            origin="measured",
                            legend=phase == "pretraining",
                        )
                        for metric, label in names.items()
                        for rows in [lab_curves[(lab_curves["phase"] == phase) & (lab_curves["metric"] == metric)]]
                    ],
                    x=Axis(label="step", low=0),
                    y=axis,
                    title=title,
                )
            )
    seeds = int(lab_curves["seeds"].max())
    first = lab_pair_models.iloc[0]
    return Figure(
        panels=panels,
        columns=2,
        letters=True,
        caption=(
            "The tiny pair along its training, measured: (a), (b) losses on the training batches, (c), (d) shares of "
            f"items answered exactly, keys in filler at the training length of {first['training_length']} tokens. "
            f"Means over {seeds} training seeds; bands reach from the least to the most of them. Unit: one training "
            "seed. Two tiny models trained here on a synthetic language."
        ),
        short="The tiny pair along its training",
    )
