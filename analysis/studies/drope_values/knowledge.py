"""Analyse knowledge tasks with one massive dimension per head disrupted, from the printed and stored rates.

Answers per item are not published. Both arms have the same items, but Fisher's test ignores the pairing, so it is
given with the range of McNemar's exact p over every pairing that the two rates allow. There is no test if a
denominator is unknown.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
from scipy import stats

from analysis.studies._arms import CATEGORIES, YES_NO, Arm
from analysis.studies.drope_values._knowledge import (
    LEFT_OUT,
    TASKS,
    EstimateRange,
    estimate_range,
    percent_right,
    rate_columns,
    stored_arms,
    sum_with_interval,
    values_by_key,
)
from analysis.vocabulary import PAIR
from boundpaper.statistics import Estimate, degradation, fisher, frame, mcnemar_from_counts
from boundpaper.statistics.families import corrected

CHOICES = 2  # possible answers: yes or no; positive or negative
UNPAIRED = "the same items in both arms, answers per item not published, so unpaired"


def knowledge_tests(
    drope_knowledge: pd.DataFrame,
    drope_script_rates: pd.DataFrame,
    drope_stated: pd.DataFrame,
    test_families: pd.DataFrame,
) -> pd.DataFrame:
    """Return tests of baseline against disrupted (Fisher, Holm), lost shares of accuracy, and model differences.

    Only tasks with known numbers of answers in both arms are tested: cities and sports omit unparsed answers, whose
    number is mostly not stored. `relative` is the source's degradation (chance taken as 0) with an interval;
    `model_difference` is RoPE's loss minus DroPE's in points, with an interval that combines those of both losses
    (MOVER).
    """
    tests: list[Estimate] = []
    intervals: list[Estimate] = []
    changes: dict[tuple[str, str], Estimate] = {}
    for (model, task), (base, disrupted) in _knowledge_arms(drope_knowledge, drope_script_rates, drope_stated).items():
        before, after = base.answered.known, disrupted.answered.known
        if before is None or after is None:
            continue
        comparison = f"{model} {task}"
        note = f"{UNPAIRED}{' and only of answers that could be read' if task in YES_NO else ''}"
        test = fisher(
            *before,
            *after,
            study="knowledge_tests",
            comparison=comparison,
            unit="item",
            note=f"baseline minus disrupted; {note}",
        )
        changes[(model, task)] = test
        tests.append(test)
        loss = partial(degradation, *before, *after, study="knowledge_tests", comparison=comparison, unit="item")
        intervals.append(loss(chance=_chance_of_task(drope_stated, task), note=note))
        intervals.append(replace(loss(chance=0.0, note=note), test="relative"))
    for task in TASKS:
        if any((model, task) not in changes for model in PAIR):
            continue
        rope, drope = (estimate_range(changes[(model, task)]) for model in PAIR)
        estimate, low, high = sum_with_interval([rope, (-drope[0], -drope[2], -drope[1])])
        intervals.append(
            Estimate(
                study="knowledge_tests",
                comparison=f"RoPE against DroPE, {task}",
                test="model_difference",
                unit="item",
                n=sum(changes[(model, task)].n for model in PAIR),
                estimate=estimate,
                ci_low=low,
                ci_high=high,
                note="loss of RoPE minus loss of DroPE; MOVER interval; no statistic, df, p, effect: an interval",
            )
        )
    return frame([*corrected(tests, test_families, "knowledge_tests"), *intervals])


def knowledge_tasks(
    drope_knowledge: pd.DataFrame,
    drope_script_rates: pd.DataFrame,
    drope_stated: pd.DataFrame,
    knowledge_tests: pd.DataFrame,
) -> pd.DataFrame:
    """Return by model and task: rates with denominators, and degradation as printed, relative and above chance.

    Rates, degradations and changes are in percent or points; rates are relative to counted answers. For cities and
    sports these are the parsed answers, between `base_n_low` and `base_n_high`; `n` counts the items. Counts of right
    answers, intervals and p are given only if the shares determine the number of answers. `chance` assumes equally
    many items per answer, and equally likely passkeys. `p_below_chance` is the one-sided binomial p for a baseline
    below chance: a small p means that other answers than the two options were counted as wrong. `p_mcnemar_low` and
    `p_mcnemar_high` bound McNemar's exact p over all pairings.
    """
    tests = {(row["test"], row["comparison"]): row for row in knowledge_tests.to_dict("records")}
    printed_values = values_by_key(drope_knowledge, ("positional", "task", "metric"))
    rows: list[dict[str, Any]] = []
    for (model, task), (base, disrupted) in _knowledge_arms(drope_knowledge, drope_script_rates, drope_stated).items():
        comparison = f"{model} {task}"
        chance = _chance_of_task(drope_stated, task)
        rows.append(
            {
                "positional": model,
                "category": CATEGORIES[task],
                "task": task,
                "n": base.answered.items,
                "chance": 100 * chance,
                **rate_columns("base", base),
                **rate_columns("disrupted", disrupted),
                **_change(tests.get(("fisher_exact", comparison)), base, disrupted),
                "degradation_printed": printed_values[(model, task, "degradation")],
                **_share_lost("degradation", tests.get(("relative", comparison)), base, disrupted, 0.0),
                **_share_lost("above_chance", tests.get(("degradation", comparison)), base, disrupted, chance),
                **_p_values(tests.get(("fisher_exact", comparison)), base, disrupted, chance),
                "note": _why_cells_are_empty(tests.get(("degradation", comparison)), base, disrupted, chance),
            }
        )
    return pd.DataFrame(rows).astype({f"{arm}_right": "Int64" for arm in ("base", "disrupted")})


def knowledge_categories(knowledge_tasks: pd.DataFrame, drope_knowledge_categories: pd.DataFrame) -> pd.DataFrame:
    """Return by model and category: the mean degradation over two tasks, as printed, relative, in points, above chance.

    Tasks have equal weight, as in the source. `above_chance` averages the `tasks_above_chance` tasks whose baseline
    is above chance. Intervals are by MOVER over the tasks, if every task has one.
    """
    printed_values = values_by_key(drope_knowledge_categories, ("positional", "metric"))
    rows: list[dict[str, Any]] = []
    for model in PAIR:
        for category in dict.fromkeys(CATEGORIES.values()):
            in_category = (knowledge_tasks["positional"] == model) & (knowledge_tasks["category"] == category)
            tasks = knowledge_tasks[in_category]
            above_chance = tasks[tasks["above_chance"].notna()]
            losses = tasks.assign(loss=-tasks["change"], loss_low=-tasks["change_high"], loss_high=-tasks["change_low"])
            reasons = [f"{task}: no baseline above chance" for task in tasks.loc[tasks["above_chance"].isna(), "task"]]
            reasons += [f"{task}: no interval" for task in tasks.loc[tasks["change_low"].isna(), "task"]]
            rows.append(
                {
                    "positional": model,
                    "category": category,
                    "tasks": len(tasks),
                    "degradation_printed": printed_values[(model, f"{category}_average")],
                    **_mean_over_tasks(tasks, "degradation"),
                    **_mean_over_tasks(losses, "loss"),
                    "tasks_above_chance": len(above_chance),
                    **_mean_over_tasks(above_chance, "above_chance"),
                    "note": "; ".join(reasons),
                }
            )
    return pd.DataFrame(rows)


def _knowledge_arms(
    knowledge: pd.DataFrame, rates: pd.DataFrame, statements: pd.DataFrame
) -> Mapping[tuple[str, str], tuple[Arm, Arm]]:
    """Return the baseline and disrupted arms of Experiment 3, by model and task."""
    items = {task: _stated_number(statements, f"s4_1_{task}_items") for task in TASKS}
    by_key = stored_arms(knowledge, rates, items)
    return {
        (model, task): (by_key["baseline", model, task], by_key["disrupted", model, task])
        for model in PAIR
        for task in TASKS
    }


def _chance_of_task(statements: pd.DataFrame, task: str) -> float:
    digits = _stated_number(statements, "s4_1_passkey_digits")
    return 10.0**-digits if task == "passkey" else 1 / CHOICES


def _stated_number(statements: pd.DataFrame, name: str) -> int:
    return int(statements.loc[statements["statement"] == name, "value"].iloc[0])


def _change(test: Mapping[Any, Any] | None, base: Arm, disrupted: Arm) -> dict[str, Any]:
    """Return disrupted minus baseline in points, with the interval from the row of Fisher's test if there is one."""
    return {
        "change": percent_right(disrupted) - percent_right(base),
        "change_low": None if test is None else -100 * test["ci_high"],
        "change_high": None if test is None else -100 * test["ci_low"],
    }


