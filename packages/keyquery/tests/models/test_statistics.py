"""Attention statistics by tiles: equal to those of the full matrix, and correct where the answer is known."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from boundpaper.errors import ModelError
from keyquery.models.architecture import forward
from keyquery.models.attention.calls import Call
from keyquery.models.attention.statistics import AttentionStatistics, attention_statistics, bin_limits
from models_tiny import BUILDERS, WINDOW, built

pytestmark = pytest.mark.models

TOKENS = 24


def ids(tokens: int = TOKENS) -> Any:
    return torch.randint(4, 64, (1, tokens), generator=torch.Generator().manual_seed(1))


def calls(model: Any, tokens: int = TOKENS) -> list[Call]:
    recorded: list[Call] = []
    forward(model, ids(tokens), recorded.append)
    return recorded


def attentions(model: Any) -> list[Any]:
    """Return the model's attention weights, float64 (H, T, T), by layer."""
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        by_layer = model(input_ids=ids(), use_cache=False, output_attentions=True).attentions
    return [weights[0].double().numpy() for weights in by_layer if weights is not None]


def dense(weights: Any, window: int | None) -> dict[str, Any]:
    """Return the statistics computed from the full matrix."""
    tokens = weights.shape[-1]
    gap = np.arange(tokens)[:, None] - np.arange(tokens)
    visible = (gap >= 0) & (gap < (window or tokens))
    limits = bin_limits(tokens)
    share = weights / weights.sum(axis=-1, keepdims=True)
    entropy = -np.where(share > 0, share * np.log(np.where(share > 0, share, 1)), 0).sum(axis=-1)
    bins = [visible & (gap >= low) & (gap < high) for low, high in pairwise(limits)]
    content = [inside & (np.arange(tokens) > 0) for inside in bins]
    with np.errstate(invalid="ignore"):
        decay = np.stack([weights[:, inside].sum(axis=1) / inside.sum() for inside in bins], axis=1)
        decay_content = np.stack([weights[:, inside].sum(axis=1) / inside.sum() for inside in content], axis=1)
    top = weights.argmax(axis=-1)
    return {
        "first": weights[:, :, 0].mean(axis=1), "first_later": weights[:, 1:, 0].mean(axis=1),
        "null": np.mean(visible[:, 0] / visible.sum(axis=1)),
        "null_later": np.mean((visible[:, 0] / visible.sum(axis=1))[1:]),
        "local": (weights * ((gap >= 1) & (gap <= 5))).sum(axis=-1)[:, 1:].mean(axis=1),
        "self": np.diagonal(weights, axis1=1, axis2=2).mean(axis=1), "entropy": entropy.mean(axis=1),
        "entropy_share": (entropy[:, 1:] / np.log(visible.sum(axis=1)[1:])).mean(axis=1),
        "pairs": [inside.sum() for inside in bins], "decay": decay,
        "pairs_content": [inside.sum() for inside in content], "decay_content": decay_content,
        "top_first": (top[:, 1:] == 0).mean(axis=1), "top_changes": (top[:, 1:] != top[:, :-1]).mean(axis=1),
        "top": top,
    }  # fmt: skip


def assert_equal_statistics(
    actual: AttentionStatistics, expected: AttentionStatistics, rtol: float, atol: float
) -> None:
    for field in AttentionStatistics.__dataclass_fields__:
        values = getattr(actual, field), getattr(expected, field)
        np.testing.assert_allclose(*values, rtol=rtol, atol=atol, err_msg=field)


@pytest.mark.parametrize("name", [name for name in BUILDERS if name not in ("llama-wide", "ministral")])
def test_tiled_statistics_equal_those_of_the_whole_matrix(name: str) -> None:
    """The models have grouped queries, windows, soft-capping, learned sinks, q/k norms or scaled queries."""
    model = built(name)
    expected = attentions(built(name))
    self_calls = [call for call in calls(model) if not call.cross]
    assert len(self_calls) == len(expected)
    for call, weights in zip(self_calls, expected, strict=True):
        dense_weights = dense(weights, call.window)
        for block, tile in ((None, None), (128, 512), (7, 5), (5, 24)):
            computed = attention_statistics(call, query_block=block, key_tile=tile)
            assert computed.tokens == TOKENS
            for field, value in dense_weights.items():
                np.testing.assert_allclose(
                    getattr(computed, field), value, rtol=2e-4, atol=3e-5, err_msg=f"{field} of layer {call.layer}"
                )


