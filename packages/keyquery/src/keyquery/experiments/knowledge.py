"""Experiment 3: loss of knowledge from weights and from the prompt when the largest dimensions are overwritten."""

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
    """Return the rows of the experiment.

    Conditions are `baseline`, `top1`, `random-0`, `random-1`, ... and `random`, the mean over the random draws.
    Metrics by task: `TASK_accuracy`, `TASK_unparsed`, `TASK_chance`, `TASK_right` (by item and seed),
    `TASK_degradation`, `TASK_degradation_over_chance`; by category `parametric_accuracy`, `parametric_degradation`,
    `parametric_degradation_over_chance` and the same for `contextual`: plain means over the category's n tasks.
    Raises DataError if no item is asked for.
    """
    options.need_items("knowledge")
    choice_texts, _ = masks.split_texts(subject, options)
    top = masks.mask_top(masks.measure_norms(subject, choice_texts, "pre"))
    conditions = [BASELINE, Condition("top1", top.interventions("mean", "pre"))]
    conditions += [
        Condition(f"random-{draw}", masks.random_mask(top, draw).interventions("mean", "pre")) for draw in range(draws)
    ]
    rows: list[Row] = []
    for task in tasks_of(subject):
        for condition in conditions:
            subject.tell(f"knowledge: {task}, {condition.name}")
            single = condition.name in ("baseline", "top1", "random-0")
            rows += answer_rows(subject, task, options, condition, units=single)
        rows += _random_mean_rows(rows, task, draws)
        for name in ("top1", *(["random"] if draws else [])):
            rows += _degradation_rows(rows, task, name)
    for name in ("baseline", "top1", *(["random"] if draws else [])):
        rows += _category_rows(rows, name, tasks_of(subject))
    return rows


def row_value(rows: Iterable[Row], condition: str, metric: str) -> float | None:
    """Return the value of the row that has this condition and metric, and no `unit_id`."""
    for entry in rows:
        if entry["condition"] == condition and entry["metric"] == metric and not entry["unit_id"]:
            number: float | None = entry["value"]
            return number
    return None


def _random_mean_rows(rows: list[Row], task: str, draws: int) -> list[Row]:
    """Return rows of accuracy averaged over the draws of the random control."""
    if not draws:
        return []
    accuracies = [row_value(rows, f"random-{draw}", f"{task}_accuracy") or 0.0 for draw in range(draws)]
    return [row(f"{task}_accuracy", statistics.mean(accuracies), draws, condition="random")]


def _degradation_rows(rows: list[Row], task: str, condition: str) -> list[Row]:
    right_before, chance, right_after = (
        row_value(rows, name, f"{task}_{metric}") or 0.0
        for name, metric in (("baseline", "accuracy"), ("baseline", "chance"), (condition, "accuracy"))
    )
    n = next(entry["n"] for entry in rows if entry["metric"] == f"{task}_accuracy" and entry["condition"] == "baseline")
    degradations = []
    for metric, base, reason in (
        ("degradation", right_before, "no right answer before"),
        ("degradation_over_chance", right_before - chance, "not above chance before"),
    ):
        share = (right_before - right_after) / base if base > 0 else None
        degradations.append(row(f"{task}_{metric}", share, n, condition=condition, reason="" if base > 0 else reason))
    return degradations


def _category_rows(rows: list[Row], condition: str, tasks: list[str]) -> list[Row]:
    metrics = ["accuracy"] if condition == "baseline" else ["accuracy", "degradation", "degradation_over_chance"]
    means = []
    for category, members in CATEGORIES.items():
        for metric in metrics:
            values = [row_value(rows, condition, f"{task}_{metric}") for task in members if task in tasks]
            if len(values) < len(members) or None in values:
                means.append(
                    row(
                        f"{category}_{metric}", None, 0, condition=condition, reason="not all of its tasks have a value"
                    )
                )
                continue
            mean = sum(value for value in values if value is not None) / len(values)
            means.append(row(f"{category}_{metric}", mean, len(values), condition=condition))
    return means
