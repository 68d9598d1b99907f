"""Make rows of answers and perplexities, for all experiments with interventions."""

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
    """Return rows of the perplexity and the mean nats per token under a condition.

    `delta_nats` is the mean minus the baseline's mean on the same texts, and `delta_nats_sd` the standard deviation
    (ddof 1) of this difference over texts, if there are two or more texts.
    """
    ablated, baseline = losses(subject, texts, condition), losses(subject, texts)
    tokens = sum(loss.tokens for loss in ablated)
    mean, baseline_mean = (sum(loss.nats for loss in text_losses) / tokens for text_losses in (ablated, baseline))
    labels: dict[str, Any] = {"condition": condition.name, "layer": layer}
    overflow = "" if mean < MAX_NATS else f"the mean is {mean:.0f} nats, whose exponential no number holds"
    rows = [
        row("perplexity", math.exp(mean) if mean < MAX_NATS else None, len(ablated), reason=overflow, **labels),
        row("nats", mean, len(ablated), **labels),
        row("delta_nats", mean - baseline_mean, len(ablated), **labels),
    ]
    pairs = zip(ablated, baseline, strict=True)
    sd = standard_deviation([new.nats / new.tokens - base.nats / base.tokens for new, base in pairs])
    if sd is not None:
        rows.append(row("delta_nats_sd", sd, len(ablated), **labels))
    return rows


def items_of(subject: Subject, task: str, options: Options) -> list[tuple[int, list[Item]]]:
    """Return items of a task by seed; a passkey prompt has the training length, if the model has enough positions."""
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
    by_item: bool = False,
    layer: int | None = None,
) -> list[Row]:
    """Return rows of a task's accuracy, unparsed share and chance level under a condition, over all seeds.

    Metrics: `TASK_accuracy`, `TASK_unparsed`, `TASK_chance`; with `by_item`, also `TASK_right`, one row (1 or 0) per
    item and seed.
    """
    outcomes: list[tuple[int, JudgedAnswer]] = []
    chances: list[float] = []
    for seed, items in items_of(subject, task, options):
        outcomes += [(seed, answer) for answer in answers(subject, items, condition)]
        chances += [item.chance for item in items]
    n = len(outcomes)
    labels: dict[str, Any] = {"condition": condition.name, "layer": layer}
    right = sum(answer.right for _, answer in outcomes)
    unparsed = sum(answer.verdict == "unparsed" for _, answer in outcomes)
    rows = [
        row(f"{task}_accuracy", right / n, n, **labels),
        row(f"{task}_unparsed", unparsed / n, n, **labels),
        row(f"{task}_chance", sum(chances) / n, n, **labels),
    ]
    if by_item:
        rows += [
            row(f"{task}_right", float(answer.right), 1, unit_id=answer.id, seed=seed, **labels)
            for seed, answer in outcomes
        ]
    return rows


def tasks_of(subject: Subject) -> list[str]:
    """Return the names of the tasks in `TASKS` that the subject's book has."""
    return [task for task in TASKS if task in subject.book.tasks()]


def effect_rows(
    subject: Subject,
    texts: Sequence[Text],
    options: Options,
    condition: Condition = BASELINE,
    *,
    layer: int | None = None,
) -> list[Row]:
    """Return all rows measured under one condition: those of the loss, then the answers to each task of the subject.

    If `options.items` is 0, only the loss is measured.
    """
    rows = loss_rows(subject, texts, condition, layer=layer)
    for task in tasks_of(subject) if options.items else ():
        rows += answer_rows(subject, task, options, condition, layer=layer)
    return rows


def absent_rows(subject: Subject, condition: str, reason: str, *, layer: int | None = None) -> list[Row]:
    """Return rows for the losses and accuracies of `effect_rows`, each without a value and with the reason."""
    metrics = ["perplexity", "nats", "delta_nats", *(f"{task}_accuracy" for task in tasks_of(subject))]
    return [row(metric, None, 0, condition=condition, layer=layer, reason=reason) for metric in metrics]
