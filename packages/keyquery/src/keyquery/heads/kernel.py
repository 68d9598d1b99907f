"""Compiled loops over pairs of keys: variance from a Gram matrix, plasticity from a polynomial, sums by cell.

Pairs are written to buffers of fixed size, document by document; the pairs of a long document are split into tiles.
For every query bin, the buffered pairs are evaluated in vectorised passes and added to the cells, so memory does not
grow with the number of pairs. All loops are in one file, since numba's cache of machine code belongs to a source file.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba
import numpy as np

from keyquery.heads.head import FloatArray, IntArray

P = ParamSpec("P")
R = TypeVar("R")

# Number of pairs evaluated at once: the results fit into the level-1 cache.
TILE = 512

# Rows and columns of one tile of a Gram matrix. Buffers are evaluated when they have CAPACITY pairs or more; the last
# tile may exceed CAPACITY.
BLOCK, WIDTH = 32, 256
CAPACITY = BLOCK * WIDTH

# Up to this many rows, plain loops are faster than a BLAS call.
SHORT = 24

# Loops run over whole SIMD vectors, beyond the last pair, since short documents would spend most time on a remainder.
LANES = 16

# The two keys of every pair of a short document, in the order (1, 0), (2, 0), (2, 1), ...
LATER, EARLIER = np.tril_indices(SHORT, -1)

# Columns of the sums by bin and inter-key distance, and of the sums by both distances.
COUNT, SPREAD, MEAN_GAP = range(3)
PAIRS, PLASTICITY = range(2)

# Columns of the counts of excluded pairs: equal keys; no variance of the queries along the keys' difference.
SAME_KEY, NO_VARIANCE = range(2)

# Largest number of queries counted at once; single precision counts them exactly.
EXACT_COUNT = 1 << 20

# Absolute rounding error, in units of the largest score, that even short queries and keys may have in single precision.
FAINT = 1e-30

# (1 - erf(x)^2)^(1/4) as a polynomial in y = x^2 / (x^2 + 12), interpolated at Chebyshev nodes on 0 <= x^2 <= 27.5 and
# fixed to 1 at y = 0. Its fourth power is within 2.5e-13 of 1 - erf(x)^2 for every x if y is cut at CUT, since beyond
# CUT the function itself is below 2.5e-13.
SCALE = 12.0
CUT = 27.5 / (27.5 + SCALE)
C1, C2, C3 = -3.81971863420375, 4.852654771053402, -2.4896359424506174
C4, C5, C6 = -0.6515265731662523, 4.391482820702783, 1.1746727577431046
C7, C8, C9 = -10.196520090486558, -11.830140649483583, 45.36336978122573
C10, C11, C12 = -99.7371309325298, 525.0069349065074, -1860.1322780248563
C13, C14, C15 = 3807.2071503860293, -4843.752223347535, 3900.2404805165643
C16, C17, C18 = -1886.6440999621896, 460.4283466026294, -30.311486334857978


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of arrays and scalars, preserve its type, and cache the machine code between runs."""
    # allow fused multiply-add only: sums are not reordered, and infinities and NaN are respected
    make = numba.njit(cache=True, error_model="numpy", fastmath={"contract"}, nogil=True)
    return cast(Callable[P, R], make(function))


