"""The cost of removing the first token's MLP outputs and values, by layer of a pretrained model."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel

PANELS = {"mlp": "MLP output zeroed", "values": "values zeroed"}


def figure(pretrained_sweeps: pd.DataFrame) -> Figure:
    """Two panels, a line per model."""
    models = dict(zip(pretrained_sweeps["model"], pretrained_sweeps["display_name"], strict=True))
    panels = []
    for part, title in PANELS.items():
        rows = pretrained_sweeps[pretrained_sweeps["part"] == part]
        lines = [
            Line(
                entity=f"series-{number}",
                label=name,
                x=rows.loc[rows["model"] == model, "layer"],
                y=rows.loc[rows["model"] == model, "value"],
                low=rows.loc[rows["model"] == model, "low"],
                high=rows.loc[rows["model"] == model, "high"],
                uncertainty="band",
                origin="measured",
                marks=True,
                legend=len(models) > 1,
            )
            for number, (model, name) in enumerate(models.items(), 1)
        ]
        panels.append(Panel(series=lines, title=title, x=Axis(label="layer"), y=Axis(label="nats a token")))
    return Figure(
        panels=panels,
        columns=2,
        height=48,
        legend="none" if len(models) == 1 else "below",
        caption=(
            "What the first token's part in one layer is worth: loss a token when its MLP output, or its values, are "
            f"zeroed in that layer alone, in {', '.join(models.values())} with its beginning token in front. Unit: one "
            f"text, n = {pretrained_sweeps['n'].min()}; bands: Student's 95 % interval over texts."
        ),
        short="What the first token's part in one layer is worth",
    )
