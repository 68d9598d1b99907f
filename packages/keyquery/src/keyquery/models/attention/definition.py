"""Compute attention by its definition, to compare it with the output of a model's own kernel.

A capture represents its model only if each layer computes softmax(scaling q.k), times the values, over the tokens that
the configuration lets it attend to. The comparison reveals other influences: later tokens, a prefix, a biased mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from keyquery.models import libraries
from keyquery.models.attention.calls import Call

if TYPE_CHECKING:
    from torch import Tensor


def causal_mask(queries: Tensor, tokens: int) -> Tensor:
    """Return the mask of causal attention, of shape (rows, tokens): True if a key is not after the query.

    `queries` are the positions of the rows, int64; keys are at positions 0 to `tokens` - 1.
    """
    keys = libraries.torch.arange(tokens, device=queries.device)
    visible: Tensor = keys[None] <= queries[:, None]
    return visible


def sliding_mask(queries: Tensor, tokens: int, window: int) -> Tensor:
    """Return the mask (rows, tokens) of a sliding window: the query's own token and the `window` - 1 tokens before."""
    keys = libraries.torch.arange(tokens, device=queries.device)
    visible: Tensor = causal_mask(queries, tokens) & (keys[None] > queries[:, None] - window)
    return visible


def chunked_mask(queries: Tensor, tokens: int, size: int) -> Tensor:
    """Return the mask (rows, tokens) of chunked attention: tokens in the query's chunk that are not after the query."""
    keys = libraries.torch.arange(tokens, device=queries.device)
    visible: Tensor = causal_mask(queries, tokens) & (keys[None] // size == queries[:, None] // size)
    return visible


def attention_by_definition(call: Call, rows: Tensor, visible: Tensor) -> Tensor:
    """Return the output of attention by its definition, float32, of shape (B, rows, H, d_v).

    Soft-capping and learned sinks are applied according to the call's options; the call's mask is ignored. `rows` are
    the indices of the queries, int64. The boolean mask `visible` (rows, S) selects the visible keys of each query, at
    least one.
    """
    torch = libraries.torch
    heads, key_heads = call.query.shape[1], call.key.shape[1]
    group, softcap, sinks = heads // key_heads, call.options.get("softcap"), call.options.get("s_aux")
    query = call.query.index_select(2, rows).float() * call.scaling
    outputs = []
    for head in range(key_heads):  # one head at a time, since scores of all heads of a long text take gigabytes
        key, value = call.key[:, head].float(), call.value[:, head].float()
        scores = torch.matmul(query[:, head * group : (head + 1) * group], key.transpose(1, 2)[:, None])
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        scores = scores.masked_fill(~visible, -torch.inf)
        if sinks is not None:
            sink_scores = sinks.float()[head * group : (head + 1) * group]
            scores = torch.cat([scores, sink_scores.reshape(1, -1, 1, 1).expand(*scores.shape[:3], 1)], dim=-1)
        weights = torch.softmax(scores, dim=-1)[..., : key.shape[1]]
        outputs.append(torch.matmul(weights, value[:, None]))
    output: Tensor = torch.cat(outputs, dim=1).transpose(1, 2)
    return output


def largest_difference(call: Call, output: Tensor, rows: Tensor, visible: Tensor) -> float:
    """Return a kernel's largest difference from the definition, divided by the largest absolute entry of `value`.

    It is NaN if an output is undefined. `call`, `rows` and `visible` are as in `attention_by_definition`; `output` (B,
    T, H, d_v) is the kernel's output.
    """
    actual = output.reshape(*output.shape[:2], call.query.shape[1], -1).index_select(1, rows).float()
    expected = attention_by_definition(call, rows, visible)
    largest = float(call.value.float().abs().max())
    return float((actual - expected).abs().max()) / largest if largest else 0.0


def rounding_tolerance(call: Call) -> float:
    """Return the tolerance for a kernel's rounding, in units of `largest_difference`; it depends on the number type."""
    half = call.value.dtype in (libraries.torch.float16, libraries.torch.bfloat16)
    return 5e-2 if half else 2e-3


def has_bias(call: Call, rows: Tensor) -> bool:
    """Return whether a call's mask biases the scores of `rows`: whether it adds finite numbers other than 0."""
    torch = libraries.torch
    mask = call.mask
    if mask is None or not mask.is_floating_point():
        return False
    mask = mask.index_select(-2, rows) if mask.shape[-2] > 1 else mask
    visible = mask > torch.finfo(mask.dtype).min / 2
    return bool((visible & (mask != 0)).any())
