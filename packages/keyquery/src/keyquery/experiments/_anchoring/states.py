"""Read hidden states at the end of an answer: with all tokens visible, or with the question or other tokens hidden."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import DataError, ModelError
from keyquery.experiments._anchoring.data import AnswerSample, Span
from keyquery.models import libraries
from keyquery.models.anatomy import blocks
from keyquery.models.answers.forwards import device_of
from keyquery.models.interventions import knockout

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TOKENS = 4096  # largest number per forward pass, with padding


@dataclass(frozen=True)
class MarkedSample:
    """A sample as token ids, with the positions of its question.

    The state is read at the last of `ids`; `question` has the positions of the question's decisive words. `control` and
    `filler` have as many other positions: `control` random positions before the answer, and `filler` random positions
    in the filler. Each is empty if there are too few positions to draw from.
    """

    ids: tuple[int, ...]
    question: tuple[int, ...]
    control: tuple[int, ...]
    filler: tuple[int, ...] = ()

    def blocked(self, keys: Sequence[int], tokens: int) -> NDArray[np.bool_]:
        """Return a mask (queries, keys) that hides (True) each of `keys` from all later positions outside `keys`."""
        mask = np.zeros((tokens, tokens), dtype=bool)
        for key in keys:
            mask[key + 1 :, key] = True
        mask[list(keys)] = False
        return mask


def mark_question(tokenizer: Any, sample: AnswerSample, seed: int, *, read: str = "answer") -> MarkedSample:
    """Return a sample as token ids, with the positions of its question from the tokenizer's character offsets.

    `seed` is for drawing control and filler. `read` says where the state is read: at the last token of the exact answer
    ("answer") or of the text ("end"). Raises ModelError if the tokenizer is not a fast one, because only those have
    offsets, and DataError if no token lies in the question or in the answer, or the question begins at the first token.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(f"{type(tokenizer).__name__} gives no character offsets; a fast tokenizer is needed")
    encoding = tokenizer(sample.text, return_offsets_mapping=True, verbose=False)
    offsets = [tuple(pair) for pair in encoding["offset_mapping"]]
    question = tuple(
        sorted({position for span in sample.question for position in tokens_in_span(offsets, sample.text, span)})
    )
    answer = tokens_in_span(offsets, sample.text, sample.answer)
    if not question or not answer:
        raise DataError(f"no token of {'the question' if not question else 'the answer'} in {sample.text[-80:]!r}")
    last = answer[-1] if read == "answer" else len(offsets) - 1
    if question[0] == 0:
        raise DataError(
            f"the question begins at the first token of {sample.text[:40]!r}: no token would be left to attend "
            "to; the tokenizer puts no beginning token in front"
        )
    before_answer = [position for position in range(1, answer[0]) if position not in question]
    filler = [token for token in tokens_in_span(offsets, sample.text, sample.filler) if token in before_answer]

    def draw(name: str, positions: list[int]) -> tuple[int, ...]:
        rng = random.Random(f"{name}/{seed}/{sample.text}")
        return tuple(sorted(rng.sample(positions, len(question)))) if len(positions) >= len(question) else ()

    ids = tuple(encoding["input_ids"][: last + 1])
    return MarkedSample(ids, question, draw("control", before_answer), draw("filler", filler))


def tokens_in_span(offsets: Sequence[Span], text: str, span: Span) -> list[int]:
    """Return the positions of tokens that overlap a span of characters; a token's leading space does not count."""
    start, end = span
    positions = []
    for position, (begin, stop) in enumerate(offsets):
        token = text[begin:stop]
        begin += len(token) - len(token.lstrip())
        if begin < stop and begin < end and start < stop:
            positions.append(position)
    return positions


def states_at_end(
    model: PreTrainedModel,
    samples: Sequence[MarkedSample],
    choose: Callable[[MarkedSample], Sequence[int]] = lambda sample: (),
    *,
    layers: tuple[int, ...] | None = None,
    tokens: int = TOKENS,
    tell: Callable[[int], None] = lambda count: None,
) -> NDArray[np.float32]:
    """Return the residual stream after each block at the last token of each sample, float32 of shape (n, L, D).

    The state after block k depends on blocks 0 to k only, so one pass with a knockout in all layers equals, for every
    k, a knockout in blocks 0 to k. Without hidden keys, the pass still uses a mask, an empty one, so that passes differ
    only by the knockout. `choose` returns the keys hidden from a sample's later positions (by default no keys);
    `layers` are the blocks with the knockout (None: all). A batch has at most `tokens` tokens, but at least one sample;
    shorter samples are padded on the right.
    """
    torch = libraries.torch
    vectors: list[NDArray[np.float32] | None] = [None] * len(samples)
    order = sorted(range(len(samples)), key=lambda index: len(samples[index].ids))
    start = 0
    while start < len(order):
        size = max(1, tokens // len(samples[order[start]].ids))
        while size > 1 and size * len(samples[order[min(start + size, len(order)) - 1]].ids) > tokens:
            size -= 1
        indices = order[start : start + size]
        batch = [samples[index] for index in indices]
        longest = len(batch[-1].ids)
        inputs = torch.tensor([[*row.ids, *[row.ids[-1]] * (longest - len(row.ids))] for row in batch])
        blocked = np.stack([row.blocked(choose(row), longest) for row in batch])
        last_tokens = torch.tensor([len(row.ids) - 1 for row in batch])
        with torch.inference_mode(), hook_last_token(model, last_tokens) as by_layer, knockout(model, blocked, layers):
            model(input_ids=inputs.to(device_of(model)), use_cache=False, logits_to_keep=1)
        if not by_layer:
            raise ModelError(f"{type(model).__name__}: its blocks pass on no residual stream; one is needed")
        states = np.stack([by_layer[layer] for layer in sorted(by_layer)], axis=1)
        for index, state in zip(indices, states, strict=True):
            vectors[index] = state
        start += len(indices)
        tell(start)
    return np.stack([row for row in vectors if row is not None])


@contextmanager
def hook_last_token(model: PreTrainedModel, last_tokens: Any) -> Iterator[dict[int, NDArray[np.float32]]]:
    """Hook all blocks; yield a dict that receives, for each layer, the output at each row's last token, (B, D)."""
    torch = libraries.torch
    by_layer: dict[int, NDArray[np.float32]] = {}

    def hook(layer: int, width: int) -> Callable[[Any, Any, Any], None]:
        def keep(module: Any, inputs: Any, output: Any) -> None:
            stream = output[0] if isinstance(output, tuple) else output
            if stream.ndim != 3 or stream.shape[2] != width:  # Gemma 3n and Qwen4 have several streams
                kind = type(model).__name__
                raise ModelError(f"{kind}: its blocks pass on several residual streams per token; one is needed")
            rows = torch.arange(len(last_tokens), device=stream.device)
            by_layer[layer] = stream[rows, last_tokens.to(stream.device)].float().cpu().numpy()

        return keep

    with ExitStack() as stack:
        for block in blocks(model):
            stack.callback(block.module.register_forward_hook(hook(block.layer, block.width)).remove)
        yield by_layer
