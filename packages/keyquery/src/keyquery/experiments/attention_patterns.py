"""Experiment 7: what heads attend to (the first token, the tokens just before, or all tokens), and how far back."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keyquery.measure.over_texts import checked_surveys, over_texts, per_text
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject, Text
from keyquery.measure.surveys import surveys as surveys_of
from keyquery.models.architecture import run_forward
from keyquery.models.attention.calls import Call, recording
from keyquery.models.attention.projections import Projections, projecting
from keyquery.models.attention.rows import LOCAL
from keyquery.models.attention.statistics import AttentionStatistics, attention_statistics
from keyquery.models.surveys.record import TextSurvey

PATTERNS = ("sink", "local", "distributed", "mixed")
MEASURES = {
    "first_attention": "first_later",
    "local_attention": "local",
    "self_attention": "self",
    "entropy": "entropy",
    "entropy_share": "entropy_share",
}
UNROTATED = "scores without rotation"
PER_HEAD = ("first_attention", "local_attention", "entropy_share")


@dataclass(frozen=True)
class Thresholds:
    """Thresholds for classifying a head by the attention of tokens after the first, averaged over texts.

    A head is a sink if attention to the first token is at least `sink` and not less than attention to the 5 preceding
    tokens. Otherwise the head is local if attention to the 5 preceding tokens is at least `local`. Otherwise it is
    distributed if its entropy is at least `distributed` times the maximum, and mixed if not.
    """

    sink: float = 0.3
    local: float = 0.3
    distributed: float = 0.7

    @property
    def text(self) -> str:
        """The thresholds as text, which is the name of a condition."""
        return f"sink>={self.sink:g} local>={self.local:g} distributed>={self.distributed:g}"


DEFAULT = Thresholds()
SETTINGS: dict[str, Any] = {**asdict(DEFAULT), "local_tokens": LOCAL}


def pattern_of(
    first_attention: float, local_attention: float, entropy_share: float, thresholds: Thresholds = DEFAULT
) -> str:
    """Return the class of a head: one of `PATTERNS`."""
    if first_attention >= thresholds.sink and first_attention >= local_attention:
        return "sink"
    if local_attention >= thresholds.local:
        return "local"
    return "distributed" if entropy_share >= thresholds.distributed else "mixed"


def rows(surveys: Sequence[TextSurvey], thresholds: Thresholds = DEFAULT) -> list[Row]:
    """Return rows of attention by head and by layer (means over texts), by text, by class of heads, and by distance.

    `first_attention` and `local_attention` are means over queries from position 1 on. `pattern_X` is 1 for a head of
    class X; `heads_X` counts such heads by layer (n: heads of the layer). `attention_at_distance` is the mean weight,
    over a layer's heads, between tokens at the distance that the condition names; `attention_at_distance_content`
    excludes the first token as key. Raises DataError if surveys cannot be combined.
    """
    layers = checked_surveys(surveys)[0].layers.tolist()
    values = {name: np.stack([getattr(survey, field) for survey in surveys]) for name, field in MEASURES.items()}
    table: list[Row] = []
    for index, layer in enumerate(layers):
        classes: list[str] = []
        for head in range(surveys[0].heads):
            for name in PER_HEAD:
                table += over_texts(name, values[name][:, index, head], layer=layer, head=head)
            means = [float(values[name][:, index, head].mean()) for name in PER_HEAD]
            classes.append(pattern_of(means[0], means[1], means[2], thresholds))
            table.append(
                row(f"pattern_{classes[-1]}", 1, len(surveys), condition=thresholds.text, layer=layer, head=head)
            )
        for name in PATTERNS:
            count = classes.count(name)
            table.append(row(f"heads_{name}", count, len(classes), condition=thresholds.text, layer=layer))
        for name, array in values.items():
            table += over_texts(name, array[:, index].mean(axis=1), layer=layer)
        table += _mean_decay(surveys, index, layer)
    for name, value in values.items():
        table += per_text(name, surveys, value.mean(axis=(1, 2)), value[0].size)
    return table


def _mean_decay(surveys: Sequence[TextSurvey], index: int, layer: int) -> list[Row]:
    """Return rows of a layer's mean attention by distance bin; only longer texts have bins of long distances."""
    table: list[Row] = []
    for name, field in (("attention_at_distance", "decay"), ("attention_at_distance_content", "decay_content")):
        bins: dict[tuple[int, int], list[float]] = defaultdict(list)
        for survey in surveys:
            weights: NDArray[np.float64] = getattr(survey, field)[index].mean(axis=0)
            for low, high, weight in zip(survey.edges[:-1], survey.edges[1:] - 1, weights, strict=True):
                bins[int(low), int(high)].append(float(weight))
        for (low, high), weights_of_texts in sorted(bins.items()):
            condition = f"distance={low}" if low == high else f"distance={low}-{high}"
            reason = "no pair of tokens so far apart is seen"
            table += over_texts(name, weights_of_texts, reason, condition=condition, layer=layer)
    return table


def unrotated_rows(subject: Subject, texts: Sequence[Text]) -> list[Row]:
    """Return rows of attention recomputed from queries and keys without rotation.

    The model runs unchanged, so each layer gets its usual input. The layer's scores and weights are then recomputed
    from queries and keys before the rotation, as some published analyses do. The metrics are `first_attention` and
    `local_attention`, by layer over texts and by text over the model, under the condition `UNROTATED`. Raises
    ModelError if the architecture does not expose its queries and keys before the rotation.
    """
    by_metric: dict[str, list[list[float]]] = {"first_attention": [], "local_attention": []}
    if subject.positional != "rope":
        reason = "the model rotates nothing, so there is no rotation to leave out"
        return [row(name, None, 0, condition=UNROTATED, reason=reason) for name in by_metric]
    layers: list[int] = []
    for text in texts:
        by_layer: dict[int, AttentionStatistics] = {}
        with ExitStack() as stack:
            projections = stack.enter_context(projecting(subject.model, text.tokens.shape[1]))

            def record(
                call: Call, projections: Projections = projections, by_layer: dict[int, AttentionStatistics] = by_layer
            ) -> None:
                if call.layer is not None and not call.cross:
                    query, key = projections.before(call)
                    by_layer[call.layer] = attention_statistics(replace(call, query=query, key=key))

            stack.enter_context(recording(subject.model, record))
            run_forward(subject.model, text.tokens)
        layers = sorted(by_layer)
        by_metric["first_attention"].append([float(by_layer[layer].first_later.mean()) for layer in layers])
        by_metric["local_attention"].append([float(by_layer[layer].local.mean()) for layer in layers])
    table: list[Row] = []
    for name, by_text in by_metric.items():
        values = np.array(by_text)  # (texts, L)
        for index, layer in enumerate(layers):
            table += over_texts(name, values[:, index], condition=UNROTATED, layer=layer)
        table += [
            row(name, float(mean), len(layers), condition=UNROTATED, unit_id=text.id)
            for text, mean in zip(texts, values.mean(axis=1), strict=True)
        ]
    return table


def measure(subject: Subject, options: Options, *, unrotated: bool = False) -> list[Row]:
    """Return rows of attention patterns on a subject's texts; with `unrotated`, also those of `unrotated_rows`."""
    survey_rows = rows(surveys_of(subject, options))
    return survey_rows + (unrotated_rows(subject, subject.texts(options)) if unrotated else [])
