"""What a model's attention layers are: found by a forward of a few tokens, not by lists of architectures."""

from __future__ import annotations

import inspect
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.models.attention.calls import Call, Recorder, recording, unsupported
from analysis.models.libraries import need
from artifacts.errors import ModelError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Kind = Literal["full", "sliding", "cross"]
PROBE_TOKENS = 4


@dataclass(frozen=True)
class QueryScale:
    """A factor on queries that grows with position: 1 + beta log(1 + floor((t + shift) / period)).

    It is applied after the rotary embedding (Ministral 3, Mistral 4: shift 0; Llama 4 on layers without positions:
    shift 1), and adds a drift to queries that is not content, so the capture divides it out.
    """

    beta: float
    period: float
    shift: int = 0

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.float32]:
        """The factor at each position, float32."""
        steps = np.floor((positions.astype(np.float64) + self.shift) / self.period)
        return np.asarray(1.0 + self.beta * np.log1p(steps), dtype=np.float32)


@dataclass(frozen=True)
class Layer:
    """One attention layer: index, kind, heads, head dimension, score scaling, window and query scale."""

    index: int
    kind: Kind
    query_heads: int
    key_heads: int
    head_dim: int
    scaling: float
    window: int | None = None
    query_scale: QueryScale | None = None

    def key_head(self, query_head: int) -> int:
        """The key head that a query head reads."""
        return query_head // (self.query_heads // self.key_heads)

    def record(self) -> dict[str, Any]:
        """The layer as plain JSON values."""
        return asdict(self)


def query_scale(module: Any) -> QueryScale | None:
    """The position-dependent scale that an attention module multiplies its queries by, or None."""
    config = module.config
    rope = getattr(config, "rope_parameters", None) or {}
    beta = rope.get("llama_4_scaling_beta") if isinstance(rope, dict) else None
    if beta:
        return QueryScale(float(beta), float(rope["original_max_position_embeddings"]))
    if getattr(module, "attn_temperature_tuning", False) and not getattr(module, "use_rope", True):
        return QueryScale(float(module.attn_scale), float(module.floor_scale), shift=1)
    return None


def survey(model: PreTrainedModel) -> tuple[Layer, ...]:
    """The attention layers of a model in order, from one forward of four tokens.

    Cross-attention layers, which text alone does not run, are added from the configuration.

    Raises
    ------
    ModelError
        When the architecture does not use the attention interface, or adds a bias to the scores (ALiBi), so that
        queries and keys do not hold the whole score.
    """
    calls: dict[int, Layer] = {}

    def see(call: Call) -> None:
        if call.options.get("position_bias") is not None:
            raise ModelError(
                f"{type(model).__name__} (model type {model.config.model_type}) adds a position bias to its scores, "
                "which queries and keys do not contain; it cannot be captured"
            )
        if call.layer is None:
            return
        if call.layer in calls and not call.cross:
            raise ModelError(f"{type(model).__name__}: layer {call.layer} computes attention more than once a forward")
        calls[call.layer] = _layer(call.layer, call)

    forward(model, need("torch").arange(PROBE_TOKENS)[None], see)
    if not any(layer.kind != "cross" for layer in calls.values()):
        raise ModelError(unsupported(model))
    text = model.config.get_text_config()
    example = next(layer for layer in calls.values() if layer.kind != "cross")
    for index in getattr(text, "cross_attention_layers", None) or ():
        calls.setdefault(
            index,
            Layer(
                index, "cross", text.num_attention_heads, text.num_key_value_heads, example.head_dim, example.scaling
            ),
        )
    return tuple(calls[index] for index in sorted(calls))


def _layer(index: int, call: Call) -> Layer:
    text = call.module.config
    types = getattr(text, "layer_types", None)
    local = types is not None and any(word in types[index] for word in ("sliding", "chunked", "local"))
    if types is None:
        local = call.window is not None
    window = call.window or getattr(text, "sliding_window", None) or getattr(text, "attention_chunk_size", None)
    kind: Kind = "cross" if call.cross else "sliding" if local else "full"
    return Layer(
        index=index,
        kind=kind,
        query_heads=call.query.shape[1],
        key_heads=call.key.shape[1],
        head_dim=call.query.shape[3],
        scaling=call.scaling,
        window=int(window) if kind == "sliding" and window else None,
        query_scale=query_scale(call.module),
    )


def forward(model: PreTrainedModel, tokens: Any, recorder: Recorder, **inputs: Any) -> Any:
    """One forward as by `run`, with every attention call handed to `recorder`."""
    with recording(model, recorder):
        return run(model, tokens, **inputs)


def run(model: PreTrainedModel, tokens: Any, **inputs: Any) -> Any:
    """One forward without gradients, without a key cache, and without logits but those of the last token.

    Parameters
    ----------
    model : PreTrainedModel
        In evaluation mode.
    tokens : Tensor
        Token ids (B, T), moved to the model's device.
    **inputs
        Further inputs, such as `attention_mask` and `position_ids`.
    """
    if "logits_to_keep" in inspect.signature(model.forward).parameters:
        inputs["logits_to_keep"] = 1  # all logits of 131,072 tokens would be tens of gigabytes
    device = model.get_input_embeddings().weight.device
    with need("torch").inference_mode():
        return model(input_ids=tokens.to(device), use_cache=False, **inputs)
