"""Knowledge tasks under disruption of one massive dimension a head, from the rates and item counts that are reported.

Answers per item are not published. The same items stand in both arms, so Fisher's test, which ignores the pairing, is
beside the range of McNemar's exact p over every pairing that the two rates allow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial as bind
from typing import Any

import pandas as pd
from scipy import stats

from analysis.statistics import Estimate, attach, degradation, fisher, frame, mcnemar_from_counts, wilson_interval
from analysis.statistics.guards import mixed_protocol
from analysis.studies._families import corrected
from artifacts.errors import DataError

MODELS = ("RoPE", "DroPE")
TASKS = ("cities", "sports", "imdb", "passkey")
CATEGORIES = {"cities": "parametric", "sports": "parametric", "imdb": "contextual", "passkey": "contextual"}
CHOICES = 2  # yes or no; positive or negative
SECTIONS = {"3": "4", "4": "5 (tasks)"}  # of drope_protocols, by experiment
UNPAIRED = "the same items in both arms, answers per item not published, so unpaired"

Ends = tuple[float, float]
Ranged = tuple[float, float, float]  # estimate, low, high


def knowledge_tests(
    drope_knowledge: pd.DataFrame, drope_stated: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Baseline against disrupted by Fisher's test (Holm over eight), degradation above chance, and model against model.

    `relative` is the source's degradation (chance taken as 0) with an interval; `model_difference` is by how many
    points more RoPE loses than DroPE, its interval by recovering the variance of both changes (MOVER).
    """
    tested: list[Estimate] = []
    others: list[Estimate] = []
    changes: dict[tuple[str, str], Estimate] = {}
    for (model, task), (n, base, disrupted) in _counts(drope_knowledge, drope_stated).items():
        words = f"{model} {task}"
        test = fisher(
            base,
            n,
            disrupted,
            n,
            study="knowledge_tests",
            comparison=words,
            unit="item",
            note=f"baseline minus disrupted; {UNPAIRED}",
        )
        changes[(model, task)] = test
        tested.append(test)
        lost = bind(degradation, base, n, disrupted, n, study="knowledge_tests", comparison=words, unit="item")
        others.append(lost(chance=_chance(drope_stated, task), note=UNPAIRED))
        others.append(replace(lost(chance=0.0, note=UNPAIRED), test="relative"))
    for task in TASKS:
        rope, drope = (_ranged(changes[(model, task)]) for model in MODELS)
        estimate, low, high = _sum([rope, (-drope[0], -drope[2], -drope[1])])
        others.append(
            Estimate(
                study="knowledge_tests",
                comparison=f"RoPE against DroPE, {task}",
                test="model_difference",
                unit="item",
                n=sum(changes[(model, task)].n for model in MODELS),
                estimate=estimate,
                ci_low=low,
                ci_high=high,
                note="loss of RoPE minus loss of DroPE; MOVER interval; no statistic, df, p, effect: an interval",
            )
        )
    return frame([*corrected(tested, test_families, "knowledge_tests"), *others])


def knowledge_tasks(
    drope_knowledge: pd.DataFrame, drope_stated: pd.DataFrame, knowledge_tests: pd.DataFrame
) -> pd.DataFrame:
    """Per model and task: counts, rates with Wilson intervals, degradation as printed, relative and above chance.

    Rates, degradations and changes are in percent or points. `chance` supposes as many items of either answer, and of a
    passkey that every number is as likely. `p_below_chance` is the binomial p of the baseline against chance from
    below: an accuracy that low is no guessing, it counts answers that were neither option as wrong. `p_mcnemar_low` and
    `p_mcnemar_high` bound McNemar's exact p over all pairings.
    """
    tests = {(row["test"], row["comparison"]): row for row in knowledge_tests.to_dict("records")}
    printed = _values(drope_knowledge, ("positional", "task", "metric"))
    rows: list[dict[str, Any]] = []
    for (model, task), (n, base, disrupted) in _counts(drope_knowledge, drope_stated).items():
        words = f"{model} {task}"
        change, above, relative = (tests[(test, words)] for test in ("fisher_exact", "degradation", "relative"))
        low, high = _pairings(base, disrupted, n)
        chance = _chance(drope_stated, task)
        rows.append(
            {
                "positional": model,
                "category": CATEGORIES[task],
                "task": task,
                "n": n,
                "chance": 100 * chance,
                **_rate("base", base, n),
                **_rate("disrupted", disrupted, n),
                "change": -100 * change["estimate"],
                "change_low": -100 * change["ci_high"],
                "change_high": -100 * change["ci_low"],
                "degradation_printed": printed[(model, task, "degradation")],
                "degradation": 100 * relative["estimate"],
                "degradation_low": 100 * relative["ci_low"],
                "degradation_high": 100 * relative["ci_high"],
                "above_chance": 100 * above["estimate"],
                "above_chance_low": 100 * above["ci_low"],
                "above_chance_high": 100 * above["ci_high"],
                "p_below_chance": float(stats.binomtest(base, n, chance, alternative="less").pvalue),
                "p_fisher": change["p_value"],
                "p_holm": change["p_adjusted"],
                "p_mcnemar_low": low,
                "p_mcnemar_high": high,
                "note": "" if pd.notna(above["estimate"]) else f"above_chance: {_why(str(above['note']))}",
            }
        )
    return pd.DataFrame(rows)


