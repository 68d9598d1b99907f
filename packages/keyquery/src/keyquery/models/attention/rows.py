"""Define sums over the keys that each query attends to, for a block of queries or a whole text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64Array = NDArray[np.float64]
LOCAL = 5  # number of keys before the query's own key that count as local
TIE = 1e-4  # nats: scores that differ by less count as equal, since equal tokens may have equal keys


@dataclass(frozen=True)
class AttentionRows:
    """Measures of the attention weights of consecutive queries of one layer, summed over keys.

    Parameters
    ----------
    first, local, self, entropy : ndarray, shape (heads, rows)
        Weight on the first token, on the `LOCAL` keys before the query's own key, and on the query's own key; entropy
        of the weights in nats.
    top : ndarray of int32, shape (heads, rows)
        Index of the key with the largest weight.
    visible_keys : ndarray of int, shape (rows,)
        Number of visible keys of each query.
    sees_first : ndarray of bool, shape (rows,)
        Whether the first token is visible.
    sums : ndarray, shape (heads, bins)
        Sum of the weights in each bin of distances.
    pairs : ndarray of int, shape (bins,)
        Number of visible query-key pairs in each bin of distances.
    """

    first: Float64Array
    local: Float64Array
    self: Float64Array
    entropy: Float64Array
    top: NDArray[np.int32]
    visible_keys: NDArray[np.int64]
    sees_first: NDArray[np.bool_]
    sums: Float64Array
    pairs: NDArray[np.int64]


def join_rows(blocks: Sequence[AttentionRows]) -> AttentionRows:
    """Return the sums of several consecutive blocks of queries as those of one block."""
    by_row = ("first", "local", "self", "entropy", "top", "visible_keys", "sees_first")
    return AttentionRows(
        **{name: np.concatenate([getattr(block, name) for block in blocks], axis=-1) for name in by_row},
        sums=np.sum([block.sums for block in blocks], axis=0),
        pairs=np.sum([block.pairs for block in blocks], axis=0),
    )


def cut_range(start: int, stop: int, step: int) -> Iterator[range]:
    """Yield consecutive ranges of at most `step` numbers from `start` up to `stop`."""
    for first in range(start, stop, step):
        yield range(first, min(first + step, stop))
