"""Experiment 9: balance of attention and MLP across layers, measured by attention's share of each layer's norms."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from boundpaper.errors import ModelError
from keyquery.experiments.layer_content import attention_shares, why_missing
from keyquery.measure.over_texts import checked_surveys, over_texts, per_text
from keyquery.measure.rows import Row
from keyquery.measure.subject import Options, Subject
from keyquery.measure.surveys import surveys as surveys_of
from keyquery.models.anatomy import why_hidden
from keyquery.models.surveys.record import TOKENS, TextSurvey

KINDS = ("all", "content")
HALF = 0.5
SETTINGS: dict[str, Any] = {"attention_larger": HALF}


def rows(surveys: Sequence[TextSurvey]) -> list[Row]:
    """Return rows of attention's share: for each layer the mean over texts, and for each text summaries over layers.

    The share a / (a + m) is a mean of ratios over tokens or a ratio of means (see the metric's name), over all tokens
    or the content only (see the condition). The summaries are `..._mean`, `..._sd_over_layers` (divisor n - 1),
    `..._attention_larger` (number of layers whose share is above one half) and `..._largest_layer`. Raises DataError if
    surveys cannot be combined.
    """
    layers = checked_surveys(surveys)[0].layers
    table: list[Row] = []
    for name, shares_of_texts in attention_shares(surveys).items():
        for condition in KINDS:
            shares = shares_of_texts[:, :, TOKENS.index(condition)]  # (texts, L)
            for index, layer in enumerate(layers.tolist()):
                reason = why_missing(surveys, name, index)
                table += over_texts(name, shares[:, index], reason, condition=condition, layer=layer)
            is_complete = np.asarray(np.isfinite(shares).all(axis=1))
            filled = np.where(is_complete[:, None], shares, 0.0)
            summaries = {
                "mean": filled.mean(axis=1),
                "attention_larger": (filled > HALF).sum(axis=1),
                "largest_layer": layers[filled.argmax(axis=1)],
            }
            no_share = "undefined in at least one layer"
            for summary, values in summaries.items():
                by_text = np.where(is_complete, values, np.nan)
                table += per_text(f"{name}_{summary}", surveys, by_text, len(layers), no_share, condition=condition)
            spread = filled.std(axis=1, ddof=1) if len(layers) > 1 else np.full(len(surveys), np.nan)
            reason = no_share if len(layers) > 1 else "one layer has no spread"
            by_text = np.where(is_complete, spread, np.nan)
            table += per_text(f"{name}_sd_over_layers", surveys, by_text, len(layers), reason, condition=condition)
    return table


def measure(subject: Subject, options: Options) -> list[Row]:
    """Return rows of a subject's balance of attention and MLP; raise ModelError if a block's MLP cannot be isolated."""
    if reason := why_hidden(subject.model, "mlp"):
        raise ModelError(reason)
    return rows(surveys_of(subject, options))
