"""One attention head's captured queries and keys."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from keyquery.rotary import Rotary

FloatArray = npt.NDArray[np.floating]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

MAX_COMPONENT = 1e12  # largest component of a vector; sums of products of larger ones overflow float32


@dataclass(frozen=True, kw_only=True)
class Head:
    """Queries and keys of one head after the rotary embedding, with their positions and documents.

    Lists, frames and CPU tensors are converted to arrays, and half precision to single.

    Parameters
    ----------
    queries, keys : ndarray of float32 or float64, shapes (n_q, d) and (n_k, d)
        Vectors; scores are q.k, unscaled.
    query_positions, key_positions : ndarray of int, shapes (n_q,) and (n_k,)
        Token positions, 0 <= t < context.
    query_documents, key_documents : ndarray of int, shapes (n_q,) and (n_k,)
        The document of each vector; only keys of one document compete.
    context : int
        Length of the captured context in tokens.
    buckets : int
        Number of equal buckets of the context from which the capture drew tokens.
    rotary : Rotary, optional
        How positions rotate queries and keys, `NO_ROTATION` if they do not, or None if this is unknown. Estimators that
        rotate queries need a rotary.
    window : int, optional
        Number of tokens that a query attends to, itself included; None for all earlier tokens. Keys outside the window
        do not compete.
    chunks : bool
        Whether a query attends within its chunk of `window` tokens, instead of to the last `window` tokens.

    Raises
    ------
    ValueError
        If an argument cannot become an array, shapes or types do not match, a vector is not finite, a position is
        outside the context, a window is empty, the rotation covers more dimensions than there are, or there are fewer
        than three queries or keys, or they are all at one position.

    Examples
    --------
    >>> import keyquery as kq
    >>> import numpy as np
    >>> rng, positions, documents = np.random.default_rng(0), np.arange(64), np.zeros(64, dtype=int)
    >>> head = kq.Head(
    ...     queries=rng.normal(size=(64, 8)), query_positions=positions, query_documents=documents,
    ...     keys=rng.normal(size=(64, 8)), key_positions=positions, key_documents=documents, context=64,
    ... )
    >>> head
    Head(64 queries, 64 keys of 8 dimensions, context 64)
    >>> head.dimension, head.turns
    (8, False)
    """

    queries: FloatArray
    query_positions: IntArray
    query_documents: IntArray
    keys: FloatArray
    key_positions: IntArray
    key_documents: IntArray
    context: int
    buckets: int = 16
    rotary: Rotary | None = None
    window: int | None = None
    chunks: bool = False

    def __post_init__(self) -> None:
        for name in ("queries", "query_positions", "query_documents", "keys", "key_positions", "key_documents"):
            object.__setattr__(self, name, _native_array(name, getattr(self, name)))
        for name in ("context", "buckets", *(() if self.window is None else ("window",))):
            object.__setattr__(self, name, whole_number(name, getattr(self, name)))
        if self.window is not None and self.window < 1:
            raise ValueError(f"a window of {self.window} tokens is too small; give 1 or more")
        if self.chunks and self.window is None:
            raise ValueError("chunks without a window; give the number of tokens of a chunk as window")
        if self.context < 1 or not 1 <= self.buckets <= self.context:
            raise ValueError(
                f"{self.buckets} buckets of a context of {self.context} tokens; give 1 <= buckets <= context"
            )
        for name, vectors, positions, documents in (
            ("queries", self.queries, self.query_positions, self.query_documents),
            ("keys", self.keys, self.key_positions, self.key_documents),
        ):
            _check(name, vectors, positions, documents, self.context)
        if self.queries.shape[1] != self.keys.shape[1]:
            raise ValueError(
                f"queries have {self.queries.shape[1]} dimensions, keys {self.keys.shape[1]}; give equal ones"
            )
        if self.rotary is not None and not hasattr(self.rotary, "end"):
            raise ValueError(f"rotary is a {type(self.rotary).__name__}; give a keyquery.rotary.Rotary")
        if self.rotary is not None and self.rotary.end > self.dimension:
            raise ValueError(
                f"the rotation covers {self.rotary.end} dimensions, but vectors have only {self.dimension}; give the "
                "rotary of this head"
            )

    def __repr__(self) -> str:
        """Return the sizes of the head, not its vectors."""
        sizes = f"{len(self.queries)} queries, {len(self.keys)} keys of {self.dimension} dimensions"
        return f"Head({sizes}, context {self.context}{', rotated' if self.turns else ''})"

    @property
    def turns(self) -> bool:
        """Whether positions rotate the vectors; False if the rotation is unknown."""
        return self.rotary is not None and not self.rotary.is_identity

    @property
    def dimension(self) -> int:
        """Number of dimensions of a vector."""
        return int(self.queries.shape[1])

    def query_bins(self, bins: int) -> IntArray:
        """Return the query bin of each query when the context is cut into equal bins, shape (n_q,).

        Parameters
        ----------
        bins : int
            Number of bins.
        """
        return np.asarray(self.query_positions, dtype=np.int64) * bins // self.context

    def key_buckets(self) -> IntArray:
        """Return the capture's bucket of each key, shape (n_k,)."""
        return np.asarray(self.key_positions, dtype=np.int64) * self.buckets // self.context


