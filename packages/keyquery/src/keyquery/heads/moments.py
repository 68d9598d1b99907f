"""Compute first and second moments of queries and keys, and their linear drift with position."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from keyquery.heads.head import Float64Array, FloatArray, Head, IntArray

Precision = Literal["single", "double"]
PRECISIONS: tuple[str, ...] = get_args(Precision)

# Rows per block, so that a copy fits into the level-2 cache and sums in single precision stay short.
CHUNK = 512
SAMPLE_ROWS = 512  # for the first estimate of the mean


@dataclass(frozen=True, kw_only=True)
class Moments:
    """Moments of vectors x (queries or keys) at positions t, all with divisor n.

    `position_mean` is in tokens, `position_variance` in tokens squared; `position_covariance` is the covariance of x
    with t.
    """

    n: int
    mean: Float64Array
    covariance: Float64Array
    position_mean: float
    position_variance: float
    position_covariance: Float64Array

    @property
    def slope(self) -> Float64Array:
        """Least-squares slope of each dimension on position, per token, shape (d,)."""
        return self.position_covariance / self.position_variance

    @property
    def linear_share(self) -> float:
        """Share of the variance that is linear in position: |cov(x, t)|^2 / (var t * tr cov x); 0 without variance."""
        total = self.position_variance * float(np.trace(self.covariance))
        return float(self.position_covariance @ self.position_covariance) / total if total > 0 else 0.0

    def variance_along(self, direction: Float64Array) -> float:
        """Return the variance of the projection on a unit vector, clipped at zero."""
        return max(0.0, float(direction @ self.covariance @ direction))

    def correlation_along(self, direction: Float64Array) -> float:
        """Return the Pearson correlation of the projection on a unit vector with position; 0 if either is constant."""
        scale = np.sqrt(self.variance_along(direction) * self.position_variance)
        # a direction without variance may be slightly above 0 by rounding, so it is compared with the total variance
        if scale <= 1e-14 * np.sqrt(float(np.trace(self.covariance)) * self.position_variance):
            return 0.0
        return float(np.clip(direction @ self.position_covariance / scale, -1.0, 1.0))


@dataclass(frozen=True)
class HeadMoments:
    """Moments of a head's queries, of its keys, and of both pooled."""

    queries: Moments
    keys: Moments
    pool: Moments


def class_moments(vectors: FloatArray, positions: IntArray, precision: Precision = "double") -> Moments:
    """Return moments of vectors, computed in one pass from deviations from a point near the mean.

    `precision` applies to the products; sums over blocks of rows are in double. Vectors given in double precision are
    always processed in double.
    """
    n = len(vectors)
    times = np.asarray(positions, dtype=np.float64)
    position_mean = float(times.mean())
    times = times - position_mean
    scale = float(np.abs(times).max()) or 1.0
    origin, squares, sums = _shifted_sums(vectors, times / scale, precision)
    offset = sums[0] / n
    return Moments(
        n=n,
        mean=origin + offset,
        covariance=squares / n - np.outer(offset, offset),
        position_mean=position_mean,
        position_variance=float(times @ times) / n,
        position_covariance=sums[1] * (scale / n),
    )


def mean_and_products(vectors: FloatArray, precision: Precision = "double") -> tuple[Float64Array, Float64Array]:
    """Return the mean, shape (d,), and the sums of products of deviations, shape (d, d); see `class_moments`."""
    origin, squares, sums = _shifted_sums(vectors, None, precision)
    offset = sums[0] / len(vectors)
    return origin + offset, squares - len(vectors) * np.outer(offset, offset)


def _shifted_sums(
    vectors: FloatArray, times: Float64Array | None, precision: Precision
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return a point near the mean, sums of products of deviations from it, and sums of deviations.

    The sums of deviations have one row without weights and, if `times` are given, one row weighted with them.
    """
    n, d = vectors.shape
    kind = np.float32 if precision == "single" and vectors.dtype == np.float32 else np.float64
    # the mean of rows spread over the array: the remaining mean is small compared with the spread, so subtracting its
    # square at the end loses no digits
    origin = vectors[:: max(1, n // SAMPLE_ROWS)].mean(axis=0, dtype=np.float64).astype(kind)
    weights = np.ones((1 if times is None else 2, n), kind)
    if times is not None:
        weights[1] = times
    squares, sums = np.zeros((d, d)), np.zeros((len(weights), d))
    buffer = np.empty((min(CHUNK, n), d), kind)
    for start in range(0, n, CHUNK):
        rows = np.subtract(vectors[start : start + CHUNK], origin, out=buffer[: min(CHUNK, n - start)])
        squares += rows.T @ rows
        sums += weights[:, start : start + CHUNK] @ rows
    return origin.astype(np.float64), squares, sums


def centred(vectors: FloatArray) -> tuple[Float64Array, Float64Array]:
    """Return deviations from the mean, shape (n, d), in a new float64 array, and the mean, shape (d,)."""
    rows = vectors.astype(np.float64)
    # a matrix product with ones sums over rows several times faster than `mean`
    mean = np.ones(len(rows)) @ rows / len(rows)
    rows -= mean
    return rows, mean


def head_moments(head: Head, precision: Precision = "double", keys: Moments | None = None) -> HeadMoments:
    """Return the moments of a head's queries, keys and both pooled, with precision as in `class_moments`.

    `keys` are the moments of the head's keys, if they are known.
    """
    queries = class_moments(head.queries, head.query_positions, precision)
    keys = keys or class_moments(head.keys, head.key_positions, precision)
    return HeadMoments(queries, keys, pool_moments(queries, keys))


def pool_moments(first: Moments, second: Moments) -> Moments:
    """Return the moments of two classes pooled: moments within classes plus moments of the two means."""
    n = first.n + second.n
    a, b = first.n / n, second.n / n
    gap = first.mean - second.mean
    shift = first.position_mean - second.position_mean
    return Moments(
        n=n,
        mean=a * first.mean + b * second.mean,
        covariance=a * first.covariance + b * second.covariance + a * b * np.outer(gap, gap),
        position_mean=a * first.position_mean + b * second.position_mean,
        position_variance=a * first.position_variance + b * second.position_variance + a * b * shift**2,
        position_covariance=a * first.position_covariance + b * second.position_covariance + a * b * shift * gap,
    )
