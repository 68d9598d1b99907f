"""Estimate proportions with Wilson intervals; compare them by McNemar's test (same items) or Fisher's (different)."""

import math
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.stats import contingency

from boundpaper.statistics import guards
from boundpaper.statistics.estimate import Estimate, finite, join_notes, no
from boundpaper.statistics.sample import check_confidence, check_whole

Ends = tuple[float, float]


def wilson_interval(count: int, n: int, confidence: float = 0.95) -> Ends:
    """Return Wilson's score interval of a proportion (Wilson 1927).

    Parameters
    ----------
    count, n : int
        Successes and trials.
    confidence : float
        Two-sided level.

    Raises
    ------
    ValueError
        If n is below 1 or count outside 0..n.

    Examples
    --------
    >>> from boundpaper.statistics import wilson_interval
    >>> [round(end, 3) for end in wilson_interval(3, 8)]
    [0.137, 0.694]
    """
    check_count(count, n, "wilson_interval")
    z = float(stats.norm.isf((1 - check_confidence(confidence)) / 2))
    share = count / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # for count 0 or n an end is exactly 0 or 1, which rounding would miss by an ulp
    low = 0.0 if count == 0 else max(0.0, centre - half)
    high = 1.0 if count == n else min(1.0, centre + half)
    return low, high


def wilson(
    count: int, n: int, *, study: str, comparison: str, unit: str, note: str = "", confidence: float = 0.95
) -> Estimate:
    """Return a proportion with Wilson's interval.

    Parameters
    ----------
    count, n : int
        Successes and trials.
    study, comparison, unit, note : str
        Metadata of the row.
    confidence : float
        Level of the interval.

    Returns
    -------
    Estimate
        Test `wilson`; an interval only.

    Raises
    ------
    ValueError
        If n is below 1 or count outside 0..n.

    Examples
    --------
    >>> from boundpaper.statistics import wilson
    >>> wilson(3, 8, study="beans", comparison="sprouted", unit="bean").estimate
    0.375
    """
    low, high = wilson_interval(count, n, confidence)
    reason = no("statistic", "df", "p", "effect", because="an interval, not a test")
    make_row = partial(Estimate, study=study, comparison=comparison, test="wilson", unit=unit, n=n)
    return make_row(estimate=count / n, ci_low=low, ci_high=high, note=join_notes(note, f"{count} of {n}", reason))


def mcnemar(
    first: npt.ArrayLike, second: npt.ArrayLike, *, study: str, comparison: str, unit: str, note: str = ""
) -> Estimate:
    """Compare two proportions over the same items by the exact McNemar test, given 1 (right) or 0 for each item.

    Parameters
    ----------
    first, second : array_like of 0 and 1, shape (n,)
        Whether each item was right in the first and in the second arm.
    study, comparison, unit, note : str
        Metadata of the row.

    Returns
    -------
    Estimate
        The estimate of `mcnemar_from_counts`.

    Raises
    ------
    ValueError
        If lengths differ, there is no item, or a value is neither 0 nor 1.

    Examples
    --------
    >>> from boundpaper.statistics import mcnemar
    >>> named = {"study": "beans", "comparison": "sun and shade", "unit": "plant"}
    >>> row = mcnemar([1, 1, 1, 0, 1, 1], [0, 0, 1, 0, 0, 0], **named)
    >>> row.p_value
    0.125
    """
    a, b = np.asarray(first), np.asarray(second)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(
            f"mcnemar {study}/{comparison}: shapes {a.shape} and {b.shape}; give one value per item in each arm"
        )
    if not (np.isin(a, (0, 1)).all() and np.isin(b, (0, 1)).all()):
        raise ValueError(f"mcnemar {study}/{comparison}: values other than 0 and 1; count unparsed items as 0")
    a, b = a.astype(bool), b.astype(bool)
    counts = (int(np.sum(is_counted)) for is_counted in (a & b, a & ~b, ~a & b, ~a & ~b))
    return mcnemar_from_counts(*counts, study=study, comparison=comparison, unit=unit, note=note)


