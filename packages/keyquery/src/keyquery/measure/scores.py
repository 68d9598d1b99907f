"""Make rows of answers and perplexities; shared by all experiments with interventions."""

import math
from collections.abc import Sequence
from typing import Any

from keyquery.measure.evaluation import BASELINE, Condition, JudgedAnswer, answer_tokens, answers, losses
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import LONGEST, Options, Subject, Text, standard_deviation
from keyquery.models.attention.reach import learned_positions
from keyquery.tasks.items import TASKS, Item

MAX_NATS = 700.0  # largest nats whose exponential fits into a float


def loss_rows(
    subject: Subject, texts: Sequence[Text], condition: Condition = BASELINE, *, layer: int | None = None
) -> list[Row]:
    """Return perplexity and mean nats per token under a condition.

    `delta_nats` is the mean nats minus the baseline's on the same texts, `delta_nats_sd` the standard deviation over
    two or more texts (ddof 1).
    """
    ablated, baseline = losses(subject, texts, condition), losses(subject, texts)
    tokens = sum(loss.tokens for loss in ablated)
    mean, baseline_mean = (sum(loss.nats for loss in group) / tokens for group in (ablated, baseline))
    names: dict[str, Any] = {"condition": condition.name, "layer": layer}
    high = "" if mean < MAX_NATS else f"the mean is {mean:.0f} nats, whose exponential no number holds"
    rows = [
        row("perplexity", math.exp(mean) if mean < MAX_NATS else None, len(ablated), reason=high, **names),
        row("nats", mean, len(ablated), **names),
        row("delta_nats", mean - baseline_mean, len(ablated), **names),
    ]
    pairs = zip(ablated, baseline, strict=True)
    sd = standard_deviation([new.nats / new.tokens - base.nats / base.tokens for new, base in pairs])
    if sd is not None:
        rows.append(row("delta_nats_sd", sd, len(ablated), **names))
    return rows


def items_of(subject: Subject, task: str, options: Options) -> list[tuple[int, list[Item]]]:
    """Return items of a task by seed; a passkey prompt has the training length, or less if positions would run out."""
    length = min(subject.training_length, LONGEST) if task == "passkey" else None
    rows = learned_positions(subject.model)
    if length is not None and rows is not None:
        length = min(length, rows - answer_tokens(task))
    return [
        (seed, subject.book.items(task, options.items, seed, subject.tokenizer, length=length))
        for seed in options.seeds
    ]


def answer_rows(
    subject: Subject,
    task: str,
    options: Options,
    condition: Condition = BASELINE,
    *,
    units: bool = False,
    layer: int | None = None,
) -> list[Row]:
    """Return rows of a task's accuracy, unparsed share and chance level under a condition; with `units`, also per
    item.

    Metrics: `TASK_accuracy`, `TASK_unparsed`, `TASK_chance`, `TASK_right` (one row per item, 1 or 0). Shares pool all
    seeds; items name their seed.
    """
    outcomes: list[tuple[int, JudgedAnswer]] = []
    chances: list[float] = []
    for seed, items in items_of(subject, task, options):
        outcomes += [(seed, answer) for answer in answers(subject, items, condition)]
        chances += [item.chance for item in items]
    n = len(outcomes)
    names: dict[str, Any] = {"condition": condition.name, "layer": layer}
    right = sum(answer.right for _, answer in outcomes)
    unparsed = sum(answer.verdict == "unparsed" for _, answer in outcomes)
    rows = [
        row(f"{task}_accuracy", right / n, n, **names),
        row(f"{task}_unparsed", unparsed / n, n, **names),
        row(f"{task}_chance", sum(chances) / n, n, **names),
    ]
    if units:
        rows += [
            row(f"{task}_right", float(each.right), 1, unit_id=each.id, seed=seed, **names) for seed, each in outcomes
        ]
    return rows


def tasks_of(subject: Subject) -> list[str]:
    """Return which of the four tasks the model's book has."""
    return [task for task in TASKS if task in subject.book.tasks()]


def effect_rows(
    subject: Subject,
    texts: Sequence[Text],
    options: Options,
    condition: Condition = BASELINE,
    *,
    layer: int | None = None,
) -> list[Row]:
    """Return the rows of `loss_rows` and, for each of the four tasks, of `answer_rows`, under one condition.

    Without items (`--items 0`, or in a sweep `swept_items` 0) only the loss is measured.
    """
    rows = loss_rows(subject, texts, condition, layer=layer)
    for task in tasks_of(subject) if options.items else ():
        rows += answer_rows(subject, task, options, condition, layer=layer)
    return rows


def absent_rows(subject: Subject, condition: str, reason: str, *, layer: int | None = None) -> list[Row]:
    """Return the rows of `effect_rows` without values, with the reason why the condition cannot be run."""
    metrics = ["perplexity", "nats", "delta_nats", *(f"{task}_accuracy" for task in tasks_of(subject))]
    return [row(metric, None, 0, condition=condition, layer=layer, reason=reason) for metric in metrics]