def _share_lost(
    name: str, test: Mapping[Any, Any] | None, base: Arm, disrupted: Arm, chance: float
) -> dict[str, float | None]:
    """Return the lost share of the baseline's accuracy above chance, in percent, with an interval if possible."""
    if test is not None:
        columns = {"": "estimate", "_low": "ci_low", "_high": "ci_high"}
        return {f"{name}{end}": None if pd.isna(test[key]) else 100 * test[key] for end, key in columns.items()}
    above_chance = percent_right(base) - 100 * chance
    share = 100 * (percent_right(base) - percent_right(disrupted)) / above_chance if above_chance > 0 else None
    return {name: share, f"{name}_low": None, f"{name}_high": None}


def _p_values(test: Mapping[Any, Any] | None, base: Arm, disrupted: Arm, chance: float) -> dict[str, float | None]:
    """Return Fisher's p, McNemar's bounds, and the binomial p of a baseline below chance; empty without counts."""
    before, after = base.answered.known, disrupted.answered.known
    pair = None if before is None or after is None or before[1] != after[1] else (before[0], after[0], before[1])
    low, high = _mcnemar_bounds(*pair) if pair else (None, None)
    return {
        "p_below_chance": None
        if before is None
        else float(stats.binomtest(before[0], before[1], chance, alternative="less").pvalue),
        "p_fisher": None if test is None else test["p_value"],
        "p_holm": None if test is None else test["p_adjusted"],
        "p_mcnemar_low": low,
        "p_mcnemar_high": high,
    }


