"""Compare each key and tensor of a GGUF file with the model read from it; an error names what the model ignores.

The reader in transformers maps some keys of the format and ignores others, such as those of rope scaling. This module
applies an ignored key if the model's class has a setting for it; else the key is an error, unless it has no effect.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boundpaper.errors import ModelError

# Keys of an architecture, and the names of the setting with the same value in the classes of transformers
SETTINGS: dict[str, tuple[str, ...]] = {
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
# Settings that a class reads in the forward pass, so they may be changed after loading
SETTABLE = {
    *("attn_logit_softcapping", "final_logit_softcapping", "logit_scale", "embedding_multiplier"),
    *("residual_multiplier", "norm_topk_prob", "routed_scaling_factor", "num_experts_per_tok"),
    *("rms_norm_eps", "norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"),
}
# Keys, and the values at which they have no effect
NO_EFFECT: dict[str, tuple[Any, ...]] = {
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
# Beginnings of keys that only describe the file
DESCRIPTIVE = re.compile(r"^(general|quantize|imatrix|mradermacher|unsloth|bartowski|GGUF)\.")
TOKENIZER = re.compile(
    r"^tokenizer\.(chat_templates?(\..+)?|huggingface\.json|ggml\.(model|pre|tokens|scores|merges|token_type"
    r"|token_type_count|precompiled_charsmap|remove_extra_whitespaces"
    r"|add_space_prefix|add_\w+_token"
    r"|(bos|eos|eot|eom|unknown|seperator|separator|padding|mask|cls|fim_\w+|prefix|suffix|middle)_token_ids?))$"
)
SPLIT_AS_GPT2 = {"default", "gpt-2", "gpt2"}  # values of tokenizer.ggml.pre
LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
REASON = "the model that transformers reads from the file ignores it; use the model's safetensors folder instead"


def apply_keys(keys: Mapping[str, Any], divisors: Sequence[float] | None, config: Any) -> None:
    """Apply to `config`, the model's configuration, the keys of a file that the reader ignored.

    `keys` has every key of the file with its value. `divisors` is the tensor `rope_freqs.weight`, the divisors of the
    rotation's frequencies. `config` is changed in place. Raises ModelError, with key and value, for the first key that
    has an effect but no setting in the model's class.
    """
    architecture = str(keys.get("general.architecture", ""))
    text_config = config.get_text_config()
    settings = {
        key.removeprefix(f"{architecture}."): value for key, value in keys.items() if key.startswith(f"{architecture}.")
    }
    for key, value in keys.items():
        name = key.removeprefix(f"{architecture}.")
        if key == "general.type" and value != "model":
            raise ModelError(f"{key} is {value!r}: the file does not contain a whole model")
        if key == "split.count" and value > 1:
            raise ModelError(f"{key} is {value}: one of {value} parts; join them (llama-gguf-split --merge)")
        if DESCRIPTIVE.match(key) or key.startswith("split.") or TOKENIZER.match(key):
            continue
        if name == key or not _is_applied(name, value, text_config, settings):
            raise ModelError(f"{key} is {_shortened(value)}: {REASON}")
    _copy_rotation(settings, divisors, text_config)


def _is_applied(name: str, value: Any, config: Any, settings: Mapping[str, Any]) -> bool:
    """Return whether the configuration agrees with an architecture key; change the configuration if possible.

    This is also true of a key without an effect, and of those that `_copy_rotation` applies.
    """
    if name in ROPE or any(_settings_equal(value, no_effect) for no_effect in NO_EFFECT.get(name, ())):
        return True
    if name == "rope.dimension_count":
        return _set_rotated_width(int(value), config)
    if name in ("attention.key_length", "attention.value_length"):
        return _settings_equal(value, _dimension_counts(config).get(name))
    if name == "rope.dimension_sections":
        rope = getattr(config, "rope_parameters", None) or {}
        return [size for size in value if size] == list(rope.get("mrope_section") or ())
    if name == "attention.sliding_window":
        return _set_window(int(value), config, settings)
    if name == "attention.sliding_window_pattern":
        types = getattr(config, "layer_types", None) or ()
        return isinstance(value, list) and list(map(bool, value)) == ["full" not in layer_type for layer_type in types]
    if name == "attention.scale":
        return _set_score_factor(float(value), config)
    if name == "ssm.inner_size":
        values = getattr(config, "linear_num_value_heads", 0) * getattr(config, "linear_value_head_dim", 0)
        return _settings_equal(value, values or getattr(config, "intermediate_size", None))
    for setting in SETTINGS.get(name, ()):
        if not hasattr(config, setting):
            continue
        if _settings_equal(value, getattr(config, setting)):
            return True
        if setting in SETTABLE:
            setattr(config, setting, value)
            return True
    if name != "block_count":
        return False
    return _settings_equal(value - settings.get("nextn_predict_layers", 0), config.num_hidden_layers)


def _dimension_counts(config: Any) -> dict[str, int]:
    """Return the dimension of attention keys, of values, and of the keys' rotated part, by their names in the file."""
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rope = getattr(config, "rope_parameters", None) or {}
    share = rope.get("partial_rotary_factor") or getattr(config, "partial_rotary_factor", None) or 1.0
    rotated = getattr(config, "rotary_dim", None) or round(width * share)
    return {"attention.key_length": width, "attention.value_length": width, "rope.dimension_count": rotated}


