"""Experiment 2: a model's loss when massive or control dimensions of queries and keys are overwritten."""

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import DataError
from keyquery.experiments import _masks as masks
from keyquery.experiments._masks import Fill, Mask, Where
from keyquery.measure.evaluation import BATCH, Condition, ask_once, losses
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject, Text, standard_deviation
from keyquery.models import libraries
from keyquery.models.answers.likelihood import token_nats
from keyquery.models.interventions import applied

SETTINGS: dict[str, Any] = {
    "threshold": "norm over the sequence above 5 times the mean of the layer's heads and dimensions of that tensor",
    "top1": "the dimension of the largest norm in each head",
    "selected on": "texts of seed 900001, mean of the norms over texts; evaluated on others",
    "fills": ["mean", "zero"],
    "where": ["pre", "post"],
    "controls": {
        "random": "as many random dimensions, massive ones excluded",
        "matched": "random dimensions, massive ones excluded, until the squared norm removed is nearest; none where "
        f"that is more than {100 * masks.MATCH_TOLERANCE:.0f} % of the massive ones' away",
        "smallest": "as many dimensions of the smallest norm",
    },
    "rank": "random masks before the rotary embedding, on the texts of the first seed, by selection and fill",
    "decode": "no decode steps: one forward of the whole text",
}
FILLS: tuple[Fill, ...] = ("mean", "zero")
PLACES: tuple[Where, ...] = ("pre", "post")
SELECTS = ("threshold", "top1")
FACTOR = 5.0
CONTROLS = ("random", "matched", "smallest")
CHUNK = 20  # random masks per chunk
RANK_TEXTS = 10  # largest number of texts for the rank
RANKED = tuple(f"{select}_{fill}" for select in SELECTS for fill in FILLS)


def measure(
    subject: Subject,
    options: Options,
    *,
    factor: float = FACTOR,
    draws: int = 5,
    permutations: int = 200,
    rank_texts: int = RANK_TEXTS,
    ranked: Sequence[str] = RANKED,
    selects: Sequence[str] = SELECTS,
    fills: Sequence[Fill] = FILLS,
    places: Sequence[Where] = PLACES,
) -> list[Row]:
    """Return rows of a model's loss with massive or control dimensions filled.

    Conditions are SELECT_TARGET_FILL_WHERE: SELECT is `threshold` or `top1` (per head); TARGET is the `massive`
    dimensions or a control (`random`, `matched`, `smallest`); FILL is `mean` (over the sequence) or `zero`; WHERE is
    before (`pre`) or after (`post`) the rotary embedding. Metrics: `dims` (filled dimensions of all n layers),
    `removed_share` (share of the squared norm removed), `largest_over_mean`, `delta_nats` (per token, n texts),
    `text_delta_nats` (by text; for random masks the mean over draws), `perplexity`, `minus_random`, `minus_matched`,
    `minus_smallest` (delta of the massive dimensions minus that of the control, mean over texts) with `..._sd`, and
    `permutation_p`, `permutation_median`, `permutation_highest` (n random masks). Raises DataError if `draws` or
    `rank_texts` is below 1, there are too few texts, a mask leaves no control, or a condition is unknown.

    Parameters
    ----------
    factor : float
        A dimension is massive if its norm is above this factor times the mean.
    draws : int
        Number of random masks, and of norm-matched masks, per condition.
    permutations, rank_texts : int
        Number of random masks and of texts for the permutation rank; no rank if `permutations` is 0.
    ranked : sequence of str
        Conditions to rank, as SELECT_FILL; a rank costs far more time than all other metrics of a condition.
    selects, fills, places : sequence of str
        The conditions to run, by default all; a recipe for a large model should select some.
    """
    for name, count in (("draws", draws), ("rank_texts", rank_texts)):
        if count < 1:
            raise DataError(f"disruption: {name} = {count}: the controls and the rank need at least 1")
    for name, values, allowed in (
        ("selects", selects, SELECTS),
        ("fills", fills, FILLS),
        ("places", places, PLACES),
        ("ranked", ranked, RANKED),
    ):
        if not values or not set(values) <= set(allowed):
            raise DataError(f"disruption: {name} = {list(values)} is not among {', '.join(allowed)}")
    choice_texts, texts = masks.split_texts(subject, options)
    baseline = _nats_per_token(subject, texts)
    rows: list[Row] = []
    for where in places:
        dims = masks.measure_norms(subject, choice_texts, where)
        for select in selects:
            mask = masks.mask_above(dims, factor) if select == "threshold" else masks.mask_top(dims)
            ratio = masks.largest_ratio(dims)
            name = f"{select}_massive_{where}"
            rows.append(row("largest_over_mean", ratio, subject.layers, condition=name))
            rows.append(row("dims", mask.count, subject.layers, condition=name))
            for fill in fills:
                if not mask.count:
                    rows += _absent_rows(select, fill, where, f"no dimension above {factor:g} times the mean")
                    continue
                subject.tell(f"disruption: {select}, {fill}, {where}")
                targets = {
                    "massive": [mask],
                    "random": [masks.random_mask(mask, seed) for seed in range(draws)],
                    "matched": [masks.matched_mask(mask, dims, fill, seed) for seed in range(draws)],
                    "smallest": [masks.smallest_mask(mask, dims)],
                }
                rows += _condition_rows(subject, texts, baseline, dims, targets, (select, fill, where))
                if where == "pre" and permutations and f"{select}_{fill}" in ranked:
                    first_texts = [text for text in texts if text.seed == options.seeds[0]][:rank_texts]
                    rows += _permutation_rows(subject, first_texts, mask, (select, fill), permutations)
    return rows