def _why_cells_are_empty(test: Mapping[Any, Any] | None, base: Arm, disrupted: Arm, chance: float) -> str:
    """Return the reasons for the empty cells of a row."""
    reasons = []
    if base.answered.known is None or disrupted.answered.known is None:
        reasons.append(f"no counts, intervals and p: {LEFT_OUT}")
    if test is not None and pd.isna(test["estimate"]):
        reasons.append(f"above_chance: {_reason_in_note(str(test['note']))}")
    elif test is None and percent_right(base) <= 100 * chance:
        reasons.append("above_chance: no baseline above chance")
    return "; ".join(reasons)


def _mcnemar_bounds(base: int, disrupted: int, n: int) -> tuple[float, float]:
    """Return the smallest and largest exact McNemar p over the pairings that the two counts of right answers allow."""
    p_values = []
    for lost in range(max(0, base - disrupted), min(base, n - disrupted) + 1):
        gained = lost - (base - disrupted)
        test = mcnemar_from_counts(
            base - lost, lost, gained, n - base - gained, study="knowledge_tasks", comparison="pairing", unit="item"
        )
        p_values.append(1.0 if test.p_value is None else test.p_value)
    return min(p_values), max(p_values)


def _mean_over_tasks(tasks: pd.DataFrame, name: str) -> dict[str, Any]:
    """Return the mean of a column over tasks, with its interval if every task has one."""
    columns = [name, f"{name}_low", f"{name}_high"]
    cells = tasks[columns].astype(float)
    if cells.isna().any(axis=None):
        return {name: float(cells[name].mean()), columns[1]: None, columns[2]: None}
    estimates: list[EstimateRange] = [(row[0], row[1], row[2]) for row in cells.to_numpy().tolist()]
    return {column: total / len(estimates) for column, total in zip(columns, sum_with_interval(estimates), strict=True)}


def _reason_in_note(note: str) -> str:
    """Return the reason that a note gives for an empty degradation."""
    return next(reason for reason in note.split("; ") if reason.startswith("no degradation")).partition(": ")[2]
