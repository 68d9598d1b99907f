"""Compute standardised differences of means and their noncentral-t intervals.

Definitions (Lakens 2013): d_z divides the mean difference of pairs by the standard deviation of the differences;
d_s divides the difference of two independent means by their pooled standard deviation; Hedges' g is d_s without its
small-sample bias. Standard deviations use ddof = 1 throughout.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from boundpaper.statistics.estimate import finite
from boundpaper.statistics.noncentral import noncentrality_interval
from boundpaper.statistics.sample import FloatArray, at_unit_scale, is_constant, sample

Ends = tuple[float, float]


def d_z(differences: npt.ArrayLike) -> float | None:
    """Return mean / sd (ddof 1) of paired differences; None for fewer than two pairs or without variance.

    Parameters
    ----------
    differences : array_like, shape (n,)
        Differences of pairs, in any unit.

    Raises
    ------
    ValueError
        If values are missing.

    Examples
    --------
    >>> from boundpaper.statistics import d_z
    >>> round(d_z([1.0, 2.0, 3.0]), 3)
    2.0
    """
    array = at_unit_scale(sample(differences, "differences"))
    return None if is_constant(array) else float(array.mean() / array.std(ddof=1))


def pooled_sd(sd_first: float, n_first: int, sd_second: float, n_second: int) -> float:
    """Return the pooled standard deviation of two groups, each sd with ddof = 1.

    Raises ValueError if a group has fewer than one unit, both together fewer than three, or an sd is negative.
    """
    if min(n_first, n_second) < 1 or n_first + n_second < 3:
        raise ValueError(f"pooled_sd: groups of {n_first} and {n_second} units; at least 3 units are needed in total")
    if sd_first < 0 or sd_second < 0:
        raise ValueError(f"pooled_sd: standard deviations {sd_first} and {sd_second}; none may be negative")
    squares = (n_first - 1) * sd_first**2 + (n_second - 1) * sd_second**2
    return math.sqrt(squares / (n_first + n_second - 2))


def d_s(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Return (mean of first - mean of second) / pooled sd; None if both are constant or one has fewer than two values.

    Parameters
    ----------
    first, second : array_like, shapes (n,) and (m,)
        Values of the two groups, in the same unit.

    Raises
    ------
    ValueError
        If values are missing.

    Examples
    --------
    >>> from boundpaper.statistics import d_s
    >>> round(d_s([3.0, 4.0, 5.0], [1.0, 2.0, 3.0]), 3)
    2.0
    """
    a, b = sample(first, "first"), sample(second, "second")
    if min(a.size, b.size) < 2 or (is_constant(a) and is_constant(b)):
        return None
    return d_s_from_stats(float(a.mean()), sample_sd(a), a.size, float(b.mean()), sample_sd(b), b.size)


def d_s_from_stats(
    mean_first: float, sd_first: float, n_first: int, mean_second: float, sd_second: float, n_second: int
) -> float | None:
    """Return d_s from means, standard deviations (ddof 1) and sizes; None when both deviations are zero."""
    sd = pooled_sd(sd_first, n_first, sd_second, n_second)
    return finite((mean_first - mean_second) / sd) if sd > 0 else None


def hedges_factor(df: float) -> float:
    """Return the exact small-sample correction J(df) that converts d to g (Hedges 1981, eq. 6e).

    J = Gamma(df/2) / (sqrt(df/2) Gamma((df-1)/2)), about 1 - 3/(4 df - 1). Raises ValueError unless df is above 1,
    since otherwise the mean of d does not exist.
    """
    if df <= 1:
        raise ValueError(f"hedges_factor: df is {df}; the correction needs more than 1")
    return math.exp(float(special.gammaln(df / 2) - special.gammaln((df - 1) / 2))) / math.sqrt(df / 2)


def hedges_g(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Return Hedges' g, J(n1 + n2 - 2) times d_s; None if d_s is undefined.

    Parameters
    ----------
    first, second : array_like, shapes (n,) and (m,)
        Values of the two groups, in the same unit.

    Raises
    ------
    ValueError
        If values are missing.

    Examples
    --------
    >>> from boundpaper.statistics import hedges_g
    >>> round(hedges_g([3.0, 4.0, 5.0], [1.0, 2.0, 3.0]), 3)
    1.596
    """
    value = d_s(first, second)
    return None if value is None else value * hedges_factor(np.size(first) + np.size(second) - 2)


def d_z_interval(t: float, n: int, confidence: float = 0.95) -> Ends | None:
    """Return the interval of d_z from the paired t of n pairs: the interval of the noncentrality divided by sqrt(n)."""
    ends = noncentrality_interval(t, n - 1, confidence)
    return None if ends is None else (ends[0] / math.sqrt(n), ends[1] / math.sqrt(n))


def d_s_interval(effect: float, n_first: int, n_second: int, confidence: float = 0.95) -> Ends | None:
    """Return the interval of d_s for equal variances, from t = d_s sqrt(n1 n2 / (n1 + n2)) with n1 + n2 - 2 df."""
    scale = math.sqrt(n_first * n_second / (n_first + n_second))
    ends = noncentrality_interval(effect * scale, n_first + n_second - 2, confidence)
    return None if ends is None else (ends[0] / scale, ends[1] / scale)


def sample_sd(values: FloatArray) -> float:
    """Return the standard deviation (ddof 1); zero for one unit or if the spread is floating-point noise."""
    return 0.0 if is_constant(values) else float(values.std(ddof=1))
