"""Far passkeys found without rotation, beside the control with YaRN, by prompt length."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer, pvalue

ENCODINGS = {"own": "as it is", "temperature": "with a temperature"}


def table(population_yarn: pd.DataFrame) -> Table:
    """Return one row per length and per encoding of the model without rotation, by base."""
    rows = population_yarn.copy()
    rows[["dropped", "stretched", "difference", "low", "high"]] *= 100
    rows["shown"] = [f"base {base:,}" for base in rows["base"]]
    rows["asked"] = rows["encoding"].map(ENCODINGS)
    return Table(
        rows=rows,
        columns=[
            Column("multiple", "Length", fixed(0)),
            Column("asked", "C is asked"),
            Column("dropped", "C", fixed(1), group="Far passkeys (%)"),
            Column("stretched", "B, YaRN", fixed(1), group="Far passkeys (%)"),
            Column("difference", "C minus B (points)", fixed(1), ci=("low", "high"), reason="note"),
            Column("p", "$p$", pvalue()),
            Column("seeds", "Seeds", integer()),
        ],
        groups="shown",
        size="footnotesize",
        caption=(
            "Far passkeys that the model without rotation (C) finds, and its control under YaRN (B), by the length of "
            "the prompt in training lengths. Unit: one training seed; means, Student's interval of the difference, and "
            "$p$ of exact sign flips, not corrected."
        ),
        short="Dropping the rotation beside YaRN",
        note=(
            "The first questions of each length, which all encodings were asked. The plan has C as it is at four "
            "lengths; the other rows are post hoc. The temperature of YaRN has twice the exponent of the one given to "
            "C here, so neither row compares like with like."
        ),
    )
