"""Find the parts of a decoder (blocks, attention, MLP and projections) by what they do.

A forward pass of a few tokens shows which parts of a block run, in which order, and their outputs; a second pass,
with a block's attention and MLP outputs zeroed, shows whether the block adds anything else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.architecture import describe_failures, run_forward
from keyquery.models.attention.calls import Call, hide_calls, recording, unsupported_message

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from transformers import PreTrainedModel

PROBE_TOKENS = 4
ROUNDING = 1e-3  # relative to the residual stream: below this, a block counts as adding nothing


@dataclass(frozen=True)
class Block:
    """One decoder block.

    Parameters
    ----------
    layer : int
        Index of the block, from 0.
    module, attention : Module
        The block, and the part whose output (a tensor, or a tuple that starts with one) its attention adds to the
        residual stream.
    out : Module
        The projection from the heads' outputs (B, T, H d_v) to the residual stream.
    heads, key_heads, head_dim, value_dim, width : int
        Numbers of query heads and key heads; dimensions of a query or key, of a value, and of the residual stream.
    mlp_or_reason : Module or str
        The last module of the MLP, whose output is added to the residual stream, or why there is none.
    computing : Module
        The module that computes attention: `attention` or a module inside it.
    """

    layer: int
    module: Module
    attention: Module
    out: Module
    heads: int
    key_heads: int
    head_dim: int
    value_dim: int
    width: int
    mlp_or_reason: Module | str = field(repr=False)
    computing: Module = field(repr=False)

    @property
    def mlp(self) -> Module:
        """Last module of the MLP, whose output is added to the residual stream.

        Raises ModelError when the block has no MLP, or several parts that could be it.
        """
        if isinstance(self.mlp_or_reason, str):
            raise ModelError(self.mlp_or_reason)
        return self.mlp_or_reason

    def projection(self, side: str) -> Module:
        """Return the module that outputs queries ("q"), keys ("k") or values ("v") before rotation, or its norm.

        Raises ModelError if no module outputs only these.
        """
        children = dict(self.computing.named_children())
        kind = type(self.computing).__name__
        if "kv_b_proj" in children:
            raise ModelError(
                f"{kind} compresses keys and values into one vector (latent attention), from which one projection "
                f"computes both, and the rotated part of a key is shared by all heads; '{side}' of a head cannot be "
                "overwritten alone before the rotary embedding"
            )
        last = next((children[name] for name in (f"{side}_norm", f"{side}_proj", f"W{side}") if name in children), None)
        if last is None and any(re.search("qkv|c_attn|query_key_value", name) for name in children):
            raise ModelError(
                f"{kind} computes '{side}' together with other vectors in one projection; an intervention on '{side}' "
                "alone needs a separate one"
            )
        if last is None:
            keys_shared = getattr(self.computing, "is_kv_shared_layer", False)
            detail = "; it takes keys and values of an earlier layer" if keys_shared else ""
            raise ModelError(f"{kind} of layer {self.layer} has no module that computes '{side}' alone{detail}")
        return last


@dataclass
class _PartCalls:
    """Records of a block's modules in the first forward pass."""

    order: list[tuple[Module, Any, Any]] = field(default_factory=list)  # modules, inputs, outputs
    call: Call | None = None
    before_call: int = 0  # modules that had finished before attention was computed


@dataclass(frozen=True)
class _Place:
    """A block and its attention module, before they are analysed."""

    layer: int
    block: Module
    attention: Module


_known: WeakKeyDictionary[Any, tuple[tuple[int, ...], tuple[Block, ...]]] = WeakKeyDictionary()


def blocks(model: PreTrainedModel) -> tuple[Block, ...]:
    """Return the decoder blocks of a model in order; the result is cached while the model's modules stay the same.

    Raises ModelError when a block's attention or its output projection is not found.
    """
    modules = tuple(map(id, model.modules()))
    cached = _known.get(model)
    if cached is None or cached[0] != modules:
        cached = _known[model] = (modules, _find_blocks(model))
    return cached[1]


def why_hidden(model: PreTrainedModel, *parts: str) -> str:
    """Return why some of a model's parts cannot be seen separately; empty if all can.

    `parts` are the needed parts of every block.
    """
    try:
        for block in blocks(model):
            for part in parts:
                _ = block.mlp if part == "mlp" else block.projection(part)
    except ModelError as error:
        return str(error)
    return ""


