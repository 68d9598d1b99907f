"""Planned contrasts of the population."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed
from tables._house import ends, range_phrase
from tables.population._contrasts import with_names


def table(population_contrasts: pd.DataFrame, population_contrasts_every: pd.DataFrame) -> Table:
    """Return one row per planned contrast."""
    rows = population_contrasts.copy()
    rows["primary"] = rows["role"].map({"primary": "primary", "secondary": ""})
    rows["base"] = [
        _base_text(*cells) for cells in zip(rows["base"].astype(str), rows["first"], rows["second"], strict=True)
    ]
    all_models = population_contrasts_every.set_index("item")
    for name in ("seeds", "difference", "low", "high", "note", "p_holm"):
        rows[f"every_{name}"] = rows["item"].map(all_models[name])
    rows = with_names(rows, ("every_difference", "every_low", "every_high"))
    seeds, smallest = range_phrase(rows["seeds"]), fixed(3).show(rows["p_holm"].min(), "plain")
    count = int((rows["every_seeds"] > 0).sum())
    return Table(
        rows=rows,
        columns=[
            Column("what", "Outcome", mark="primary"),
            Column("arms", "Arms"),
            Column("base", "Base"),
            Column("multiple", "At", fixed(0)),
            Column("every_difference", "Difference", fixed(1), digits="digits", ci=ends("every"), reason="every_note"),
            Column("every_p_holm", "$p$", fixed(3), reason="every_note"),
        ],
        space="family",
        size="footnotesize",
        marks={"primary": "The primary contrast."},
        caption=(
            f"Contrasts of the population's plan, asked of all trained models, {count} of {len(rows)} measured: "
            f"means over {range_phrase(all_models['seeds'])} seeds, first arm minus second. Unit: one training seed."
        ),
        short="Planned contrasts of the population",
        note=(
            "Arms as in the record of the plan; passkeys and facts are in points. Far ones lie farther than one and a "
            "quarter training lengths from the question; At: multiples of the training length. Differences of all "
            "trained models, with Student's intervals over seeds; $p$ of exact sign flips over the seeds, Holm within "
            "a family. The plan does not compare all trained models: this was added after two seeds, in which "
            f"arms missed the criterion. By the plan {seeds} seeds count; the smallest corrected $p$ is {smallest}."
        ),
    )


def _base_text(base: str, first: str, second: str) -> str:
    """Return the rotation base of a contrast; for a difference between two bases, return both with a minus sign."""
    bases = [name.partition(" at ")[2] for name in (first, second)] if base == "both" else [base]
    return " − ".join(f"{int(base):,}" for base in bases)
