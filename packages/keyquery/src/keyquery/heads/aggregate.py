"""Average over a model's heads, compare heads, and compute intervals by resampling key heads."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from keyquery.heads.head import Float64Array, IntArray
from keyquery.heads.missing import BinnedValues

DRAWS = 2000
TAIL = (1 - 0.95) / 2  # of a 95 % interval, on either side
LEAST_BOOTSTRAPPED = 20  # key heads: over fewer a percentile interval covers less than it says


@dataclass(frozen=True, kw_only=True)
class OverHeads:
    """Means over a model's heads by column (query bins, deciles, metrics); missing values are left out and counted.

    Parameters
    ----------
    mean : BinnedValues
        Mean over the heads that have a value, with their number.
    low, high : Row
        Percentile interval of the mean from resampled clusters, with the number of valid draws; with fewer than
        `LEAST_BOOTSTRAPPED` clusters, Student's interval over clusters, with their number. It covers variation over
        heads, not over documents.
    sd : BinnedValues
        Standard deviation over heads (divisor n - 1).
    bimodality : BinnedValues
        Bimodality coefficient, (skewness^2 + 1) / kurtosis with small-sample corrections: 5/9 for a uniform
        distribution, more for two separate groups of heads.
    clusters : int
        Number of resampled units.
    """

    mean: BinnedValues
    low: BinnedValues
    high: BinnedValues
    sd: BinnedValues
    bimodality: BinnedValues
    clusters: int


def over_heads(values: Float64Array, clusters: Sequence[Hashable], draws: int = DRAWS, seed: int = 0) -> OverHeads:
    """Average columns over heads.

    `values` has one row per head, NaN where a head has no value. `clusters` has each head's resampling unit, (layer,
    key head), because heads with shared keys are not independent. Raises ValueError if shapes do not match, a value
    is infinite, or there is no head or no draw.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not len(table) or len(clusters) != len(table):
        raise ValueError(
            f"values have shape {table.shape}, with {len(clusters)} clusters; give (heads, columns), a cluster per head"
        )
    if np.isinf(table).any():
        raise ValueError("a head's value is infinite; write missing as NaN")
    if draws < 1:
        raise ValueError(f"{draws} draws; give at least one draw")
    present = np.isfinite(table)
    count = present.sum(axis=0)
    mean = np.divide(np.where(present, table, 0.0).sum(axis=0), count, out=np.full(count.size, np.nan), where=count > 0)
    names = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    member = np.array([names[name] for name in clusters])
    low, high = _cluster_interval(table, present, member, len(names), draws, seed)
    columns = [table[present[:, column], column] for column in range(table.shape[1])]
    return OverHeads(
        mean=_binned_values(mean, count, "no head has a value"),
        low=low,
        high=high,
        sd=_binned_values(
            np.array([column.std(ddof=1) if column.size > 1 else np.nan for column in columns]),
            count,
            "fewer than two heads have a value",
        ),
        bimodality=_binned_values(
            np.array([bimodality(column) for column in columns]), count, "fewer than four heads, or all of them alike"
        ),
        clusters=len(names),
    )


def bimodality(values: Float64Array) -> float:
    """Return the bimodality coefficient of a sample; NaN for fewer than four values or equal values."""
    n = values.size
    if n < 4 or np.ptp(values) <= 1e-12 * np.abs(values).max():
        return float("nan")
    skewness = float(stats.skew(values, bias=False))
    kurtosis = float(stats.kurtosis(values, bias=False))
    return (skewness**2 + 1) / (kurtosis + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3)))


def _cluster_interval(
    table: Float64Array,
    present: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
    member: IntArray,
    units: int,
    draws: int,
    seed: int,
) -> tuple[BinnedValues, BinnedValues]:
    """Return the interval of a mean by resampling clusters; each draw averages the heads of its clusters."""
    sums, sizes = np.zeros((units, table.shape[1])), np.zeros((units, table.shape[1]))
    np.add.at(sums, member, np.where(present, table, 0.0))
    np.add.at(sizes, member, present.astype(np.float64))
    # scaled uniforms: their stream is the same in all numpy versions, that of `integers` is not
    index = (np.random.default_rng(seed).random((draws, units)) * units).astype(np.int64)
    flat = (index + units * np.arange(draws)[:, None]).ravel()
    times = np.bincount(flat, minlength=draws * units).reshape(draws, units).astype(np.float64)
    resampled = times @ sizes
    means = np.divide(times @ sums, resampled, out=np.full(resampled.shape, np.nan), where=resampled > 0)
    used = np.count_nonzero(resampled > 0, axis=0)
    two_units = np.count_nonzero(sizes > 0, axis=0) > 1
    limits = np.full((2, table.shape[1]), np.nan)
    for column in np.flatnonzero(two_units):
        limits[:, column] = np.quantile(means[resampled[:, column] > 0, column], [TAIL, 1 - TAIL])
    filled = np.count_nonzero(sizes > 0, axis=0)
    too_few = two_units & (filled < LEAST_BOOTSTRAPPED)
    limits[:, too_few] = _clustered_student(sums[:, too_few], sizes[:, too_few])
    used = np.where(too_few, filled, used)
    reason = "fewer than two key heads have a value"
    return _binned_values(limits[0], used, reason), _binned_values(limits[1], used, reason)


def _clustered_student(sums: Float64Array, sizes: Float64Array) -> Float64Array:
    """Return Student's interval of a mean over clustered heads, by linearisation (Cochran 1977, section 6.3).

    `sums` and `sizes` are the sum and number of values in each cluster; the result has shape (2, columns): low, high.
    """
    count = np.count_nonzero(sizes > 0, axis=0)
    mean = sums.sum(axis=0) / sizes.sum(axis=0)
    spread = ((sums - mean * sizes) ** 2).sum(axis=0) * count / (count - 1)
    half = stats.t.isf(TAIL, count - 1) * np.sqrt(spread) / sizes.sum(axis=0)
    return np.stack([mean - half, mean + half])


def _binned_values(values: Float64Array, counts: IntArray, reason: str) -> BinnedValues:
    return BinnedValues(
        values, counts.astype(np.int64), tuple("" if np.isfinite(value) else reason for value in values)
    )
