"""Compare each key and tensor of a GGUF file with the model read from it: used, harmless, or refused by name.

The reader in transformers maps part of the format and ignores the rest, including rope scaling. This module applies
the rest if the model's class has a setting for it; a key that remains is an error.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boundpaper.errors import ModelError

# Keys of an architecture, and the transformers settings for the same number, of which the class has one
SAME_NUMBER: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in ("vocab_size", "attn_logit_softcapping", "final_logit_softcapping")},
    **{name: (name,) for name in ("use_parallel_residual", "full_attention_interval")},
    "context_length": ("max_position_embeddings", "n_positions", "n_ctx"),
    "embedding_length": ("hidden_size", "n_embd"),
    "block_count": ("num_hidden_layers", "n_layer"),
    "feed_forward_length": ("intermediate_size", "n_inner", "feed_forward_length"),
    "attention.head_count": ("num_attention_heads", "n_head"),
    "attention.head_count_kv": ("num_key_value_heads",),
    "attention.layer_norm_rms_epsilon": ("rms_norm_eps", "norm_eps", "layer_norm_eps", "layer_norm_epsilon"),
    "attention.layer_norm_epsilon": ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps"),
    "logit_scale": ("logit_scale", "logits_scaling"),
    "embedding_scale": ("embedding_multiplier",),
    "residual_scale": ("residual_multiplier",),
    "expert_count": ("num_experts", "num_local_experts", "n_routed_experts"),
    "expert_used_count": ("num_experts_per_tok",),
    "expert_feed_forward_length": ("moe_intermediate_size",),
    "expert_shared_feed_forward_length": ("shared_expert_intermediate_size",),
    "expert_shared_count": ("n_shared_experts",),
    "expert_weights_norm": ("norm_topk_prob",),
    "expert_weights_scale": ("routed_scaling_factor",),
    "expert_group_count": ("n_group",),
    "expert_group_used_count": ("topk_group",),
    "leading_dense_block_count": ("first_k_dense_replace",),
    "shortconv.l_cache": ("conv_L_cache",),
    "ssm.conv_kernel": ("conv_kernel", "linear_conv_kernel_dim", "mamba_d_conv"),
    "ssm.state_size": ("state_size", "linear_key_head_dim", "mamba_d_state"),
    "ssm.time_step_rank": ("time_step_rank", "linear_num_value_heads"),
    "ssm.group_count": ("linear_num_key_heads", "n_groups"),
}
# Settings that a class reads in the forward pass, so that they may be changed after loading
SETTABLE = {
    *("attn_logit_softcapping", "final_logit_softcapping", "logit_scale", "embedding_multiplier"),
    *("residual_multiplier", "norm_topk_prob", "routed_scaling_factor", "num_experts_per_tok"),
    *("rms_norm_eps", "norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"),
}
# Keys that have no effect at these values
IDLE: dict[str, tuple[Any, ...]] = {
    "attention.causal": (True,),
    **dict.fromkeys(("attention.max_alibi_bias", "attention.clamp_kqv", "attention.temperature_scale"), (0.0,)),
    **dict.fromkeys(("attention.shared_kv_layers", "attention.sliding_window", "pooling_type"), (0,)),
    **dict.fromkeys(("nextn_predict_layers", "leading_dense_block_count", "expert_count"), (0,)),
    **dict.fromkeys(("expert_used_count", "expert_shared_count"), (0,)),
    **dict.fromkeys(("attn_logit_softcapping", "final_logit_softcapping", "rope.scaling.yarn_log_multiplier"), (0.0,)),
    **dict.fromkeys(("expert_weights_scale", "rope.scaling.attn_factor", "rope.scaling.alpha"), (0.0, 1.0)),
    "tensor_data_layout": ("Meta AI original pth",),
    "rope.scaling.finetuned": (True, False),
    "rope.scaling.yarn_attn_factor": (1.0,),
    "rope.scaling.yarn_ext_factor": (-1.0, 1.0),
}
ROPE = {
    *("rope.freq_base", "rope.scaling.type", "rope.scaling.factor", "rope.scale_linear"),
    *("rope.scaling.original_context_length", "rope.scaling.yarn_beta_fast", "rope.scaling.yarn_beta_slow"),
}
# Sections of a file that are descriptive only
NOTES = re.compile(r"^(general|quantize|imatrix|mradermacher|unsloth|bartowski|GGUF)\.")
TOKENIZER = re.compile(
    r"^tokenizer\.(chat_templates?(\..+)?|huggingface\.json|ggml\.(model|pre|tokens|scores|merges|token_type"
    r"|token_type_count|precompiled_charsmap|remove_extra_whitespaces"
    r"|add_space_prefix|add_\w+_token"
    r"|(bos|eos|eot|eom|unknown|seperator|separator|padding|mask|cls|fim_\w+|prefix|suffix|middle)_token_ids?))$"
)
SPLIT_AS_GPT2 = {"default", "gpt-2", "gpt2"}
LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
MEND = "the model that transformers reads from the file ignores it; use the model's safetensors folder instead"


def apply_keys(keys: Mapping[str, Any], frequencies: Sequence[float] | None, config: Any) -> None:
    """Add the settings that the reader ignored to a configuration; raise ModelError for those without an equivalent.

    `keys` has every key of the file with its value. `frequencies` is the tensor `rope_freqs.weight`, the divisors of
    the rotation's frequencies. `config` is the configuration of the model that was read; it is changed in place. The
    error names the first key that cannot be applied, and its value.
    """
    architecture = str(keys.get("general.architecture", ""))
    text = config.get_text_config()
    settings = {
        key.removeprefix(f"{architecture}."): value for key, value in keys.items() if key.startswith(f"{architecture}.")
    }
    for key, value in keys.items():
        name = key.removeprefix(f"{architecture}.")
        if key == "general.type" and value != "model":
            raise ModelError(f"{key} is {value!r}: the file does not contain a whole model")
        if key == "split.count" and value > 1:
            raise ModelError(f"{key} is {value}: one piece of {value}; join them (llama-gguf-split --merge)")
        if NOTES.match(key) or key.startswith("split.") or TOKENIZER.match(key):
            continue
        if name == key or not _is_heeded(name, value, text, settings):
            raise ModelError(f"{key} is {_shortened(value)}: {MEND}")
    _copy_rotation(settings, frequencies, text)


def _is_heeded(name: str, value: Any, text: Any, own: Mapping[str, Any]) -> bool:
    """Return whether an architecture key has no effect, or is in the configuration (after adding it if possible)."""
    if name in ROPE or any(_settings_equal(value, idle) for idle in IDLE.get(name, ())):
        return True
    if name == "rope.dimension_count":
        return _set_rotated_width(int(value), text)
    if name in ("attention.key_length", "attention.value_length"):
        return _settings_equal(value, _dimension_counts(text).get(name))
    if name == "rope.dimension_sections":
        rope = getattr(text, "rope_parameters", None) or {}
        return [size for size in value if size] == list(rope.get("mrope_section") or ())
    if name == "attention.sliding_window":
        return _set_window(int(value), text, own)
    if name == "attention.sliding_window_pattern":
        types = getattr(text, "layer_types", None) or ()
        return isinstance(value, list) and [bool(label) for label in value] == ["full" not in label for label in types]
    if name == "attention.scale":
        return _set_score_factor(float(value), text)
    if name == "ssm.inner_size":
        values = getattr(text, "linear_num_value_heads", 0) * getattr(text, "linear_value_head_dim", 0)
        return _settings_equal(value, values or getattr(text, "intermediate_size", None))
    for setting in SAME_NUMBER.get(name, ()):
        if not hasattr(text, setting):
            continue
        if _settings_equal(value, getattr(text, setting)):
            return True
        if setting in SETTABLE:
            setattr(text, setting, value)
            return True
    return name == "block_count" and _settings_equal(value - own.get("nextn_predict_layers", 0), text.num_hidden_layers)


def _dimension_counts(text: Any) -> dict[str, int]:
    """Return the number of dimensions of a key, of a value, and of the rotated part of a key."""
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    rope = getattr(text, "rope_parameters", None) or {}
    share = rope.get("partial_rotary_factor") or getattr(text, "partial_rotary_factor", None) or 1.0
    rotated = getattr(text, "rotary_dim", None) or round(width * share)
    return {"attention.key_length": width, "attention.value_length": width, "rope.dimension_count": rotated}


def _set_rotated_width(count: int, text: Any) -> bool:
    """Return whether the class rotates `count` dimensions of a head, after setting that number if possible."""
    widths = _dimension_counts(text)
    rope = getattr(text, "rope_parameters", None) or {}
    if count == widths["rope.dimension_count"]:
        return True
    if rope.get("partial_rotary_factor") is None or not 0 < count <= widths["attention.key_length"]:
        return False
    text.rope_parameters = {**rope, "partial_rotary_factor": count / widths["attention.key_length"]}
    return True


def _set_window(size: int, text: Any, settings: Mapping[str, Any]) -> bool:
    if size >= settings.get("context_length", math.inf) or _settings_equal(size, getattr(text, "sliding_window", None)):
        return True
    types = getattr(text, "layer_types", None)
    if not hasattr(text, "sliding_window") or (types is not None and not any("sliding" in label for label in types)):
        return False
    text.sliding_window = size
    return True


def _set_score_factor(scale: float, text: Any) -> bool:
    """Return whether the class multiplies scores by this factor, after setting it if possible."""
    width = _dimension_counts(text)["attention.key_length"]
    scalar = getattr(text, "query_pre_attn_scalar", None)
    factor = getattr(text, "attention_multiplier", None) or (scalar or width) ** -0.5
    if scale == 0 or math.isclose(scale, factor, rel_tol=1e-4):
        return True
    if scalar is not None:
        text.query_pre_attn_scalar = scale**-2
    elif hasattr(text, "attention_multiplier"):
        text.attention_multiplier = scale
    return scalar is not None or hasattr(text, "attention_multiplier")


def _copy_rotation(settings: Mapping[str, Any], frequencies: Sequence[float] | None, text: Any) -> None:
    """Copy the file's rotation into `rope_parameters`; if layers differ, only for those that see the whole context."""
    keys = {name: settings[name] for name in ROPE if name in settings}
    rope = getattr(text, "rope_parameters", None)
    divided = frequencies is not None and not np.allclose(frequencies, 1.0)
    if not rope:
        if keys or divided:
            raise ModelError(
                f"{next(iter(keys), 'rope_freqs.weight')}: the model's class does not apply its rotary settings; {MEND}"
            )
        return
    nested = all(value is None or isinstance(value, dict) for value in rope.values())
    old = rope["full_attention"] if nested else rope
    base = float(settings.get("rope.freq_base", old["rope_theta"] if nested else 10_000.0))
    new: dict[str, Any] = {"rope_type": "default"}
    factor = float(settings.get("rope.scaling.factor") or settings.get("rope.scale_linear") or 1.0)
    kind = str(settings.get("rope.scaling.type", "linear" if factor != 1.0 else "none"))
    if divided:
        if kind != "none":
            raise ModelError(f"rope.scaling.type is {kind!r} in addition to rope_freqs.weight: {MEND}")
        new = _llama3_rotation([float(factor) for factor in frequencies or ()], base)
    elif kind == "linear" and factor != 1.0:
        new = {"rope_type": "linear", "factor": factor}
    elif kind == "yarn":
        length = settings.get("rope.scaling.original_context_length") or settings.get("context_length") or 0
        new = {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": int(length)}
        for name in ("beta_fast", "beta_slow"):
            value = settings.get(f"rope.scaling.yarn_{name}")
            new |= {} if value is None else {name: float(value)}
    elif kind not in ("none", "linear"):
        raise ModelError(f"rope.scaling.type is {kind!r}: {MEND}")
    shared = {
        name: old[name] for name in ("partial_rotary_factor", "mrope_section", "mrope_interleaved") if name in old
    }
    new = {**shared, **new, "rope_theta": base}
    changed = {name for name in new if not _settings_equal(new[name], old.get(name))}
    if changed or any(name not in new for name in old):
        text.rope_parameters = {**rope, "full_attention": new} if nested else new


def _llama3_rotation(frequencies: Sequence[float], base: float) -> dict[str, Any]:
    """Return the Llama 3 rotation with these frequency divisors; only the published form is recognised."""
    factor = round(max(frequencies), 4)
    count = len(frequencies)
    wavelength = 2 * np.pi * base ** (np.arange(count) / count)
    ratio = LLAMA3["original_max_position_embeddings"] / wavelength
    smooth = (ratio - LLAMA3["low_freq_factor"]) / (LLAMA3["high_freq_factor"] - LLAMA3["low_freq_factor"])
    middle = 1 / ((1 - smooth) / factor + smooth)
    expected = np.where(smooth <= 0, factor, np.where(smooth >= 1, 1.0, middle))
    if not np.allclose(frequencies, expected, rtol=1e-3):
        raise ModelError(f"rope_freqs.weight divides frequencies differently from Llama 3: {MEND}")
    return {"rope_type": "llama3", "factor": factor, **LLAMA3}


def refuse_unused_tensors(sizes: Mapping[str, int], used_names: set[str], parameters: int) -> None:
    """Raise ModelError for tensors of the file that are not used in any weight of the model.

    `sizes` has the number of values in each tensor of the file, `parameters` is the number of values in the model's
    weights, shared ones counted once, and `used_names` are the tensor names that the reader maps. The error names the
    first omitted tensor or, if it cannot be identified, how many values were omitted.
    """
    idle = {"rope_freqs.weight"} | {name for name in sizes if name.endswith(".attn_rot_embd")}
    used = {name: size for name, size in sizes.items() if name not in idle}
    unused = sorted(name for name in used if name not in used_names and name.removesuffix(".weight") not in used_names)
    if unused:
        raise ModelError(f"its tensor {unused[0]} (of {len(unused)} such) is left out: {MEND}")
    if sum(used.values()) != parameters:
        raise ModelError(
            f"its tensors have {sum(used.values()):,} values, but the model read from them has {parameters:,}: {MEND}"
        )


def tokenizer_notes(keys: Mapping[str, Any], tokenizer: Any) -> list[str]:
    """Return sentences on features of the file's tokenizer that are ignored; end tokens that it adds are not.

    Raises ModelError if file and tokenizer disagree on tokens added before or after a text.
    """
    for name, place in (("bos", 0), ("eos", -1)):
        flag, token = keys.get(f"tokenizer.ggml.add_{name}_token"), keys.get(f"tokenizer.ggml.{name}_token_id")
        ids = tokenizer("a")["input_ids"]
        is_added = bool(ids) and token is not None and ids[place] == token
        if flag is not None and bool(flag) != is_added:
            raise ModelError(
                f"tokenizer.ggml.add_{name}_token is {flag}, but the tokenizer read from the file "
                f"{'adds' if is_added else 'does not add'} it: {MEND}"
            )
    prefix, words = keys.get("tokenizer.ggml.add_space_prefix"), tokenizer.tokenize("a")
    spaced = bool(words) and words[0].startswith("\u2581")
    if prefix is not None and keys.get("tokenizer.ggml.model") == "llama" and bool(prefix) != spaced:
        raise ModelError(f"tokenizer.ggml.add_space_prefix is {prefix}, which the tokenizer does not follow: {MEND}")
    pre = keys.get("tokenizer.ggml.pre", "default")
    if keys.get("tokenizer.ggml.model") == "gpt2" and pre not in SPLIT_AS_GPT2 and not _is_known_split(str(pre)):
        return [
            f"tokenizer.ggml.pre is {pre!r}, which transformers does not know: texts are split as by GPT-2 before they "
            "are looked up, so numbers or spaces may get other tokens than in training"
        ]
    return []


def _is_known_split(pre: str) -> bool:
    try:
        from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS
    except ImportError:
        return False
    return pre in GGUF_PRE_TOKENIZER_SPLITS


def _settings_equal(value: Any, other: Any) -> bool:
    """Return whether two settings are equal: numbers to single precision, per-layer lists by their non-zero entries."""
    if isinstance(value, list):
        if isinstance(other, list | tuple):
            return list(value) == list(other)
        return len(nonzero := {entry for entry in value if entry}) == 1 and _settings_equal(nonzero.pop(), other)
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, int | float) and isinstance(other, int | float):
        return math.isclose(value, other, rel_tol=1e-5, abs_tol=1e-12)
    return bool(value == other)


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
