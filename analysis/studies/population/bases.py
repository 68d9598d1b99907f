"""The plan's analyses at either base of the rotation, and what the base changes. Over all trained models; post hoc.

Written down before a model of the larger base was measured (docs/population-plan.md, Added later).
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.studies.population._effects import effect, holm_within
from analysis.studies.population._outcomes import by_seed, each, outcomes, questions
from analysis.studies.population._ranks import damages, damaging, related

BASES = (400, 10_000)
LESS = "400 less 10000"
UNIT = "seed"  # of contrasts of arms
PRIMARY = "400"  # base that the plan's contrasts are asked at
GROUPS = {"10000": (10_000,), "both": BASES}  # of models that relations are asked of


def population_bases(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_keys: pd.DataFrame,
    population_prompts: pd.DataFrame,
    population_tasks: pd.DataFrame,
    population_losses: pd.DataFrame,
    population_heads: pd.DataFrame,
) -> pd.DataFrame:
    """Every contrast that the plan has at base 400, at both bases, and the difference of the two effects by seed.

    `of` is a base, or `400 less 10000`; `difference` is the mean over seeds of first minus second arm, or of the first
    base's effect minus the second's, `low` and `high` Student's 95 % interval, `p` of all sign flips, `p_holm` within
    the family of each `of`. The arm that never rotates has no base and is the same at both.
    """
    models = population_models.assign(reached=True)
    asked = questions(population_keys, population_prompts, models)
    found = outcomes(models, asked, population_tasks, population_losses, population_heads)
    plans = population_plan[(population_plan["unit"] == UNIT) & (population_plan["base"].astype(str) == PRIMARY)]
    rows: list[dict[str, Any]] = []
    for plan in each(plans):
        sides = [_sides(found, plan, base) for base in BASES]
        effects = [side["first"] - side["second"] for side in sides]
        for base, side, given in zip(BASES, sides, effects, strict=True):
            means = {f"mean_{name}": float(side[name].mean()) if len(side) else None for name in ("first", "second")}
            rows.append(_row(plan, str(base), given, means))
        shift = (effects[0] - effects[1]).dropna()
        rows.append(_row(plan, LESS, shift, {"mean_first": None, "mean_second": None}))
    table = pd.DataFrame(rows).astype({"p": float, "p_least": float})
    table["p_holm"] = holm_within(table, ["of", "family"])
    return table


def population_relations_bases(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_keys: pd.DataFrame,
    population_prompts: pd.DataFrame,
    population_tasks: pd.DataFrame,
    population_losses: pd.DataFrame,
    population_heads: pd.DataFrame,
) -> pd.DataFrame:
    """As `population_relations_every`, over the models of the larger base, and over those of both bases together.

    `of` is `10000`, or `both`, where a seed has the models of both bases.
    """
    models = population_models.assign(reached=True)
    asked = questions(population_keys, population_prompts, models)
    found = outcomes(models, asked, population_tasks, population_losses, population_heads)
    there = found.groupby("seed")["base"].agg(set)
    tables = []
    for of, bases in GROUPS.items():
        seeds = there.index[[set(bases) <= held for held in there]]
        tables.append(related(population_plan, found[found["seed"].isin(seeds)], bases).assign(of=of))
    return pd.concat(tables, ignore_index=True)


def population_head_damage_bases(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_heads: pd.DataFrame,
    population_ablation: pd.DataFrame,
) -> pd.DataFrame:
    """As `population_head_damage_every`, over the models of the larger base."""
    table = damages(population_models.assign(reached=True), population_heads, population_ablation)
    return damaging(population_plan, table[table["base"] == BASES[1]])


def _sides(found: pd.DataFrame, plan: Any, base: int) -> pd.DataFrame:
    """Values of both arms of a contrast at a base, by the seeds that have both."""
    sides = {
        name: by_seed(found, plan.outcome, arm, base, plan.multiple)
        for name, arm in (("first", plan.first), ("second", plan.second))
    }
    return pd.concat(sides, axis=1, join="inner")


def _row(plan: Any, of: str, given: pd.Series, means: dict[str, float | None]) -> dict[str, Any]:
    told = {name: getattr(plan, name) for name in ("item", "family", "outcome", "first", "second", "multiple")}
    count = len(given)
    notes = ["mean_first, mean_second: a difference of two differences"] if of == LESS else []
    if not count:
        notes = ["no seed with both arms yet" if of != LESS else "no seed with both arms at both bases yet"]
    elif count == 1:
        notes.append("one seed: no interval")
    effects = effect(given.to_numpy(dtype=float))
    return {**told, "of": of, "seeds": count, **means, **effects, "note": "; ".join(notes)}
