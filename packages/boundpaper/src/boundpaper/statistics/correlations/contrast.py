"""Compare correlations: two that share their units, or of levels against first differences."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from boundpaper.statistics import guards
from boundpaper.statistics.bootstrap import DRAWS, SEED
from boundpaper.statistics.correlations.coefficient import Method, check_method, coefficient, interval
from boundpaper.statistics.correlations.correlation import correlate
from boundpaper.statistics.estimate import Estimate, join_notes, no, with_note
from boundpaper.statistics.sample import FloatArray, check_confidence, matched

Ends = tuple[float, float]

# A difference of two correlations below this is of rounding.
ZERO = 1e-12
# Quantile of the normal distribution from which on a level is no longer told from 1; p are not followed beyond it.
FARTHEST = 8.0


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

    A variable that falls with the outcome has its sign reversed, so that correlations are compared by magnitude.

    Parameters
    ----------
    outcome, first, second : array_like, shape (n,)
        One value of each per unit.
    study, comparison, unit, note : str
        Metadata of the row.
    method : {"pearson", "spearman"}
        Coefficient.
    confidence : float
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate` and `effect` are |r(first, outcome)| - |r(second, outcome)|, with the interval that the intervals of
        both coefficients and their dependence give (`overlapping`), and the p that inverts it. It needs four units. A
        bootstrap over a handful of units covers too little: .76 to .95 for 7 of them, .41 to .74 for 4.

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
    target, one = matched(outcome, first, ("outcome", "first"))
    _, two = matched(outcome, second, ("outcome", "second"))
    arms = {"outcome": target, "first": one, "second": two}
    make_row = partial(
        Estimate, study=study, comparison=comparison, test=f"{method}_difference", unit=unit, n=target.size
    )
    make_row = partial(make_row, effect_name="difference_of_absolute_correlations")
    notes = [note, *guards.zero_variance(arms), *guards.few_distinct(arms)]
    pairs = ((one, target), (two, target), (one, two))
    r_first, r_second, r_between = (coefficient(*pair, method) for pair in pairs)
    if r_first is None or r_second is None or r_between is None:
        because = "a correlation is undefined"
        return make_row(note=join_notes(*notes, no("difference", "interval", "statistic", "df", "p", because=because)))
    turned = float(np.sign(r_first) * np.sign(r_second)) or 1.0
    sizes = abs(r_first), abs(r_second), turned * r_between
    observed = sizes[0] - sizes[1]
    ends, reason = overlapping(*sizes, target.size, method, confidence)
    make_row = partial(make_row, estimate=observed, effect=observed)
    if ends is None:
        return make_row(note=join_notes(*notes, no("interval", "statistic", "df", "p", because=reason)))
    notes.append("takes the variables for jointly normal")
    notes.append("interval from those of both coefficients and their dependence, inverted for p")
    notes.append(no("statistic", "df", because="p inverts the interval"))
    return make_row(
        ci_low=ends[0],
        ci_high=ends[1],
        p_value=_alpha_at_zero(sizes, target.size, method),
        effect_ci_low=ends[0],
        effect_ci_high=ends[1],
        note=join_notes(*notes),
    )


def overlapping(
    r_first: float, r_second: float, r_between: float, n: int, method: Method = "pearson", confidence: float = 0.95
) -> tuple[Ends | None, str]:
    """Give Zou's interval of r_first - r_second, two coefficients with one outcome, or the reason why there is none.

    Each end lies as far from the difference as the intervals of both coefficients reach together, less what their
    dependence takes off (Zou 2007; the correlation of the coefficients after Olkin & Siotani 1976). Raises ValueError
    if the coefficient is another, or the confidence is not within (0, 1).

    Parameters
    ----------
    r_first, r_second : float
        Coefficients of the two variables with the outcome that they share.
    r_between : float
        Coefficient of the two variables.
    n : int
        Units, at least four.
    method : {"pearson", "spearman"}
        Whose intervals are combined; those of Spearman's rho take the ranks' larger variance.
    confidence : float
        Two-sided level. Over normal values the interval covers between .94 and 1 of 4 to 40 units.

    Returns
    -------
    (low, high) or None, reason
        The reason is empty where there is an interval.
    """
    check_confidence(confidence)
    _check_covariance(method, "overlapping")
    ends = []
    for value in (r_first, r_second):
        own, reason = interval(value, n, method, confidence=confidence)
        if own is None:
            return None, reason
        ends.append(own)
    (low_first, high_first), (low_second, high_second) = ends
    dependence = _coefficient_correlation(r_first, r_second, r_between)

    def reach(one: float, two: float) -> float:
        return math.sqrt(max(0.0, one**2 + two**2 - 2 * dependence * one * two))

    difference = r_first - r_second
    down = reach(r_first - low_first, high_second - r_second)
    up = reach(high_first - r_first, r_second - low_second)
    return (difference - down, difference + up), ""


def _check_covariance(method: Method, caller: str) -> None:
    check_method(method, caller)
    if method == "kendall":
        raise ValueError(f"{caller}: the covariance of two taus is not implemented; use pearson or spearman")


def _coefficient_correlation(r_first: float, r_second: float, r_between: float) -> float:
    """Give the correlation of two sample coefficients that share the outcome, in large samples."""
    explained = 1 - r_first**2 - r_second**2 - r_between**2
    shared = (r_between - r_first * r_second / 2) * explained + r_between**3
    return max(-1.0, min(1.0, shared / ((1 - r_first**2) * (1 - r_second**2))))


def _alpha_at_zero(sizes: tuple[float, float, float], n: int, method: Method) -> float:
    """Give the alpha at which the interval of the difference ends at zero."""
    difference = sizes[0] - sizes[1]
    if abs(difference) <= ZERO:
        return 1.0

    def room(quantile: float) -> float:
        """Give the distance of the interval from zero at a quantile of the normal distribution."""
        ends, _ = overlapping(*sizes, n, method, 1 - 2 * float(stats.norm.sf(quantile)))
        assert ends is not None
        return ends[0] if difference > 0 else -ends[1]

    least = float(stats.norm.ppf(0.5 + 1e-9))
    if room(FARTHEST) > 0:
        return 2 * float(stats.norm.sf(FARTHEST))
    if room(least) <= 0:
        return 1.0
    return 2 * float(stats.norm.sf(optimize.brentq(room, least, FARTHEST, xtol=1e-12)))


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
    """Correlate two series over length in levels and in first differences.

    Two declining series always correlate in levels; only the differences tell whether they drop at the same lengths.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Series in order of length.
    study, comparison, unit, note : str
        Metadata of both rows.
    method : {"pearson", "spearman", "kendall"}
        Coefficient.
    draws, seed : int
        Of the Monte-Carlo p above eight points.

    Returns
    -------
    levels, differences : Estimate
        Tests `METHOD_levels` (guarded: its points are not independent) and `METHOD_first_differences` with n - 1.

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
    one, two = matched(x, y, ("x", "y"))
    steps = _first_differences(one), _first_differences(two)
    rows = []
    for name, (left, right) in (("levels", (one, two)), ("first_differences", steps)):
        estimate = correlate(
            left,
            right,
            method,
            study=study,
            comparison=comparison,
            unit=unit,
            note=note,
            names=(f"x in {name}", f"y in {name}"),
            draws=draws,
            seed=seed,
        )
        rows.append(replace(estimate, test=f"{method}_{name}"))
    levels = guards.attach(
        rows[0],
        guards.raised(guards.DEPENDENT_UNITS, f"{one.size} points of one series, two trends correlate in levels"),
    )
    return levels, with_note(rows[1], "changes from one point to the next")


def _first_differences(series: FloatArray) -> FloatArray:
    """Give the first differences; equal changes come out exactly equal although subtraction rounds."""
    scale = float(np.max(np.abs(series), initial=0.0)) or 1.0
    return np.asarray(np.round(np.diff(series) / scale, 12) * scale, dtype=np.float64)