def _set_rotated_width(count: int, config: Any) -> bool:
    """Return whether the class rotates `count` dimensions of a head, after setting that number if possible."""
    widths = _dimension_counts(config)
    rope = getattr(config, "rope_parameters", None) or {}
    if count == widths["rope.dimension_count"]:
        return True
    if rope.get("partial_rotary_factor") is None or not 0 < count <= widths["attention.key_length"]:
        return False
    config.rope_parameters = {**rope, "partial_rotary_factor": count / widths["attention.key_length"]}
    return True


def _set_window(size: int, config: Any, settings: Mapping[str, Any]) -> bool:
    """Set the sliding window to `size` if necessary; return False if the model class cannot have such a window."""
    window = getattr(config, "sliding_window", None)
    if size >= settings.get("context_length", math.inf) or _settings_equal(size, window):
        return True
    types = getattr(config, "layer_types", None)
    if not hasattr(config, "sliding_window") or (types is not None and not any("sliding" in kind for kind in types)):
        return False
    config.sliding_window = size
    return True


def _set_score_factor(scale: float, config: Any) -> bool:
    """Return whether the class multiplies scores by `scale` (0: not given), after setting this factor if possible."""
    width = _dimension_counts(config)["attention.key_length"]
    scalar = getattr(config, "query_pre_attn_scalar", None)
    factor = getattr(config, "attention_multiplier", None) or (scalar or width) ** -0.5
    if scale == 0 or math.isclose(scale, factor, rel_tol=1e-4):
        return True
    if scalar is not None:
        config.query_pre_attn_scalar = scale**-2
    elif hasattr(config, "attention_multiplier"):
        config.attention_multiplier = scale
    return scalar is not None or hasattr(config, "attention_multiplier")


