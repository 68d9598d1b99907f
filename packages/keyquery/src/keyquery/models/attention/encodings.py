"""Configure position encodings: rotary, none (DroPE), position interpolation, NTK-aware scaling and YaRN.

DroPE keeps the weights and makes every rotation the identity (cos 1, sin 0). Linear scaling of positions by 1e30 does
so exactly: angles stay below the spacing of float32 at 1, and the configuration survives saving and loading.
"""

import copy
from typing import Any

from boundpaper.errors import ModelError

KINDS = ("rope", "drope", "pi", "ntk", "yarn")
NEVER = 1e30  # positions divided by this are 0 in every precision
BLIND = 1e12  # above this linear factor, every float32 angle is 0
TRAINED = ("default", "llama3", "longrope", "dynamic", "proportional", "axial")  # rotations of trained checkpoints


def rope_parameters(
    config: Any, kind: str, *, factor: float | None = None, length: int | None = None
) -> dict[str, Any] | None:
    """Return the `rope_parameters` that change a configuration to another encoding; None if it already has them.

    `config` is that of the model, or of its text part. `kind` is "rope", the model's own rotation, or for a DroPE
    configuration plain rotation with the stored base frequency; "drope"; or "pi", "ntk" or "yarn" with a `factor`, the
    intended over the trained context, above 1. `length` is the trained context for "yarn" (None:
    `max_position_embeddings`). If the parameters are given by layer type (Gemma 3), "drope" changes all types, the
    scaled kinds only those that see the whole context: a sliding window never exceeds the trained length. Raises
    ModelError if the encoding is unknown, its factor is not above 1, the model has no rotation, or its frequencies are
    already scaled, so that interpolation is not defined.
    """
    check_encoding(kind, factor)
    text = config.get_text_config()
    rope = getattr(text, "rope_parameters", None)
    if not rope:
        raise ModelError(f"{_name(config)} has no rotary parameters, so its positions cannot be encoded as {kind}")
    if "llama_4_scaling_beta" in rope and kind == "drope":
        raise ModelError(scaled_queries_message(_name(config), kind))
    length = length or int(text.max_position_embeddings)
    if not is_per_layer_type(rope):
        return _changed_rope(_name(config), rope, kind, factor, length, _head_dimension(text))
    parts = {}
    for label, each in rope.items():
        whole = "full" in label or kind == "drope"
        parts[label] = (
            _changed_rope(_name(config), each, kind, factor, length, _head_dimension(text)) if each and whole else None
        )
    if kind in ("pi", "ntk", "yarn") and not any(parts.values()):
        raise ModelError(
            f"{_name(config)}: no layer type sees the whole context ({', '.join(rope)}), so {kind} has none to change"
        )
    return {label: part or rope[label] for label, part in parts.items()} if any(parts.values()) else None


def configured(config: Any, kind: str, *, factor: float | None = None, length: int | None = None) -> Any:
    """Return a copy of a configuration with another encoding (arguments and errors as in `rope_parameters`)."""
    new = copy.deepcopy(config)
    rope = rope_parameters(new, kind, factor=factor, length=length)
    text = new.get_text_config()
    if rope is not None:
        text.rope_parameters = rope
        if getattr(of_layer(text, 0), "head_dim", 0) is None:  # Mixtral does not set it, and scaled rotations need it
            text.head_dim = _head_dimension(text)
    return new


def encoding_name(config: Any) -> str:
    """Return a configuration's encoding: "rope", "drope", "pi" or "yarn"; "none" without rotary parameters.

    Frequencies that the checkpoint was trained with (Llama 3, long RoPE) count as "rope". If parameters differ by layer
    type, "drope" requires all types; otherwise the types that see the whole context decide.
    """
    rope = getattr(config.get_text_config(), "rope_parameters", None)
    if not rope or getattr(config.get_text_config(), "alibi", False):
        return "none"
    if not is_per_layer_type(rope):
        return _encoding_kind(rope)
    kinds = {label: _encoding_kind(layer_rope) for label, layer_rope in rope.items() if layer_rope}
    if set(kinds.values()) == {"drope"}:
        return "drope"
    rotated = {label: kind for label, kind in kinds.items() if kind != "drope"}
    return next((kind for label, kind in rotated.items() if "full" in label), "rope")