def _find_blocks(model: PreTrainedModel) -> tuple[Block, ...]:
    with hide_calls(), describe_failures(model, PROBE_TOKENS):
        places = _attention_places(model, _attention_ids(model))
        if not places and not any("ttention" in type(module).__name__ for module in model.modules()):
            raise ModelError(unsupported_message(model))
        if not places:
            raise ModelError(f"{type(model).__name__}: no decoder block with attention found")
        runs = _watch_parts(model, places)
        places = _text_attention(places, runs)
        parts = [_parts_of_block(model, place, runs[place.layer]) for place in places]
        # parts that output only the update, without the residual stream, which some parts add themselves
        by_layer: dict[int, tuple[Module, Module]] = {}
        for choice in product((0, 1), repeat=2):
            candidates = {
                place.layer: (attention[choice[0]], mlp[choice[1]])
                for place, (attention, mlp, _) in zip(places, parts, strict=True)
                if place.layer not in by_layer and mlp
            }
            by_layer |= {layer: candidates[layer] for layer in _silent_layers(model, places, candidates)}
    return tuple(
        _make_block(model, place, runs[place.layer], block_parts, by_layer.get(place.layer))
        for place, block_parts in zip(places, parts, strict=True)
    )


def _attention_ids(model: PreTrainedModel) -> set[int]:
    """Return the ids of modules that compute attention, found by name if the architecture has its own code."""
    ids: set[int] = set()
    try:
        with recording(model, lambda call: None if call.cross else ids.add(id(call.module))):
            run_forward(model, _probe_tokens(model))
    except ModelError as error:
        if not _is_unrecorded(model, error):
            raise
    if ids:
        return ids
    named = [module for module in model.modules() if _named_attention(module)]
    # exclude a block named after its attention, and modules around it
    return {
        id(each) for each in named if not any(child is not each and _named_attention(child) for child in each.modules())
    }


def _named_attention(module: Module) -> bool:
    kind = type(module).__name__
    return getattr(module, "layer_idx", None) is not None and "ttention" in kind and "Cross" not in kind


def _is_unrecorded(model: PreTrainedModel, error: ModelError) -> bool:
    """Return whether an error means that attention calls cannot be recorded, now or ever."""
    return str(error) == unsupported_message(model) or "recorded already" in str(error)


def _attention_places(model: PreTrainedModel, computing: set[int]) -> list[_Place]:
    """Return a decoder's attention modules by layer, each with its block (an element of a ModuleList)."""
    list_type = libraries.torch.nn.ModuleList
    by_name = dict(model.named_modules())
    places: list[_Place] = []
    for name, module in by_name.items():
        layer = getattr(module, "layer_idx", None)
        if layer is None or id(module) not in computing or not name:
            continue
        block_name = name
        while block_name and not isinstance(by_name[block_name.rpartition(".")[0]], list_type):
            block_name = block_name.rpartition(".")[0]
        block_name = name.rpartition(".")[0] if block_name in ("", name) else block_name
        places.append(_Place(int(layer), by_name[block_name], module))
    return sorted(places, key=lambda place: place.layer)


def _text_attention(places: list[_Place], runs: dict[int, _PartCalls]) -> list[_Place]:
    """Return the attention module of each layer that runs on text; cross-attention to another sequence does not run."""
    run_ids = {id(module) for calls in runs.values() for module, _, _ in calls.order}
    by_layer = {place.layer: place for place in reversed(places) if id(place.attention) in run_ids}
    return [by_layer[layer] for layer in sorted(by_layer)]


def _probe_tokens(model: PreTrainedModel) -> Tensor:
    words = int(model.config.get_text_config().vocab_size)
    tokens: Tensor = libraries.torch.arange(3, 3 + PROBE_TOKENS)[None] % words
    return tokens


def _watch_parts(model: PreTrainedModel, places: list[_Place]) -> dict[int, _PartCalls]:
    """Run a few tokens and record what every part of every block outputs."""
    runs = {place.layer: _PartCalls() for place in places}
    hooks = []

    def leaving(record: _PartCalls) -> Any:
        def hook(module: Module, inputs: Any, output: Any) -> None:
            record.order.append((module, _first_output(inputs), _first_output(output)))

        return hook

    def keep(call: Call) -> None:
        if call.layer in runs and not call.cross:
            runs[call.layer].call = call
            runs[call.layer].before_call = len(runs[call.layer].order)

    try:
        for place in {place.layer: place for place in places}.values():
            calls = runs[place.layer]
            hooks += [module.register_forward_hook(leaving(calls)) for module in place.block.modules()]
        try:
            with recording(model, keep):
                run_forward(model, _probe_tokens(model))
        except ModelError as error:
            if not _is_unrecorded(model, error):
                raise
            run_forward(model, _probe_tokens(model))
    finally:
        for handle in hooks:
            handle.remove()
    return runs


def _first_output(output: Any) -> Any:
    return output[0] if isinstance(output, tuple | list) and output else output


def _has_weights(module: Module) -> bool:
    """Return whether a module directly owns a weight matrix (or several, for experts)."""
    return any(parameter.ndim >= 2 for parameter in module.parameters(recurse=False))


def _hidden_size(model: PreTrainedModel) -> int:
    return int(model.config.get_text_config().hidden_size)