def compiled_with_sums(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as `compiled` does, but allow reordering of sums, so that a sum over dimensions is vectorised."""
    make = numba.njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc"}, nogil=True)
    return cast(Callable[P, R], make(function))


@compiled
def plasticity_of(mean_gap: float, variance: float) -> float:
    """Return 1 - erf(m / sqrt(2 v))^2 for a mean difference m and a variance v > 0, with error below 2.5e-13."""
    square = mean_gap * mean_gap
    # with x^2 = m^2 / 2v, x^2 / (x^2 + 12) needs neither a root nor a second division
    y = min(square / (square + 2.0 * SCALE * variance), CUT)
    p = (((((C18 * y + C17) * y + C16) * y + C15) * y + C14) * y + C13) * y + C12
    p = (((((p * y + C11) * y + C10) * y + C9) * y + C8) * y + C7) * y + C6
    p = (((((p * y + C5) * y + C4) * y + C3) * y + C2) * y + C1) * y + 1.0
    p *= p
    return p * p


@compiled
def plasticities(mean_gaps: FloatArray, variances: FloatArray, out: FloatArray) -> None:
    """Write the plasticity of each pair into `out`."""
    for k in range(mean_gaps.size):
        out[k] = plasticity_of(mean_gaps[k], variances[k])


@compiled_with_sums
def inner_product(first: FloatArray, second: FloatArray) -> float:
    """Return the inner product of two rows, computed in the rows' precision."""
    # start from zero: starting with the first product would leave an odd number of terms for the SIMD vectors
    total = first[0] - first[0]
    for k in range(first.size):
        total += first[k] * second[k]
    return float(total)


@compiled_with_sums
def squared_distance(first: FloatArray, second: FloatArray) -> float:
    """Return the squared distance of two rows, without the cancellation that a Gram matrix would cause."""
    total = 0.0
    for k in range(first.size):
        step = np.float64(first[k]) - np.float64(second[k])
        total += step * step
    return total


@compiled_with_sums
def count_clear(first: FloatArray, second: FloatArray, slack: float) -> tuple[int, int]:
    """Return how many queries certainly score the first key higher, and how many possibly do.

    Scores are in single precision; a difference of `slack` or less is uncertain.
    """
    certain, possible = 0, 0
    margin = np.float32(slack)
    for start in range(0, first.size, EXACT_COUNT):
        above, not_below = np.float32(0.0), np.float32(0.0)
        for k in range(start, min(start + EXACT_COUNT, first.size)):
            gap = first[k] - second[k]
            above += np.float32(1.0) if gap > margin else np.float32(0.0)
            not_below += np.float32(1.0) if gap >= -margin else np.float32(0.0)
        certain += int(above)
        possible += int(not_below)
    return certain, possible


@compiled_with_sums
def score(query: FloatArray, key: FloatArray) -> float:
    """Return the inner product of a captured query and key in double precision."""
    total = 0.0
    for k in range(query.size):
        total += np.float64(query[k]) * np.float64(key[k])  # `float` would keep single precision
    return total


@compiled
def counted_plasticity(
    first: FloatArray,
    second: FloatArray,
    slack: float,
    first_key: FloatArray,
    second_key: FloatArray,
    queries: FloatArray,
) -> float:
    """Return the plasticity of a pair counted over queries, 4 p (1 - p) n / (n - 1); a tie counts as half.

    Parameters
    ----------
    first, second : ndarray of float32, shape (n,)
        Scores of the two keys with each query, up to a positive factor per query and a common term.
    slack : float
        Largest rounding error of a difference of two scores. Differences up to it are recomputed in double precision.
    first_key, second_key : ndarray, shape (d,)
        The two keys as captured.
    queries : ndarray, shape (n, d)
        The queries as captured.
    """
    certain, possible = count_clear(first, second, slack)
    twice_votes = 2 * certain
    if certain != possible:
        margin = np.float32(slack)
        for k in range(first.size):
            if abs(first[k] - second[k]) <= margin:
                first_score, second_score = score(queries[k], first_key), score(queries[k], second_key)
                twice_votes += (first_score > second_score) + (first_score >= second_score)
    p = 0.5 * twice_votes / first.size
    return 4.0 * p * (1.0 - p) * first.size / (first.size - 1.0)


@compiled
def short_variances(rows: FloatArray, diagonal: FloatArray, limits: FloatArray, out: FloatArray, count: int) -> int:
    """Write the variances of a short document's pairs; return how many must be recomputed from the keys."""
    for p in range(count):
        out[p] = inner_product(rows[LATER[p]], rows[EARLIER[p]])
    doubtful = 0
    for p in range(count):
        i, j = LATER[p], EARLIER[p]
        spread = diagonal[i] + diagonal[j] - 2.0 * out[p]
        out[p] = spread
        doubtful += spread <= limits[i] + limits[j]
    return doubtful


@compiled
def line_variances(
    line: FloatArray, diagonal: FloatArray, limits: FloatArray, square: float, limit: float, out: FloatArray
) -> int:
    """Write the variances of a key's pairs with earlier keys, from a row of the Gram matrix.

    Return how many must be recomputed from the keys.
    """
    doubtful = 0
    for j in range(out.size):
        spread = square + diagonal[j] - 2.0 * line[j]
        out[j] = spread
        doubtful += spread <= limit + limits[j]
    return doubtful


@compiled
def direct_variance(
    first_row: FloatArray, second_row: FloatArray, first_key: FloatArray, second_key: FloatArray, negligible: float
) -> tuple[float, int]:
    """Return the variance of two keys' score difference, and the code of a reason to exclude the keys (-1: none)."""
    variance, length = squared_distance(first_row, second_row), squared_distance(first_key, second_key)
    if length == 0.0:
        return variance, SAME_KEY
    return variance, NO_VARIANCE if variance <= negligible * length else -1


@compiled_with_sums
def clear_scores(scores: FloatArray, margins: FloatArray, slack: float) -> tuple[int, int]:
    """Return how many scores are certainly above zero, and how many possibly are, with a margin per query."""
    above, not_below = np.float32(0.0), np.float32(0.0)
    share = np.float32(slack)
    for k in range(scores.size):
        margin = share * margins[k] + np.float32(FAINT)
        above += np.float32(1.0) if scores[k] > margin else np.float32(0.0)
        not_below += np.float32(1.0) if scores[k] >= -margin else np.float32(0.0)
    return int(above), int(not_below)


@compiled
def tally_preferences(
    scores: FloatArray,
    margins: FloatArray,
    slacks: FloatArray,
    first_keys: FloatArray,
    second_keys: FloatArray,
    queries: FloatArray,
    twice_votes: IntArray,
) -> None:
    """Add to each listed pair's count twice the number of queries that prefer the first key; a tie counts as half.

    `scores` (pairs, n, float32) are the scores of the keys' differences with the queries, scaled to be about 1 at most.
    `margins` (n,) are the lengths of the queries, divided by the longest, and `slacks` (pairs,) the rounding errors of
    a score for a query of margin 1. Scores within their rounding error are recomputed from `first_keys` and
    `second_keys` (pairs, d), as captured, and `queries` (n, d). There are at most `EXACT_COUNT` queries. `twice_votes`
    (pairs,) has twice the counts, and is changed.
    """
    for pair in range(len(scores)):
        line, slack = scores[pair], slacks[pair]
        certain, possible = clear_scores(line, margins, slack)
        twice_votes[pair] += 2 * certain
        if certain != possible:
            share = np.float32(slack)
            for k in range(line.size):
                if abs(line[k]) <= share * margins[k] + np.float32(FAINT):
                    first_score = score(queries[k], first_keys[pair])
                    second_score = score(queries[k], second_keys[pair])
                    twice_votes[pair] += (first_score > second_score) + (first_score >= second_score)


@compiled_with_sums
def array_sum(values: FloatArray) -> float:
    """Return the sum of an array."""
    subtotal = 0.0
    for k in range(values.size):
        subtotal += values[k]
    return subtotal


@compiled
def centre_keys(
    vectors: FloatArray, shift: FloatArray, means: FloatArray, rows: FloatArray, norms: FloatArray, scores: FloatArray
) -> None:
    """Write the keys minus a point near their mean, and the shifted keys' squared lengths and scores with query means.

    `vectors` are the captured keys, `shift` is the point, and `means` are means or slopes of queries. The keys minus
    the point are written to `rows` in the precision of the products, the squared lengths to `norms` and the scores to
    `scores`, both in double precision.
    """
    key = np.empty(shift.size)
    for i in range(len(vectors)):
        vector, row = vectors[i], rows[i]
        for k in range(key.size):
            key[k] = vector[k] - shift[k]
        for k in range(key.size):
            row[k] = key[k]
        norms[i] = inner_product(key, key)
        for m in range(len(means)):
            scores[m, i] = inner_product(key, means[m])


@compiled
def add_buffered_pairs(
    variances: FloatArray,
    bases: FloatArray,
    slopes: FloatArray,
    middles: FloatArray,
    distances: IntArray,
    shares: FloatArray,
    ends: IntArray,
    left_out: IntArray,
    reasons: IntArray,
    counted: bool,
    bins: IntArray,
    taus: FloatArray,
    shifts: FloatArray,
    distance_sums: FloatArray,
    cell_sums: FloatArray,
    profile: FloatArray,
    excluded: IntArray,
    context: float,
    gaps: FloatArray,
    values: FloatArray,
    cell_of: IntArray,
) -> None:
    """Add the pairs in the buffers to the sums of query bins; pairs before ends[b] belong to bin b."""
    along = cell_sums.shape[1]
    by_midpoint = along / context
    flat = cell_sums.reshape(-1, 2)
    added = 0
    for b in range(taus.size):
        end, tau, shift, bin_sums = ends[b], taus[b], shifts[b], distance_sums[bins[b]]
        for k in range(added, end):
            # a pair's spread and count are the same in every later bin
            sums = bin_sums[distances[k]]
            sums[COUNT] += 1.0
            sums[SPREAD] += np.sqrt(variances[k])
        added = max(added, end)
        dropped = 0
        for k in range(left_out.size):
            if left_out[k] < end:
                excluded[bins[b], reasons[k]] += 1
                dropped += 1
        subtotal = 0.0
        for first in range(0, end, TILE):
            last = min(first + TILE, end)
            padded = (last - first + LANES - 1) // LANES * LANES
            base, slope, variance = bases[first:], slopes[first:], variances[first:]
            for k in range(padded):
                gap = base[k] + tau * slope[k]
                values[k] = plasticity_of(gap, variance[k])
                gaps[k] = abs(gap)
            if counted:
                values[: last - first] = shares[first:last]
            distance, middle = distances[first:], middles[first:]
            for k in range(padded):
                cell_of[k] = along * distance[k] + int((shift - middle[k]) * by_midpoint)
            subtotal += array_sum(values[: last - first])
            for k in range(last - first):
                cell = flat[cell_of[k]]
                cell[PAIRS] += 1.0
                cell[PLASTICITY] += values[k]
                bin_sums[distance[k], MEAN_GAP] += gaps[k]
        profile[bins[b]] += subtotal - dropped  # an excluded pair counts as 1


@compiled
def add_group_pairs(
    factored: FloatArray,
    base: FloatArray,
    slope: FloatArray,
    positions: FloatArray,
    norms: FloatArray,
    keys: FloatArray,
    captured: IntArray,
    scores: FloatArray,
    queries: FloatArray,
    starts: IntArray,
    counts: IntArray,
    bins: IntArray,
    taus: FloatArray,
    shifts: FloatArray,
    context: float,
    share: float,
    negligible: float,
    slack: float,
    distance_sums: FloatArray,
    cell_sums: FloatArray,
    profile: FloatArray,
    excluded: IntArray,
) -> tuple[int, int]:
    """Add every eligible pair of keys in some groups to the sums of query bins.

    Parameters
    ----------
    factored : ndarray, shape (n, r)
        Keys times a factor of the queries' covariance (Sigma = L L'), one group after the other.
    base, slope : ndarray, shape (n,)
        Mean score of each key in a bin is base + tau * slope.
    positions, norms : ndarray, shape (n,)
        Position and squared length of each key.
    keys, captured : ndarray, shape (m, d) and ndarray of int, shape (n,)
        Keys as captured, by which equal keys are found, and the index of each row's key among them.
    scores, queries : ndarray of float32, shape (n, q), and ndarray, shape (q, d)
        Scores of each key with each query of one bin, and the queries, if plasticity is counted (see
        `counted_plasticity`); both are empty if plasticity is computed from the law.
    starts, counts : ndarray of int, shapes (groups,) and (bins, groups)
        First row of each group, and how many rows from there on are eligible in each bin (non-decreasing over bins).
    bins, taus, shifts : ndarray, shape (bins,)
        Indices of the bins, mean positions of their queries, and slightly shifted mean positions for the cells.
    context : float
        Length of the context in tokens.
    share : float
        Variances up to this share of the keys' squared lengths in the Gram matrix are recomputed directly.
    negligible : float
        A variance up to this many times |w|^2 counts as 0.
    slack : float
        The slack of `counted_plasticity` divided by the sum of the two keys' lengths.
    distance_sums : ndarray, shape (all bins, across + 1, 3), changed
        Sums by inter-key distance. A pair's count and spread are added only to the first of its bins.
    cell_sums : ndarray, shape (across + 1, along, 2), changed
        Sums over all bins by both distances. Here and in `distance_sums`, the last row is for excluded pairs.
    profile : ndarray, shape (all bins,), changed
        Sums of plasticity by bin.
    excluded : ndarray of int, shape (all bins, 2), changed
        Numbers of excluded pairs by bin and reason.

    Returns
    -------
    recomputed, formed : int
        Number of variances recomputed directly, and of all variances.
    """
    across = cell_sums.shape[0] - 1
    longest = 0
    for g in range(starts.size):
        longest = max(longest, counts[-1, g])
    gram = np.empty(CAPACITY, factored.dtype)
    diagonal, limits = np.empty(longest), np.empty(longest)
    size = min(2 * CAPACITY, longest * (longest - 1) // 2) + LANES
    variances, bases, slopes, middles = np.ones(size), np.zeros(size), np.zeros(size), np.zeros(size)
    distances, shares = np.zeros(size, np.int64), np.zeros(size)
    left_out, reasons, ends = np.empty(size, np.int64), np.empty(size, np.int64), np.zeros(taus.size, np.int64)
    gaps, values, cell_of = np.empty(TILE + LANES), np.empty(TILE + LANES), np.empty(TILE + LANES, np.int64)
    counted = len(scores) > 0
    # half a token is added, since rounding could move a distance at the edge of a cell to the previous cell
    by_distance, half_token = across / context, 0.5 / context
    recomputed, formed = 0, 0
    for g in range(starts.size):
        start, n = starts[g], counts[-1, g]
        if n < 2:
            continue
        position, mean, drift = positions[start : start + n], base[start : start + n], slope[start : start + n]
        rows, lengths, ids = factored[start : start + n], norms[start : start + n], captured[start : start + n]
        for i in range(n):
            diagonal[i] = inner_product(rows[i], rows[i])
            limits[i] = share * diagonal[i] + 2.0 * negligible * lengths[i]
        fill, dropped = 0, 0
        ends[:] = 0
        for top in range(0, n, BLOCK):
            bottom = min(top + BLOCK, n)
            for left in range(0, bottom - 1, WIDTH):
                right = min(left + WIDTH, bottom)
                tile = gram[: (bottom - top) * (right - left)].reshape(bottom - top, right - left)
                first_pair, doubtful = fill, 0
                if n > SHORT:
                    np.dot(rows[top:bottom], rows[left:right].T, tile)
                else:
                    doubtful = short_variances(rows, diagonal, limits, variances, n * (n - 1) // 2)
                    for p in range(n * (n - 1) // 2):
                        bases[p] = mean[LATER[p]] - mean[EARLIER[p]]
                        slopes[p] = drift[LATER[p]] - drift[EARLIER[p]]
                    for p in range(n * (n - 1) // 2):
                        middles[p] = 0.5 * (position[LATER[p]] + position[EARLIER[p]])
                        distances[p] = int((position[LATER[p]] - position[EARLIER[p]]) * by_distance + half_token)
                for i in range(max(top, left + 1), bottom):
                    m = min(i, right) - left
                    if n > SHORT:
                        stop = left + m
                        variance, gap, change = variances[fill:], bases[fill:], slopes[fill:]
                        middle, distance = middles[fill:], distances[fill:]
                        mean_i, drift_i, position_i = mean[i], drift[i], position[i]
                        means, drifts, other_positions = mean[left:stop], drift[left:stop], position[left:stop]
                        doubtful += line_variances(
                            tile[i - top], diagonal[left:stop], limits[left:stop], diagonal[i], limits[i], variance[:m]
                        )
                        # separate loops: with so many arrays in one loop, the compiler cannot exclude aliasing and
                        # does not vectorise
                        for j in range(m):
                            gap[j] = mean_i - means[j]
                        for j in range(m):
                            change[j] = drift_i - drifts[j]
                        for j in range(m):
                            middle[j] = 0.5 * (position_i + other_positions[j])
                        for j in range(m):
                            distance[j] = int((position_i - other_positions[j]) * by_distance + half_token)
                    fill += m
                    for b in range(taus.size - 1, -1, -1):
                        if counts[b, g] <= i:
                            break
                        ends[b] = fill
                recomputed, formed = recomputed + doubtful, formed + fill - first_pair
                if doubtful > 0 or counted:
                    p = first_pair
                    for i in range(max(top, left + 1), bottom):
                        for j in range(left, min(i, right)):
                            reason = -1
                            if variances[p] <= limits[i] + limits[j]:
                                variances[p], reason = direct_variance(
                                    rows[i], rows[j], keys[ids[i]], keys[ids[j]], negligible
                                )
                            if reason >= 0:
                                left_out[dropped], reasons[dropped] = p, reason
                                dropped += 1
                                variances[p], bases[p], slopes[p], distances[p], shares[p] = 1.0, 0.0, 0.0, across, 1.0
                            elif counted:
                                margin = slack * (np.sqrt(lengths[i]) + np.sqrt(lengths[j]))
                                shares[p] = counted_plasticity(
                                    scores[start + i], scores[start + j], margin, keys[ids[i]], keys[ids[j]], queries
                                )
                            p += 1
                if fill > 0 and (n > WIDTH or fill >= CAPACITY or bottom == n):
                    add_buffered_pairs(
                        variances,
                        bases,
                        slopes,
                        middles,
                        distances,
                        shares,
                        ends,
                        left_out[:dropped],
                        reasons[:dropped],
                        counted,
                        bins,
                        taus,
                        shifts,
                        distance_sums,
                        cell_sums,
                        profile,
                        excluded,
                        context,
                        gaps,
                        values,
                        cell_of,
                    )
                    fill, dropped = 0, 0
                    ends[:] = 0
    return recomputed, formed