def is_per_layer_type(rope: dict[str, Any]) -> bool:
    """Tell whether rotary parameters are given per layer type."""
    return all(value is None or isinstance(value, dict) for value in rope.values())


def check_encoding(kind: str, factor: float | None) -> None:
    """Raise ModelError for an unknown encoding, or a factor that is invalid for it."""
    if kind not in KINDS:
        raise ModelError(f"position encoding {kind!r} is unknown; give one of {', '.join(KINDS)}")
    if kind in ("rope", "drope"):
        if factor is not None:
            raise ModelError(f"position encoding {kind} takes no factor")
    elif factor is None or not 1 < factor < BLIND:
        raise ModelError(f"position encoding {kind} needs a factor above 1, as 4 for four times the context")


def of_layer(text: Any, layer: int) -> Any:
    """Return the configuration of one layer; sizes may differ by layer (Gemma 4)."""
    by_layer = getattr(text, "per_layer_config", None)
    return text if by_layer is None else by_layer[layer]


def _head_dimension(text: Any) -> int:
    """Return the dimension of a head; ModelError if it differs by layer."""
    layers = [of_layer(text, layer) for layer in range(text.num_hidden_layers)]
    widths = {int(getattr(own, "head_dim", None) or own.hidden_size // own.num_attention_heads) for own in layers}
    if len(widths) > 1:
        raise ModelError(
            f"heads of its layers have {' and '.join(map(str, sorted(widths)))} dimensions, not one number"
        )
    return widths.pop()


def _changed_rope(
    name: str, rope: dict[str, Any], kind: str, factor: float | None, length: int, width: int
) -> dict[str, Any] | None:
    """Return rotary parameters changed to another kind, or None if they already have it."""
    old_kind = _encoding_kind(rope)
    if kind == old_kind and kind in ("rope", "drope"):
        return None
    shared = {key: rope[key] for key in ("rope_theta", "partial_rotary_factor") if rope.get(key) is not None}
    if kind == "drope":
        return {"rope_type": "linear", "factor": NEVER, **shared}
    if old_kind != "drope" and rope.get("rope_type", "default") != "default":
        raise ModelError(
            f"{name} rotates with frequencies of type {rope['rope_type']} already, so {kind} on top of them is not "
            "defined; take a model with plain rotation"
        )
    if kind == "ntk":
        # the slowest pair is slowed by the factor, the fastest is unchanged: base times factor^(d / (d - 2))
        theta = float(shared["rope_theta"]) * float(factor or 0) ** (width / (width - 2))
        return {"rope_type": "default", **shared, "rope_theta": theta}
    if kind == "pi":
        return {"rope_type": "linear", "factor": float(factor or 0), **shared}
    if kind == "yarn":
        return {"rope_type": "yarn", "factor": float(factor or 0), "original_max_position_embeddings": length, **shared}
    return {"rope_type": "default", **shared}


def _encoding_kind(rope: dict[str, Any]) -> str:
    label = rope.get("rope_type", rope.get("type", "default"))
    if label == "linear":
        return "drope" if float(rope["factor"]) > BLIND else "pi"
    return "rope" if label in TRAINED else str(label)


def _name(config: Any) -> str:
    return f"model type {config.model_type}"


def scaled_queries_message(name: str, kind: str) -> str:
    """Return the error message for models that scale queries by position."""
    return (
        f"{name} scales its queries by position besides rotating them, so an identity rotation does not make it blind "
        f"to positions; {kind} cannot be realised exactly"
    )
