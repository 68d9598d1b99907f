"""Correlate two variables over a few units: coefficient, interval, permutation p-value, leave-one-out range.

The permutation p counts all n! relabelings up to n = 8, and seeded random relabelings above. Spearman's rho correlates
ranks, with ties at their mean rank, and Kendall's tau is tau-b.
"""

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from boundpaper.statistics import guards
from boundpaper.statistics.bootstrap import DRAWS, SEED
from boundpaper.statistics.correlations.coefficient import (
    SYMBOL,
    Method,
    check_method,
    coefficient,
    coefficient_fields,
    interval,
    relabelled,
    t_statistic,
    tie_tolerance,
)
from boundpaper.statistics.estimate import Estimate, join_notes, no, one_sided_note
from boundpaper.statistics.locations.permutation import permutation_p
from boundpaper.statistics.locations.student import t_p
from boundpaper.statistics.power import SMALL_N, detectable_note, smallest_correlation
from boundpaper.statistics.sample import Alternative, check_alternative, is_constant, matched


def pearson(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    names: tuple[str, str] = ("x", "y"),
    p: Literal["permutation", "t"] = "permutation",
    alternative: Alternative = "two-sided",
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Estimate:
    """Correlate x and y by Pearson's r.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        One value of each per unit.
    study, comparison, unit, note : str
        Metadata of the row.
    names : tuple of str
        Names of x and y in guards and errors.
    p : {"permutation", "t"}
        `permutation` (test `pearson`): exact up to n = 8, Monte-Carlo above. `t` (test `pearson_t`): Student's t with
        n - 2 degrees of freedom, for normal x and y.
    alternative : {"two-sided", "greater", "less"}
        A one-sided p, which the note states, requires a direction chosen before seeing the data.
    draws, seed : int
        Number of draws and random seed of the Monte-Carlo p.
    confidence : float
        Level of Fisher's interval.

    Returns
    -------
    Estimate
        `estimate` and `effect` are r with Fisher's interval (empty with a reason for n <= 3 or |r| = 1); `statistic` is
        t and `df` is n - 2 for either p.

    Raises
    ------
    ValueError
        If x and y differ in length or have missing values, or `p` or `alternative` is unknown.

    Examples
    --------
    >>> from boundpaper.statistics import pearson
    >>> row = pearson([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], study="beans", comparison="light and height", unit="plant")
    >>> round(row.estimate, 3), round(row.p_value, 3)
    (0.8, 0.133)
    """
    return correlate(
        x, y, "pearson", study=study, comparison=comparison, unit=unit, note=note, names=names, p=p,
        alternative=alternative, draws=draws, seed=seed, confidence=confidence,
    )  # fmt: skip


def spearman(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    names: tuple[str, str] = ("x", "y"),
    alternative: Alternative = "two-sided",
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Estimate:
    """Correlate the ranks of x and y (Spearman's rho), with Bonett and Wright's interval.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        One value of each per unit.
    study, comparison, unit, note : str
        Metadata of the row.
    names : tuple of str
        Names of x and y in guards and errors.
    alternative : {"two-sided", "greater", "less"}
        Which side of the null distribution p counts.
    draws, seed : int
        Number of draws and random seed of the Monte-Carlo p.
    confidence : float
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate` and `effect` are rho with its interval; `statistic` and `df` are empty, since the test is of rho.

    Raises
    ------
    ValueError
        If x and y differ in length or have missing values.

    Examples
    --------
    >>> from boundpaper.statistics import spearman
    >>> named = {"study": "beans", "comparison": "light and height", "unit": "plant"}
    >>> round(spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 9], **named).estimate, 3)
    0.8
    """
    return correlate(
        x, y, "spearman", study=study, comparison=comparison, unit=unit, note=note, names=names,
        alternative=alternative, draws=draws, seed=seed, confidence=confidence,
    )  # fmt: skip


def kendall(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    names: tuple[str, str] = ("x", "y"),
    alternative: Alternative = "two-sided",
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Estimate:
    """Correlate x and y by Kendall's tau-b, with an interval from Fieller's variance (n > 4).

    A Monte-Carlo p takes draws * n^2 / 2 steps: lower `draws` for more than a few hundred units.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        One value of each per unit.
    study, comparison, unit, note : str
        Metadata of the row.
    names : tuple of str
        Names of x and y in guards and errors.
    alternative : {"two-sided", "greater", "less"}
        Which side of the null distribution p counts.
    draws, seed : int
        Number of draws and random seed of the Monte-Carlo p.
    confidence : float
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate` and `effect` are tau-b with its interval; `statistic` and `df` are empty, since the test is of tau-b.

    Raises
    ------
    ValueError
        If x and y differ in length or have missing values.

    Examples
    --------
    >>> from boundpaper.statistics import kendall
    >>> named = {"study": "beans", "comparison": "light and height", "unit": "plant"}
    >>> round(kendall([1, 2, 3, 4, 5], [2, 1, 4, 3, 9], **named).estimate, 3)
    0.6
    """
    return correlate(
        x, y, "kendall", study=study, comparison=comparison, unit=unit, note=note, names=names,
        alternative=alternative, draws=draws, seed=seed, confidence=confidence,
    )  # fmt: skip


def correlate(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    method: Method,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    names: tuple[str, str] = ("x", "y"),
    p: Literal["permutation", "t"] = "permutation",
    alternative: Alternative = "two-sided",
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Estimate:
    """Correlate x and y by the coefficient `method`; see `pearson`, `spearman` and `kendall`.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        One value of each per unit.
    method : {"pearson", "spearman", "kendall"}
        The coefficient.
    study, comparison, unit, note : str
        Metadata of the row.
    names : tuple of str
        Names of x and y in guards and errors.
    p : {"permutation", "t"}
        How p is computed; `t` is only for `pearson`.
    alternative : {"two-sided", "greater", "less"}
        Which side of the null distribution p counts.
    draws, seed : int
        Number of draws and random seed of the Monte-Carlo p.
    confidence : float
        Level of the interval.

    Returns
    -------
    Estimate
        The row that the function named `method` returns.

    Raises
    ------
    ValueError
        If the coefficient is unknown, x and y differ in length, or values are missing.

    Examples
    --------
    >>> from boundpaper.statistics import correlate
    >>> named = {"study": "beans", "comparison": "light and height", "unit": "plant"}
    >>> correlate([1, 2, 3, 4, 5], [2, 1, 4, 3, 9], "kendall", **named).test
    'kendall'
    """
    caller = f"correlate {study}/{comparison}"
    check_method(method, caller)
    check_alternative(alternative, caller)
    if p not in ("permutation", "t"):
        raise ValueError(f"{caller}: unknown p {p!r}; choose permutation or t")
    if p == "t" and method != "pearson":
        raise ValueError(f"{method} {study}/{comparison}: p='t' is only for pearson; use p='permutation'")
    x_values, y_values = matched(x, y, names)
    arms = {names[0]: x_values, names[1]: y_values}
    n, symbol = x_values.size, SYMBOL[method]
    test = f"{method}_t" if p == "t" else method
    make_row = partial(Estimate, study=study, comparison=comparison, test=test, unit=unit, n=n, effect_name=symbol)
    notes = [note, *guards.zero_variance(arms), *guards.few_distinct(arms)]
    if confidence != 0.95:
        notes.append(f"{100 * confidence:g} % interval")
    value = coefficient(x_values, y_values, method)
    if value is None:
        constant = [name for name, values in arms.items() if is_constant(values)]
        because = f"n = {n}" if n < 2 else f"no variance in {' and '.join(constant)}"
        notes.append(no(symbol, "interval", "statistic", "df", "p", because=because))
        return make_row(note=join_notes(*notes))

    ends, reason = interval(value, n, method, confidence=confidence)
    if ends is None:
        notes.append(no("interval", because=reason))
    statistic, df, p_value = None, None, None
    if method == "pearson":
        df = n - 2
        statistic = t_statistic(value, df)
        if statistic is None:
            because = "n = 2 leaves no degree of freedom" if df < 1 else "|r| is 1"
            notes.append(no("statistic", because=because))
        if 4 <= n <= SMALL_N:
            notes.append(detectable_note("|r|", smallest_correlation(n), n))
    else:
        notes.append(no("statistic", "df", because=f"the test is of {symbol} itself"))
    if p == "t":
        if statistic is not None and df is not None:
            p_value = t_p(statistic, df, alternative)
        else:
            notes.append(no("p", because="there is no t"))
    else:
        outcome = permutation_p(
            value,
            relabelled(x_values, y_values, method),
            [np.arange(n)],
            draws=draws,
            seed=seed,
            cells_per_draw=n * (n - 1) // 2 if method == "kendall" else n,
            tie=tie_tolerance(x_values, y_values, method),
            alternative=alternative,
        )
        p_value = outcome.p_value
        notes += [outcome.note, *guards.smallest_p(outcome.smallest)]
    notes += one_sided_note(alternative)
    fields = coefficient_fields(value, ends)
    return make_row(**fields, statistic=statistic, df=df, p_value=p_value, note=join_notes(*notes))


def leave_one_out(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str,
    note: str = "",
    units: Sequence[str] | None = None,
    method: Method = "pearson",
    draws: int = DRAWS,
    seed: int = SEED,
) -> Estimate:
    """Return the range of a correlation when each unit is left out in turn.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        One value of each per unit.
    study, comparison, unit, note : str
        Metadata of the row.
    units : sequence of str, length n, optional
        Names of the units, for the note; by default positions from 1.
    method : {"pearson", "spearman", "kendall"}
        The coefficient.
    draws, seed : int
        Number of draws and random seed of the Monte-Carlo p, which is used above nine units.

    Returns
    -------
    Estimate
        `estimate` is the coefficient of all units. `effect` is the width of the range, and `effect_ci_low` and
        `effect_ci_high` are its ends, not a confidence interval. `p_value` is the largest permutation p of the n
        leave-one-out correlations, which is small only if the correlation does not depend on a single unit.

    Raises
    ------
    ValueError
        If x, y and `units` differ in length or values are missing.

    Examples
    --------
    >>> from boundpaper.statistics import leave_one_out
    >>> named = {"study": "beans", "comparison": "light and height", "unit": "plant"}
    >>> row = leave_one_out([1, 2, 3, 4, 9], [2, 1, 4, 3, 9], **named)
    >>> round(row.effect_ci_low, 3), round(row.effect_ci_high, 3)
    (0.6, 0.964)
    """
    x_values, y_values = matched(x, y, ("x", "y"))
    n, symbol = x_values.size, SYMBOL[method]
    labels = [str(position + 1) for position in range(n)] if units is None else list(units)
    if len(labels) != n:
        raise ValueError(f"leave_one_out {study}/{comparison}: {n} values but {len(labels)} unit names; give one each")
    full_value = coefficient(x_values, y_values, method)
    make_row = partial(
        Estimate,
        study=study,
        comparison=comparison,
        test=f"{method}_leave_one_out",
        unit=unit,
        n=n,
        estimate=full_value,
        effect_name="leave_one_out_range",
    )
    values: list[tuple[float, str]] = []
    p_values: list[float] = []
    undefined_units: list[str] = []
    for left_out in range(n):
        x_others, y_others = np.delete(x_values, left_out), np.delete(y_values, left_out)
        value = coefficient(x_others, y_others, method)
        if value is None:
            undefined_units.append(labels[left_out])
            continue
        values.append((value, labels[left_out]))
        outcome = permutation_p(
            value,
            relabelled(x_others, y_others, method),
            [np.arange(n - 1)],
            draws=draws,
            seed=seed,
            cells_per_draw=n * n // 2 if method == "kendall" else n,
            tie=tie_tolerance(x_others, y_others, method),
        )
        p_values.append(outcome.p_value)
    notes = [note, no("interval", "statistic", "df", because="a range, not a test of its own")]
    if full_value is None:
        notes.append(no(symbol, because=f"n = {n}" if n < 2 else "x or y has no variance"))
    if undefined_units:
        notes.append(f"undefined without {', '.join(undefined_units)}")
    if not values:
        notes.append(no("range", "p", because="no leave-one-out correlation is defined"))
        return make_row(note=join_notes(*notes))
    (low, without_low), (high, without_high) = min(values), max(values)
    notes.append(f"effect is the leave-one-out range: lowest without {without_low}, highest without {without_high}")
    notes.append("p is the largest of the leave-one-out permutation p")
    return make_row(
        p_value=max(p_values), effect=high - low, effect_ci_low=low, effect_ci_high=high, note=join_notes(*notes)
    )
