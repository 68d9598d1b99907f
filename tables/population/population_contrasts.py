"""The planned contrasts of the population."""

import pandas as pd

from tables import Column, Table, fixed, integer, significant

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

TREATED = {"pi": "interpolated", "ntk": "NTK", "yarn": "YaRN", "temperature": "temperature"}
"""What is done to an arm's rotation or softmax beyond the trained length, in words."""


def table(population_contrasts: pd.DataFrame, population_contrasts_every: pd.DataFrame) -> Table:
    """Return the table."""
    rows = population_contrasts.copy()
    rows["what"] = rows["outcome"].map(OUTCOMES)
    rows["arms"] = rows["first"].map(_arm) + " − " + rows["second"].map(_arm)
    rows["primary"] = rows["role"].map({"primary": "primary", "secondary": ""})
    rows["base"] = rows["base"].replace({"10000": "10,000"})
    every = population_contrasts_every.set_index("item")
    for name in ("seeds", "difference", "low", "high", "note"):
        rows[f"every_{name}"] = rows["item"].map(every[name])
    measured = int((rows["every_seeds"] > 0).sum())
    return Table(
        rows=rows,
        columns=[
            Column("what", "Outcome", mark="primary"),
            Column("arms", "Arms"),
            Column("base", "Base"),
            Column("multiple", "At", fixed(0)),
            Column("every_seeds", "all", integer(), group="Seeds"),
            Column("seeds", "count", integer(), group="Seeds"),
            Column(
                "every_difference",
                "Difference, all",
                significant(3),
                ci=("every_low", "every_high"),
                reason="every_note",
            ),
            Column("p_holm", "p, count", fixed(3), blank=True),
        ],
        column_space=1.8,
        space="family",
        units="what",
        size="footnotesize",
        marks={"primary": "The primary contrast."},
        reason="note",
        caption=(
            f"Planned contrasts of the population, {measured} of {len(rows)} measured: means over seeds of the first "
            "arm minus the second. Unit: one training seed."
        ),
        short="Planned contrasts of the population",
        note=(
            "Arms as in the record of the plan; keys and facts are shares. Far keys lie farther than one and a quarter "
            "training lengths from the question; At: multiples of the training length. Differences of all trained "
            "models, with Student's intervals over seeds; p of exact sign flips over the seeds whose models count, "
            "Holm within a family. That all trained models are compared too is no part of the "
            "plan: it was added after two seeds, in which arms missed the criterion."
        ),
    )


def _arm(name: str) -> str:
    """An arm of the plan in the words of the chapter: what was done to it, and a contrast in brackets."""
    arm, _, treatment = name.partition(":")
    if treatment:
        return f"{arm}, {TREATED[treatment]}"
    first, dash, rest = arm.partition("-")
    if not dash:
        return arm
    second, at, base = rest.partition(" at ")
    return f"({first} − {second}){at}{f'{int(base):,}' if base else ''}"