def whole_number(name: str, value: Any) -> int:
    """Return `value` as int; raise ValueError, which states `name`, if `value` is not a whole number.

    Examples
    --------
    >>> from keyquery.heads.head import whole_number
    >>> whole_number("bins", 4)
    4
    """
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}; give a whole number") from None


def _native_array(name: str, value: Any) -> npt.NDArray[Any]:
    """Return `value` as an array in native byte order; raise ValueError if numpy cannot convert it or it is masked."""
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name}: a masked array; drop masked rows and pass the .data of the others")
    try:
        array = np.asarray(value)
    except Exception as error:  # tensor libraries raise any kind of error
        reason = str(error).partition("\n")[0]
        advice = "give a numpy array; for a tensor, tensor.detach().float().cpu().numpy()"
        raise ValueError(f"{name}: numpy cannot convert this {type(value).__name__} ({reason}); {advice}") from None
    native = np.dtype(np.float32) if array.dtype == np.float16 else array.dtype.newbyteorder("=")
    return array.astype(native, copy=False)


def _check(name: str, vectors: FloatArray, positions: IntArray, documents: IntArray, context: int) -> None:
    if vectors.ndim != 2 or vectors.shape[1] < 2 or vectors.dtype not in (np.float32, np.float64):
        raise ValueError(
            f"{name} have shape {vectors.shape} and type {vectors.dtype}; give floats of 32 or 64 bits, (n, d), d >= 2"
        )
    if positions.shape != vectors.shape[:1] or documents.shape != vectors.shape[:1]:
        raise ValueError(
            f"{len(vectors)} {name} have positions {positions.shape} and documents {documents.shape}; give one each"
        )
    if not (np.issubdtype(positions.dtype, np.integer) and np.issubdtype(documents.dtype, np.integer)):
        raise ValueError(f"{name}: positions are {positions.dtype}, documents {documents.dtype}; give integers")
    if len(vectors) < 3 or positions.min() == positions.max():
        raise ValueError(f"{len(vectors)} {name} are fewer than three, or all at one position; give more")
    if positions.min() < 0 or positions.max() >= context:
        raise ValueError(
            f"{name}: positions run from {positions.min()} to {positions.max()}, but must lie in 0 to context - 1 "
            f"({context - 1}); give the capture's context"
        )
    # if a value is NaN, minimum and maximum are NaN; computing them needs no boolean array
    smallest, largest = vectors.min(), vectors.max()
    if not (np.isfinite(smallest) and np.isfinite(largest)):
        raise ValueError(
            f"{name}: {np.count_nonzero(~np.isfinite(vectors))} values are not finite; capture in a wider dtype"
        )
    if max(-smallest, largest) > MAX_COMPONENT:
        raise ValueError(
            f"{name}: a value of {max(-smallest, largest):.3g} is larger than in any real model; its source is damaged"
        )