def knowledge_categories(knowledge_tasks: pd.DataFrame, drope_knowledge_categories: pd.DataFrame) -> pd.DataFrame:
    """Per model and category: the mean degradation over its two tasks, as printed, relative, in points, above chance.

    Every task weighs the same, as in the source. `above_chance` averages the tasks whose baseline is above chance, of
    which there are `tasks_above_chance`. Intervals by MOVER over the tasks.
    """
    printed = _values(drope_knowledge_categories, ("positional", "metric"))
    rows: list[dict[str, Any]] = []
    for model in MODELS:
        for category in dict.fromkeys(CATEGORIES.values()):
            here = (knowledge_tasks["positional"] == model) & (knowledge_tasks["category"] == category)
            tasks = knowledge_tasks[here]
            usable = tasks[tasks["above_chance"].notna()]
            lost = tasks.assign(loss=-tasks["change"], loss_low=-tasks["change_high"], loss_high=-tasks["change_low"])
            unusable = [task for task in tasks["task"] if task not in list(usable["task"])]
            rows.append(
                {
                    "positional": model,
                    "category": category,
                    "tasks": len(tasks),
                    "degradation_printed": printed[(model, f"{category}_average")],
                    **_mean(tasks, "degradation"),
                    **_mean(lost, "loss"),
                    "tasks_above_chance": len(usable),
                    **_mean(usable, "above_chance"),
                    "note": "; ".join(f"{task}: no baseline above chance" for task in unusable),
                }
            )
    return pd.DataFrame(rows)


def knowledge_protocols(
    drope_knowledge: pd.DataFrame,
    drope_functional: pd.DataFrame,
    drope_protocols: pd.DataFrame,
    test_families: pd.DataFrame,
) -> pd.DataFrame:
    """The same tasks in Experiments 3 and 4: settings, rates without and with Q/K disruption, and their difference.

    Percent and points. `p_base` is Fisher's p of the two baselines, `p_base_holm` Holm over the eight: model, task and
    number of items are the same in both experiments, so the baselines should agree. Rates have Wilson's interval,
    changes Newcombe's.
    """
    knowledge = _values(drope_knowledge, ("positional", "task", "metric"))
    functional = _values(drope_functional, ("positional", "task", "condition"))
    settings = {experiment: _setting(drope_protocols, section) for experiment, section in SECTIONS.items()}
    guard = mixed_protocol(
        {f"Experiment {experiment}": {"precision": found["precision"]} for experiment, found in settings.items()}
    )
    rows: list[dict[str, Any]] = []
    tests: list[Estimate] = []
    for model in MODELS:
        for task in TASKS:
            arms = {
                "3": (knowledge[(model, task, "baseline")], knowledge[(model, task, "disrupted")]),
                "4": (functional[(model, task, "baseline")], functional[(model, task, "qk_disruption")]),
            }
            row: dict[str, Any] = {"positional": model, "task": task}
            counts: dict[str, int] = {}
            test = bind(fisher, study="knowledge_protocols", comparison=f"{model} {task}", unit="item")
            for experiment, (base, disrupted) in arms.items():
                found, n = settings[experiment], int(settings[experiment][task])
                counts[experiment] = _count(base, n)
                right = _count(disrupted, n)
                change = test(right, n, counts[experiment], n)
                estimate, low, high = _ranged(change)
                row |= {
                    f"n_{experiment}": n,
                    f"precision_{experiment}": found["precision"],
                    f"digits_{experiment}": found["digits"],
                    **{f"{name}_{experiment}": value for name, value in _rate("base", counts[experiment], n).items()},
                    **{f"{name}_{experiment}": value for name, value in _rate("disrupted", right, n).items()},
                    f"change_{experiment}": 100 * estimate,
                    f"change_low_{experiment}": 100 * low,
                    f"change_high_{experiment}": 100 * high,
                    f"p_change_{experiment}": change.p_value,
                }
            rows.append(row)
            tests.append(attach(test(counts["4"], row["n_4"], counts["3"], row["n_3"]), guard))
    corrected_tests = corrected(tests, test_families, "knowledge_protocols")
    adjusted = [(each.p_value, each.p_adjusted, each.note) for each in corrected_tests]
    return pd.DataFrame(rows).join(pd.DataFrame(adjusted, columns=["p_base", "p_base_holm", "note"]))


