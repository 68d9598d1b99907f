"""Find the attention layers of a model by running a few tokens, not by lists of architectures."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import ModelError, ThesisError
from boundpaper.typeset.plural import counted
from keyquery.models import libraries
from keyquery.models.attention import definition
from keyquery.models.attention.calls import Call, Observer, Recorder, model_label, recording, unsupported_message
from keyquery.models.undefined import explain_not_finite, undefined_message
from keyquery.models.vocabulary import check_tokens

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

Kind = Literal["full", "sliding", "chunked", "cross"]
PROBE_TOKENS = 8
# Tolerances relative to the logits' standard deviation, for float32, half precision, and quantized weights
ROUNDING, ROUNDING_OF_HALF, ROUNDING_OF_QUANTIZED = 1e-4, 3e-2, 0.2
NO_CAPTURE = "it cannot be captured"
SEES_LATER = "attends to later tokens as well, as an encoder does, but every quantity here assumes causal attention"


@dataclass(frozen=True)
class QueryScale:
    """A factor on queries that grows with position: 1 + beta log(1 + floor((t + shift) / period)).

    Models apply it after the rotary embedding (Ministral 3 and Mistral 4 with shift 0; Llama 4, on layers without
    rotation, with shift 1). It makes queries depend on position, so a capture divides the queries by it.
    """

    beta: float
    period: float
    shift: int = 0

    def at(self, positions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the factor at each position, float32."""
        steps = np.floor((positions.astype(np.float64) + self.shift) / self.period)
        return np.asarray(1.0 + self.beta * np.log1p(steps), dtype=np.float32)


@dataclass(frozen=True)
class Layer:
    """One attention layer.

    Parameters
    ----------
    index : int
        Index of the layer in the model, from 0.
    kind : {"full", "sliding", "chunked", "cross"}
        Which tokens a query sees: all up to its own; only the last `window` of them; only those in its own chunk of
        `window` tokens; or the tokens of another sequence.
    query_heads, key_heads, head_dim : int
        Numbers of query heads and key heads, and the dimension of their vectors.
    scaling : float
        The factor on q.k before the softmax.
    window : int or None
        Size of the window or chunk in tokens; None for other kinds.
    query_scale : QueryScale or None
        The factor on queries that grows with position.
    softcap : float or None
        The constant c of soft-capping, which turns scores s into c tanh(s / c) before the softmax.
    sink : bool
        Whether each head has a learned sink: a score in the softmax that belongs to no token (GPT-OSS), so that the
        weights on tokens sum to less than 1.
    """

    index: int
    kind: Kind
    query_heads: int
    key_heads: int
    head_dim: int
    scaling: float
    window: int | None = None
    query_scale: QueryScale | None = None
    softcap: float | None = None
    sink: bool = False

    def key_head(self, query_head: int) -> int:
        """Return the key head that a query head reads."""
        return query_head // (self.query_heads // self.key_heads)

    def record(self) -> dict[str, Any]:
        """Return the layer as plain JSON values."""
        return asdict(self)


def query_scale(module: Any) -> QueryScale | None:
    """Return the position-dependent factor on an attention module's queries, or None."""
    config = module.config
    rope = getattr(config, "rope_parameters", None) or {}
    beta = rope.get("llama_4_scaling_beta") if isinstance(rope, dict) else None
    if beta:
        return QueryScale(float(beta), float(rope["original_max_position_embeddings"]))
    if getattr(module, "attn_temperature_tuning", False) and not getattr(module, "use_rope", True):
        return QueryScale(float(module.attn_scale), float(module.floor_scale), shift=1)
    return None


def survey(model: PreTrainedModel) -> tuple[Layer, ...]:
    """Return the attention layers of a model in order, from one forward pass of a few tokens.

    `check_call` compares each layer's output with the definition of attention. Cross-attention layers, which do not
    run on text, are added from the configuration. Raises ModelError if the architecture does not use the attention
    interface of transformers, or if its attention depends on more than queries and keys: on later tokens (an encoder, a
    prefix), a bias on scores (ALiBi), or another mask.
    """
    layers: dict[int, Layer] = {}

    def add_layer(call: Call, output: Tensor) -> None:
        if call.layer is None:
            return
        if call.layer in layers and not call.cross:
            raise ModelError(
                f"{model_label(model)}: several calls of attention come from layer {call.layer}, so that heads cannot "
                f"be told apart by their layer; {NO_CAPTURE}"
            )
        layer = _layer_of_call(call.layer, call)
        if layer.kind != "cross":
            check_call(model, layer, call, output)
        layers[call.layer] = layer

    config = model.config.get_text_config()
    count = _probe_length(config)
    tokens = libraries.torch.arange(count)[None] % int(config.vocab_size)
    with describe_failures(model, count):
        forward(model, tokens, lambda call: None, add_layer)
    example = next((layer for layer in layers.values() if layer.kind != "cross"), None)
    if example is None:
        raise ModelError(unsupported_message(model))
    for index in getattr(config, "cross_attention_layers", None) or ():
        heads = config.num_attention_heads, config.num_key_value_heads
        layers.setdefault(index, Layer(index, "cross", *heads, example.head_dim, example.scaling))
    return tuple(layers[index] for index in sorted(layers))


