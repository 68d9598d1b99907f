"""Run forward passes with a key cache: encode prompts, batch equal lengths, and feed tokens step by step."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.architecture import describe_failures, rounding_of
from keyquery.models.attention.calls import positions_of

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

PROBE = (3, 5, 4, 6, 3, 7) * 4  # tokens of a text
TRIED = 32  # tokens of a text with which a cache is tried

_at_once: WeakKeyDictionary[Any, float] = WeakKeyDictionary()  # what `tokens_at_once` found
_apart: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()  # whether padding on the left changes a model's logits

Around = Callable[[], AbstractContextManager[Any]]
"""Function without arguments that returns a context manager to run forward passes in."""


def encode(tokenizer: Any, text: str) -> list[int]:
    """Return the token ids of a prompt, with the beginning-of-sequence token if the tokenizer adds one.

    Raises ModelError if there are no tokens, or the tokenizer appends an end token, which nothing may follow.
    """
    ids: list[int] = list(tokenizer(text, verbose=False)["input_ids"])
    if not ids:
        raise ModelError(f"the tokenizer gives no tokens for the prompt {text[:40]!r}, and adds no beginning token")
    end = getattr(tokenizer, "eos_token_id", None)
    begin = getattr(tokenizer, "bos_token_id", None)
    if len(ids) > 1 and ids[-1] == end and end != begin:
        raise ModelError("the tokenizer ends every prompt with its end token; load it with add_eos_token=False")
    return ids


def step(model: PreTrainedModel, tokens: Tensor, mask: Tensor | None, cache: Any, start: int, keep: int = 1) -> Tensor:
    """Return the logits of the last `keep` tokens (B, keep, V) of a pass that starts at `start` in the cache."""
    torch = libraries.torch
    if mask is None:
        places = torch.arange(start, start + tokens.shape[1], device=tokens.device)[None].expand(len(tokens), -1)
    else:
        places = positions_of(mask)[:, -tokens.shape[1] :]
    cause = "a class that accepts only a key cache of its own (with --items 0 only losses are measured)"
    with describe_failures(model, tokens.shape[1], cause):
        logits: Tensor = model(
            input_ids=tokens,
            attention_mask=mask,
            position_ids=places,
            use_cache=True,
            logits_to_keep=keep,
            **{_cache_argument(model): cache},
        ).logits
    return logits[:, -keep:]


def batches(keys: Sequence[Any], batch: int, *, together: bool = False) -> Iterator[list[int]]:
    """Group indices by equal keys (with `together`, regardless of keys) in order of appearance, at most `batch` per
    group.
    """
    groups: dict[Any, list[int]] = {}
    for index, key in enumerate(keys):
        groups.setdefault(None if together else key, []).append(index)
    for group in groups.values():
        yield from (group[start : start + batch] for start in range(0, len(group), batch))


def refuse_changes_by_padding(model: PreTrainedModel) -> None:
    """Refuse padding on the left for a model whose logits change by it, tested with a short text.

    A mask hides padding from attention, but not always from layers that carry a state from token to token, nor from
    positions that are counted from the beginning of the row. Raises ModelError.
    """
    torch = libraries.torch
    if model not in _apart:
        tokens = torch.tensor([PROBE], device=device_of(model)) % int(model.config.get_text_config().vocab_size)
        padded_row = torch.cat([tokens[:, -1:].expand(1, len(PROBE) - 1), tokens], dim=1)
        mask = (torch.arange(padded_row.shape[1], device=tokens.device) >= len(PROBE) - 1).long()[None]
        with torch.inference_mode():
            unpadded = step(model, tokens, torch.ones_like(tokens), key_cache(model), 0).float()
            padded = step(model, padded_row, mask, key_cache(model), 0).float()
        _apart[model] = not float((unpadded - padded).abs().max()) <= rounding_of(model) * float(unpadded.std())
    if _apart[model]:
        raise ModelError(
            f"{type(model).__name__} (model type {model.config.model_type}): prompts of different lengths cannot share "
            "a batch, since padding on the left changes its answers (its positions are counted from the beginning of "
            "the row, or a layer carries a state through the padding); give --batch 1"
        )


def key_cache(model: PreTrainedModel) -> Any:
    """Return an empty key cache, with the sliding windows of the model.

    Raises ModelError if tokens that follow from the cache get other logits than without it.
    """
    if not tokens_at_once(model):
        raise ModelError(
            f"{type(model).__name__} (model type {model.config.model_type}): a token that follows from the cache gets "
            "other logits than in a pass over the whole text, so that answers cannot be generated or scored; with "
            "--items 0 only losses are measured"
        )
    return _empty_cache(model)


def tokens_at_once(model: PreTrainedModel) -> float:
    """Return how many tokens may follow from a cache in one pass with logits as in a pass without a cache.

    This is infinity for caches of keys and values. A cache of another kind, or one that the model ignores, is tried on
    a short text, token by token from the second on and with half of it at once: some layers forget their state unless
    they get a single token, and attention to chosen keys may choose others.
    """
    torch = libraries.torch
    if model not in _at_once:
        ignored = _cache_argument(model) not in inspect.signature(model.forward).parameters
        most: float = 0 if ignored or has_states(_empty_cache(model)) else math.inf
        size = int(model.config.get_text_config().vocab_size)
        tokens = torch.randint(size, (1, TRIED), generator=torch.Generator().manual_seed(0)).to(device_of(model))
        for start, rest, limit in ((1, 1, 1), (TRIED // 2, TRIED, math.inf)) if not most else ():
            cache = _empty_cache(model)
            with torch.inference_mode():
                full = model(input_ids=tokens, use_cache=False).logits.float()
                parts = [step(model, tokens[:, :start], None, cache, 0, keep=start)]
                for at in range(start, TRIED, rest):
                    parts.append(step(model, tokens[:, at : at + rest], None, cache, at, keep=rest))
            error = float((torch.cat(parts, dim=1).float() - full).abs().max())
            if not error <= rounding_of(model) * float(full.std()):
                break
            most = limit
        _at_once[model] = most
    return _at_once[model]


def has_states(cache: Any) -> bool:
    """Return whether a cache has layers that keep more than keys and values, such as states of a recurrence."""
    return not {type(layer).__name__ for layer in cache.layers} <= {"DynamicLayer", "DynamicSlidingWindowLayer"}


def _cache_argument(model: PreTrainedModel) -> str:
    """Return the name under which a model takes its cache; others are ignored in silence."""
    return "cache_params" if "cache_params" in inspect.signature(model.forward).parameters else "past_key_values"


def _empty_cache(model: PreTrainedModel) -> Any:
    return libraries.transformers.DynamicCache(config=model.config.get_text_config())


def device_of(model: PreTrainedModel) -> Any:
    """Return the device that token ids must be on."""
    return model.get_input_embeddings().weight.device
