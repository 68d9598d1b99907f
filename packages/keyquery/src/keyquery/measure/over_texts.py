"""Make rows from values of several texts, and check that surveys of texts can be combined."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boundpaper.errors import DataError
from keyquery.measure.rows import Row, row
from keyquery.models.surveys.record import TextSurvey

ONE_TEXT = "one text has no spread"


def over_texts(metric: str, values: ArrayLike, reason: str = "undefined in every text", **labels: Any) -> list[Row]:
    """Return two rows: the mean over texts, and the standard deviation (divisor n - 1), whose metric ends in `_sd`.

    `values` has one value per text; NaN values are ignored. `reason` says why there is no mean if all are NaN;
    `labels` may have `condition`, `layer` and `head`.
    """
    text_values = np.asarray(values, dtype=np.float64)
    finite_values = text_values[np.isfinite(text_values)]
    if not len(finite_values):
        return [row(name, None, 0, reason=reason, **labels) for name in (metric, f"{metric}_sd")]
    spread = float(finite_values.std(ddof=1)) if len(finite_values) > 1 else None
    return [
        row(metric, float(finite_values.mean()), len(finite_values), **labels),
        row(f"{metric}_sd", spread, len(finite_values), reason="" if spread is not None else ONE_TEXT, **labels),
    ]


def per_text(
    metric: str, surveys: Sequence[TextSurvey], values: ArrayLike, n: int, reason: str = "undefined", **labels: Any
) -> list[Row]:
    """Return one row per text, so that models can be paired by text; each value averages `n` layers or heads."""
    text_values = np.asarray(values, dtype=np.float64)
    return [
        row(metric, value, n, unit_id=survey.text, reason="" if np.isfinite(value) else reason, **labels)
        for survey, value in zip(surveys, text_values.tolist(), strict=True)
    ]


def checked_surveys(surveys: Sequence[TextSurvey]) -> Sequence[TextSurvey]:
    """Return the surveys after checking that they are of one model with the same settings.

    Raises DataError if there are no surveys, a text is repeated, or models or settings differ.
    """
    if not surveys:
        raise DataError("0 texts were surveyed; give at least 1")
    names = [survey.text for survey in surveys]
    repeated_texts = sorted({name for name in names if names.count(name) > 1})
    if repeated_texts:
        raise DataError(f"text {repeated_texts[0]!r} was surveyed twice; ids of texts must differ")
    shapes = {(survey.norms_q.shape, survey.norms_k.shape, survey.where) for survey in surveys}
    if len(shapes) > 1:
        raise DataError(
            "surveys of different models or settings (pre- and post-rotary) cannot be combined; give one kind"
        )
    return surveys