def _copy_rotation(settings: Mapping[str, Any], divisors: Sequence[float] | None, config: Any) -> None:
    """Copy the file's rotation into `rope_parameters`, or into those of full attention if layer types differ."""
    names = [name for name in ROPE if name in settings]
    rope = getattr(config, "rope_parameters", None)
    divided = divisors is not None and not np.allclose(divisors, 1.0)
    if not rope:
        if names or divided:
            name = names[0] if names else "rope_freqs.weight"
            raise ModelError(f"{name}: the model's class does not apply its rotary settings; {REASON}")
        return
    nested = all(value is None or isinstance(value, dict) for value in rope.values())
    old = rope["full_attention"] if nested else rope
    base = float(settings.get("rope.freq_base", old["rope_theta"] if nested else 10_000.0))
    new: dict[str, Any] = {"rope_type": "default"}
    factor = float(settings.get("rope.scaling.factor") or settings.get("rope.scale_linear") or 1.0)
    kind = str(settings.get("rope.scaling.type", "linear" if factor != 1.0 else "none"))
    if divided:
        if kind != "none":
            raise ModelError(f"rope.scaling.type is {kind!r} in addition to rope_freqs.weight: {REASON}")
        new = _llama3_rotation([float(divisor) for divisor in divisors or ()], base)
    elif kind == "linear" and factor != 1.0:
        new = {"rope_type": "linear", "factor": factor}
    elif kind == "yarn":
        length = settings.get("rope.scaling.original_context_length") or settings.get("context_length") or 0
        new = {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": int(length)}
        for name in ("beta_fast", "beta_slow"):
            value = settings.get(f"rope.scaling.yarn_{name}")
            new |= {} if value is None else {name: float(value)}
    elif kind not in ("none", "linear"):
        raise ModelError(f"rope.scaling.type is {kind!r}: {REASON}")
    shared = {
        name: old[name] for name in ("partial_rotary_factor", "mrope_section", "mrope_interleaved") if name in old
    }
    new = {**shared, **new, "rope_theta": base}
    changed = {name for name in new if not _settings_equal(new[name], old.get(name))}
    if changed or any(name not in new for name in old):
        config.rope_parameters = {**rope, "full_attention": new} if nested else new


def _llama3_rotation(divisors: Sequence[float], base: float) -> dict[str, Any]:
    """Return the Llama 3 rotation with these divisors; raise ModelError unless they are the published ones."""
    factor = round(max(divisors), 4)
    count = len(divisors)
    wavelength = 2 * np.pi * base ** (np.arange(count) / count)
    ratio = LLAMA3["original_max_position_embeddings"] / wavelength
    smooth = (ratio - LLAMA3["low_freq_factor"]) / (LLAMA3["high_freq_factor"] - LLAMA3["low_freq_factor"])
    interpolated = 1 / ((1 - smooth) / factor + smooth)
    expected = np.where(smooth <= 0, factor, np.where(smooth >= 1, 1.0, interpolated))
    if not np.allclose(divisors, expected, rtol=1e-3):
        raise ModelError(f"rope_freqs.weight divides frequencies differently from Llama 3: {REASON}")
    return {"rope_type": "llama3", "factor": factor, **LLAMA3}


def refuse_unused_tensors(sizes: Mapping[str, int], used_names: set[str], parameters: int) -> None:
    """Raise ModelError if a tensor of the file is not used in any weight of the model.

    `sizes` has the number of values in each tensor of the file, and `used_names` are the tensors that the reader maps.
    `parameters` is the number of values in the model's weights, where shared weights count once. The error names the
    first unused tensor or, if the reader maps all tensors, says how many values file and model have.
    """
    rotation = {"rope_freqs.weight"} | {name for name in sizes if name.endswith(".attn_rot_embd")}
    weights = {name: size for name, size in sizes.items() if name not in rotation}
    unused = sorted(name for name in weights if not {name, name.removesuffix(".weight")} & used_names)
    if unused:
        raise ModelError(f"its tensor {unused[0]} is left out (tensors left out: {len(unused)}): {REASON}")
    values = sum(weights.values())
    if values != parameters:
        raise ModelError(
            f"its tensors have {values:,} values, but the model read from them has {parameters:,}: {REASON}"
        )


def tokenizer_notes(keys: Mapping[str, Any], tokenizer: Any) -> list[str]:
    """Return one sentence for each tokenizer feature that the file states and `tokenizer`, built from it, lacks.

    Raises ModelError if file and tokenizer disagree on tokens or a space that are added to a text.
    """
    for name, index in (("bos", 0), ("eos", -1)):
        flag, token = keys.get(f"tokenizer.ggml.add_{name}_token"), keys.get(f"tokenizer.ggml.{name}_token_id")
        ids = tokenizer("a")["input_ids"]
        is_added = bool(ids) and token is not None and ids[index] == token
        if flag is not None and bool(flag) != is_added:
            raise ModelError(
                f"tokenizer.ggml.add_{name}_token is {flag}, but the tokenizer read from the file "
                f"{'adds' if is_added else 'does not add'} it: {REASON}"
            )
    prefix, tokens = keys.get("tokenizer.ggml.add_space_prefix"), tokenizer.tokenize("a")
    space_is_added = bool(tokens) and tokens[0].startswith("\u2581")
    if prefix is not None and keys.get("tokenizer.ggml.model") == "llama" and bool(prefix) != space_is_added:
        raise ModelError(f"tokenizer.ggml.add_space_prefix is {prefix}, which the tokenizer does not follow: {REASON}")
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
    """Return whether a key's value, or each number but 0 in a list, equals a setting, to single precision."""
    if isinstance(value, list):
        if isinstance(other, list | tuple):
            return list(value) == list(other)
        return len(nonzero := {number for number in value if number}) == 1 and _settings_equal(nonzero.pop(), other)
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    if isinstance(value, int | float) and isinstance(other, int | float):
        return math.isclose(value, other, rel_tol=1e-5, abs_tol=1e-12)
    return bool(value == other)


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
