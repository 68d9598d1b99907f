"""Experiments of the DroPE report, repeated on the four models of the distillation."""

import pandas as pd

from boundpaper.tables import Column, Table
from boundpaper.typeset.numbers import fixed

NAMES = {
    "teacher": "Rotation",
    "untouched": "Removed",
    "nope": "Removed,\ndistilled",
    "continued": "Rotation,\ntrained on",
}
UNITS = {"percent": "%", "nats per token": "nats", "dimensions": "count"}


def table(distillation_quantities: pd.DataFrame) -> Table:
    """Return one row per quantity and one column per model that has measurements."""
    columns = [name for name in NAMES if distillation_quantities[name].notna().any()]
    rows = distillation_quantities.assign(unit=[UNITS.get(unit, unit) for unit in distillation_quantities["unit"]])
    for name in columns:
        rows[f"{name}_text"] = [
            "" if pd.isna(value) else fixed(int(digits)).show(value, "plain").replace("-", "\N{MINUS SIGN}")
            for value, digits in zip(rows[name], rows["digits"], strict=True)
        ]
        rows[f"{name}_why"] = [_why_missing(note, name) for note in rows["note"]]
    rows["new"] = ~rows["experiment"].duplicated()
    has_students = len(columns) == len(NAMES)
    return Table(
        rows=rows,
        columns=[
            Column("label", "Quantity", width=0.4),
            Column("unit", "Unit"),
            *(Column(f"{name}_text", NAMES[name], align="right", reason=f"{name}_why") for name in columns),
        ],
        rule_before="new",
        size="footnotesize",
        caption=(
            "Experiments of the DroPE report [@africa2026] on one pretrained model with its rotation and with it "
            "removed"
            + (", and on its students at equal tokens" if has_students else " and nothing trained")
            + ". All models read the same texts. Unit: one model, so that there are no intervals."
        ),
        short="Experiments on a model with its rotation and without",
        note=(
            "Extremes and means over layers are of all its layers. *Removed*: no angle is turned in any layer, "
            "and no weight is changed."
        ),
    )


def _why_missing(note: object, name: str) -> str:
    """Return why a model has no value, read from a note of the form `model: why; model: why`."""
    reasons = dict(text.split(": ", 1) for text in str(note).split("; ") if ": " in text)
    return reasons.get(name, "").capitalize()
