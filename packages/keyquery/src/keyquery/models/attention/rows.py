"""Sums over the keys that each query attends to, for a block of queries or a whole text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64Array = NDArray[np.float64]
LOCAL = 5  # keys before the query's own that count as near
TIE = 1e-4  # nats: scores nearer than this are one, as equal words have equal keys where positions do not act


@dataclass(frozen=True)
class AttentionRows:
    """Sums for consecutive queries of one layer.

    Parameters
    ----------
    first, local, self, entropy : ndarray, shape (heads, rows)
        Weight on the first token, on the `LOCAL` keys before the query's own key, and on the own key; entropy in nats.
    top : ndarray of int32, shape (heads, rows)
        Index of the most attended key.
    seen : ndarray of int, shape (rows,)
        Number of visible keys of each row.
    reach : ndarray of bool, shape (rows,)
        Whether the first token is visible.
    sums : ndarray, shape (heads, bins)
        Sums of weights by distance.
    pairs : ndarray of int, shape (bins,)
        Number of visible query-key pairs by distance.
    """

    first: Float64Array
    local: Float64Array
    self: Float64Array
    entropy: Float64Array
    top: NDArray[np.int32]
    seen: NDArray[np.int64]
    reach: NDArray[np.bool_]
    sums: Float64Array
    pairs: NDArray[np.int64]


def join_rows(blocks: Sequence[AttentionRows]) -> AttentionRows:
    """Join consecutive blocks of rows."""
    return AttentionRows(
        first=np.concatenate([block.first for block in blocks], axis=1),
        local=np.concatenate([block.local for block in blocks], axis=1),
        self=np.concatenate([block.self for block in blocks], axis=1),
        entropy=np.concatenate([block.entropy for block in blocks], axis=1),
        top=np.concatenate([block.top for block in blocks], axis=1),
        seen=np.concatenate([block.seen for block in blocks]),
        reach=np.concatenate([block.reach for block in blocks]),
        sums=np.sum([block.sums for block in blocks], axis=0),
        pairs=np.sum([block.pairs for block in blocks], axis=0),
    )


def cut_range(start: int, stop: int, step: int) -> Iterator[range]:
    """Cut a range into pieces of at most `step`."""
    for left in range(start, stop, step):
        yield range(left, min(left + step, stop))
