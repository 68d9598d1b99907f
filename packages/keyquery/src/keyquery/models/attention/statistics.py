"""Compute exact attention statistics per head without the matrix of weights; memory grows with T, not T squared.

Plain causal attention on the CPU is summed in one pass over the scores (`keyquery.models.attention.stream`).
Otherwise each block of queries passes over the keys twice, tile by tile: first to compute the normaliser of each row
(online softmax), then to compute, sum and discard the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keyquery.models import libraries
from keyquery.models.attention.calls import Call
from keyquery.models.attention.rows import LOCAL, TIE, AttentionRows, Float64Array, cut_range, join_rows
from keyquery.models.attention.scores import check_causal, tile_scores, token_count
from keyquery.models.attention.stream import is_plain_causal, stream_sums
from keyquery.models.undefined import NotFinite

QUERY_BLOCK, KEY_TILE = 128, 512


@dataclass(frozen=True)
class AttentionStatistics:
    """Attention of one layer over one text, per query head.

    Rows are queries t = 0 .. T-1. Weights are those of the model: with a learned sink, the weights of a row sum to less
    than 1.

    Parameters
    ----------
    tokens : int
        The number T of tokens.
    first, first_later : ndarray, shape (H,)
        Weight on the token at position 0, as a mean over all rows, and over rows from 1 on.
    null, null_later : float
        What `first` and `first_later` are for uniform attention over visible keys; `null` is H_T / T, with the harmonic
        number H_T, if each row sees all keys up to its own.
    local : ndarray, shape (H,)
        Weight on the 5 keys before the query's own key, as a mean over rows from 1 on. In rows 1 to 5, these keys
        include the first token.
    self : ndarray, shape (H,)
        Weight on the query's own key, as a mean over all rows.
    entropy : ndarray, shape (H,)
        -sum p log p in nats over the visible keys, as a mean over all rows; weights p are renormalised without the
        learned sink.
    entropy_share : ndarray, shape (H,)
        Entropy over the log of the number of visible keys, which is log(t + 1) without a window, as a mean over rows
        that see two or more keys.
    edges : ndarray, shape (bins + 1,)
        Edges of the bins of distances: bin b has pairs of query t and key s with edges[b] <= t - s < edges[b + 1]. The
        edges are 0, powers of two, and T.
    pairs : ndarray, shape (bins,)
        Number of visible query-key pairs.
    decay : ndarray, shape (H, bins)
        Mean weight of a pair; NaN if a bin has no visible pair.
    pairs_content, decay_content : ndarray
        `pairs` and `decay` without the first token as key.
    top_first, top_changes : ndarray, shape (H,)
        Shares of rows from 1 on whose heaviest key is the first token, or differs from that of the previous row.
    top : ndarray, shape (H, T), int32
        The heaviest key of each row: the earliest of those within 1e-4 nats of the largest score, so that rounding does
        not decide between equal tokens.
    """

    tokens: int
    first: Float64Array
    first_later: Float64Array
    null: float
    null_later: float
    local: Float64Array
    self: Float64Array
    entropy: Float64Array
    entropy_share: Float64Array
    edges: NDArray[np.int64]
    pairs: NDArray[np.int64]
    decay: Float64Array
    pairs_content: NDArray[np.int64]
    decay_content: Float64Array
    top_first: Float64Array
    top_changes: Float64Array
    top: NDArray[np.int32]


def bin_limits(tokens: int) -> NDArray[np.int64]:
    """Return the edges of the bins of distances for a text of T tokens: 0, 1, 2, 4, 8, ... and T."""
    powers = 2 ** np.arange(int(np.ceil(np.log2(tokens))) if tokens > 1 else 0)
    return np.concatenate([[0], powers, [tokens]]).astype(np.int64)


def attention_statistics(
    call: Call, *, query_block: int | None = None, key_tile: int | None = None
) -> AttentionStatistics:
    """Reduce one attention call on a whole text to its statistics.

    Scores are scaling q.k in float32; soft-capping, sliding windows, masks and learned sinks apply as in the model.
    Query head h reads key head h // (H_q / H_kv). `call` must be for one text (B = 1) of at least two tokens, without
    padding and key cache. `query_block` and `key_tile` are the rows and columns of a tile; if either is given, tiles
    are always used. Raises ModelError if the call is cross-attention, has several texts, a key cache, padding or a
    non-causal mask, or adds a position bias to scores.
    """
    tokens = token_count(call)
    limits = bin_limits(tokens)
    with libraries.torch.no_grad():
        if query_block is None and key_tile is None and is_plain_causal(call):
            rows = stream_sums(call, limits)
            if not np.isfinite(rows.entropy).all():
                raise _undefined_error(call)
        else:
            blocks = cut_range(0, tokens, query_block or QUERY_BLOCK)
            rows = join_rows([_row_sums(call, block, key_tile or KEY_TILE, limits) for block in blocks])
    first, top, pairs, visible_keys = rows.first, rows.top, rows.pairs, rows.visible_keys
    bins_of_first = np.zeros((len(pairs), tokens))  # 1 in the bin of the first token, at distance t from row t
    bins_of_first[np.searchsorted(limits, np.arange(tokens), side="right") - 1, np.arange(tokens)] = 1.0
    pairs_content = pairs - (bins_of_first @ rows.sees_first).astype(np.int64)
    uniform = rows.sees_first / visible_keys
    sees_several = visible_keys > 1
    entropy_shares = rows.entropy[:, sees_several] / np.log(visible_keys[sees_several])
    return AttentionStatistics(
        tokens=tokens,
        first=first.mean(axis=1),
        first_later=first[:, 1:].mean(axis=1),
        null=float(uniform.mean()),
        null_later=float(uniform[1:].mean()),
        local=rows.local[:, 1:].mean(axis=1),
        self=rows.self.mean(axis=1),
        entropy=rows.entropy.mean(axis=1),
        entropy_share=_mean_or_nan(entropy_shares.sum(axis=1), np.array(sees_several.sum())),
        edges=limits,
        pairs=pairs,
        decay=_mean_or_nan(rows.sums, pairs),
        pairs_content=pairs_content,
        decay_content=_mean_or_nan(np.maximum(rows.sums - first @ bins_of_first.T, 0.0), pairs_content),
        top_first=(top[:, 1:] == 0).mean(axis=1),
        top_changes=(top[:, 1:] != top[:, :-1]).mean(axis=1),
        top=top,
    )


def _mean_or_nan(sums: Float64Array, pairs: NDArray[np.int64]) -> Float64Array:
    mean: Float64Array = np.divide(sums, pairs, out=np.full(sums.shape, np.nan), where=pairs > 0)
    return mean


def _undefined_error(call: Call) -> NotFinite:
    layer = "" if call.layer is None else f" of layer {call.layer}"
    return NotFinite(
        f"{type(call.module).__name__}{layer}: a token sees no key (leave padding out), or scores are infinite or "
        "undefined"
    )


def _row_sums(call: Call, rows: range, key_tile: int, limits: NDArray[np.int64]) -> AttentionRows:
    """Return the sums over keys for a block of queries, in two passes over tiles of keys."""
    torch = libraries.torch
    device = call.query.device
    heads, count = call.query.shape[1], len(rows)
    options: dict[str, Any] = {"device": device, "dtype": torch.float32}
    query = call.query[0, :, rows.start : rows.stop].float()
    t = torch.arange(rows.start, rows.stop, device=device)
    check_causal(call, rows)

    norm = torch.full((heads, count), -torch.inf, **options)
    highest = norm.clone()
    visible_keys = torch.zeros(count, dtype=torch.int64, device=device)
    sees_first = torch.zeros(count, dtype=torch.bool, device=device)
    tiles = list(cut_range(max(0, rows.start - (call.window or rows.stop) + 1), rows.stop, key_tile))
    for keys in tiles:
        scores, visible = tile_scores(call, query, t, keys)
        norm = torch.logaddexp(norm, scores.logsumexp(dim=-1))
        highest = torch.maximum(highest, scores.amax(dim=-1))
        visible_keys += visible.sum(dim=-1)
        if keys.start == 0:
            sees_first = visible[:, 0]
    if not bool(norm.isfinite().all()) or int(visible_keys.min()) < 1:
        raise _undefined_error(call)
    sinks = call.options.get("s_aux")
    # with learned sinks, the weights on tokens sum to a share of 1
    token_share = (
        1.0 if sinks is None else (norm - torch.logaddexp(norm, sinks.reshape(-1, 1).float())).exp()[..., None]
    )

    bins = len(limits) - 1
    first, local, own_key, entropy = (torch.zeros((heads, count), **options) for _ in range(4))
    sums = torch.zeros((heads, bins), **options)
    pairs = torch.zeros(bins, dtype=torch.int64, device=device)
    inner_limits = torch.as_tensor(limits[1:-1], device=device)
    top = torch.full((heads, count), rows.stop, dtype=torch.int64, device=device)
    for keys in tiles:
        scores, visible = tile_scores(call, query, t, keys)
        tied = scores >= highest[..., None] - TIE
        s = torch.arange(keys.start, keys.stop, device=device)
        top = torch.minimum(top, torch.where(tied, s, rows.stop).amin(dim=-1))
        weights = (scores - norm[..., None]).exp()
        entropy += torch.special.entr(weights).sum(dim=-1)
        weights *= token_share
        distance = t[:, None] - s
        if keys.start == 0:
            first = weights[..., 0].clone()  # a view would keep the whole tile in memory
        if keys.stop > rows.start - LOCAL:
            local += (weights * ((distance > 0) & (distance <= LOCAL))).sum(dim=-1)
            own_key += (weights * (distance == 0)).sum(dim=-1)
        bin_of_pair = torch.bucketize(distance, inner_limits, right=True)
        for index in bin_of_pair[visible].unique().tolist():
            in_bin = (bin_of_pair == index) & visible
            sums[:, index] += (weights * in_bin).sum(dim=(-2, -1))
            pairs[index] += in_bin.sum()
    by_row = [tensor.cpu().double().numpy() for tensor in (first, local, own_key, entropy)]
    counts = [tensor.cpu().numpy() for tensor in (top.int(), visible_keys, sees_first)]
    return AttentionRows(*by_row, *counts, sums.cpu().double().numpy(), pairs.cpu().numpy())
