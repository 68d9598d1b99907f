"""A small Llama in a GGUF file, made by the test that reads it: 4-bit weights and a word tokenizer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np

WIDTH, INNER, HEADS, KEY_HEADS, LAYERS = 64, 96, 4, 2, 2
BASE = 10_000.0
SPACE = "\u0120"  # as written by byte-level tokenizers
ENDS = "abcdefghij"
WORDS = ["<unk>", "<s>", "</s>", SPACE, "w", *ENDS, *(f"w{end}" for end in ENDS), *(f"{SPACE}w{end}" for end in ENDS)]
MERGES = [*(f"w {end}" for end in ENDS), *(f"{SPACE} w{end}" for end in ENDS)]


def rotated(weight: np.ndarray, heads: int) -> np.ndarray:
    """Return rows of a projection in llama.cpp's order: both halves of a head's dimensions interleaved."""
    return weight.reshape(heads, 2, -1, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def made(
    path: Path, seed: int = 0, architecture: str = "llama", more: Callable[[Any], None] = lambda writer: None
) -> dict[str, np.ndarray]:
    """Write the file, with additions by `more`; return the weights that it encodes, by transformers' names."""
    rng = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("a made model")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_1)
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_freq_base(BASE)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(WORDS))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(WORDS)
    writer.add_token_merges(MERGES)
    writer.add_token_types([2, 3, 3, *[1] * (len(WORDS) - 3)])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    weights: dict[str, np.ndarray] = {}

    def add(name: str, target: str, shape: tuple[int, ...], heads: int = 0) -> None:
        values = rng.normal(scale=0.3, size=shape).astype(np.float32)
        if len(shape) == 1:
            writer.add_tensor(name, values + 1)
            weights[target] = values + 1
            return
        quantization = gguf.GGMLQuantizationType.Q4_1
        packed = gguf.quantize(rotated(values, heads) if heads else values, quantization)
        writer.add_tensor(name, packed, raw_dtype=quantization)
        decoded = gguf.dequantize(packed, quantization)
        if heads:  # back to transformers' order
            decoded = decoded.reshape(heads, -1, 2, shape[1]).swapaxes(1, 2).reshape(shape)
        weights[target] = decoded

    add("token_embd.weight", "model.embed_tokens.weight", (len(WORDS), WIDTH))
    add("output_norm.weight", "model.norm.weight", (WIDTH,))
    key_width = WIDTH // HEADS * KEY_HEADS
    for layer in range(LAYERS):
        prefix, target_prefix = f"blk.{layer}", f"model.layers.{layer}"
        add(f"{prefix}.attn_norm.weight", f"{target_prefix}.input_layernorm.weight", (WIDTH,))
        add(f"{prefix}.ffn_norm.weight", f"{target_prefix}.post_attention_layernorm.weight", (WIDTH,))
        add(f"{prefix}.attn_q.weight", f"{target_prefix}.self_attn.q_proj.weight", (WIDTH, WIDTH), HEADS)
        add(f"{prefix}.attn_k.weight", f"{target_prefix}.self_attn.k_proj.weight", (key_width, WIDTH), KEY_HEADS)
        add(f"{prefix}.attn_v.weight", f"{target_prefix}.self_attn.v_proj.weight", (key_width, WIDTH))
        add(f"{prefix}.attn_output.weight", f"{target_prefix}.self_attn.o_proj.weight", (WIDTH, WIDTH))
        add(f"{prefix}.ffn_gate.weight", f"{target_prefix}.mlp.gate_proj.weight", (INNER, WIDTH))
        add(f"{prefix}.ffn_up.weight", f"{target_prefix}.mlp.up_proj.weight", (INNER, WIDTH))
        add(f"{prefix}.ffn_down.weight", f"{target_prefix}.mlp.down_proj.weight", (WIDTH, INNER))
    more(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


def shape(**more: Any) -> dict[str, Any]:
    """Return the transformers configuration that the file encodes."""
    return {
        "vocab_size": len(WORDS), "hidden_size": WIDTH, "intermediate_size": INNER, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "num_key_value_heads": KEY_HEADS, "max_position_embeddings": 128,
        "rms_norm_eps": 1e-5, "rope_parameters": {"rope_type": "default", "rope_theta": BASE},
        "tie_word_embeddings": True, **more,
    }  # fmt: skip
