"""Find the parts of a decoder (blocks, attention, MLP and projections) by what they do.

A forward pass of a few tokens shows which modules of a block run, in which order, and what they output. A second pass,
with a block's attention and MLP outputs zeroed, shows whether the block adds anything else to the residual stream.
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
ROUNDING = 1e-3  # a block whose update is smaller than this share of the residual stream counts as adding nothing


@dataclass(frozen=True)
class Block:
    """One decoder block.

    Parameters
    ----------
    layer : int
        Index of the block, from 0.
    module : Module
        The block itself.
    attention : Module
        The module whose output, a tensor or the first of a tuple, is added to the residual stream.
    out : Module
        The projection from the heads' outputs (B, T, H d_v) to the residual stream.
    heads, key_heads, head_dim, value_dim, width : int
        Numbers of query heads and key heads; dimensions of a query or key, of a value, and of the residual stream.
    mlp_or_reason : Module or str
        The last module of the MLP, whose output is added to the residual stream; or, as text, why there is none.
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

        Raises ModelError when the block has no MLP, or several parts that could be the MLP.
        """
        if isinstance(self.mlp_or_reason, str):
            raise ModelError(self.mlp_or_reason)
        return self.mlp_or_reason

    def projection(self, site: str) -> Module:
        """Return the module that outputs the queries ("q"), keys ("k") or values ("v") before their rotation.

        This is the norm after the projection if there is one, else the projection. Raises ModelError if no module
        outputs only these vectors.
        """
        children = dict(self.computing.named_children())
        kind = type(self.computing).__name__
        if "kv_b_proj" in children:
            raise ModelError(
                f"{kind} compresses keys and values into one vector (latent attention), from which one projection "
                f"computes both, and the rotated part of a key is shared by all heads; '{site}' of a head cannot be "
                "overwritten alone before the rotary embedding"
            )
        names = (f"{site}_norm", f"{site}_proj", f"W{site}")
        found = next((children[name] for name in names if name in children), None)
        if found is None and any(re.search("qkv|c_attn|query_key_value", name) for name in children):
            raise ModelError(
                f"{kind} computes '{site}' together with other vectors in one projection; an intervention on '{site}' "
                "alone needs a separate one"
            )
        if found is None:
            keys_shared = getattr(self.computing, "is_kv_shared_layer", False)
            detail = "; it takes keys and values of an earlier layer" if keys_shared else ""
            raise ModelError(f"{kind} of layer {self.layer} has no module that computes '{site}' alone{detail}")
        return found


@dataclass
class _PartCalls:
    """What the modules of a block did in the first forward pass."""

    order: list[tuple[Module, Any, Any]] = field(default_factory=list)  # modules as they finish, inputs, outputs
    call: Call | None = None
    before_call: int = 0  # number of modules that had finished before attention was computed


@dataclass(frozen=True)
class _Place:
    """A layer's block and the module in it that computes attention."""

    layer: int
    block: Module
    attention: Module


_known_blocks: WeakKeyDictionary[Any, tuple[tuple[int, ...], tuple[Block, ...]]] = (
    WeakKeyDictionary()
)  # ids of modules, blocks


def blocks(model: PreTrainedModel) -> tuple[Block, ...]:
    """Return the decoder blocks of a model in order; the result is cached as long as the model has the same modules.

    Raises ModelError when a block's attention or its output projection is not found.
    """
    module_ids = tuple(map(id, model.modules()))
    cached = _known_blocks.get(model)
    if cached is None or cached[0] != module_ids:
        cached = _known_blocks[model] = (module_ids, _find_blocks(model))
    return cached[1]


