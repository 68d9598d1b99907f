"""Find the parts of a decoder (blocks, attention, MLP and projections) by what they do.

A forward pass of a few tokens shows which modules of a block run, in which order, and what they output. A second pass,
with a block's attention and MLP outputs zeroed, shows whether the block adds anything else to the residual stream.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.architecture import describe_failures, run_forward
from keyquery.models.attention.calls import Call, Recorder, hide_calls, recording, unsupported_message

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
        The module whose output, a tensor or the first element of a tuple, is added to the residual stream.
    out : Module
        The projection from the heads' outputs (B, T, H d_v) to the residual stream.
    heads, key_heads, head_dim, value_dim, width : int
        Numbers of query heads and key heads; dimensions of a query or key, of a value, and of the residual stream.
    mlp_or_reason : Module or str
        The last module of the MLP, whose output is added to the residual stream; or why there is no such module.
    attention_core : Module
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
    attention_core: Module = field(repr=False)

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
        children = dict(self.attention_core.named_children())
        kind = type(self.attention_core).__name__
        if "kv_b_proj" in children:
            raise ModelError(
                f"{kind} computes keys and values with one projection of one compressed vector (latent attention), and "
                f"all heads share the rotated part of a key; '{site}' of one head cannot be overwritten alone before "
                "the rotary embedding"
            )
        names = (f"{site}_norm", f"{site}_proj", f"W{site}")
        module = next((children[name] for name in names if name in children), None)
        if module is None and any(re.search("qkv|c_attn|query_key_value", name) for name in children):
            raise ModelError(
                f"{kind} computes '{site}' together with other vectors in one projection; an intervention on '{site}' "
                "alone needs a separate projection"
            )
        if module is None:
            keys_shared = getattr(self.attention_core, "is_kv_shared_layer", False)
            detail = "; it takes keys and values of an earlier layer" if keys_shared else ""
            raise ModelError(f"{kind} of layer {self.layer} has no module that computes '{site}' alone{detail}")
        return module


@dataclass
class _BlockRun:
    """What a block did in the first forward pass."""

    module_calls: list[tuple[Module, Any, Any]] = field(default_factory=list)  # modules as they finish, inputs, outputs
    attention_call: Call | None = None
    finished_before: int = 0  # number of modules that had finished before attention was computed


@dataclass(frozen=True)
class _Layer:
    """A layer's block, and the module in it that computes attention."""

    index: int
    block: Module
    attention: Module


