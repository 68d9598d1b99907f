"""Measure a model's loss when the MLP output or the value vectors at the beginning-of-sequence token are zeroed."""

import dataclasses
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import ModelError
from keyquery.experiments import _masks as masks
from keyquery.experiments.layer_ablation import NO_BOS
from keyquery.measure.evaluation import BASELINE, Condition, ask_once
from keyquery.measure.rows import Row, row
from keyquery.measure.scores import absent_rows, effect_rows
from keyquery.measure.subject import Options, Subject, Text
from keyquery.models.anatomy import blocks, why_hidden
from keyquery.models.answers.likelihood import token_nats
from keyquery.models.interventions import Intervention, applied
from keyquery.models.undefined import undefined_message

SETTINGS: dict[str, Any] = {
    "positions": "absolute position 0, so the prefill only",
    "spike": "norm at position 0 over the mean norm of later tokens above 2 after some layer, mean over texts",
    "spike layer": "the first such layer",
    "matching layer": "the layer whose MLP, ablated at position 0, lowers the largest ratio most, by a tenth or more",
    "best layer": "the layer whose ablation raises the nats most",
    "layers chosen on": "texts of seed 900001; evaluated on others",
    "disruption": "top dimension of each head of queries and keys, mean over the sequence, before rotation, prefill",
    "sweep": "every layer, at most 40 items of a task",
}
SPIKE = 2.0
LEAST_DROP = 0.1  # share of the largest ratio by which the ablation of the matching layer must lower it
SWEPT_ITEMS = 40


@dataclass(frozen=True)
class SpikeLayers:
    """Layers related to a spike in the norm of the beginning-of-sequence token.

    Parameters
    ----------
    peak : float
        The largest ratio, after any layer, of the token's norm to the mean norm of later tokens.
    spike, matching : int or None
        The first layer after which the ratio is above 2, and the layer whose MLP writes the spike; None if there is no
        such layer.
    best : int
        The layer whose MLP, ablated at position 0, raises the nats most.
    peaks : tuple of float
        For each layer with attention, the largest ratio after any layer when that layer's MLP is ablated at position 0.
    no_match : str
        Why `matching` is None; empty if it is not.
    """

    peak: float
    spike: int | None
    matching: int | None
    best: int
    peaks: tuple[float, ...]
    no_match: str = ""


def bos_mlp(layer: int, name: str) -> Condition:
    """Return the condition that zeroes the MLP output at position 0 in one layer."""
    return Condition(name, (Intervention("mlp", "zero", layers=(layer,), positions=(0,)),))


def bos_value(layer: int | None, name: str) -> Condition:
    """Return the condition that zeroes the values at position 0 in one layer, or in all layers if `layer` is None."""
    layers = None if layer is None else (layer,)
    return Condition(name, (Intervention("v", "zero", layers=layers, positions=(0,)),))


def norm_ratios(subject: Subject, texts: Sequence[Text]) -> NDArray[np.float64]:
    """Return, for each layer, the norm at position 0 over the mean norm of later tokens, averaged over texts, (L,).

    The ratio is 0 where the norm of the later tokens is 0. The result is cached for all experiments of a run.
    """
    call = {"texts": [text.digest for text in texts]}
    ratios = ask_once(subject, "ratios", call, lambda: ratios_and_nats(subject, texts)[0].tolist())
    return np.asarray(ratios)


def ratios_and_nats(
    subject: Subject, texts: Sequence[Text], interventions: Sequence[Intervention] = ()
) -> tuple[NDArray[np.float64], float]:
    """Return the `norm_ratios` and the nats of all texts under interventions, from one forward pass per text.

    Raises ModelError when the logits overflow.
    """
    by_text: list[list[float]] = []
    nats, layer_count = 0.0, len(layers_of(subject))

    def record_ratio(module: Any, inputs: Any, output: Any) -> None:
        states = output[0] if isinstance(output, tuple) else output
        norms = states[0].float().norm(dim=-1)
        later_mean = float(norms[1:].mean())
        by_text[-1].append(float(norms[0]) / later_mean if later_mean > 0 else 0.0)

    with ExitStack() as stack:
        stack.enter_context(applied(subject.model, interventions))
        for block in blocks(subject.model):
            stack.callback(block.module.register_forward_hook(record_ratio).remove)
        for text in texts:
            by_text.append([])
            losses = token_nats(subject.model, text.tokens)
            if not bool(losses.isfinite().all()):
                raise ModelError(f"{text.id}: the logits are not finite; {undefined_message(subject.model)}")
            nats += float(losses.double().sum())
            del by_text[-1][layer_count:]  # a model that truncates its logits is run twice per text
    return np.asarray(np.mean(by_text, axis=0)), nats


def layers_of(subject: Subject) -> list[int]:
    """Return the layers with attention, in the order of `norm_ratios`."""
    return [block.layer for block in blocks(subject.model)]


