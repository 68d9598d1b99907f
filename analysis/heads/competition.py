"""Sums over the pairs of keys that compete for a bin's queries: all pairs by Gram matrices, or a sample one by one."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.linalg import blas

from analysis.heads import kernel
from analysis.heads.head import BoolArray, Float64Array, FloatArray, IntArray
from analysis.heads.laws import Binned, Law
from analysis.heads.pairs import CHUNK, Keys, drawn_pairs

Precision = Literal["single", "double"]
PRECISIONS: tuple[str, ...] = get_args(Precision)

# A variance up to this many times |w|^2 tr(Sigma) / d counts as none.
NEGLIGIBLE = 1e-12

# Variances below these shares of the Gram matrix' diagonal are computed from differences instead. At the share the
# rounding of the product moves a pair's plasticity by less than 1e-6 (single) or 1e-12 (double).
SHARES = {"single": 0.05, "double": 1e-3}

# With more such pairs than this, single precision saves no time and loses digits: the head is done again in double.
DOUBTFUL = 0.02

# Scores held at once by the distribution-free estimator, unless one document alone has more.
SCORES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Sums over pairs by query bin, inter-key distance and query-to-midpoint distance.

    Parameters
    ----------
    count, plasticity, mean_gap, spread : ndarray, shape (bins, across, along)
        Number of pairs, and sums of plasticity, |m| and sqrt(v) over them.
    same_key, no_variance : ndarray of int, shape (bins,)
        Pairs left out: equal keys, and no variance of the queries along their difference.
    error : ndarray, shape (bins,)
        Monte-Carlo standard error of the bin's mean plasticity; 0 where all pairs were evaluated.
    precision : str
        Precision of the products.
    """

    count: Float64Array
    plasticity: Float64Array
    mean_gap: Float64Array
    spread: Float64Array
    same_key: IntArray
    no_variance: IntArray
    error: Float64Array
    precision: str


@dataclass(frozen=True, kw_only=True)
class Values:
    """Sampled pairs of one bin, by pair.

    Parameters
    ----------
    plasticity, mean_gap, variance : ndarray, shape (pairs,)
        Plasticity, m and v.
    same_key, no_variance : ndarray of bool, shape (pairs,)
        Pairs to leave out; their values mean nothing.
    """

    plasticity: Float64Array
    mean_gap: Float64Array
    variance: Float64Array
    same_key: BoolArray
    no_variance: BoolArray


def all_pairs(
    keys: Keys,
    counts: IntArray,
    laws: dict[int, Law],
    queries: Binned,
    context: int,
    cells: tuple[int, int],
    precision: Precision,
    counted: bool = False,
) -> Sums:
    """Evaluate every eligible pair.

    Parameters
    ----------
    keys : Keys
        Keys in groups.
    counts : ndarray of int, shape (bins, groups)
        Eligible leading keys of each group.
    laws : dict of int to Law
        Law of each bin that has enough queries; bins that share one law share its Gram matrices.
    queries : Binned
        Queries by bin.
    context : int
        Tokens.
    cells : (int, int)
        Cells by inter-key and by query-to-midpoint distance.
    precision : {"single", "double"}
        Precision of the products; single falls back to double for a head that it does not suit.
    counted : bool
        Count the queries that prefer a key instead of taking plasticity from the law; in double precision.
    """
    bins = counts.shape[0]
    across, along = cells
    table = np.zeros((bins * across * along + 1, 4))
    excluded = np.zeros((bins, 2), dtype=np.int64)
    single = precision == "single" and not counted
    runs = _runs(laws)
    alphas, betas = (np.zeros((keys.shift.size, len(runs))) for _ in range(2))
    for column, (law, _) in enumerate(runs):
        alphas[:, column], betas[:, column] = law.alpha, law.beta
    direct, formed = 0, 0
    size = SCORES // max(1, int(queries.counts.max(initial=1))) if counted else CHUNK
    for first, last in keys.chunks(min(size, CHUNK)):
        start, stop = keys.starts[first], keys.starts[last]
        sizes = np.diff(keys.starts[first : last + 1])
        rank = np.arange(stop - start) - np.repeat(keys.starts[first:last] - start, sizes)
        rows = keys.vectors[start:stop].astype(np.float64)
        rows -= keys.shift
        cast = rows.astype(np.float32) if single else rows
        norms = np.einsum("ij,ij->i", rows, rows)
        positions = keys.positions[start:stop].astype(np.float64)
        base = rows @ alphas
        slope = rows @ betas if betas.any() else np.zeros(base.shape)
        for column, (law, members) in enumerate(runs):
            here = counts[members, first:last]
            most = here.max(axis=0)
            if most.max(initial=0) < 2:
                continue
            chosen = np.flatnonzero(rank < np.repeat(most, sizes))
            scores = np.empty((0, 0))
            if counted:
                scores = _scores(keys.vectors[start:stop][chosen], queries, int(members[0]))
            found = kernel.accumulate(
                _factored(cast[chosen], law),
                scores,
                base[chosen, column],
                slope[chosen, column],
                positions[chosen],
                norms[chosen],
                rows,
                chosen,
                np.cumsum(most) - most,
                here,
                members,
                queries.taus[members],
                across,
                along,
                float(context),
                SHARES["single" if single else "double"],
                NEGLIGIBLE * law.mean_variance,
                table,
                excluded,
            )
            direct, formed = direct + found[0], formed + found[1]
    if single and direct > DOUBTFUL * formed:
        return all_pairs(keys, counts, laws, queries, context, cells, "double")
    sums = table[:-1].reshape(bins, across, along, 4)
    return Sums(
        count=sums[..., kernel.COUNT],
        plasticity=sums[..., kernel.PLASTICITY],
        mean_gap=sums[..., kernel.MEAN_GAP],
        spread=sums[..., kernel.SPREAD],
        same_key=excluded[:, kernel.SAME_KEY],
        no_variance=excluded[:, kernel.NO_VARIANCE],
        error=np.zeros(bins),
        precision="single" if single else "double",
    )


