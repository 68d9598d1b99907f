"""Queries and keys before rotation: equal to the outputs of the projections, or refused."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers

from boundpaper.errors import ModelError
from captures_made import captured
from keyquery.models.architecture import forward
from keyquery.models.attention.calls import Call
from keyquery.models.attention.projections import projecting
from models_tiny import HEADS_OF_8, ROPE, SIZES, built, saved, text

pytestmark = pytest.mark.models


def ids(tokens: int) -> torch.Tensor:
    return torch.randint(4, 64, (1, tokens), generator=torch.Generator().manual_seed(3))


def causal(config: Any) -> Any:
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def outputs_of(module: Any) -> list[Any]:
    """Return a list that gets each output of a module."""
    outputs: list[Any] = []
    module.register_forward_hook(lambda module, inputs, output: outputs.append(output))
    return outputs


def by_head(output: torch.Tensor, heads: int = 4) -> torch.Tensor:
    """Return the output of a projection as (1, H, T, d)."""
    return output.view(1, output.shape[1], heads, -1).transpose(1, 2)


def assert_close(actual: Any, expected: Any) -> None:
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)


def unrotated(model: Any, tokens: int) -> tuple[list[Call], list[tuple[Any, Any]]]:
    """Return calls, and queries and keys before rotation, by layer."""
    calls: list[Call] = []
    pairs: list[tuple[Any, Any]] = []
    with projecting(model, tokens) as projected:

        def record(call: Call) -> None:
            calls.append(call)
            pairs.append(projected.before(call))

        forward(model, ids(tokens), record)
    return calls, pairs


def without_rotation(name: str) -> Any:
    """Return a model whose rotation is the identity."""
    model = built(name)

    def hook(module: Any, inputs: Any, output: Any) -> Any:
        return torch.ones_like(output[0]), torch.zeros_like(output[1])

    for module in model.modules():
        if "RotaryEmbedding" in type(module).__name__:
            module.register_forward_hook(hook)
    return model


@pytest.mark.parametrize("tokens", [12, 3])
@pytest.mark.parametrize("name", ["llama", "qwen3", "gemma3", "smollm3", "gpt_neox", "gpt_oss"])
def test_unrotated_vectors_equal_a_forward_without_rotation(name: str, tokens: int) -> None:
    """The vectors of layer 0 are compared, since the layer's input does not depend on the rotation."""
    calls, pairs = unrotated(built(name), tokens)
    expected: list[Call] = []
    forward(without_rotation(name), ids(tokens), expected.append)
    query, key = pairs[0]
    assert not torch.allclose(calls[0].query, query)
    torch.testing.assert_close(query, expected[0].query, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(key, expected[0].key, rtol=1e-5, atol=1e-5)
    for call, (before, _) in zip(calls, pairs, strict=True):
        assert_close(before.norm(dim=-1), call.query.norm(dim=-1))


def test_layers_without_positions_are_unchanged() -> None:
    calls, pairs = unrotated(built("smollm3"), 12)
    assert torch.equal(calls[1].query, pairs[1][0])


def test_query_scale_of_ministral3_is_not_in_the_projection() -> None:
    model = built("ministral3")
    outputs = outputs_of(model.model.layers[0].self_attn.q_proj)
    calls, pairs = unrotated(model, 24)
    assert torch.equal(pairs[0][0], by_head(outputs[-1]))
    growth = calls[0].query.norm(dim=-1) / pairs[0][0].norm(dim=-1)
    assert growth[0, 0, -1] > 1.2 * growth[0, 0, 0]


def test_queries_of_a_fused_projection_are_rotated_back() -> None:
    """Phi-3 computes q, k and v in one projection."""
    model = causal(transformers.Phi3Config(**SIZES))
    outputs = outputs_of(model.model.layers[0].self_attn.qkv_proj)
    _, pairs = unrotated(model, 12)
    assert_close(pairs[0][0], by_head(outputs[-1][..., :32]))
    assert_close(pairs[0][1], by_head(outputs[-1][..., 32:48], heads=2))


def test_scaled_partial_rotation_is_undone_on_its_dimensions_only() -> None:
    """YaRN scales cosines and sines; the scale is divided out of rotated dimensions only."""
    yarn = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 8.0, "original_max_position_embeddings": 8}
    sizes = {name: size for name, size in SIZES.items() if name != "num_key_value_heads"}
    model = causal(transformers.GPTNeoXConfig(**sizes, rope_parameters=yarn | {"partial_rotary_factor": 0.5}))
    assert model.gpt_neox.rotary_emb.attention_scaling > 1.1
    outputs = outputs_of(model.gpt_neox.layers[0].attention.query_key_value)
    _, pairs = unrotated(model, 12)
    query, key, _ = by_head(outputs[-1]).chunk(3, dim=-1)
    assert_close(pairs[0][0], query)
    assert_close(pairs[0][1], key)


