"""Describe a bin's queries by a mean, which may drift with position, and a covariance, as each estimator requires."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.linalg import lapack

from keyquery.heads.head import Float64Array, FloatArray, Head, IntArray
from keyquery.heads.moments import Moments, Precision, centred, class_moments, mean_and_products
from keyquery.rotary import bin_centres

Estimator = Literal["aligned_full", "bucket_full", "pooled_full", "pooled_diag", "bucket_diag", "empirical"]
ESTIMATORS: tuple[str, ...] = get_args(Estimator)
POOLED = ("pooled_full", "pooled_diag")
ALIGNED = ("aligned_full",)  # estimators that rotate queries to the centre of their bin

# If position explains more than this share of the variance along the drift, the residual covariance is computed from
# residuals, since subtraction would cancel its digits.
DRIFT_SHARE = 0.9999

# Single precision is too inexact if less than this share of a dimension's variance is independent of position and of
# other dimensions.
INDEPENDENT_SHARE = 1e-3

UNKNOWN_ROTATION = (
    "the rotation of this head is unknown, so its queries cannot be rotated to one position; give its `rotary` "
    "(NO_ROTATION if there is none), or use an estimator without rotation, such as bucket_full"
)


@dataclass(frozen=True, kw_only=True)
class QueryLaw:
    """Mean alpha + beta t and covariance F F' of queries at position t.

    `factor` is F, or its diagonal, shape (d,); F is lower triangular if `lower`. `mean_variance` is tr(F F') / d, the
    scale for deciding whether a variance counts as 0.
    """

    alpha: Float64Array
    beta: Float64Array
    factor: Float64Array
    lower: bool
    mean_variance: float


@dataclass(frozen=True, kw_only=True)
class BinnedQueries:
    """Queries sorted into equal bins of the context.

    `queries` are as captured, or rotated to the centres of their bins. `order` sorts them by bin; `edges` has the
    start of each bin in `order`, and at the end the number of queries. `counts` are the numbers of queries by bin, and
    `taus` their mean positions in tokens, NaN for an empty bin.
    """

    queries: FloatArray
    order: IntArray
    edges: IntArray
    counts: IntArray
    taus: Float64Array

    def of(self, query_bin: int) -> FloatArray:
        """Return the queries of one bin, shape (queries, d)."""
        return self.queries[self.order[self.edges[query_bin] : self.edges[query_bin + 1]]]


def binned(head: Head, bins: int, aligned: bool = False) -> BinnedQueries:
    """Return a head's queries sorted into bins; with `aligned`, rotated to the centre of their bin.

    Raises ValueError if `aligned` is set and the head's rotation is unknown.
    """
    bin_of = head.query_bins(bins)
    queries = head.queries
    if aligned:
        if head.rotary is None:
            raise ValueError(UNKNOWN_ROTATION)
        queries = head.rotary.turned(queries, bin_centres(head.context, bins)[bin_of] - head.query_positions)
    counts = np.bincount(bin_of, minlength=bins).astype(np.int64)
    sums = np.bincount(bin_of, weights=head.query_positions.astype(np.float64), minlength=bins)
    return BinnedQueries(
        queries=queries,
        order=np.argsort(bin_of, kind="stable"),
        edges=np.r_[0, np.cumsum(counts)],
        counts=counts,
        taus=np.divide(sums, counts, out=np.full(bins, np.nan), where=counts > 0),
    )


def pooled_law(head: Head, estimator: str, moments: Moments | None = None, precision: Precision = "double") -> QueryLaw:
    """Return one law fitted to all queries: a mean linear in position, and the covariance of the residuals.

    With the estimator `pooled_full`, the covariance is full (divisor n - 2); with `pooled_diag`, only its diagonal is
    used (divisor n - 1), in the basis of a Householder reflection that maps the first axis to the direction of beta.
    `moments` are the queries' moments, if known. With precision `single`, products are in single precision where that
    is exact enough.
    """
    moments = moments or class_moments(head.queries, head.query_positions, precision)
    beta = moments.slope
    alpha = moments.mean - beta * moments.position_mean
    if float(beta @ beta) ** 2 * moments.position_variance > DRIFT_SHARE * float(beta @ (moments.covariance @ beta)):
        rows, _ = centred(head.queries)
        rows -= np.outer(head.query_positions - moments.position_mean, beta)
        residual = rows.T @ rows
    else:
        residual = moments.n * (moments.covariance - moments.position_variance * np.outer(beta, beta))
    if estimator == "pooled_full":
        law = full_law(alpha, beta, residual / (moments.n - 2))
        if precision == "single" and not _has_independent_share(law, np.diag(moments.covariance)):
            return pooled_law(head, estimator)
        return law
    basis = householder(beta)
    variances = np.maximum(np.einsum("ij,ik,kj->j", basis, residual, basis, optimize=True), 0.0) / (moments.n - 1)
    factor = basis * np.sqrt(variances)
    return QueryLaw(alpha=alpha, beta=beta, factor=factor, lower=False, mean_variance=float(variances.mean()))


def bucket_law(queries: FloatArray, estimator: str, precision: Precision = "double") -> QueryLaw:
    """Return the law of one bin's queries: their mean and covariance (divisor n - 1), full or diagonal.

    There must be at least two queries. `bucket_diag` uses only the variances of the original dimensions, and other
    estimators use the full covariance. With precision `single`, products are in single precision where that is exact
    enough.
    """
    n, d = queries.shape
    zeros = np.zeros(d)
    if n > d and estimator != "bucket_diag":
        mean, products = mean_and_products(queries, precision)
        law = full_law(mean, zeros, products / (n - 1))
        if precision == "single" and not _has_independent_share(law, np.diag(products) / (n - 1)):
            return bucket_law(queries, estimator)
        return law
    rows, mean = centred(queries)
    if estimator == "bucket_diag":
        variances = np.einsum("ij,ij->j", rows, rows) / (n - 1)
        factor = np.sqrt(variances)
        return QueryLaw(alpha=mean, beta=zeros, factor=factor, lower=False, mean_variance=float(variances.mean()))
    # use the deviations themselves as the factor: it is the most exact one for a singular covariance
    factor = rows.T * (1.0 / math.sqrt(n - 1))
    return QueryLaw(alpha=mean, beta=zeros, factor=factor, lower=False, mean_variance=float(np.sum(factor**2)) / d)


def full_law(alpha: Float64Array, beta: Float64Array, covariance: Float64Array) -> QueryLaw:
    """Return a law whose factor comes from Cholesky, or from eigenvectors if the covariance is singular."""
    scale = float(np.trace(covariance)) / alpha.size
    # LAPACK's upper factor, column-major, is the lower factor in row-major order
    upper, failed = lapack.dpotrf(covariance, lower=0, clean=1)
    factor = upper.T
    if failed:
        values, vectors = np.linalg.eigh(covariance)
        factor = vectors * np.sqrt(np.maximum(values, 0.0))
    return QueryLaw(alpha=alpha, beta=beta, factor=factor, lower=not failed, mean_variance=scale)


def _has_independent_share(law: QueryLaw, variances: Float64Array) -> bool:
    """Return whether enough of each dimension's variance is independent of position and earlier dimensions."""
    return law.lower and bool((np.diag(law.factor) ** 2 >= INDEPENDENT_SHARE * variances).all())


def householder(direction: Float64Array) -> Float64Array:
    """Return the (d, d) reflection whose first column has the given direction; the identity if `direction` is 0."""
    size = float(np.linalg.norm(direction))
    identity = np.eye(direction.size)
    if size == 0.0:
        return identity
    normal = -direction / size
    # compute 1 - x_1 without cancellation, from the other components of the unit vector x
    other_squares = float(normal[1:] @ normal[1:])
    normal[0] = other_squares / (1.0 - normal[0]) if normal[0] < 0 else 1.0 + normal[0]
    square = float(normal @ normal)
    return identity if square == 0.0 else identity - 2.0 * np.outer(normal, normal) / square
