"""Find which keys compete: group keys, count the eligible ones for each query bin, and sample pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from keyquery.heads.head import Float64Array, FloatArray, Head, IntArray

PairMode = Literal["earlier", "earlier_bucket", "same_bucket"]
PAIR_MODES: tuple[str, ...] = get_args(PairMode)

# Number of keys per block: a float64 copy fits into the level-2 cache. A single document may exceed it.
CHUNK = 2048


@dataclass(frozen=True, kw_only=True)
class Keys:
    """Keys in groups of competitors, sorted by position within each group.

    `shift` is a point near the mean of the keys; subtracting it before products are formed keeps the digits of Gram
    matrices. `groups` has each key's group, counted from zero and sorted. `starts` has the index of each group's first
    key, and at the end the number of keys. Positions are in tokens.
    """

    vectors: FloatArray
    shift: Float64Array
    positions: IntArray
    groups: IntArray
    starts: IntArray

    def eligible(self, limits: Float64Array) -> IntArray:
        """Return the number of keys of each group below each bin's limit (position in tokens), shape (bins, groups)."""
        # one ascending array of (group, position), so that one binary search covers all groups
        span = int(self.positions.max(initial=0)) + 1
        codes = self.groups * span + self.positions
        first_codes = np.arange(self.starts.size - 1, dtype=np.int64) * span
        bounds = np.clip(np.ceil(limits), 0, span).astype(np.int64)
        return np.searchsorted(codes, first_codes + bounds[:, None]) - self.starts[:-1]

    def between(self, first: float, limit: float) -> Keys:
        """Return the keys at positions in [`first`, `limit`) (tokens), without groups of one key."""
        rows = np.flatnonzero((self.positions >= first) & (self.positions < limit))
        rows = rows[np.bincount(self.groups[rows], minlength=self.starts.size - 1)[self.groups[rows]] > 1]
        _, groups, sizes = np.unique(self.groups[rows], return_inverse=True, return_counts=True)
        return Keys(
            vectors=self.vectors[rows],
            shift=self.shift,
            positions=self.positions[rows],
            groups=groups,
            starts=np.r_[0, np.cumsum(sizes)].astype(np.int64),
        )

    def chunks(self, size: int = CHUNK) -> Iterator[tuple[int, int]]:
        """Yield ranges (first, stop) of groups; each range has at most `size` keys, or one larger group."""
        first = 0
        while first < self.starts.size - 1:
            stop = int(np.searchsorted(self.starts, self.starts[first] + size, side="right")) - 1
            stop = max(stop, first + 1)
            yield first, stop
            first = stop


def competing(
    vectors: FloatArray, positions: IntArray, documents: IntArray, context: int, buckets: int, mode: PairMode
) -> Keys:
    """Return keys grouped by document, or for `same_bucket` by document and bucket; groups of one key are left out.

    `mode` says which pairs compete. `buckets` is the number of equal parts of the `context`, which is in tokens.
    """
    documents, positions = np.asarray(documents, dtype=np.int64), np.asarray(positions, dtype=np.int64)
    labels = documents - documents.min()
    if mode == "same_bucket":
        labels = labels * buckets + positions * buckets // context
    order = np.argsort(labels * context + positions, kind="stable")
    _, groups, sizes = np.unique(labels[order], return_inverse=True, return_counts=True)
    has_competitor = sizes[groups] > 1
    if not has_competitor.all():
        order = order[has_competitor]
        _, groups, sizes = np.unique(labels[order], return_inverse=True, return_counts=True)
    in_order = order.size == documents.size and bool((order[1:] > order[:-1]).all())
    return Keys(
        vectors=vectors if in_order else vectors[order],
        shift=vectors.mean(axis=0).astype(np.float64),
        positions=positions[order],
        groups=groups,
        starts=np.r_[0, np.cumsum(sizes)].astype(np.int64),
    )


def eligible_limits(head: Head, mode: PairMode, bins: int, taus: Float64Array) -> Float64Array:
    """Return the position below which keys are eligible for each query bin, shape (bins,); 0 for bins without queries.

    With mode `earlier`, the limit is the mean position of the bin's queries; with other modes, it is the start of the
    capture's bucket in which the query bin begins.
    """
    if mode == "earlier":
        return np.where(np.isfinite(taus), taus, 0.0)
    bucket = np.arange(bins, dtype=np.int64) * head.buckets // bins
    return np.ceil(bucket * head.context / head.buckets)


def first_visible(head: Head, taus: Float64Array) -> Float64Array | None:
    """Return the first position that each bin's queries attend to, shape (bins,); None if they attend to all positions.

    `taus` are mean positions of the bins' queries in tokens, NaN for a bin without queries. A bin's first position is
    computed from its mean position and the head's window or chunks.
    """
    if head.window is None or head.window >= head.context:
        return None
    centres = np.where(np.isfinite(taus), taus, 0.0)
    first = np.floor(centres / head.window) * head.window if head.chunks else np.floor(centres - head.window) + 1
    return np.asarray(np.maximum(first, 0.0))


def pair_counts(counts: IntArray) -> IntArray:
    """Return the number of pairs for each count of keys, n (n - 1) / 2."""
    return counts * (counts - 1) // 2


def draw_pairs(
    keys: Keys, counts: IntArray, cap: int | None, generator: np.random.Generator
) -> tuple[IntArray, IntArray, int]:
    """Draw `cap` pairs of a query bin without replacement, or take all pairs if there are no more than `cap`.

    `counts` are the numbers of eligible keys of each group. Return the row indices of the later key and of the earlier
    key of each pair, and the number of all pairs.
    """
    cumulative = np.cumsum(pair_counts(counts))
    total = int(cumulative[-1]) if cumulative.size else 0
    if cap is None or total <= cap:
        index = np.arange(total, dtype=np.int64)
    else:
        index = np.sort(generator.choice(total, cap, replace=False, shuffle=False)).astype(np.int64)
    groups = np.searchsorted(cumulative, index, side="right")
    rank = index - np.r_[0, cumulative][groups]
    # pair k of a group is (i, j) with k = i (i - 1) / 2 + j and j < i
    i = ((1 + np.sqrt(1 + 8 * rank.astype(np.float64))) / 2).astype(np.int64)
    i -= i * (i - 1) // 2 > rank
    i += i * (i + 1) // 2 <= rank
    j = rank - i * (i - 1) // 2
    starts = keys.starts[groups]
    return starts + i, starts + j, total
