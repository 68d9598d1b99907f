"""Run forward passes with a key cache: encode prompts, batch prompts of equal length, and feed tokens in steps."""

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
from keyquery.models.attention.calls import model_label, positions_of

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

PROBE = (3, 5, 4, 6, 3, 7) * 4  # token ids of the text that tests padding
CACHE_PROBE = 32  # tokens of the text that tests a cache

_tokens_at_once: WeakKeyDictionary[Any, float] = WeakKeyDictionary()  # by model, what `tokens_at_once` found
_padding_matters: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()  # by model, whether padding changes its logits

Around = Callable[[], AbstractContextManager[Any]]
"""Function without arguments that returns a context manager to run forward passes in."""


def encode(tokenizer: Any, text: str) -> list[int]:
    """Return the token ids of a prompt, with the beginning-of-sequence token if the tokenizer adds one.

    Raises ModelError if there are no tokens, or if the tokenizer appends an end token, since an answer must follow.
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
    """Return the logits (B, keep, V) of the last `keep` tokens; `tokens` follow the `start` tokens in the cache."""
    torch = libraries.torch
    if mask is None:
        positions = torch.arange(start, start + tokens.shape[1], device=tokens.device)[None].expand(len(tokens), -1)
    else:
        positions = positions_of(mask)[:, -tokens.shape[1] :]
    cause = "a class that accepts only a key cache of its own (with --items 0 only losses are measured)"
    with describe_failures(model, tokens.shape[1], cause):
        logits: Tensor = model(
            input_ids=tokens,
            attention_mask=mask,
            position_ids=positions,
            use_cache=True,
            logits_to_keep=keep,
            **{_cache_argument(model): cache},
        ).logits
    return logits[:, -keep:]


def batches(keys: Sequence[Any], batch: int, *, together: bool = False) -> Iterator[list[int]]:
    """Yield batches of at most `batch` indices with equal keys; with `together`, keys are ignored."""
    groups: dict[Any, list[int]] = {}
    for index, key in enumerate(keys):
        groups.setdefault(None if together else key, []).append(index)
    for indices in groups.values():
        yield from (indices[start : start + batch] for start in range(0, len(indices), batch))


def refuse_changes_by_padding(model: PreTrainedModel) -> None:
    """Raise ModelError if padding on the left changes the model's logits of a short text.

    A mask hides padding from attention, but it may not hide padding from layers that carry a state from token to token,
    or from positions that are counted from the beginning of the row.
    """
    torch = libraries.torch
    if model not in _padding_matters:
        tokens = torch.tensor([PROBE], device=device_of(model)) % int(model.config.get_text_config().vocab_size)
        padded_row = torch.cat([tokens[:, -1:].expand(1, len(PROBE) - 1), tokens], dim=1)
        mask = (torch.arange(padded_row.shape[1], device=tokens.device) >= len(PROBE) - 1).long()[None]
        with torch.inference_mode():
            unpadded = step(model, tokens, torch.ones_like(tokens), key_cache(model), 0).float()
            padded = step(model, padded_row, mask, key_cache(model), 0).float()
        _padding_matters[model] = not float((unpadded - padded).abs().max()) <= rounding_of(model) * float(
            unpadded.std()
        )
    if _padding_matters[model]:
        raise ModelError(
            f"{model_label(model)}: prompts of different lengths cannot share a batch, since padding on the left "
            "changes the model's answers (positions are counted from the beginning of the row, or a layer carries a "
            "state through the padding); give --batch 1"
        )


def key_cache(model: PreTrainedModel) -> Any:
    """Return an empty key cache, with the sliding windows of the model.

    Raises ModelError if the model gives tokens other logits with the cache than without it.
    """
    if not tokens_at_once(model):
        raise ModelError(
            f"{model_label(model)}: a token computed with the cache gets other logits than in a pass over the whole "
            "text, so answers cannot be generated or scored; with --items 0, only losses are measured"
        )
    return _empty_cache(model)


def tokens_at_once(model: PreTrainedModel) -> float:
    """Return how many tokens one pass may add to a cache while it gives the same logits as a pass without a cache.

    The number is infinity for caches of keys and values. If the cache has states or the model ignores it, the number is
    the result of tests with a short text: infinity if the second half may follow the first at once, 1 if only single
    tokens may follow the first token, else 0. Some layers forget their state unless they get a single token, and
    attention to selected keys may select other keys.
    """
    torch = libraries.torch
    if model not in _tokens_at_once:
        ignored = _cache_argument(model) not in inspect.signature(model.forward).parameters
        number: float = 0 if ignored or has_states(_empty_cache(model)) else math.inf
        vocabulary = int(model.config.get_text_config().vocab_size)
        tokens = torch.randint(vocabulary, (1, CACHE_PROBE), generator=torch.Generator().manual_seed(0)).to(
            device_of(model)
        )
        tests = ((1, 1, 1), (CACHE_PROBE // 2, CACHE_PROBE, math.inf))
        for start, size, tested_number in tests if not number else ():
            cache = _empty_cache(model)
            with torch.inference_mode():
                full = model(input_ids=tokens, use_cache=False).logits.float()
                logits = [step(model, tokens[:, :start], None, cache, 0, keep=start)]
                for at in range(start, CACHE_PROBE, size):
                    logits.append(step(model, tokens[:, at : at + size], None, cache, at, keep=size))
            error = float((torch.cat(logits, dim=1).float() - full).abs().max())
            if not error <= rounding_of(model) * float(full.std()):
                break
            number = tested_number
        _tokens_at_once[model] = number
    return _tokens_at_once[model]


def has_states(cache: Any) -> bool:
    """Return whether a cache has layers that keep more than keys and values, such as states of a recurrence."""
    return not {type(layer).__name__ for layer in cache.layers} <= {"DynamicLayer", "DynamicSlidingWindowLayer"}


def _cache_argument(model: PreTrainedModel) -> str:
    """Return the name of the model's argument for a cache; many models ignore arguments of other names in silence."""
    return "cache_params" if "cache_params" in inspect.signature(model.forward).parameters else "past_key_values"


def _empty_cache(model: PreTrainedModel) -> Any:
    return libraries.transformers.DynamicCache(config=model.config.get_text_config())


def device_of(model: PreTrainedModel) -> Any:
    """Return the device that token ids must be on."""
    return model.get_input_embeddings().weight.device
