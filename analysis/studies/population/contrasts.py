"""Compute the record of trained models, and the planned contrasts."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.studies.population._effects import FloatArray, corrected, effect_columns
from analysis.studies.population._outcomes import by_seed, counted_by_plan, key_questions, outcomes, records
from analysis.studies.population._ranks import BLOCKED, OF_HEADS

DRAWS = 10_000
KEYS = ["model", "encoding", "multiple"]
UNITS = (OF_HEADS, BLOCKED)  # units of the plan's items that are not contrasts of arms
INTERACTION_ARMS = (("C", 400), ("B", 400), ("C", 10_000), ("B", 10_000))
Questions = dict[tuple[str, str, float], pd.DataFrame]
"""Questions by model, encoding and multiple."""


def population_record(population_members: pd.DataFrame, population_models: pd.DataFrame) -> pd.DataFrame:
    """Return every planned model and its state: counted, excluded by the criterion, or not trained yet."""
    table = population_members.merge(
        population_models[["model", "steps", "rounds", "key_loss", "reached"]], on="model", how="left"
    )
    counts = counted_by_plan(population_models)
    states = {True: "counted", False: "excluded", None: "not trained"}
    table["status"] = [states[counts.get(model)] for model in table["model"]]
    table["note"] = np.where(table["status"] == "not trained", "not trained yet", "")
    return table.drop(columns="reached")


def population_contrasts(
    population_plan: pd.DataFrame,
    population_models: pd.DataFrame,
    population_keys: pd.DataFrame,
    population_prompts: pd.DataFrame,
    population_tasks: pd.DataFrame,
    population_losses: pd.DataFrame,
    population_heads: pd.DataFrame,
) -> pd.DataFrame:
    """Return every planned contrast of arms, with seeds as units.

    `difference` is the mean over seeds of first minus second, `low` and `high` its 95 % interval by Student's t over
    seeds, and `drawn_low` and `drawn_high`, for information only, a bootstrap interval over seeds and, for shares of
    keys, over each seed's contexts. `p` is from all sign flips, `p_least` the smallest possible with this number of
    seeds, `p_holm` is corrected within the family over contrasts with a p. `least` and `most` are over seeds.
    """
    questions = key_questions(population_keys, population_prompts, population_models)
    groups: Any = questions.groupby(KEYS)
    by_key: Questions = dict(list(groups))
    table = outcomes(population_models, questions, population_tasks, population_losses, population_heads)
    rows = []
    for plan in records(population_plan[~population_plan["unit"].isin(UNITS)]):
        is_interaction = plan.item == "base_interaction"
        arms = INTERACTION_ARMS if is_interaction else [(arm, int(plan.base)) for arm in (plan.first, plan.second)]
        by_arm = [by_seed(table, plan.outcome, arm, base, plan.multiple) for arm, base in arms]
        seeds = pd.concat(by_arm, axis=1, join="inner", keys=range(len(arms)))
        first, second = (seeds[0] - seeds[1], seeds[2] - seeds[3]) if is_interaction else (seeds[0], seeds[1])
        differences = []
        if len(seeds) and not is_interaction:
            differences = _differences_by_context(by_key, population_models, plan, list(seeds.index))
        effects = (first - second).to_numpy(dtype=float)
        interval = _bootstrap_contexts(differences) if differences else _bootstrap_seeds(effects)
        rows.append(_contrast_row(plan, first, second, effects, interval))
    return corrected(pd.DataFrame(rows), "family")


def _contrast_row(
    plan: Any, first: pd.Series, second: pd.Series, effects: FloatArray, interval: tuple[float, float] | None
) -> dict[str, object]:
    count = len(effects)
    row: dict[str, object] = {name: getattr(plan, name) for name in ("item", "family", "role", "outcome")}
    row |= {name: getattr(plan, name) for name in ("first", "second", "base", "multiple")}
    drawn_low, drawn_high = interval or (None, None)
    effect = effect_columns(effects)
    row |= {
        "seeds": count,
        "mean_first": float(first.mean()) if count else None,
        "mean_second": float(second.mean()) if count else None,
        **{name: effect[name] for name in ("difference", "low", "high")},
        "drawn_low": drawn_low,
        "drawn_high": drawn_high,
        **{name: effect[name] for name in ("least", "most", "p", "p_least")},
    }
    notes = []
    if not count:
        notes.append("no seed with both arms yet")
    elif interval is None:
        notes.append("one seed: no interval")
    if effect["p_least"] is not None and effect["p_least"] > 0.05:
        notes.append(f"with {count} seed{'s' * (count > 1)} no test of signs can reach .05")
    row["note"] = "; ".join(notes)
    return row


def _differences_by_context(
    by_key: Questions, models: pd.DataFrame, plan: Any, seeds: list[int]
) -> list[list[FloatArray]]:
    """Return each seed's differences between arms, by context; empty if the outcome is not a share of keys."""
    if plan.outcome not in ("keys_far", "keys_all", "keys_far_extended"):
        return []
    differences = []
    for seed in seeds:
        by_arm = []
        for arm in (plan.first, plan.second):
            letter, _, encoding = arm.partition(":")
            base = 0 if letter == "E" else int(plan.base)
            is_model = (models["arm"] == letter) & (models["base"] == base) & (models["seed"] == seed)
            questions = by_key[models.loc[is_model, "model"].item(), encoding or "own", float(plan.multiple)]
            by_arm.append(questions if plan.outcome == "keys_all" else questions[questions["far"]])
        pairs = by_arm[0].merge(by_arm[1][["item", "right"]], on="item", suffixes=("", "_second"))
        gaps = (pairs["right"].astype(float) - pairs["right_second"].astype(float)).to_numpy()
        contexts = pairs["context"].to_numpy()
        differences.append([gaps[contexts == context] for context in np.unique(contexts)])
    return differences


def _bootstrap_contexts(differences: list[list[FloatArray]]) -> tuple[float, float] | None:
    """Return a bootstrap interval of the mean over seeds, resampling seeds, and contexts within each seed."""
    if len(differences) < 2:
        return None
    rng = np.random.default_rng(0)
    means = np.empty((len(differences), DRAWS))
    for seed, contexts in enumerate(differences):
        sums = np.array([context.sum() for context in contexts])
        sizes = np.array([len(context) for context in contexts])
        picks = rng.integers(len(contexts), size=(DRAWS, len(contexts)))
        means[seed] = sums[picks].sum(1) / sizes[picks].sum(1)
    seeds = rng.integers(len(differences), size=(DRAWS, len(differences)))
    values = means[seeds, np.arange(DRAWS)[:, None]].mean(1)
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _bootstrap_seeds(values: FloatArray) -> tuple[float, float] | None:
    """Return a bootstrap interval of the mean over seeds, resampling seeds."""
    if len(values) < 2:
        return None
    picks = np.random.default_rng(0).integers(len(values), size=(DRAWS, len(values)))
    low, high = np.quantile(values[picks].mean(1), [0.025, 0.975])
    return float(low), float(high)
