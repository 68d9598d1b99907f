"""Run the planned analyses at both rotation bases, over all trained models, and test what the base changes; post hoc.

The analyses were added to the plan before the reported models of the larger base were measured
(docs/population-plan.md). Values come from the measurements, since the rounding of written outcomes would break ties
that the exact test counts.
"""

from typing import Any

import pandas as pd

from analysis.studies.population._effects import corrected, effect_columns
from analysis.studies.population._outcomes import by_seed, key_questions, outcomes, records
from analysis.studies.population._ranks import head_damage_rows, head_damages, relation_rows

BASES = (400, 10_000)
DIFFERENCE = "400 minus 10000"
UNIT = "seed"  # unit of contrasts of arms
UNROTATED = "E"  # the arm that never rotates
PLANNED = {"keys_far_4x": "bases"}  # the only planned difference of the bases, and its family
PRIMARY = "400"  # base of the planned contrasts
GROUPS = {"10000": ((10_000,), "ABCD"), "both": (BASES, "ABCD"), "both, A to C": (BASES, "ABC")}
"""Bases and arms of the models for which relations are tested."""


def population_bases(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_keys: pd.DataFrame,
    population_prompts: pd.DataFrame,
    population_tasks: pd.DataFrame,
    population_losses: pd.DataFrame,
    population_heads: pd.DataFrame,
) -> pd.DataFrame:
    """Return every planned contrast at each base, and the difference between the two bases' effects, paired by seed.

    `of` is a base, or `400 minus 10000`; `difference` is the mean over seeds of first minus second arm, or of the first
    base's effect minus the second's, `low` and `high` are its Student's 95 % interval. `p` is from all sign flips, and
    `p_holm` corrected within the family of each `of`. The arm that never rotates has no base: it is compared with C of
    each base, but not between bases. Far keys at base 10,000, and the difference of the bases at four lengths, were in
    the original plan.
    """
    models = population_models.assign(reached=True)
    questions = key_questions(population_keys, population_prompts, models)
    table = outcomes(models, questions, population_tasks, population_losses, population_heads)
    plans = population_plan[(population_plan["unit"] == UNIT) & (population_plan["base"].astype(str) == PRIMARY)]
    rows: list[dict[str, Any]] = []
    for plan in records(plans):
        by_base = [_arms_by_seed(table, plan, base) for base in BASES]
        effects = [arms["first"] - arms["second"] for arms in by_base]
        for base, arms, effect in zip(BASES, by_base, effects, strict=True):
            means = {f"mean_{name}": float(arms[name].mean()) if len(arms) else None for name in ("first", "second")}
            rows.append(_contrast_row(plan, str(base), effect, means))
        if {plan.first, plan.second} & {UNROTATED}:
            continue  # the arm without rotation cancels here, so no contrast with it is left
        shift = (effects[0] - effects[1]).dropna()
        row = _contrast_row(plan, DIFFERENCE, shift, {"mean_first": None, "mean_second": None})
        rows.append(row | ({"family": PLANNED[plan.item]} if plan.item in PLANNED else {}))
    return corrected(pd.DataFrame(rows), ["of", "family"])


def population_relations_bases(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_keys: pd.DataFrame,
    population_prompts: pd.DataFrame,
    population_tasks: pd.DataFrame,
    population_losses: pd.DataFrame,
    population_heads: pd.DataFrame,
) -> pd.DataFrame:
    """Return relations as in `population_relations_every`, over the larger base's models, and over both bases' models.

    `of` is `10000` or `both`; `both` uses the seeds that have the same three or more arms at both bases. `both, A to C`
    excludes D, which finds hardly any keys that it could lose; it was added after seeing the result over both.
    """
    models = population_models.assign(reached=True)
    questions = key_questions(population_keys, population_prompts, models)
    table = outcomes(models, questions, population_tasks, population_losses, population_heads)
    arms = models[models["base"] > 0].groupby(["seed", "base"])["arm"].agg(frozenset).unstack("base")
    arms = arms.reindex(columns=list(BASES)).dropna()
    equal_seeds = [
        seed for seed, (low, high) in zip(arms.index, arms.to_numpy(), strict=True) if low == high and len(low) > 2
    ]
    tables = []
    for name, (bases, letters) in GROUPS.items():
        subset = table[table["arm"].isin(list(letters)) & (table["seed"].isin(equal_seeds) | (len(bases) == 1))]
        tables.append(relation_rows(population_plan, subset, bases).assign(of=name))
    return pd.concat(tables, ignore_index=True)


def population_head_damage_bases(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_heads: pd.DataFrame,
    population_ablation: pd.DataFrame,
) -> pd.DataFrame:
    """Return head damage as in `population_head_damage_every`, over the larger base's models."""
    table = head_damages(population_models.assign(reached=True), population_heads, population_ablation)
    return head_damage_rows(population_plan, table[table["base"] == BASES[1]])


def _arms_by_seed(table: pd.DataFrame, plan: Any, base: int) -> pd.DataFrame:
    """Return values of both arms of a contrast at a base, by the seeds that have both."""
    sides = {
        name: by_seed(table, plan.outcome, arm, base, plan.multiple)
        for name, arm in (("first", plan.first), ("second", plan.second))
    }
    return pd.concat(sides, axis=1, join="inner")


def _contrast_row(plan: Any, bases: str, effect: pd.Series, means: dict[str, float | None]) -> dict[str, Any]:
    row = {name: getattr(plan, name) for name in ("item", "family", "outcome", "first", "second", "multiple")}
    count = len(effect)
    notes = ["mean_first, mean_second: a difference of two differences"] if bases == DIFFERENCE else []
    if not count:
        notes = ["no seed with both arms yet" if bases != DIFFERENCE else "no seed with both arms at both bases yet"]
    elif count == 1:
        notes.append("one seed: no interval")
    effects = effect_columns(effect.to_numpy(dtype=float))
    return {**row, "of": bases, "seeds": count, **means, **effects, "note": "; ".join(notes)}
