"""Build a small random model of every causal architecture of the installed transformers, and test what works.

    python packages/keyquery/tests/support/architectures.py       # writes docs/architectures.md

No weights are downloaded. A capture is correct if in every layer, over a whole text, softmax(scaling q.k) over the
tokens that the layer can attend to, times the values, equals the output of the layer's kernel.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.anatomy import blocks
from keyquery.models.architecture import check_call, check_order, forward, survey
from keyquery.models.attention.calls import Call
from keyquery.models.attention.projections import projecting
from keyquery.models.attention.rotations import rotations
from keyquery.rotary import Rotary

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

TOKENS = 40  # longer than windows and chunks of the small models
SECONDS = 300  # limit for one architecture
MAX_PARAMETERS = 30_000_000
COMMAND = "python packages/keyquery/tests/support/architectures.py"

# Values of settings, for configurations that have them
SIZES: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "embedding_size", "word_embed_proj_dim", "hidden_dim"), 64),
    **dict.fromkeys(("hc_hidden_size", "emb_dim", "dim", "dim_model", "encoder_hidden_size", "altup_hidden_size"), 64),
    **dict.fromkeys(("intermediate_size", "n_inner", "ffn_dim", "decoder_ffn_dim", "encoder_ffn_dim", "dff"), 48),
    **dict.fromkeys(("intermediate_size_mlp", "expert_ffn_hidden_size", "ffn_hidden_size", "dim_ff"), 48),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 4),
    **dict.fromkeys(("decoder_layers", "encoder_layers", "num_decoder_layers", "num_encoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads", "encoder_attention_heads", "num_decoder_attention_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "swa_num_key_value_heads", "num_global_key_value_heads"), 2),
    **dict.fromkeys(("swa_num_attention_heads",), 4),
    **dict.fromkeys(("head_dim", "global_head_dim", "swa_head_dim", "attention_head_dim", "dim_head"), 16),
    **dict.fromkeys(("kv_channels", "swa_v_head_dim", "mamba_headdim", "mamba_d_head", "mamba_head_dim"), 16),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "max_target_positions"), 64),
    **dict.fromkeys(("vocab_size", "vocab_size_per_layer_input", "src_vocab_size", "tgt_vocab_size"), 96),
    **dict.fromkeys(("sliding_window", "attention_chunk_size", "attention_window_size", "window_size"), 16),
    **dict.fromkeys(("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "moe_topk", "moe_k"), 2),
    **dict.fromkeys(("moe_intermediate_size", "moe_ffn_hidden_size", "shared_expert_intermediate_size"), 16),
    **dict.fromkeys(("shared_intermediate_size", "moe_shared_expert_intermediate_size"), 16),
    **dict.fromkeys(("n_group", "topk_group", "n_groups", "mamba_n_groups", "n_shared_experts"), 1),
    **dict.fromkeys(("q_lora_rank", "kv_lora_rank", "o_lora_rank", "index_head_dim", "qk_nope_head_dim"), 16),
    **dict.fromkeys(("v_head_dim",), 16),
    **dict.fromkeys(("qk_rope_head_dim", "rotary_dim"), 8),
    **dict.fromkeys(("first_k_dense_replace", "num_hash_layers"), 1),
    **dict.fromkeys(("state_size", "ssm_state_size", "mamba_d_state", "hidden_size_per_layer_input"), 8),
    **dict.fromkeys(("mamba_n_heads", "mamba_num_heads", "n_mamba_heads"), 8),
    **dict.fromkeys(("expand", "mamba_expand"), 2),
    **dict.fromkeys(("linear_num_key_heads", "index_n_heads"), 2),
    **dict.fromkeys(("linear_num_value_heads", "index_topk"), 4),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim"), 16),
    **{"mamba_d_ssm": 128, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "laurel_rank": 8},
}
BY_WINDOW = ("gemma3", "gemma3_text", "ministral")  # small models of these would have only sliding layers
LOCAL = ["sliding_attention", "full_attention"] * 2
ROPE = {"rope_type": "default", "rope_theta": 1e4}
FULL = {"num_key_value_heads": 4, "num_experts_per_token": 2, "shared_experts_intermediate_size": 16}
SHARED = {"layers_block_type": ["mamba", "hybrid"] * 2, "attention_hidden_size": 128, "attention_head_dim": 32, **FULL}
QWEN4 = {
    **{"indexer_n_heads": 2, "indexer_kv_heads": 1, "indexer_head_dim": 16, "indexer_budget": 8},
    **{"indexer_compress_ratio": 2, "hc_count": 2, "hc_lowrank": 8, "ple_embed_dim": 16, "heads_per_ngram": 2},
    **{"ngram_vocab_size_base": 97, "split_ngram_parts": 1, "output_gate_type": "sigmoid"},
}
DOTS3 = {**FULL, "per_layer_config": {"3": {"num_key_value_heads": 4}}, "head_dim": 24}
DRAFTS = "drafts tokens for another model, from that model's states and keys; by itself it reads no text"
SOUND = "reads and writes codes of sound, several in each step, and no text"
EXCLUDED = {  # why no configuration builds a type here
    **dict.fromkeys(("gemma4_assistant", "gemma4_unified_assistant"), DRAFTS),
    **dict.fromkeys(("musicgen", "musicgen_melody"), SOUND),
    "dots3_note": "its layers have separate sizes that cannot be made small; `dots3_note_text` is its part for text",
    "blt": "loading a small one from its folder took more than 400 s",
    "gemma3n": "needs the library timm, for images; `gemma3n_text` is its part that reads text",
}
# More settings by type, where the sizes above are inconsistent
EXTRA_SETTINGS: dict[str, dict[str, Any]] = {
    "bamba": {"attn_layer_indices": [1, 3]},
    **{name: {"layer_types": LOCAL} for name in BY_WINDOW},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "granitemoehybrid": {"layer_types": ["mamba", "attention", "mamba", "attention"]},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention", "conv", "full_attention"]},
    "mamba2": {"num_heads": 8, "head_dim": 16},
    "cohere_compass_text": {"layer_types": LOCAL, "rope_parameters": dict.fromkeys(LOCAL, ROPE)},
    "dots3_note_text": DOTS3,
    "dots1": {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1},
    "dbrx": {"attn_config": {"rope_theta": 1e4, "kv_n_heads": 2, "clip_qkv": 8.0}},
    "blt": {"encoder_hash_byte_group_vocab": 97, "hidden_size_global": 64},
    "gemma3n_text": {"num_kv_shared_layers": 2, "layer_types": LOCAL, "activation_sparsity_pattern": [0.0] * 4},
    **dict.fromkeys(("qwen4_exp_text", "qwen4_exp"), QWEN4),
    "xmod": {"default_language": "en_XX", "is_decoder": True},
    "zamba": {**SHARED, "mamba_dt_rank": 4, "attn_layer_period": 2, "attn_layer_offset": 1},
    "zamba2": {**SHARED, "hybrid_layer_ids": [1, 3], "adapter_rank": 4, "mamba_ngroups": 1},
    "reformer": {"is_decoder": True, "attn_layers": ["local", "lsh"], "axial_pos_embds": False},
    "bailing_hybrid": {
        **FULL,
        "num_expert_group": 1,
        "linear_head_dim": 16,
        "linear_num_heads": 4,
        "layer_group_size": 2,
    },
    "kimi_linear": {"num_experts_per_token": 2, "num_key_value_heads": 4},
}
# Settings tried in turn until a model is built and runs
TRIES: tuple[dict[str, Any], ...] = (
    {}, {"num_key_value_heads": 4}, {"head_dim": 16}, {"head_dim": 16, "num_key_value_heads": 4},
    {"head_dim": 8, "num_key_value_heads": 4}, {"num_experts_per_tok": 1},
    {"num_key_value_heads": 4, "num_experts_per_tok": 1}, {"is_decoder": True},
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """What can be measured of an architecture; if nothing can be measured, `built` or `refused` gives the reason."""

    type: str
    built: str = ""
    refused: str = ""
    layers: str = ""
    rotation: str = ""
    before: str = ""
    parts: str = ""


def small(kind: str, **more: Any) -> Any:
    """Return a small configuration of a model type, with only the settings that its default configuration has."""
    transformers = libraries.transformers
    default = transformers.AutoConfig.for_model(kind)
    return transformers.AutoConfig.for_model(kind, **_sized(default, EXTRA_SETTINGS.get(kind, {}) | more))


def _sized(default: Any, more: dict[str, Any]) -> dict[str, Any]:
    values = default.to_dict()
    settings = {name: size for name, size in SIZES.items() if values.get(name) is not None}
    settings |= {name: value for name, value in more.items() if name in values}
    for name in getattr(default, "sub_configs", None) or {}:
        sub_config = getattr(default, name, None)
        if sub_config is not None and hasattr(sub_config, "to_dict"):
            settings[name] = {"model_type": sub_config.model_type, **_sized(sub_config, more), **(more.get(name) or {})}
    return settings


def built(kind: str, **settings: Any) -> PreTrainedModel:
    """Return a small model of a type with fixed random weights; `settings` override `SIZES`."""
    torch, transformers = libraries.torch, libraries.transformers
    first: Exception | None = None
    if kind in EXCLUDED:
        raise ModelError(EXCLUDED[kind])
    for more in TRIES:
        try:
            config = small(kind, **settings, **more)
            with torch.device("meta"):
                size = transformers.AutoModelForCausalLM.from_config(config).num_parameters()
            if size > MAX_PARAMETERS:
                raise ModelError(f"{size / 1e6:.0f} M parameters at small sizes")
            torch.manual_seed(0)
            model: PreTrainedModel = transformers.AutoModelForCausalLM.from_config(config).eval()
            _roughen(model)
            with torch.inference_mode():
                model(input_ids=torch.arange(3, 11)[None], use_cache=False)
        except Exception as error:  # code of any architecture runs here
            first = first or error
            continue
        return model
    assert first is not None
    raise ModelError(f"{type(first).__name__}: {(str(first) or 'no words').strip().splitlines()[0]}")


def _roughen(model: PreTrainedModel) -> None:
    """Make norms and biases differ by dimension, as in trained models; ignored ones and zeros would go unnoticed."""
    torch = libraries.torch
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1 and parameter.is_floating_point():
                parameter.add_(0.2 * torch.rand_like(parameter))


def look(kind: str) -> Found:
    """Build a small model of a type, and return what works with it."""
    try:
        model = built(kind)
    except ModelError as error:
        return Found(kind, built=_short(str(error)))
    try:
        check_order(model)
        layers = survey(model)
        _check_calls(model, layers)
    except ModelError as error:
        return Found(kind, refused=_short(str(error)))
    parts = {layer.kind + (f" {layer.window}" if layer.window else "") for layer in layers}
    extra = [word for word, present in (("sink", layers[0].sink), ("softcap", layers[0].softcap)) if present]
    rotations_by_layer = rotations(model, TOKENS)
    rotation_words = {_rotation_text(rotation) for rotation in rotations_by_layer.values()}
    return Found(
        kind,
        layers=", ".join([*sorted(parts), *extra]),
        rotation="; ".join(sorted(rotation_words)),
        before=_refusal_or_yes(lambda: _before(model)),
        parts=_refusal_or_yes(lambda: [block.mlp for block in blocks(model)]),
    )


def _rotation_text(rotation: Rotary | str) -> str:
    if isinstance(rotation, str):
        return _short(rotation)
    return "none" if rotation.is_identity else f"{rotation.layout}, {2 * len(rotation.frequencies)}"


def _check_calls(model: PreTrainedModel, layers: Any) -> None:
    by_index = {layer.index: layer for layer in layers if layer.kind != "cross"}

    def check(call: Call, output: Tensor) -> None:
        if call.layer in by_index and not call.cross:
            check_call(model, by_index[call.layer], call, output)

    forward(model, _text(model), lambda call: None, check)


def _text(model: PreTrainedModel) -> Tensor:
    torch = libraries.torch
    words = int(model.config.get_text_config().vocab_size)
    tokens: Tensor = torch.randint(3, words, (1, TOKENS), generator=torch.Generator().manual_seed(1))
    return tokens


def _before(model: PreTrainedModel) -> None:
    with projecting(model, TOKENS, "") as projected:
        forward(model, _text(model), lambda call: None if call.cross else projected.before(call) and None)


def _refusal_or_yes(step: Any) -> str:
    try:
        step()
    except ModelError as error:
        return _short(str(error))
    return "yes"


def _short(text: str) -> str:
    """Return a reason in one line, without the name of the model, which its row gives."""
    text = re.sub(r"^\w+ \(model type [\w-]+\)[: ] ?", "", text.strip().splitlines()[0])
    text = text.partition("; it cannot be captured")[0].partition("; models of the Llama")[0]
    text = re.sub(r" \(by .*?\)", "", text.partition(", so queries and keys before")[0])
    return text.replace("|", "/")[:160]


def types() -> list[str]:
    """Return the model types with a causal language model class in transformers."""
    return sorted(libraries.need("transformers.models.auto.modeling_auto").MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)


def row(found: Found) -> str:
    """Return the row of an architecture in its table."""
    if found.built or found.refused:
        return f"| `{found.type}` | {found.built or found.refused} |"
    return f"| `{found.type}` | {found.layers} | {found.rotation} | {found.before} | {found.parts} |"


def page(found: list[Found]) -> str:
    """Return the Markdown page of all architectures."""
    captured = [architecture for architecture in found if not architecture.built and not architecture.refused]
    refused = [architecture for architecture in found if architecture.refused]
    not_built = [architecture for architecture in found if architecture.built]
    lines = [
        "# Architectures",
        "",
        f"Written by `{COMMAND}`; do not edit it by hand.",
        "",
        f"Causal architectures of transformers {libraries.version('transformers')} were tested as small models with "
        f"random weights: {len(captured)} are captured correctly, {len(refused)} are refused,",
        f"and {len(not_built)} were not built. A capture is correct if, for a text of {TOKENS} tokens,",
        "softmax(scaling q.k) v equals the output of every attention layer. Every capture makes this check for its "
        "first document.",
        "",
        "The column `layers` gives the kinds of attention layers (with the size of a window or chunk in tokens), and "
        "`rotation` the pairing of dimensions and the number of rotated dimensions. `before` says whether queries and "
        "keys before the rotation can be computed, and `parts` whether the attention and the MLP of each block, which "
        "ablations need, are found.",
        "",
        "## Captured correctly",
        "",
        "| type | layers | rotation | before | parts |",
        "| --- | --- | --- | --- | --- |",
        *map(row, captured),
        "",
        "## Refused by name",
        "",
        "| type | why |",
        "| --- | --- |",
        *map(row, refused),
        "",
        "## Not built small here",
        "",
        "| type | why |",
        "| --- | --- |",
        *map(row, not_built),
        "",
    ]
    return "\n".join(lines)


class _TooLong(BaseException):
    """The time for an architecture is over; a BaseException, so that code of transformers does not catch it."""


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    """Raise _TooLong in the `with` block after `seconds`."""

    def raise_too_long(*rest: Any) -> None:
        raise _TooLong(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, raise_too_long)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def main() -> None:
    """Examine every architecture, or the given ones, and write the page (or print the rows)."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    libraries.transformers.utils.logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    lines = []
    for kind in sys.argv[1:] or types():
        try:
            with _limited(SECONDS):
                lines.append(look(kind))
        except _TooLong as error:
            lines.append(Found(kind, built=str(error)))
        print(lines[-1], file=sys.stderr)
    if not sys.argv[1:]:
        Path("docs/architectures.md").write_text(page(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
