"""Comparison of correlations: two that share their units, and levels beside first differences."""

from dataclasses import replace
from functools import partial as bind

import numpy as np
import numpy.typing as npt
from scipy import stats

from analysis.statistics import guards
from analysis.statistics.bootstrap import DRAWS, SEED, bootstrap_p, percentile_interval, resamples
from analysis.statistics.coefficient import Method, check_method, coefficient
from analysis.statistics.correlation import correlate
from analysis.statistics.estimate import Estimate, join_notes, no, with_note
from analysis.statistics.sample import NOISE, FloatArray, IntArray, at_unit_scale, levels, matched

# Resamples with fewer different units than this give |r| = 1 whatever the data.
LEAST_UNITS = 3

# Below this share of usable resamples the interval would describe the dropping, not the data.
LEAST_USABLE = 0.5


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
    draws: int = DRAWS,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Estimate:
    """Compare how strongly two variables correlate with one outcome over the same units.

    Parameters
    ----------
    outcome, first, second : array_like, shape (n,)
        One value of each per unit.
    study, comparison, unit, note : str
        Metadata of the row.
    method : {"pearson", "spearman"}
        Coefficient; ranks are taken anew in each resample.
    draws, seed : int
        Bootstrap resamples of units, seed of the generator.
    confidence : float
        Level of the percentile interval.

    Returns
    -------
    Estimate
        `estimate` and `effect` are |r(first, outcome)| - |r(second, outcome)|, with the percentile bootstrap interval
        over units and the p that inverts it. Resamples in which a variable has no variance, or with fewer than three
        different units, are dropped and counted in the note; with more than half of them dropped there is no interval.

    Raises
    ------
    ValueError
        If lengths differ, values are missing, or method is `kendall`.
    """
    place = f"correlation_difference {study}/{comparison}"
    if method == "kendall":
        raise ValueError(f"{place}: bootstrapped tau is tied by its own resampling; use pearson or spearman")
    check_method(method, place)
    target, one = (at_unit_scale(values) for values in matched(outcome, first, ("outcome", "first")))
    two = at_unit_scale(matched(outcome, second, ("outcome", "second"))[1])
    n = target.size
    arms = {"outcome": target, "first": one, "second": two}
    row = bind(
        Estimate,
        study=study,
        comparison=comparison,
        test=f"{method}_difference",
        unit=unit,
        n=n,
        effect_name="difference_of_absolute_correlations",
    )
    notes = [note, *guards.zero_variance(arms), *guards.few_distinct(arms)]
    notes.append(no("statistic", "df", because="bootstrap over units"))
    r_first, r_second = coefficient(one, target, method), coefficient(two, target, method)
    if r_first is None or r_second is None:
        reason = no("difference", "interval", "p", because="a correlation is undefined")
        return row(note=join_notes(*notes, reason))
    observed = abs(r_first) - abs(r_second)
    if method == "spearman":
        # ranks of resampled levels are ranks of resampled values, and ties within rounding stay ties
        target, one, two = (levels(values).astype(np.float64) for values in (target, one, two))
    kept = [
        _absolute_difference(target[index], one[index], two[index], method, index)
        for index in resamples(n, draws, seed)
    ]
    values = np.concatenate(kept)
    dropped = draws - values.size
    notes.append(f"percentile bootstrap, {draws} resamples with seed {seed}, {dropped} degenerate ones dropped")
    if values.size < LEAST_USABLE * draws:
        notes.append(no("interval", "p", because="more than half of the resamples are degenerate"))
        return row(estimate=observed, effect=observed, note=join_notes(*notes))
    low, high = percentile_interval(values, confidence)
    return row(
        estimate=observed,
        ci_low=low,
        ci_high=high,
        p_value=bootstrap_p(values),
        effect=observed,
        effect_ci_low=low,
        effect_ci_high=high,
        note=join_notes(*notes),
    )


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
    """
    one, two = matched(x, y, ("x", "y"))
    steps = _steps(one), _steps(two)
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


def _steps(series: FloatArray) -> FloatArray:
    """Give the first differences, with equal changes exactly equal although subtraction rounds."""
    scale = float(np.max(np.abs(series), initial=0.0)) or 1.0
    return np.asarray(np.round(np.diff(series) / scale, 12) * scale, dtype=np.float64)


def _absolute_difference(
    target: FloatArray, first: FloatArray, second: FloatArray, method: Method, index: IntArray
) -> FloatArray:
    """Give |r1| - |r2| of the resamples (rows) that are not degenerate."""
    distinct = 1 + np.count_nonzero(np.diff(np.sort(index, axis=1), axis=1), axis=1)
    usable = distinct >= LEAST_UNITS
    for series in (target, first, second):
        usable &= np.ptp(series, axis=1) > NOISE * np.max(np.abs(series), axis=1)
    centred = []
    for series in (target, first, second):
        rows = series[usable]
        if method == "spearman" and rows.size:
            rows = np.asarray(stats.rankdata(rows, axis=1), dtype=np.float64)
        centred.append(rows - rows.mean(axis=1, keepdims=True))
    outcome, one, two = centred

    def absolute(rows: FloatArray) -> FloatArray:
        norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(outcome, axis=1)
        return np.asarray(np.abs(np.einsum("ij,ij->i", rows, outcome)) / norms, dtype=np.float64)

    return absolute(one) - absolute(two)
