"""Compute correlation coefficients: Pearson's r, Spearman's rho, Kendall's tau-b, and their intervals."""

import math
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from scipy import stats

from boundpaper.statistics.sample import (
    FloatArray,
    IntArray,
    at_unit_scale,
    check_confidence,
    check_whole,
    is_constant,
    levels,
)

Method = Literal["pearson", "spearman", "kendall"]

TIE = 1e-12
"""Rounding error by which the statistics of two relabelings that are equal in exact arithmetic may differ."""

SYMBOL: dict[str, str] = {"pearson": "r", "spearman": "rho", "kendall": "tau_b"}


def scores(values: FloatArray, method: Method) -> FloatArray:
    """Return the values that the coefficient correlates: `values`, or for Spearman's rho their ranks.

    Tied values, which may differ by floating-point noise (see `levels`), have their mean rank.
    """
    return np.asarray(stats.rankdata(levels(values)), dtype=np.float64) if method == "spearman" else values


def check_method(method: str, caller: str) -> None:
    """Raise ValueError that names `caller` if the coefficient is unknown."""
    if method not in get_args(Method):
        raise ValueError(f"{caller}: unknown coefficient {method!r}; choose one of {', '.join(get_args(Method))}")


def standardised(values: FloatArray) -> FloatArray:
    """Return values centred and scaled to unit length, so that a correlation is a dot product; they must vary."""
    values = at_unit_scale(values)
    deviations = values - values.mean()
    # centred twice, since rounding leaves a mean if the values are far from zero
    deviations = at_unit_scale(deviations - deviations.mean())
    return np.asarray(deviations / np.linalg.norm(deviations), dtype=np.float64)


def relabelled(x: FloatArray, y: FloatArray, method: Method) -> Callable[[IntArray], FloatArray]:
    """Return a function that maps indices of shape (m, n) to the m coefficients of `x[index]` with `y`.

    x and y must vary.
    """
    if method == "kendall":
        return _relabelled_tau(x, y)
    x_scores, y_scores = standardised(scores(x, method)), standardised(scores(y, method))

    def products(index: IntArray) -> FloatArray:
        return np.asarray(x_scores[index] @ y_scores, dtype=np.float64)

    return products


def _relabelled_tau(x: FloatArray, y: FloatArray) -> Callable[[IntArray], FloatArray]:
    x_ranks, y_ranks = levels(x), levels(y)
    first, second = np.triu_indices(x.size, 1)
    x_signs = np.sign(x_ranks[:, None] - x_ranks[None, :])
    y_signs = np.sign(y_ranks[first] - y_ranks[second])
    # relabeling keeps ties, and so the denominator of tau-b
    scale = math.sqrt(float(np.count_nonzero(x_signs[first, second])) * float(np.count_nonzero(y_signs)))

    def tau(index: IntArray) -> FloatArray:
        # flat indices, which are faster than pairs of indices
        pair_signs = x_signs.ravel()[index[:, first] * x.size + index[:, second]]
        return np.asarray(pair_signs @ y_signs / scale, dtype=np.float64)

    return tau


def tie_tolerance(x: FloatArray, y: FloatArray, method: Method, sizes: tuple[float, float] | None = None) -> float:
    """Return the largest difference that rounding can cause between coefficients that are equal in exact arithmetic.

    Values have a relative rounding error, which standardising multiplies by magnitude over spread. Kendall's tau only
    rounds one division. If x and y are differences, `sizes` are the largest magnitudes of the values that were
    subtracted; by default they are the magnitudes of x and y.
    """
    if method == "kendall":
        return TIE
    factors = []
    for values, size in zip((scores(x, method), scores(y, method)), sizes or (None, None), strict=True):
        magnitude = float(np.max(np.abs(values))) if size is None else size
        # halving avoids overflow between the largest positive and negative numbers
        factors.append(0.5 * magnitude / float(np.ptp(0.5 * values)))
    return max(TIE, 4 * x.size * float(np.finfo(np.float64).eps) * max(factors))


def coefficient(x: FloatArray, y: FloatArray, method: Method = "pearson") -> float | None:
    """Return the coefficient in [-1, 1], or None with fewer than two units or if x or y has no variance."""
    check_method(method, "coefficient")
    if x.size < 2 or is_constant(x) or is_constant(y):
        return None
    value = float(relabelled(x, y, method)(np.arange(x.size)[None, :])[0])
    # rounding may exceed the range, outside which arctanh and sqrt(1 - r^2) fail
    return max(-1.0, min(1.0, value))


def interval(
    value: float, n: int, method: Method = "pearson", covariates: int = 0, confidence: float = 0.95
) -> tuple[tuple[float, float] | None, str]:
    """Return the interval of a coefficient, computed on Fisher's z scale, and the reason if there is none.

    Raises ValueError if the coefficient is unknown, a count is not whole, or the confidence is not in (0, 1).

    Parameters
    ----------
    value : float
        The coefficient.
    n : int
        Number of units.
    method : {"pearson", "spearman", "kendall"}
        The coefficient. It determines the variance of z: 1 / (n - 3 - k) for Pearson (Fisher 1921), (1 + rho^2 / 2) /
        (n - 3 - k) for Spearman (Bonett & Wright 2000), and 0.437 / (n - 4 - k) for Kendall (Fieller, Hartley &
        Pearson 1957).
    covariates : int
        Number k of variables held fixed.
    confidence : float
        Two-sided level.

    Returns
    -------
    (low, high) or None, reason
        The reason is empty if there is an interval.
    """
    check_confidence(confidence)
    check_method(method, "interval")
    check_whole((n, covariates), "interval")
    lost = covariates + (4 if method == "kendall" else 3)
    if n <= lost:
        covariates_note = f" with {covariates} held fixed" if covariates else ""
        return None, f"n = {n}{covariates_note}, the z interval needs more than {lost}"
    if abs(value) >= 1 - 1e-12:
        return None, f"|{SYMBOL[method]}| is 1"
    variance = {"pearson": 1.0, "spearman": 1 + value**2 / 2, "kendall": 0.437}[method] / (n - lost)
    half = float(stats.norm.isf((1 - confidence) / 2)) * math.sqrt(variance)
    centre = math.atanh(value)
    return (math.tanh(centre - half), math.tanh(centre + half)), ""


def coefficient_fields(value: float, ends: tuple[float, float] | None) -> dict[str, Any]:
    """Return the fields of an Estimate whose estimate and effect are both a coefficient with its interval."""
    low, high = ends or (None, None)
    interval_fields = {"ci_low": low, "ci_high": high, "effect_ci_low": low, "effect_ci_high": high}
    return {"estimate": value, "effect": value, **interval_fields}


def t_statistic(value: float, df: int) -> float | None:
    """Return r sqrt(df / (1 - r^2)), or None if |r| is 1 or there is no degree of freedom."""
    if df < 1 or abs(value) >= 1 - 1e-12:
        return None
    return value * math.sqrt(df / (1 - value**2))
