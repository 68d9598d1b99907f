"""Experiment 5: how much the first token writes into later ones, as attention to it times the norm of its value."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from keyquery.experiments import _bos_interventions as bos_interventions
from keyquery.measure.over_texts import checked_surveys, over_texts, per_text
from keyquery.measure.rows import Row
from keyquery.measure.subject import Options, Subject
from keyquery.measure.surveys import surveys as surveys_of
from keyquery.models.surveys.record import TextSurvey

NO_VALUES = "the values of all other tokens are zero"
ASKS = ("cities", "sports", "sentiment", "passkey")
SETTINGS: dict[str, Any] = {"interventions": bos_interventions.SETTINGS}


def survey_rows(surveys: Sequence[TextSurvey]) -> list[Row]:
    """Return rows of value norms, attention mass and their product: per head and layer over all texts, and per text.

    `value_first` is the norm of the value at position 0, and `value_content` the mean norm at later positions; both are
    given by key head (condition `key head`) and averaged over a layer's key heads. `value_ratio` is `value_first` over
    `value_content`. `first_mass` is a query head's mean attention to position 0 from later positions; `write` is this
    attention times the norm of the value that the head reads at position 0. By layer, `first_mass` and `write` are
    means over query heads. Raises DataError if surveys cannot be combined.
    """
    layers = checked_surveys(surveys)[0].layers.tolist()
    value_first = np.stack([survey.value_first for survey in surveys])  # (texts, L, K)
    value_content = np.stack([survey.value_content for survey in surveys])
    mass = np.stack([survey.first_later for survey in surveys])  # (texts, L, H)
    write = np.stack([survey.write for survey in surveys])
    by_key_head = {"value_first": value_first, "value_content": value_content}
    by_query_head = {"first_mass": mass, "write": write}
    first_mean, content_mean = value_first.mean(axis=2), value_content.mean(axis=2)
    ratio = np.divide(first_mean, content_mean, out=np.full(first_mean.shape, np.nan), where=content_mean > 0)
    rows: list[Row] = []
    for index, layer in enumerate(layers):
        labels: dict[str, Any] = {"layer": layer}
        for name, values in by_key_head.items():
            for head in range(values.shape[2]):
                rows += over_texts(name, values[:, index, head], condition="key head", head=head, **labels)
            rows += over_texts(name, values[:, index].mean(axis=1), **labels)
        rows += over_texts("value_ratio", ratio[:, index], NO_VALUES, **labels)
        for name, values in by_query_head.items():
            for head in range(values.shape[2]):
                rows += over_texts(name, values[:, index, head], head=head, **labels)
            rows += over_texts(name, values[:, index].mean(axis=1), **labels)
    for name, values in (by_key_head | by_query_head).items():
        rows += per_text(name, surveys, values.mean(axis=(1, 2)), values[0].size)
    rows += per_text("value_ratio", surveys, ratio.mean(axis=1), len(layers), f"{NO_VALUES} in at least one layer")
    return rows


def measure(subject: Subject, options: Options, *, swept_items: int = bos_interventions.SWEPT_ITEMS) -> list[Row]:
    """Return rows of the first token's values over a subject's texts, and of the loss if these values are zeroed."""
    rows = survey_rows(surveys_of(subject, options))
    return rows + bos_interventions.bos_value_rows(subject, options, swept_items=swept_items)
