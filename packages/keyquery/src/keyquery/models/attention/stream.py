"""Compute statistics of plain causal attention in one pass on the CPU.

One matrix product gives the scores of a few rows. Compiled loops then find each row's maximum, exponentiate, and sum
over the bins of distances, which are ranges of keys. Only these rows are in memory, so even a long text needs little
memory beyond that of its queries and keys.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from keyquery.models import libraries
from keyquery.models.attention.calls import Call
from keyquery.models.attention.rows import LOCAL, TIE, AttentionRows

P = ParamSpec("P")
R = TypeVar("R")
Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

ROWS = 64  # maximum of queries at once
ELEMENTS = 1 << 20  # maximum of scores at once, unless fewer than 8 rows would fit
CHUNK = 256  # keys per stored maximum of scores
RUN = 4096  # weights per partial sum in single precision

# 2^x on -1/2 <= x <= 1/2 as a polynomial with the value 1 at 0, fitted to minimise the relative error: 2.2e-9.
E1, E2, E3 = 0.6931472055770994, 0.24022648462281188, 0.0555032903515379
E4, E5, E6 = 0.009618373251356171, 0.0013399848290626408, 0.00015370704815163014
LOG2E = np.float32(1.4426950408889634)
ROUND = np.float32(12582912.0)  # 1.5 * 2^23: adding it rounds a small number to an integer in the last bits
LOWEST = np.float32(-87.0)  # smaller exponents give weight 0


def _compile(flags: set[str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    make = numba.njit(cache=True, error_model="numpy", fastmath=flags, nogil=True)
    return cast(Callable[[Callable[P, R]], Callable[P, R]], make)


def is_plain_causal(call: Call) -> bool:
    """Return whether a call that `token_count` accepts is on the CPU, without mask, soft-capping or learned sinks."""
    options = [call.options.get(name) for name in ("softcap", "s_aux")]
    return call.mask is None and call.query.device.type == "cpu" and all(option is None for option in options)


def stream_sums(call: Call, limits: IntArray) -> AttentionRows:
    """Return measures of the attention weights of every query of a call, summed over keys.

    `token_count` must accept the call, and `is_plain_causal` be true of it; `limits` are the edges of the bins of
    distances.
    """
    torch = libraries.torch
    _, heads, tokens, _ = call.query.shape
    group = heads // call.key.shape[1]
    window = min(call.window or tokens, tokens)
    block_size = max(8, min(ROWS, ELEMENTS // min(tokens, window + ROWS)))
    buffer = torch.empty(min(block_size, tokens) * min(tokens, window + block_size), dtype=torch.float32)
    first, local, own_key, entropy = (np.empty((heads, tokens)) for _ in range(4))
    top, sums = np.empty((heads, tokens), np.int32), np.zeros((heads, limits.size - 1))
    for head in range(heads):
        if head % group == 0:
            keys = call.key[0, head // group].float().t().contiguous()
        query = call.query[0, head].float() * call.scaling
        for start in range(0, tokens, block_size):
            stop, left = min(start + block_size, tokens), max(0, start - window + 1)
            scores = buffer[: (stop - start) * (stop - left)].view(stop - start, stop - left)
            torch.mm(query[start:stop], keys[:, left:stop], out=scores)
            block = slice(start, stop)
            _reduce_rows(
                scores.numpy(),
                start,
                left,
                window,
                limits,
                first[head, block],
                local[head, block],
                own_key[head, block],
                entropy[head, block],
                top[head, block],
                sums[head],
            )
    distances = np.arange(tokens, dtype=np.int64)
    visible = np.where(distances < window, tokens - distances, 0)
    return AttentionRows(
        first=first,
        local=local,
        self=own_key,
        entropy=entropy,
        top=top,
        visible_keys=np.minimum(distances + 1, window),
        sees_first=distances < window,
        sums=sums,
        pairs=np.add.reduceat(visible, limits[:-1]),
    )


@_compile({"contract", "reassoc", "nnan", "nsz"})
def _largest_score(scores: Float32Array) -> Any:
    largest = scores[0]
    for k in range(1, scores.size):
        largest = max(largest, scores[k])
    return largest


@_compile({"contract"})
def _exp(x: Any) -> Any:
    """Return e^x for x <= 0, or 0 for x < -87."""
    y = x * LOG2E + ROUND  # compiled without reordering, which would break the next line
    power_of_two = y - ROUND
    f = x * LOG2E - power_of_two
    p = np.float32(E6) * f + np.float32(E5)
    p = p * f + np.float32(E4)
    p = p * f + np.float32(E3)
    p = p * f + np.float32(E2)
    p = p * f + np.float32(E1)
    p = p * f + np.float32(1.0)
    power = np.int32(np.float32(p).view(np.int32) + (np.float32(y).view(np.int32) << 23))
    return power.view(np.float32) if x > LOWEST else np.float32(0.0)


@_compile({"contract", "reassoc"})
def _softmax_weights(scores: Float32Array, highest: np.float32) -> tuple[float, float]:
    """Replace scores by weights exp(score - highest); return the sums of weights and of weight * (score - highest)."""
    total, moment = np.float32(0.0), np.float32(0.0)
    for k in range(scores.size):
        x = scores[k] - highest
        weight = _exp(x)
        total += weight
        moment += weight * x
        scores[k] = weight
    return float(total), float(moment)


@_compile({"contract"})
def _reduce_rows(
    scores: Float32Array,
    start: int,
    left: int,
    window: int,
    limits: IntArray,
    first: Float64Array,
    local: Float64Array,
    own_key: Float64Array,
    entropy: Float64Array,
    top: NDArray[np.int32],
    sums: Float64Array,
) -> None:
    """Reduce rows of scores into the arrays that are the arguments after `limits`; `scores` are overwritten.

    Row r of `scores` belongs to query start + r, and column c to key left + c.
    """
    bins = limits.size - 1
    masses, largest = np.empty(bins), np.empty(scores.shape[1] // CHUNK + 1, np.float32)
    for r in range(scores.shape[0]):
        t = start + r
        low = max(0, t - window + 1)
        row = scores[r, low - left : t + 1 - left]
        highest = np.float32(-np.inf)
        for chunk in range((row.size + CHUNK - 1) // CHUNK):
            largest[chunk] = _largest_score(row[chunk * CHUNK : (chunk + 1) * CHUNK])
            highest = max(highest, largest[chunk])
        threshold, chunk = highest - np.float32(TIE), 0
        while largest[chunk] < threshold and (chunk + 1) * CHUNK < row.size:
            chunk += 1
        heaviest = chunk * CHUNK
        while row[heaviest] < threshold and heaviest + 1 < row.size:
            heaviest += 1
        top[r] = low + heaviest
        total, moment = 0.0, 0.0
        for b in range(bins):
            begin, end = max(0, t - limits[b + 1] + 1 - low), t - limits[b] + 1 - low
            masses[b] = 0.0
            for run in range(begin, end, RUN):
                run_mass, run_moment = _softmax_weights(row[run : min(run + RUN, end)], highest)
                masses[b] += run_mass
                moment += run_moment
            total += masses[b]
        for b in range(bins):
            sums[b] += masses[b] / total
        first[r] = row[0] / total if low == 0 else 0.0
        own_key[r] = row[row.size - 1] / total
        entropy[r] = np.log(total) - moment / total
        local_mass = 0.0
        for k in range(max(0, row.size - 1 - LOCAL), row.size - 1):
            local_mass += row[k]
        local[r] = local_mass / total
