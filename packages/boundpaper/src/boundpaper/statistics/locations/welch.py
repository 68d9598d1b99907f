"""Run t-tests of two independent groups: Welch's test, from values or from printed moments, and the pooled test."""

import math
from functools import partial
from typing import Literal, get_args

import numpy.typing as npt
from scipy import stats

from boundpaper.statistics import guards
from boundpaper.statistics.effects import d_s, d_s_from_stats, d_s_interval, hedges_factor, sample_sd
from boundpaper.statistics.estimate import Estimate, finite, join_notes, no, one_sided_note
from boundpaper.statistics.locations.student import t_p
from boundpaper.statistics.power import SMALL_N, detectable_note, smallest_d_s
from boundpaper.statistics.sample import (
    Alternative,
    check_alternative,
    check_confidence,
    check_whole,
    is_constant,
    sample,
)

EffectName = Literal["d_s", "hedges_g"]


def welch_t(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    names: tuple[str, str] = ("first", "second"),
    effect: EffectName = "d_s",
    confidence: float = 0.95,
) -> Estimate:
    """Test whether two independent groups with unequal variances have the same mean.

    Parameters
    ----------
    first, second : array_like, shapes (n1,) and (n2,)
        Values of the groups.
    study, comparison, unit, note, names, effect, confidence
        As in `welch_t_from_stats`.

    Returns
    -------
    Estimate
        As in `welch_t_from_stats`, with the guards that need values.

    Raises
    ------
    ValueError
        If a group is empty or has missing values.

    Examples
    --------
    >>> from boundpaper.statistics import welch_t
    >>> named = {"study": "beans", "comparison": "sun and shade", "unit": "plant"}
    >>> row = welch_t([8.1, 9.0, 7.7], [2.2, 3.9, 2.4, 3.0], **named)
    >>> round(row.estimate, 2), round(row.df, 1)
    (5.39, 4.8)
    """
    groups = {name: sample(values, name) for name, values in zip(names, (first, second), strict=True)}
    moments = []
    for name, values in groups.items():
        if values.size == 0:
            raise ValueError(f"welch_t {study}/{comparison}: {name} is empty; omit the comparison or say why in note")
        moments.append((float(values.mean()), sample_sd(values), values.size))
    all_notes = join_notes(note, *guards.zero_variance(groups), *guards.few_distinct(groups))
    return _welch_estimate(
        *moments, study=study, comparison=comparison, unit=unit, note=all_notes, effect=effect, confidence=confidence
    )


def welch_t_from_stats(
    mean_first: float,
    sd_first: float,
    n_first: int,
    mean_second: float,
    sd_second: float,
    n_second: int,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    names: tuple[str, str] = ("first", "second"),
    effect: EffectName = "d_s",
    confidence: float = 0.95,
) -> Estimate:
    """Test whether two independent groups have the same mean, from their printed means, deviations and sizes.

    Parameters
    ----------
    mean_first, sd_first, n_first, mean_second, sd_second, n_second
        Mean, standard deviation (ddof 1) and size of each group.
    study, comparison, unit, note : str
        Metadata of the row.
    names : tuple of str
        Names of the two groups in guards.
    effect : {"d_s", "hedges_g"}
        The standardised difference to report: mean difference over pooled sd (`d_s`), or d_s times J(n1 + n2 - 2).
    confidence : float
        Level of both intervals.

    Returns
    -------
    Estimate
        `estimate` is mean_first - mean_second with its Welch interval, `df` is by Welch and Satterthwaite, and
        `p_value` is that of scipy's `ttest_ind_from_stats(equal_var=False)`. The interval of `effect` is by the
        noncentral t for equal variances; it is empty when an arm has no variance.

    Raises
    ------
    ValueError
        If a number is not finite, an sd negative, or a size below 1 or not whole.

    Examples
    --------
    >>> from boundpaper.statistics import welch_t_from_stats
    >>> row = welch_t_from_stats(8.3, 0.7, 3, 2.9, 0.8, 4, study="beans", comparison="sun and shade", unit="plant")
    >>> round(row.statistic, 2)
    9.5
    """
    numbers = (mean_first, sd_first, mean_second, sd_second)
    if not all(math.isfinite(number) for number in numbers) or min(sd_first, sd_second) < 0:
        raise ValueError(f"welch_t {study}/{comparison}: means and sds {numbers} must be finite and no sd negative")
    check_whole((n_first, n_second), f"welch_t {study}/{comparison}")
    if min(n_first, n_second) < 1:
        raise ValueError(f"welch_t {study}/{comparison}: sizes {n_first} and {n_second}; give at least 1 each")
    arms = {names[0]: (sd_first, n_first), names[1]: (sd_second, n_second)}
    return _welch_estimate(
        (mean_first, sd_first, n_first),
        (mean_second, sd_second, n_second),
        study=study,
        comparison=comparison,
        unit=unit,
        note=join_notes(note, *guards.zero_sd(arms)),
        effect=effect,
        confidence=confidence,
    )


