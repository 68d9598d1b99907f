"""Test every item of the amendment to the plan in the second run: exact tests and equivalence, at each base.

The results use the existing seeds: each item says how many of the planned seeds there are, and is open if these
cannot decide it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.studies.population._effects import (
    LEVEL,
    FloatArray,
    corrected_as_planned,
    effect_columns,
    equivalence_p,
    seed_summary,
)
from analysis.studies.population._outcomes import counted_by_plan, key_questions, outcomes, records
from analysis.studies.population._ranks import BLOCKED, OF_HEADS, head_damage_rows, head_damages, relation_rows
from analysis.studies.population._retrained import (
    ALIGNED,
    ALL,
    CELL,
    COST,
    COST_LONG,
    KEYS_FAR,
    PLASTICITY,
    POOLED,
    SINGLE,
    WIDTH,
    Side,
    head_costs,
    head_values,
    model_values,
    parse_side,
    quarters,
    share_of_far_keys,
)
from boundpaper.errors import DataError

WEIGHTS = {"": ALL, "all heads alike": ALL, "nats of keys at the training length that a head's removal costs": COST}
KNOWN_BASE, KNOWN_SEED = "400", 1  # the models whose results were known before the amendment
TESTED = ("planned", "secondary")
DISTANCES = ("gap", "spread", "sway", "position_part", "content_part", "nearer_wins")
CELLS = ["quantity", "texts", "estimator", "width", "quarter"]
NO_VALUES = pd.DataFrame({"model": [], "value": []})
EXTENSIONS = ["encoding", "temperature", "multiple"]
Cells = dict[tuple[Any, ...], pd.DataFrame]


@dataclass(frozen=True)
class SecondRun:
    """Tables of the second run for some models, and functions that relate outcomes over these models or their heads."""

    models: pd.DataFrame
    by_weights: dict[str, Cells]
    extensions: Cells
    relate_models: Callable[[pd.DataFrame, int], pd.DataFrame]
    relate_heads: Callable[[pd.DataFrame, int], pd.DataFrame]


def retrained_tests(
    population_amendment: pd.DataFrame,
    population_members: pd.DataFrame,
    population_prompts: pd.DataFrame,
    retrained_models: pd.DataFrame,
    retrained_aligned: pd.DataFrame,
    retrained_exchange: pd.DataFrame,
    retrained_ablation: pd.DataFrame,
    retrained_extensions: pd.DataFrame,
    retrained_heads: pd.DataFrame,
    retrained_keys: pd.DataFrame,
    retrained_tasks: pd.DataFrame,
    retrained_losses: pd.DataFrame,
) -> pd.DataFrame:
    """Test every testable item of the amendment, over all trained models.

    `value` is the mean over seeds of first minus second, or the rank correlation within seeds; `p` is from exact sign
    flips or permutations, `p_same` from the test against the margin; both are Holm-corrected over the planned family,
    with p = 1 for an item without seeds. `outcome` is `different`, `equivalent`, `different within the margin`, or
    `open`, and `reachable` says whether this number of seeds could decide it. Further columns are for information only:
    `single_*` is the result at single positions, `unseen_*` without the seed known before the amendment, and
    `counted_*` over models that met the criterion.
    """
    values = head_values(retrained_aligned, retrained_exchange)
    costs = head_costs(retrained_ablation)
    by_weights = {kind: _values_by_cell(quarters(model_values(values, costs, kind)), CELLS) for kind in (ALL, COST)}
    keys = _values_by_cell(share_of_far_keys(retrained_extensions, population_prompts, retrained_models), EXTENSIONS)
    aligned = retrained_heads[retrained_heads["estimator"] == ALIGNED]

    def second_run(models: pd.DataFrame) -> SecondRun:
        questions = key_questions(retrained_keys, population_prompts, models)
        table = outcomes(models, questions, retrained_tasks, retrained_losses, aligned)
        heads = head_damages(models, aligned, retrained_ablation)
        return SecondRun(
            models[models["model"].map(counted_by_plan(models)).astype(bool)],
            by_weights,
            keys,
            lambda plan, base: relation_rows(plan, table, [base], slopes=False),
            lambda plan, base: head_damage_rows(plan, heads[heads["base"] == base], slopes=False),
        )

    all_models, criterion = second_run(retrained_models.assign(reached=True)), second_run(retrained_models)
    plans = population_amendment[population_amendment["role"].isin(TESTED)]
    planned = {base: _planned_seed_count(population_members, str(base)) for base in plans["base"].unique()}
    rows = [_item_row(plan, all_models, criterion, planned[plan.base]) for plan in records(plans)]
    return _with_outcomes(pd.DataFrame(rows))


def retrained_levels(
    population_members: pd.DataFrame,
    retrained_models: pd.DataFrame,
    retrained_aligned: pd.DataFrame,
    retrained_exchange: pd.DataFrame,
    retrained_ablation: pd.DataFrame,
) -> pd.DataFrame:
    """Return quantities by base, arm and quarter of the texts: mean over seeds, Student's interval, least and most.

    `weights` says how heads are averaged, `width` is the number of words from which a bin's queries are drawn,
    `texts` says whether the two keys are from one text, or from two as a null model.
    """
    values = head_values(retrained_aligned, retrained_exchange)
    costs = head_costs(retrained_ablation)
    tables = []
    for kind in (ALL, COST, COST_LONG):
        levels = quarters(model_values(values, costs, kind)).assign(weights=kind)
        tables.append(levels[_levels_shown(levels, kind)])
    return _over_seeds(
        pd.concat(tables, ignore_index=True),
        retrained_models,
        population_members,
        ["quantity", "estimator", "width", "texts", "weights", "low", "high"],
    )


def retrained_distances(
    population_members: pd.DataFrame, retrained_models: pd.DataFrame, retrained_exchange: pd.DataFrame
) -> pd.DataFrame:
    """Return gap, spread and exchange by quarter of the context and by ranges of two distances.

    The distances are those between the two keys, and from the keys to the query. Values are means over the heads of a
    model, then over seeds, with Student's interval.
    """
    values = _by_distance(retrained_exchange)
    apart, away = (values[f"{distance}_high"] - values[f"{distance}_low"] for distance in ("apart", "away"))
    is_limited = np.minimum(apart, away) < values["high"].max()
    cells = ["quantity", "low", "high", "apart_low", "apart_high", "away_low", "away_high"]
    return _over_seeds(values[is_limited], retrained_models, population_members, cells)


def retrained_apart(
    population_members: pd.DataFrame, retrained_models: pd.DataFrame, retrained_exchange: pd.DataFrame
) -> pd.DataFrame:
    """Return how quantities of the exchange change from the first to the last quarter, by distance between the keys.

    Late queries have keys that are farther apart. `value` is last minus first, mean over seeds, with Student's
    interval; the distance range from 0 to the whole text includes all pairs. This is post hoc, not in the amendment.
    """
    values = _by_distance(retrained_exchange)
    longest = values["high"].max()
    values = values[(values["away_low"] == 0) & (values["away_high"] == longest)]
    cells = ["quantity", "apart_low", "apart_high"]
    table = values.pivot(index=["model", *cells], columns="low", values="value")
    change = (table[table.columns.max()] - table[table.columns.min()]).rename("value").dropna().reset_index()
    return _over_seeds(change, retrained_models, population_members, cells)


def _by_distance(exchange: pd.DataFrame) -> pd.DataFrame:
    """Return means over heads of exchange quantities, by model and distances, for aligned bins and keys of one text."""
    tables = []
    for quantity in DISTANCES:
        rows = exchange.assign(quantity=quantity, estimator=ALIGNED)
        tables.append(rows.assign(value=rows[quantity].astype(float)))
    values = pd.concat(tables, ignore_index=True).dropna(subset="value")
    values = values[(values["width"] == WIDTH) & (values["texts"] == "one")]
    means: pd.DataFrame = values.groupby(["model", *CELL])[["value"]].mean().reset_index()
    return means


def retrained_points(
    population_prompts: pd.DataFrame,
    retrained_models: pd.DataFrame,
    retrained_aligned: pd.DataFrame,
    retrained_exchange: pd.DataFrame,
    retrained_ablation: pd.DataFrame,
    retrained_extensions: pd.DataFrame,
) -> pd.DataFrame:
    """Return one row per model and quantity of the main result: plasticity and exchange by quarter, far keys by length.

    `estimator` and `weights` are `none` for keys; `place` is the quarter of the texts, or the length of the prompts.
    """
    values = head_values(retrained_aligned, retrained_exchange)
    costs = head_costs(retrained_ablation)
    tables = []
    for kind in (ALL, COST):
        levels = quarters(model_values(values, costs, kind)).assign(weights=kind)
        levels = levels[(levels["texts"] == "one") & levels["quantity"].isin([PLASTICITY, "sway", "position_part"])]
        aligned = (levels["width"] == WIDTH) & (levels["estimator"] == ALIGNED)
        pooled = (levels["width"] == 8) & (levels["estimator"] == POOLED) & (levels["quantity"] == PLASTICITY)
        tables.append(levels[aligned | pooled].rename(columns={"quarter": "place"}))
    shares = share_of_far_keys(retrained_extensions, population_prompts, retrained_models)
    own_keys = shares[(shares["encoding"] == "own") & (shares["temperature"] == 0)].rename(
        columns={"multiple": "place"}
    )
    tables.append(own_keys.assign(quantity=KEYS_FAR, estimator="none", weights="none"))
    table = pd.concat(tables, ignore_index=True)[["model", "quantity", "estimator", "weights", "place", "value"]]
    points = table.merge(retrained_models[["model", "arm", "base", "seed"]], on="model")
    points["place"] = points["place"].astype(int)
    order = ["base", "arm", "seed", "quantity", "estimator", "weights", "place"]
    result: pd.DataFrame = points.sort_values(order, ignore_index=True)[["model", *order, "value"]]
    return result


def _levels_shown(levels: pd.DataFrame, kind: str) -> pd.Series:
    """Return which rows are shown: all for equal weights, else aligned bins (for `COST_LONG`, of two quantities)."""
    if kind == ALL:
        return pd.Series(True, index=levels.index)
    bins = (levels["width"] == WIDTH) & (levels["texts"] == "one") & (levels["estimator"] == ALIGNED)
    return bins if kind == COST else bins & levels["quantity"].isin([PLASTICITY, "sway"])


def _planned_seed_count(members: pd.DataFrame, base: str) -> int:
    """Return the number of seeds that the plan has for a base."""
    return int(members.loc[members["base"].astype(str) == base, "seed"].nunique())


def _item_row(plan: Any, all_models: SecondRun, criterion: SecondRun, planned: int) -> dict[str, Any]:
    row = {name: getattr(plan, name) for name in ("item", "family", "role", "quantity", "first", "second", "base")}
    row |= {"place": plan.place, "margin": None if pd.isna(plan.margin) else float(plan.margin)}
    if plan.unit in (BLOCKED, OF_HEADS):
        effect, counted = _relation_row(plan, all_models), _relation_row(plan, criterion)
        columns = {"value": effect["rho"], **{name: effect[name] for name in ("low", "high", "p", "p_least")}}
        columns |= {"least": effect.get("least"), "most": effect.get("most"), "models": int(effect["models"])}
        columns |= {"p_same": None, "p_same_least": None, "mean_first": None, "mean_second": None}
        columns |= {"counted_value": counted["rho"], "counted_p": counted["p"], "counted_seeds": int(counted["seeds"])}
        columns |= dict.fromkeys(("single_value", "single_p", "unseen_value", "unseen_p"))
        return {**row, "seeds": int(effect["seeds"]), "planned": planned, **columns}
    first, second = _both_sides(plan, all_models)
    gaps = _difference(first, second)
    effect = effect_columns(gaps)
    equal_p = equivalence_p(gaps, row["margin"]) if row["margin"] is not None else (None, None)
    unseen_gaps = (first - second).drop(index=KNOWN_SEED, errors="ignore").to_numpy(dtype=np.float64)
    unseen = effect_columns(unseen_gaps if str(plan.base) == KNOWN_BASE else np.empty(0))
    counted_gaps = _difference(*_both_sides(plan, criterion))
    counted = effect_columns(counted_gaps)
    has_free_width = plan.estimator == ALIGNED and "bins of" not in str(plan.first)
    single_gaps = _difference(*_both_sides(plan, all_models, SINGLE)) if has_free_width else np.empty(0)
    single = effect_columns(single_gaps)
    return {
        **row,
        "seeds": len(gaps),
        "planned": planned,
        "models": 0,
        "mean_first": float(first.mean()) if len(gaps) else None,
        "mean_second": float(second.mean()) if len(gaps) else None,
        "value": effect["difference"],
        **{name: effect[name] for name in ("low", "high", "least", "most", "p", "p_least")},
        "p_same": equal_p[0],
        "p_same_least": equal_p[1],
        "single_value": single["difference"],
        "single_p": single["p"],
        "unseen_value": unseen["difference"],
        "unseen_p": unseen["p"],
        "counted_value": counted["difference"],
        "counted_p": counted["p"],
        "counted_seeds": len(counted_gaps),
    }


def _difference(first: pd.Series, second: pd.Series) -> FloatArray:
    return (first - second).to_numpy(dtype=np.float64)


def _both_sides(plan: Any, run: SecondRun, width: int = WIDTH) -> tuple[pd.Series, pd.Series]:
    """Return both sides of an item by seed, for the seeds that have both."""
    sides = [parse_side(str(words), plan.item) for words in (plan.first, plan.second)]
    by_side = {side: _by_seed(plan, side, run, width) for side in sides if side.number is None}
    seeds = next(iter(by_side.values())).index
    columns = [by_side[side] if side in by_side else pd.Series(side.number, index=seeds) for side in sides]
    joined = pd.concat(columns, axis=1, join="inner", keys=["first", "second"]).sort_index()
    return joined["first"], joined["second"]


def _by_seed(plan: Any, side: Side, run: SecondRun, width: int) -> pd.Series:
    base = 0 if side.arm == "E" else int(plan.base)
    models = run.models[(run.models["arm"] == side.arm) & (run.models["base"] == base)].set_index("model")["seed"]
    if plan.quantity == KEYS_FAR:
        table = run.extensions.get((side.encoding, side.temperature, _length_of(plan)), NO_VALUES)
    else:
        cells = run.by_weights[WEIGHTS["" if pd.isna(plan.weights) else str(plan.weights)]]
        cell = (plan.quantity, "one", plan.estimator, side.width or width, side.quarter or _quarter_of(plan))
        table = cells.get(cell, NO_VALUES)
    rows = table[table["model"].isin(models.index)]
    return pd.Series(rows["value"].to_numpy(dtype=float), index=rows["model"].map(models).to_numpy(dtype=int))


def _values_by_cell(values: pd.DataFrame, names: list[str]) -> Cells:
    """Return tables of models and values by cell; a cell is a combination of values of the columns `names`."""
    return {key: group[["model", "value"]] for key, group in values.groupby(names) if isinstance(key, tuple)}


def _quarter_of(plan: Any) -> int:
    words = str(plan.place).split()
    if len(words) == 2 and words[0] == "quarter":
        return int(words[1])
    raise DataError(f"population_amendment, item {plan.item}: {plan.place!r} names no quarter; fix it")


def _length_of(plan: Any) -> float:
    words = str(plan.place).split(" ", 1)
    if len(words) == 2 and words[1] == "training lengths":
        return float(words[0])
    raise DataError(f"population_amendment, item {plan.item}: {plan.place!r} names no length of prompts; fix it")


def _relation_row(plan: Any, run: SecondRun) -> dict[str, Any]:
    row = {"item": plan.item, "family": plan.family, "unit": plan.unit, "outcome": plan.quantity}
    planned = pd.DataFrame([{**row, "first": plan.quantity}])
    relate = run.relate_models if plan.unit == BLOCKED else run.relate_heads
    return dict(relate(planned, int(plan.base)).iloc[0])


def _with_outcomes(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with corrected p, smallest possible p, outcomes, and reasons for empty cells."""
    numbers = ["value", "low", "high", "least", "most", "p", "p_least", "p_same", "p_same_least", "mean_first"]
    numbers += ["mean_second", "single_value", "single_p", "unseen_value", "unseen_p", "counted_value", "counted_p"]
    results = table.astype(dict.fromkeys([*numbers, "margin"], float))
    family_sizes = results.groupby("family")["item"].transform("size")
    only_equivalence = results["family"] == "widths"  # a family that tests only equivalence
    results.loc[only_equivalence, ["p", "p_least", "unseen_p", "counted_p"]] = np.nan
    results["p_holm"] = corrected_as_planned(results["p"], results["family"])
    results["p_holm_least"] = (family_sizes * results["p_least"]).clip(upper=1.0)
    margins = results[results["margin"].notna()]
    results["p_same_holm"] = corrected_as_planned(margins["p_same"], margins["family"])
    margin_sizes = margins.groupby("family")["item"].transform("size")
    results["p_same_holm_least"] = (margin_sizes * margins["p_same_least"]).clip(upper=1.0)
    least = results[["p_holm_least", "p_same_holm_least"]].min(axis=1)
    is_different, is_equal = results["p_holm"] < LEVEL, results["p_same_holm"] < LEVEL
    results["outcome"] = np.select(
        [is_different & is_equal, is_different, is_equal],
        ["different within the margin", "different", "equivalent"],
        "open",
    )
    results["reachable"] = least.fillna(1.0) < LEVEL
    results["note"] = [_row_note(row) for row in records(results)]
    return results