@contextmanager
def describe_failures(
    model: PreTrainedModel, tokens: int, cause: str = "a configuration that does not fit the class, input besides text"
) -> Iterator[None]:
    """In this context, replace an error of the architecture's code by a ModelError: a pass over `tokens` tokens fails.

    The ModelError quotes the original error's type and first line, and says that `cause` may explain it. Errors of this
    project, memory errors and Ctrl-C pass unchanged.
    """
    try:
        yield
    except (ThesisError, MemoryError):
        raise
    except Exception as error:  # the architecture's code may raise anything
        if "memory" in str(error):
            raise
        reason = (str(error) or type(error).__name__).strip().splitlines()[0]
        raise ModelError(
            f"{model_label(model)}: a forward pass over {counted(tokens, 'token')} fails "
            f"({type(error).__name__}: {reason}); causes may be {cause}, or too long a text"
        ) from error


def check_call(
    model: PreTrainedModel, layer: Layer, call: Call, output: Tensor, rows: Sequence[int] | None = None
) -> None:
    """Raise ModelError if a layer's attention output does not follow from the call's queries, keys and values.

    The call must be for complete texts, without padding or key cache. `output` is the kernel's output, of shape (B, T,
    H, d_v), and `rows` are the queries to check (None: all). If possible, the error names the cause.
    """
    torch = libraries.torch
    name, tokens = model_label(model), call.key.shape[2]
    queries = torch.arange(tokens) if rows is None else torch.tensor(sorted(set(rows)))
    queries = queries.to(call.query.device)
    in_mask = definition.has_bias(call, queries)
    if in_mask or call.options.get("position_bias") is not None:
        raise ModelError(
            f"{name} adds a position bias to its scores{' through its mask' * in_mask}; queries and keys do not "
            f"contain this bias; {NO_CAPTURE}"
        )
    if not all(bool(tensor.isfinite().all()) for tensor in (call.query, call.key, call.value, output)):
        raise ModelError(f"{name}: {undefined_message(model, f'layer {layer.index}')}")
    tolerance = definition.rounding_tolerance(call)
    difference = definition.largest_difference(call, output, queries, _configured_mask(layer, queries, tokens))
    if difference <= tolerance:
        return
    for mask, problem in _other_masks(call, queries, tokens):
        if definition.largest_difference(call, output, queries, mask) <= tolerance:
            raise ModelError(f"{name}: layer {layer.index} {problem}; {NO_CAPTURE}")
    extent = f"{layer.kind}, {layer.window} tokens" if layer.window else layer.kind
    raise ModelError(
        f"{name}: layer {layer.index} does not attend as softmax(scaling q.k) over the tokens that it should "
        f"see ({extent}): the outputs differ by {difference:.2g} times the largest value; its attention uses "
        f"something that queries and keys do not contain, and {NO_CAPTURE}"
    )


def check_order(model: PreTrainedModel) -> None:
    """Raise ModelError if the logits of a text depend on later tokens, or if a forward pass fails.

    The test compares two texts that differ in the last token only.
    """
    torch = libraries.torch
    config = model.config.get_text_config()
    tokens = torch.arange(_probe_length(config))[None] % int(config.vocab_size)
    if tokens.shape[1] < 2 or int(config.vocab_size) < 2:
        return
    changed_tokens = tokens.clone()
    changed_tokens[0, -1] = tokens[0, 0]
    check_tokens(model, tokens)
    device: Any = model.get_input_embeddings().weight.device
    with describe_failures(model, tokens.shape[1]), torch.inference_mode():
        texts = (tokens.to(device), changed_tokens.to(device))
        logits = [model(input_ids=text, use_cache=False).logits[0, :-1].float() for text in texts]
    difference, spread = float((logits[0] - logits[1]).abs().max()), float(logits[0].std())
    if difference > rounding_of(model) * spread:
        raise ModelError(f"{model_label(model)}: {SEES_LATER}")