def choose_layers(subject: Subject, texts: Sequence[Text]) -> SpikeLayers:
    """Return the layers to intervene in, chosen on `texts`, which must not be used for evaluation."""
    layers = layers_of(subject)
    baseline = norm_ratios(subject, texts)
    peak = float(baseline.max())
    conditions = [bos_mlp(layer, "sweep") for layer in layers]
    effects = [ratios_and_nats(subject, texts, condition.interventions) for condition in conditions]
    peaks = tuple(float(ratio.max()) for ratio, _ in effects)
    best = layers[int(np.argmax([nats for _, nats in effects]))]
    if peak <= SPIKE:
        reason = f"no spike: the beginning token's norm is at most {peak:.3g} times the later tokens'"
        return SpikeLayers(peak, None, None, best, peaks, reason)
    spike = layers[int(np.argmax(baseline > SPIKE))]
    lowest = int(np.argmin(peaks))
    if peaks[lowest] > peak * (1 - LEAST_DROP):
        reason = "no layer's MLP writes the spike: no ablation lowers it by a tenth"
        return SpikeLayers(peak, spike, None, best, peaks, reason)
    return SpikeLayers(peak, spike, layers[lowest], best, peaks)


def sink_rows(subject: Subject, options: Options, *, swept_items: int = SWEPT_ITEMS) -> list[Row]:
    """Return rows of interventions on the beginning token's MLP output and on queries and keys (experiment 4).

    Conditions with all items are `baseline`; `bos_mlp_matching` and `bos_mlp_best`, with the MLP's layer in the column
    `layer`; `qk`, with the top dimension of each head of queries and keys overwritten; and `combined_matching` and
    `combined_best`, with both. Conditions with at most `swept_items` items of a task are `sweep_baseline`, and
    `sweep_bos_mlp` at every layer. Metrics are those of `effect_rows`, and `bos_peak`, the largest of the
    `norm_ratios`. A condition that cannot be run has rows with n = 0 and the reason.
    """
    choice_texts, texts = masks.split_texts(subject, options)
    rows = effect_rows(subject, texts, options)
    qk: tuple[Intervention, ...] = ()
    if no_qk := why_hidden(subject.model, "q", "k"):
        rows += absent_rows(subject, "qk", no_qk)
    else:
        qk = masks.mask_top(masks.measure_norms(subject, choice_texts, "pre")).interventions("mean", "pre")
        rows += effect_rows(subject, texts, options, Condition("qk", qk))
    if no_bos := NO_BOS if not subject.has_bos else why_hidden(subject.model, "mlp"):
        names = ("bos_mlp_matching", "combined_matching", "bos_mlp_best", "combined_best", "sweep_bos_mlp")
        return rows + [absent_row for name in names for absent_row in absent_rows(subject, name, no_bos)]
    layers = choose_layers(subject, choice_texts)
    rows.append(row("bos_peak", layers.peak, len(choice_texts), condition=BASELINE.name))
    for kind, layer in (("matching", layers.matching), ("best", layers.best)):
        for name, qk_interventions in ((f"bos_mlp_{kind}", ()), (f"combined_{kind}", qk)):
            subject.tell(f"sinks: {name}")
            if reason := layers.no_match if layer is None else no_qk if name.startswith("combined") else "":
                rows += absent_rows(subject, name, reason)
                continue
            assert layer is not None
            condition = Condition(name, (*bos_mlp(layer, name).interventions, *qk_interventions))
            rows += effect_rows(subject, texts, options, condition, layer=layer)
    sweep_options = dataclasses.replace(options, items=min(options.items, swept_items))
    rows += effect_rows(subject, texts, sweep_options, Condition("sweep_baseline"))
    for layer, peak in zip(layers_of(subject), layers.peaks, strict=True):
        subject.tell(f"sinks: MLP at the beginning token, layer {layer} of {subject.layers - 1}")
        rows.append(row("bos_peak", peak, len(choice_texts), condition="sweep_bos_mlp", layer=layer))
        rows += effect_rows(subject, texts, sweep_options, bos_mlp(layer, "sweep_bos_mlp"), layer=layer)
    return rows


def bos_value_rows(subject: Subject, options: Options, *, swept_items: int = SWEPT_ITEMS) -> list[Row]:
    """Return rows of interventions on the value vector at the beginning token (experiment 5).

    Conditions with all items are `baseline`, `bos_value_spike` (its layer is in the column `layer`) and
    `bos_value_all`. Conditions with at most `swept_items` items of a task are `sweep_baseline`, and `sweep_bos_value`
    at every layer.
    Metrics are those of `effect_rows`. A condition that cannot be run has rows with n = 0 and the reason.
    """
    choice_texts, texts = masks.split_texts(subject, options)
    rows = effect_rows(subject, texts, options)
    if no_bos := NO_BOS if not subject.has_bos else why_hidden(subject.model, "v"):
        names = ("bos_value_spike", "bos_value_all", "sweep_bos_value")
        return rows + [absent_row for name in names for absent_row in absent_rows(subject, name, no_bos)]
    is_spike = norm_ratios(subject, choice_texts) > SPIKE
    if is_spike.any():
        spike = layers_of(subject)[int(np.argmax(is_spike))]
        condition = bos_value(spike, "bos_value_spike")
        rows += effect_rows(subject, texts, options, condition, layer=spike)
    else:
        reason = "no spike: the beginning token's norm is nowhere above 2 times the later tokens'"
        rows += absent_rows(subject, "bos_value_spike", reason)
    rows += effect_rows(subject, texts, options, bos_value(None, "bos_value_all"))
    sweep_options = dataclasses.replace(options, items=min(options.items, swept_items))
    rows += effect_rows(subject, texts, sweep_options, Condition("sweep_baseline"))
    for layer in layers_of(subject):
        subject.tell(f"bos_value: values of the beginning token, layer {layer} of {subject.layers - 1}")
        rows += effect_rows(subject, texts, sweep_options, bos_value(layer, "sweep_bos_value"), layer=layer)
    return rows
