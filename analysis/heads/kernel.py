"""Compiled loops over pairs of keys: variance from a Gram matrix, plasticity from a polynomial, sums by cell.

Pairs are written to a flat buffer, evaluated in one vectorised pass and added to the cells they belong to, so that
short documents cost no more per pair than long ones and nothing of the size of all pairs is ever held.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba
import numpy as np

from analysis.heads.head import FloatArray, IntArray

P = ParamSpec("P")
R = TypeVar("R")

# Pairs evaluated at once: what is written stays in the first level of cache.
TILE = 512

# Rows of a Gram matrix formed at once: only the part up to the diagonal of the last one.
BLOCK = 32

# Up to so many rows plain loops are faster than a call of BLAS.
SHORT = 16

# Loops run over whole vectors, past the last pair: a scalar rest would cost short documents most of their time.
LANES = 16

# Columns of the table of sums.
COUNT, PLASTICITY, MEAN_GAP, SPREAD = range(4)

# Columns of the table of exclusions: the two keys are equal; the queries do not vary along their difference.
SAME_KEY, NO_VARIANCE = range(2)

# (1 - erf(x)^2)^(1/4) as a polynomial in y = x^2 / (x^2 + 12), interpolated at Chebyshev nodes on 0 <= x^2 <= 27.5 with
# the value 1 at y = 0 held. Its fourth power is within 2.5e-13 of 1 - erf(x)^2 for every x, when y is cut at CUT:
# beyond, the function itself is below 2.5e-13.
SCALE = 12.0
CUT = 27.5 / (27.5 + SCALE)
C1, C2, C3 = -3.81971863420375, 4.852654771053402, -2.4896359424506174
C4, C5, C6 = -0.6515265731662523, 4.391482820702783, 1.1746727577431046
C7, C8, C9 = -10.196520090486558, -11.830140649483583, 45.36336978122573
C10, C11, C12 = -99.7371309325298, 525.0069349065074, -1860.1322780248563
C13, C14, C15 = 3807.2071503860293, -4843.752223347535, 3900.2404805165643
C16, C17, C18 = -1886.6440999621896, 460.4283466026294, -30.311486334857978


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of arrays and scalars; keep its type, and its machine code between runs."""
    # contraction to fused multiply-add only: no reordering of sums, infinities and NaN keep their meaning
    make = numba.njit(cache=True, error_model="numpy", fastmath={"contract"}, nogil=True)
    return cast(Callable[P, R], make(function))


