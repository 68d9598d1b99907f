"""Estimate a head's attention plasticity: how often the query's content, not position, decides between two keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from keyquery.heads.competition import PairSums, add_sums, all_pairs, sampled_pairs
from keyquery.heads.head import Float64Array, Head, IntArray, whole_number
from keyquery.heads.laws import (
    ALIGNED,
    ESTIMATORS,
    POOLED,
    BinnedQueries,
    Estimator,
    QueryLaw,
    binned,
    bucket_law,
    pooled_law,
)
from keyquery.heads.missing import BinnedValues
from keyquery.heads.moments import PRECISIONS, Moments, Precision
from keyquery.heads.pairs import PAIR_MODES, Keys, PairMode, competing, eligible_limits, first_visible, pair_counts
from keyquery.heads.rotation import SEPARATIONS, Separation

if TYPE_CHECKING:
    import pandas as pd

MIN_QUERIES = 30
CELLS = (16, 16)
MAX_SHOWN = 8  # largest number of values in `repr` of a plasticity


@dataclass(frozen=True, kw_only=True)
class PlasticityOptions:
    """Options for estimating plasticity.

    Parameters
    ----------
    estimator : str
        `aligned_full` (mean and full covariance of the bin's queries, each rotated to the bin's centre c by the
        head's rotation, R(c - t) q_t, so that the bin's width does not matter), `bucket_full` (mean and full covariance
        of the queries as captured: rotation within the bin counts as content, so wider bins have higher plasticity),
        `pooled_full` (mean linear in position and residual covariance of all queries), `pooled_diag` and
        `bucket_diag` (diagonal covariance, which depends on the basis), or `empirical` (counted over the queries of the
        bin; unbiased, so it can exceed 1 by 1 / (n - 1)).
    pairs : str
        Which keys of a document are paired: `earlier` (both before the mean position of the bin's queries),
        `earlier_bucket` (both in buckets before the bucket in which the bin begins), or `same_bucket` (both in the same
        bucket, which is before the bucket in which the bin begins).
    bins : int, optional
        Number of query bins over the context; by default the capture's buckets.
    min_queries : int
        A bin with fewer queries has no value; at least 2.
    cap : int, optional
        Largest number of pairs per bin; by default all pairs are used.
    seed : int
        Seed for drawing pairs if there is a cap.
    cells : (int, int)
        Number of cells by inter-key and by query-to-midpoint distance; each axis spans the context.
    precision : str
        Precision of the products: "double", or "single", with results within 1e-6 of double (products for which this
        would not hold are recomputed). Means, plasticity and sums are always double.
    separation : str
        The second axis of the planar rotation, see `rotation`; plasticity does not depend on it.

    Raises
    ------
    ValueError
        If an option is unknown or out of range.

    Examples
    --------
    >>> import keyquery as kq
    >>> kq.PlasticityOptions(estimator="empirical", bins=8).pairs
    'earlier'
    """

    estimator: Estimator = "aligned_full"
    pairs: PairMode = "earlier"
    bins: int | None = None
    min_queries: int = MIN_QUERIES
    cap: int | None = None
    seed: int = 0
    cells: tuple[int, int] = CELLS
    precision: Precision = "single"
    separation: Separation = "distance"

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("estimator", self.estimator, ESTIMATORS),
            ("pairs", self.pairs, PAIR_MODES),
            ("precision", self.precision, PRECISIONS),
            ("separation", self.separation, SEPARATIONS),
        ):
            if value not in allowed:
                raise ValueError(f"{name} {value!r}; give one of {', '.join(allowed)}")
        for name in ("min_queries", "seed", *(key for key in ("bins", "cap") if getattr(self, key) is not None)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name)))
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; give 0 or more")
        if self.min_queries < 2:
            raise ValueError(f"min_queries is {self.min_queries}; a covariance needs at least 2")
        if min(self.cells) < 1 or (self.bins is not None and self.bins < 1):
            raise ValueError(f"{self.bins} bins, {self.cells} cells; give at least one of each")
        if self.cap is not None and self.cap < 2:
            raise ValueError(f"a cap of {self.cap} pairs; a standard error needs at least 2")


@dataclass(frozen=True, kw_only=True)
class Plasticity:
    """Plasticity of a head by query bin, and the sums from which it is computed.

    Parameters
    ----------
    options : PlasticityOptions
        Options of the estimate.
    context : int
        Length of the context in tokens.
    queries : ndarray of int, shape (bins,)
        Number of queries in each bin.
    taus : ndarray, shape (bins,)
        Mean position of each bin's queries in tokens; NaN for a bin without queries.
    profile : BinnedValues
        Mean plasticity over pairs, with the number of pairs evaluated.
    error : ndarray, shape (bins,)
        Monte-Carlo standard error of the profile; 0 where all pairs were evaluated, NaN where the profile is missing.
    eligible, same_key, no_variance : ndarray of int, shape (bins,)
        Number of eligible pairs, and of evaluated pairs left out because the keys are equal, or because the queries
        do not vary along the keys' difference.
    sums : PairSums
        Sums by bin and cell, from which `by_distance` and `by_distances` are computed.

    Examples
    --------
    >>> import keyquery as kq
    >>> import numpy as np
    >>> rng, positions, documents = np.random.default_rng(0), np.arange(512), np.zeros(512, dtype=int)
    >>> head = kq.Head(
    ...     queries=rng.normal(size=(512, 4)), query_positions=positions, query_documents=documents,
    ...     keys=rng.normal(size=(512, 4)), key_positions=positions, key_documents=documents, context=512,
    ... )
    >>> estimate = kq.plasticity(head, bins=2)
    >>> print(str(estimate)[:31])
    Plasticity(bucket_full, 2 bins:
    >>> estimate.queries.tolist(), estimate.options.estimator
    ([256, 256], 'bucket_full')
    """

    options: PlasticityOptions
    context: int
    queries: IntArray
    taus: Float64Array
    profile: BinnedValues
    error: Float64Array
    eligible: IntArray
    same_key: IntArray
    no_variance: IntArray
    sums: PairSums

    def __repr__(self) -> str:
        """Return the estimator and at most `MAX_SHOWN` values of the profile."""
        values = [f"{value:.3f}" for value in self.profile.values]
        shown = values if len(values) <= MAX_SHOWN else [*values[:4], "...", *values[-4:]]
        return f"Plasticity({self.options.estimator}, {len(values)} bins: {' '.join(shown)})"

    @property
    def precision(self) -> str:
        """Precision of the matrix products that were used."""
        return self.sums.precision

    def to_frame(self) -> pd.DataFrame:
        """Return one row per query bin: bin, position (mean, in tokens), queries, pairs, plasticity, error, reason.

        `reason` says why a bin has no plasticity; elsewhere it is empty.
        """
        import pandas

        return pandas.DataFrame(
            {
                "bin": np.arange(len(self.taus)),
                "position": self.taus,
                "queries": self.queries,
                "pairs": self.profile.counts,
                "plasticity": self.profile.values,
                "error": self.error,
                "reason": self.profile.reasons,
            }
        )

    def by_distance(self) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return mean |m|, mean sqrt(v) and pair counts by bin and inter-key distance, each of shape (bins, across).

        |m| is the effect of position, sqrt(v) that of content, in units of scores; NaN in cells without pairs.
        """
        sums = self.sums
        return divide_sums(sums.mean_gap, sums.count), divide_sums(sums.spread, sums.count), sums.count

    def by_distances(self) -> tuple[Float64Array, Float64Array]:
        """Return mean plasticity and pair counts by inter-key and query-to-midpoint distance, shapes (across, along).

        All bins are pooled and each pair has equal weight; NaN in cells without pairs.
        """
        return divide_sums(self.sums.map_plasticity, self.sums.map_count), self.sums.map_count


@dataclass(frozen=True)
class HeadData:
    """Data that the estimators of one head share.

    `counts` (bins, groups) are the numbers of eligible keys, and `used_bins` are the bins with enough queries.
    `key_ranges` has the first position of each bin's eligible keys and the position after the last, in tokens; it is
    None if a query attends to all earlier keys.
    """

    keys: Keys
    counts: IntArray
    queries: BinnedQueries
    used_bins: tuple[int, ...]
    key_ranges: Float64Array | None = None

    def competing(self, query_bin: int) -> tuple[Keys, IntArray]:
        """Return keys in groups, and how many keys of each group, from the first on, compete for a bin's queries."""
        if self.key_ranges is None:
            return self.keys, self.counts[query_bin]
        keys = self.keys.between(*self.key_ranges[query_bin])
        return keys, np.diff(keys.starts)


@dataclass(frozen=True)
class PreparedHead:
    """A head prepared for an estimator: grouped keys, binned queries, and the law of every bin."""

    estimator: Estimator
    shared: HeadData
    laws: dict[int, QueryLaw]


def prepare_head(
    head: Head, options: PlasticityOptions, queries: Moments | None = None, keys: Keys | None = None
) -> PreparedHead:
    """Return a head prepared for `plasticity` with these options.

    `queries` are the moments of the queries, if known, and `keys` the head's grouped keys, if known.
    """
    data = bin_and_group(head, options, keys)
    return PreparedHead(options.estimator, data, laws_of(head, data, options.estimator, queries, options.precision))


def plasticity(
    head: Head,
    options: PlasticityOptions | None = None,
    queries: Moments | None = None,
    prepared: PreparedHead | None = None,
) -> Plasticity:
    """Estimate the attention plasticity of a head.

    For keys k1, k2 and queries of a bin (at its centre, with `aligned_full`), m and v are the mean and the variance of
    q.(k1 - k2); the plasticity of the pair is 4 p (1 - p) = 1 - erf(m / sqrt(2 v))^2 with p = Phi(m / sqrt v).
    `queries` are the moments of the queries, if known; pooled estimators use them. `prepared` is the result of
    `prepare_head` for the same head and options, if available. Raises ValueError if `aligned_full` is used and the
    head's rotation is unknown.
    """
    options = options or PlasticityOptions()
    prepared = prepared or prepare_head(head, options, queries)
    data, laws = prepared.shared, prepared.laws
    if data.key_ranges is None:
        return _plasticity_of_sums(head, options, data, _pair_sums(head, options, data, data.keys, data.counts, laws))
    sums_by_bin = []
    for query_bin, law in laws.items():  # each bin has different keys
        keys, eligible = data.competing(query_bin)
        counts = np.zeros((len(data.counts), eligible.size), dtype=np.int64)
        counts[query_bin] = eligible
        sums_by_bin.append(_pair_sums(head, options, data, keys, counts, {query_bin: law}))
    empty_sums = _pair_sums(head, options, data, data.keys, np.zeros_like(data.counts), {})
    return _plasticity_of_sums(head, options, data, add_sums(sums_by_bin or [empty_sums]))


def _pair_sums(
    head: Head, options: PlasticityOptions, data: HeadData, keys: Keys, counts: IntArray, laws: dict[int, QueryLaw]
) -> PairSums:
    """Return sums over the pairs of eligible keys in the bins with laws, estimated from a sample if there is a cap."""
    counted = options.estimator == "empirical"
    if options.cap is None:
        return all_pairs(keys, counts, laws, data.queries, head.context, options.cells, options.precision, counted)
    return sampled_pairs(
        keys, counts, laws, data.queries, head.context, options.cells, options.cap, options.seed, counted
    )


def bin_and_group(head: Head, options: PlasticityOptions, keys: Keys | None = None) -> HeadData:
    """Return a head's queries sorted into bins, and its keys sorted into groups unless grouped `keys` are given."""
    bins = options.bins or head.buckets
    queries = binned(head, bins, options.estimator in ALIGNED)
    keys = keys or competing(
        head.keys, head.key_positions, head.key_documents, head.context, head.buckets, options.pairs
    )
    used_bins = tuple(np.flatnonzero(queries.counts >= options.min_queries).tolist())
    limits = eligible_limits(head, options.pairs, bins, queries.taus)
    counts, first = keys.eligible(limits), first_visible(head, queries.taus)
    if first is None:
        return HeadData(keys, counts, queries, used_bins)
    counts = np.maximum(counts - keys.eligible(first), 0)
    return HeadData(keys, counts, queries, used_bins, np.column_stack([first, limits]))


def laws_of(
    head: Head, data: HeadData, estimator: Estimator, queries: Moments | None = None, precision: Precision = "single"
) -> dict[int, QueryLaw]:
    """Return a law of the queries of each bin that has enough queries and at least one pair of keys."""
    bins = [query_bin for query_bin in data.used_bins if pair_counts(data.counts[query_bin]).any()]
    if bins and estimator in POOLED:
        return dict.fromkeys(bins, pooled_law(head, estimator, queries, precision))
    return {query_bin: bucket_law(data.queries.of(query_bin), estimator, precision) for query_bin in bins}


def divide_sums(sums: Float64Array, count: Float64Array) -> Float64Array:
    """Return sums divided by counts; NaN where the count is 0."""
    return np.asarray(np.divide(sums, count, out=np.full(sums.shape, np.nan), where=count > 0))


def _plasticity_of_sums(head: Head, options: PlasticityOptions, data: HeadData, sums: PairSums) -> Plasticity:
    eligible = pair_counts(data.counts).sum(axis=1)
    evaluated = eligible if options.cap is None else np.minimum(eligible, options.cap)
    has_queries = np.isin(np.arange(eligible.size), data.used_bins)
    pair_count = np.where(has_queries, evaluated - sums.same_key - sums.no_variance, 0)
    reasons = []
    for query_bin, n in enumerate(data.queries.counts):
        if not has_queries[query_bin]:
            reasons.append(f"{n} queries, {options.min_queries} needed")
        elif eligible[query_bin] == 0:
            reasons.append("no eligible pair of keys")
        elif pair_count[query_bin] == 0:
            reasons.append(f"all {evaluated[query_bin]} pairs left out")
        else:
            reasons.append("")
    values = divide_sums(sums.plasticity, sums.count.sum(axis=1))
    return Plasticity(
        options=options,
        context=head.context,
        queries=data.queries.counts,
        taus=data.queries.taus,
        profile=BinnedValues(values, pair_count, tuple(reasons)),
        error=np.where(np.isfinite(values), sums.error, np.nan),
        eligible=eligible,
        same_key=sums.same_key,
        no_variance=sums.no_variance,
        sums=sums,
    )