def test_explicit_and_implicit_masks_give_equal_statistics() -> None:
    """Eager attention passes an additive mask; other implementations pass no mask."""
    model = built("llama")
    plain = calls(model)[0]
    assert plain.mask is None
    model.set_attn_implementation("eager")
    masked = calls(model)[0]
    assert masked.mask is not None
    assert masked.mask.dtype == torch.float32
    assert_equal_statistics(attention_statistics(plain), attention_statistics(masked), rtol=1e-5, atol=1e-6)


def test_uniform_attention_equals_the_null() -> None:
    model = built("llama")
    model.model.layers[1].self_attn.q_proj.weight.data.zero_()
    uniform = attention_statistics(calls(model)[1], query_block=7, key_tile=5)
    counts = np.arange(1, TOKENS + 1)
    harmonic = (1 / counts).sum() / TOKENS
    assert uniform.null == pytest.approx(harmonic, rel=1e-12)
    np.testing.assert_allclose(uniform.first, harmonic, rtol=1e-6)
    np.testing.assert_allclose(uniform.first_later, uniform.null_later, rtol=1e-6)
    np.testing.assert_allclose(uniform.entropy, np.log(counts).mean(), rtol=1e-6)
    np.testing.assert_allclose(uniform.entropy_share, 1, rtol=1e-6)
    np.testing.assert_allclose(uniform.self, harmonic, rtol=1e-6)
    np.testing.assert_allclose(uniform.local, (np.minimum(counts - 1, 5) / counts)[1:].mean(), rtol=1e-6)
    assert (uniform.top == 0).all(), "ties go to the earliest key"
    uneven = attention_statistics(calls(model)[0])
    assert (np.abs(uneven.first - harmonic) > 1e-3).any()


def test_null_of_uniform_attention_accounts_for_the_window() -> None:
    """The null accounts for later rows that cannot attend to the first token."""
    model = built("mistral")
    model.model.layers[0].self_attn.q_proj.weight.data.zero_()
    uniform = attention_statistics(calls(model)[0], query_block=7, key_tile=5)
    null = sum(1 / row for row in range(1, WINDOW + 1)) / TOKENS
    assert uniform.null == pytest.approx(null, rel=1e-12)
    np.testing.assert_allclose(uniform.first, null, rtol=1e-6)
    np.testing.assert_allclose(uniform.entropy_share, 1, rtol=1e-6)
    beyond = uniform.edges[:-1] >= WINDOW
    assert beyond.any()
    assert (uniform.pairs[beyond] == 0).all()
    assert np.isnan(uniform.decay[:, beyond]).all()
    assert np.isfinite(uniform.decay[:, ~beyond]).all()