def listed_pairs(
    keys: Keys, later: IntArray, earlier: IntArray, law: Law, queries: Binned, place: int, counted: bool = False
) -> Values:
    """Evaluate listed pairs for one bin in double precision, from differences.

    Parameters
    ----------
    keys : Keys
        Keys in groups.
    later, earlier : ndarray of int, shape (pairs,)
        Rows of the two keys.
    law : Law
        Law of the bin's queries.
    queries : Binned
        Queries by bin.
    place : int
        The bin.
    counted : bool
        Count the queries that prefer a key instead of taking plasticity from the law.
    """
    used, where = np.unique(np.concatenate([later, earlier]), return_inverse=True)
    one, other = where[: later.size], where[later.size :]
    rows = np.subtract(keys.vectors[used], keys.shift, dtype=np.float64)
    mean = rows @ (law.alpha + law.beta * queries.taus[place])
    variance, length, plasticity = np.empty(later.size), np.empty(later.size), np.empty(later.size)
    kernel.differences(_factored(rows.copy(), law), rows, one, other, variance, length)
    gap = mean[one] - mean[other]
    same = length == 0.0
    flat = ~same & (variance <= NEGLIGIBLE * law.mean_variance * length)
    if counted:
        kernel.preferences(_scores(keys.vectors[used], queries, place), one, other, plasticity)
    else:
        kernel.plasticities(gap, np.where(same | flat, 1.0, variance), plasticity)
    return Values(plasticity=plasticity, mean_gap=gap, variance=variance, same_key=same, no_variance=flat)


def sampled_pairs(
    keys: Keys,
    counts: IntArray,
    laws: dict[int, Law],
    queries: Binned,
    context: int,
    cells: tuple[int, int],
    cap: int,
    seed: int,
    counted: bool = False,
) -> Sums:
    """Evaluate at most `cap` pairs of each bin, drawn without replacement, and scale the sums up to all pairs.

    Parameters are those of `all_pairs`, with the cap and the seed of the draw.
    """
    bins = counts.shape[0]
    across, along = cells
    sums = np.zeros((4, bins, across * along))
    same, flat = np.zeros(bins, dtype=np.int64), np.zeros(bins, dtype=np.int64)
    error = np.zeros(bins)
    for place, law in laws.items():
        later, earlier, total = drawn_pairs(keys, counts[place], cap, np.random.default_rng([seed, place]))
        if total == 0:
            continue
        values = listed_pairs(keys, later, earlier, law, queries, place, counted)
        same[place], flat[place] = np.count_nonzero(values.same_key), np.count_nonzero(values.no_variance)
        use = ~(values.same_key | values.no_variance)
        kept = int(np.count_nonzero(use))
        if kept == 0:
            continue
        one, other = keys.positions[later[use]], keys.positions[earlier[use]]
        behind = (queries.taus[place] - 0.5 * (one + other)) * along / context
        cell = (one - other) * across // context * along + behind.astype(np.int64)
        measured = (np.ones(kept), values.plasticity[use], np.abs(values.mean_gap[use]), np.sqrt(values.variance[use]))
        for column, weights in enumerate(measured):
            sums[column, place] = np.bincount(cell, weights, across * along) * (total / later.size)
        if later.size < total and kept > 1:
            rest = 1.0 - later.size / total
            error[place] = np.sqrt(values.plasticity[use].var(ddof=1) / kept * rest)
    tables = sums.reshape(4, bins, across, along)
    return Sums(
        count=tables[kernel.COUNT],
        plasticity=tables[kernel.PLASTICITY],
        mean_gap=tables[kernel.MEAN_GAP],
        spread=tables[kernel.SPREAD],
        same_key=same,
        no_variance=flat,
        error=error,
        precision="double",
    )


def _runs(laws: dict[int, Law]) -> list[tuple[Law, IntArray]]:
    """Gather the bins that share one law."""
    found: dict[int, tuple[Law, list[int]]] = {}
    for place, law in laws.items():
        found.setdefault(id(law), (law, []))[1].append(place)
    return [(law, np.array(members, dtype=np.int64)) for law, members in found.values()]


def _factored(rows: FloatArray, law: Law) -> FloatArray:
    """Multiply keys by the factor of the queries' covariance, in their precision: Gram matrices become covariances.

    `rows` is overwritten where that saves a copy.
    """
    factor = law.factor.astype(rows.dtype, copy=False)
    if factor.ndim == 1:
        return np.multiply(rows, factor, out=rows)
    if not law.lower:
        return np.asarray(rows @ factor)
    multiply = blas.strmm if rows.dtype == np.float32 else blas.dtrmm
    # Fortran sees the transposes: (K L)' = L' K' in place, with half the products of K @ L
    return np.asarray(multiply(1.0, factor.T, rows.T, lower=0, overwrite_b=1).T)


def _scores(vectors: FloatArray, queries: Binned, place: int) -> Float64Array:
    """Score keys as captured, shape (keys, queries of the bin): shifted keys would break exact ties."""
    return vectors.astype(np.float64) @ queries.of(place).T.astype(np.float64)
