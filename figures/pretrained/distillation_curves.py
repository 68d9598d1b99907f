"""Training curves of both arms of the distillation."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel, Rule
from boundpaper.typeset.wording import whole

ARMS = {"nope": ("drope", "without rotation"), "continued": ("rope", "control, rotation kept")}


def figure(distillation_curves: pd.DataFrame) -> Figure:
    """Plot held-out loss and divergence over tokens, with the levels of the teacher and of the untrained student."""
    rows = distillation_curves[(distillation_curves["text"] == "all") & (distillation_curves["seed"] == 0)]
    thousands = rows.assign(tokens=rows["tokens"] / 1000)
    first, last, end = rows.iloc[0], rows.iloc[-1], thousands["tokens"].max()
    teacher_loss = float(first["teacher_loss"])
    untouched = rows[(rows["arm"] == "nope") & (rows["step"] == 0)].iloc[0]

    def panel(metric: str, title: str, levels: dict[str, float]) -> Panel:
        return Panel(
            series=[
                Line(
                    entity=entity,
                    label=name,
                    x=curve["tokens"],
                    y=curve[metric],
                    origin="measured",
                    legend=metric == "loss",
                )
                for arm, (entity, name) in ARMS.items()
                for curve in [thousands[thousands["arm"] == arm]]
            ],
            x=Axis(label="tokens (thousands)", low=-0.03 * end),
            title=title,
            y=Axis(label="nats per token", low=0 if metric == "kl" else min(levels.values()) - 0.45),
            rules=[Rule(at=value, dash="solid") for value in levels.values()],
            annotations=[Annotation(x=end, y=y, text=name, anchor="below left") for name, y in levels.items()],
        )

    return Figure(
        panels=[
            panel("loss", "held-out loss", {"teacher": teacher_loss, "before any step": float(untouched["loss"])}),
            panel("kl", "divergence from the teacher", {"before any step": float(untouched["kl"])}),
        ],
        letters=True,
        height=34,
        caption=(
            "Without rotation SmolLM2, distilled into itself, stays behind its teacher and the control: (a) loss of "
            "the next token, (b) divergence from the teacher, on held-out documents, mean over "
            f"{whole(int(first['n']))} tokens of all sets of texts. Both arms read the same windows; "
            f"{int(last['step'])} of {int(last['of'])} steps of the schedule. *Before any step*: the rotation just "
            "removed. Unit: one training, so there are no error bars."
        ),
        short="Distillation without rotation, and its control",
    )
