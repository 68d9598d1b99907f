"""Read a checkpoint's config.json, and find settings that the model's class would ignore."""

import dataclasses
import inspect
import math
import re
from typing import Any

from boundpaper.errors import ModelError
from keyquery.models import libraries

# Names of settings: factors on scores, other steps of scores, and position encodings
FACTORS = re.compile(
    r"^(softmax|attention|attn|qk|query_key|scores?)_(scale|scaling|scaling_factor|multiplier|temperature)$"
    r"|^(qk|attn)_logit_scale$|^query_pre_attn_scalar$"
)
STEPS = re.compile(r"^attn_logit_soft_?cap(ping)?$|^(use_)?(qk|query_key)_?(layer_?)?norm$")
ROTATED = re.compile(r"^(use_|is_)?rope$")
UNROTATED = re.compile(
    r"^(use_|is_)?(drope|nope)$|^no_rope(_layers?|_layer_interval)?$|^(no|drop)_pos(itional)?_?emb.*$"
)
# Settings that transformers renames, or reads outside of the class
NOT_IGNORED = {"auto_map", "torch_dtype", "rope_theta", "rope_scaling", "partial_rotary_factor", "quantization_config"}


def refuse_replaced_code(raw: dict[str, Any], name: str) -> None:
    """Raise ModelError for a checkpoint whose custom code transformers would silently replace by a standard class.

    Such a checkpoint's config.json, `raw`, refers to code and names an architecture that transformers does not have.
    """
    transformers = libraries.transformers
    custom = [class_name for class_name in raw.get("architectures") or () if not hasattr(transformers, class_name)]
    if raw.get("auto_map") and custom:
        raise ModelError(
            f"{name}: config.json names a custom class ({custom[0]}), which may differ from the standard class of the "
            f"model type ({raw.get('model_type', 'none')}); read its code, then load the model as a standard class "
            "(with load_as and position), or give --trust-remote-code"
        )


def as_class(raw: dict[str, Any], load_as: str, name: str) -> Any:
    """Return a configuration of the standard class `load_as` with the settings `raw` of a custom class's checkpoint.

    Raises ModelError if transformers has no such causal language model.
    """
    transformers = libraries.transformers
    try:
        config_class = type(transformers.AutoConfig.for_model(load_as))
    except ValueError:
        raise ModelError(
            f"{name}: load_as {load_as!r} is not a model type of transformers; give one such as llama"
        ) from None
    if config_class not in transformers.AutoModelForCausalLM._model_mapping:
        raise ModelError(f"{name}: load_as {load_as!r} is not a causal language model; give one such as llama")
    settings = {key: value for key, value in raw.items() if key not in ("auto_map", "architectures", "model_type")}
    return config_class.from_dict(settings)


def ignored_settings(raw: dict[str, Any], config: Any) -> dict[str, Any]:
    """Return the settings of config.json, `raw`, that the class of `config` does not know, with their values."""
    names = set(dir(type(config))) | set(inspect.signature(type(config).__init__).parameters)
    names |= set(getattr(config, "attribute_map", None) or ())
    if dataclasses.is_dataclass(config):
        names |= {field.name for field in dataclasses.fields(config)}
    return {key: value for key, value in raw.items() if key not in names | NOT_IGNORED and not key.startswith("_")}


def refuse_ignored(raw: dict[str, Any], config: Any, name: str, *, scaled: bool, placed: bool) -> None:
    """Raise ModelError if the class of `config` would ignore a setting of config.json that changes scores or positions.

    `scaled` and `placed` say whether the caller gave the factor on scores, and the position encoding. The error names
    the setting.
    """
    text_config = config.get_text_config()
    pairs = [(raw, config)]
    if text_config is not config:
        pairs += [
            (part, text_config) for key in ("text_config", "llm_config") if isinstance(part := raw.get(key), dict)
        ]
    for settings, owner in pairs:
        for key, value in ignored_settings(settings, owner).items():
            if FACTORS.match(key) and not scaled and not _is_usual_factor(value, text_config):
                effect, advice = "the factor on its scores", "give the intended factor on q.k (scaling)"
            elif STEPS.match(key) and value:
                effect, advice = "its scores", "its model_type differs from the architecture it was trained with"
            elif not placed and ((ROTATED.match(key) and value is False) or (UNROTATED.match(key) and value)):
                effect, advice = "how it encodes positions", "say how it does (position rope or drope)"
            else:
                continue
            raise ModelError(
                f"{name}: config.json sets {key} = {value}, which {type(owner).__name__} would ignore although it "
                f"changes {effect}; {advice}"
            )


def rescale_attention(model: Any, scaling: float) -> None:
    """Set the factor on q.k in every attention module of a loaded model.

    Raises ModelError if the factor is not positive, or an attention module stores its factor elsewhere.
    """
    if not (math.isfinite(scaling) and scaling > 0):
        raise ModelError(f"scaling {scaling} is not a factor on scores; give a positive number, usually head_dim^-0.5")
    modules = [
        module
        for module in model.modules()
        if getattr(module, "layer_idx", None) is not None and "ttention" in type(module).__name__
    ]
    if not modules or any(not isinstance(getattr(module, "scaling", None), float) for module in modules):
        raise ModelError(f"{type(model).__name__}: its attention has no number `scaling`, so scores cannot be scaled")
    for module in modules:
        module.scaling = float(scaling)


def _is_usual_factor(value: Any, config: Any) -> bool:
    """Return whether a factor on scores is None, or equals the default d^-1/2."""
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return value is None or (isinstance(value, float) and math.isclose(value, width**-0.5, rel_tol=1e-3))
