"""Cost of removing the first token's MLP output, or its values, in one layer of a pretrained model, by layer."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel
from figures.pretrained._models import by_model, layer_line

PANELS = {"mlp": "MLP output zeroed", "values": "values zeroed"}


def figure(pretrained_sweeps: pd.DataFrame) -> Figure:
    """Plot two panels, with one line per model."""
    names = ", ".join(dict.fromkeys(pretrained_sweeps["display_name"]))
    panels = []
    for part, title in PANELS.items():
        models = by_model(pretrained_sweeps[pretrained_sweeps["part"] == part])
        lines = [layer_line(rows, entity, name) for entity, name, rows in models]
        panels.append(Panel(series=lines, title=title, x=Axis(label="layer"), y=Axis(label="nats per token")))
    return Figure(
        panels=panels,
        height=48,
        letters=True,
        caption=(
            "What the first token's part in one layer is worth: loss a token when its MLP output, or its values, are "
            f"zeroed in that layer alone, in {names} with its beginning token in front. The panels differ in scale. "
            f"Unit: one text, n = {pretrained_sweeps['n'].min()}; bands: Student's 95 % interval over texts."
        ),
        short="What the first token's part in one layer is worth",
    )
