"""Exchange the positions of two keys, to test whether the higher-scoring key wins by content or by position.

For a query at position c and two keys of one document, k_n the nearer one at t_n and k_f the farther one at t_f < t_n,
the score decides by D = q.(k_n - k_f). Over the queries of a bin, rotated to c, D has mean m and variance v. The
rotary embedding gives each key's vector at the position of the other key,

    k_n' = R(t_f - t_n) k_n,    k_f' = R(t_n - t_f) k_f,

so that m' and v', the mean and variance of q.(k_n' - k_f'), can be computed with the positions exchanged. If a score
were the sum of content and position, m would be their sum and m' their difference, hence

    position part (m - m') / 2,    content part (m + m') / 2,

where a positive position part favours the nearer key. Without rotation nothing changes: the position part is 0 by
construction, and position acts only through drift in the keys, which the linear share measures.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, owens_t

from keyquery.heads.competition import NEGLIGIBLE
from keyquery.heads.head import BoolArray, Float64Array, Head, IntArray
from keyquery.heads.laws import UNKNOWN_ROTATION
from keyquery.heads.pairs import drawn_pairs
from keyquery.heads.plasticity import PlasticityOptions, PreparedHead, prepare_head
from keyquery.rotary import bin_centres

PAIRS_PER_BIN = 1000
ROUNDING = 1e-12  # correlations above this count as 1: the two scores are the same


@dataclass(frozen=True, kw_only=True)
class ExchangedPairs:
    """Pairs of keys before and after their positions are exchanged; all arrays have shape (pairs,).

    Parameters
    ----------
    bin : ndarray of int
        Query bin.
    centre : ndarray of int
        Centre of the query bin, in tokens.
    nearer, farther : ndarray of int
        Positions of the two keys, tokens; the nearer one is the later.
    gap, variance : ndarray
        m and v: mean and variance over queries of q.(nearer key - farther key), in units of scores.
    gap_exchanged, variance_exchanged : ndarray
        m' and v', with each key at the other's position.
    covariance : ndarray
        Covariance over queries of the two differences.
    """

    bin: IntArray
    centre: IntArray
    nearer: IntArray
    farther: IntArray
    gap: Float64Array
    variance: Float64Array
    gap_exchanged: Float64Array
    variance_exchanged: Float64Array
    covariance: Float64Array

    @cached_property
    def apart(self) -> IntArray:
        """Distance between the two keys, tokens."""
        return self.nearer - self.farther

    @cached_property
    def query_distance(self) -> Float64Array:
        """Distance from the query to the middle of the two keys, tokens."""
        return np.asarray(self.centre - 0.5 * (self.nearer + self.farther))

    @cached_property
    def nearer_wins(self) -> Float64Array:
        """Probability p = Phi(m / sqrt v) that a query scores the nearer key higher."""
        return np.asarray(ndtr(self.gap / np.sqrt(self.variance)))

    @cached_property
    def same_wins(self) -> Float64Array:
        """Probability p' that a query prefers the same key when that key is moved to the farther position."""
        return np.asarray(ndtr(self.gap_exchanged / np.sqrt(self.variance_exchanged)))

    @cached_property
    def plasticity(self) -> Float64Array:
        """Plasticity 4 p (1 - p); half of it is the probability that two queries have different winners."""
        return 4.0 * self.nearer_wins * (1.0 - self.nearer_wins)

    @cached_property
    def sway(self) -> Float64Array:
        """Probability that the winner for one query changes when the positions are exchanged."""
        return opposite_signs(
            self.gap / np.sqrt(self.variance),
            self.gap_exchanged / np.sqrt(self.variance_exchanged),
            self.covariance / np.sqrt(self.variance * self.variance_exchanged),
        )


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """Means over pairs of keys of the effects of exchanging their positions; None if there is no pair.

    Parameters
    ----------
    pairs : int
        Number of pairs.
    plasticity : float or None
        4 p (1 - p), p the probability that the nearer key wins.
    sway : float or None
        Probability that the same query has another winner after the exchange; compare with plasticity / 2, the
        probability that another query has another winner.
    probability_change : float or None
        |p - p'|: change, by the exchange, in the share of queries for which a key wins.
    nearer_wins : float or None
        p.
    position_part : float or None
        (m - m') / 2 over sqrt v; above zero where position favours the nearer key.
    content_part : float or None
        |m + m'| / 2 over sqrt v.
    gap, spread : float or None
        |m| and sqrt v, in units of scores.
    linear_share : float or None
        Share of the sum of m^2 explained by a least-squares line through the origin on the keys' distance; 0 to 1. It
        is comparable between models with and without rotation.
    linear_slope : float or None
        Slope of that line, in scores per token; positive if the nearer key's advantage grows with the distance.
    """

    pairs: int
    plasticity: float | None = None
    sway: float | None = None
    probability_change: float | None = None
    nearer_wins: float | None = None
    position_part: float | None = None
    content_part: float | None = None
    gap: float | None = None
    spread: float | None = None
    linear_share: float | None = None
    linear_slope: float | None = None


