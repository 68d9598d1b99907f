"""How far a profile is from declining throughout: draw-up, distance to an isotonic fit, number of rises."""

from collections.abc import Sequence
from functools import partial as bind

import numpy as np
import numpy.typing as npt
from scipy import optimize

from analysis.statistics.bootstrap import SEED, resamples
from analysis.statistics.estimate import Estimate, join_notes, no
from analysis.statistics.rounding import Interval
from analysis.statistics.sample import NOISE, FloatArray, check_confidence, matched, sample

ROUNDING = "bounds are what the printed rounding allows, no confidence interval"


def draw_up(profile: npt.ArrayLike) -> float:
    """Give max over i < j of d_j - d_i, the largest rise from an earlier to a later bin; negative if all decline.

    Raises
    ------
    ValueError
        For fewer than two bins, or missing ones.
    """
    return float(_draw_ups(_profile(profile)[None, :])[0])


def draw_up_interval(low: npt.ArrayLike, high: npt.ArrayLike) -> Interval:
    """Give the exact range of the draw-up when each bin lies anywhere between its `low` and `high`.

    The upper end is the largest high_j - low_i. The lower end c solves the difference constraints d_j - d_i <= c for
    all i < j: the largest low_j - high_i where that is positive or zero; below zero steps add up along the profile, so
    the binding constraint is the largest (low_j - high_i) / (j - i).
    """
    lows, highs = _bounds(low, high)
    first, second = np.triu_indices(lows.size, 1)
    least = lows[second] - highs[first]
    lowest = float(least.max())
    if lowest < 0:
        lowest = float((least / (second - first)).max())
    return Interval(lowest, float((highs[second] - lows[first]).max()))


def isotonic_fit(profile: npt.ArrayLike, increasing: bool = False) -> FloatArray:
    """Give the least-squares monotone fit (pool adjacent violators, scipy), declining unless `increasing`."""
    return np.asarray(optimize.isotonic_regression(_profile(profile), increasing=increasing).x, dtype=np.float64)


def isotonic_distance(profile: npt.ArrayLike, increasing: bool = False) -> tuple[float, float]:
    """Give the largest absolute and the root-mean-square residual of the isotonic fit."""
    residuals = np.abs(_profile(profile) - isotonic_fit(profile, increasing))
    return float(residuals.max()), float(np.sqrt(np.mean(residuals**2)))


def rises(profile: npt.ArrayLike) -> int:
    """Count the bins above the bin before them."""
    return int(np.count_nonzero(np.diff(_profile(profile)) > 0))


def reported_trend(
    values: npt.ArrayLike,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str = "bin",
    note: str = "",
) -> tuple[Estimate, Estimate, Estimate, Estimate]:
    """Describe a printed profile with the bounds that its rounding leaves; no p, as nothing tells its noise.

    Parameters
    ----------
    values, low, high : array_like, shape (n,)
        Printed values and their rounding intervals, in order of position.
    study, comparison, unit, note : str
        Metadata of the rows; n is the number of bins.

    Returns
    -------
    draw_up, isotonic_max, isotonic_rms, rises : Estimate
        Tests `draw_up` (exact bounds), `isotonic_max` and `isotonic_rms` (the fit is nonexpansive in both norms: a
        profile h away is at most 2h and h further from its fit; bounds are outer), `rises` (certain and possible ones).

    Raises
    ------
    ValueError
        If shapes differ, values are missing, there are fewer than two bins, or a value is outside its interval.
    """
    profile = _profile(values)
    lows, highs = _bounds(low, high)
    if lows.size != profile.size or np.any(profile < lows) or np.any(profile > highs):
        raise ValueError(f"reported_trend {study}/{comparison}: a value lies outside its rounding interval")
    off = np.maximum(highs - profile, profile - lows)
    largest, rms = isotonic_distance(profile)
    reach_max, reach_rms = 2 * float(off.max()), float(np.sqrt(np.mean(off**2)))
    up = draw_up_interval(lows, highs)
    rows = (
        ("draw_up", draw_up(profile), up.low, up.high),
        ("isotonic_max", largest, max(0.0, largest - reach_max), largest + reach_max),
        ("isotonic_rms", rms, max(0.0, rms - reach_rms), rms + reach_rms),
        (
            "rises",
            float(rises(profile)),
            float(np.count_nonzero(lows[1:] > highs[:-1])),
            float(np.count_nonzero(highs[1:] > lows[:-1])),
        ),
    )
    reason = no("statistic", "df", "p", "effect", because="a reported profile")
    row = bind(Estimate, study=study, comparison=comparison, unit=unit, n=profile.size)
    made = [
        row(test=test, estimate=value, ci_low=lower, ci_high=upper, note=join_notes(note, ROUNDING, reason))
        for test, value, lower, upper in rows
    ]
    return made[0], made[1], made[2], made[3]


