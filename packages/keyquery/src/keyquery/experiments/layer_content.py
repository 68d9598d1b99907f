"""Experiment 8: how much attention and MLP each add to the residual stream, layer by layer, and which dominates."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import ModelError
from keyquery.measure.over_texts import checked_surveys, over_texts, per_text
from keyquery.measure.rows import Row
from keyquery.measure.subject import Options, Subject
from keyquery.measure.surveys import surveys as surveys_of
from keyquery.models.anatomy import why_hidden
from keyquery.models.surveys.record import TOKENS, TextSurvey

UNEXPLAINED = 0.02  # allowed share of an update that is neither attention nor MLP; bfloat16 rounds by less
SCALED = "outputs of attention and MLP are scaled or gated before they are added to the residual stream"
ADDED = ("attention_norm", "mlp_norm", "cosine_attention", "cosine_mlp")
PROJECTED = ("q_norm", "k_norm", "v_norm")
SETTINGS: dict[str, Any] = {"unexplained": UNEXPLAINED}
WHY_UNDEFINED = {
    "contribution_mean_of_ratios": "neither attention nor MLP adds anything",
    "contribution_ratio_of_means": "neither attention nor MLP adds anything",
    "cosine_attention": "attention or the update is zero",
    "cosine_mlp": "the MLP's output or the update is zero",
}


def attention_shares(surveys: Sequence[TextSurvey]) -> dict[str, NDArray[np.float64]]:
    """Return attention's share a / (a + m) of the norms, by two definitions.

    Each array has shape (texts, L, 3), with tokens as in `TOKENS`. Shares are NaN where nothing is added, or where
    attention and MLP do not sum to the residual update.
    """
    ratios = np.stack([survey.share for survey in surveys])
    a, m = (np.stack([getattr(survey, name) for survey in surveys]) for name in ("attention_norm", "mlp_norm"))
    means = np.divide(a, a + m, out=np.full(a.shape, np.nan), where=a + m > 0)
    complete = _sums_to_update(surveys)[..., None]
    return {
        "contribution_mean_of_ratios": np.where(complete, ratios, np.nan),
        "contribution_ratio_of_means": np.where(complete, means, np.nan),
    }


def _sums_to_update(surveys: Sequence[TextSurvey]) -> NDArray[np.bool_]:
    """Return whether attention and MLP sum to the update of the residual stream, shape (texts, L)."""
    return np.stack([survey.unexplained for survey in surveys]) <= UNEXPLAINED


def why_missing(surveys: Sequence[TextSurvey], metric: str, index: int) -> str:
    """Return the reason why a metric of a layer (given by its index) has no value."""
    return WHY_UNDEFINED.get(metric, "undefined") if _sums_to_update(surveys)[:, index].any() else SCALED


def rows(surveys: Sequence[TextSurvey]) -> list[Row]:
    """Return rows of norms, shares and cosines by layer (means over texts), and of both shares by text (over layers).

    Norms are means over all tokens, the first token, or the content (positions from 1 on), as the condition says.
    Cosines are with the residual update (attention plus MLP). `q_norm`, `k_norm` and `v_norm` are norms of a token's
    whole projection over all heads. `unexplained` is the part of the update that is neither attention nor MLP. Raises
    DataError if surveys cannot be combined.
    """
    layers = checked_surveys(surveys)[0].layers.tolist()
    shares, complete = attention_shares(surveys), _sums_to_update(surveys)[..., None]
    values = {name: np.stack([getattr(survey, name) for survey in surveys]) for name in (*ADDED, *PROJECTED)}
    values |= {name: np.where(complete, values[name], np.nan) for name in ADDED} | shares
    table: list[Row] = []
    for index, layer in enumerate(layers):
        for kind, tokens in enumerate(TOKENS):
            for name, value in values.items():
                reason = why_missing(surveys, name, index)
                table += over_texts(name, value[:, index, kind], reason, condition=tokens, layer=layer)
        table += over_texts("unexplained", [survey.unexplained[index] for survey in surveys], layer=layer)
    for name, by_layer in shares.items():
        for kind, tokens in enumerate(TOKENS):
            means = by_layer[:, :, kind].mean(axis=1)  # NaN if the share of any layer is NaN
            reason = "undefined in at least one layer"
            table += per_text(name, surveys, means, len(layers), reason, condition=tokens)
    return table


def measure(subject: Subject, options: Options) -> list[Row]:
    """Return rows of layers' norms and shares on a subject's texts; raise ModelError if an MLP cannot be isolated."""
    if reason := why_hidden(subject.model, "mlp"):
        raise ModelError(reason)
    return rows(surveys_of(subject, options))
