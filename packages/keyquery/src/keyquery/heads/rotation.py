"""Find the plane of a head: the axis of drift with position, and the axis that separates queries from keys."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy import linalg

from keyquery.heads.head import Float64Array
from keyquery.heads.moments import HeadMoments

Separation = Literal["distance", "centroid"]
SEPARATIONS: tuple[str, ...] = get_args(Separation)


@dataclass(frozen=True, kw_only=True)
class Rotation:
    """The plane (a, b) of a head.

    Parameters
    ----------
    a, b : ndarray, shape (d,)
        Unit vectors: a along the drift of the pool, towards later queries; b orthogonal to a, from keys to queries.
    alpha_q, alpha_k : float
        OLS slopes of the projections on a, per token.
    mu_q_a, mu_k_a, mu_q_b, mu_k_b : float
        Mean projections, not centred.
    r_q_a, r_k_a, r_q_b, r_k_b : float
        Correlations of the projections with position within queries and within keys.
    bias_strength, bias_window : float
        mu_q_a * alpha_k per token, and this times the context, by which contexts can be compared.
    separation_strength : float
        Share of the mean squared distance between queries and keys that lies along b.
    var_frac_a, var_frac_b, plane_var_fraction : float
        Shares of the pooled variance along a and along b, and the sum of both.
    content_var_b : float
        Mean of the variances along b within queries and within keys.
    residual_pos_r : float
        Correlation of the projection on b with position over the pool: zero up to rounding, which checks a.
    query_position_mean, key_position_mean : float
        Mean positions, tokens.
    """

    a: Float64Array
    b: Float64Array
    alpha_q: float
    alpha_k: float
    mu_q_a: float
    mu_k_a: float
    mu_q_b: float
    mu_k_b: float
    r_q_a: float
    r_k_a: float
    r_q_b: float
    r_k_b: float
    bias_strength: float
    bias_window: float
    separation_strength: float
    var_frac_a: float
    var_frac_b: float
    plane_var_fraction: float
    content_var_b: float
    residual_pos_r: float
    query_position_mean: float
    key_position_mean: float


def rotation(moments: HeadMoments, context: int, separation: Separation = "distance") -> Rotation:
    """Return the plane of a head's drift axis a and separation axis b.

    With separation `distance`, b is the direction orthogonal to a with the largest mean squared distance
    E[(q-k)(q-k)'] over all pairs of a query and a key. With `centroid`, b is the direction of the difference of the two
    means without its part along a. `context` is the captured context in tokens. Raises ValueError if `separation` is
    unknown, nothing drifts with position, or, for `centroid`, the means differ only along a.
    """
    if separation not in SEPARATIONS:
        raise ValueError(f"separation {separation!r}; give one of {', '.join(SEPARATIONS)}")
    queries, keys, pool = moments.queries, moments.keys, moments.pool
    drift = pool.position_covariance
    total = float(np.trace(pool.covariance))
    if float(drift @ drift) <= 1e-28 * total * pool.position_variance:
        raise ValueError("neither queries nor keys drift with position: the head has no drift axis")
    a = drift / np.linalg.norm(drift)
    if a @ queries.position_covariance < 0:
        a = -a
    offset = queries.mean - keys.mean
    # E[(q-k)(q-k)'] over all pairs is the sum of both covariances and the outer square of the difference of means
    distance = queries.covariance + keys.covariance + np.outer(offset, offset)
    b = _separation_axis(a, offset, distance, separation)
    alpha_q, alpha_k = float(a @ queries.slope), float(a @ keys.slope)
    mu_q_a = float(a @ queries.mean)
    var_frac_a, var_frac_b = pool.variance_along(a) / total, pool.variance_along(b) / total
    return Rotation(
        a=a,
        b=b,
        alpha_q=alpha_q,
        alpha_k=alpha_k,
        mu_q_a=mu_q_a,
        mu_k_a=float(a @ keys.mean),
        mu_q_b=float(b @ queries.mean),
        mu_k_b=float(b @ keys.mean),
        r_q_a=queries.correlation_along(a),
        r_k_a=keys.correlation_along(a),
        r_q_b=queries.correlation_along(b),
        r_k_b=keys.correlation_along(b),
        bias_strength=mu_q_a * alpha_k,
        bias_window=mu_q_a * alpha_k * context,
        separation_strength=float(b @ distance @ b) / float(np.trace(distance)),
        var_frac_a=var_frac_a,
        var_frac_b=var_frac_b,
        plane_var_fraction=var_frac_a + var_frac_b,
        content_var_b=0.5 * (queries.variance_along(b) + keys.variance_along(b)),
        residual_pos_r=pool.correlation_along(b),
        query_position_mean=queries.position_mean,
        key_position_mean=keys.position_mean,
    )


def _separation_axis(a: Float64Array, offset: Float64Array, distance: Float64Array, separation: str) -> Float64Array:
    """Return the unit vector b, orthogonal to a, pointing from keys to queries."""
    if separation == "centroid":
        b = offset - (offset @ a) * a
        if np.linalg.norm(b) <= 1e-12 * np.sqrt(float(np.trace(distance))):
            raise ValueError("the means of queries and keys differ only along axis a; use separation='distance'")
    else:
        projector = np.eye(a.size) - np.outer(a, a)
        _, vectors = linalg.eigh(projector @ distance @ projector, subset_by_index=(a.size - 1, a.size - 1))
        b = vectors[:, 0]
    # orthogonalise again, since the first step leaves an error along a
    b = b - (b @ a) * a
    b = b / np.linalg.norm(b)
    reference = float(b @ offset)
    if reference == 0.0:
        reference = float(b[np.argmax(np.abs(b))])
    return np.asarray(-b if reference < 0 else b, dtype=np.float64)
