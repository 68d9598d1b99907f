"""Compute PCA of pooled queries and keys, and classify what the first component encodes."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from keyquery.heads.head import Float64Array
from keyquery.heads.moments import HeadMoments

COMPONENTS = 10

# Correlations below LOW count as zero, above HIGH as dominant; those within UNSIGNED of zero have no reliable sign.
LOW, HIGH = 0.3, 0.7
UNSIGNED = 0.05

POSITION_DOMINATED = "position-dominated"
Q_POSITIONAL = "Q-positional"
K_POSITIONAL = "K-positional"
CONTENT_FOCUSED = "content-focused"
MIXED = "mixed"


@dataclass(frozen=True, kw_only=True)
class Components:
    """Principal components of the pooled queries and keys of a head.

    Parameters
    ----------
    directions : ndarray, shape (components, d)
        Unit vectors, by decreasing variance.
    explained : ndarray, shape (components,)
        Each component's share of the variance of the pooled vectors.
    r_q, r_k : ndarray, shape (components,)
        Correlation of the projections with position within queries and within keys.
    linear_share_q, linear_share_k : float
        Share of the variance of queries and of keys that is linear in position.
    kind : str
        What the first component encodes, see `component_kind`.
    """

    directions: Float64Array
    explained: Float64Array
    r_q: Float64Array
    r_k: Float64Array
    linear_share_q: float
    linear_share_k: float
    kind: str


def pca(moments: HeadMoments, components: int = COMPONENTS) -> Components:
    """Return the first principal components of queries and keys, pooled, and their correlations with position.

    A component's sign is chosen so that r_q is positive, or, if |r_q| is below .05, so that r_k is positive. Raises
    ValueError if `components` is not between 1 and d, or the vectors do not vary.
    """
    pool = moments.pool
    d = pool.mean.size
    if not 1 <= components <= d:
        raise ValueError(f"{components} components of {d} dimensions; give 1 to {d}")
    total = float(np.trace(pool.covariance))
    if total <= 0:
        raise ValueError("queries and keys are all equal; a head without variance has no components")
    values, vectors = linalg.eigh(pool.covariance, subset_by_index=(d - components, d - 1))
    directions = np.ascontiguousarray(vectors[:, ::-1].T)
    r_q = np.array([moments.queries.correlation_along(row) for row in directions])
    r_k = np.array([moments.keys.correlation_along(row) for row in directions])
    signs = np.where(np.where(np.abs(r_q) < UNSIGNED, r_k, r_q) < 0, -1.0, 1.0)
    return Components(
        directions=directions * signs[:, None],
        explained=np.maximum(values[::-1], 0.0) / total,
        r_q=r_q * signs,
        r_k=r_k * signs,
        linear_share_q=moments.queries.linear_share,
        linear_share_k=moments.keys.linear_share,
        kind=component_kind(float(r_q[0] * signs[0]), float(r_k[0] * signs[0])),
    )


def component_kind(r_q: float, r_k: float) -> str:
    """Return what a component encodes, from its correlations with position (after its sign was chosen)."""
    if r_q > HIGH and abs(r_k) > HIGH:
        return POSITION_DOMINATED
    if r_q > HIGH and abs(r_k) < LOW:
        return Q_POSITIONAL
    if r_q < LOW and abs(r_k) > HIGH:
        return K_POSITIONAL
    if abs(r_q) < LOW and abs(r_k) < LOW:
        return CONTENT_FOCUSED
    return MIXED
