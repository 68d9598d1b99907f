"""Configure position encodings: rotary, none (DroPE), position interpolation, NTK-aware scaling and YaRN.

DroPE keeps the weights and makes every rotation the identity (cos 1, sin 0). Dividing positions by 1e30 does so
exactly, since 1 plus such an angle is 1 in float32, and the configuration can be saved and loaded.
"""

import copy
from typing import Any

from boundpaper.errors import ModelError

KINDS = ("rope", "drope", "pi", "ntk", "yarn")
DROPE_FACTOR = 1e30  # positions divided by this give angles of 0 in every precision
BLIND_FACTOR = 1e12  # above this linear factor, every float32 angle counts as 0
TRAINED_TYPES = ("default", "llama3", "longrope", "dynamic", "proportional", "axial")  # of trained checkpoints


def rope_parameters(
    config: Any, kind: str, *, factor: float | None = None, length: int | None = None
) -> dict[str, Any] | None:
    """Return the `rope_parameters` that change a configuration to another encoding; None if it already has them.

    Parameters
    ----------
    config : object
        The configuration of a model, or of its text part.
    kind : {"rope", "drope", "pi", "ntk", "yarn"}
        "rope" is the model's own rotation; for a DroPE configuration, it is plain rotation with the stored base. If the
        parameters depend on the layer type (Gemma 3), "drope" changes all types, whereas "pi", "ntk" and "yarn" change
        only types that see the whole context, since a sliding window never exceeds the trained length.
    factor : float or None
        For "pi", "ntk" and "yarn": the intended context over the trained context, above 1.
    length : int or None
        For "yarn": the trained context; if None, `max_position_embeddings`.

    Raises
    ------
    ModelError
        If the encoding is unknown, its factor is not above 1, the model has no rotation, or its frequencies are scaled
        already, so that interpolation is not defined.
    """
    check_encoding(kind, factor)
    text_config = config.get_text_config()
    rope = getattr(text_config, "rope_parameters", None)
    if not rope:
        raise ModelError(f"{_name(config)} has no rotary parameters, so its positions cannot be encoded as {kind}")
    if "llama_4_scaling_beta" in rope and kind == "drope":
        raise ModelError(scaled_queries_message(_name(config), kind))
    length = length or int(text_config.max_position_embeddings)
    if not is_per_layer_type(rope):
        return _changed_rope(_name(config), rope, kind, factor, length, _head_dimension(text_config))
    changed = {
        layer_type: _changed_rope(_name(config), layer_rope, kind, factor, length, _head_dimension(text_config))
        for layer_type, layer_rope in rope.items()
        if layer_rope and ("full" in layer_type or kind == "drope")
    }
    if kind in ("pi", "ntk", "yarn") and not any(changed.values()):
        raise ModelError(
            f"{_name(config)}: no layer type ({', '.join(rope)}) sees the whole context, so {kind} would change nothing"
        )
    return {label: changed.get(label) or rope[label] for label in rope} if any(changed.values()) else None


def configured(config: Any, kind: str, *, factor: float | None = None, length: int | None = None) -> Any:
    """Return a copy of a configuration with another encoding (arguments and errors as in `rope_parameters`)."""
    new = copy.deepcopy(config)
    rope = rope_parameters(new, kind, factor=factor, length=length)
    text_config = new.get_text_config()
    if rope is not None:
        text_config.rope_parameters = rope
        if (
            getattr(config_of_layer(text_config, 0), "head_dim", 0) is None
        ):  # unset in Mixtral; scaled rotations need it
            text_config.head_dim = _head_dimension(text_config)
    return new


def encoding_name(config: Any) -> str:
    """Return a configuration's encoding: "rope", "drope", "pi" or "yarn", or "none" without rotary parameters.

    Scaled frequencies that the checkpoint was trained with (Llama 3, long RoPE) count as "rope". If parameters depend
    on the layer type, the encoding is "drope" if it is that of all types; otherwise, the first type that rotates and
    sees the whole context decides.
    """
    rope = getattr(config.get_text_config(), "rope_parameters", None)
    if not rope or getattr(config.get_text_config(), "alibi", False):
        return "none"
    if not is_per_layer_type(rope):
        return _encoding_kind(rope)
    kinds = {layer_type: _encoding_kind(layer_rope) for layer_type, layer_rope in rope.items() if layer_rope}
    if set(kinds.values()) == {"drope"}:
        return "drope"
    return next((kind for layer_type, kind in kinds.items() if kind != "drope" and "full" in layer_type), "rope")