def measured_trend(
    profiles: npt.ArrayLike,
    *,
    study: str,
    comparison: str,
    unit: str = "head",
    note: str = "",
    clusters: Sequence[str] | None = None,
    draws: int = 2000,
    seed: int = SEED,
    confidence: float = 0.95,
) -> Estimate:
    """Test whether the mean profile over heads rises anywhere, against a mean that declines throughout.

    Under the null the mean is its isotonic fit; noise is the heads' residuals around their mean, resampled with whole
    heads (or clusters of heads) at a time, so that the dependence of bins is kept. p = (b+1)/(m+1) of draw-ups of
    fit + resampled mean residual that reach the observed one.

    Parameters
    ----------
    profiles : array_like, shape (heads, bins)
        One profile per head.
    study, comparison, unit, note : str
        Metadata of the row; n is the number of resampled units.
    clusters : sequence of str, length heads, optional
        Resampling units: heads that share their keys belong to one. Default: each head by itself.
    draws, seed : int
        Resamples and seed.
    confidence : float
        Level of the interval.

    Returns
    -------
    Estimate
        Test `draw_up`; `estimate` is the draw-up of the mean profile; its interval adds and subtracts the quantile of
        the resampled noise's range over bins, which bounds the change of any draw-up (a percentile interval would be
        biased upwards, as a maximum over noise is); `effect` is the rms distance to the isotonic fit.

    Raises
    ------
    ValueError
        If the shape is not (heads, bins) with two bins or more, values are missing, or clusters do not match.
    """
    table = np.asarray(profiles, dtype=np.float64)
    place = f"measured_trend {study}/{comparison}"
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2 or not np.isfinite(table).all():
        raise ValueError(f"{place}: profiles have shape {table.shape}; give finite (heads, bins) with two bins or more")
    labels = [str(head) for head in range(len(table))] if clusters is None else list(clusters)
    if len(labels) != len(table):
        raise ValueError(f"{place}: {len(table)} heads but {len(labels)} cluster names; give one per head")
    groups = list(dict.fromkeys(labels))
    member = np.array([groups.index(label) for label in labels])
    sizes = np.bincount(member).astype(np.float64)
    sums = np.zeros((len(groups), table.shape[1]))
    np.add.at(sums, member, table)
    mean = table.mean(axis=0)
    observed = draw_up(mean)
    fit = isotonic_fit(mean)
    rms = float(np.sqrt(np.mean((mean - fit) ** 2)))
    scale = float(np.max(np.abs(mean)))
    row = bind(Estimate, study=study, comparison=comparison, test="draw_up", unit=unit, n=len(groups))
    row = bind(row, estimate=observed, effect_name="isotonic_rms", effect=rms)
    notes = [note, no("statistic", "df", "effect interval", because="p by resampled residuals")]
    if len(groups) < 2:
        return row(note=join_notes(*notes, no("interval", "p", because="a single unit to resample")))
    spans, reached = [], 0
    for index in resamples(len(groups), draws, seed):
        # how often each unit was drawn: a product of small matrices instead of a copy of every profile
        flat = (index + len(groups) * np.arange(len(index))[:, None]).ravel()
        drawn = np.bincount(flat, minlength=index.size).reshape(index.shape).astype(np.float64)
        means = (drawn @ sums) / (drawn @ sizes)[:, None]
        noise = means - mean
        spans.append(np.ptp(noise, axis=1))
        reached += int(np.count_nonzero(_draw_ups(fit + noise) >= observed - NOISE * scale))
    half = float(np.quantile(np.concatenate(spans), check_confidence(confidence)))
    notes.append(f"{draws} resamples of {len(groups)} units ({table.shape[0]} heads) with seed {seed}")
    notes.append("interval from a simultaneous band")
    return row(
        ci_low=observed - half, ci_high=observed + half, p_value=(reached + 1) / (draws + 1), note=join_notes(*notes)
    )


def _draw_ups(profiles: FloatArray) -> FloatArray:
    """Give the draw-up of each row: later bins against the running minimum of earlier ones."""
    lowest = np.minimum.accumulate(profiles, axis=1)[:, :-1]
    return np.asarray((profiles[:, 1:] - lowest).max(axis=1), dtype=np.float64)


def _profile(values: npt.ArrayLike) -> FloatArray:
    array = sample(values, "profile")
    if array.size < 2:
        raise ValueError(f"profile of {array.size} bins; a trend needs at least two")
    return array


def _bounds(low: npt.ArrayLike, high: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    lows, highs = matched(low, high, ("low", "high"))
    if lows.size < 2 or np.any(lows > highs):
        raise ValueError("rounding intervals: give two bins or more, each with low not above high")
    return lows, highs
