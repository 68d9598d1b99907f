"""Run permutation tests: over all relabelings if there are few enough, else over seeded random draws.

Every p counts the identity as a relabeling. All n! relabelings count, even those that only exchange tied values: this
is the conditional distribution given the observed values.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product

import numpy as np

from boundpaper.statistics.bootstrap import DRAWS, SEED, chunk_sizes
from boundpaper.statistics.correlations.coefficient import TIE
from boundpaper.statistics.sample import Alternative, FloatArray, IntArray, check_alternative

EXACT_UP_TO = 8
EXACT_RELABELINGS = math.factorial(EXACT_UP_TO)
EXACT_SIGNS_UP_TO = 15


@dataclass(frozen=True)
class PermutationP:
    """The outcome of a permutation test.

    Parameters
    ----------
    p_value : float
        Fraction of relabelings whose statistic is at least as extreme as the observed one.
    smallest : float
        The smallest possible p of the test with these values.
    note : str
        How p was computed.
    """

    p_value: float
    smallest: float
    note: str


@lru_cache(maxsize=EXACT_UP_TO)
def relabelings(n: int) -> IntArray:
    """Return all permutations of n indices.

    The array, int64 of shape (n!, n), is read-only and begins with the identity. Raises ValueError if n is above 8.
    """
    if n > EXACT_UP_TO:
        raise ValueError(f"{n}! relabelings are too many to list; draw them with random_relabelings")
    table = np.array(list(permutations(range(n))), dtype=np.int64).reshape(math.factorial(n), n)
    table.flags.writeable = False
    return table


def random_relabelings(blocks: Sequence[IntArray], draws: int, seed: int, cells_per_draw: int) -> Iterator[IntArray]:
    """Yield random permutations that move units only within their block.

    `blocks` partition 0..n-1; one block of all units permutes them freely. Each array is an int64 chunk of permutations
    with n columns. `cells_per_draw` is the number of array cells that the caller needs per draw; it limits the rows of
    a chunk.
    """
    n = sum(block.size for block in blocks)
    generator = np.random.default_rng(seed)
    for size in chunk_sizes(draws, max(n, cells_per_draw)):
        table = np.empty((size, n), dtype=np.int64)
        for block in blocks:
            # sorting uniforms permutes uniformly, and their stream is the same in all numpy versions
            table[:, block] = block[np.argsort(generator.random((size, block.size)), axis=1)]
        yield table


def exact_relabelings(blocks: Sequence[IntArray]) -> IntArray:
    """Return every permutation that moves units only within their block, shape (product of factorials, n)."""
    n = sum(block.size for block in blocks)
    block_tables = [block[relabelings(block.size)] for block in blocks]
    if len(blocks) == 1 and np.array_equal(blocks[0], np.arange(n)):
        return block_tables[0]
    choices = np.array(list(product(*(range(len(block_table)) for block_table in block_tables))), dtype=np.int64)
    table = np.empty((len(choices), n), dtype=np.int64)
    for block, block_table, choice in zip(blocks, block_tables, choices.T, strict=True):
        table[:, block] = block_table[choice]
    return table


def _extremity(values: FloatArray, alternative: Alternative) -> FloatArray:
    """Return numbers that grow with extremity: absolute values if two-sided, else the values or their negatives."""
    return np.abs(values) if alternative == "two-sided" else values if alternative == "greater" else -values


def _exact_p(extremities: FloatArray, threshold: float, tie: float, noun: str) -> PermutationP:
    """Return the p-value over all relabelings or flips, given the extremity of each; the note calls them `noun`."""
    count = extremities.size
    as_extreme = int(np.count_nonzero(extremities >= threshold))
    most_extreme = int(np.count_nonzero(extremities >= extremities.max() - tie))
    return PermutationP(as_extreme / count, most_extreme / count, f"exact p over {count} {noun}")


def _monte_carlo_p(as_extreme: int, draws: int, seed: int, noun: str) -> PermutationP:
    """Return the p-value over random relabelings or flips (Phipson and Smyth 2010); the note calls them `noun`."""
    note = f"Monte-Carlo p over {draws} {noun} with seed {seed}"
    return PermutationP((as_extreme + 1) / (draws + 1), 1 / (draws + 1), note)


def permutation_p(
    observed: float,
    statistic: Callable[[IntArray], FloatArray],
    blocks: Sequence[IntArray],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    cells_per_draw: int = 0,
    tie: float = TIE,
    alternative: Alternative = "two-sided",
) -> PermutationP:
    """Test a statistic against its values under relabelings of the units.

    Raises ValueError if `alternative` is unknown.

    Parameters
    ----------
    observed : float
        The statistic of the identity.
    statistic : callable
        Maps relabelings of shape (m, n) to their m statistics.
    blocks : sequence of ndarray of int64
        Blocks of units; units are only exchanged within a block.
    draws, seed : int
        Number and random seed of the relabelings that are drawn if the blocks allow more than 8! = 40,320 relabelings,
        or one block has more than 8 units.
    cells_per_draw : int
        Number of array cells that `statistic` needs per relabeling.
    tie : float
        Statistics that differ by at most `tie` count as equal; rounding differences grow with the magnitude of the
        values over their spread (`coefficient.tie_tolerance`).
    alternative : {"two-sided", "greater", "less"}
        Which relabelings count as extreme: those with a statistic of at least the observed size, at least as large, or
        at most as large.

    Returns
    -------
    PermutationP
        If all relabelings are counted, p is the share with |statistic| >= |observed| - tie. If they are drawn, it is
        (b + 1) / (m + 1), where b of m draws are so extreme (Phipson & Smyth 2010).
    """
    check_alternative(alternative, "permutation_p")
    threshold = float(_extremity(np.array([observed]), alternative)[0]) - tie
    count = math.prod(math.factorial(block.size) for block in blocks)
    if max(block.size for block in blocks) <= EXACT_UP_TO and count <= EXACT_RELABELINGS:
        extremities = _extremity(statistic(exact_relabelings(blocks)), alternative)
        return _exact_p(extremities, threshold, tie, "relabelings")
    as_extreme = sum(
        int(np.count_nonzero(_extremity(statistic(table), alternative) >= threshold))
        for table in random_relabelings(blocks, draws, seed, cells_per_draw)
    )
    return _monte_carlo_p(as_extreme, draws, seed, "relabelings")


def sign_flip_p(
    differences: FloatArray,
    *,
    size: float | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    alternative: Alternative = "two-sided",
) -> PermutationP:
    """Test the mean difference of pairs against all flips of the differences' signs (Fisher 1935).

    Raises ValueError if `alternative` is unknown.

    Parameters
    ----------
    differences : ndarray, shape (n,)
        At least one difference.
    size : float, optional
        Largest magnitude of the values that were subtracted, which determines the rounding error; by default the
        largest magnitude of the differences.
    draws, seed : int
        Number and random seed of the flips that are drawn above n = 15. Up to n = 15 all 2^n flips are counted.
    alternative : {"two-sided", "greater", "less"}
        Which flips count as extreme: those with a mean of at least the observed size, at least as large, or at most as
        large.
    """
    check_alternative(alternative, "sign_flip_p")
    n = differences.size
    scale = float(np.max(np.abs(differences))) or 1.0
    scaled = differences / scale
    # flips that are equal in exact arithmetic may differ by the rounding of the values subtracted
    tie = max(TIE, 4 * float(np.finfo(np.float64).eps) * (size or scale) / scale)
    threshold = float(_extremity(np.array([scaled.mean()]), alternative)[0]) - tie
    if n <= EXACT_SIGNS_UP_TO:
        bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        return _exact_p(_extremity((1.0 - 2.0 * bits) @ scaled / n, alternative), threshold, tie, "sign flips")
    generator = np.random.default_rng(seed)
    as_extreme = 0
    for count in chunk_sizes(draws, n):
        signs = np.where(generator.random((count, n)) < 0.5, -1.0, 1.0)
        as_extreme += int(np.count_nonzero(_extremity(signs @ scaled / n, alternative) >= threshold))
    return _monte_carlo_p(as_extreme, draws, seed, "sign flips")
