"""Compare two correlations over the same units, or correlate two series and then their first differences."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from boundpaper.statistics import guards
from boundpaper.statistics.bootstrap import DRAWS, SEED
from boundpaper.statistics.correlations.coefficient import (
    Method,
    check_method,
    coefficient,
    coefficient_fields,
    interval,
)
from boundpaper.statistics.correlations.correlation import correlate
from boundpaper.statistics.estimate import Estimate, join_notes, no, with_note
from boundpaper.statistics.sample import FloatArray, check_confidence, matched

Ends = tuple[float, float]

# Difference of two correlations up to which they are taken to be equal.
ROUNDING_ERROR = 1e-12
# Normal quantile beyond which the level of an interval cannot be distinguished from 1; the search for p stops there.
FARTHEST_QUANTILE = 8.0


def correlation_difference(
    outcome: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    method: Method = "pearson",
    confidence: float = 0.95,
) -> Estimate:
    """Compare how strongly two variables correlate with one outcome over the same units.

    The sign of a variable that falls with the outcome is reversed, so that magnitudes are compared.

    Parameters
    ----------
    outcome, first, second : array_like, shape (n,)
        One value per unit.
    study, comparison, unit, note : str
        Metadata of the row.
    method : {"pearson", "spearman"}
        Coefficient.
    confidence : float
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate` and `effect` are |r(first, outcome)| - |r(second, outcome)| with Zou's interval (`zou_interval`).
        `p_value` is the alpha for which an end of this interval is zero. Both need at least four units. A 95 %
        bootstrap interval would cover too little: .76 to .95 for 7 units, .41 to .74 for 4.

    Raises
    ------
    ValueError
        If lengths differ, values are missing, or method is `kendall`.

    Examples
    --------
    >>> from boundpaper.statistics import correlation_difference
    >>> named = {"study": "beans", "comparison": "light and height", "unit": "plant"}
    >>> row = correlation_difference([1, 2, 3, 4, 5], [1, 2, 3, 5, 4], [3, 1, 2, 5, 4], **named)
    >>> round(row.estimate, 3)
    0.3
    """
    caller = f"correlation_difference {study}/{comparison}"
    _check_covariance(method, caller)
    target, first_values = matched(outcome, first, ("outcome", "first"))
    _, second_values = matched(outcome, second, ("outcome", "second"))
    arms = {"outcome": target, "first": first_values, "second": second_values}
    make_row = partial(
        Estimate, study=study, comparison=comparison, test=f"{method}_difference", unit=unit, n=target.size
    )
    make_row = partial(make_row, effect_name="difference_of_absolute_correlations")
    notes = [note, *guards.zero_variance(arms), *guards.few_distinct(arms)]
    pairs = ((first_values, target), (second_values, target), (first_values, second_values))
    r_first, r_second, r_between = (coefficient(*pair, method) for pair in pairs)
    if r_first is None or r_second is None or r_between is None:
        because = "a correlation is undefined"
        return make_row(note=join_notes(*notes, no("difference", "interval", "statistic", "df", "p", because=because)))
    direction = float(np.sign(r_first) * np.sign(r_second)) or 1.0
    coefficients = abs(r_first), abs(r_second), direction * r_between
    difference = coefficients[0] - coefficients[1]
    ends, reason = zou_interval(*coefficients, target.size, method, confidence)
    if ends is None:
        notes.append(no("interval", "statistic", "df", "p", because=reason))
        return make_row(**coefficient_fields(difference, None), note=join_notes(*notes))
    notes.append("takes the variables for jointly normal")
    notes.append("interval from those of both coefficients and their dependence, inverted for p")
    notes.append(no("statistic", "df", because="p inverts the interval"))
    p_value = _alpha_at_zero(coefficients, target.size, method)
    return make_row(**coefficient_fields(difference, ends), p_value=p_value, note=join_notes(*notes))


def zou_interval(
    r_first: float, r_second: float, r_between: float, n: int, method: Method = "pearson", confidence: float = 0.95
) -> tuple[Ends | None, str]:
    """Return Zou's interval of r_first - r_second, and the reason if there is none.

    The distance from the difference to each end combines the half-widths of both coefficients' intervals and the
    coefficients' correlation (Zou 2007; the correlation is from Olkin & Siotani 1976). Raises ValueError if the
    coefficient is unsupported, or the confidence is not in (0, 1).

    Parameters
    ----------
    r_first, r_second : float
        Coefficients of the two variables with their common outcome.
    r_between : float
        Coefficient of the two variables with each other.
    n : int
        Number of units, at least four.
    method : {"pearson", "spearman"}
        The coefficient. Intervals of Spearman's rho are wider, since ranks have a larger variance.
    confidence : float
        Two-sided level. For normal values and 4 to 40 units, the coverage is between .94 and 1.

    Returns
    -------
    (low, high) or None, reason
        The reason is empty if there is an interval.
    """
    check_confidence(confidence)
    _check_covariance(method, "zou_interval")
    ends = []
    for value in (r_first, r_second):
        value_ends, reason = interval(value, n, method, confidence=confidence)
        if value_ends is None:
            return None, reason
        ends.append(value_ends)
    (low_first, high_first), (low_second, high_second) = ends
    dependence = _coefficient_correlation(r_first, r_second, r_between)

    def reach(a: float, b: float) -> float:
        return math.sqrt(max(0.0, a**2 + b**2 - 2 * dependence * a * b))

    difference = r_first - r_second
    reach_down = reach(r_first - low_first, high_second - r_second)
    reach_up = reach(high_first - r_first, r_second - low_second)
    return (difference - reach_down, difference + reach_up), ""


def _check_covariance(method: Method, caller: str) -> None:
    check_method(method, caller)
    if method == "kendall":
        raise ValueError(f"{caller}: the covariance of two taus is not implemented; use pearson or spearman")


def _coefficient_correlation(r_first: float, r_second: float, r_between: float) -> float:
    """Return the asymptotic correlation of two sample coefficients with a common outcome."""
    unexplained = 1 - r_first**2 - r_second**2 - r_between**2
    product = (r_between - r_first * r_second / 2) * unexplained + r_between**3
    return max(-1.0, min(1.0, product / ((1 - r_first**2) * (1 - r_second**2))))


def _alpha_at_zero(coefficients: tuple[float, float, float], n: int, method: Method) -> float:
    """Return the alpha for which the interval of the difference ends at zero."""
    difference = coefficients[0] - coefficients[1]
    if abs(difference) <= ROUNDING_ERROR:
        return 1.0

    def distance_from_zero(quantile: float) -> float:
        """Return the distance from zero to the interval for a normal quantile; negative if zero is inside."""
        ends, _ = zou_interval(*coefficients, n, method, 1 - 2 * float(stats.norm.sf(quantile)))
        assert ends is not None
        return ends[0] if difference > 0 else -ends[1]

    smallest_z = float(stats.norm.ppf(0.5 + 1e-9))
    if distance_from_zero(FARTHEST_QUANTILE) > 0:
        return 2 * float(stats.norm.sf(FARTHEST_QUANTILE))
    if distance_from_zero(smallest_z) <= 0:
        return 1.0
    return 2 * float(stats.norm.sf(optimize.brentq(distance_from_zero, smallest_z, FARTHEST_QUANTILE, xtol=1e-12)))


def levels_and_differences(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    method: Method = "pearson",
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[Estimate, Estimate]:
    """Correlate two series in order of length: first their levels, and then their first differences.

    The levels of two declining series always correlate; only differences show whether they drop at the same lengths.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Series in order of length.
    study, comparison, unit, note : str
        Metadata of both rows.
    method : {"pearson", "spearman", "kendall"}
        Coefficient.
    draws, seed : int
        Number of draws and random seed of the Monte-Carlo p, which is used above eight points.

    Returns
    -------
    levels, differences : Estimate
        Tests `METHOD_levels`, with a guard since its points are not independent, and `METHOD_first_differences`, with
        n - 1 points.

    Raises
    ------
    ValueError
        If lengths differ or values are missing.

    Examples
    --------
    >>> from boundpaper.statistics import levels_and_differences
    >>> named = {"study": "beans", "comparison": "light and height", "unit": "plant"}
    >>> levels, differences = levels_and_differences([1, 2, 4, 7, 9], [1, 3, 4, 8, 9], **named)
    >>> levels.n, differences.n
    (5, 4)
    """
    x_values, y_values = matched(x, y, ("x", "y"))
    differences = _first_differences(x_values), _first_differences(y_values)
    estimates = []
    for name, pair in (("levels", (x_values, y_values)), ("first_differences", differences)):
        names = (f"x in {name}", f"y in {name}")
        estimate = correlate(
            *pair, method, study=study, comparison=comparison, unit=unit, note=note, names=names, draws=draws, seed=seed
        )
        estimates.append(replace(estimate, test=f"{method}_{name}"))
    dependence = f"{x_values.size} points of one series, two trends correlate in levels"
    levels = guards.attach(estimates[0], guards.guard_note(guards.DEPENDENT_UNITS, dependence))
    return levels, with_note(estimates[1], "changes from one point to the next")


def _first_differences(series: FloatArray) -> FloatArray:
    """Return the first differences, rounded so that changes that differ only by floating-point noise are equal."""
    scale = float(np.max(np.abs(series), initial=0.0)) or 1.0
    return np.asarray(np.round(np.diff(series) / scale, 12) * scale, dtype=np.float64)