def exchanged_pairs(
    head: Head,
    options: PlasticityOptions | None = None,
    pairs_per_bin: int = PAIRS_PER_BIN,
    prepared: PreparedHead | None = None,
    *,
    across_documents: bool = False,
) -> ExchangedPairs:
    """Draw pairs of keys for every query bin and exchange their positions.

    The estimator is always `aligned_full`, and the cap in `options` is ignored. Pairs are drawn from each bin without
    replacement. `prepared` is the result of `prepare_head` for the same head. `across_documents` is a null model: pairs
    with farther keys at equal or neighbouring positions swap these keys (rotated to the new position), so that the
    two keys of a pair come from different documents; other pairs are dropped. Raises ValueError if the head's
    rotation is not known.
    """
    if head.rotary is None:
        raise ValueError(UNKNOWN_ROTATION)
    settings = replace(options or PlasticityOptions(), estimator="aligned_full", cap=None)
    ready = prepared or prepare_head(head, settings)
    data = ready.shared
    middles = bin_centres(head.context, data.queries.counts.size)
    parts: list[tuple[NDArray[Any], ...]] = []
    for place, law in ready.laws.items():
        generator = np.random.default_rng([settings.seed, place])
        keys, counts = data.competing(place)
        later, earlier, _ = drawn_pairs(keys, counts, pairs_per_bin, generator)
        nearer, farther = keys.positions[later], keys.positions[earlier]
        near, far = (keys.vectors[rows].astype(np.float64) for rows in (later, earlier))
        if across_documents:
            order = np.lexsort((generator.random(earlier.size), farther))[: earlier.size // 2 * 2]
            pair = order.reshape(-1, 2)[:, ::-1].ravel()
            order, pair = (rows[keys.groups[later[order]] != keys.groups[earlier[pair]]] for rows in (order, pair))
            far = head.rotary.turned(far[pair], farther[order] - farther[pair]).astype(np.float64, copy=False)
            near, nearer, farther = near[order], nearer[order], farther[order]
        difference = near - far
        # without rotation both arrays are identical, so the exchange changes exactly nothing
        exchanged = head.rotary.turned(near, farther - nearer) - head.rotary.turned(far, nearer - farther)
        # queries rotated to one position have no drift
        projected, swapped = difference @ law.factor, exchanged @ law.factor
        variance = np.einsum("ij,ij->i", projected, projected)
        variance_exchanged = np.einsum("ij,ij->i", swapped, swapped)
        least = NEGLIGIBLE * law.mean_variance
        use = (variance > least * np.einsum("ij,ij->i", difference, difference)) & (
            variance_exchanged > least * np.einsum("ij,ij->i", exchanged, exchanged)
        )
        parts.append(
            (
                np.full(int(use.sum()), place, dtype=np.int64),
                np.full(int(use.sum()), middles[place], dtype=np.int64),
                nearer[use],
                farther[use],
                (difference @ law.alpha)[use],
                variance[use],
                (exchanged @ law.alpha)[use],
                variance_exchanged[use],
                np.einsum("ij,ij->i", projected, swapped)[use],
            )
        )
    return ExchangedPairs(
        bin=_integer_column(parts, 0),
        centre=_integer_column(parts, 1),
        nearer=_integer_column(parts, 2),
        farther=_integer_column(parts, 3),
        gap=_number_column(parts, 4),
        variance=_number_column(parts, 5),
        gap_exchanged=_number_column(parts, 6),
        variance_exchanged=_number_column(parts, 7),
        covariance=_number_column(parts, 8),
    )


def _integer_column(parts: Sequence[tuple[NDArray[Any], ...]], column: int) -> IntArray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *(columns[column] for columns in parts)])


def _number_column(parts: Sequence[tuple[NDArray[Any], ...]], column: int) -> Float64Array:
    return np.concatenate([np.zeros(0), *(columns[column] for columns in parts)])


def exchange(pairs: ExchangedPairs, chosen: BoolArray | None = None) -> Exchange:
    """Average over all pairs, or over those selected by a mask of shape (pairs,)."""
    mask = np.ones(pairs.gap.size, dtype=np.bool_) if chosen is None else chosen
    count = int(np.count_nonzero(mask))
    if count == 0:
        return Exchange(pairs=0)
    gap, gap_swapped = pairs.gap[mask], pairs.gap_exchanged[mask]
    spread = np.sqrt(pairs.variance[mask])
    distance = pairs.apart[mask].astype(np.float64)
    product, size, squares = float(gap @ distance), float(gap @ gap), float(distance @ distance)
    return Exchange(
        pairs=count,
        plasticity=float(pairs.plasticity[mask].mean()),
        sway=float(pairs.sway[mask].mean()),
        probability_change=float(np.abs(pairs.nearer_wins - pairs.same_wins)[mask].mean()),
        nearer_wins=float(pairs.nearer_wins[mask].mean()),
        position_part=float((0.5 * (gap - gap_swapped) / spread).mean()),
        content_part=float((0.5 * np.abs(gap + gap_swapped) / spread).mean()),
        gap=float(np.abs(gap).mean()),
        spread=float(spread.mean()),
        linear_share=product**2 / (size * squares) if size > 0 and squares > 0 else None,
        linear_slope=product / squares if squares > 0 else None,
    )


def opposite_signs(first: Float64Array, second: Float64Array, correlation: Float64Array) -> Float64Array:
    """Return the probability that two normal variables have opposite signs, shape (n,).

    `first` and `second` are the variables' means divided by their standard deviations; `correlation` is theirs.
    """
    r = np.clip(correlation, -1.0, 1.0)
    # if the variables are equal or opposite, the root of 0 would lose all digits
    limit = np.abs(ndtr(first) - ndtr(np.sign(r) * second))
    limit = np.where(r < 0, 1.0 - limit, limit)
    perfect = 1.0 - np.abs(r) <= ROUNDING
    # for a mean of 0, use the limit from above, for T and for the constant below
    a, b = (np.where(mean == 0, np.finfo(np.float64).tiny, mean) for mean in (first, second))
    root = np.sqrt(np.where(perfect, 1.0, (1.0 - r) * (1.0 + r)))
    with np.errstate(over="ignore"):
        one, other = (b - r * a) / (a * root), (a - r * b) / (b * root)
    general = 2.0 * (owens_t(a, one) + owens_t(b, other)) + (a * b < 0)
    return np.asarray(np.where(perfect, limit, np.clip(general, 0.0, 1.0)))