def _row_note(row: Any) -> str:
    if not row.seeds:
        return f"0 of {row.planned} seeds measured"
    notes = [f"{row.seeds} of {row.planned} seeds"] if row.seeds < row.planned else []
    if row.p_holm_least >= LEVEL:
        notes.append("so few cannot show a difference at .05 with the family's correction")
    if row.p_same_holm_least >= LEVEL:
        notes.append("so few cannot show that it is within the margin")
    if row.seeds == 1:
        notes.append("one seed has no interval")
    if pd.isna(row.p) and row.family != "widths":
        notes.append("no test")
    return "; ".join(notes) or "cells are empty where the amendment asks for no such value"


def _over_seeds(values: pd.DataFrame, models: pd.DataFrame, members: pd.DataFrame, cells: list[str]) -> pd.DataFrame:
    """Return means over seeds by base, arm and cell, with Student's interval and how many planned seeds are present."""
    table = values.merge(models[["model", "arm", "base", "seed"]], on="model").sort_values("seed", kind="stable")
    planned = {base: _planned_seed_count(members, str(base)) for base in table["base"].unique()}
    rows = []
    for key, group in table.groupby(["base", "arm", *cells])["value"]:
        row = dict(zip(["base", "arm", *cells], key if isinstance(key, tuple) else (key,), strict=True))
        rows.append({**row, **seed_summary(group.to_numpy(dtype=np.float64)), "planned": planned[row["base"]]})
    names = ["base", "arm", *cells, "value", "ci_low", "ci_high", "least", "most", "seeds", "planned", "note"]
    return pd.DataFrame(rows, columns=names)
