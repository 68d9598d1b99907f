"""Compute the noncentral t distribution: its tails, and the interval of its noncentrality."""

import math
import warnings
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
from scipy import optimize, special, stats

from boundpaper.statistics.sample import FloatArray, check_confidence

# Beyond this noncentrality the far tail is below Phi(-7) = 1.3e-12, and the series of scipy may give NaN.
FAR_NONCENTRALITY = 7.0

# Up to this noncentrality `special.nctdtr`, which is faster than `stats.nct`, is exact to all digits.
LARGE_NONCENTRALITY = 1000.0

# Up to these degrees of freedom the chi distribution is so wide that few nodes average over the normal variate.
WIDE_CHI_DF = 2000.0
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(20)

# Maximum number of times that the search for an end of the interval doubles its step.
MAX_DOUBLINGS = 40


def tail_above(t: float, df: float, delta: npt.ArrayLike) -> FloatArray:
    """Return P(T > t) of the noncentral t with noncentrality `delta` (any shape).

    If t and delta have opposite signs and |delta| > 7, the far tail is set to zero: T has the sign of a normal variate
    with mean delta, so the tail is below Phi(-|delta|).
    """
    shift = np.asarray(delta, dtype=np.float64)
    # P(-T < -t) is equal and forty times faster, but loses digits for large numbers, and may be NaN
    tail = np.asarray(special.nctdtr(df, -shift, -t), dtype=np.float64)
    is_large = (np.abs(shift) > LARGE_NONCENTRALITY) & (t * shift > 0) & (df <= WIDE_CHI_DF)
    if is_large.any():
        return np.where(is_large, _tail_from_chi(t, df, shift), tail_above(t, df, np.where(is_large, 0.0, shift)))
    is_near = ((t < 0) | (shift >= -FAR_NONCENTRALITY)) & ((t > 0) | (shift <= FAR_NONCENTRALITY))
    if (is_near & (np.isnan(tail) | (np.abs(shift) > LARGE_NONCENTRALITY))).any():
        with np.errstate(all="ignore"), warnings.catch_warnings():
            # "series did not converge" concerns digits that do not matter for an interval
            warnings.simplefilter("ignore", RuntimeWarning)
            tail = np.asarray(stats.nct.sf(t, df, shift), dtype=np.float64)
    tail = np.where((t >= 0) & (shift < -FAR_NONCENTRALITY), 0.0, tail)
    return np.asarray(np.where((t <= 0) & (shift > FAR_NONCENTRALITY), 1.0, tail), dtype=np.float64)


def _tail_from_chi(t: float, df: float, shift: FloatArray) -> FloatArray:
    """Return P(T > t) for a large noncentrality that has the same sign as t.

    For a positive t, T > t if the chi variate divided by the root of df is below (shift + Z) / t, with Z normal. For a
    negative t, it must be above this value. The probability is averaged over Z by Gauss-Hermite quadrature.
    """
    squares = df * ((np.abs(shift)[..., None] + _NODES) / t) ** 2
    probabilities = special.chdtr(df, squares) if t > 0 else special.chdtrc(df, squares)
    return np.asarray(probabilities @ _WEIGHTS / _WEIGHTS.sum(), dtype=np.float64)


def _tail(t: float, df: float, delta: float) -> float:
    """Return `tail_above` of one noncentrality, by a faster scalar function where that function is exact."""
    tail = float(special.nctdtr(df, -delta, -t))
    is_exact = abs(delta) <= FAR_NONCENTRALITY or (abs(delta) <= LARGE_NONCENTRALITY and t * delta > 0)
    return tail if is_exact and not math.isnan(tail) else float(tail_above(t, df, delta))


@lru_cache(maxsize=4096)
def noncentrality_interval(t: float, df: float, confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the interval of the noncentrality parameter of an observed t (Steiger & Fouladi 1997).

    The ends are the noncentralities for which t has tail probability (1 - confidence) / 2 above and below. Return None
    if the distribution function is not accurate enough to find an end.
    """
    tail = (1 - check_confidence(confidence)) / 2
    if not math.isfinite(t) or df <= 0:
        return None
    low = _rising_root(lambda delta: _tail(t, df, delta) - tail, t)
    high = _rising_root(lambda delta: tail - _tail(-t, df, -delta), t)
    if low is None or high is None or low > high:
        return None
    return low, high


def _rising_root(function: Callable[[float], float], start: float) -> float | None:
    """Return the root of an increasing function, or None if the function cannot be evaluated."""
    function, step = cache(function), 1.0 + abs(start)  # each end is evaluated several times
    low = high = start
    for _ in range(MAX_DOUBLINGS):
        at_low, at_high = function(low), function(high)
        if not (math.isfinite(at_low) and math.isfinite(at_high)):
            return None
        if at_low <= 0 <= at_high:
            try:
                root = float(optimize.brentq(function, low, high, xtol=1e-10, rtol=1e-12))
            except ValueError:
                return None  # scipy's distribution function is NaN inside the bracket
            return root if abs(function(root)) < 1e-6 else None
        low, high = (low - step, high) if at_low > 0 else (low, high + step)
        step *= 2
    return None
