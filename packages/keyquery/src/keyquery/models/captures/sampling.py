"""Draw the tokens and heads that a capture keeps; each draw has a separate seed."""

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import ModelError
from keyquery.models.architecture import Layer

Letter = Literal["q", "k", "v", "z", "r", "m"]
PARTS: dict[str, Letter] = {"values": "v", "outputs": "z", "residual": "r", "mlp": "m"}
"""Kinds of vectors that a capture may have besides queries and keys, and the letter of each kind in names of files.

Values are stored at the tokens of keys, in one file per key head. The other kinds are stored at the tokens of queries:
the attention output of a head before the output projection, in one file per query head, and the residual stream after a
layer and the output of its MLP, in one file per layer (as head 0).
"""
HEAD_SEED = 0  # the published captures draw their heads with this seed


@dataclass(frozen=True, order=True)
class HeadIndex:
    """A query head of a layer and the key head that it reads."""

    layer: int
    query: int
    key: int


@dataclass(frozen=True)
class Buckets:
    """A context divided into equal buckets.

    The number of buckets divides the context. `rate` is the mean number of tokens per bucket of a document whose
    queries are kept, and likewise of keys.
    """

    context: int
    count: int = 16
    rate: float = 1.0

    def __post_init__(self) -> None:
        if self.context < 1 or self.count < 1 or not 0 < self.rate < math.inf:
            raise ModelError("context, buckets and rate must be positive numbers")
        if self.context % self.count:
            low = self.context // self.count * self.count
            advice = f"{low} or {low + self.count}" if low else f"{self.count}"
            raise ModelError(
                f"a context of {self.context} tokens does not divide into {self.count} equal buckets; "
                f"give --context {advice}, or another --buckets"
            )

    @property
    def size(self) -> int:
        """Number B of tokens in a bucket."""
        return self.context // self.count

    def of(self, positions: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the bucket of each position."""
        return (positions // self.size).astype(np.int32)


def tokens(buckets: Buckets, seed: int, document: int, layer: int, letter: Letter) -> NDArray[np.int64]:
    """Return the sorted positions at which one document's vectors of one kind are kept, for all heads of one layer.

    Each token is kept with probability min(1, rate / B), independently for queries and keys; other kinds have the
    tokens of queries or of keys. The arguments seed the generator, so a resumed or sharded capture draws the same
    tokens as an uninterrupted one.
    """
    generator = np.random.default_rng([seed, document, layer, 1 if letter in ("k", "v") else 0])
    chance = min(1.0, buckets.rate / buckets.size)
    return np.flatnonzero(generator.random(buckets.context) < chance).astype(np.int64)


def draw_heads(
    layers: Sequence[Layer],
    count: int | None = 300,
    *,
    sliding: bool = False,
    only_layers: Collection[int] = (),
    only_heads: Collection[tuple[int, int]] = (),
) -> tuple[HeadIndex, ...]:
    """Return the heads to capture, sorted by layer and query head.

    `random.Random(0).sample` draws `count` (layer, query head) pairs; if there are fewer, or `count` is None, all pairs
    are used. Layers with a sliding window or chunks take no part in the draw, except with `sliding`. Heads of
    cross-attention layers are removed after the draw, so fewer heads than `count` may remain.

    With `only_layers`, heads are drawn from these layers, of any kind. The heads `only_heads`, as (layer, query head),
    are used without a draw. Raises ModelError if no head is left, or a named layer or head does not exist.
    """
    if only_heads:
        return _named_heads(layers, only_heads)
    indices = [layer.index for layer in layers]
    for index in only_layers:
        if index not in indices:
            raise ModelError(f"--layers {index}: the model's attention layers are {_numbers_as_text(indices)}")
    eligible = [
        layer
        for layer in layers
        if (layer.index in only_layers if only_layers else sliding or layer.kind not in ("sliding", "chunked"))
    ]
    if not any(layer.kind != "cross" for layer in eligible):
        raise ModelError(
            "no self-attention layer is left to draw from; layers with a sliding window or chunks are left out, but "
            "--sliding includes them"
        )
    pairs = [
        (layer, head) for layer in sorted(eligible, key=lambda layer: layer.index) for head in range(layer.query_heads)
    ]
    if count is not None and count < len(pairs):
        pairs = random.Random(HEAD_SEED).sample(pairs, count)
    heads = sorted(HeadIndex(layer.index, head, layer.key_head(head)) for layer, head in pairs if layer.kind != "cross")
    if not heads:
        raise ModelError("all heads that were drawn belong to cross-attention layers; ask for more --heads")
    return tuple(heads)


def _named_heads(layers: Sequence[Layer], heads: Collection[tuple[int, int]]) -> tuple[HeadIndex, ...]:
    """Return heads that are given as (layer, query head), sorted and without duplicates."""
    by_index = {layer.index: layer for layer in layers}
    for index, head in heads:
        where = f"--heads {index}.{head}"
        if index not in by_index:
            layer_numbers = _numbers_as_text(by_index)
            raise ModelError(f"{where}: the model's attention layers are {layer_numbers}")
        if by_index[index].kind == "cross":
            raise ModelError(f"{where}: layer {index} reads another sequence, whose keys are not captured")
        if head >= by_index[index].query_heads:
            raise ModelError(f"{where}: layer {index} has only the heads 0 to {by_index[index].query_heads - 1}")
    return tuple(sorted({HeadIndex(index, head, by_index[index].key_head(head)) for index, head in heads}))


def _numbers_as_text(numbers: Collection[int]) -> str:
    """Return distinct whole numbers as text: `0 to 9` if they are consecutive, else with commas."""
    smallest, largest = min(numbers), max(numbers)
    consecutive = len(numbers) > 2 and largest - smallest == len(numbers) - 1
    return f"{smallest} to {largest}" if consecutive else ", ".join(map(str, sorted(numbers)))