def why_hidden(model: PreTrainedModel, *parts: str) -> str:
    """Return why some block of a model has no module that outputs one of `parts` alone; empty if all blocks have them.

    A part is "mlp", "q", "k" or "v".
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
        # Attention and MLP, or their last matrices if they add the residual stream to their outputs themselves
        writers: dict[int, tuple[Module, Module]] = {}
        for attention_index, mlp_index in product((0, 1), repeat=2):
            candidates = {
                place.layer: (attention[attention_index], mlp[mlp_index])
                for place, (attention, mlp, _) in zip(places, parts, strict=True)
                if place.layer not in writers and mlp
            }
            writers |= {layer: candidates[layer] for layer in _silent_layers(model, places, candidates)}
    return tuple(
        _make_block(model, place, runs[place.layer], block_parts, writers.get(place.layer))
        for place, block_parts in zip(places, parts, strict=True)
    )


def _attention_ids(model: PreTrainedModel) -> set[int]:
    """Return the ids of modules that compute attention, which are found by name if their calls cannot be recorded."""
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
    # leave out modules that contain another one, such as a block named after its attention
    return {
        id(module)
        for module in named
        if not any(child is not module and _named_attention(child) for child in module.modules())
    }


def _named_attention(module: Module) -> bool:
    kind = type(module).__name__
    return getattr(module, "layer_idx", None) is not None and "ttention" in kind and "Cross" not in kind


def _is_unrecorded(model: PreTrainedModel, error: ModelError) -> bool:
    """Return whether an error means that attention calls cannot be recorded, for this model or at this moment."""
    return str(error) == unsupported_message(model) or "recorded already" in str(error)


def _attention_places(model: PreTrainedModel, attention_ids: set[int]) -> list[_Place]:
    """Return a decoder's attention modules in order of layers, each with its block (an element of a ModuleList)."""
    list_type = libraries.torch.nn.ModuleList
    by_name = dict(model.named_modules())
    places: list[_Place] = []
    for name, module in by_name.items():
        layer = getattr(module, "layer_idx", None)
        if layer is None or id(module) not in attention_ids or not name:
            continue
        block_name = name
        while block_name and not isinstance(by_name[block_name.rpartition(".")[0]], list_type):
            block_name = block_name.rpartition(".")[0]
        block_name = name.rpartition(".")[0] if block_name in ("", name) else block_name
        places.append(_Place(int(layer), by_name[block_name], module))
    return sorted(places, key=lambda place: place.layer)


def _text_attention(places: list[_Place], runs: dict[int, _PartCalls]) -> list[_Place]:
    """Return the places whose attention ran on text, one per layer; cross-attention to another sequence did not run."""
    run_ids = {id(module) for calls in runs.values() for module, _, _ in calls.order}
    by_layer = {place.layer: place for place in reversed(places) if id(place.attention) in run_ids}
    return [by_layer[layer] for layer in sorted(by_layer)]


def _probe_tokens(model: PreTrainedModel) -> Tensor:
    vocabulary = int(model.config.get_text_config().vocab_size)
    tokens: Tensor = libraries.torch.arange(3, 3 + PROBE_TOKENS)[None] % vocabulary
    return tokens


def _watch_parts(model: PreTrainedModel, places: list[_Place]) -> dict[int, _PartCalls]:
    """Run a few tokens, and return the records of each layer's block."""
    runs = {place.layer: _PartCalls() for place in places}
    hooks = []

    def output_recorder(record: _PartCalls) -> Any:
        def hook(module: Module, inputs: Any, output: Any) -> None:
            record.order.append((module, _first_output(inputs), _first_output(output)))

        return hook

    def record_call(call: Call) -> None:
        if call.layer in runs and not call.cross:
            runs[call.layer].call = call
            runs[call.layer].before_call = len(runs[call.layer].order)

    try:
        for place in {place.layer: place for place in places}.values():
            hook = output_recorder(runs[place.layer])
            hooks += [module.register_forward_hook(hook) for module in place.block.modules()]
        try:
            with recording(model, record_call):
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
    """Return whether a module itself, not a module inside it, has a weight matrix (or a stack of them, for experts)."""
    return any(parameter.ndim >= 2 for parameter in module.parameters(recurse=False))


def _hidden_size(model: PreTrainedModel) -> int:
    return int(model.config.get_text_config().hidden_size)