def mcnemar_from_counts(
    both: int,
    first_only: int,
    second_only: int,
    neither: int,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
) -> Estimate:
    """Compare two proportions over the same items by the exact McNemar test, from the four counts.

    Parameters
    ----------
    both, first_only, second_only, neither : int
        Items right in both arms, in the first only, in the second only, in neither.
    study, comparison, unit, note : str
        Metadata of the row.

    Returns
    -------
    Estimate
        `estimate` is p_first - p_second with Newcombe's paired square-and-add score interval (Statistics in Medicine
        17:2635, 1998, method 10); `p_value` is of the exact McNemar test, binomial over the discordant items; `effect`
        is the paired odds ratio first_only / second_only with its exact (Clopper-Pearson) interval, empty where
        infinite.

    Raises
    ------
    ValueError
        If a count is negative or all are zero.

    Examples
    --------
    >>> from boundpaper.statistics import mcnemar_from_counts
    >>> row = mcnemar_from_counts(3, 6, 1, 2, study="beans", comparison="sun and shade", unit="plant")
    >>> round(row.p_value, 3)
    0.125
    """
    counts = both, first_only, second_only, neither
    check_whole(counts, f"mcnemar {study}/{comparison}")
    n = sum(counts)
    if min(counts) < 0 or n == 0:
        raise ValueError(f"mcnemar {study}/{comparison}: counts {counts}; give counts of at least 0, not all zero")
    discordant = first_only + second_only
    low, high = _newcombe_paired(both, first_only, second_only, neither)
    make_row = partial(
        Estimate,
        study=study,
        comparison=comparison,
        test="mcnemar_exact",
        unit=unit,
        n=n,
        estimate=(first_only - second_only) / n,
        ci_low=low,
        ci_high=high,
        effect_name="odds_ratio",
    )
    notes = [note, f"{discordant} discordant items", no("statistic", "df", because="exact binomial p")]
    if discordant == 0:
        notes.append(no("odds ratio", "odds-ratio interval", because="no item differs between the arms"))
        return make_row(p_value=1.0, note=join_notes(*notes))
    test = stats.binomtest(first_only, discordant)
    notes += guards.smallest_p(min(1.0, 2 * 0.5**discordant))
    share_ends = clopper_pearson(first_only, discordant)
    odds = first_only / second_only if second_only else None
    odds_low, odds_high = (finite(end / (1 - end)) if end < 1 else None for end in share_ends)
    if odds is None:
        notes.append(no("odds ratio", because="it is infinite, no item is right in the second arm only"))
    if odds_high is None:
        notes.append(no("upper end of the odds ratio", because="it is infinite"))
    return make_row(
        p_value=float(test.pvalue),
        effect=odds,
        effect_ci_low=odds_low,
        effect_ci_high=odds_high,
        note=join_notes(*notes),
    )


