"""Change a loaded model's position encoding within a block, name the encoding, and test it.

RoPE depends only on differences of positions, so shifting all positions changes nothing. A test whether a model ignores
positions therefore shifts the second half of a text away from the first half.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.architecture import query_scale
from keyquery.models.attention.calls import model_label
from keyquery.models.attention.encodings import check_encoding, configured, encoding_name, scaled_queries_message
from keyquery.models.attention.rotations import rotations
from keyquery.models.undefined import undefined_message
from keyquery.rotary import NO_ROTATION

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from transformers import PreTrainedModel

TOLERANCE = 1e-5  # of the logits' standard deviation; an identity rotation leaves logits equal to the last bit
PROBE_TOKENS = 16
SHIFT = 1000
POSITION_EMBEDDINGS = frozenset(
    "wpe embed_positions position_embeddings position_embedding embed_position positions_embed".split()
)
SINE_EMBEDDINGS = "pos_encoding"  # name of a buffer of sines that are added to embeddings (CTRL)
ROTATION_TABLE = "embed_positions"  # name of a buffer of sines that rotate queries and keys (GPT-J)
RECURRENT = ("mamba", "rwkv", "recurrent", "xlstm", "delta")  # words in the class names of recurrent layers

_encodings: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()  # rotary module -> active encodings, innermost last


@contextmanager
def encoding(
    model: PreTrainedModel, kind: str, *, factor: float | None = None, length: int | None = None
) -> Iterator[None]:
    """Change how a loaded model encodes positions until the end of the block.

    In nested blocks, the innermost applies. Arguments are those of `encodings.rope_parameters`; outputs equal those
    of a model loaded with `encodings.configured(config, kind)`. Raises ModelError if the model has no rotary module,
    or one that does not return cosines and sines, or if it uses positions in another way (ALiBi or, for "drope",
    queries scaled by position).
    """
    check_encoding(kind, factor)
    modules = rotary_modules(model)
    if kind == "drope":
        attention = [module for module in model.modules() if hasattr(module, "layer_idx") and hasattr(module, "config")]
        if any(query_scale(module) is not None for module in attention):
            raise ModelError(scaled_queries_message(type(model).__name__, kind))
    hooks: list[tuple[Module, Callable[..., Any]]] = []
    for module in modules:
        _angles_of(module)
        if kind == "drope":
            hooks.append((module, _no_rotation))
            continue
        config: Any = module.config
        try:
            replacement: Any = type(module)(config=configured(config, kind, factor=factor, length=length))
        except ModelError:
            raise
        except Exception as error:  # the architecture may raise anything; RecurrentGemma supports one rotation only
            raise ModelError(f"{type(module).__name__} cannot be made for {kind}: {error}") from error
        hooks.append((module, _replace_angles(replacement.to(_device_of(module)))))
    with ExitStack() as stack:
        for module, hook in hooks:
            stack.callback(module.register_forward_hook(hook, with_kwargs=True).remove)
            active = _encodings.setdefault(module, [])
            active.append(kind)
            stack.callback(active.pop)
        yield


def positional_of(model: PreTrainedModel) -> str:
    """Return a loaded model's encoding ("rope", "drope", "pi", "yarn" or "none"), confirmed by running the model.

    The encoding is "none" for a model without rotation, whose positions are learned (GPT-2), added as sines (CTRL),
    known from other layers (Jamba), or unused (Granite 4 hybrids, although their configuration has a base). It is
    "rope" if attention has a rotation table of its own (GPT-J, CodeGen) and shifted tokens change the logits. Otherwise
    it is that of the innermost `encoding` block, or else of the configuration. Raises ModelError if the rotary modules
    do not behave accordingly, a DroPE model does not ignore positions, or scores have a position bias.
    """
    if not may_rotate(model):
        return "none"
    if _rotated_in_attention(model):
        tokens = libraries.torch.arange(PROBE_TOKENS)[None] % int(model.config.get_text_config().vocab_size)
        if shift_error(model, tokens, 1) <= TOLERANCE:
            raise ModelError(f"{type(model).__name__} has a rotation table, but its logits do not depend on positions")
        return "rope"
    try:
        modules = rotary_modules(model)
    except ModelError:
        if _rotates_nothing(model):
            return "none"
        raise
    kinds = {(_encodings.get(module) or [encoding_name(module.config)])[-1] for module in modules}
    kind = kinds.pop() if len(kinds) == 1 else "rope"
    try:
        rotates = any(not _is_identity(*pair) for module in modules for pair in _angles_of(module))
    except ModelError:  # a rotation by complex numbers (Llama 4) is known from the configuration only
        if kind == "drope":
            raise
        return kind
    if rotates == (kind == "drope"):
        raise ModelError(
            f"{type(model).__name__}: its configuration says {kind}, but its rotary module "
            f"{'rotates' if rotates else 'gives no rotation'}; the rope_parameters in config.json do not describe it"
        )
    if kind == "drope":
        check_position_blind(model)
    return kind


def shift_error(model: PreTrainedModel, tokens: Tensor, shift: int) -> float:
    """Return the change of logits when the second half of a text is moved by `shift` positions.

    The change is the largest absolute difference of logits over their standard deviation, in float32; it is 0 for a
    model that ignores positions. Raises ModelError when the model accepts no position ids, its logits are not finite,
    or no token would move.
    """
    torch = libraries.torch
    if tokens.shape[1] < 2 or shift < 1:
        raise ModelError(
            f"a shift of {shift} on {tokens.shape[1]} tokens moves nothing; give at least 2 tokens and a shift above 0"
        )
    if "position_ids" not in inspect.signature(model.forward).parameters:
        raise ModelError(f"{type(model).__name__} accepts no position ids, so positions cannot be shifted")
    device: Any = model.get_input_embeddings().weight.device
    tokens = tokens.to(device)
    positions = torch.arange(tokens.shape[1], device=device)
    shifted = positions + shift * (positions >= tokens.shape[1] // 2)
    logits = []
    with torch.inference_mode():
        for position_ids in (positions, shifted):
            # Without an explicit mask, transformers would take the gap in positions for the start of another text.
            options = {"attention_mask": torch.ones_like(tokens), "position_ids": position_ids.expand_as(tokens)}
            logits.append(model(input_ids=tokens, use_cache=False, **options).logits.float())
    difference, spread = (logits[0] - logits[1]).abs().max().item(), logits[0].std().item()
    if not math.isfinite(difference) or not math.isfinite(spread):
        raise ModelError(f"{type(model).__name__}: its logits are not finite; {undefined_message(model)}")
    return 0.0 if difference == 0 else difference / spread if spread else math.inf


def check_position_blind(model: PreTrainedModel, tokens: Tensor | None = None, shift: int = SHIFT) -> float:
    """Return the `shift_error`, on `tokens` or else on 16 test tokens, of a model that should ignore positions.

    Raises ModelError if the shift error is above 1e-5.
    """
    torch = libraries.torch
    if tokens is None:
        tokens = torch.arange(PROBE_TOKENS)[None] % int(model.config.get_text_config().vocab_size)
    error = shift_error(model, tokens, shift)
    if error > TOLERANCE:
        raise ModelError(
            f"{type(model).__name__} is called drope but depends on positions: moving half a text by {shift} changes "
            f"its logits by {error:.2g} of their standard deviation; load it with the drope configuration"
        )
    return error


def may_rotate(model: PreTrainedModel) -> bool:
    """Return whether a model may rotate queries and keys.

    This is False only if nothing indicates a rotation or a position bias, and positions evidently enter in another way:
    embedded (GPT-2, OPT), added as sines (CTRL) or implied by recurrent layers (Jamba).
    """
    config = model.config.get_text_config()
    if _has_position_bias(model) or any(getattr(config, name, None) for name in ("rope_parameters", "rotary_dim")):
        return True
    modules = [(name.rpartition(".")[2], type(module).__name__.lower()) for name, module in model.named_modules()]
    if any("rotary" in class_name for _, class_name in modules):
        return True
    embedded = any(name in POSITION_EMBEDDINGS and "embedding" in class_name for name, class_name in modules)
    embedded = embedded or any(name.rpartition(".")[2] == SINE_EMBEDDINGS for name, _ in model.named_buffers())
    return not embedded and not any(word in class_name for _, class_name in modules for word in RECURRENT)


def _rotated_in_attention(model: PreTrainedModel) -> bool:
    """Return whether attention modules have their own rotation tables (as in GPT-J); such tables cannot be changed."""
    return any(
        "rotary_dim" in vars(module) and ROTATION_TABLE in dict(module.named_buffers()) for module in model.modules()
    )


def _rotates_nothing(model: PreTrainedModel) -> bool:
    """Return whether the queries of every attention layer are unrotated in a forward pass."""
    if _has_position_bias(model):
        return False
    try:
        by_layer = rotations(model, PROBE_TOKENS)
    except ModelError:  # attention calls cannot be recorded
        return False
    return bool(by_layer) and all(rotary == NO_ROTATION for rotary in by_layer.values())


def _has_position_bias(model: PreTrainedModel) -> bool:
    """Return whether positions enter as a bias on scores, judged by the model's configuration or code."""
    config = model.config.get_text_config()
    attention = getattr(config, "attn_config", None)
    if hasattr(config, "alibi") or hasattr(attention, "alibi"):
        return bool(getattr(config, "alibi", False) or getattr(attention, "alibi", False))
    return any("alibi" in name for module in model.modules() for name in vars(type(module)))


