"""Average values over a model's heads, with spreads, and with intervals from resampled key heads."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from keyquery.heads.head import Float64Array, IntArray
from keyquery.heads.missing import BinnedValues

DRAWS = 2000
TAIL = (1 - 0.95) / 2  # probability outside a 95 % interval, on either side
LEAST_BOOTSTRAPPED = 20  # with fewer key heads, a percentile interval covers the mean in fewer than 95 % of cases


@dataclass(frozen=True, kw_only=True)
class OverHeads:
    """Means over a model's heads by column, with spreads and intervals; a column is a query bin, a decile or a metric.

    Parameters
    ----------
    mean : BinnedValues
        Mean over the heads that have a value, with their number.
    low, high : BinnedValues
        Percentile interval of the mean from resampled clusters, with the number of valid draws. With fewer than
        `LEAST_BOOTSTRAPPED` clusters, it is Student's interval over clusters, with the number of clusters. The interval
        covers variation over heads, not over documents.
    sd : BinnedValues
        Standard deviation over heads (divisor n - 1).
    bimodality : BinnedValues
        Bimodality coefficient, (skewness^2 + 1) / kurtosis with small-sample corrections: 5/9 for a uniform
        distribution, and higher for two separate groups of heads.
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
    """Return means of columns over heads, with intervals and spreads.

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
        raise ValueError("a head's value is infinite; give NaN for a missing value")
    if draws < 1:
        raise ValueError(f"{draws} draws; give at least one draw")
    present = np.isfinite(table)
    count = present.sum(axis=0)
    mean = np.divide(np.where(present, table, 0.0).sum(axis=0), count, out=np.full(count.size, np.nan), where=count > 0)
    cluster_numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    cluster_of_head = np.array([cluster_numbers[cluster] for cluster in clusters])
    low, high = _cluster_interval(table, present, cluster_of_head, len(cluster_numbers), draws, seed)
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
        clusters=len(cluster_numbers),
    )


def bimodality(values: Float64Array) -> float:
    """Return the bimodality coefficient of a sample; NaN for fewer than four values, or if all are equal."""
    n = values.size
    if n < 4 or np.ptp(values) <= 1e-12 * np.abs(values).max():
        return float("nan")
    skewness = float(stats.skew(values, bias=False))
    kurtosis = float(stats.kurtosis(values, bias=False))
    return (skewness**2 + 1) / (kurtosis + 3 * (n - 1) ** 2 / ((n - 2) * (n - 3)))


def _cluster_interval(
    table: Float64Array,
    present: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
    cluster_of_head: IntArray,
    cluster_count: int,
    draws: int,
    seed: int,
) -> tuple[BinnedValues, BinnedValues]:
    """Return the ends of each column's interval, by resampling clusters and averaging the heads in each draw."""
    sums, sizes = np.zeros((2, cluster_count, table.shape[1]))
    np.add.at(sums, cluster_of_head, np.where(present, table, 0.0))
    np.add.at(sizes, cluster_of_head, present.astype(np.float64))
    # scaled uniforms, since the stream of `integers` differs between versions of numpy
    index = (np.random.default_rng(seed).random((draws, cluster_count)) * cluster_count).astype(np.int64)
    flat = (index + cluster_count * np.arange(draws)[:, None]).ravel()
    times = np.bincount(flat, minlength=draws * cluster_count).reshape(draws, cluster_count).astype(np.float64)
    resampled = times @ sizes
    means = np.divide(times @ sums, resampled, out=np.full(resampled.shape, np.nan), where=resampled > 0)
    valid_draws = np.count_nonzero(resampled > 0, axis=0)
    clusters = np.count_nonzero(sizes > 0, axis=0)
    limits = np.full((2, table.shape[1]), np.nan)
    for column in np.flatnonzero(clusters > 1):
        limits[:, column] = np.quantile(means[resampled[:, column] > 0, column], [TAIL, 1 - TAIL])
    too_few = (clusters > 1) & (clusters < LEAST_BOOTSTRAPPED)
    limits[:, too_few] = _clustered_student(sums[:, too_few], sizes[:, too_few])
    counts = np.where(too_few, clusters, valid_draws)
    reason = "fewer than two key heads have a value"
    return _binned_values(limits[0], counts, reason), _binned_values(limits[1], counts, reason)


def _clustered_student(sums: Float64Array, sizes: Float64Array) -> Float64Array:
    """Return Student's interval of a mean over clustered heads, by linearisation (Cochran 1977, section 6.3).

    `sums` and `sizes` are the sum and number of values in each cluster; the result has shape (2, columns): low, high.
    """
    count = np.count_nonzero(sizes > 0, axis=0)
    mean = sums.sum(axis=0) / sizes.sum(axis=0)
    spread = ((sums - mean * sizes) ** 2).sum(axis=0) * count / (count - 1)
    margin = stats.t.isf(TAIL, count - 1) * np.sqrt(spread) / sizes.sum(axis=0)
    return np.stack([mean - margin, mean + margin])


def _binned_values(values: Float64Array, counts: IntArray, reason: str) -> BinnedValues:
    return BinnedValues(
        values, counts.astype(np.int64), tuple("" if np.isfinite(value) else reason for value in values)
    )
