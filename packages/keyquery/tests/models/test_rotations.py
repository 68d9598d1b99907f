"""The rotation of every layer is read from random models of each kind; unreadable layers are refused by name."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from transformers.models.llama import modeling_llama  # noqa: E402

from keyquery.models.architecture import run_forward, survey  # noqa: E402
from keyquery.models.attention.calls import recording  # noqa: E402
from keyquery.models.attention.rotations import rotations  # noqa: E402
from keyquery.models.captures.manifest import rotations_of  # noqa: E402
from keyquery.rotary import NO_ROTATION, Rotary, rotation_records  # noqa: E402

pytestmark = pytest.mark.models
CONTEXT = 200
POSITIONS = [0, 1, 6, 17, 63, 64, 150, CONTEXT - 1]
BASE: dict[str, Any] = {
    **{"vocab_size": 64, "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2},
    **{"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 256},
    **{"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
}
LATENT = {
    **{"num_key_value_heads": 4, "kv_lora_rank": 16, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16},
    **{"n_routed_experts": 4, "num_experts_per_tok": 1, "n_group": 1, "topk_group": 1, "moe_intermediate_size": 16},
}
WIDE = {"head_dim": 16}
FOUR = {"num_hidden_layers": 4}


@dataclass(frozen=True)
class Kind:
    """A model class, its settings, the rotation expected of it, and its layers without rotation."""

    name: str
    changes: dict[str, Any]
    layout: str = "half"
    start: int = 0
    pairs: int = 8
    unrotated: tuple[int, ...] = ()
    factor: float = 1.0

    def model(self) -> Any:
        kinds: Any = transformers
        config = getattr(kinds, f"{self.name}TextConfig", None) or getattr(kinds, f"{self.name}Config")
        causal = getattr(kinds, f"{self.name}ForCausalLM", None) or getattr(kinds, f"{self.name}LMHeadModel")
        torch.manual_seed(0)
        model = causal(config(**BASE | self.changes)).eval()
        with torch.no_grad():
            for weights in model.parameters():  # norms differ by dimension, weights have typical size
                weights.copy_(torch.randn_like(weights) * (0.2 if weights.ndim > 1 else 0.3) + (weights.ndim == 1))
        return model


def rope(kind: str, **more: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": kind, "rope_theta": 1e4, **more}}


SHORT = {"original_max_position_embeddings": 64}
YARN = 0.1 * np.log(4) + 1
KINDS = [
    Kind("Llama", rope("default")),
    Kind("Llama", rope("linear", factor=4.0)),
    Kind("Llama", rope("dynamic", factor=4.0) | {"max_position_embeddings": 64}),
    Kind("Llama", rope("yarn", factor=4.0, **SHORT), factor=YARN),
    Kind("Llama", rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, **SHORT)),
    Kind(
        "Llama",
        rope("longrope", factor=4.0, short_factor=[1.0] * 8, long_factor=[1.0 + p for p in range(8)], **SHORT),
        factor=np.sqrt(1 + np.log(4) / np.log(64)),
    ),
    Kind("Llama", rope("proportional", partial_rotary_factor=0.5)),
    Kind("Llama", rope("linear", factor=1e30), unrotated=(0, 1)),
    Kind("GPTNeoX", {"rotary_pct": 0.25}, pairs=2),
    Kind("Phi", {}, pairs=4),
    Kind("Phi3", {}),
    Kind("StableLm", {}, pairs=2),
    Kind("Qwen3", WIDE),
    Kind("Olmo2", {}),
    Kind("Gemma3", WIDE | {"num_hidden_layers": 6, "sliding_window": 32}),
    Kind("GptOss", WIDE | {"num_local_experts": 2, "num_experts_per_tok": 1} | rope("default")),
    Kind("Glm", WIDE, layout="interleaved", pairs=4),
    Kind("Cohere", {}, layout="interleaved"),
    Kind("Cohere2", FOUR, layout="interleaved", unrotated=(3,)),
    Kind("Ernie4_5", WIDE, layout="interleaved"),
    Kind("Helium", WIDE, layout="interleaved"),
    Kind("SmolLM3", FOUR | {"no_rope_layer_interval": 4}, unrotated=(3,)),
    Kind("Exaone4", FOUR | {"sliding_window": 32}, unrotated=(3,)),
    Kind("DeepseekV2", LATENT | {"q_lora_rank": None}, layout="interleaved", start=16, pairs=4),
    Kind("DeepseekV3", LATENT | {"q_lora_rank": 24, "first_k_dense_replace": 1}, start=16, pairs=4),
    Kind(
        "Llama4",
        FOUR
        | WIDE
        | {"intermediate_size_mlp": 32, "num_local_experts": 2, "num_experts_per_tok": 1, "attention_chunk_size": 128},
        layout="interleaved",
        unrotated=(3,),
    ),
    Kind(
        "Ministral3", WIDE | rope("yarn", factor=4.0, llama_4_scaling_beta=0.1, mscale=1.0, mscale_all_dim=1.0, **SHORT)
    ),
    Kind("GPT2", {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 256}, unrotated=(0, 1)),
    Kind("OPT", {"ffn_dim": 64, "word_embed_proj_dim": 64}, unrotated=(0, 1)),
]


def name_of(kind: Kind) -> str:
    parameters = kind.changes.get("rope_parameters") or {}
    return f"{kind.name}-{parameters.get('rope_type', 'own')}{'-unrotated' if kind.unrotated == (0, 1) else ''}"


def test_every_scaling_that_transformers_knows_is_among_the_kinds():
    scalings = {(kind.changes.get("rope_parameters") or {}).get("rope_type", "default") for kind in KINDS}
    assert set(transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS) <= scalings


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_rotation_of_each_architecture_is_read_and_checked(kind, precision):
    """Layout, offset and number of pairs match the architecture; layers without rotation are recognised."""
    model = kind.model()
    if precision == "bfloat16":
        model = model.to(torch.bfloat16)
    actual = rotations(model, CONTEXT)
    for layer, rotary in actual.items():
        assert isinstance(rotary, Rotary), rotary
        if layer in kind.unrotated:
            assert rotary == NO_ROTATION
        else:
            assert (rotary.layout, rotary.start, len(rotary.frequencies)) == (kind.layout, kind.start, kind.pairs)
            assert rotary.factor == pytest.approx(kind.factor, rel=1e-6 if precision == "float32" else 5e-3)
    assert rotations_of({"settings": {"captured_heads": []}, "rotations": rotation_records(actual)}) == actual


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.unrotated != (0, 1)], ids=name_of)
def test_equal_words_at_all_positions_have_equal_aligned_queries(kind):
    """First-layer queries depend only on word and position: rotated to one position, one word's queries are equal."""
    model = kind.model()
    rotary = rotations(model, CONTEXT)[0]
    assert isinstance(rotary, Rotary)
    scale = survey(model)[0].query_scale
    first_queries = []
    tokens = torch.full((1, len(POSITIONS)), 7)
    with recording(model, lambda call: first_queries.append(call.query[0]) if call.layer == 0 else None):
        run_forward(model, tokens, position_ids=torch.tensor([POSITIONS]), attention_mask=torch.ones_like(tokens))
    queries = first_queries[0].double().numpy()
    if scale is not None:
        queries = queries / scale.at(np.array(POSITIONS))[None, :, None]
    assert np.abs(queries - queries[:, -1:]).max() > 0.1 * np.abs(queries).max()  # as captured they differ
    for head in queries:
        aligned = rotary.turned(head, POSITIONS[-1] - np.array(POSITIONS))
        np.testing.assert_allclose(aligned, np.broadcast_to(head[-1], head.shape), atol=3e-4 * np.abs(head).max())