def is_per_layer_type(rope: dict[str, Any]) -> bool:
    """Return whether rotary parameters are given per layer type."""
    return all(value is None or isinstance(value, dict) for value in rope.values())


def check_encoding(kind: str, factor: float | None) -> None:
    """Raise ModelError if the encoding is unknown, or the factor is invalid for it."""
    if kind not in KINDS:
        raise ModelError(f"position encoding {kind!r} is unknown; give one of {', '.join(KINDS)}")
    if kind in ("rope", "drope"):
        if factor is not None:
            raise ModelError(f"position encoding {kind} takes no factor")
    elif factor is None or not 1 < factor < BLIND_FACTOR:
        raise ModelError(f"position encoding {kind} needs a factor above 1, such as 4 for four times the context")


def config_of_layer(config: Any, layer: int) -> Any:
    """Return the configuration of one layer, whose sizes may differ from those of other layers (Gemma 4)."""
    by_layer = getattr(config, "per_layer_config", None)
    return config if by_layer is None else by_layer[layer]


def _head_dimension(text_config: Any) -> int:
    """Return the dimension of a head; raise ModelError if it differs between layers."""
    configs = [config_of_layer(text_config, layer) for layer in range(text_config.num_hidden_layers)]
    dimensions = {
        int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads) for config in configs
    }
    if len(dimensions) > 1:
        numbers = " and ".join(map(str, sorted(dimensions)))
        raise ModelError(f"the model's heads must all have the same number of dimensions, but have {numbers}")
    return dimensions.pop()


def _changed_rope(
    name: str, rope: dict[str, Any], kind: str, factor: float | None, length: int, dimension: int
) -> dict[str, Any] | None:
    """Return rotary parameters changed to another kind of encoding, or None if they are of that kind already."""
    old_kind = _encoding_kind(rope)
    if kind == old_kind and kind in ("rope", "drope"):
        return None
    shared = {key: rope[key] for key in ("rope_theta", "partial_rotary_factor") if rope.get(key) is not None}
    if kind == "drope":
        return {"rope_type": "linear", "factor": DROPE_FACTOR, **shared}
    if old_kind != "drope" and rope.get("rope_type", "default") != "default":
        raise ModelError(
            f"{name} rotates with frequencies of type {rope['rope_type']} already, so {kind} on top of them is not "
            "defined; take a model with plain rotation"
        )
    if kind == "ntk":
        # base times factor^(d / (d - 2)) slows the slowest pair by the factor, and leaves the fastest unchanged
        theta = float(shared["rope_theta"]) * float(factor or 0) ** (dimension / (dimension - 2))
        return {"rope_type": "default", **shared, "rope_theta": theta}
    if kind == "pi":
        return {"rope_type": "linear", "factor": float(factor or 0), **shared}
    if kind == "yarn":
        return {"rope_type": "yarn", "factor": float(factor or 0), "original_max_position_embeddings": length, **shared}
    return {"rope_type": "default", **shared}


def _encoding_kind(rope: dict[str, Any]) -> str:
    rope_type = rope.get("rope_type", rope.get("type", "default"))
    if rope_type == "linear":
        return "drope" if float(rope["factor"]) > BLIND_FACTOR else "pi"
    return "rope" if rope_type in TRAINED_TYPES else str(rope_type)


def _name(config: Any) -> str:
    return f"model type {config.model_type}"


def scaled_queries_message(name: str, kind: str) -> str:
    """Return the error message for models that scale queries by position."""
    return (
        f"{name} scales its queries by position besides rotating them, so an identity rotation does not make it blind "
        f"to positions; {kind} cannot be realised exactly"
    )
