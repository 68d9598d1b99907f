"""Resample units with replacement, from a fixed seed."""

from collections.abc import Iterator

import numpy as np

from boundpaper.statistics.sample import FloatArray, IntArray, check_confidence

DRAWS = 9999
SEED = 0
LEAST_BOOTSTRAPPED = 20
"""Minimum number of units for a percentile interval: with 10 normal units a 95 % interval covers the mean in 90 % of
samples, and with 3 units in 76 %."""
CELLS = 2_000_000
"""Maximum number of array cells in memory at once, so that a bootstrap over thousands of heads takes tens of MB."""


def chunk_sizes(draws: int, cells_per_draw: int) -> Iterator[int]:
    """Yield the sizes of the chunks into which `draws` are split, each of at most `CELLS` cells but at least one draw.

    Raises ValueError if `draws` is not positive.
    """
    if draws < 1:
        raise ValueError(f"draws is {draws}; give at least 1, the default is {DRAWS}")
    size = max(1, CELLS // max(1, cells_per_draw))
    for start in range(0, draws, size):
        yield min(size, draws - start)


def resamples(n: int, draws: int = DRAWS, seed: int = SEED) -> Iterator[IntArray]:
    """Yield `draws` bootstrap samples of n units in chunks: int64 arrays of indices, one row of n per sample."""
    generator = np.random.default_rng(seed)
    for size in chunk_sizes(draws, n):
        # scaled uniforms, whose stream is the same in all numpy versions, unlike that of `integers`
        yield (generator.random((size, n)) * n).astype(np.int64)


def percentile_interval(values: FloatArray, confidence: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval of bootstrap values (Efron & Tibshirani 1993, ch. 13)."""
    tail = (1 - check_confidence(confidence)) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)
