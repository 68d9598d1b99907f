"""Share found of the passkeys near the question, by arm of the population and by prompt length."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer


def table(population_near: pd.DataFrame) -> Table:
    """Return one row per base, arm and prompt length, and rows for the difference between arms C and B."""
    rows = population_near[population_near["multiple"] >= 1].copy()
    rows[["value", "low", "high", "least", "most"]] *= 100
    rows["shown"] = [f"{base:,}" if base else "none" for base in rows["base"]]
    return Table(
        rows=rows,
        columns=[
            Column("shown", "Base"),
            Column("compared", "Arm"),
            Column("multiple", "Length", fixed(0)),
            Column("value", "Near passkeys (%)", fixed(1), ci=("low", "high"), reason="note"),
            Column("least", "least", fixed(1), group="Seeds"),
            Column("most", "most", fixed(1), group="Seeds"),
            Column("seeds", "number", integer(), group="Seeds"),
            Column("p_holm", "$p$", fixed(3), blank=True),
        ],
        space="compared",
        size="footnotesize",
        caption=(
            "Passkeys nearer to the question than one training length that the population finds, by the length of the "
            "prompt in training lengths: mean over seeds with Student's interval. Unit: one training seed."
        ),
        short="Passkeys near the question that the population finds",
        note=(
            "Arms as in the record of the plan. All trained models, measured as planned; this comparison is post hoc. "
            "p of exact sign flips over seeds, Holm over the lengths of a base, of the difference by seed."
        ),
    )
