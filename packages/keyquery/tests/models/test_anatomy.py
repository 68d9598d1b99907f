"""Attention and MLP of a block are found as the modules whose outputs it adds, whatever their names."""

from typing import Any

import numpy as np
import pytest
import torch
import transformers

from boundpaper.errors import ModelError
from keyquery.models.anatomy import blocks
from keyquery.models.attention.calls import recording
from keyquery.models.interventions import Intervention, applied
from models_tiny import BUILDERS, SIZES, built

pytestmark = pytest.mark.models

TOKENS = torch.arange(4, 13)[None]
LEARNED: dict[str, Any] = {**SIZES, "ffn_dim": 48, "word_embed_proj_dim": 32, "n_positions": 64}


def causal(kind: str, **changes: Any) -> Any:
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**LEARNED | changes)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def assert_identity_without_its_parts(model: Any, layer: int = 1) -> None:
    """Check that a block with both of its parts silenced returns its input."""
    block = next(block for block in blocks(model) if block.layer == layer)
    states: list[Any] = []

    def before(module: Any, inputs: Any, options: Any) -> None:
        states.append(inputs[0] if inputs else options["hidden_states"])

    def after(module: Any, inputs: Any, output: Any) -> None:
        states.append(output[0] if isinstance(output, tuple) else output)

    silenced = [Intervention(site, "zero", layers=(layer,)) for site in ("attention", "mlp")]
    with (
        applied(model, silenced),
        block.module.register_forward_pre_hook(before, with_kwargs=True),
        block.module.register_forward_hook(after),
        torch.inference_mode(),
    ):
        model(input_ids=TOKENS, use_cache=False)
    torch.testing.assert_close(*states, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", [*(name for name in BUILDERS if name != "mllama"), "bloom", "mpt", "gptj", "falcon"])
def test_block_with_attention_and_mlp_removed_is_the_identity(name: str) -> None:
    """Some parts add to the residual stream themselves (BLOOM, MPT), or run in parallel (GPT-J)."""
    assert_identity_without_its_parts(built(name))


@pytest.mark.parametrize("kind", ["OPT", "BioGpt", "GPT2", "GPTBigCode", "StableLm", "Cohere", "Phi"])
def test_parts_of_blocks_are_found_under_other_names(kind: str) -> None:
    """OPT has an MLP of two matrices without a common module; in other models, parts share a norm."""
    model = causal(kind)
    assert_identity_without_its_parts(model)
    assert [block.layer for block in blocks(model)] == [0, 1, 2]


def test_active_attention_is_found_beside_idle_cross_attention() -> None:
    """In BART's decoder alone, the self-attention is distinguished from the unused cross-attention."""
    model = causal("Bart", d_model=32, decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=48)
    actual = blocks(model)
    assert len(actual) == 2
    for block in actual:
        assert block.attention is block.module.self_attn
        assert block.out is block.module.self_attn.out_proj
        assert block.mlp is block.module.fc2


def test_latent_attention_has_its_own_value_width() -> None:
    sizes = {"q_lora_rank": 12, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 6}
    moe = {"n_routed_experts": 2, "num_experts_per_tok": 1, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 3}
    model = causal("DeepseekV3", **sizes, **moe, num_key_value_heads=4)
    block = blocks(model)[1]
    assert (block.heads, block.key_heads, block.head_dim, block.value_dim) == (4, 4, 12, 6)
    mask = np.zeros((4, 6), dtype=bool)
    mask[2] = True
    outputs: list[Any] = []
    with (
        applied(model, [Intervention("heads", "zero", dims={1: mask})]),
        block.out.register_forward_pre_hook(lambda module, inputs: outputs.append(inputs[0])),
        torch.inference_mode(),
    ):
        model(input_ids=TOKENS, use_cache=False)
    silent = (outputs[0].reshape(9, 4, 6) == 0).all(dim=2).all(dim=0)
    assert silent.tolist() == [False, False, True, False]
    for side in ("q", "k", "v"):
        with pytest.raises(ModelError, match=rf"DeepseekV3Attention computes keys and values .*'{side}' of one head"):
            block.projection(side)


HYBRIDS: dict[str, dict[str, Any]] = {
    "NemotronH": {
        "layers_block_type": ["mamba", "attention", "mlp", "attention"], "mamba_num_heads": 8, "mamba_head_dim": 8,
        "ssm_state_size": 8, "n_groups": 1, "head_dim": 8,
    },
    "FalconH1": {
        "mamba_d_ssm": 64, "mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_n_groups": 1,
    },
}  # fmt: skip


@pytest.mark.parametrize(("kind", "message"), [("NemotronH", "has no MLP"), ("FalconH1", "several parts")])
def test_mlp_intervention_is_refused_on_blocks_without_one_mlp(kind: str, message: str) -> None:
    """Attention can be ablated; an MLP that is in another block or beside a Mamba layer cannot."""
    model = causal(kind, **HYBRIDS[kind], num_hidden_layers=4)
    layer = blocks(model)[0].layer
    with torch.inference_mode():
        baseline = model(input_ids=TOKENS, use_cache=False).logits
        with applied(model, [Intervention("attention", "zero", layers=(layer,))]):
            changed = model(input_ids=TOKENS, use_cache=False).logits
    assert not torch.allclose(baseline, changed)
    with pytest.raises(ModelError, match=message), applied(model, [Intervention("mlp", "zero", layers=(layer,))]):
        pass


def test_block_search_runs_once_and_leaves_no_trace() -> None:
    model = built("llama")
    calls: list[Any] = []
    with recording(model, lambda call: calls.append(call)):
        first = blocks(model)
    assert not calls
    assert blocks(model) is first
    model.model.layers[1].mlp = torch.nn.Sequential(model.model.layers[1].mlp)
    assert blocks(model)[1].mlp is model.model.layers[1].mlp
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_encoder_without_output_projection_is_refused() -> None:
    with pytest.raises(ModelError, match=r"no output projection found in layer 0: no matrix in BertSelfAttention"):
        blocks(causal("Bert", is_decoder=True))
