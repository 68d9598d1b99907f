"""Output of attention to the first token, by layer (Figure 18 of the report)."""

import pandas as pd

from boundpaper.figures import Axis, Figure, Line, Panel

PANELS = {
    "value_norm": ("value norm", "L2 norm"),
    "mass": ("attention mass", "share"),
    "write": ("write score", "share times norm"),
}


def figure(write_layers: pd.DataFrame, drope_protocols: pd.DataFrame) -> Figure:
    """Plot norm, attention mass, and the mean over heads of their product in three panels."""
    sentences = str(drope_protocols.set_index("section")["items"]["6"]).partition(";")[0]
    return Figure(
        panels=[
            Panel(
                title=title,
                series=[
                    Line(entity=model, x=write_layers["layer"], y=write_layers[f"{metric}_{model}"], marks=True)
                    for model in ("rope", "drope")
                ],
                x=Axis(label="layer", ticks=[0, 10, 20, 30]),
                y=Axis(label=label, zero=True),
            )
            for metric, (title, label) in PANELS.items()
        ],
        letters=True,
        height=48,
        caption=(
            "Norm of the first token's value vector, attention on it from later tokens, and the write score, the mean "
            f"over heads of their product; published series [@africa2026], means over heads and {sentences}, no "
            "spread is published. The report's fourth panel is a figure of its own here."
        ),
        short="What attention to the first token writes, by layer",
        note="Scores of DroPE's layer 1 were clamped before the softmax, so its attention is not the model's own.",
    )
