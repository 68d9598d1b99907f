"""Record the vectors of the drawn tokens and heads while documents pass through the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.anatomy import blocks
from keyquery.models.architecture import Layer, run_forward
from keyquery.models.attention.calls import Call
from keyquery.models.attention.projections import Projections
from keyquery.models.captures.parts import DocumentPart
from keyquery.models.captures.sampling import PARTS, Buckets, HeadIndex, Letter, tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor
    from transformers import PreTrainedModel

KIND_NAMES: dict[Letter, str] = {"q": "queries", "k": "keys", **{letter: name for name, letter in PARTS.items()}}
PENDING = 64 << 20  # bytes buffered on the device, since one transfer per layer would stall a GPU


class _StopForward(Exception):
    """Raised to end a forward pass once everything is recorded."""


class VectorRecorder:
    """Writes queries and keys of a forward pass into the documents' parts on disk.

    For a layer l with drawn heads, a document's part gets the arrays `q{l}` (heads, n, d) and `k{l}` (key heads, n, d),
    float32, and their positions `qp{l}` and `kp{l}`, int32. The other kinds of vectors, `part_names`, have the letters
    of `PARTS` in the names of their arrays. `layers` are all attention layers, and `heads` the drawn heads. Queries and
    keys before rotation come from `projections`; if it is None, those after rotation are recorded. `why_undefined`
    returns, for a place such as "layer 3", why vectors may not be finite.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        heads: Sequence[HeadIndex],
        buckets: Buckets,
        seed: int,
        projections: Projections | None = None,
        part_names: Collection[str] = (),
        why_undefined: Callable[[str], str] = lambda where: "give --dtype bf16 or fp32",
    ) -> None:
        self._layers = {layer.index: layer for layer in layers}
        self._queries, self._keys = heads_by_layer(heads)
        self._buckets, self._seed, self._projections = buckets, seed, projections
        self._why_undefined = why_undefined
        self._letters = {PARTS[name] for name in part_names}
        self._parts: dict[int, DocumentPart] = {}
        self._waiting: list[tuple[int, int, Letter, Any, NDArray[np.int64]]] = []
        self._recorded: set[tuple[int, str]] = set()
        self._to_record = {(layer, letter) for layer in self._queries for letter in ("q", "k", *self._letters)}
        self._lengths: dict[int, int] = {}
        self.padded = 0  # tokens of the longest text whose states were the same with padding
        self._finished = 0  # tokens of the longest document that passed through all layers

    def begin(self, documents: Mapping[int, DocumentPart], lengths: Sequence[int]) -> None:
        """Begin to record a forward pass; `documents` maps numbers to parts, and both arguments are in order of rows.

        `lengths` are the documents' numbers of tokens.
        """
        self._parts, self._waiting, self._recorded = dict(documents), [], set()
        self._lengths = dict(zip(documents, lengths, strict=True))

    @property
    def longest(self) -> tuple[int, int]:
        """Row and number of tokens of the longest document; (0, 0) if no forward pass is being recorded."""
        lengths = list(self._lengths.values()) if self._parts else [0]
        return lengths.index(max(lengths)), max(lengths)

    def forward(self, model: PreTrainedModel, tokens: Tensor) -> None:
        """Run the documents' forward pass; stop it early if an earlier pass at least as long ran through all layers."""
        with suppress(_StopForward):
            run_forward(model, tokens)

    def __call__(self, call: Call) -> None:
        """Record the drawn tokens of an attention call."""
        if not self._is_drawn(call):
            return
        layer = call.layer
        assert layer is not None
        shape, context = (call.query.shape[2], call.key.shape[2]), self.longest[1]
        if shape != (context, context) or call.query.shape[0] != len(self._parts):
            raise ModelError(
                f"layer {layer}: {shape[0]} queries against {shape[1]} keys instead of {context} each; "
                "a capture needs whole documents, without a key cache"
            )
        query, key = call.query, call.key
        if self._projections is not None:
            query, key = self._projections.before(call)
        self._record(layer, "q", query, self._queries[layer])
        self._record(layer, "k", key, self._keys[layer])
        if "v" in self._letters:
            self._record(layer, "v", call.value, self._keys[layer])

    def record_output(self, call: Call, output: Tensor) -> None:
        """Record the drawn tokens of the output of an attention call, of shape (B, T, H, d_v)."""
        if "z" in self._letters and self._is_drawn(call) and call.layer is not None:
            self._record(call.layer, "z", output.transpose(1, 2), self._queries[call.layer])

    @contextmanager
    def record_stream(self, model: PreTrainedModel) -> Iterator[None]:
        """In this block, record the drawn tokens of the residual stream and of MLP outputs, if requested.

        Raises ModelError if a layer has no MLP, or several parts that could be the MLP.
        """
        with ExitStack() as stack:
            for block in blocks(model) if self._letters & {"r", "m"} else ():
                if block.layer in self._queries and "r" in self._letters:
                    stack.callback(block.module.register_forward_hook(self._stream_hook(block.layer, "r")).remove)
                if block.layer in self._queries and "m" in self._letters:
                    stack.callback(block.mlp.register_forward_hook(self._stream_hook(block.layer, "m")).remove)
            yield

    def _stream_hook(self, layer: int, letter: Letter) -> Callable[[Any, Any, Any], None]:
        def record(module: Any, inputs: Any, output: Any) -> None:
            if self._parts:
                vectors = output[0] if isinstance(output, tuple) else output
                shape = (len(self._parts), 1, self.longest[1], vectors.shape[-1])
                if vectors.numel() != math.prod(shape):
                    raise ModelError(f"layer {layer}: {type(module).__name__} does not give one vector per token")
                self._record(layer, letter, vectors.reshape(shape), [0])

        return record

    def _is_drawn(self, call: Call) -> bool:
        return call.layer in self._queries and not call.cross and bool(self._parts)

    def _record(self, layer: int, letter: Letter, tensor: Tensor, heads: list[int]) -> None:
        """Buffer one kind of a layer's vectors (B, H, T, d) at the drawn tokens; stop the pass if it may end early."""
        if (layer, letter) in self._recorded:
            task = "computed attention" if letter in ("q", "k", "v", "z") else "ran"
            raise ModelError(f"layer {layer} {task} twice in one forward pass")
        self._recorded.add((layer, letter))
        torch = libraries.torch
        columns = torch.tensor(heads, device=tensor.device)
        for row, document in enumerate(self._parts):
            positions = tokens(self._buckets, self._seed, document, layer, letter)
            positions = positions[positions < self._lengths[document]]
            rows = torch.from_numpy(positions).to(tensor.device)
            drawn_vectors = tensor[row].index_select(1, rows).index_select(0, columns)
            self._waiting.append((document, layer, letter, drawn_vectors, positions))
        if sum(vectors.nbytes for _, _, _, vectors, _ in self._waiting) > PENDING:
            self._write_waiting()
        if self._recorded == self._to_record and self.longest[1] <= self._finished:
            raise _StopForward

    def abandon(self) -> None:
        """Discard the documents; calls are ignored until the next `begin`."""
        self._parts, self._waiting = {}, []

    def end(self) -> None:
        """Write buffered vectors; raise ModelError if a layer with drawn heads did not run."""
        self._write_waiting()
        for letter in ("q", *sorted(self._letters)):
            missing = sorted(layer for layer in self._queries if (layer, letter) not in self._recorded)
            if missing:
                task = "compute attention" if letter in ("q", "v", "z") else f"give its part {letter!r}"
                raise ModelError(f"layers {missing} did not {task} in this forward pass")
        self._finished = max(self._finished, self.longest[1])
        self._parts = {}

    def _write_waiting(self) -> None:
        for document, layer, letter, tensor, positions in self._waiting:
            vectors = tensor.float().cpu().numpy()
            scale = self._layers[layer].query_scale
            if letter == "q" and scale is not None and self._projections is None:
                vectors = vectors / scale.at(positions)[None, :, None]
            if not np.isfinite(vectors).all():
                raise ModelError(
                    f"layer {layer} has infinite or undefined {KIND_NAMES[letter]} in document {document}; "
                    f"{self._why_undefined(f'layer {layer}')}"
                )
            self._parts[document].add(f"{letter}{layer:02d}", vectors)
            self._parts[document].add(f"{letter}p{layer:02d}", positions.astype(np.int32))
        self._waiting = []


def heads_by_layer(heads: Iterable[HeadIndex]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Return the query heads and the key heads by layer, sorted, in the order of the rows of a part's arrays."""
    queries: dict[int, set[int]] = {}
    keys: dict[int, set[int]] = {}
    for head in heads:
        queries.setdefault(head.layer, set()).add(head.query)
        keys.setdefault(head.layer, set()).add(head.key)
    return (
        {layer: sorted(indices) for layer, indices in sorted(queries.items())},
        {layer: sorted(indices) for layer, indices in sorted(keys.items())},
    )