def rotary_modules(model: PreTrainedModel) -> list[Any]:
    """Return the rotary modules of a model's text part.

    Raises ModelError when there are none, when attention modules rotate by themselves, or when positions enter as a
    bias on scores.
    """
    config = model.config.get_text_config()
    if _has_position_bias(model):
        raise ModelError(
            f"{model_label(model)} adds a position bias to its scores (ALiBi); it has no rotation, and all "
            "measurements here assume scores that are q.k alone"
        )
    modules = [
        module
        for module in model.modules()
        if "Rotary" in type(module).__name__ and type(getattr(module, "config", None)) is type(config)
    ]
    if not may_rotate(model):
        raise ModelError(
            f"{model_label(model)} rotates nothing, so there is no rotation to change: its positions are learned, "
            "added to the embeddings, or known from recurrent layers"
        )
    if _rotated_in_attention(model):
        raise ModelError(
            f"{model_label(model)} rotates queries and keys inside its attention code, so its rotation cannot be "
            "changed"
        )
    if not modules:
        raise ModelError(
            f"{model_label(model)} has no rotary module that keyquery can change; models of the Llama, Mistral, Qwen, "
            "Gemma and GPT-NeoX families have one"
        )
    return modules


def _no_rotation(module: Any, inputs: Any, options: Any, output: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    torch = libraries.torch
    return torch.ones_like(output[0]), torch.zeros_like(output[1])


def _replace_angles(replacement: Any) -> Callable[..., Any]:
    """Return a hook that returns the cosines and sines of another rotary module."""

    def hook(module: Any, inputs: Any, options: Any, output: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        cosine, sine = replacement(*inputs, **options)
        return cosine.to(output[0]), sine.to(output[1])

    return hook


def _device_of(module: Any) -> Any:
    buffer = next(iter(module.buffers()), None)
    return "cpu" if buffer is None else buffer.device


def _angles_of(module: Any) -> list[tuple[Tensor, Tensor]]:
    """Return the cosines and sines of a rotary module at a few positions, for each layer type if these differ."""
    torch = libraries.torch
    device = _device_of(module)
    positions = torch.tensor([[0, 1, 7, SHIFT]], device=device)
    states = torch.zeros(1, positions.shape[1], 1, device=device)
    layer_types = module.rope_type if isinstance(getattr(module, "rope_type", None), dict) else (None,)
    angles = []
    for layer_type in layer_types:
        try:
            pair = module(states, positions, **({} if layer_type is None else {"layer_type": layer_type}))
        except (TypeError, ValueError, RuntimeError, IndexError) as error:
            raise ModelError(f"{type(module).__name__} does not run as other rotary modules do ({error})") from error
        if not isinstance(pair, tuple) or len(pair) != 2 or any(tensor.is_complex() for tensor in pair):
            raise ModelError(f"{type(module).__name__} does not give cosines and sines, so it cannot be exchanged")
        angles.append(pair)
    return angles


def _is_identity(cosine: Tensor, sine: Tensor) -> bool:
    return bool((cosine == 1).all()) and bool((sine.abs() < 1e-12).all())