def _parts_of_block(
    model: PreTrainedModel, place: _Place, seen: _PartCalls
) -> tuple[tuple[Module, Module], tuple[Module, Module] | None, str]:
    """Return a block's attention and its output projection, and its MLP and last projection, or why there is no MLP."""
    width = _hidden_size(model)
    outputs = {id(module): output for module, _, output in seen.order}
    order = [module for module, _, _ in seen.order]

    def gives_stream(part: Module) -> bool:
        output = outputs.get(id(part))
        return isinstance(output, libraries.torch.Tensor) and output.ndim >= 2 and output.shape[-1] == width

    within = {id(module) for module in place.attention.modules()}
    ran = [
        (at, part, given) for at, (part, given, _) in enumerate(seen.order) if id(part) in within and _has_weights(part)
    ]
    matrices = [  # after attention was computed, if this is known, and never the input of the first module
        part for at, part, given in ran if at >= seen.before_call and gives_stream(part) and given is not ran[0][2]
    ]
    if not matrices:
        raise ModelError(
            f"{type(place.block).__name__}: no output projection found in layer {place.layer}: no matrix in "
            f"{type(place.attention).__name__} outputs the residual stream's {width} numbers per token"
        )
    besides = []
    for name, part in place.block.named_children():
        modules = list(part.modules())
        if any(module is place.attention or "ttention" in type(module).__name__ for module in modules):
            continue
        if gives_stream(part) and any(_has_weights(module) for module in modules):
            besides.append((order.index(part), name, part))
    besides.sort(key=lambda each: each[0])
    attention = (place.attention, matrices[-1])
    if not besides:
        return attention, None, f"{type(place.block).__name__} of layer {place.layer} has no MLP beside its attention"
    last_module = besides[-1][2]
    of_mlp = {id(module) for module in last_module.modules()}
    projections = [part for part in order if id(part) in of_mlp and _has_weights(part) and gives_stream(part)]
    mlp = (last_module, projections[-1] if projections else last_module)
    names = ", ".join(name for _, name, _ in besides)
    reason = (
        f"{type(place.block).__name__} of layer {place.layer} adds several parts to its attention ({names}), of which "
        "none is the MLP alone"
    )
    return attention, mlp, reason if len(besides) > 1 else ""


def _silent_layers(model: PreTrainedModel, places: list[_Place], parts: dict[int, tuple[Module, Module]]) -> list[int]:
    """Return the layers whose block returns its input unchanged when two of its parts output zeros."""
    if not parts:
        return []
    torch = libraries.torch
    stream: dict[int, Any] = {}
    silent: list[int] = []
    hooks = []

    def silence(module: Module, inputs: Any, output: Any) -> Any:
        zeros = torch.zeros_like(_first_output(output))
        return (zeros, *output[1:]) if isinstance(output, tuple) else zeros

    def entering(layer: int) -> Any:
        def hook(module: Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
            stream[layer] = (inputs[0] if inputs else options["hidden_states"]).float()

        return hook

    def leaving(layer: int) -> Any:
        def hook(module: Module, inputs: Any, output: Any) -> None:
            after, before = _first_output(output).float(), stream[layer]
            size = float(before.norm())  # 0 if an earlier block zeroed the stream, which says nothing about this block
            if after.shape == before.shape and size and float((after - before).norm()) <= ROUNDING * size:
                silent.append(layer)

        return hook

    try:
        for place in places:
            if place.layer in parts:
                hooks += [module.register_forward_hook(silence) for module in parts[place.layer]]
                hooks.append(place.block.register_forward_pre_hook(entering(place.layer), with_kwargs=True))
                hooks.append(place.block.register_forward_hook(leaving(place.layer)))
        run_forward(model, _probe_tokens(model))
    finally:
        for handle in hooks:
            handle.remove()
    return silent


def _make_block(
    model: PreTrainedModel,
    place: _Place,
    calls: _PartCalls,
    parts: tuple[tuple[Module, Module], tuple[Module, Module] | None, str],
    writing: tuple[Module, Module] | None,
) -> Block:
    attention, mlp, reason = parts
    sole = mlp[0] if mlp is not None and not reason else reason
    text = model.config.get_text_config()
    if calls.call is not None:
        heads, dims = int(calls.call.query.shape[1]), int(calls.call.query.shape[3])
        keys, values = int(calls.call.key.shape[1]), int(calls.call.value.shape[3])
    else:
        heads = int(text.num_attention_heads)
        keys = int(getattr(text, "num_key_value_heads", None) or heads)
        width = getattr(place.attention, "head_dim", None) or getattr(place.attention, "head_size", None)
        dims = values = int(width or getattr(text, "head_dim", None) or text.hidden_size // heads)
    return Block(
        layer=place.layer,
        module=place.block,
        attention=writing[0] if writing else attention[0],
        out=attention[1],
        heads=heads,
        key_heads=keys,
        head_dim=dims,
        value_dim=values,
        width=_hidden_size(model),
        mlp_or_reason=writing[1] if writing else sole,
        computing=place.attention,
    )