def pooled_t(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    names: tuple[str, str] = ("first", "second"),
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> Estimate:
    """Test whether two independent groups of equal variance have the same mean (Student 1908).

    Parameters
    ----------
    first, second : array_like, shapes (n1,) and (n2,)
        Values of the groups.
    study, comparison, unit, note, names : str
        As in `welch_t_from_stats`.
    alternative : {"two-sided", "greater", "less"}
        A one-sided p, which the note states, requires a direction chosen before seeing the data. Intervals are
        two-sided.
    confidence : float
        Level of both intervals.

    Returns
    -------
    Estimate
        Test `student_t`: the mean difference with its interval, t and p of scipy's `ttest_ind`, and d_s with its
        noncentral-t interval. All but the difference is empty if a group has one unit, or neither group has variance.

    Raises
    ------
    ValueError
        If a group is empty or has missing values, or `alternative` is unknown.

    Examples
    --------
    >>> from boundpaper.statistics import pooled_t
    >>> named = {"study": "beans", "comparison": "sun and shade", "unit": "plant"}
    >>> row = pooled_t([8.1, 9.0, 7.7], [2.2, 3.9, 2.4, 3.0], **named)
    >>> round(row.estimate, 2), row.df
    (5.39, 5.0)
    """
    check_confidence(confidence)
    check_alternative(alternative, f"pooled_t {study}/{comparison}")
    groups = {name: sample(values, name) for name, values in zip(names, (first, second), strict=True)}
    a, b = groups.values()
    if min(a.size, b.size) == 0:
        raise ValueError(f"pooled_t {study}/{comparison}: a group is empty; omit the comparison, or say why in note")
    make_row = partial(Estimate, study=study, comparison=comparison, test="student_t", unit=unit, n=a.size + b.size)
    make_row = partial(make_row, estimate=float(a.mean() - b.mean()), effect_name="d_s")
    notes = [note, f"n = {a.size} + {b.size}", *guards.zero_variance(groups), *guards.few_distinct(groups)]
    effect = d_s(a, b)
    if effect is None:
        because = "a group of one unit" if min(a.size, b.size) < 2 else "neither group has variance"
        return make_row(
            note=join_notes(*notes, no("interval", "statistic", "df", "p", "d_s", "d_s interval", because=because))
        )
    test = stats.ttest_ind(a, b)
    interval = test.confidence_interval(confidence)
    has_constant = is_constant(a) or is_constant(b)
    ends = None if has_constant else d_s_interval(effect, a.size, b.size, confidence)
    if ends is None:
        because = "an arm has no variance" if has_constant else "the noncentral t has no ends here"
        notes.append(no("d_s interval", because=because))
    notes += ["d_s = mean difference over the pooled sd with ddof 1", *one_sided_note(alternative)]
    notes += guards.few_units(min(a.size, b.size), unit)
    df = a.size + b.size - 2
    return make_row(
        ci_low=float(interval.low),
        ci_high=float(interval.high),
        statistic=float(test.statistic),
        df=df,
        p_value=t_p(float(test.statistic), df, alternative),
        effect=effect,
        effect_ci_low=ends[0] if ends else None,
        effect_ci_high=ends[1] if ends else None,
        note=join_notes(*notes),
    )


def _welch_estimate(
    first: tuple[float, float, int],
    second: tuple[float, float, int],
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str,
    effect: EffectName,
    confidence: float,
) -> Estimate:
    check_confidence(confidence)
    if effect not in get_args(EffectName):
        raise ValueError(
            f"welch_t {study}/{comparison}: unknown effect {effect!r}; choose one of {', '.join(get_args(EffectName))}"
        )
    (mean_first, sd_first, n_first), (mean_second, sd_second, n_second) = first, second
    notes = [note, f"n = {n_first} + {n_second}"]
    if confidence != 0.95:
        notes.append(f"{100 * confidence:g} % intervals")
    make_row = partial(
        Estimate,
        study=study,
        comparison=comparison,
        test="welch_t",
        unit=unit,
        n=n_first + n_second,
        estimate=mean_first - mean_second,
        effect_name=effect,
    )
    is_single = min(n_first, n_second) < 2
    if is_single or sd_first == sd_second == 0:
        because = "a group of one unit has no variance estimate" if is_single else "neither group has variance"
        notes.append(no("interval", "statistic", "df", "p", effect, f"{effect} interval", because=because))
        return make_row(note=join_notes(*notes))

    test = stats.ttest_ind_from_stats(mean_first, sd_first, n_first, mean_second, sd_second, n_second, equal_var=False)
    error_first, error_second = sd_first / math.sqrt(n_first), sd_second / math.sqrt(n_second)
    error = math.hypot(error_first, error_second)
    # Satterthwaite's formula in fractions of the variance, which cannot underflow for tiny deviations
    weight = (error_first / error) ** 2
    df = 1 / (weight**2 / (n_first - 1) + (1 - weight) ** 2 / (n_second - 1))
    half = float(stats.t.isf((1 - confidence) / 2, df)) * error
    difference = mean_first - mean_second

    d = d_s_from_stats(*first, *second)
    ends = None if d is None else d_s_interval(d, n_first, n_second, confidence)
    if min(sd_first, sd_second) == 0:
        ends = None
        notes.append(no(f"{effect} interval", because="an arm has no variance"))
    elif ends is None:
        notes.append(no(f"{effect} interval", because="the noncentral t has no finite ends here"))
    factor = hedges_factor(n_first + n_second - 2) if effect == "hedges_g" else 1.0
    definition = "d_s = mean difference over the pooled sd with ddof 1"
    notes.append(definition if effect == "d_s" else f"hedges_g = J d_s, {definition}")
    notes += guards.few_units(min(n_first, n_second), unit)
    if n_first + n_second <= SMALL_N:
        notes.append(detectable_note("|d_s|", smallest_d_s(n_first, n_second), n_first + n_second))
    return make_row(
        ci_low=difference - half,
        ci_high=difference + half,
        statistic=finite(test.statistic),
        df=df,
        p_value=finite(test.pvalue),
        effect=None if d is None else d * factor,
        effect_ci_low=ends[0] * factor if ends else None,
        effect_ci_high=ends[1] * factor if ends else None,
        note=join_notes(*notes),
    )
