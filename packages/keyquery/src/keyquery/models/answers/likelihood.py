"""Compute the likelihood of token sequences without all logits in memory at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from boundpaper.errors import DataError
from keyquery.models import libraries
from keyquery.models.answers.forwards import Around, device_of

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

LOGIT_ROWS = 512  # rows of logits in memory: 512 rows for 128k tokens in float32 take a quarter of a gigabyte


def token_nats(model: PreTrainedModel, tokens: Tensor, *, prefill: Around = nullcontext) -> Tensor:
    """Return the negative log-likelihood of every token but the first, in nats.

    The result is float32 of shape (B, T - 1), on the CPU. Logits are computed from the hidden states, `LOGIT_ROWS` rows
    at a time, if this reproduces the model's logits of the last token; otherwise (for example with soft-capping) a
    second forward pass computes all logits at once. The model must be in evaluation mode, and `tokens`, of shape (T,)
    or (B, T), must have no padding. `prefill` returns a context manager for each forward pass. Raises DataError when
    there are fewer than two tokens.
    """
    torch = libraries.torch
    tokens = torch.as_tensor(tokens, device=device_of(model))
    tokens = tokens[None] if tokens.ndim == 1 else tokens
    if tokens.shape[1] < 2:
        raise DataError(f"a text of {tokens.shape[1]} tokens has no token to predict; give at least 2")
    nats, start = [], 1
    with torch.inference_mode():
        for logits in _logits_in_parts(model, tokens, prefill):
            targets = tokens[:, start : start + logits.shape[1], None].to(logits.device)
            nats.append(-logits.float().log_softmax(-1).gather(2, targets)[..., 0].cpu())
            start += logits.shape[1]
    return torch.cat(nats, dim=1)


def _logits_in_parts(model: Any, tokens: Tensor, prefill: Around) -> Iterator[Tensor]:
    """Yield the logits at all positions but the last, in parts of shape (B, positions, V)."""
    torch = libraries.torch
    outputs: list[Tensor] = []
    hook = model.get_decoder().register_forward_hook(lambda module, inputs, output: outputs.append(output[0]))
    try:
        with prefill():
            last_logits = model(input_ids=tokens, use_cache=False, logits_to_keep=1).logits[:, -1]
    finally:
        hook.remove()
    head, states = model.get_output_embeddings(), outputs[-1]
    # soft-capping changes small logits by less than rounding, so only the configuration shows it
    capped = getattr(model.config.get_text_config(), "final_logit_softcapping", None) is not None
    fits = states.shape[-1] == model.get_input_embeddings().weight.shape[-1]  # some decoders return logits (Llama 4)
    if fits and not capped and torch.allclose(head(states[:, -1]), last_logits, rtol=1e-2, atol=1e-3):
        for start in range(0, tokens.shape[1] - 1, LOGIT_ROWS):
            yield head(states[:, start : min(start + LOGIT_ROWS, tokens.shape[1] - 1)])
        return
    with prefill():
        logits = model(input_ids=tokens, use_cache=False).logits
    yield logits[:, :-1]
