"""Added loss of pretrained models when the MLP or the attention of one layer writes nothing, by layer."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Panel
from figures.pretrained._models import by_model, layer_line

PARTS = ("mlp", "attention")


def figure(pretrained_ablations: pd.DataFrame) -> Figure:
    """Plot one panel per model and one line per removed part."""
    panels = []
    for _, name, rows in by_model(pretrained_ablations):
        lines = [layer_line(rows[rows["part"] == part], part) for part in PARTS]
        panels.append(Panel(series=lines, title=name, x=Axis(label="layer"), y=Axis(label="nats per token")))
    return Figure(
        panels=panels,
        columns=min(2, len(panels)),
        height=45,
        letters=len(panels) > 1,
        share_y=True,
        caption=(
            "Loss a token when the MLP or the attention of one layer writes nothing, layer by layer. Unit: one text of "
            f"a document each, n = {pretrained_ablations['n'].min()}; bands: Student's 95 % interval over texts."
        ),
        short="What each layer of a pretrained model is worth",
    )
