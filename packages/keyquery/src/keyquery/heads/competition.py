"""Sum plasticity over pairs of keys that compete for a bin's queries: all pairs, by Gram matrices, or a sample."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.linalg import blas

from keyquery.heads import kernel
from keyquery.heads.head import BoolArray, Float32Array, Float64Array, FloatArray, IntArray
from keyquery.heads.laws import BinnedQueries, QueryLaw
from keyquery.heads.moments import Precision, centred
from keyquery.heads.pairs import CHUNK, Keys, draw_pairs

# A variance up to this many times |w|^2 tr(Sigma) / d counts as 0.
NEGLIGIBLE = 1e-12

# Variances below these shares of the Gram matrix's diagonal are recomputed from differences. At this share, the
# rounding of the product moves a pair's plasticity by less than 1e-6 (single) or 1e-12 (double).
SHARES = {"single": 0.05, "double": 1e-3}

# If a larger share of variances is recomputed, single precision saves no time, so all sums are recomputed in double
# precision.
DOUBTFUL_SHARE = 0.02

# Largest number of scores in memory when preferences are counted; a single document may exceed it.
SCORES_AT_ONCE = 1_000_000

# Queries and pairs per block of scores: a block fits into the level-2 cache.
QUERY_BLOCK, PAIR_BLOCK = 256, 512


@dataclass(frozen=True, kw_only=True)
class PairSums:
    """Sums over pairs of keys.

    Parameters
    ----------
    count, spread, mean_gap : ndarray, shape (bins, across)
        By query bin and inter-key distance: number of pairs, and sums of sqrt(v) and |m| over these pairs.
    map_count, map_plasticity : ndarray, shape (across, along)
        By inter-key distance and query-to-midpoint distance, over all bins: number of pairs, and sum of plasticity.
    plasticity : ndarray, shape (bins,)
        Sum of plasticity by query bin.
    same_key, no_variance : ndarray of int, shape (bins,)
        Numbers of pairs left out because the keys are equal, or because the queries do not vary along their difference.
    error : ndarray, shape (bins,)
        Monte-Carlo standard error of the bin's mean plasticity; 0 where all pairs were evaluated.
    precision : str
        Precision of the products.
    """

    count: Float64Array
    spread: Float64Array
    mean_gap: Float64Array
    map_count: Float64Array
    map_plasticity: Float64Array
    plasticity: Float64Array
    same_key: IntArray
    no_variance: IntArray
    error: Float64Array
    precision: str


@dataclass(frozen=True, kw_only=True)
class SampledPairs:
    """Plasticity, m and v of listed pairs of one bin; pairs marked `same_key` or `no_variance` must be left out."""

    plasticity: Float64Array
    mean_gap: Float64Array
    variance: Float64Array
    same_key: BoolArray
    no_variance: BoolArray


def all_pairs(
    keys: Keys,
    counts: IntArray,
    laws: dict[int, QueryLaw],
    queries: BinnedQueries,
    context: int,
    cells: tuple[int, int],
    precision: Precision,
    counted: bool = False,
) -> PairSums:
    """Return sums over all eligible pairs of the bins that have a law.

    `counts` (bins, groups) says how many keys, from the first on, are eligible in each group; `cells` are the numbers
    of cells by inter-key and by query-to-midpoint distance. Bins with a common law share its Gram matrices. If single
    precision is too inexact, double precision is used. With `counted`, plasticity is counted over queries instead of
    computed from the law.
    """
    bins = counts.shape[0]
    gap_cells, tau_cells = cells
    distance_sums = np.zeros((bins, gap_cells + 1, 3))
    cell_sums = np.zeros((gap_cells + 1, tau_cells, 2))
    profile = np.zeros(bins)
    excluded = np.zeros((bins, 2), dtype=np.int64)
    single = precision == "single" and not counted
    law_bins = _bins_by_law(laws)
    means = np.array([law.alpha for law, _ in law_bins] + [law.beta for law, _ in law_bins if law.beta.any()])
    drifts = len(law_bins) + np.cumsum([law.beta.any() for law, _ in law_bins]) - 1
    kind = np.float32 if single else np.float64
    recomputed, formed = 0, 0
    size = max(1, min(CHUNK, SCORES_AT_ONCE // max(1, int(queries.counts.max(initial=1))))) if counted else CHUNK
    for first, last in keys.chunks(size) if law_bins else ():
        start, stop = keys.starts[first], keys.starts[last]
        sizes = np.diff(keys.starts[first : last + 1])
        rank = np.arange(stop - start) - np.repeat(keys.starts[first:last] - start, sizes)
        vectors, positions = keys.vectors[start:stop], keys.positions[start:stop].astype(np.float64)
        rows, copy = np.empty(vectors.shape, kind), np.empty(vectors.shape, kind)
        norms, scores, no_drift = np.empty(len(rows)), np.empty((len(means), len(rows))), np.zeros(len(rows))
        kernel.centre_keys(vectors, keys.shift, means, rows, norms, scores)
        for column, (law, members) in enumerate(law_bins):
            in_chunk = counts[members, first:last]
            last_counts = in_chunk[-1]
            if last_counts.max(initial=0) < 2:
                continue
            used_rows = np.flatnonzero(rank < np.repeat(last_counts, sizes))
            eligible = np.take(rows, used_rows, axis=0, out=copy[: used_rows.size], mode="clip")
            bin_queries = queries.of(int(members[0])) if counted else vectors[:0]
            # these scores come first, since the product with the factor overwrites the keys
            rough = _rough_scores(eligible, bin_queries) if counted else np.empty((0, 0), np.float32)
            variance_counts = kernel.add_group_pairs(
                _factored_keys(eligible, law),
                scores[column, used_rows],
                scores[drifts[column], used_rows] if law.beta.any() else no_drift[: used_rows.size],
                positions[used_rows],
                norms[used_rows],
                vectors,
                used_rows,
                rough,
                bin_queries,
                np.cumsum(last_counts) - last_counts,
                in_chunk,
                members,
                queries.taus[members],
                queries.taus[members] + 0.25 / queries.counts[members],
                float(context),
                SHARES["single" if single else "double"],
                NEGLIGIBLE * law.mean_variance,
                slack(keys.shift.size),
                distance_sums,
                cell_sums,
                profile,
                excluded,
            )
            recomputed, formed = recomputed + variance_counts[0], formed + variance_counts[1]
    if single and recomputed > DOUBTFUL_SHARE * formed:
        return all_pairs(keys, counts, laws, queries, context, cells, "double")
    for _, members in law_bins:
        # the kernel adds a pair only to the first of these bins, but it belongs to all later ones too
        sums = distance_sums[members, :, : kernel.MEAN_GAP]
        distance_sums[members, :, : kernel.MEAN_GAP] = sums.cumsum(axis=0)
    return PairSums(
        count=distance_sums[:, :gap_cells, kernel.COUNT],
        spread=distance_sums[:, :gap_cells, kernel.SPREAD],
        mean_gap=distance_sums[:, :gap_cells, kernel.MEAN_GAP],
        map_count=cell_sums[:gap_cells, :, kernel.PAIRS],
        map_plasticity=cell_sums[:gap_cells, :, kernel.PLASTICITY],
        plasticity=profile,
        same_key=excluded[:, kernel.SAME_KEY],
        no_variance=excluded[:, kernel.NO_VARIANCE],
        error=np.zeros(bins),
        precision="single" if single else "double",
    )


def listed_pairs(
    keys: Keys,
    later: IntArray,
    earlier: IntArray,
    law: QueryLaw,
    queries: BinnedQueries,
    query_bin: int,
    counted: bool = False,
    precision: Precision = "double",
) -> SampledPairs:
    """Return the values of listed pairs for one bin, computed from the differences of their keys.

    `later` and `earlier` are row indices of the two keys of each pair; `law` describes the queries of bin `query_bin`.
    With `counted`, plasticity is counted over queries instead of computed from the law. `precision` applies to the
    product of differences and factor.
    """
    difference = np.subtract(keys.vectors[later], keys.vectors[earlier], dtype=np.float64)
    gap = difference @ (law.alpha + law.beta * queries.taus[query_bin])
    length = np.einsum("ij,ij->i", difference, difference)
    kind = np.float32 if precision == "single" else np.float64
    spread = _factored_keys(difference.astype(kind), law)
    variance = np.einsum("ij,ij->i", spread, spread).astype(np.float64)
    same_key = length == 0.0
    no_variance = ~same_key & (variance <= NEGLIGIBLE * law.mean_variance * length)
    if counted:
        plasticity, _ = counted_pairs(keys, later, earlier, queries, query_bin)
    else:
        plasticity = np.empty(later.size)
        kernel.plasticities(gap, np.where(same_key | no_variance, 1.0, variance), plasticity)
    return SampledPairs(
        plasticity=plasticity, mean_gap=gap, variance=variance, same_key=same_key, no_variance=no_variance
    )


def counted_pairs(
    keys: Keys, later: IntArray, earlier: IntArray, queries: BinnedQueries, query_bin: int
) -> tuple[Float64Array, BoolArray]:
    """Return the plasticity of listed pairs, counted over a bin's queries, and a mask of the pairs to leave out.

    `later` and `earlier` are row indices of the two keys of each pair. The plasticity is 4 p (1 - p) n / (n - 1), where
    p is the share of the n queries that prefer the first key. The mask marks pairs with equal keys and pairs along
    whose difference the queries do not vary.
    """
    vectors = queries.of(query_bin)
    n, rounding = len(vectors), slack(vectors.shape[1])
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    longest = float(lengths.max()) or 1.0
    margins = (lengths / longest).astype(np.float32)
    # scale queries by the longest, so that no score overflows or underflows
    in_range = 1e-9 < longest < 1e9
    scaled = (vectors if in_range else vectors / np.float64(longest)).astype(np.float32, copy=False)
    unit = longest if in_range else 1.0
    plasticity, no_variance = np.empty(later.size), np.zeros(later.size, dtype=np.bool_)
    for start in range(0, later.size, PAIR_BLOCK):
        pairs = slice(start, start + PAIR_BLOCK)
        first_keys, second_keys = keys.vectors[later[pairs]], keys.vectors[earlier[pairs]]
        difference = np.subtract(first_keys, second_keys, dtype=np.float64)
        distances = np.sqrt(np.einsum("ij,ij->i", difference, difference))
        farthest = float(distances.max()) or 1.0
        directions, slacks = (difference / (farthest * unit)).astype(np.float32), rounding * distances / farthest
        twice_votes = np.zeros(len(distances), dtype=np.int64)
        # queries vary along a difference if scores differ by more than rounding; other pairs are checked in double
        lowest, highest = np.full(len(distances), np.inf, np.float32), np.full(len(distances), -np.inf, np.float32)
        for first in range(0, n, QUERY_BLOCK):
            rows = slice(first, first + QUERY_BLOCK)
            scores = directions @ scaled[rows].T
            kernel.tally_preferences(scores, margins[rows], slacks, first_keys, second_keys, vectors[rows], twice_votes)
            extremes = scores[:, [0, -1]]
            lowest, highest = np.minimum(lowest, extremes.min(axis=1)), np.maximum(highest, extremes.max(axis=1))
        p = 0.5 * twice_votes / n
        plasticity[pairs] = 4.0 * p * (1.0 - p) * n / (n - 1.0)
        for row in np.flatnonzero(highest - lowest <= 4.0 * slacks + kernel.FAINT):
            no_variance[start + row] = distances[row] == 0.0 or _has_no_variance(difference[row], vectors)
    return plasticity, no_variance


def slack(dimension: int) -> float:
    """Return a bound on the rounding error of a score in single precision, relative to the lengths of query and key."""
    return (dimension + 4) * 2.0**-24


def _has_no_variance(difference: Float64Array, queries: FloatArray) -> bool:
    """Return whether the queries have no variance along a difference of keys."""
    rows, _ = centred(queries)
    scores = rows @ difference
    return bool(scores @ scores <= NEGLIGIBLE * float(np.sum(rows**2)) / rows.shape[1] * float(difference @ difference))


def sampled_pairs(
    keys: Keys,
    counts: IntArray,
    laws: dict[int, QueryLaw],
    queries: BinnedQueries,
    context: int,
    cells: tuple[int, int],
    cap: int,
    seed: int,
    counted: bool = False,
) -> PairSums:
    """Return sums over at most `cap` pairs of each bin, drawn without replacement, scaled up to all pairs.

    Parameters are those of `all_pairs`, plus the cap and the seed for drawing.
    """
    bins = counts.shape[0]
    gap_cells, tau_cells = cells
    distance_sums, cell_sums = np.zeros((3, bins, gap_cells)), np.zeros((2, gap_cells * tau_cells))
    same_key, no_variance = np.zeros((2, bins), dtype=np.int64)
    profile, error = np.zeros((2, bins))
    for query_bin, law in laws.items():
        later, earlier, total = draw_pairs(keys, counts[query_bin], cap, np.random.default_rng([seed, query_bin]))
        if total == 0:
            continue
        values = listed_pairs(keys, later, earlier, law, queries, query_bin, counted)
        same_key[query_bin] = np.count_nonzero(values.same_key)
        no_variance[query_bin] = np.count_nonzero(values.no_variance)
        use = ~(values.same_key | values.no_variance)
        used = int(np.count_nonzero(use))
        if used == 0:
            continue
        later_positions, earlier_positions = keys.positions[later[use]], keys.positions[earlier[use]]
        # slightly above the mean position, so that rounding cannot move a distance to a lower cell
        tau = queries.taus[query_bin] + 0.25 / queries.counts[query_bin]
        gap_cell = (later_positions - earlier_positions) * gap_cells // context
        midpoints = 0.5 * (later_positions + earlier_positions)
        tau_cell = ((tau - midpoints) * (tau_cells / context)).astype(np.int64)
        scale = total / later.size
        ones = np.ones(used)
        for column, weights in enumerate((ones, np.sqrt(values.variance[use]), np.abs(values.mean_gap[use]))):
            distance_sums[column, query_bin] = np.bincount(gap_cell, weights, gap_cells) * scale
        for column, weights in enumerate((ones, values.plasticity[use])):
            cell_sums[column] += np.bincount(gap_cell * tau_cells + tau_cell, weights, gap_cells * tau_cells) * scale
        profile[query_bin] = values.plasticity[use].sum() * scale
        if later.size < total and used > 1:
            correction = 1.0 - later.size / total
            error[query_bin] = np.sqrt(values.plasticity[use].var(ddof=1) / used * correction)
    return PairSums(
        count=distance_sums[kernel.COUNT],
        spread=distance_sums[kernel.SPREAD],
        mean_gap=distance_sums[kernel.MEAN_GAP],
        map_count=cell_sums[kernel.PAIRS].reshape(gap_cells, tau_cells),
        map_plasticity=cell_sums[kernel.PLASTICITY].reshape(gap_cells, tau_cells),
        plasticity=profile,
        same_key=same_key,
        no_variance=no_variance,
        error=error,
        precision="double",
    )


def add_sums(sums_of_bins: Sequence[PairSums]) -> PairSums:
    """Return the total of one or more sums that cover different bins."""
    names = [field.name for field in fields(PairSums) if field.name != "precision"]
    precision = "single" if all(sums.precision == "single" for sums in sums_of_bins) else "double"
    return PairSums(**{name: sum(getattr(sums, name) for sums in sums_of_bins) for name in names}, precision=precision)


def _bins_by_law(laws: dict[int, QueryLaw]) -> list[tuple[QueryLaw, IntArray]]:
    """Return each distinct law with the bins that have it."""
    by_law: dict[int, tuple[QueryLaw, list[int]]] = {}
    for query_bin, law in laws.items():
        by_law.setdefault(id(law), (law, []))[1].append(query_bin)
    return [(law, np.array(members, dtype=np.int64)) for law, members in by_law.values()]


def _factored_keys(rows: FloatArray, law: QueryLaw) -> FloatArray:
    """Return keys times the factor F of the queries' covariance; the products' Gram matrix has scores' covariances.

    `rows` may be overwritten to save a copy.
    """
    factor = law.factor.astype(rows.dtype, copy=False)
    if factor.ndim == 1:
        return np.multiply(rows, factor, out=rows)
    if not law.lower:
        return np.asarray(rows @ factor)
    multiply = blas.strmm if rows.dtype == np.float32 else blas.dtrmm
    # Fortran gets the transposes: (K L)' = L' K' in place, with half the multiplications of K @ L
    return np.asarray(multiply(1.0, factor.T, rows.T, lower=0, overwrite_b=1).T)


def _rough_scores(rows: Float64Array, queries: FloatArray) -> Float32Array:
    """Return the scores of shifted keys with queries scaled to length one, in single precision, (keys, queries).

    The scale keeps the signs of score differences, and bounds their rounding error.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", queries, queries, dtype=np.float64))
    unit_queries = np.divide(queries, np.where(lengths > 0, lengths, 1.0)[:, None]).astype(np.float32)
    return rows.astype(np.float32) @ unit_queries.T
