"""Experiment 3: knowledge in the weights and in the prompt that is lost if the largest dimensions are overwritten."""

import statistics
from collections.abc import Iterable
from typing import Any

from keyquery.experiments import _masks as masks
from keyquery.measure.evaluation import BASELINE, Condition
from keyquery.measure.rows import Row, row
from keyquery.measure.scores import answer_rows, tasks_of
from keyquery.measure.subject import Options, Subject

ASKS = ("cities", "sports", "sentiment", "passkey")
NEEDS_ITEMS = True
SETTINGS: dict[str, Any] = {
    "disruption": "the dimension of the largest norm of each head of queries and keys, filled with its mean over the "
    "sequence, before the rotary embedding",
    "selected on": "texts of seed 900001, the same dimensions for all items",
    "decode": "prefill only; decode steps read the filled keys of the prompt and are not disrupted themselves",
    "control": "one random dimension of each head, never the largest",
    "degradation": "(baseline - disrupted) / baseline",
    "degradation_over_chance": "(baseline - disrupted) / (baseline - chance)",
    "by item": "baseline, top1 and random-0",
}
CATEGORIES = {"parametric": ("cities", "sports"), "contextual": ("sentiment", "passkey")}


def measure(subject: Subject, options: Options, *, draws: int = 3) -> list[Row]:
    """Return rows of answers to tasks when the largest dimension of each head is overwritten.

    Conditions are `baseline`, `top1`, `random-0`, `random-1`, ... and `random`, the mean over the random draws.
    Metrics by task are `TASK_accuracy`, `TASK_unparsed`, `TASK_chance`, `TASK_right` (by item and seed),
    `TASK_degradation` and `TASK_degradation_over_chance`. Metrics by category (`parametric` or `contextual`) are plain
    means over the category's n tasks: `CATEGORY_accuracy`, `CATEGORY_degradation` and
    `CATEGORY_degradation_over_chance`. Raises DataError if `options.items` is 0.
    """
    options.need_items("knowledge")
    choice_texts, _ = masks.split_texts(subject, options)
    top = masks.mask_top(masks.measure_norms(subject, choice_texts, "pre"))
    disrupted = ("top1", *(["random"] if draws else []))
    conditions = [BASELINE, Condition("top1", top.interventions("mean", "pre"))]
    conditions += [
        Condition(f"random-{draw}", masks.random_mask(top, draw).interventions("mean", "pre")) for draw in range(draws)
    ]
    rows: list[Row] = []
    for task in tasks_of(subject):
        for condition in conditions:
            subject.tell(f"knowledge: {task}, {condition.name}")
            by_item = condition.name in ("baseline", "top1", "random-0")
            rows += answer_rows(subject, task, options, condition, by_item=by_item)
        if draws:
            accuracies = [row_value(rows, f"random-{draw}", f"{task}_accuracy") or 0.0 for draw in range(draws)]
            rows.append(row(f"{task}_accuracy", statistics.mean(accuracies), draws, condition="random"))
        for name in disrupted:
            rows += _degradation_rows(rows, task, name)
    for name in ("baseline", *disrupted):
        rows += _category_rows(rows, name, tasks_of(subject))
    return rows


def row_value(rows: Iterable[Row], condition: str, metric: str) -> float | None:
    """Return the value of the first row that has this condition and metric, and no `unit_id`; None without a row."""
    matches = (r for r in rows if (r["condition"], r["metric"], r["unit_id"]) == (condition, metric, ""))
    return next((match["value"] for match in matches), None)


def _degradation_rows(rows: list[Row], task: str, condition: str) -> list[Row]:
    accuracy_before, chance, accuracy_after = (
        row_value(rows, name, f"{task}_{metric}") or 0.0
        for name, metric in (("baseline", "accuracy"), ("baseline", "chance"), (condition, "accuracy"))
    )
    n = next(each["n"] for each in rows if each["metric"] == f"{task}_accuracy" and each["condition"] == "baseline")
    degradations = []
    for metric, base, reason in (
        ("degradation", accuracy_before, "no right answer before"),
        ("degradation_over_chance", accuracy_before - chance, "not above chance before"),
    ):
        share = (accuracy_before - accuracy_after) / base if base > 0 else None
        degradations.append(row(f"{task}_{metric}", share, n, condition=condition, reason="" if base > 0 else reason))
    return degradations


def _category_rows(rows: list[Row], condition: str, tasks: list[str]) -> list[Row]:
    metrics = ["accuracy"] if condition == "baseline" else ["accuracy", "degradation", "degradation_over_chance"]
    means = []
    for category, members in CATEGORIES.items():
        for metric in metrics:
            task_values = [row_value(rows, condition, f"{task}_{metric}") for task in members if task in tasks]
            values = [value for value in task_values if value is not None]
            is_complete = len(values) == len(members)
            mean = sum(values) / len(values) if is_complete else None
            reason = "" if is_complete else "not all of its tasks have a value"
            means.append(row(f"{category}_{metric}", mean, len(values), condition=condition, reason=reason))
    return means
