"""The planned contrasts of the population."""

import pandas as pd

from tables import Column, Table, fixed, integer

OUTCOMES = {
    "keys_far": "far keys",
    "keys_far_extended": "far keys",
    "keys_all": "all keys",
    "facts_held": "held-out facts",
    "text_loss": "text (nats)",
    "sink_backcopy_most": "largest sink",
    "value_ratio_least": "least value",
    "ap_overall": "plasticity",
    "bias_strength": "bias a token",
    "bias_window": "bias over the window",
}


def table(population_contrasts: pd.DataFrame) -> Table:
    """Return the table."""
    rows = population_contrasts.copy()
    rows["what"] = rows["outcome"].map(OUTCOMES)
    rows["arms"] = rows["first"] + " against " + rows["second"]
    rows["new"] = ~rows["family"].duplicated()
    rows["primary"] = rows["role"].map({"primary": "primary", "secondary": ""})
    measured = int((rows["seeds"] > 0).sum())
    return Table(
        rows=rows,
        columns=[
            Column("what", "Outcome"),
            Column("arms", "Arms"),
            Column("base", "Base"),
            Column("multiple", "Length", fixed(0)),
            Column("seeds", "Seeds", integer()),
            Column("difference", "Difference", fixed(3), ci=("low", "high")),
            Column("p_holm", "p, Holm", fixed(3)),
            Column("primary", "Role", blank=True),
        ],
        column_space=2.8,
        rule_before="new",
        size="footnotesize",
        reason="note",
        caption=(
            f"Planned contrasts of the population, {measured} of {len(rows)} measured: means over seeds of the first "
            "arm minus the second. Unit: one training seed."
        ),
        short="Planned contrasts of the population",
        note=(
            "Arms as in the record of the plan. Far keys lie farther than one and a quarter training lengths from the "
            "question; lengths are multiples of the training length. Exact sign flips over seeds, Holm within a "
            "family; Student's intervals over seeds."
        ),
    )
