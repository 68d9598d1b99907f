"""Greedy continuations by a causal language model.

Prompts are not padded by default: an intervention on the beginning token acts on absolute position 0, where padding
would be. Prompts of equal length share a batch instead. The forward pass over the prompt (prefill) and the later
passes with the key cache (decode steps) run in separate context managers, so that an intervention can act on either
or both.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.answers import forwards
from keyquery.models.answers.forwards import Around, device_of, encode, step

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel


def greedy(
    model: PreTrainedModel,
    tokenizer: Any,
    prompts: Sequence[str],
    new_tokens: int,
    batch: int = 8,
    stop: Sequence[str] | None = None,
    *,
    pad: bool = False,
    prefill: Around = nullcontext,
    decode: Around = nullcontext,
) -> list[str]:
    """Return the greedy continuation of each prompt: each token is the most probable one; on a tie, the lowest id.

    The model must be in evaluation mode. At most `batch` prompts share a forward pass. A continuation has at most
    `new_tokens` tokens, and ends at an end token of the model or before the first text of `stop`. With `pad`, prompts
    of different lengths share batches: they are padded on the left, with mask and position ids to match. Then position
    0 of a row is not its beginning token, and interventions there are wrong. `prefill` returns a context manager for
    the forward pass over the prompts, and `decode` one for each forward pass over one more token. Raises ModelError if
    a prompt has no tokens, or if `new_tokens` or `batch` is below 1.
    """
    if new_tokens < 1 or batch < 1:
        raise ModelError("new_tokens and batch must be at least 1")
    rows = [encode(tokenizer, prompt) for prompt in prompts]
    answers: list[str] = [""] * len(rows)
    for indices in forwards.batches([len(row) for row in rows], batch, together=pad):
        continuations = _continue_batch(
            model, tokenizer, [rows[index] for index in indices], new_tokens, stop or (), prefill, decode
        )
        for index, text in zip(indices, continuations, strict=True):
            answers[index] = text
    return answers


def _continue_batch(
    model: PreTrainedModel,
    tokenizer: Any,
    rows: list[list[int]],
    new_tokens: int,
    stop: Sequence[str],
    prefill: Around,
    decode: Around,
) -> list[str]:
    torch = libraries.torch
    tokens, mask = _pad_left(rows, _padding_token(tokenizer))
    if mask is not None:
        forwards.refuse_changes_by_padding(model)
    tokens, mask = tokens.to(device_of(model)), None if mask is None else mask.to(device_of(model))
    end_ids = _end_tokens(model, tokenizer)
    answers: list[list[int]] = [[] for _ in rows]
    texts = [""] * len(rows)
    open_rows = set(range(len(rows)))
    cache = forwards.key_cache(model)
    with torch.inference_mode():
        with prefill():
            logits = step(model, tokens, mask, cache, 0)
        for position in range(new_tokens):
            new_ids = logits[:, -1].float().argmax(-1)
            for row, token in enumerate(new_ids.tolist()):
                if row not in open_rows:
                    continue
                if token in end_ids:
                    open_rows.discard(row)
                    continue
                answers[row].append(token)
                texts[row] = tokenizer.decode(answers[row], skip_special_tokens=True)
                ends = [end for word in stop if (end := texts[row].find(word)) >= 0]
                if ends:
                    texts[row] = texts[row][: min(ends)]
                    open_rows.discard(row)
            if not open_rows or position == new_tokens - 1:
                break
            if mask is not None:
                mask = torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)
            with decode():
                logits = step(model, new_ids[:, None], mask, cache, tokens.shape[1] + position)
    return texts


def _pad_left(rows: list[list[int]], padding: int) -> tuple[Tensor, Tensor | None]:
    """Return token ids (B, T), padded on the left, and their mask; the mask is None if no padding is needed."""
    torch = libraries.torch
    longest = max(map(len, rows))
    tokens = torch.tensor([[padding] * (longest - len(row)) + row for row in rows])
    if all(len(row) == longest for row in rows):
        return tokens, None
    return tokens, torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])


def _padding_token(tokenizer: Any) -> int:
    """Return the tokenizer's padding token, or 0 if it has none: any token will do, since the mask hides it."""
    padding = getattr(tokenizer, "pad_token_id", None)
    return 0 if padding is None else int(padding)


def _end_tokens(model: PreTrainedModel, tokenizer: Any) -> set[int]:
    """Return the tokens that end a continuation."""
    end_ids: set[int] = set()
    for owner in (getattr(model, "generation_config", None), tokenizer):
        ids = getattr(owner, "eos_token_id", None)
        end_ids |= set(ids) if isinstance(ids, list | tuple) else {ids} if ids is not None else set()
    return end_ids