def test_window_without_an_explicit_mask_is_applied() -> None:
    """Kernels that take the window as a number get no mask."""
    call = calls(built("mistral"))[0]
    assert call.mask is not None
    tiled = attention_statistics(replace(call, mask=None), key_tile=512)
    assert_equal_statistics(attention_statistics(call), tiled, rtol=0, atol=0)
    assert_equal_statistics(attention_statistics(replace(call, mask=None)), tiled, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("window", [None, 300])
def test_single_pass_over_a_long_text_equals_tiles(window: int | None) -> None:
    """A text above 4096 keys is computed in parts; its statistics and heaviest keys equal those by tiles."""
    generator = torch.Generator().manual_seed(0)
    call = replace(
        calls(built("llama"))[0],
        query=2 * torch.randn(1, 2, 4300, 8, generator=generator),
        key=torch.randn(1, 1, 4300, 8, generator=generator),
        mask=None,
    )
    call = replace(call, options={**call.options, "sliding_window": window})
    assert call.window == window
    single, tiled = attention_statistics(call), attention_statistics(call, key_tile=1024)
    assert np.array_equal(single.top, tiled.top)
    assert len(np.unique(single.top)) > 30
    assert_equal_statistics(single, tiled, rtol=2e-6, atol=1e-8)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_infinite_or_undefined_scores_are_refused(value: float) -> None:
    call = calls(built("llama"))[0]
    query = call.query.clone()
    query[0, 1, 9, 0] = value
    for tile in (None, 5):
        with pytest.raises(ModelError, match="infinite or undefined"):
            attention_statistics(replace(call, query=query), key_tile=tile)


def attending_to(target: int, tokens: int, **changes: Any) -> Call:
    """Return a call in which each query's score is far higher at the key `target` than at others."""
    eye = torch.eye(tokens)
    query = (200 * eye[target]).repeat(1, 4, tokens, 1)
    return replace(calls(built("llama"))[0], query=query, key=eye[None, None].repeat(1, 2, 1, 1), mask=None, **changes)


def test_attention_on_the_first_token_only_gives_first_share_one() -> None:
    statistics = attention_statistics(attending_to(0, 17, options={"scaling": 1.0}))
    assert (statistics.first == 1).all()
    assert (statistics.first_later == 1).all()
    assert np.abs(statistics.entropy).max() == 0
    assert (statistics.top_first == 1).all()
    assert (statistics.top_changes == 0).all()
    assert np.nanmax(statistics.decay_content) == 0
    assert statistics.self == pytest.approx(np.full(4, 1 / 17))


def test_tied_keys_resolve_to_the_earliest() -> None:
    """The earliest of the heaviest keys is returned in any tiling, whatever the rounding."""
    call = attending_to(3, 17, options={"scaling": 1.0})
    key = call.key.clone()
    key[:, :, 9] = key[:, :, 3] * (1 + 1e-7)  # the same word again, heavier by 2e-5 nats
    key[:, :, 12] = key[:, :, 3] * (1 + 1e-5)  # another word, heavier by 2e-3
    for block, tile in ((None, None), (128, 512), (4, 3)):
        statistics = attention_statistics(replace(call, key=key), query_block=block, key_tile=tile)
        assert (statistics.top[:, 3:12] == 3).all()
        assert (statistics.top[:, 12:] == 12).all()


def test_memory_is_linear_in_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """No tensor holds all T x T scores of a head at any time."""
    largest = 0

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            nonlocal largest
            result = function(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                largest = max(largest, result.numel())
            return result

    call = attending_to(0, 512)
    query_size = call.query.numel()
    with Watch():
        attention_statistics(call, query_block=32, key_tile=64)
    assert 0 < largest < query_size / 4 < 4 * 512 * 512
    assert largest >= 4 * 32 * 64
    largest = 0
    with Watch():
        attention_statistics(call)
    assert 64 * 512 <= largest <= 512 * 512 < query_size / 2  # the scores of 64 rows, and the keys of one head


def test_calls_that_statistics_cannot_treat_are_refused() -> None:
    model = built("llama")
    call = calls(model)[0]
    repeated = replace(call, query=call.query.repeat(2, 1, 1, 1))
    cached = replace(call, query=call.query[:, :, -1:])
    single_token = replace(call, query=call.query[:, :, :1], key=call.key[:, :, :1])
    biased = replace(call, options={**call.options, "position_bias": torch.zeros(1)})
    noncausal = replace(call, mask=torch.ones(1, 1, TOKENS, TOKENS, dtype=torch.bool))
    padded = torch.ones(1, 1, TOKENS, TOKENS, dtype=torch.bool).tril()
    padded[..., :3] = False
    per_head = replace(call, mask=torch.zeros(1, 4, TOKENS, TOKENS))
    for refused, message in (
        (repeated, "one whole text at a time"),
        (cached, "without a key cache"),
        (single_token, "two tokens or more"),
        (biased, "position bias"),
        (noncausal, "lets tokens see later ones"),
        (replace(call, options={"is_causal": False}), "lets tokens see later ones"),
        (replace(call, mask=padded), "leave padding"),
        (per_head, "not the same for all heads"),
    ):
        with pytest.raises(ModelError, match=message):
            attention_statistics(refused)


def test_blocked_key_gets_no_attention() -> None:
    """Uniform attention is shared among the keys that are not blocked, and the null counts only these keys."""
    call = calls(built("llama"))[0]
    mask = torch.ones(1, 1, TOKENS, TOKENS, dtype=torch.bool).tril()
    mask[..., 6:, 5] = False
    uniform = attention_statistics(replace(call, query=call.query * 0, mask=mask))
    counts = np.arange(1, TOKENS + 1) - (np.arange(TOKENS) >= 6)
    np.testing.assert_allclose(uniform.first, (1 / counts).mean(), rtol=1e-6)
    assert uniform.null == pytest.approx((1 / counts).mean())
