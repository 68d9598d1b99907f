"""Experiment 4: attention sinks, the first token's norm, and the layer whose output makes that norm a spike.

The sink score of a head is its attention to position 0, averaged over query rows. Every score is reported with the
score of uniform attention over T tokens, H_T / T (H_T is the harmonic number).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keyquery.experiments import _bos_interventions as bos_interventions
from keyquery.measure.over_texts import checked_surveys, over_texts, per_text
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject
from keyquery.measure.surveys import surveys as surveys_of
from keyquery.models.surveys.record import ENTROPY_TOKENS, VARIANTS, TextSurvey

TAUS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SPIKE_RATIO = 2.0
ROWS = {"rows=all": ("first", "null"), "rows=later": ("first_later", "null_later")}
SPIKES = ("first ratio above 2", "largest ratio", "largest norm jump")
NO_SPIKE = {
    SPIKES[0]: "the first token's norm is nowhere above 2 times the mean of the others",
    SPIKES[1]: "the first token's norm is nowhere above the mean of the others",
    SPIKES[2]: "no layer raises the first token's norm",
}
NO_RANK = "the states are zero or of rank one, so there is no log of the rank to divide by"
LEFT_OUT = "the survey left it out"
ASKS = ("cities", "sports", "sentiment", "passkey")
SETTINGS: dict[str, Any] = {"taus": TAUS, "spike_ratio": SPIKE_RATIO, "interventions": bos_interventions.SETTINGS}


def spike_layers(surveys: Sequence[TextSurvey]) -> dict[str, int | None]:
    """Return the layer whose output makes the first token's norm spike, by three definitions, from means over texts.

    - "first ratio above 2": the first layer after which the first token's norm is more than twice the other tokens'
      mean norm.
    - "largest ratio": the layer after which the ratio of these norms is largest, if it is above 1.
    - "largest norm jump": the layer that raises the first token's norm most.

    None if there is no such layer.
    """
    ratio = np.mean([survey.residual_ratio for survey in checked_surveys(surveys)], axis=0)
    norm = np.mean([survey.residual_first for survey in surveys], axis=0)
    return _spikes(ratio, norm, surveys[0].layers)


def _spikes(ratio: NDArray[np.float64], norm: NDArray[np.float64], layers: NDArray[np.int64]) -> dict[str, int | None]:
    ratios = np.where(np.isfinite(ratio[1:]), ratio[1:], 0.0)
    jump = np.diff(norm)
    above = np.flatnonzero(ratios > SPIKE_RATIO)
    spikes = {
        SPIKES[0]: int(above[0]) if len(above) else None,
        SPIKES[1]: int(ratios.argmax()) if ratios.max() > 1 else None,
        SPIKES[2]: int(jump.argmax()) if jump.max() > 0 else None,
    }
    return {name: None if index is None else int(layers[index]) for name, index in spikes.items()}


def survey_rows(surveys: Sequence[TextSurvey], taus: Sequence[float] = TAUS) -> list[Row]:
    """Return rows of sink scores and rates, first-token norms, spike layers and the entropy of hidden states.

    `sink_score` is by head, over all query rows or those from position 1 on (see the condition); `sink_rate` is the
    share of heads with a score of tau or more, by layer, over the model, and by text. `uniform_null` is the score of
    uniform attention, by layer (since it depends on the window) and, without a window, by length of text (`T=...`);
    `sink_excess` is the layer's mean score minus `uniform_null`. The value of `spike_layer` is a layer. For
    `first_norm` and similar metrics, the column `layer` is the layer after which the residual stream is measured, and
    empty for the embeddings. Raises DataError if surveys cannot be combined.
    """
    layers = checked_surveys(surveys)[0].layers.tolist()
    bos = [float(survey.first_is_bos) for survey in surveys]
    rows = [row("first_is_bos", float(np.mean(bos)), len(bos))]
    for condition, (field, null) in ROWS.items():
        scores = np.stack([getattr(survey, field) for survey in surveys])  # (texts, L, H)
        nulls = np.stack([getattr(survey, null) for survey in surveys])
        for index, layer in enumerate(layers):
            labels: dict[str, Any] = {"condition": condition, "layer": layer}
            for head in range(scores.shape[2]):
                rows += over_texts("sink_score", scores[:, index, head], head=head, **labels)
            means = scores[:, index].mean(axis=1)
            rows += over_texts("sink_score", means, **labels)
            rows += over_texts("uniform_null", nulls[:, index], **labels)
            rows += over_texts("sink_excess", means - nulls[:, index], **labels)
        rows += per_text("sink_score", surveys, scores.mean(axis=(1, 2)), scores[0].size, condition=condition)
        for tau in taus:
            rows += _rate_rows(surveys, f"{condition} tau={tau:g}", scores >= tau)
    return rows + _null_rows(surveys) + _first_token_rows(surveys) + _spike_rows(surveys) + _entropy_rows(surveys)


def _rate_rows(surveys: Sequence[TextSurvey], condition: str, is_sink: NDArray[np.bool_]) -> list[Row]:
    rows: list[Row] = []
    for index, layer in enumerate(surveys[0].layers.tolist()):
        rows += over_texts("sink_rate", is_sink[:, index].mean(axis=1), condition=condition, layer=layer)
    rates = is_sink.mean(axis=(1, 2))
    rows += over_texts("sink_rate", rates, condition=condition)
    return rows + per_text("sink_rate", surveys, rates, is_sink[0].size, condition=condition)


def _null_rows(surveys: Sequence[TextSurvey]) -> list[Row]:
    """Return rows of the sink score of uniform attention, H_T / T, for each length of text."""
    lengths = Counter(survey.tokens for survey in surveys)
    return [
        row("uniform_null", float((1 / np.arange(1, tokens + 1)).sum() / tokens), count, condition=f"T={tokens}")
        for tokens, count in sorted(lengths.items())
    ]


def _first_token_rows(surveys: Sequence[TextSurvey]) -> list[Row]:
    rows: list[Row] = []
    fields = {
        "first_norm": "residual_first",
        "content_norm": "residual_mean",
        "content_norm_median": "residual_median",
        "first_ratio": "residual_ratio",
    }
    for name, field in fields.items():
        values = np.stack([getattr(survey, field) for survey in surveys])
        for index, labels in enumerate(_residual_labels(surveys)):
            rows += over_texts(name, values[:, index], "all other tokens are zero", **labels)
    return rows


def _residual_labels(surveys: Sequence[TextSurvey]) -> list[dict[str, Any]]:
    """Return the labels of rows about the residual stream: one for the embeddings, and one for each layer."""
    return [{"condition": "embeddings"}, *({"layer": layer} for layer in surveys[0].layers.tolist())]


def _spike_rows(surveys: Sequence[TextSurvey]) -> list[Row]:
    rows: list[Row] = []
    ratios = np.mean([survey.residual_ratio for survey in surveys], axis=0)[1:]
    ratio_of_layer = dict(zip(surveys[0].layers.tolist(), ratios.tolist(), strict=True))
    for name, layer in spike_layers(surveys).items():
        no_spike = NO_SPIKE[name] if layer is None else ""
        rows.append(row("spike_layer", layer, len(surveys), condition=name, reason=no_spike))
        ratio = None if layer is None else ratio_of_layer[layer]
        reason = no_spike or ("" if ratio is not None and np.isfinite(ratio) else "all other tokens are zero")
        rows.append(row("spike_ratio", ratio, len(surveys), condition=name, reason=reason))
    for survey in surveys:
        for name, layer in _spikes(survey.residual_ratio, survey.residual_first, survey.layers).items():
            no_spike = NO_SPIKE[name] if layer is None else ""
            rows.append(row("spike_layer", layer, 1, condition=name, unit_id=survey.text, reason=no_spike))
    return rows


def _entropy_rows(surveys: Sequence[TextSurvey]) -> list[Row]:
    """Return rows of the entropy of hidden states; the condition names the entropy variant and the tokens."""
    values = np.stack([survey.hidden_entropy for survey in surveys])  # (texts, L + 1, 2, 3)
    ranks = np.stack([survey.hidden_rank for survey in surveys])
    rows: list[Row] = []
    for index, labels in enumerate(_residual_labels(surveys)):
        prefix = f"{labels['condition']} " if "condition" in labels else ""
        for kind, tokens in enumerate(ENTROPY_TOKENS):
            reason = NO_RANK if ranks[:, :, kind].any() else LEFT_OUT
            for column, variant in enumerate(VARIANTS):
                row_labels = {**labels, "condition": f"{prefix}{variant} {tokens}"}
                rows += over_texts("hidden_entropy", values[:, index, kind, column], reason, **row_labels)
    return rows


def measure(
    subject: Subject,
    options: Options,
    taus: Sequence[float] = TAUS,
    *,
    swept_items: int = bos_interventions.SWEPT_ITEMS,
) -> list[Row]:
    """Return rows of sinks on texts, and of the loss if position 0's MLP output or top dimensions are overwritten."""
    rows = survey_rows(surveys_of(subject, options), taus)
    return rows + bos_interventions.sink_rows(subject, options, swept_items=swept_items)
