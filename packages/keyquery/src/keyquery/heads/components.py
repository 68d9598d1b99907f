"""Measure how much of each original dimension of the queries is explained by position."""

from dataclasses import dataclass

import numpy as np

from keyquery.heads.head import Float64Array
from keyquery.heads.moments import Moments


@dataclass(frozen=True, kw_only=True)
class PositionWeights:
    """Results of regressing the original dimensions of a head's queries on position.

    Parameters
    ----------
    r_squared : ndarray, shape (d,)
        R^2 of each dimension on position; 0 for a dimension that does not vary.
    weights : ndarray, shape (d,)
        Each dimension's share of the sum of R^2; all zero if every R^2 is zero.
    beta_norm : float
        Length of the OLS slope of q on t, per token.
    r_squared_mean : float
        Plain mean of R^2 over dimensions.
    """

    r_squared: Float64Array
    weights: Float64Array
    beta_norm: float
    r_squared_mean: float


def position_weights(queries: Moments) -> PositionWeights:
    """Return the results of regressing every dimension of the queries on position."""
    spread = np.diag(queries.covariance) * queries.position_variance
    varies = spread > 1e-28 * max(float(spread.max()), np.finfo(np.float64).tiny)
    r_squared = np.zeros(spread.size)
    r_squared[varies] = np.minimum(queries.position_covariance[varies] ** 2 / spread[varies], 1.0)
    total = float(r_squared.sum())
    return PositionWeights(
        r_squared=r_squared,
        weights=r_squared / total if total > 0 else np.zeros(spread.size),
        beta_norm=float(np.linalg.norm(queries.slope)),
        r_squared_mean=float(r_squared.mean()),
    )
