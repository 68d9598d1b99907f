"""Summarise a head's plasticity profile: its mean, and means by decile of the context and by length."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from keyquery.heads.head import Float64Array
from keyquery.heads.missing import BinnedValues, Scalar, weighted_mean
from keyquery.heads.plasticity import Plasticity

DECILES = 10

# Upper ends of the length bins in tokens; the first bin begins at zero.
LENGTHS = (8192, 16384, 32768, 65536, 131072)
LENGTH_NAMES = ("0-8K", "8-16K", "16-32K", "32-64K", "64-128K")


@dataclass(frozen=True, kw_only=True)
class ProfileSummary:
    """Aggregates of a profile; a query bin's weight is its number of queries.

    Parameters
    ----------
    ap_overall : Scalar
        Mean over query bins.
    deciles : BinnedValues
        Mean of the bins whose mean position lies in each tenth of the context, shape (10,).
    ap_first_20, ap_last_20 : Scalar
        Mean of the first two and of the last two deciles; `count` says how many of the two are not missing.
    ap_drop : Scalar
        `ap_first_20` minus `ap_last_20`.
    lengths : BinnedValues
        Mean of the bins whose mean position lies in each of `LENGTH_NAMES`, shape (5,).
    """

    ap_overall: Scalar
    deciles: BinnedValues
    ap_first_20: Scalar
    ap_last_20: Scalar
    ap_drop: Scalar
    lengths: BinnedValues


def summarise(result: Plasticity) -> ProfileSummary:
    """Return the aggregates of a head's plasticity profile."""
    deciles = _means_by_range(result, result.context * np.arange(DECILES + 1) / DECILES)
    early, late = _unweighted_mean(deciles, (0, 1)), _unweighted_mean(deciles, (8, 9))
    if early.value is None or late.value is None:
        drop = Scalar(None, 0, early.reason or late.reason)
    else:
        drop = Scalar(early.value - late.value, early.count + late.count)
    weights = result.queries.astype(np.float64)
    return ProfileSummary(
        ap_overall=weighted_mean(result.profile, weights, weights > 0, "no query bin has a value"),
        deciles=deciles,
        ap_first_20=early,
        ap_last_20=late,
        ap_drop=drop,
        lengths=_means_by_range(result, np.array((0, *LENGTHS), dtype=np.float64)),
    )


def _means_by_range(result: Plasticity, edges: Float64Array) -> BinnedValues:
    """Return the weighted mean of the query bins whose mean position lies in each range of positions."""
    weights = result.queries.astype(np.float64)
    scalars = []
    for low, high in pairwise(edges):
        in_range = (result.taus >= low) & (result.taus < high)
        reasons = sorted(
            {reason for reason, inside in zip(result.profile.reasons, in_range, strict=True) if inside and reason}
        )
        no_bin = "; ".join(reasons) if in_range.any() else f"no query bin centred in {low:.0f}-{high:.0f} tokens"
        scalars.append(weighted_mean(result.profile, weights, in_range, no_bin))
    values = np.array([np.nan if scalar.value is None else scalar.value for scalar in scalars])
    counts = np.array([scalar.count for scalar in scalars], dtype=np.int64)
    return BinnedValues(values, counts, tuple(scalar.reason for scalar in scalars))


def _unweighted_mean(row: BinnedValues, indices: tuple[int, ...]) -> Scalar:
    mask = np.isin(np.arange(row.values.size), indices)
    names = ", ".join(str(index) for index in indices)
    return weighted_mean(row, np.ones(row.values.size), mask, f"deciles {names} have no value")