def fisher(
    count_first: int,
    n_first: int,
    count_second: int,
    n_second: int,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
) -> Estimate:
    """Compare two proportions over different items by Fisher's exact test.

    Parameters
    ----------
    count_first, n_first, count_second, n_second : int
        Successes and trials of each arm.
    study, comparison, unit, note : str
        Metadata of the row.

    Returns
    -------
    Estimate
        `estimate` is p_first - p_second with Newcombe's hybrid score interval (Statistics in Medicine 17:873, 1998,
        method 10); `p_value` is of Fisher's exact test; `effect` is the conditional odds ratio with its exact interval,
        empty where infinite.

    Raises
    ------
    ValueError
        If a count is outside 0..n of its arm, or an arm is empty.

    Examples
    --------
    >>> from boundpaper.statistics import fisher
    >>> row = fisher(7, 8, 2, 8, study="beans", comparison="sun and shade", unit="plant")
    >>> row.estimate, round(row.p_value, 3)
    (0.625, 0.041)
    """
    check_count(count_first, n_first, f"fisher {study}/{comparison}")
    check_count(count_second, n_second, f"fisher {study}/{comparison}")
    share_first, share_second = count_first / n_first, count_second / n_second
    table = np.array([[count_first, n_first - count_first], [count_second, n_second - count_second]])
    low_first, high_first = wilson_interval(count_first, n_first)
    low_second, high_second = wilson_interval(count_second, n_second)
    difference = share_first - share_second
    notes = [note, f"n = {n_first} + {n_second}", no("statistic", "df", because="Fisher's exact p")]
    notes += guards.smallest_p(_smallest_fisher_p(count_first + count_second, n_first, n_second))
    odds, odds_low, odds_high = None, None, None
    if 0 < count_first + count_second < n_first + n_second:
        ratio = contingency.odds_ratio(table)
        ends = ratio.confidence_interval(0.95)
        odds, odds_low, odds_high = finite(ratio.statistic), finite(ends.low), finite(ends.high)
        if odds is None or odds_high is None:
            notes.append(no("odds ratio or its upper end", because="it is infinite"))
    else:
        notes.append(no("odds ratio", "odds-ratio interval", because="both arms are all right or all wrong"))
    return Estimate(
        study=study,
        comparison=comparison,
        test="fisher_exact",
        unit=unit,
        n=n_first + n_second,
        estimate=difference,
        ci_low=difference - math.hypot(share_first - low_first, high_second - share_second),
        ci_high=difference + math.hypot(high_first - share_first, share_second - low_second),
        p_value=min(1.0, float(stats.fisher_exact(table).pvalue)),
        effect_name="odds_ratio",
        effect=odds,
        effect_ci_low=odds_low,
        effect_ci_high=odds_high,
        note=join_notes(*notes),
    )


def check_count(count: int, n: int, caller: str) -> None:
    """Raise ValueError that names `caller` unless both numbers are whole, n is at least 1, and `count` is in 0..n."""
    check_whole((count, n), caller)
    if n < 1 or not 0 <= count <= n:
        raise ValueError(f"{caller}: {count} of {n}; give at least one trial and a count between 0 and n")


def clopper_pearson(count: int, n: int, confidence: float = 0.95) -> Ends:
    """Return the exact interval of a proportion (Clopper & Pearson 1934, scipy), with at least the stated coverage.

    Parameters
    ----------
    count, n : int
        Successes and trials.
    confidence : float
        Two-sided level.

    Raises
    ------
    ValueError
        If n is below 1 or count outside 0..n.

    Examples
    --------
    >>> from boundpaper.statistics import clopper_pearson
    >>> [round(end, 3) for end in clopper_pearson(3, 8)]
    [0.085, 0.755]
    """
    check_count(count, n, "clopper_pearson")
    ends = stats.binomtest(int(count), int(n)).proportion_ci(check_confidence(confidence), method="exact")
    return float(ends.low), float(ends.high)


def _newcombe_paired(both: int, first_only: int, second_only: int, neither: int) -> Ends:
    n = both + first_only + second_only + neither
    right_first, right_second = both + first_only, both + second_only
    share_first, share_second = right_first / n, right_second / n
    low_first, high_first = wilson_interval(right_first, n)
    low_second, high_second = wilson_interval(right_second, n)
    margins = math.sqrt(right_first * right_second * (n - right_first) * (n - right_second))
    excess = float(both * neither - first_only * second_only)
    if excess > 0:
        # method 10: a positive correlation, which narrows the interval, is shrunk for continuity
        excess = max(0.0, excess - n / 2)
    phi = excess / margins if margins else 0.0
    down_first, up_first = share_first - low_first, high_first - share_first
    down_second, up_second = share_second - low_second, high_second - share_second
    reach_down = math.sqrt(max(0.0, down_first**2 - 2 * phi * down_first * up_second + up_second**2))
    reach_up = math.sqrt(max(0.0, up_first**2 - 2 * phi * up_first * down_second + down_second**2))
    difference = share_first - share_second
    return difference - reach_down, difference + reach_up


def _smallest_fisher_p(hits: int, n_first: int, n_second: int) -> float:
    """Return the smallest p-value of all tables with these margins; the most extreme table has it."""
    low, high = max(0, hits - n_second), min(hits, n_first)
    tables = (np.array([[count, n_first - count], [hits - count, n_second - hits + count]]) for count in (low, high))
    return min(1.0, *(float(stats.fisher_exact(table).pvalue) for table in tables))
