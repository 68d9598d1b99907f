"""Estimate a head's attention plasticity: how often the query's content, not position, decides between two keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from keyquery.heads import laws as describe
from keyquery.heads.competition import PairSums, add_sums, all_pairs, sampled_pairs
from keyquery.heads.head import Float64Array, Head, IntArray, whole_number
from keyquery.heads.laws import ALIGNED, ESTIMATORS, POOLED, BinnedQueries, Estimator, QueryLaw
from keyquery.heads.missing import BinnedValues
from keyquery.heads.moments import PRECISIONS, Moments, Precision
from keyquery.heads.pairs import PAIR_MODES, Keys, PairMode, competing, eligible_limits, first_visible, pair_counts
from keyquery.heads.rotation import SEPARATIONS, Separation

if TYPE_CHECKING:
    import pandas as pd

MIN_QUERIES = 30
CELLS = (16, 16)


MOST_SHOWN = 8  # numbers of a profile


@dataclass(frozen=True, kw_only=True)
class PlasticityOptions:
    """Options for estimating plasticity.

    Parameters
    ----------
    estimator : str
        `aligned_full` (mean and full covariance of the bin's queries, each rotated to the bin's centre c by the
        head's rotation, R(c - t) q_t, so that the bin's width does not matter), `bucket_full` (the same for the
        queries as captured: rotation within the bin counts as content, so wider bins have higher plasticity),
        `pooled_full` (mean linear in position and residual covariance of all queries), `pooled_diag` and
        `bucket_diag` (diagonal covariance; they depend on the basis), or `empirical` (counted over the queries of the
        bin; unbiased, so it can exceed 1 by 1 / (n - 1)).
    pairs : str
        Which keys are paired: `earlier` (both before the mean position of the bin's queries), `earlier_bucket` (both
        in buckets before the one in which the bin begins), `same_bucket` (both in one such bucket); always within a
        document.
    bins : int, optional
        Number of query bins over the context; default: the capture's buckets.
    min_queries : int
        A bin with fewer queries has no value; at least 2.
    cap : int, optional
        Maximal number of pairs per bin; default: all.
    seed : int
        Seed for drawing pairs if there is a cap.
    cells : (int, int)
        Number of cells by inter-key and by query-to-midpoint distance; each axis spans the context.
    precision : str
        Precision of the products, "single" (within 1e-6 of double; recomputed where it would not be) or "double".
        Means, plasticity and sums are always double.
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
    """Plasticity of a head by query bin, with the sums it is computed from.

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
    >>> random, places, one = np.random.default_rng(0), np.arange(512), np.zeros(512, dtype=int)
    >>> head = kq.Head(
    ...     queries=random.normal(size=(512, 4)), query_positions=places, query_documents=one,
    ...     keys=random.normal(size=(512, 4)), key_positions=places, key_documents=one, context=512,
    ... )
    >>> found = kq.plasticity(head, bins=2)
    >>> print(str(found)[:31])
    Plasticity(bucket_full, 2 bins:
    >>> found.queries.tolist(), found.options.estimator
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
        """Return the estimator and at most eight numbers of the profile."""
        values = [f"{value:.3f}" for value in self.profile.values]
        texts = values if len(values) <= MOST_SHOWN else [*values[:4], "...", *values[-4:]]
        return f"Plasticity({self.options.estimator}, {len(values)} bins: {' '.join(texts)})"

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

    `counts` are the numbers of eligible leading keys of each group, without keys before the window. `enough` are the
    bins with enough queries, and `seen` bounds the positions of each bin's eligible keys, in tokens; None if a query
    sees all earlier keys.
    """

    keys: Keys
    counts: IntArray
    queries: BinnedQueries
    enough: tuple[int, ...]
    seen: Float64Array | None = None

    def competing(self, place: int) -> tuple[Keys, IntArray]:
        """Return the keys that compete for a bin's queries, and the number of eligible leading keys of each group."""
        if self.seen is None:
            return self.keys, self.counts[place]
        keys = self.keys.between(*self.seen[place])
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
    """Prepare a head for `plasticity` (same parameters); `keys` are the head's grouped keys, if known."""
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
    settings = options or PlasticityOptions()
    ready = prepared or prepare_head(head, settings, queries)
    data, laws = ready.shared, ready.laws
    if data.seen is None:
        return _plasticity_of_sums(head, settings, data, _pair_sums(head, settings, data, data.keys, data.counts, laws))
    parts = []
    for place, law in laws.items():  # each bin has different keys
        keys, eligible = data.competing(place)
        counts = np.zeros((len(data.counts), eligible.size), dtype=np.int64)
        counts[place] = eligible
        parts.append(_pair_sums(head, settings, data, keys, counts, {place: law}))
    empty_sums = _pair_sums(head, settings, data, data.keys, np.zeros_like(data.counts), {})
    return _plasticity_of_sums(head, settings, data, add_sums(parts or [empty_sums]))