def summed(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as `compiled`, and let sums be reordered: a sum over dimensions is then vectorised."""
    make = numba.njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc"}, nogil=True)
    return cast(Callable[P, R], make(function))


@compiled
def plasticity_of(mean_gap: float, variance: float) -> float:
    """Give 1 - erf(m / sqrt(2 v))^2 for a mean difference m and a variance v > 0, to 2.5e-13 absolute."""
    square = mean_gap * mean_gap
    # x^2 = m^2 / 2v, so x^2 / (x^2 + 12) needs neither the root nor a second division
    y = min(square / (square + 2.0 * SCALE * variance), CUT)
    p = C18 * y + C17
    p = p * y + C16
    p = p * y + C15
    p = p * y + C14
    p = p * y + C13
    p = p * y + C12
    p = p * y + C11
    p = p * y + C10
    p = p * y + C9
    p = p * y + C8
    p = p * y + C7
    p = p * y + C6
    p = p * y + C5
    p = p * y + C4
    p = p * y + C3
    p = p * y + C2
    p = p * y + C1
    p = p * y + 1.0
    p *= p
    return p * p


@compiled
def plasticities(mean_gaps: FloatArray, variances: FloatArray, out: FloatArray) -> None:
    """Write the plasticity of each pair into `out`."""
    for k in range(mean_gaps.size):
        out[k] = plasticity_of(mean_gaps[k], variances[k])


@compiled
def wins(first: FloatArray, second: FloatArray) -> float:
    """Give the share of queries that score the first key higher; a tie counts as half."""
    more = 0
    least = 0
    for k in range(first.size):
        more += first[k] > second[k]
        least += first[k] >= second[k]
    return 0.5 * (more + least) / first.size


@summed
def product(first: FloatArray, second: FloatArray) -> float:
    """Give the inner product of two rows in their own precision."""
    total = first[0] * second[0]
    for k in range(1, first.size):
        total += first[k] * second[k]
    return float(total)


@summed
def squared_distance(first: FloatArray, second: FloatArray) -> float:
    """Give the squared distance of two rows without the cancellation of a Gram matrix."""
    total = 0.0
    for k in range(first.size):
        step = float(first[k]) - float(second[k])
        total += step * step
    return total


@compiled
def differences(
    factored: FloatArray,
    keys: FloatArray,
    first: IntArray,
    second: IntArray,
    variances: FloatArray,
    lengths: FloatArray,
) -> None:
    """Write v and |w|^2 of listed pairs, from differences; for samples of pairs."""
    for k in range(first.size):
        variances[k] = squared_distance(factored[first[k]], factored[second[k]])
        lengths[k] = squared_distance(keys[first[k]], keys[second[k]])


@compiled
def preferences(scores: FloatArray, first: IntArray, second: IntArray, out: FloatArray) -> None:
    """Write the plasticity of listed pairs as counted over queries, 4 p (1 - p) n / (n - 1)."""
    queries = scores.shape[1]
    for k in range(first.size):
        p = wins(scores[first[k]], scores[second[k]])
        out[k] = 4.0 * p * (1.0 - p) * queries / (queries - 1.0)


@compiled
def accumulate(
    factored: FloatArray,
    scores: FloatArray,
    base: FloatArray,
    slope: FloatArray,
    positions: FloatArray,
    norms: FloatArray,
    keys: FloatArray,
    rows: IntArray,
    starts: IntArray,
    counts: IntArray,
    bins: IntArray,
    taus: FloatArray,
    across: int,
    along: int,
    context: float,
    share: float,
    negligible: float,
    table: FloatArray,
    excluded: IntArray,
) -> tuple[int, int]:
    """Add every eligible pair of keys of some groups to the cells of some query bins.

    Parameters
    ----------
    factored : ndarray, shape (n, r)
        Keys times a factor of the queries' covariance (Sigma = L L'), one group after the other.
    scores : ndarray, shape (n, queries) or (0, 0)
        Scores of each key with each query of the bin: plasticity is then counted, not computed; for a single bin.
    base, slope : ndarray, shape (n,)
        Mean score of each key in a bin is base + tau * slope.
    positions, norms : ndarray, shape (n,)
        Position and squared length of each key.
    keys, rows : ndarray, shape (m, d) and (n,)
        Keys as they are, and which of them each row is: to tell equal keys.
    starts, counts : ndarray of int, shapes (groups,) and (bins, groups)
        First row of each group, and how many of its leading rows are eligible in a bin.
    bins, taus : ndarray, shape (bins,)
        Which bins these are, and the mean position of their queries.
    across, along : int
        Cells by inter-key distance and by query-to-midpoint distance, both over the context.
    context : float
        Tokens.
    share : float
        Variances up to this share of the two squared lengths in the Gram matrix are computed directly.
    negligible : float
        A variance up to this many times |w|^2 counts as none.
    table : ndarray, shape (all bins * across * along + 1, 4), changed
        Sums by cell; the last row takes what is excluded.
    excluded : ndarray of int, shape (all bins, 2), changed
        Pairs left out.

    Returns
    -------
    direct, formed : int
        Variances computed directly, and all that were formed.
    """
    width = 0
    for g in range(starts.size):
        for b in range(taus.size):
            width = max(width, counts[b, g])
    size = width * (width - 1) // 2 + LANES
    gram = np.empty(BLOCK * width, factored.dtype)
    diagonal, limits = np.empty(width), np.empty(width)
    variances, spreads, bases, slopes = np.ones(size), np.ones(size), np.zeros(size), np.zeros(size)
    middles, distances, shares = np.zeros(size), np.zeros(size, np.int64), np.zeros(size)
    left_out, reason = np.empty(size, np.int64), np.empty(size, np.int64)
    gaps, values, cells = np.empty(TILE + LANES), np.empty(TILE + LANES), np.empty(TILE + LANES, np.int64)
    trash = table.shape[0] - 1
    counted = scores.shape[0] > 0
    # half a token off the edges: whole distances fall into their cell exactly, without a division
    by_distance, half = across / context, 0.5 * across / context
    by_midpoint = along / context
    direct, formed = 0, 0
    for g in range(starts.size):
        start, n = starts[g], 0
        for b in range(taus.size):
            n = max(n, counts[b, g])
        if n < 2:
            continue
        place, mean, drift = positions[start : start + n], base[start : start + n], slope[start : start + n]
        # pairs in the order (1, 0), (2, 0), (2, 1), ...: those of the first c keys come first, for every c
        fill, dropped = 0, 0
        for i in range(n):
            if i % BLOCK == 0:
                top = min(i + BLOCK, n)
                block = gram[: (top - i) * top].reshape(top - i, top)
                if n <= SHORT:
                    for k in range(n):
                        for j in range(k + 1):
                            block[k, j] = product(factored[start + k], factored[start + j])
                else:
                    np.dot(factored[start + i : start + top], factored[start : start + top].T, block)
                for j in range(i, top):
                    diagonal[j] = block[j - i, j]
                    limits[j] = share * diagonal[j] + 2.0 * negligible * norms[start + j]
            line = block[i % BLOCK]
            variance, middle = variances[fill : fill + i], middles[fill : fill + i]
            distance, gap, change = distances[fill : fill + i], bases[fill : fill + i], slopes[fill : fill + i]
            diagonal_i, limit_i, place_i, mean_i, drift_i = diagonal[i], limits[i], place[i], mean[i], drift[i]
            doubtful = 0
            # loops apart, as one over all these arrays would have too many to prove distinct and stay scalar
            for j in range(i):
                spread = diagonal_i + diagonal[j] - 2.0 * line[j]
                variance[j] = spread
                doubtful += spread <= limit_i + limits[j]
            for j in range(i):
                gap[j] = mean_i - mean[j]
            for j in range(i):
                change[j] = drift_i - drift[j]
            for j in range(i):
                middle[j] = 0.5 * (place_i + place[j])
            for j in range(i):
                distance[j] = along * int((place_i - place[j]) * by_distance + half)
            if doubtful > 0:
                direct += doubtful
                for j in range(i):
                    if variance[j] <= limit_i + limits[j]:
                        variance[j] = squared_distance(factored[start + i], factored[start + j])
                        length = squared_distance(keys[rows[start + i]], keys[rows[start + j]])
                        if length == 0.0 or variance[j] <= negligible * length:
                            left_out[dropped] = fill + j
                            reason[dropped] = SAME_KEY if length == 0.0 else NO_VARIANCE
                            dropped += 1
                            variance[j], gap[j], change[j], distance[j] = 1.0, 0.0, 0.0, trash
            if counted:
                queries = scores.shape[1]
                for j in range(i):
                    p = wins(scores[start + i], scores[start + j])
                    shares[fill + j] = 4.0 * p * (1.0 - p) * queries / (queries - 1.0)
            fill += i
        formed += fill
        for k in range(fill):
            spreads[k] = np.sqrt(variances[k])
        for b in range(taus.size):
            pairs = counts[b, g] * (counts[b, g] - 1) // 2
            tau, first_cell = taus[b], bins[b] * across * along
            for k in range(dropped):
                if left_out[k] < pairs:
                    excluded[bins[b], reason[k]] += 1
            for first in range(0, pairs, TILE):
                last = min(first + TILE, pairs)
                whole = (last - first + LANES - 1) // LANES * LANES
                here, there, wide = bases[first:], slopes[first:], variances[first:]
                for k in range(whole):
                    gap_k = here[k] + tau * there[k]
                    values[k] = plasticity_of(gap_k, wide[k])
                    gaps[k] = abs(gap_k)
                if counted:
                    values[: last - first] = shares[first:last]
                far, mid = distances[first:], middles[first:]
                for k in range(whole):
                    cells[k] = min(first_cell + far[k] + int((tau - mid[k]) * by_midpoint), trash)
                deviation = spreads[first:last]
                for k in range(last - first):
                    row = table[cells[k]]
                    row[0] += 1.0
                    row[1] += values[k]
                    row[2] += gaps[k]
                    row[3] += deviation[k]
    return direct, formed
