"""Does retrieval need plastic heads? Ablate the most and the least plastic heads, and random heads as control."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from boundpaper.errors import DataError
from keyquery.measure.evaluation import BASELINE, Condition, answers, losses
from keyquery.measure.heads.captured import findings
from keyquery.measure.heads.finding import HeadResult
from keyquery.measure.rows import Row, row
from keyquery.measure.scores import items_of
from keyquery.measure.subject import Options, Subject
from keyquery.models.anatomy import blocks
from keyquery.models.interventions import Intervention

DRAWS = 20
ITEMS = 50  # largest number of items of the passkey task in each condition
RANK = "ap_last_20"
SHARES = (0.1, 0.25, 0.5)
ASKS = ("passkey",)
SETTINGS: dict[str, Any] = {
    "rank": RANK,
    "shares": list(SHARES),
    "random_draws": DRAWS,
    "items": ITEMS,
    "ablation": "a head's output before the output projection is zero, in the prefill and in decode steps",
}
Heads = list[tuple[int, int]]


def measure(subject: Subject, options: Options) -> list[Row]:
    """Return rows of retrieval and likelihood with the most plastic, the least plastic, or random heads ablated.

    Conditions are `baseline`, `highest:K`, `lowest:K`, and `random:K`, whose `unit_id` names one of 20 draws of K heads
    that have a plasticity. Metrics are `passkey_accuracy` (unless `options.items` is 0), `delta_nats` per token, and
    `heads`, the number of ablated heads. Raises DataError if fewer than two heads have a plasticity.
    """
    return _ablation_rows(subject, options, _heads_by_plasticity(subject, findings(subject, options)))


def _heads_by_plasticity(subject: Subject, results: Sequence[HeadResult]) -> Heads:
    """Return the heads that have a late plasticity, sorted by it in ascending order, and then by layer and head."""
    ranked = [(result.metrics[RANK], (result.layer, result.head)) for result in results if RANK in result.metrics]
    if len(ranked) < 2:
        reasons = "; ".join(sorted({result.reasons.get(RANK, "") for result in results} - {""}))
        raise DataError(
            f"{subject.name}: only {len(ranked)} of {len(results)} heads have a plasticity; ranking needs two or more"
            + (f" ({reasons})" if reasons else "")
        )
    return [head for _, head in sorted(ranked)]


def _ablation_rows(subject: Subject, options: Options, heads: Heads) -> list[Row]:
    """Return the rows of all conditions, given the heads in ascending order of plasticity."""
    options = replace(options, items=min(options.items, ITEMS), seeds=options.seeds[:1])
    rows = _condition_rows(subject, options, BASELINE, "", None)
    rng = np.random.default_rng(0)
    for count in sorted({max(1, round(share * len(heads))) for share in SHARES}):
        rows += _condition_rows(subject, options, _ablation(subject, f"highest:{count}", heads[-count:]), "", count)
        rows += _condition_rows(subject, options, _ablation(subject, f"lowest:{count}", heads[:count]), "", count)
        for draw in range(DRAWS):
            subject.tell(f"{count} random heads, draw {draw + 1}")
            sample = [heads[index] for index in rng.choice(len(heads), count, replace=False)]
            condition = _ablation(subject, f"random:{count}", sample)
            rows += _condition_rows(subject, options, condition, f"draw-{draw}", count)
    return rows


def _ablation(subject: Subject, name: str, heads: Heads) -> Condition:
    """Return a condition in which heads are ablated, in the prefill and in decode steps."""
    dims: dict[int, Any] = {}
    for block in blocks(subject.model):
        mask = np.zeros((block.heads, block.value_dim), dtype=bool)
        mask[[head for layer, head in heads if layer == block.layer]] = True
        if mask.any():
            dims[block.layer] = mask
    return Condition(name, (Intervention("heads", "zero", dims=dims),), decode=True)


def _condition_rows(
    subject: Subject, options: Options, condition: Condition, unit: str, head_count: int | None
) -> list[Row]:
    """Return the rows of passkey accuracy, delta nats and the number of ablated heads in one condition."""
    labels: dict[str, Any] = {"condition": condition.name, "unit_id": unit}
    rows: list[Row] = []
    for seed, items in items_of(subject, "passkey", options) if options.items else ():
        replies = answers(subject, items, condition)
        right = sum(reply.right for reply in replies)
        rows.append(row("passkey_accuracy", right / len(replies), len(replies), seed=seed, **labels))
    texts = subject.texts(options)
    ablated, baseline = losses(subject, texts, condition), losses(subject, texts)
    tokens = sum(loss.tokens for loss in baseline)
    delta = sum(loss.nats for loss in ablated) / tokens - sum(loss.nats for loss in baseline) / tokens
    rows.append(row("delta_nats", delta, len(texts), **labels))
    if head_count is not None:
        rows.append(row("heads", float(head_count), 1, **labels))
    return rows
