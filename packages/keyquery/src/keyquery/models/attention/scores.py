"""Compute the scores of an attention call tile by tile: scaling q.k in float32, soft-capped and masked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.attention.calls import Call

if TYPE_CHECKING:
    from torch import Tensor


def token_count(call: Call) -> int:
    """Return the number of tokens of a call; raise ModelError unless its queries and keys are those of one whole text.

    ModelError is also raised if the call is not causal self-attention, or if it biases the scores by position.
    """
    name = type(call.module).__name__
    batch, heads, tokens, _ = call.query.shape
    if call.cross:
        raise ModelError(f"{name}: cross-attention has no first token and no distances; give a self-attention call")
    if batch != 1 or call.key.shape[2] != tokens:
        raise ModelError(
            f"{name}: {batch} texts of {tokens} queries against {call.key.shape[2]} keys; statistics take one "
            "whole text at a time, without a key cache"
        )
    if tokens < 2:
        raise ModelError(f"{name}: a text of {tokens} token has nothing to attend to; give two tokens or more")
    if heads % call.key.shape[1]:
        raise ModelError(f"{name}: {heads} query heads do not share {call.key.shape[1]} key heads evenly")
    if call.options.get("position_bias") is not None:
        raise ModelError(f"{name} adds a position bias to its scores; queries and keys do not contain this bias")
    if call.options.get("cu_seq_lens_q") is not None:
        raise ModelError(f"{name}: several texts are packed into one row; give one text at a time")
    causal = call.options.get("is_causal")
    if call.mask is None and (causal is False or (causal is None and not getattr(call.module, "is_causal", True))):
        raise ModelError(f"{name} lets tokens see later ones; attention statistics need causal attention")
    return tokens


def tile_scores(call: Call, query: Tensor, query_positions: Tensor, keys: range) -> tuple[Tensor, Tensor]:
    """Return scores (H, rows, keys), which are -inf for hidden keys, and the mask (rows, keys) of visible keys."""
    torch = libraries.torch
    heads, rows, dims = query.shape
    key = call.key[0, :, keys.start : keys.stop].float()
    by_key_head = query.reshape(key.shape[0], -1, dims)  # query heads of one key head are adjacent
    scores = torch.matmul(by_key_head, key.transpose(1, 2)).reshape(heads, rows, len(keys)) * call.scaling
    softcap = call.options.get("softcap")
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    distance = query_positions[:, None] - torch.arange(keys.start, keys.stop, device=query_positions.device)
    visible = distance >= 0
    if call.window is not None:
        visible &= distance < call.window
    if call.mask is not None:
        first = int(query_positions[0])
        mask = call.mask[0, 0, first : first + rows, keys.start : keys.stop]
        visible &= _visible_keys(mask)
        if mask.dtype != torch.bool:
            scores = scores + mask.float()
    return scores.masked_fill(~visible, -torch.inf), visible


def _visible_keys(mask: Tensor) -> Tensor:
    """Return a boolean mask of visible keys from a boolean or additive mask."""
    torch = libraries.torch
    visible: Tensor = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
    return visible


def check_causal(call: Call, rows: range) -> None:
    """Raise ModelError if a call's mask lets a query in `rows` see later tokens, or is not the same for all heads."""
    if call.mask is None:
        return
    name = type(call.module).__name__
    if call.mask.ndim != 4 or call.mask.shape[:2] != (1, 1):
        raise ModelError(f"{name}: a mask of shape {tuple(call.mask.shape)} is not the same for all heads")
    visible = _visible_keys(call.mask[0, 0, rows.start : rows.stop, rows.start : call.key.shape[2]])
    if bool(libraries.torch.triu(visible, diagonal=1).any()):
        raise ModelError(f"{name} lets tokens see later ones; attention statistics need causal attention")
