"""Helpers for tables of contrasts: names of outcomes and arms, and the printed unit of each outcome."""

import pandas as pd

OUTCOMES = {
    "keys_far": ("far passkeys (%)", 100, 1),
    "keys_far_extended": ("far passkeys (%)", 100, 1),
    "keys_all": ("all passkeys (%)", 100, 1),
    "facts_held": ("held-out facts (%)", 100, 1),
    "text_loss": ("text (0.001 nats)", 1000, 0),
    "sink_backcopy_most": ("largest sink", 1, 2),
    "value_ratio_least": ("least value", 1, 2),
    "ap_overall": ("plasticity", 1, 2),
    "bias_strength": ("bias per token", 1, 2),
    "bias_window": ("bias over the window", 1, 0),
}
"""Words, factor of the unit, and number of decimals of an outcome."""

TREATMENTS = {"pi": "interpolated", "ntk": "NTK", "yarn": "YaRN", "temperature": "temperature"}
"""Changes of an arm's rotation or softmax beyond the training length, in words."""


def with_names(rows: pd.DataFrame, scaled: tuple[str, ...]) -> pd.DataFrame:
    """Add the columns `what`, `arms` and `digits`; convert the columns named in `scaled` to the printed unit."""
    table = rows.copy()
    units = pd.DataFrame([OUTCOMES[outcome] for outcome in rows["outcome"]], columns=["what", "factor", "digits"])
    table[["what", "digits"]] = units[["what", "digits"]].to_numpy()
    table["arms"] = [arms_of_contrast(*pair) for pair in zip(rows["first"], rows["second"], strict=True)]
    for name in scaled:
        table[name] *= units["factor"].to_numpy()
    return table


def arms_of_contrast(first: str, second: str) -> str:
    """Return the two arms of a contrast; for a difference between two bases, the arms compared at each base."""
    if " at " in first:
        minuend, subtrahend = first.partition(" at ")[0].split("-")
        return f"{minuend} − {subtrahend}"
    return f"{_arm_name(first)} − {_arm_name(second)}"


def _arm_name(name: str) -> str:
    """Return an arm's name as printed in chapters, with its treatment beyond the training length."""
    arm, _, treatment = name.partition(":")
    return f"{arm}, {TREATMENTS[treatment]}" if treatment else arm
