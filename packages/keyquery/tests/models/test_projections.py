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


def unrotated(model: Any, tokens: int) -> tuple[list[Call], list[tuple[Any, Any]]]:
    """Return calls, and queries and keys before rotation, by layer."""
    calls: list[Call] = []
    pairs: list[tuple[Any, Any]] = []
    ids = torch.randint(4, 64, (1, tokens), generator=torch.Generator().manual_seed(3))
    with projecting(model, tokens) as projected:

        def see(call: Call) -> None:
            calls.append(call)
            pairs.append(projected.before(call))

        forward(model, ids, see)
    return calls, pairs


def constant(model: Any) -> None:
    """Make the rotation of a model the identity."""

    def hook(module: Any, inputs: Any, output: Any) -> Any:
        return torch.ones_like(output[0]), torch.zeros_like(output[1])

    for module in model.modules():
        if "RotaryEmbedding" in type(module).__name__:
            module.register_forward_hook(hook)


@pytest.mark.parametrize("tokens", [12, 3])
@pytest.mark.parametrize("name", ["llama", "qwen3", "gemma3", "smollm3", "gpt_neox", "gpt_oss"])
def test_unrotated_vectors_equal_a_forward_without_rotation(name: str, tokens: int) -> None:
    """In the first layer, a model with the identity as rotation has the same inputs."""
    calls, pairs = unrotated(built(name), tokens)
    still = built(name)
    constant(still)
    expected: list[Call] = []
    forward(still, torch.randint(4, 64, (1, tokens), generator=torch.Generator().manual_seed(3)), expected.append)
    query, key = pairs[0]
    assert not torch.allclose(calls[0].query, query)
    torch.testing.assert_close(query, expected[0].query, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(key, expected[0].key, rtol=1e-5, atol=1e-5)
    for call, (before, _) in zip(calls, pairs, strict=True):
        torch.testing.assert_close(before.norm(dim=-1), call.query.norm(dim=-1), rtol=1e-4, atol=1e-5)


def test_layers_without_positions_are_unchanged() -> None:
    calls, pairs = unrotated(built("smollm3"), 12)
    assert torch.equal(calls[1].query, pairs[1][0])


def test_query_scale_of_ministral3_is_not_in_the_projection() -> None:
    calls, pairs = unrotated(built("ministral3"), 24)
    model = built("ministral3")
    expected: list[Any] = []
    model.model.layers[0].self_attn.q_proj.register_forward_hook(lambda *made: expected.append(made[2]))
    forward(model, torch.randint(4, 64, (1, 24), generator=torch.Generator().manual_seed(3)), lambda call: None)
    assert torch.equal(pairs[0][0], expected[0].view(1, 24, 4, 8).transpose(1, 2))
    growth = calls[0].query.norm(dim=-1) / pairs[0][0].norm(dim=-1)
    assert growth[0, 0, -1] > 1.2 * growth[0, 0, 0]


def test_queries_of_a_fused_projection_are_rotated_back() -> None:
    """Phi-3 computes q, k and v in one projection."""
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(transformers.Phi3Config(**SIZES)).eval()
    made: list[Any] = []
    model.model.layers[0].self_attn.qkv_proj.register_forward_hook(lambda *given: made.append(given[2]))
    _, pairs = unrotated(model, 12)
    query = made[-1][..., :32].view(1, 12, 4, 8).transpose(1, 2)
    key = made[-1][..., 32:48].view(1, 12, 2, 8).transpose(1, 2)
    torch.testing.assert_close(pairs[0][0], query, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(pairs[0][1], key, rtol=1e-4, atol=1e-5)


def test_scaled_partial_rotation_is_undone_on_its_dimensions_only() -> None:
    """YaRN scales cosines and sines; the scale is divided out of rotated dimensions only."""
    torch.manual_seed(0)
    yarn = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 8.0, "original_max_position_embeddings": 8}
    sizes = {name: size for name, size in SIZES.items() if name != "num_key_value_heads"}
    config = transformers.GPTNeoXConfig(**sizes, rope_parameters=yarn | {"partial_rotary_factor": 0.5})
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    assert model.gpt_neox.rotary_emb.attention_scaling > 1.1
    made: list[Any] = []
    model.gpt_neox.layers[0].attention.query_key_value.register_forward_hook(lambda *given: made.append(given[2]))
    _, pairs = unrotated(model, 12)
    query, key, _ = made[-1].view(1, 12, 4, 24).transpose(1, 2).chunk(3, dim=-1)
    torch.testing.assert_close(pairs[0][0], query, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(pairs[0][1], key, rtol=1e-4, atol=1e-5)


def test_token_and_head_axes_of_equal_size_are_distinguished() -> None:
    calls, pairs = unrotated(built("gemma3"), 4)
    _, longer = unrotated(built("gemma3"), 12)
    torch.testing.assert_close(pairs[0][0], longer[0][0][:, :, :4], rtol=1e-5, atol=1e-6)
    assert not torch.allclose(calls[0].query, pairs[0][0])


def llama4(**more: Any) -> Any:
    torch.manual_seed(0)
    config = transformers.Llama4TextConfig(
        **HEADS_OF_8, intermediate_size_mlp=48, num_local_experts=2, num_experts_per_tok=1, rope_parameters=ROPE,
        no_rope_layers=[1, 1, 0], attention_chunk_size=16, **more,
    )  # fmt: skip
    return transformers.Llama4ForCausalLM(config).eval()


@pytest.mark.parametrize("norm", [False, True])
def test_complex_rotation_with_a_norm_behind_it_is_undone(norm: bool) -> None:
    """Llama 4 rotates neighbours as complex numbers, may normalise afterwards, and scales queries without positions."""
    model = llama4(use_qk_norm=norm, attn_temperature_tuning=True, floor_scale=4, attn_scale=0.5)
    made: dict[int, Any] = {}
    for layer in (0, 2):
        part = model.model.layers[layer].self_attn.q_proj
        part.register_forward_hook(lambda module, given, out, layer=layer: made.setdefault(layer, out))
    calls: list[Call] = []
    pairs: list[Any] = []
    ids = torch.randint(4, 64, (1, 12), generator=torch.Generator().manual_seed(3))
    with projecting(model, 12) as projected:
        made.clear()
        forward(model, ids, lambda call: calls.append(call) or pairs.append(projected.before(call)[0]))
    for layer in (0, 2):
        query = made[layer].view(1, 12, 4, 8).transpose(1, 2)
        if norm and layer == 0:
            query = query / query.pow(2).mean(dim=-1, keepdim=True).add(1e-5).sqrt()
        torch.testing.assert_close(pairs[layer], query, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(calls[2].query, pairs[2])


LATENT = {
    "num_key_value_heads": 4, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
    "n_routed_experts": 2, "num_experts_per_tok": 1, "n_group": 1, "topk_group": 1, "moe_intermediate_size": 16,
    "first_k_dense_replace": 3,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["DeepseekV2", "DeepseekV3"])
@pytest.mark.parametrize("rank", [None, 12])
def test_latent_attention_rotates_only_its_decoupled_part(kind: str, rank: int | None) -> None:
    """In latent attention only the decoupled part rotates: scores at equal positions are those before rotation."""
    torch.manual_seed(0)
    sizes = {**SIZES, **LATENT, "q_lora_rank": rank, "rope_parameters": ROPE}
    config = getattr(transformers, f"{kind}Config")(**sizes)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    calls, pairs = unrotated(model, 12)
    still: list[Call] = []
    tokens = torch.randint(4, 64, (1, 12), generator=torch.Generator().manual_seed(3))
    forward(model, tokens, still.append, position_ids=torch.zeros_like(tokens), attention_mask=torch.ones_like(tokens))
    assert calls[0].query.shape[-1] == 12
    assert not torch.allclose(calls[0].query, pairs[0][0])
    torch.testing.assert_close(pairs[0][0], still[0].query, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(pairs[0][1], still[0].key, rtol=1e-4, atol=1e-5)


def with_norms_of_their_own(kind: str) -> Any:
    """Return a model whose norms weight dimensions differently."""
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(getattr(transformers, f"{kind}Config")(**HEADS_OF_8)).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.uniform_(0.5, 1.5)
    return model


def test_unweighted_norm_behind_a_reversed_rotation_is_undone() -> None:
    """NanoChat rotates in the other direction and then normalises without weights, which can be undone."""
    model = with_norms_of_their_own("NanoChat")
    made: list[Any] = []
    model.model.layers[0].self_attn.q_proj.register_forward_hook(lambda *given: made.append(given[2]))
    calls, pairs = unrotated(model, 12)
    query = made[-1].view(1, 12, 4, 8).transpose(1, 2)
    query = query / query.pow(2).mean(dim=-1, keepdim=True).add(1e-6).sqrt()
    torch.testing.assert_close(pairs[0][0], query, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(calls[0].query, pairs[0][0])


def test_a_norm_with_weights_behind_the_rotation_is_refused() -> None:
    """HunYuan's norm weights rotated vectors by dimension, which must not be taken for vectors before rotation."""
    with pytest.raises(ModelError, match=r"HunYuanDenseV1Attention: .* computed in layer 0; an experiment that"):
        unrotated(with_norms_of_their_own("HunYuanDenseV1"), 12)


def test_hooks_are_removed_after_an_interrupt() -> None:
    model = built("llama")
    with pytest.raises(KeyboardInterrupt), projecting(model, 8):
        raise KeyboardInterrupt
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_capture_before_rotation_differs_from_capture_after_it(tmp_path: Any) -> None:
    model = saved("llama", tmp_path / "model")
    both = {}
    for before in (False, True):
        out = tmp_path / str(before)
        capture = captured(model, out, lambda seed: text(40, seed), context=32, texts=1, rate=8.0, pre_rope=before)
        both[before] = capture.queries(capture.heads[1])
    assert np.array_equal(both[True].position, both[False].position)
    np.testing.assert_allclose(
        np.linalg.norm(both[True].vectors, axis=1), np.linalg.norm(both[False].vectors, axis=1), rtol=1e-5
    )
    assert np.allclose(both[True].vectors[0], both[False].vectors[0]), "position 0 is not turned"
    assert not np.allclose(both[True].vectors[1:], both[False].vectors[1:], atol=1e-2)