def _pair_sums(
    head: Head, options: PlasticityOptions, data: HeadData, keys: Keys, counts: IntArray, laws: dict[int, QueryLaw]
) -> PairSums:
    """Sum over the pairs of eligible keys under the laws of some bins: over all pairs, or over a sample."""
    counted = options.estimator == "empirical"
    if options.cap is None:
        return all_pairs(keys, counts, laws, data.queries, head.context, options.cells, options.precision, counted)
    return sampled_pairs(
        keys, counts, laws, data.queries, head.context, options.cells, options.cap, options.seed, counted
    )


def bin_and_group(head: Head, options: PlasticityOptions, keys: Keys | None = None) -> HeadData:
    """Sort queries into bins, and keys into groups unless the groups are given."""
    bins = options.bins or head.buckets
    queries = describe.binned(head, bins, options.estimator in ALIGNED)
    groups = keys or competing(
        head.keys, head.key_positions, head.key_documents, head.context, head.buckets, options.pairs
    )
    filled = tuple(int(place) for place in np.flatnonzero(queries.counts >= options.min_queries))
    ends = eligible_limits(head, options.pairs, bins, queries.taus)
    counts, first = groups.eligible(ends), first_visible(head, queries.taus)
    if first is None:
        return HeadData(groups, counts, queries, filled)
    counts = np.maximum(counts - groups.eligible(first), 0)
    return HeadData(groups, counts, queries, filled, np.column_stack([first, ends]))


def laws_of(
    head: Head, data: HeadData, estimator: Estimator, queries: Moments | None = None, precision: Precision = "single"
) -> dict[int, QueryLaw]:
    """Fit a law to the queries of each bin that has enough queries and at least one pair of keys."""
    places = [place for place in data.enough if pair_counts(data.counts[place]).any()]
    if not places:
        return {}
    if estimator in POOLED:
        law = describe.pooled_law(head, estimator, queries, precision)
        return dict.fromkeys(places, law)
    return {place: describe.bucket_law(data.queries.of(place), estimator, precision) for place in places}


def divide_sums(sums: Float64Array, count: Float64Array) -> Float64Array:
    """Divide sums by counts; NaN where the count is 0."""
    return np.asarray(np.divide(sums, count, out=np.full(sums.shape, np.nan), where=count > 0))


def _plasticity_of_sums(head: Head, options: PlasticityOptions, data: HeadData, sums: PairSums) -> Plasticity:
    eligible = pair_counts(data.counts).sum(axis=1)
    evaluated = eligible if options.cap is None else np.minimum(eligible, options.cap)
    has_queries = np.isin(np.arange(eligible.size), data.enough)
    pair_count = np.where(has_queries, evaluated - sums.same_key - sums.no_variance, 0)
    reasons = []
    for place, n in enumerate(data.queries.counts):
        if not has_queries[place]:
            reasons.append(f"{n} queries, {options.min_queries} needed")
        elif eligible[place] == 0:
            reasons.append("no eligible pair of keys")
        elif pair_count[place] == 0:
            reasons.append(f"all {evaluated[place]} pairs left out")
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
