"""Experiment 1: how many dimensions of queries, keys and values are massive, and how unequal their norms are.

M[h, d] is the L2 norm over the sequence of dimension d of head h; the dimension is massive if M[h, d] is above lambda
times the mean of M over the layer's heads and dimensions.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keyquery.measure.over_texts import checked_surveys, over_texts, per_text
from keyquery.measure.rows import Row, row
from keyquery.measure.subject import Options, Subject
from keyquery.measure.surveys import surveys as surveys_of
from keyquery.models.surveys.record import TextSurvey

LAMBDAS = (3.0, 4.0, 5.0, 8.0)
TENSORS = ("q", "k", "v")
SETTINGS: dict[str, Any] = {"lambdas": LAMBDAS, "where": "pre"}


def massive_mask(norms: NDArray[Any], threshold: float) -> NDArray[np.bool_]:
    """Return the mask of dimensions whose norm is above `threshold` (lambda) times the mean of their layer.

    `norms` is M of one or several layers, shape (..., H, d).
    """
    exact = norms.astype(np.float64)
    return np.asarray(exact > threshold * exact.mean(axis=(-2, -1), keepdims=True))


def gini(values: NDArray[Any]) -> float:
    """Return the Gini coefficient of values >= 0: 0 if all n are equal, 1 - 1/n if only one is above zero.

    G = sum_i (2 i - n - 1) x_(i) / (n sum x) for x_(i) in ascending order; NaN if all are zero.
    """
    ascending = np.sort(values.astype(np.float64), axis=None)
    n, total = len(ascending), ascending.sum()
    if total <= 0:
        return float("nan")
    return float(((2 * np.arange(1, n + 1) - n - 1) * ascending).sum() / (n * total))


def rows(surveys: Sequence[TextSurvey], lambdas: Sequence[float] = LAMBDAS) -> list[Row]:
    """Return rows of counts by lambda, Gini coefficients and largest ratios, each by layer (over texts) and by text.

    Names of metrics end in the tensor: q, k or v. `massive_q` counts massive dimensions of a layer, `massive_total_q`
    those of the model, and `massive_every_text_q` those that are massive in all texts. `massive_ratio_q` is the mean M
    of massive dimensions relative to the layer's mean M (n: number of massive dimensions, added over texts).
    `largest_ratio_q` is the largest M relative to the layer's mean, by layer, or by text the largest of all layers. The
    condition says whether queries and keys are before or after the rotary embedding. Raises DataError if surveys cannot
    be combined.
    """
    where = checked_surveys(surveys)[0].where
    layers = surveys[0].layers.tolist()
    table: list[Row] = []
    for tensor in TENSORS:
        norms = np.stack([getattr(survey, f"norms_{tensor}") for survey in surveys]).astype(np.float64)
        means = norms.mean(axis=(-2, -1), keepdims=True)
        ratios = np.divide(norms, means, out=np.zeros_like(norms), where=means > 0)  # (texts, L, H, d)
        for threshold in lambdas:
            massive = massive_mask(norms, threshold)
            table += _count_rows(surveys, tensor, f"{where} lambda={threshold:g}", massive, ratios)
        inequality = np.array([[gini(layer) for layer in text] for text in norms])
        largest = ratios.max(axis=(-2, -1))
        for index, layer in enumerate(layers):
            labels: dict[str, Any] = {"condition": where, "layer": layer, "reason": f"all {tensor} are zero"}
            table += over_texts(f"gini_{tensor}", inequality[:, index], **labels)
            table += over_texts(f"largest_ratio_{tensor}", largest[:, index], **labels)
        table += per_text(f"gini_{tensor}", surveys, inequality.mean(axis=1), len(layers), condition=where)
        table += per_text(f"largest_ratio_{tensor}", surveys, largest.max(axis=1), len(layers), condition=where)
    return table


def _count_rows(
    surveys: Sequence[TextSurvey], tensor: str, condition: str, massive: NDArray[np.bool_], ratios: NDArray[np.float64]
) -> list[Row]:
    counts = massive.sum(axis=(-2, -1))  # (texts, L)
    table: list[Row] = []
    for index, layer in enumerate(surveys[0].layers.tolist()):
        table += over_texts(f"massive_{tensor}", counts[:, index], condition=condition, layer=layer)
    totals = counts.sum(axis=1)
    table += over_texts(f"massive_total_{tensor}", totals, condition=condition)
    table += per_text(f"massive_total_{tensor}", surveys, totals, counts.shape[1], condition=condition)
    in_all_texts = int(massive.all(axis=0).sum())
    table.append(row(f"massive_every_text_{tensor}", in_all_texts, len(surveys), condition=condition))
    values = ratios[massive]
    reason = "" if len(values) else f"no dimension of {tensor} passes lambda in any text"
    mean = float(values.mean()) if len(values) else None
    table.append(row(f"massive_ratio_{tensor}", mean, len(values), condition=condition, reason=reason))
    return table


def measure(
    subject: Subject, options: Options, lambdas: Sequence[float] = LAMBDAS, where: Literal["pre", "post"] = "pre"
) -> list[Row]:
    """Return rows of massive values on a subject's texts."""
    return rows(surveys_of(subject, options, where=where), lambdas)