# by model: the ids of its modules, and its blocks
_known_blocks: WeakKeyDictionary[Any, tuple[tuple[int, ...], tuple[Block, ...]]] = WeakKeyDictionary()


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
    """Return why a block lacks a module of its own for one of `parts`; empty if all blocks have one for each part.

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
        layers = _attention_layers(model, _attention_ids(model))
        if not layers and not any("ttention" in type(module).__name__ for module in model.modules()):
            raise ModelError(unsupported_message(model))
        if not layers:
            raise ModelError(f"{type(model).__name__}: no decoder block with attention found")
        runs = _run_blocks(model, layers)
        layers = _layers_on_text(layers, runs)
        parts = [_parts_of_block(model, layer, runs[layer.index]) for layer in layers]
        # Attention or MLP may add the stream to its output; then its last matrix is what writes to the stream
        writers: dict[int, tuple[Module, Module]] = {}
        for attention_index, mlp_index in product((0, 1), repeat=2):
            candidates = {
                layer.index: (attention[attention_index], mlp[mlp_index])
                for layer, (attention, mlp, _) in zip(layers, parts, strict=True)
                if layer.index not in writers and mlp
            }
            writers |= {index: candidates[index] for index in _silent_layers(model, layers, candidates)}
    return tuple(
        _make_block(model, layer, runs[layer.index], block_parts, writers.get(layer.index))
        for layer, block_parts in zip(layers, parts, strict=True)
    )


def _attention_ids(model: PreTrainedModel) -> set[int]:
    """Return the ids of modules that compute attention, found by their calls, or by name if none can be recorded."""
    ids: set[int] = set()
    _run_probe(model, lambda call: None if call.cross else ids.add(id(call.module)))
    if ids:
        return ids
    # a block may be named after the attention inside it, so take only the innermost modules of such a name
    return {
        id(module)
        for module in filter(_is_attention_by_name, model.modules())
        if not any(child is not module and _is_attention_by_name(child) for child in module.modules())
    }


def _is_attention_by_name(module: Module) -> bool:
    kind = type(module).__name__
    return getattr(module, "layer_idx", None) is not None and "ttention" in kind and "Cross" not in kind


def _run_probe(model: PreTrainedModel, recorder: Recorder) -> None:
    """Run a few tokens, and give each attention call to `recorder` if calls of this model can be recorded now."""
    try:
        with recording(model, recorder):
            run_forward(model, _probe_tokens(model))
    except ModelError as error:
        if str(error) != unsupported_message(model) and "recorded already" not in str(error):
            raise
        run_forward(model, _probe_tokens(model))


def _attention_layers(model: PreTrainedModel, attention_ids: set[int]) -> list[_Layer]:
    """Return a decoder's layers with attention, in order. A layer's block is an element of a ModuleList."""
    list_type = libraries.torch.nn.ModuleList
    by_name = dict(model.named_modules())
    layers: list[_Layer] = []
    for name, module in by_name.items():
        index = getattr(module, "layer_idx", None)
        if index is None or id(module) not in attention_ids or not name:
            continue
        block_name = name
        while block_name and not isinstance(by_name[block_name.rpartition(".")[0]], list_type):
            block_name = block_name.rpartition(".")[0]
        block_name = name.rpartition(".")[0] if block_name in ("", name) else block_name
        layers.append(_Layer(int(index), by_name[block_name], module))
    return sorted(layers, key=lambda layer: layer.index)


def _layers_on_text(layers: list[_Layer], runs: dict[int, _BlockRun]) -> list[_Layer]:
    """Return the layers whose attention ran on text, one per index; cross-attention to another sequence did not run."""
    run_ids = {id(module) for run in runs.values() for module, _, _ in run.module_calls}
    by_index = {layer.index: layer for layer in reversed(layers) if id(layer.attention) in run_ids}
    return [by_index[index] for index in sorted(by_index)]


def _probe_tokens(model: PreTrainedModel) -> Tensor:
    vocabulary = int(model.config.get_text_config().vocab_size)
    tokens: Tensor = libraries.torch.arange(3, 3 + PROBE_TOKENS)[None] % vocabulary
    return tokens


def _run_blocks(model: PreTrainedModel, layers: list[_Layer]) -> dict[int, _BlockRun]:
    """Run a few tokens, and return what each block did, by the index of its layer."""
    runs = {layer.index: _BlockRun() for layer in layers}
    hooks = []

    def record_module(run: _BlockRun, module: Module, inputs: Any, output: Any) -> None:
        run.module_calls.append((module, _first_tensor(inputs), _first_tensor(output)))

    def record_call(call: Call) -> None:
        if call.layer in runs and not call.cross:
            runs[call.layer].attention_call = call
            runs[call.layer].finished_before = len(runs[call.layer].module_calls)

    try:
        for layer in {layer.index: layer for layer in layers}.values():
            hook = partial(record_module, runs[layer.index])
            hooks += [module.register_forward_hook(hook) for module in layer.block.modules()]
        _run_probe(model, record_call)
    finally:
        for handle in hooks:
            handle.remove()
    return runs


def _first_tensor(tensors: Any) -> Any:
    return tensors[0] if isinstance(tensors, tuple | list) and tensors else tensors


def _has_weights(module: Module) -> bool:
    """Return whether a module itself, not a module inside it, has a weight matrix (or a stack of them, for experts)."""
    return any(parameter.ndim >= 2 for parameter in module.parameters(recurse=False))


def _hidden_size(model: PreTrainedModel) -> int:
    return int(model.config.get_text_config().hidden_size)


def _parts_of_block(
    model: PreTrainedModel, layer: _Layer, run: _BlockRun
) -> tuple[tuple[Module, Module], tuple[Module, Module] | None, str]:
    """Return a block's attention and output projection, its MLP and the MLP's last matrix, and a message.

    The MLP is None if the block has none. The message says why the MLP is unknown or None; else it is empty.
    """
    width = _hidden_size(model)
    outputs = {id(module): output for module, _, output in run.module_calls}
    order = [module for module, _, _ in run.module_calls]

    def outputs_stream(module: Module) -> bool:
        output = outputs.get(id(module))
        return isinstance(output, libraries.torch.Tensor) and output.ndim >= 2 and output.shape[-1] == width

    attention_ids = {id(module) for module in layer.attention.modules()}
    matrices = [
        (index, module, module_input)
        for index, (module, module_input, _) in enumerate(run.module_calls)
        if id(module) in attention_ids and _has_weights(module)
    ]
    projections = [  # matrices that ran after the recorded attention, on another input than the first matrix
        module
        for index, module, module_input in matrices
        if index >= run.finished_before and outputs_stream(module) and module_input is not matrices[0][2]
    ]
    if not projections:
        raise ModelError(
            f"{type(layer.block).__name__}: no output projection found in layer {layer.index}: no matrix in "
            f"{type(layer.attention).__name__} outputs the residual stream's {width} numbers per token"
        )
    attention = (layer.attention, projections[-1])
    candidates = []
    for name, child in layer.block.named_children():
        modules = list(child.modules())
        if any(module is layer.attention or "ttention" in type(module).__name__ for module in modules):
            continue
        if outputs_stream(child) and any(_has_weights(module) for module in modules):
            candidates.append((order.index(child), name, child))
    candidates.sort(key=lambda candidate: candidate[0])
    if not candidates:
        return attention, None, f"{type(layer.block).__name__} of layer {layer.index} has no MLP beside its attention"
    last = candidates[-1][2]
    mlp_ids = {id(module) for module in last.modules()}
    mlp_matrices = [
        module for module in order if id(module) in mlp_ids and _has_weights(module) and outputs_stream(module)
    ]
    mlp = (last, mlp_matrices[-1] if mlp_matrices else last)
    names = ", ".join(name for _, name, _ in candidates)
    reason = (
        f"{type(layer.block).__name__} of layer {layer.index} adds several parts to its attention ({names}), of which "
        "none is the MLP alone"
    )
    return attention, mlp, reason if len(candidates) > 1 else ""


def _silent_layers(model: PreTrainedModel, layers: list[_Layer], parts: dict[int, tuple[Module, Module]]) -> list[int]:
    """Return indices of the layers whose block outputs its input when the block's two modules in `parts` output 0."""
    if not parts:
        return []
    torch = libraries.torch
    block_inputs: dict[int, Any] = {}
    silent_indices: list[int] = []
    hooks = []

    def silence(module: Module, inputs: Any, output: Any) -> Any:
        zeros = torch.zeros_like(_first_tensor(output))
        return (zeros, *output[1:]) if isinstance(output, tuple) else zeros

    def record_input(index: int, module: Module, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        block_inputs[index] = (inputs[0] if inputs else options["hidden_states"]).float()

    def compare_output(index: int, module: Module, inputs: Any, output: Any) -> None:
        after, before = _first_tensor(output).float(), block_inputs[index]
        size = float(before.norm())  # 0 if an earlier block zeroed the stream, which says nothing about this block
        if after.shape == before.shape and size and float((after - before).norm()) <= ROUNDING * size:
            silent_indices.append(index)

    try:
        for layer in layers:
            if layer.index in parts:
                hooks += [module.register_forward_hook(silence) for module in parts[layer.index]]
                recorder = partial(record_input, layer.index)
                hooks.append(layer.block.register_forward_pre_hook(recorder, with_kwargs=True))
                hooks.append(layer.block.register_forward_hook(partial(compare_output, layer.index)))
        run_forward(model, _probe_tokens(model))
    finally:
        for handle in hooks:
            handle.remove()
    return silent_indices


def _make_block(
    model: PreTrainedModel,
    layer: _Layer,
    run: _BlockRun,
    parts: tuple[tuple[Module, Module], tuple[Module, Module] | None, str],
    writers: tuple[Module, Module] | None,
) -> Block:
    """Return a block; `writers` are the modules of attention and MLP that write to the residual stream, if known."""
    attention, mlp, reason = parts
    mlp_or_reason = mlp[0] if mlp and not reason else reason
    config = model.config.get_text_config()
    if (call := run.attention_call) is not None:
        heads, head_dim = int(call.query.shape[1]), int(call.query.shape[3])
        key_heads, value_dim = int(call.key.shape[1]), int(call.value.shape[3])
    else:
        heads = int(config.num_attention_heads)
        key_heads = int(getattr(config, "num_key_value_heads", None) or heads)
        size = getattr(layer.attention, "head_dim", None) or getattr(layer.attention, "head_size", None)
        head_dim = value_dim = int(size or getattr(config, "head_dim", None) or config.hidden_size // heads)
    return Block(
        layer=layer.index,
        module=layer.block,
        attention=writers[0] if writers else attention[0],
        out=attention[1],
        heads=heads,
        key_heads=key_heads,
        head_dim=head_dim,
        value_dim=value_dim,
        width=_hidden_size(model),
        mlp_or_reason=writers[1] if writers else mlp_or_reason,
        attention_core=layer.attention,
    )
