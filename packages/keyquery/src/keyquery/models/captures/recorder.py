"""Record the drawn tokens of the drawn heads while a document passes through the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boundpaper.errors import ModelError
from keyquery.models.architecture import Layer
from keyquery.models.attention.calls import Call
from keyquery.models.attention.projections import Projections
from keyquery.models.captures.parts import Part
from keyquery.models.captures.sampling import Buckets, Head, tokens
from keyquery.models.libraries import need

if TYPE_CHECKING:
    from numpy.typing import NDArray

PENDING = 64 << 20  # bytes that may wait on the device: one transfer per layer would stall a GPU


class VectorRecorder:
    """Writes queries and keys of one document at a time into its part.

    For a layer l with chosen heads the part receives `q{l}` (heads, n, d) and `k{l}` (key heads, n, d), float32, and
    their positions `qp{l}`, `kp{l}`, int32.

    Parameters
    ----------
    layers : sequence of Layer
        All attention layers.
    heads : sequence of Head
        The chosen ones.
    buckets : Buckets
        The context and the rate.
    seed : int
        Of the token draw.
    projections : Projections or None
        Where queries and keys before rotation come from; None to keep those after it.
    why_undefined : callable
        Says of a place, as "layer 3", why its vectors may not be finite, for the error.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        heads: Sequence[Head],
        buckets: Buckets,
        seed: int,
        projections: Projections | None = None,
        why_undefined: Callable[[str], str] = lambda where: "give --dtype bf16 or fp32",
    ) -> None:
        self._layers = {layer.index: layer for layer in layers}
        self._queries, self._keys = chosen(heads)
        self._buckets, self._seed, self._projections = buckets, seed, projections
        self._why_undefined = why_undefined
        self._part: Part | None = None
        self._document = -1
        self._waiting: list[tuple[int, str, Any, NDArray[np.int64]]] = []
        self._seen: set[int] = set()

    def begin(self, part: Part, document: int) -> None:
        """Start a document."""
        self._part, self._document, self._waiting, self._seen = part, document, [], set()

    def __call__(self, call: Call) -> None:
        """Keep what was drawn of one attention call."""
        if call.layer not in self._queries or call.cross or self._part is None:
            return
        layer = call.layer
        if layer in self._seen:
            raise ModelError(f"layer {layer} computed attention twice in one forward")
        shape, context = (call.query.shape[2], call.key.shape[2]), self._buckets.context
        if shape != (context, context) or call.query.shape[0] != 1:
            raise ModelError(
                f"layer {layer}: {shape[0]} queries against {shape[1]} keys in place of {context} each; "
                "a capture takes one whole document at a time, without a key cache"
            )
        self._seen.add(layer)
        query, key = call.query, call.key
        if self._projections is not None:
            query, key = self._projections.before(call)
        for side, tensor, heads in (("q", query, self._queries[layer]), ("k", key, self._keys[layer])):
            kept = tokens(self._buckets, self._seed, self._document, layer, "q" if side == "q" else "k")
            torch = need("torch")
            rows = torch.from_numpy(kept).to(tensor.device)
            columns = torch.tensor(heads, device=tensor.device)
            self._waiting.append((layer, side, tensor[0].index_select(1, rows).index_select(0, columns), kept))
        if sum(vectors.numel() * vectors.element_size() for _, _, vectors, _ in self._waiting) > PENDING:
            self._flush()

    def abandon(self) -> None:
        """Forget the document; calls are ignored until the next one begins."""
        self._part, self._waiting = None, []

    def end(self) -> None:
        """Write what is pending; fail if a chosen layer did not run."""
        self._flush()
        absent = sorted(set(self._queries) - self._seen)
        if absent:
            raise ModelError(f"layers {absent} did not compute attention in this forward")
        self._part = None

    def _flush(self) -> None:
        part = self._part
        assert part is not None
        for layer, side, tensor, kept in self._waiting:
            vectors = tensor.float().cpu().numpy()
            scale = self._layers[layer].query_scale
            if side == "q" and scale is not None and self._projections is None:
                vectors = vectors / scale.at(kept)[None, :, None]
            if not np.isfinite(vectors).all():
                what = "queries" if side == "q" else "keys"
                raise ModelError(
                    f"layer {layer} has infinite or undefined {what} in document {self._document}; "
                    f"{self._why_undefined(f'layer {layer}')}"
                )
            part.add(f"{side}{layer:02d}", vectors)
            part.add(f"{side}p{layer:02d}", kept.astype(np.int32))
        self._waiting = []


def chosen(heads: Iterable[Head]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Query heads and key heads by layer, ascending and without repeats: the rows of a part's arrays."""
    queries: dict[int, set[int]] = {}
    keys: dict[int, set[int]] = {}
    for head in heads:
        queries.setdefault(head.layer, set()).add(head.query)
        keys.setdefault(head.layer, set()).add(head.key)
    return (
        {layer: sorted(drawn) for layer, drawn in sorted(queries.items())},
        {layer: sorted(drawn) for layer, drawn in sorted(keys.items())},
    )
