"""Measure how far a profile is from a monotone decline: draw-up, distance from an isotonic fit, number of rises."""

import numpy as np
import numpy.typing as npt
from scipy import optimize

from boundpaper.statistics.rounding import Interval
from boundpaper.statistics.sample import FloatArray, matched, sample


def draw_up(profile: npt.ArrayLike) -> float:
    """Return max over i < j of d_j - d_i, the largest rise from an earlier to a later bin; negative if all steps fall.

    Parameters
    ----------
    profile : array_like, shape (bins,)
        One value per bin, in order.

    Raises
    ------
    ValueError
        For fewer than two bins, or missing values.

    Examples
    --------
    >>> from boundpaper.statistics import draw_up
    >>> draw_up([0.9, 0.7, 0.8, 0.5])
    0.10000000000000009
    """
    values = _checked_values(profile)
    return float((values[1:] - np.minimum.accumulate(values)[:-1]).max())


def draw_up_interval(low: npt.ArrayLike, high: npt.ArrayLike) -> Interval:
    """Return the exact range of the draw-up when each bin is anywhere between its `low` and `high`.

    The upper end is the largest high_j - low_i. The lower end is the smallest c for which d_j - d_i <= c can hold for
    all i < j. It is the largest low_j - high_i if this is at least 0. If this is negative, each step must fall, falls
    add up along the profile, and c is the largest (low_j - high_i) / (j - i).

    Parameters
    ----------
    low, high : array_like, shape (bins,)
        Ends of each bin's range.

    Raises
    ------
    ValueError
        For fewer than two bins, or a low above its high.

    Examples
    --------
    >>> from boundpaper.statistics import draw_up_interval
    >>> draw_up_interval([0.85, 0.65, 0.75], [0.95, 0.75, 0.85])
    Interval(low=0.0, high=0.19999999999999996)
    """
    lows, highs = matched(low, high, ("low", "high"))
    if lows.size < 2 or np.any(lows > highs):
        raise ValueError("rounding intervals: give two bins or more, each with low not above high")
    first, second = np.triu_indices(lows.size, 1)
    least_rises = lows[second] - highs[first]
    lowest = float(least_rises.max())
    if lowest < 0:
        lowest = float((least_rises / (second - first)).max())
    return Interval(lowest, float((highs[second] - lows[first]).max()))


def isotonic_fit(profile: npt.ArrayLike, increasing: bool = False) -> FloatArray:
    """Return the least-squares monotone fit (pool adjacent violators, scipy), declining unless `increasing`."""
    return np.asarray(optimize.isotonic_regression(_checked_values(profile), increasing=increasing).x, dtype=np.float64)


def isotonic_distance(profile: npt.ArrayLike, increasing: bool = False) -> tuple[float, float]:
    """Return the largest absolute and the root-mean-square residual of the isotonic fit.

    Parameters
    ----------
    profile : array_like, shape (bins,)
        One value per bin, in order.
    increasing : bool
        Whether to fit an increasing profile.

    Raises
    ------
    ValueError
        For fewer than two bins, or missing values.

    Examples
    --------
    >>> from boundpaper.statistics import isotonic_distance
    >>> isotonic_distance([0.9, 0.7, 0.8, 0.5])
    (0.050000000000000044, 0.03535533905932741)
    """
    residuals = np.abs(_checked_values(profile) - isotonic_fit(profile, increasing))
    return float(residuals.max()), float(np.sqrt(np.mean(residuals**2)))


def rises(profile: npt.ArrayLike) -> int:
    """Return the number of bins above the preceding bin."""
    return int(np.count_nonzero(np.diff(_checked_values(profile)) > 0))


def _checked_values(values: npt.ArrayLike) -> FloatArray:
    array = sample(values, "profile")
    if array.size < 2:
        raise ValueError(f"profile of {array.size} bins; a trend needs at least two")
    return array