def _values(long: pd.DataFrame, keys: Sequence[str]) -> Mapping[tuple[str, ...], float]:
    """The values of a long source by its keys."""
    return {tuple(str(row[key]) for key in keys): float(row["value"]) for row in long.to_dict("records")}


def _counts(knowledge: pd.DataFrame, stated: pd.DataFrame) -> Mapping[tuple[str, str], tuple[int, int, int]]:
    """Items, right answers at baseline and right answers under disruption, by model and task."""
    rates = _values(knowledge, ("positional", "task", "metric"))
    items = {task: _stated(stated, f"s4_1_{task}_items") for task in TASKS}
    return {
        (model, task): (
            items[task],
            _count(rates[(model, task, "baseline")], items[task]),
            _count(rates[(model, task, "disrupted")], items[task]),
        )
        for model in MODELS
        for task in TASKS
    }


def _setting(protocols: pd.DataFrame, section: str) -> dict[str, Any]:
    """Items per task, digits of the passkey, and precision of a section."""
    row = protocols[protocols["section"] == section].iloc[0]
    items: dict[str, Any] = {name: int(count) for name, count in re.findall(r"(\w+) (\d+)", str(row["items"]))}
    return items | {"precision": row["precision"], "digits": int(row["passkey_digits"])}


def _chance(stated: pd.DataFrame, task: str) -> float:
    digits = _stated(stated, "s4_1_passkey_digits")
    return 10.0**-digits if task == "passkey" else 1 / CHOICES


def _stated(stated: pd.DataFrame, name: str) -> int:
    return int(stated.loc[stated["statement"] == name, "value"].iloc[0])


def _count(rate: float, n: int) -> int:
    """Items behind a rate in percent; DataError when the rate is none of n items."""
    count = round(rate * n / 100)
    if not math.isclose(100 * count / n, rate, abs_tol=0.05):
        raise DataError(f"a rate of {rate} % is no number of {n} items; check the number of items")
    return count


def _rate(name: str, count: int, n: int) -> dict[str, Any]:
    low, high = wilson_interval(count, n)
    return {f"{name}_right": count, name: 100 * count / n, f"{name}_low": 100 * low, f"{name}_high": 100 * high}


def _pairings(base: int, disrupted: int, n: int) -> Ends:
    """Smallest and largest exact McNemar p over the pairings that the two counts of right answers allow."""
    found = []
    for lost in range(max(0, base - disrupted), min(base, n - disrupted) + 1):
        gained = lost - (base - disrupted)
        test = mcnemar_from_counts(
            base - lost, lost, gained, n - base - gained, study="knowledge_tasks", comparison="pairing", unit="item"
        )
        found.append(1.0 if test.p_value is None else test.p_value)
    return min(found), max(found)


def _ranged(test: Estimate) -> Ranged:
    """Estimate and interval of a test that has both."""
    if test.estimate is None or test.ci_low is None or test.ci_high is None:
        raise DataError(f"{test.study}, {test.comparison}: no estimate or interval to go on with")
    return test.estimate, test.ci_low, test.ci_high


def _sum(parts: Iterable[Ranged]) -> Ranged:
    """A sum of independent estimates, its interval by recovering their variances (MOVER; Zou & Donner 2008)."""
    listed = list(parts)
    total = sum(estimate for estimate, _, _ in listed)
    down = math.hypot(*(estimate - low for estimate, low, _ in listed))
    return total, total - down, total + math.hypot(*(high - estimate for estimate, _, high in listed))


def _mean(tasks: pd.DataFrame, name: str) -> dict[str, Any]:
    """Mean of a column over tasks with its interval."""
    columns = [name, f"{name}_low", f"{name}_high"]
    ranged: list[Ranged] = [(row[0], row[1], row[2]) for row in tasks[columns].to_numpy(dtype=float).tolist()]
    return {column: total / len(ranged) for column, total in zip(columns, _sum(ranged), strict=True)}


def _why(note: str) -> str:
    """The reason that a note gives for an empty degradation."""
    return next(part for part in note.split("; ") if part.startswith("no degradation")).partition(": ")[2]
