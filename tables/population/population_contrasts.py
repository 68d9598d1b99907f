"""The planned contrasts of the population."""

import pandas as pd

from tables import Column, Table, fixed, integer

OUTCOMES = {
    "keys_far": ("far keys (%)", 100, 1),
    "keys_far_extended": ("far keys (%)", 100, 1),
    "keys_all": ("all keys (%)", 100, 1),
    "facts_held": ("held-out facts (%)", 100, 1),
    "text_loss": ("text (nats)", 1, 3),
    "sink_backcopy_most": ("largest sink", 1, 2),
    "value_ratio_least": ("least value", 1, 2),
    "ap_overall": ("plasticity", 1, 2),
    "bias_strength": ("bias a token", 1, 2),
    "bias_window": ("bias over the window", 1, 0),
}
"""Words, factor and digits after the point of an outcome."""

TREATED = {"pi": "interpolated", "ntk": "NTK", "yarn": "YaRN", "temperature": "temperature"}
"""What is done to an arm's rotation or softmax beyond the trained length, in words."""


def table(population_contrasts: pd.DataFrame, population_contrasts_every: pd.DataFrame) -> Table:
    """Return the table."""
    rows = population_contrasts.copy()
    said = pd.DataFrame([OUTCOMES[each] for each in rows["outcome"]], columns=["what", "factor", "digits"])
    rows[["what", "digits"]] = said[["what", "digits"]].to_numpy()
    rows["arms"] = [_arms(*pair) for pair in zip(rows["first"], rows["second"], strict=True)]
    rows["primary"] = rows["role"].map({"primary": "primary", "secondary": ""})
    rows["base"] = [_base(*each) for each in zip(rows["base"].astype(str), rows["first"], rows["second"], strict=True)]
    every = population_contrasts_every.set_index("item")
    for name in ("seeds", "difference", "low", "high", "note", "p_holm"):
        rows[f"every_{name}"] = rows["item"].map(every[name])
    for name in ("difference", "low", "high"):
        rows[f"every_{name}"] *= said["factor"].to_numpy()
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
                fixed(1),
                digits="digits",
                ci=("every_low", "every_high"),
                reason="every_note",
            ),
            Column("every_p_holm", "all", fixed(3), group="p", reason="every_note"),
            Column("p_holm", "count", fixed(3), group="p", blank=True),
        ],
        column_space=2.0,
        space="family",
        size="footnotesize",
        marks={"primary": "The primary contrast."},
        reason="note",
        caption=(
            f"Planned contrasts of the population, {measured} of {len(rows)} measured: means over seeds of the first "
            "arm minus the second. Unit: one training seed."
        ),
        short="Planned contrasts of the population",
        note=(
            "Arms as in the record of the plan; keys and facts are in points. Far keys lie farther than one and a "
            "quarter training lengths from the question; At: multiples of the training length. Differences of all "
            "trained models, with Student's intervals over seeds; p of exact sign flips over the seeds, Holm within "
            "a family. That all trained models are compared too is no part of the "
            "plan: it was added after two seeds, in which arms missed the criterion."
        ),
    )


def _arm(name: str) -> str:
    """An arm of the plan in the words of the chapter, with what is done to it beyond the trained length."""
    arm, _, treatment = name.partition(":")
    return f"{arm}, {TREATED[treatment]}" if treatment else arm


def _arms(first: str, second: str) -> str:
    """The two arms of a contrast; of the difference of one contrast between two bases, that contrast."""
    if " at " in first:
        one, other = first.partition(" at ")[0].split("-")
        return f"{one} − {other}"
    return f"{_arm(first)} − {_arm(second)}"


def _base(base: str, first: str, second: str) -> str:
    """The base of the rotation, or the two whose contrasts are compared."""
    bases = [name.partition(" at ")[2] for name in (first, second)] if base == "both" else [base]
    return " − ".join(f"{int(each):,}" for each in bases)