def test_length_dependent_frequencies_are_those_of_the_text_length():
    """Dynamic NTK and long RoPE rotate short texts differently from long ones."""
    for kind in (KINDS[2], KINDS[5]):
        model = kind.model()
        short, long, again = (rotations(model, context)[0] for context in (32, CONTEXT, 32))
        assert short == again != long
        assert isinstance(short, Rotary)
        assert short.frequencies == pytest.approx([1e4 ** (-p / 8) for p in range(8)])


def test_a_norm_behind_the_rotation_is_refused_by_name():
    """The norm's weights differ by dimension, so it does not commute with the rotation."""
    actual = rotations(Kind("HunYuanDenseV1", WIDE).model(), CONTEXT)
    assert all(str(reason).startswith("HunYuanDenseV1Attention: ") for reason in actual.values())
    [record] = rotation_records(actual)
    assert (record["layers"], "refused" in record) == ([0, 1], True)


def test_rotation_that_differs_from_its_cosines_and_sines_is_refused(monkeypatch):
    """The patched layer rotates twice as fast as its cosines and sines say."""
    model, original = KINDS[0].model(), modeling_llama.apply_rotary_pos_emb
    doubled = lambda q, k, c, s, **rest: original(q, k, c**2 - s**2, 2 * c * s, **rest)  # noqa: E731
    monkeypatch.setattr(modeling_llama, "apply_rotary_pos_emb", doubled)
    actual = rotations(model, CONTEXT)
    message = "rotated back to position 0, differ from those before the rotation"
    assert all(message in str(reason) for reason in actual.values())


def test_a_factor_that_grows_with_the_position_is_refused(monkeypatch):
    model, original = KINDS[0].model(), modeling_llama.apply_rotary_pos_emb

    def grown(q, k, c, s, **rest):
        q, k = original(q, k, c, s, **rest)
        return q * (1 + 0.1 * torch.arange(q.shape[2]))[:, None], k

    monkeypatch.setattr(modeling_llama, "apply_rotary_pos_emb", grown)
    actual = rotations(model, CONTEXT)
    assert all("factor that depends on the token" in str(reason) for reason in actual.values())
