"""Experiment 6: a model's loss when the MLP, the attention or both of one layer are zeroed."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from keyquery.measure.evaluation import Condition
from keyquery.measure.rows import Row
from keyquery.measure.scores import absent_rows, effect_rows
from keyquery.measure.subject import Options, Subject, Text
from keyquery.models.anatomy import blocks
from keyquery.models.interventions import Intervention

ASKS = ("cities", "sports", "sentiment", "passkey")
SETTINGS: dict[str, Any] = {
    "fill": "zero",
    "layer": 1,
    "sweep": "every layer, at most 40 items of a task",
    "decode": "mlp, attention and both act in decode steps as well; both_bos acts on position 0, which is in the "
    "prefill only",
}
LAYER = 1
SWEPT_ITEMS = 40
PARTS: dict[str, tuple[Intervention, ...]] = {
    "mlp": (Intervention("mlp", "zero"),),
    "attention": (Intervention("attention", "zero"),),
    "both": (Intervention("attention", "zero"), Intervention("mlp", "zero")),
    "both_bos": (Intervention("attention", "zero", positions=(0,)), Intervention("mlp", "zero", positions=(0,))),
}
NO_BOS = "the tokenizer puts no beginning token in front"


def ablation(part: str, layer: int, name: str) -> Condition:
    """Return a condition that zeroes the output of a part ("mlp", "attention", "both", "both_bos") of one layer."""
    interventions = tuple(dataclasses.replace(intervention, layers=(layer,)) for intervention in PARTS[part])
    return Condition(name, interventions, decode=part != "both_bos")


def measure(subject: Subject, options: Options, *, layer: int = LAYER, swept_items: int = SWEPT_ITEMS) -> list[Row]:
    """Return rows of a model's loss and answers with parts of one layer zeroed.

    Conditions with all items are `baseline`, and `mlp`, `attention`, `both` and `both_bos` at `layer`. Conditions with
    at most `swept_items` items of a task are `sweep_baseline`, and `sweep_mlp` and so on at every layer. Metrics are
    those of `effect_rows`. A condition that cannot be run, since the model has no such layer or no beginning token, has
    rows with n = 0 and the reason.
    """
    texts = subject.texts(options)
    sweep_options = dataclasses.replace(options, items=min(options.items, swept_items))
    rows = effect_rows(subject, texts, options)
    for part in PARTS:
        rows += _part_rows(subject, texts, options, part, layer, part)
    rows += effect_rows(subject, texts, sweep_options, Condition("sweep_baseline"))
    for swept in range(subject.layers):
        for part in PARTS:
            subject.tell(f"layer_ablation: {part} of layer {swept} of {subject.layers - 1}")
            rows += _part_rows(subject, texts, sweep_options, part, swept, f"sweep_{part}")
    return rows


def _part_rows(
    subject: Subject, texts: Sequence[Text], options: Options, part: str, layer: int, name: str
) -> list[Row]:
    """Return rows of a condition `name` that zeroes a part of a layer; if this is impossible, rows with the reason."""
    if reason := _why_not_ablated(subject, part, layer):
        return absent_rows(subject, name, reason, layer=layer)
    return effect_rows(subject, texts, options, ablation(part, layer, name), layer=layer)


def _why_not_ablated(subject: Subject, part: str, layer: int) -> str:
    if layer >= subject.layers:
        return f"the model has {subject.layers} layer{'s' * (subject.layers > 1)}, none of number {layer}"
    if layer not in (indices := [block.layer for block in blocks(subject.model)]):
        return f"layer {layer} has no attention of its own; layers {', '.join(map(str, indices))} have"
    return NO_BOS if part == "both_bos" and not subject.has_bos else ""
