"""Compare two correlations of one variable, over the same units, by Williams' t and Steiger's z.

Both test whether r(outcome, first) equals r(outcome, second) and assume that the three variables are jointly normal;
`contrast.correlation_difference` computes the interval of the difference, also for ranks.
"""

import math
from functools import partial
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import stats

from boundpaper.statistics import guards
from boundpaper.statistics.correlations.coefficient import coefficient
from boundpaper.statistics.estimate import Estimate, join_notes, no
from boundpaper.statistics.locations.student import t_p
from boundpaper.statistics.sample import matched

DependentTest = Literal["williams", "steiger"]


def williams_t(r_first: float, r_second: float, r_between: float, n: int) -> tuple[float, int] | None:
    """Return Williams' t of r_first - r_second and its degrees of freedom, n - 3 (Williams 1959; Steiger 1980, eq. 7).

    `r_first` and `r_second` are correlations of the two variables with the outcome, and `r_between` is their
    correlation with each other. Return None for fewer than four units, or if the two variables determine the outcome.
    """
    if n < 4:
        return None
    determinant = 1 - r_first**2 - r_second**2 - r_between**2 + 2 * r_first * r_second * r_between
    mean = (r_first + r_second) / 2
    remainder = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_between) ** 3
    if not remainder > 1e-12:
        return None
    return (r_first - r_second) * math.sqrt((n - 1) * (1 + r_between) / remainder), n - 3


def steiger_z(r_first: float, r_second: float, r_between: float, n: int) -> float | None:
    """Return Steiger's z: Fisher's z(r_first) - z(r_second) over its standard error at the mean r (1980, eq. 14).

    Parameters are as in `williams_t`. Return None where `williams_t` does, or if |r| is 1, which has no Fisher's z.
    """
    if n < 4 or max(abs(r_first), abs(r_second)) >= 1 - 1e-12:
        return None
    mean = (r_first + r_second) / 2
    covariance = r_between * (1 - 2 * mean**2) - mean**2 / 2 * (1 - 2 * mean**2 - r_between**2)
    correlation = covariance / (1 - mean**2) ** 2
    if not 1 - correlation > 1e-12:
        return None
    return (math.atanh(r_first) - math.atanh(r_second)) * math.sqrt((n - 3) / (2 - 2 * correlation))


def dependent_correlations(
    outcome: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    test: DependentTest = "williams",
) -> Estimate:
    """Test whether two variables correlate equally strongly with one outcome over the same units.

    The sign of a variable that falls with the outcome is reversed, so that magnitudes are compared.

    Parameters
    ----------
    outcome, first, second : array_like, shape (n,)
        One value per unit.
    study, comparison, unit, note : str
        Metadata of the row.
    test : {"williams", "steiger"}
        Williams' t, which keeps its level in small samples, or Steiger's z.

    Returns
    -------
    Estimate
        `estimate` and `effect` are |r(first, outcome)| - |r(second, outcome)|; `statistic` is t or z, `df` is n - 3 for
        t. There is no interval.

    Raises
    ------
    ValueError
        If lengths differ, values are missing, or the test is unknown.

    Examples
    --------
    >>> from boundpaper.statistics import dependent_correlations
    >>> named = {"study": "beans", "comparison": "light and height", "unit": "plant"}
    >>> row = dependent_correlations([1, 2, 3, 4, 5], [1, 2, 3, 5, 4], [3, 1, 2, 5, 4], **named)
    >>> round(row.p_value, 3)
    0.341
    """
    caller = f"dependent_correlations {study}/{comparison}"
    if test not in get_args(DependentTest):
        raise ValueError(f"{caller}: unknown test {test!r}; choose one of {', '.join(get_args(DependentTest))}")
    target, a = matched(outcome, first, ("outcome", "first"))
    _, b = matched(outcome, second, ("outcome", "second"))
    arms = {"outcome": target, "first": a, "second": b}
    test_name = {"williams": "williams_t", "steiger": "steiger_z"}[test]
    make_row = partial(Estimate, study=study, comparison=comparison, test=test_name, unit=unit, n=target.size)
    make_row = partial(make_row, effect_name="difference_of_absolute_correlations")
    notes = [note, *guards.zero_variance(arms), *guards.few_distinct(arms)]
    r_first, r_second, r_between = (coefficient(*pair) for pair in ((a, target), (b, target), (a, b)))
    if r_first is None or r_second is None or r_between is None:
        because = "a correlation is undefined"
        return make_row(note=join_notes(*notes, no("difference", "interval", "statistic", "df", "p", because=because)))
    direction = float(np.sign(r_first) * np.sign(r_second)) or 1.0
    coefficients = abs(r_first), abs(r_second), direction * r_between
    difference = coefficients[0] - coefficients[1]
    notes += ["correlations by size, takes the variables for jointly normal", no("interval", because="a test only")]
    make_row = partial(make_row, estimate=difference, effect=difference)
    if test == "williams":
        williams = williams_t(*coefficients, target.size)
        if williams is not None:
            return make_row(statistic=williams[0], df=williams[1], p_value=t_p(*williams), note=join_notes(*notes))
    else:
        z = steiger_z(*coefficients, target.size)
        if z is not None:
            notes.append(no("df", because="a normal z"))
            return make_row(statistic=z, p_value=float(2 * stats.norm.sf(abs(z))), note=join_notes(*notes))
    because = f"n = {target.size}" if target.size < 4 else "the correlations leave nothing unexplained"
    return make_row(note=join_notes(*notes, no("statistic", "df", "p", because=because)))
