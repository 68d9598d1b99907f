"""Held-out losses of the distilled students after equal numbers of tokens."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, markup

TEXTS = {"manual": "manual of Python", "anarchism": "English prose", "all": "both"}


def table(distillation_outcomes: pd.DataFrame) -> Table:
    """Return one row per set of texts."""
    rows = distillation_outcomes[distillation_outcomes["seed"] == 0].copy()
    rows["label"] = [TEXTS.get(text, text) for text in rows["text"]]
    order = {text: index for index, text in enumerate(TEXTS)}
    rows = rows.sort_values("text", key=lambda texts: texts.map(order).fillna(-1), ignore_index=True)
    first = rows.iloc[0]
    loss, kl = "Held-out loss (nats)", "Divergence (nats)"
    return Table(
        rows=rows,
        columns=[
            Column("label", "Text", markup),
            Column("teacher", "teacher", fixed(2), group=loss),
            Column("untouched", "untouched", fixed(2), group=loss),
            Column("nope", "without\nrotation", fixed(2), group=loss),
            Column("continued", "control", fixed(2), group=loss),
            Column("recovered", "Share\nrecovered", fixed(2), reason="note"),
            Column("untouched_kl", "untouched", fixed(2), group=kl),
            Column("nope_kl", "without\nrotation", fixed(2), group=kl),
            Column("continued_kl", "control", fixed(2), group=kl),
        ],
        caption=(
            "A rotary model distilled into itself without rotation, and the control with the same steps and windows "
            f"that keeps it, after {int(first['tokens']):,} tokens each ({int(first['step'])} of {int(first['of'])} "
            "steps). Unit: one training."
        ),
        short="Distillation without rotation at equal tokens",
        note=(
            "*Untouched*: rotation removed in every layer, no step of training. *Share recovered*: 1 at the teacher's "
            "loss, 0 at that of the untouched model. *Divergence*: from the teacher. Held-out windows are of documents "
            "that no arm was trained on."
        ),
    )
