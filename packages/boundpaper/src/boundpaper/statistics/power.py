"""Compute power, and the smallest effect that a small sample can detect."""

from functools import lru_cache

import numpy as np
from scipy import optimize, stats

from boundpaper.statistics.noncentral import tail_above
from boundpaper.statistics.sample import FloatArray, check_whole

ALPHA = 0.05
POWER = 0.8

SMALL_N = 15
"""Largest n for which a test notes the smallest effect that it can detect."""
LARGEST_NONCENTRALITY = 200.0
"""Limit of the search: beyond it the power is 1 in every relevant sample."""
DRAWS = 10_000
"""Number of simulated samples, with which the power of the sign-flip test is accurate to half a percent."""
SLICES = 400
"""Number of equally likely slices of the chi-square distribution, with which the power is accurate to three digits."""


def _t_power(noncentrality: float | FloatArray, df: float, alpha: float) -> float:
    critical = float(stats.t.isf(alpha / 2, df))
    return float(np.mean(tail_above(critical, df, noncentrality) + tail_above(critical, df, -noncentrality)))


def paired_power(d_z: float, n: int, alpha: float = ALPHA) -> float:
    """Return the power of a two-sided paired t-test over n pairs when the true effect is `d_z` (Cohen 1988)."""
    _require_units(n, 2, "paired_power")
    return _t_power(abs(d_z) * np.sqrt(n), n - 1, alpha)


def pooled_power(d_s: float, n_first: int, n_second: int, alpha: float = ALPHA) -> float:
    """Return the power of a two-sided pooled t-test of two independent groups when the true effect is `d_s`."""
    _require_units(min(n_first, n_second), 2, "pooled_power")
    scale = np.sqrt(n_first * n_second / (n_first + n_second))
    return _t_power(abs(d_s) * scale, n_first + n_second - 2, alpha)


def correlation_power(rho: float, n: int, covariates: int = 0, alpha: float = ALPHA) -> float:
    """Return the power of the two-sided t-test of a correlation when the true correlation is `rho`.

    Both variables are normal, and `covariates` is the number k of variables held fixed. Given x, the statistic is
    noncentral t with noncentrality rho / sqrt(1 - rho^2) * sqrt(S). S, the sum of squares of standardised x, is
    chi-square with n - 1 - k degrees of freedom, and the power is the mean over S (Sampson 1974), without simulation
    or Fisher's approximation. Raises ValueError if n - 2 - k < 1 or |rho| >= 1.
    """
    _require_units(n - covariates, 3, "correlation_power")
    if not abs(rho) < 1:
        raise ValueError(f"correlation_power: rho is {rho}; give a correlation strictly between -1 and 1")
    squares = stats.chi2.ppf((np.arange(SLICES) + 0.5) / SLICES, n - 1 - covariates)
    return _t_power(abs(rho) / np.sqrt(1 - rho**2) * np.sqrt(squares), n - 2 - covariates, alpha)


@lru_cache(maxsize=256)
def smallest_d_z(n: int, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the smallest |d_z| that n pairs detect with the given power.

    Parameters
    ----------
    n : int
        Number of pairs, 2 or more.
    power : float
        Probability of detection.
    alpha : float
        Level of the two-sided test.

    Raises
    ------
    ValueError
        If there are too few units for the test.

    Examples
    --------
    >>> from boundpaper.statistics import smallest_d_z
    >>> round(smallest_d_z(8), 2)
    1.16
    """
    largest = LARGEST_NONCENTRALITY / np.sqrt(n)
    return float(optimize.brentq(lambda d: paired_power(d, n, alpha) - power, 0.0, largest, xtol=1e-6))


@lru_cache(maxsize=256)
def smallest_d_flips(n: int, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """Return the smallest |d_z|, to two decimals, that n pairs detect by sign flips; None if p cannot reach alpha.

    The power is simulated with `DRAWS` normal samples from a fixed seed, with all 2^n flips of each (Fisher 1935).

    Parameters
    ----------
    n : int
        Number of pairs, at most 15.
    power, alpha : float
        Probability of detection, and level of the two-sided test.

    Raises
    ------
    ValueError
        If `n` is below 1 or above 15.

    Examples
    --------
    >>> from boundpaper.statistics import smallest_d_flips
    >>> smallest_d_flips(8)
    1.19
    """
    _require_units(n, 1, "smallest_d_flips")
    if n > SMALL_N:
        raise ValueError(f"smallest_d_flips: 2^{n} flips are too many to count; give at most {SMALL_N} pairs")
    if 2.0 / 2**n > alpha:
        return None
    noise = np.random.default_rng(0).normal(size=(DRAWS, n))
    # half of the flips, since the negative of each flip has the same absolute sum
    signs = 1.0 - 2.0 * ((np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1)
    noise_sums, sign_sums = noise @ signs.T, signs.sum(axis=1)

    def missing_power(d: float) -> float:
        sums = np.abs(noise_sums + d * sign_sums)
        p_values = (sums >= sums[:, :1] - 1e-9).mean(axis=1)
        return power - float((p_values <= alpha + 1e-12).mean())

    return round(float(optimize.bisect(missing_power, 0.0, LARGEST_NONCENTRALITY, xtol=1e-4)), 2)


@lru_cache(maxsize=256)
def smallest_d_s(n_first: int, n_second: int, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the smallest |d_s| that two independent groups detect with the given power.

    Parameters
    ----------
    n_first, n_second : int
        Number of units in each group, 2 or more.
    power : float
        Probability of detection.
    alpha : float
        Level of the two-sided test.

    Raises
    ------
    ValueError
        If there are too few units for the test.

    Examples
    --------
    >>> from boundpaper.statistics import smallest_d_s
    >>> round(smallest_d_s(8, 8), 2)
    1.51
    """
    largest = LARGEST_NONCENTRALITY / np.sqrt(n_first * n_second / (n_first + n_second))
    return float(optimize.brentq(lambda d: pooled_power(d, n_first, n_second, alpha) - power, 0.0, largest, xtol=1e-6))


@lru_cache(maxsize=256)
def smallest_correlation(n: int, covariates: int = 0, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the smallest |r| that n units detect with the given power, with k covariates held fixed.

    Parameters
    ----------
    n : int
        Number of units.
    covariates : int
        Number k of variables held fixed.
    power : float
        Probability of detection.
    alpha : float
        Level of the two-sided test.

    Raises
    ------
    ValueError
        If there are too few units for the test.

    Examples
    --------
    >>> from boundpaper.statistics import smallest_correlation
    >>> round(smallest_correlation(13), 2)
    0.69
    """
    return float(
        optimize.brentq(lambda r: correlation_power(r, n, covariates, alpha) - power, 0.0, 1 - 1e-9, xtol=1e-6)
    )


def detectable_note(name: str, smallest: float, n: int) -> str:
    """Return a note on the smallest detectable effect; empty above n = 15, where it is not needed."""
    return f"80 % power at 0.05 needs {name} of {smallest:.2f} or more" if n <= SMALL_N else ""


def _require_units(units: int, fewest: int, caller: str) -> None:
    check_whole((units,), caller)
    if units < fewest:
        raise ValueError(f"{caller}: {units} units leave no degree of freedom; give at least {fewest}")
