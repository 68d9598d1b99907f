"""Exchange the positions of two keys, to test whether the higher-scoring key wins by content or by position.

For a query at position c and two keys of one document, the nearer key k_n at t_n and the farther key k_f at t_f < t_n,
the sign of D = q.(k_n - k_f) decides which key wins. Over the queries of a bin, rotated to c, D has mean m and variance
v. The rotary embedding gives each key's vector at the position of the other key,

    k_n' = R(t_f - t_n) k_n,    k_f' = R(t_n - t_f) k_f,

so that m' and v', the mean and variance of q.(k_n' - k_f'), can be computed. If a score were the sum of a content part
and a position part, m would be the sum of these parts and m' their difference, hence

    position part (m - m') / 2,    content part (m + m') / 2,

where a positive position part favours the nearer key. Without rotation, an exchange changes nothing: the position part
is 0 by construction, and position acts only through drift in the keys, which the linear share measures.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, owens_t

from keyquery.heads.competition import NEGLIGIBLE
from keyquery.heads.head import BoolArray, Float64Array, Head, IntArray
from keyquery.heads.laws import UNKNOWN_ROTATION
from keyquery.heads.pairs import draw_pairs
from keyquery.heads.plasticity import PlasticityOptions, PreparedHead, prepare_head
from keyquery.rotary import bin_centres

PAIRS_PER_BIN = 1000
ROUNDING = 1e-12  # correlations that differ from 1 or -1 by less count as 1 or -1


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
        Positions of the two keys, in tokens; the key nearer to the query has the later position.
    gap, variance : ndarray
        m and v: mean and variance over queries of q.(nearer key - farther key), in units of scores.
    gap_exchanged, variance_exchanged : ndarray
        m' and v', with each key at the position of the other key.
    covariance : ndarray
        Covariance over queries of the differences before and after the exchange.
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
        """Distance between the two keys, in tokens."""
        return self.nearer - self.farther

    @cached_property
    def query_distance(self) -> Float64Array:
        """Distance from the query to the middle of the two keys, in tokens."""
        return np.asarray(self.centre - 0.5 * (self.nearer + self.farther))

    @cached_property
    def nearer_wins(self) -> Float64Array:
        """Probability p = Phi(m / sqrt v) that a query scores the nearer key higher."""
        return np.asarray(ndtr(self.gap / np.sqrt(self.variance)))

    @cached_property
    def same_wins(self) -> Float64Array:
        """Probability p' that a query scores the originally nearer key higher after the exchange."""
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
    """Means over pairs of keys whose positions are exchanged; a mean is None if there is no pair.

    Parameters
    ----------
    pairs : int
        Number of pairs.
    plasticity : float or None
        4 p (1 - p), p the probability that the nearer key wins.
    sway : float or None
        Probability that the winner for a query changes with the exchange. Compare it with plasticity / 2, the
        probability that two queries have different winners.
    probability_change : float or None
        |p - p'|: how much the exchange changes the share of queries for which a key wins.
    nearer_wins : float or None
        Probability p that the nearer key wins.
    position_part : float or None
        (m - m') / 2 over sqrt v; above zero where position favours the nearer key.
    content_part : float or None
        |m + m'| / 2 over sqrt v.
    gap, spread : float or None
        |m| and sqrt v, in units of scores.
    linear_share : float or None
        Share of the sum of m^2, 0 to 1, that a least-squares line through the origin explains by the keys' distance.
        It is comparable between models with and without rotation.
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
    replacement. `prepared` is the result of `prepare_head` for the same head. `across_documents` gives a null model:
    pairs are sorted by the position of the farther key, neighbouring pairs swap their farther keys, and these are
    rotated to their new positions. A new pair is dropped if its two keys are of one document. Raises ValueError if the
    head's rotation is unknown.
    """
    if head.rotary is None:
        raise ValueError(UNKNOWN_ROTATION)
    options = replace(options or PlasticityOptions(), estimator="aligned_full", cap=None)
    prepared = prepared or prepare_head(head, options)
    data = prepared.shared
    centres = bin_centres(head.context, data.queries.counts.size)
    bins: list[ExchangedPairs] = []
    for query_bin, law in prepared.laws.items():
        generator = np.random.default_rng([options.seed, query_bin])
        keys, counts = data.competing(query_bin)
        later, earlier, _ = draw_pairs(keys, counts, pairs_per_bin, generator)
        nearer, farther = keys.positions[later], keys.positions[earlier]
        near, far = (keys.vectors[rows].astype(np.float64) for rows in (later, earlier))
        if across_documents:
            order = np.lexsort((generator.random(earlier.size), farther))[: earlier.size // 2 * 2]
            partner = order.reshape(-1, 2)[:, ::-1].ravel()
            order, partner = (
                rows[keys.groups[later[order]] != keys.groups[earlier[partner]]] for rows in (order, partner)
            )
            far = head.rotary.turned(far[partner], farther[order] - farther[partner]).astype(np.float64, copy=False)
            near, nearer, farther = near[order], nearer[order], farther[order]
        difference = near - far
        # without rotation, `exchanged` equals `difference` exactly
        exchanged = head.rotary.turned(near, farther - nearer) - head.rotary.turned(far, nearer - farther)
        # queries rotated to one position do not drift, so the law's slope is not needed
        projected, projected_exchanged = difference @ law.factor, exchanged @ law.factor
        variance = np.einsum("ij,ij->i", projected, projected)
        variance_exchanged = np.einsum("ij,ij->i", projected_exchanged, projected_exchanged)
        negligible = NEGLIGIBLE * law.mean_variance
        use = (variance > negligible * np.einsum("ij,ij->i", difference, difference)) & (
            variance_exchanged > negligible * np.einsum("ij,ij->i", exchanged, exchanged)
        )
        bins.append(
            ExchangedPairs(
                bin=np.full(int(use.sum()), query_bin, dtype=np.int64),
                centre=np.full(int(use.sum()), centres[query_bin], dtype=np.int64),
                nearer=nearer[use],
                farther=farther[use],
                gap=(difference @ law.alpha)[use],
                variance=variance[use],
                gap_exchanged=(exchanged @ law.alpha)[use],
                variance_exchanged=variance_exchanged[use],
                covariance=np.einsum("ij,ij->i", projected, projected_exchanged)[use],
            )
        )
    return ExchangedPairs(**{field.name: _joined(bins, field.name) for field in fields(ExchangedPairs)})


def _joined(bins: Sequence[ExchangedPairs], name: str) -> NDArray[Any]:
    """Return the field `name` of all bins as one array; it has the field's type even if there are no bins."""
    kind = np.int64 if name in ("bin", "centre", "nearer", "farther") else np.float64
    return np.concatenate([np.zeros(0, dtype=kind), *(getattr(pairs, name) for pairs in bins)])


def exchange(pairs: ExchangedPairs, chosen: BoolArray | None = None) -> Exchange:
    """Return means over all pairs, or over the pairs in the mask `chosen`, shape (pairs,)."""
    mask = np.ones(pairs.gap.size, dtype=np.bool_) if chosen is None else chosen
    count = int(np.count_nonzero(mask))
    if count == 0:
        return Exchange(pairs=0)
    gap, gap_exchanged = pairs.gap[mask], pairs.gap_exchanged[mask]
    spread = np.sqrt(pairs.variance[mask])
    distance = pairs.apart[mask].astype(np.float64)
    product, gap_squares, squares = float(gap @ distance), float(gap @ gap), float(distance @ distance)
    return Exchange(
        pairs=count,
        plasticity=float(pairs.plasticity[mask].mean()),
        sway=float(pairs.sway[mask].mean()),
        probability_change=float(np.abs(pairs.nearer_wins - pairs.same_wins)[mask].mean()),
        nearer_wins=float(pairs.nearer_wins[mask].mean()),
        position_part=float((0.5 * (gap - gap_exchanged) / spread).mean()),
        content_part=float((0.5 * np.abs(gap + gap_exchanged) / spread).mean()),
        gap=float(np.abs(gap).mean()),
        spread=float(spread.mean()),
        linear_share=product**2 / (gap_squares * squares) if gap_squares > 0 and squares > 0 else None,
        linear_slope=product / squares if squares > 0 else None,
    )


def opposite_signs(first: Float64Array, second: Float64Array, correlation: Float64Array) -> Float64Array:
    """Return the probability that two normal variables have opposite signs, shape (n,).

    `first` and `second` are the variables' means divided by their standard deviations.
    """
    r = np.clip(correlation, -1.0, 1.0)
    # for a correlation of 1 or -1, use the limit of the probability, since 1 - r^2 has no exact digits
    limit = np.abs(ndtr(first) - ndtr(np.sign(r) * second))
    limit = np.where(r < 0, 1.0 - limit, limit)
    perfect = 1.0 - np.abs(r) <= ROUNDING
    # a mean of 0 becomes the smallest positive number: Owen's function and the sign of a * b are then limits from above
    a, b = (np.where(mean == 0, np.finfo(np.float64).tiny, mean) for mean in (first, second))
    root = np.sqrt(np.where(perfect, 1.0, (1.0 - r) * (1.0 + r)))
    with np.errstate(over="ignore"):
        slope_a, slope_b = (b - r * a) / (a * root), (a - r * b) / (b * root)
    general = 2.0 * (owens_t(a, slope_a) + owens_t(b, slope_b)) + (a * b < 0)
    return np.asarray(np.where(perfect, limit, np.clip(general, 0.0, 1.0)))
