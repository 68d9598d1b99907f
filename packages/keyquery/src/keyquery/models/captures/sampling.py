"""Draw the tokens and heads that a capture keeps, by seeds, independently of earlier draws."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import ModelError
from keyquery.models.architecture import Layer

Side = Literal["q", "k"]
HEAD_SEED = 0  # the published captures draw their heads with this seed


@dataclass(frozen=True, order=True)
class Head:
    """A query head of a layer and the key head that it reads."""

    layer: int
    query: int
    key: int


@dataclass(frozen=True)
class Buckets:
    """A context cut into equal buckets.

    Parameters
    ----------
    context : int
        Tokens of a document.
    count : int
        Number of buckets; it divides `context`.
    rate : float
        Expected tokens kept per bucket, document and side.
    """

    context: int
    count: int = 16
    rate: float = 1.0

    def __post_init__(self) -> None:
        if self.context < 1 or self.count < 1 or not 0 < self.rate < math.inf:
            raise ModelError("context, buckets and rate must be positive numbers")
        if self.context % self.count:
            low = self.context // self.count * self.count
            near = f"{low} or {low + self.count}" if low else f"{self.count}"
            raise ModelError(
                f"a context of {self.context} tokens does not divide into {self.count} equal buckets; "
                f"give --context {near}, or another --buckets"
            )

    @property
    def size(self) -> int:
        """Tokens of a bucket (B)."""
        return self.context // self.count

    def of(self, positions: NDArray[np.int64]) -> NDArray[np.int32]:
        """The bucket of each position."""
        return (positions // self.size).astype(np.int32)


def tokens(buckets: Buckets, seed: int, document: int, layer: int, side: Side) -> NDArray[np.int64]:
    """Positions of one document that one layer keeps for all its heads, ascending.

    Each token is kept with probability min(1, rate / B), independently for queries and keys. The generator is seeded
    by all four numbers, so a resumed or sharded capture draws what an uninterrupted one would.

    Parameters
    ----------
    buckets : Buckets
        The context and the rate.
    seed, document, layer : int
        What the generator is seeded by, with `side`.
    side : {"q", "k"}
        Queries or keys.
    """
    generator = np.random.default_rng([seed, document, layer, 0 if side == "q" else 1])
    chance = min(1.0, buckets.rate / buckets.size)
    return np.flatnonzero(generator.random(buckets.context) < chance).astype(np.int64)


def draw_heads(layers: Sequence[Layer], count: int | None = 300, *, sliding: bool = False) -> tuple[Head, ...]:
    """The heads to capture, in layer-major order.

    `random.Random(0).sample` of `count` (layer, query head) pairs over all layers in layer-major order, or all pairs
    when there are fewer. Sliding layers leave before the draw, cross-attention layers after it, so the latter lower
    the number that is returned.

    Parameters
    ----------
    layers : sequence of Layer
        All attention layers of the model.
    count : int or None
        Pairs to draw; None for all.
    sliding : bool
        Keep sliding layers in the draw.

    Raises
    ------
    ModelError
        When nothing is left.
    """
    drawn_from = [layer for layer in layers if sliding or layer.kind not in ("sliding", "chunked")]
    if not any(layer.kind != "cross" for layer in drawn_from):
        raise ModelError(
            "every attention layer of this model has a sliding window or chunks, and those are left out; `capture` "
            "takes them all the same with --sliding"
        )
    pairs = [
        (layer, head)
        for layer in sorted(drawn_from, key=lambda layer: layer.index)
        for head in range(layer.query_heads)
    ]
    if count is not None and count < len(pairs):
        pairs = random.Random(HEAD_SEED).sample(pairs, count)
    kept = sorted(Head(layer.index, head, layer.key_head(head)) for layer, head in pairs if layer.kind != "cross")
    if not kept:
        raise ModelError("all heads that were drawn belong to cross-attention layers; ask for more --heads")
    return tuple(kept)