def test_token_and_head_axes_of_equal_size_are_distinguished() -> None:
    calls, pairs = unrotated(built("gemma3"), 4)
    _, longer = unrotated(built("gemma3"), 12)
    torch.testing.assert_close(pairs[0][0], longer[0][0][:, :, :4], rtol=1e-5, atol=1e-6)
    assert not torch.allclose(calls[0].query, pairs[0][0])


def normed(query: torch.Tensor, epsilon: float) -> torch.Tensor:
    return query / query.pow(2).mean(dim=-1, keepdim=True).add(epsilon).sqrt()


@pytest.mark.parametrize("norm", [False, True])
def test_complex_rotation_with_a_norm_behind_it_is_undone(norm: bool) -> None:
    """Llama 4 rotates neighbouring dimensions, may then normalise, and scales the queries of unrotated layers."""
    config = transformers.Llama4TextConfig(
        **HEADS_OF_8, intermediate_size_mlp=48, num_local_experts=2, num_experts_per_tok=1, rope_parameters=ROPE,
        no_rope_layers=[1, 1, 0], attention_chunk_size=16, use_qk_norm=norm, attn_temperature_tuning=True,
        floor_scale=4, attn_scale=0.5,
    )  # fmt: skip
    model = causal(config)
    outputs = [outputs_of(layer.self_attn.q_proj) for layer in model.model.layers]
    calls, pairs = unrotated(model, 12)
    for layer in (0, 2):
        query = by_head(outputs[layer][-1])
        assert_close(pairs[layer][0], normed(query, 1e-5) if norm and layer == 0 else query)
    assert not torch.allclose(calls[2].query, pairs[2][0])


LATENT = {
    "num_key_value_heads": 4, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
    "n_routed_experts": 2, "num_experts_per_tok": 1, "n_group": 1, "topk_group": 1, "moe_intermediate_size": 16,
    "first_k_dense_replace": 3,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["DeepseekV2", "DeepseekV3"])
@pytest.mark.parametrize("rank", [None, 12])
def test_latent_attention_rotates_only_its_decoupled_part(kind: str, rank: int | None) -> None:
    """Vectors before the rotation equal those of a forward pass in which every position is 0."""
    sizes = {**SIZES, **LATENT, "q_lora_rank": rank, "rope_parameters": ROPE}
    model = causal(getattr(transformers, f"{kind}Config")(**sizes))
    calls, pairs = unrotated(model, 12)
    at_zero: list[Call] = []
    zeros, ones = torch.zeros(1, 12, dtype=torch.long), torch.ones(1, 12, dtype=torch.long)
    forward(model, ids(12), at_zero.append, position_ids=zeros, attention_mask=ones)
    assert calls[0].query.shape[-1] == 12
    assert not torch.allclose(calls[0].query, pairs[0][0])
    assert_close(pairs[0], (at_zero[0].query, at_zero[0].key))


def with_weighted_norms(kind: str) -> Any:
    """Return a model whose norms multiply each dimension by a different weight."""
    model = causal(getattr(transformers, f"{kind}Config")(**HEADS_OF_8))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.uniform_(0.5, 1.5)
    return model


def test_unweighted_norm_behind_a_reversed_rotation_is_undone() -> None:
    """NanoChat rotates in the other direction and then normalises without weights, which can be undone."""
    model = with_weighted_norms("NanoChat")
    outputs = outputs_of(model.model.layers[0].self_attn.q_proj)
    calls, pairs = unrotated(model, 12)
    assert_close(pairs[0][0], normed(by_head(outputs[-1]), 1e-6))
    assert not torch.allclose(calls[0].query, pairs[0][0])


def test_a_norm_with_weights_behind_the_rotation_is_refused() -> None:
    """HunYuan multiplies each rotated dimension by a weight, so rotating back does not undo the rotation."""
    with pytest.raises(ModelError, match=r"HunYuanDenseV1Attention: .* computed in layer 0; an experiment that"):
        unrotated(with_weighted_norms("HunYuanDenseV1"), 12)


def test_hooks_are_removed_after_an_interrupt() -> None:
    model = built("llama")
    with pytest.raises(KeyboardInterrupt), projecting(model, 8):
        raise KeyboardInterrupt
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_capture_before_rotation_differs_from_capture_after_it(tmp_path: Any) -> None:
    model = saved("llama", tmp_path / "model")

    def queries(pre_rope: bool) -> Any:
        out = tmp_path / str(pre_rope)
        capture = captured(model, out, lambda seed: text(40, seed), context=32, texts=1, rate=8.0, pre_rope=pre_rope)
        return capture.queries(capture.heads[1])

    before, after = queries(True), queries(False)
    assert np.array_equal(before.position, after.position)
    norms = (np.linalg.norm(queries.vectors, axis=1) for queries in (before, after))
    np.testing.assert_allclose(*norms, rtol=1e-5)
    assert np.allclose(before.vectors[0], after.vectors[0]), "position 0 is not rotated"
    assert not np.allclose(before.vectors[1:], after.vectors[1:], atol=1e-2)