def check_padding(model: PreTrainedModel, tokens: Tensor, longest: int) -> None:
    """Raise ModelError if padding at the end of a text changes the text's hidden states, or if a forward pass fails.

    `tokens`, of shape (1, T), are the text, which the test pads to `longest` tokens.
    """
    states: list[Tensor] = []
    hook = model.get_decoder().register_forward_hook(lambda module, inputs, output: states.append(output[0].float()))
    try:
        for length in (tokens.shape[1], longest):
            ids = libraries.torch.cat([tokens, tokens[:, -1:].expand(1, length - tokens.shape[1])], dim=1)
            with describe_failures(model, length), libraries.torch.inference_mode():
                run_forward(model, ids)
                if states[-1].shape[1] != length:  # some decoders return only the last token's logits (Llama 4)
                    states.pop()
                    model(input_ids=ids.to(model.device), use_cache=False)
    finally:
        hook.remove()
    unpadded, padded = states[0], states[1][:, : tokens.shape[1]]
    if not float((unpadded - padded).abs().max()) <= rounding_of(model) * float(unpadded.std()):
        raise ModelError(
            f"{model_label(model)}: padding at the end of a text changes the text's hidden states, so documents of "
            "different lengths cannot share a forward pass; give --batch 1"
        )


def rounding_of(model: PreTrainedModel) -> float:
    """Return the largest difference of logits that rounding explains, in standard deviations of the logits."""
    if getattr(model, "is_quantized", False):
        return ROUNDING_OF_QUANTIZED
    return ROUNDING if model.dtype == libraries.torch.float32 else ROUNDING_OF_HALF


def _probe_length(config: Any) -> int:
    """Return the number of tokens for a probe of a model with this configuration."""
    limit = getattr(config, "max_position_embeddings", None) or 0
    return min(PROBE_TOKENS, limit) if limit > 0 else PROBE_TOKENS


def _configured_mask(layer: Layer, queries: Tensor, tokens: int) -> Tensor:
    """Return the mask, of shape (queries, tokens), of the keys that the configuration lets each query see."""
    if layer.window is None:
        return definition.causal_mask(queries, tokens)
    make_mask = definition.chunked_mask if layer.kind == "chunked" else definition.sliding_mask
    return make_mask(queries, tokens, layer.window)


def _other_masks(call: Call, queries: Tensor, tokens: int) -> Iterator[tuple[Tensor, str]]:
    """Yield masks that a layer may have instead of the configured one, each with a description."""
    torch = libraries.torch
    causal = definition.causal_mask(queries, tokens)
    yield torch.ones_like(causal), SEES_LATER
    if call.mask is not None and call.mask.ndim == 4 and call.mask.shape[:2] == (1, 1):
        visible = call.mask[0, 0].index_select(0, queries)[:, :tokens]
        visible = visible if visible.dtype == torch.bool else visible > torch.finfo(visible.dtype).min / 2
        if bool((visible & ~causal).any()):
            yield visible, "attends to later tokens of a prefix; every quantity here assumes causal attention"
        yield visible, "masks other tokens than its configuration says (its window or kind of layer)"
    yield causal, "sees every token before its own although its configuration says that it does not"


def _layer_of_call(index: int, call: Call) -> Layer:
    config = call.module.config
    types = getattr(config, "layer_types", None)
    window = call.window or getattr(config, "sliding_window", None) or getattr(config, "attention_chunk_size", None)
    kind: Kind = "full"
    if call.cross:
        kind = "cross"
    elif types is None:
        kind = "sliding" if call.window is not None else "full"
    elif "chunked" in types[index]:
        kind, window = "chunked", getattr(config, "attention_chunk_size", None) or window
    elif any(word in types[index] for word in ("sliding", "local")):
        kind = "sliding"
    softcap = call.options.get("softcap")
    return Layer(
        index=index,
        kind=kind,
        query_heads=call.query.shape[1],
        key_heads=call.key.shape[1],
        head_dim=call.query.shape[3],
        scaling=call.scaling,
        window=int(window) if kind in ("sliding", "chunked") and window else None,
        query_scale=query_scale(call.module),
        softcap=None if softcap is None else float(softcap),
        sink=call.options.get("s_aux") is not None,
    )


def forward(
    model: PreTrainedModel, tokens: Any, recorder: Recorder, observer: Observer | None = None, **inputs: Any
) -> Any:
    """Run one forward pass; give each attention call to `recorder`, and the call and its output to `observer`."""
    with recording(model, recorder, observer):
        return run_forward(model, tokens, **inputs)


def run_forward(model: PreTrainedModel, tokens: Any, **inputs: Any) -> Any:
    """Run one forward pass without gradients and key cache, with logits of the last token only.

    The model must be in evaluation mode. `tokens` (B, T) are moved to the model's device; `inputs` are further
    arguments, such as `attention_mask` and `position_ids`. Raises ModelError if an observer of `recording` finds values
    that are not finite; the error says whether the weights cause them.
    """
    if "logits_to_keep" in inspect.signature(model.forward).parameters:
        inputs["logits_to_keep"] = 1  # all logits of 131,072 tokens would be tens of gigabytes
    check_tokens(model, tokens)
    device: Any = model.get_input_embeddings().weight.device
    with explain_not_finite(model), libraries.torch.inference_mode():
        return model(input_ids=tokens.to(device), use_cache=False, **inputs)