def _nats_per_token(subject: Subject, texts: Sequence[Text], condition: Condition | None = None) -> NDArray[np.float64]:
    """Return the nats per token of each text."""
    sums = losses(subject, texts, condition) if condition else losses(subject, texts)
    return np.array([loss.nats / loss.tokens for loss in sums])


def _condition_rows(
    subject: Subject,
    texts: Sequence[Text],
    baseline: NDArray[np.float64],
    dims: Any,
    targets: dict[str, list[Mask]],
    key: tuple[str, Fill, Where],
) -> list[Row]:
    select, fill, where = key
    rows, deltas, reasons = [], {}, {}
    for target, target_masks in targets.items():
        name = f"{select}_{target}_{fill}_{where}"
        shares = [masks.removed_share(mask, dims, fill) for mask in target_masks]
        share = None if None in shares else float(np.mean(np.array(shares, dtype=float)))
        rows += [
            row("dims", float(np.mean([mask.count for mask in target_masks])), subject.layers, condition=name),
            row("removed_share", share, len(shares), condition=name, reason="all are zero" if share is None else ""),
        ]
        mismatch = masks.why_unmatched(targets["massive"][0], target_masks, dims, fill) if target == "matched" else ""
        if mismatch:
            reasons[target] = mismatch
            rows += [row(metric, None, 0, condition=name, reason=mismatch) for metric in ("delta_nats", "perplexity")]
            continue
        conditions = [Condition(name, mask.interventions(fill, where)) for mask in target_masks]
        nats = [_nats_per_token(subject, texts, condition) for condition in conditions]
        delta = deltas[target] = np.mean(nats, axis=0) - baseline
        rows += [
            row("delta_nats", float(delta.mean()), len(texts), condition=name),
            row("perplexity", math.exp(min(float(np.mean(nats)), 700.0)), len(texts), condition=name),
        ]
        rows += [
            row("text_delta_nats", float(value), len(target_masks), condition=name, unit_id=text.id, seed=text.seed)
            for text, value in zip(texts, delta, strict=True)
        ]
    name = f"{select}_massive_{fill}_{where}"
    for control in CONTROLS:
        if control in reasons:
            metrics = (f"minus_{control}", f"minus_{control}_sd")
            rows += [row(metric, None, 0, condition=name, reason=reasons[control]) for metric in metrics]
            continue
        differences = (deltas["massive"] - deltas[control]).tolist()
        sd = standard_deviation(differences)
        rows += [
            row(f"minus_{control}", float(np.mean(differences)), len(texts), condition=name),
            row(f"minus_{control}_sd", sd, len(texts), condition=name, reason="" if sd is not None else "one text"),
        ]
    return rows


def _absent_rows(select: str, fill: Fill, where: Where, reason: str) -> list[Row]:
    rows = [
        row(metric, None, 0, condition=f"{select}_{target}_{fill}_{where}", reason=reason)
        for target, metric in itertools.product(("massive", *CONTROLS), ("delta_nats", "perplexity"))
    ]
    name = f"{select}_massive_{fill}_{where}"
    return rows + [row(f"minus_{control}", None, 0, condition=name, reason=reason) for control in CONTROLS]


def _permutation_rows(
    subject: Subject, texts: Sequence[Text], mask: Mask, key: tuple[str, Fill], permutations: int
) -> list[Row]:
    """Return rows of the massive mask's rank among n random masks: p = (1 + masks of no smaller delta) / (1 + n)."""
    select, fill = key
    baseline = _nats_per_token(subject, texts).mean()
    name = f"{select}_massive_{fill}_pre"
    delta = float(_nats_per_token(subject, texts, Condition(name, mask.interventions(fill, "pre"))).mean() - baseline)
    means: list[float] = []
    for start in range(0, permutations, CHUNK):
        subject.tell(f"disruption: {select}, {fill}, random mask {start + 1} of {permutations}")
        chunk = [masks.random_mask(mask, 1000 + seed) for seed in range(start, min(start + CHUNK, permutations))]
        call = {
            "tokens": [text.tokens.tolist() for text in texts],
            "masks": [control.digest() for control in chunk],
            "fill": fill,
        }
        means += ask_once(subject, "random masks", call, functools.partial(_mean_nats, subject, texts, chunk, fill))
    deltas = np.array(means) - baseline
    return [
        row("permutation_p", (1 + int((deltas >= delta).sum())) / (1 + len(deltas)), len(deltas), condition=name),
        row("permutation_delta_nats", delta, len(texts), condition=name),
        row("permutation_median", float(np.median(deltas)), len(deltas), condition=name),
        row("permutation_highest", float(deltas.max()), len(deltas), condition=name),
    ]


def _mean_nats(subject: Subject, texts: Sequence[Text], chunk: Sequence[Mask], fill: Fill) -> list[float]:
    """Return the mean nats per token over texts under each mask."""
    torch = libraries.torch
    batches = [
        torch.cat([text.tokens for text in texts[start : start + BATCH]]) for start in range(0, len(texts), BATCH)
    ]
    means = []
    for mask in chunk:
        with applied(subject.model, mask.interventions(fill, "pre")):
            nats = torch.cat([token_nats(subject.model, batch) for batch in batches])
        means.append(float(nats.double().mean()))
    return means