def _parts_of_block(
    model: PreTrainedModel, place: _Place, calls: _PartCalls
) -> tuple[tuple[Module, Module], tuple[Module, Module] | None, str]:
    """Return a block's attention and output projection, its MLP and last matrix, and why the MLP is unknown or empty.

    The MLP is None if the block has none.
    """
    width = _hidden_size(model)
    outputs = {id(module): output for module, _, output in calls.order}
    order = [module for module, _, _ in calls.order]

    def outputs_stream(module: Module) -> bool:
        output = outputs.get(id(module))
        return isinstance(output, libraries.torch.Tensor) and output.ndim >= 2 and output.shape[-1] == width

    attention_ids = {id(module) for module in place.attention.modules()}
    matrices = [
        (index, module, module_input)
        for index, (module, module_input, _) in enumerate(calls.order)
        if id(module) in attention_ids and _has_weights(module)
    ]
    projections = [  # matrices that ran after attention, if it was recorded, and do not share the first one's input
        module
        for index, module, module_input in matrices
        if index >= calls.before_call and outputs_stream(module) and module_input is not matrices[0][2]
    ]
    if not projections:
        raise ModelError(
            f"{type(place.block).__name__}: no output projection found in layer {place.layer}: no matrix in "
            f"{type(place.attention).__name__} outputs the residual stream's {width} numbers per token"
        )
    attention = (place.attention, projections[-1])
    candidates = []
    for name, child in place.block.named_children():
        modules = list(child.modules())
        if any(module is place.attention or "ttention" in type(module).__name__ for module in modules):
            continue
        if outputs_stream(child) and any(_has_weights(module) for module in modules):
            candidates.append((order.index(child), name, child))
    candidates.sort(key=lambda candidate: candidate[0])
    if not candidates:
        return attention, None, f"{type(place.block).__name__} of layer {place.layer} has no MLP beside its attention"
    last = candidates[-1][2]
    mlp_ids = {id(module) for module in last.modules()}
    mlp_matrices = [
        module for module in order if id(module) in mlp_ids and _has_weights(module) and outputs_stream(module)
    ]
    mlp = (last, mlp_matrices[-1] if mlp_matrices else last)
    names = ", ".join(name for _, name, _ in candidates)
    reason = (
        f"{type(place.block).__name__} of layer {place.layer} adds several parts to its attention ({names}), of which "
        "none is the MLP alone"
    )
    return attention, mlp, reason if len(candidates) > 1 else ""


def _silent_layers(model: PreTrainedModel, places: list[_Place], parts: dict[int, tuple[Module, Module]]) -> list[int]:
    """Return the layers whose block outputs its input unchanged when its two modules in `parts` output zeros."""
    if not parts:
        return []
    torch = libraries.torch
    block_inputs: dict[int, Any] = {}
    silent: list[int] = []
    hooks = []

    def silence(module: Module, inputs: Any, output: Any) -> Any:
        zeros = torch.zeros_like(_first_output(output))
        return (zeros, *output[1:]) if isinstance(output, tuple) else zeros

    def input_recorder(layer: int) -> Any:
        def hook(module: Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
            block_inputs[layer] = (inputs[0] if inputs else options["hidden_states"]).float()

        return hook

    def output_comparer(layer: int) -> Any:
        def hook(module: Module, inputs: Any, output: Any) -> None:
            after, before = _first_output(output).float(), block_inputs[layer]
            size = float(before.norm())  # 0 if an earlier block zeroed the stream, which says nothing about this block
            if after.shape == before.shape and size and float((after - before).norm()) <= ROUNDING * size:
                silent.append(layer)

        return hook

    try:
        for place in places:
            if place.layer in parts:
                hooks += [module.register_forward_hook(silence) for module in parts[place.layer]]
                hooks.append(place.block.register_forward_pre_hook(input_recorder(place.layer), with_kwargs=True))
                hooks.append(place.block.register_forward_hook(output_comparer(place.layer)))
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
    writers: tuple[Module, Module] | None,
) -> Block:
    """Return a block; `writers` are the modules of attention and MLP that write to the residual stream, if known."""
    attention, mlp, reason = parts
    mlp_or_reason = mlp[0] if mlp is not None and not reason else reason
    config = model.config.get_text_config()
    if calls.call is not None:
        heads, head_dim = int(calls.call.query.shape[1]), int(calls.call.query.shape[3])
        key_heads, value_dim = int(calls.call.key.shape[1]), int(calls.call.value.shape[3])
    else:
        heads = int(config.num_attention_heads)
        key_heads = int(getattr(config, "num_key_value_heads", None) or heads)
        size = getattr(place.attention, "head_dim", None) or getattr(place.attention, "head_size", None)
        head_dim = value_dim = int(size or getattr(config, "head_dim", None) or config.hidden_size // heads)
    return Block(
        layer=place.layer,
        module=place.block,
        attention=writers[0] if writers else attention[0],
        out=attention[1],
        heads=heads,
        key_heads=key_heads,
        head_dim=head_dim,
        value_dim=value_dim,
        width=_hidden_size(model),
        mlp_or_reason=writers[1] if writers else mlp_or_reason,
        computing=place.attention,
    )
