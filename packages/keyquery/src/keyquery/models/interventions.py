"""Change the output of a part of the model while a block of code runs, and always undo the change.

    with applied(model, [Intervention("mlp", "zero", layers=(1,), positions=(0,))]):
        ...

Several interventions on one part act in the given order. `applied` counts positions from the start of each forward
pass. A pass with a filled key cache starts later in the text, so `phases` separates the prefill from decode steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.anatomy import Block, blocks
from keyquery.models.attention.calls import Call, recording

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from transformers import PreTrainedModel

Site = Literal["q", "k", "v", "attention", "mlp", "heads"]
Action = Literal["zero", "mean", "scale"]
SITES = ("q", "k", "v", "attention", "mlp", "heads")
ACTIONS = ("zero", "mean", "scale")
Phase = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Intervention:
    """A change of the output of one part of the model.

    Parameters
    ----------
    site : {"q", "k", "v", "attention", "mlp", "heads"}
        The part: the projection of queries, keys or values; the attention, with its output projection; the MLP; or
        "heads", the output of each head before the output projection.
    action : {"zero", "mean", "scale"}
        Fill with zero, fill with the mean over the sequence, or multiply by `factor`.
    layers : tuple of int or None
        Indices of the blocks; if None, all blocks.
    positions : tuple of int or None
        Positions in the forward pass; if None, all positions. A mean is always over all positions.
    dims : mapping of int to array, or None
        Boolean masks of the dimensions to change, by layer; their shape is (D,) for attention and mlp, else (H, d),
        with key heads for k and v. A layer without a mask is unchanged; if None, all dimensions change.
    factor : float
        Factor for "scale".
    where : {"pre", "post"}
        For q and k: before or after the rotary embedding.

    Examples
    --------
    >>> import keyquery as kq
    >>> kq.Intervention("mlp", "scale", layers=(0, 1), positions=(0,), factor=0.5).touches(2)
    False
    """

    site: Site
    action: Action
    layers: tuple[int, ...] | None = None
    positions: tuple[int, ...] | None = None
    dims: dict[int, NDArray[np.bool_]] | None = None
    factor: float = 1.0
    where: Literal["pre", "post"] = "pre"

    def record(self) -> dict[str, object]:
        """Return the intervention's fields as JSON values; a mask is a list of the dimensions that it selects."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        if self.dims is not None:
            fields["dims"] = {str(layer): np.flatnonzero(mask).tolist() for layer, mask in sorted(self.dims.items())}
        return fields

    def touches(self, layer: int) -> bool:
        """Return whether the intervention acts in a layer.

        Parameters
        ----------
        layer : int
            Index of the layer, from 0.
        """
        if self.dims is not None and not bool(np.any(self.dims.get(layer, False))):
            return False
        return self.layers is None or layer in self.layers


@contextmanager
def applied(model: PreTrainedModel, interventions: Sequence[Intervention]) -> Iterator[None]:
    """In a `with` block, apply interventions in every forward pass of `model`.

    Raises ModelError if a layer does not exist, a mask has another shape, or no module outputs the part alone.
    """
    model_blocks = blocks(model)
    _require_valid(model_blocks, interventions)
    with ExitStack() as stack:
        after_rotation = [intervention for intervention in interventions if intervention.where == "post"]
        if after_rotation:
            stack.enter_context(recording(model, _call_rewriter(after_rotation)))
        for intervention in interventions:
            for block in model_blocks:
                if intervention.where == "pre" and intervention.touches(block.layer):
                    for hook in _add_hooks(block, intervention):
                        stack.callback(hook.remove)
        yield


def phases(model: PreTrainedModel, interventions: Sequence[Intervention], *, decode: bool) -> tuple[Phase, Phase]:
    """Return two functions that make context managers: one for the prefill, one for each decode step of a generation.

    All interventions act in the prefill; with `decode`, those without positions also act in decode steps. Raises
    ModelError if a mean over the sequence would act in decode steps, where the sequence is one token.
    """
    in_decode = [change for change in interventions if change.positions is None] if decode else []
    if any(change.action == "mean" for change in in_decode):
        raise ModelError("a mean over the sequence has no meaning in decode steps of one token; give decode=False")

    def phase(changes: Sequence[Intervention]) -> Phase:
        return partial(applied, model, changes) if changes else nullcontext

    return phase(interventions), phase(in_decode)


def _require_valid(model_blocks: Sequence[Block], interventions: Sequence[Intervention]) -> None:
    by_layer, last = {block.layer: block for block in model_blocks}, model_blocks[-1].layer
    names = f"0 to {last}" if len(by_layer) == last + 1 else ", ".join(map(str, by_layer))
    for change in interventions:
        if change.site not in SITES:
            raise ModelError(f"no site {change.site!r} to intervene on; sites are {', '.join(SITES)}")
        if change.action not in ACTIONS:
            raise ModelError(f"no action {change.action!r} at a site; actions are {', '.join(ACTIONS)}")
        unknown_layers = [layer for layer in (*(change.layers or ()), *(change.dims or ())) if layer not in by_layer]
        if unknown_layers:
            raise ModelError(f"no layer {unknown_layers[0]} with self-attention and MLP; such layers are {names}")
        if any(position < 0 for position in change.positions or ()):
            raise ModelError("positions count from 0; give no negative ones")
        if change.where == "post" and change.site not in ("q", "k"):
            raise ModelError(f"'post' is for 'q' and 'k', not {change.site!r}: only queries and keys are rotated")
        for layer, mask in (change.dims or {}).items():
            shape = _mask_shape(by_layer[layer], change.site)
            if mask.shape != shape:
                raise ModelError(f"layer {layer}: the mask has shape {mask.shape}, but '{change.site}' has {shape}")


def _mask_shape(block: Block, site: str) -> tuple[int, ...]:
    if site in ("attention", "mlp"):
        return (block.width,)
    heads = block.heads if site in ("q", "heads") else block.key_heads
    return heads, block.head_dim if site in ("q", "k") else block.value_dim


def _add_hooks(block: Block, change: Intervention) -> list[Any]:
    """Add the hooks of an intervention to a block, and return them."""
    mask = _flat_mask(change, block.layer)
    stream_shape: list[int] = []  # of the residual stream (B, T, D), which some parts return as (B T, D)

    def changed(tensor: Tensor, heads_first: bool = False) -> Tensor:
        if tensor.ndim == 2:
            return changed_tensor(tensor.reshape(*stream_shape[:2], -1), change, mask).reshape(tensor.shape)
        tokens_first = tensor.transpose(1, 2) if heads_first else tensor
        flat = tokens_first.flatten(2)  # a norm over single heads gives (B, T, H, d)
        new = changed_tensor(flat, change, mask).reshape(tokens_first.shape)
        return new.transpose(1, 2) if heads_first else new

    def note_stream_shape(module: Any, inputs: Any, options: dict[str, Any]) -> None:
        stream_shape[:] = (inputs[0] if inputs else options["hidden_states"]).shape

    def change_output(module: Any, inputs: Any, output: Any) -> Any:
        if isinstance(output, tuple):
            return changed(output[0]), *output[1:]
        return changed(output, _heads_first(inputs[0] if inputs else output, block, change.site))

    def change_input(module: Any, inputs: Any) -> Any:
        return (changed(inputs[0]), *inputs[1:])

    if change.site == "heads":
        hook = block.out.register_forward_pre_hook(change_input)
    else:
        hook = part_of(block, change.site).register_forward_hook(change_output)
    return [hook, block.module.register_forward_pre_hook(note_stream_shape, with_kwargs=True)]


def _flat_mask(change: Intervention, layer: int) -> NDArray[np.bool_] | None:
    """Return the mask of dimensions (D,) in a layer; None selects all dimensions."""
    mask = (change.dims or {}).get(layer)
    return None if mask is None else mask.reshape(-1)


def part_of(block: Block, site: str) -> Module:
    """Return the module of a block that outputs a site's vectors; no module outputs those of "heads"."""
    if site == "attention":
        return block.attention
    return block.mlp if site == "mlp" else block.projection(site)


def _heads_first(tensor: Tensor, block: Block, site: str) -> bool:
    """Return whether the shape of a norm's input is (B, H, T, d) rather than (B, T, H, d).

    If T equals H, the memory layout tells: (B, H, T, d) is a transposed tensor.
    """
    if tensor.ndim != 4:
        return False
    heads = _mask_shape(block, site)[0]
    if (tensor.shape[1] == heads) != (tensor.shape[2] == heads):
        return bool(tensor.shape[1] == heads)
    return bool(tensor.stride(1) < tensor.stride(2))


def changed_tensor(tensor: Tensor, change: Intervention, mask: NDArray[np.bool_] | None) -> Tensor:
    """Return a copy of `tensor` (B, T, D), changed at the intervention's positions and in the dimensions of `mask`."""
    torch = libraries.torch
    if change.action == "mean":
        new = tensor.float().mean(dim=1, keepdim=True).to(tensor.dtype).expand_as(tensor)
    else:
        new = tensor * change.factor if change.action == "scale" else torch.zeros_like(tensor)  # 0 for NaN too
    selected = torch.ones(tensor.shape[1:], dtype=torch.bool, device=tensor.device)
    if mask is not None:
        selected &= torch.as_tensor(mask, device=tensor.device)[None]
    if change.positions is not None:
        rows = torch.zeros(tensor.shape[1], dtype=torch.bool, device=tensor.device)
        rows[[position for position in change.positions if position < tensor.shape[1]]] = True
        selected &= rows[:, None]
    result: Tensor = torch.where(selected[None], new, tensor)
    return result


def _call_rewriter(interventions: Sequence[Intervention]) -> Callable[[Call], Call | None]:
    """Return a function that applies interventions to the rotated queries and keys of an attention call."""

    def rewrite(call: Call) -> Call | None:
        tensors = {"q": call.query, "k": call.key}
        for change in interventions:
            if call.layer is None or call.cross or not change.touches(call.layer):
                continue
            tensor = tensors[change.site].transpose(1, 2)  # (B, T, H, d)
            flat = changed_tensor(tensor.flatten(2), change, _flat_mask(change, call.layer))
            tensors[change.site] = flat.reshape(tensor.shape).transpose(1, 2)
        return dataclasses.replace(call, query=tensors["q"], key=tensors["k"])

    return rewrite


def knockout(model: PreTrainedModel, blocked: NDArray[np.bool_], layers: tuple[int, ...] | None = None) -> Any:
    """Return a context manager in which the queries of some tokens cannot attend to some keys.

    `blocked`, of shape (T, T) or (B, T, T), is True where the query (row) must not attend to the key (column). Scores
    are masked before the softmax, which then renormalises the weights. `layers` are indices of blocks (None: all).
    Raises ModelError if a query would be left without any key.
    """
    torch = libraries.torch
    blocked_pairs = blocked if blocked.ndim == 3 else blocked[None]
    causal = np.tril(np.ones(blocked_pairs.shape[1:], dtype=bool))
    if not (causal & ~blocked_pairs).any(axis=2).all():
        raise ModelError("a token would have no token to attend to; let each token attend to the first token")

    def rewrite(call: Call) -> Call | None:
        if call.layer is None or call.cross or (layers is not None and call.layer not in layers):
            return None
        tokens, keys = call.query.shape[2], call.key.shape[2]
        if (tokens, keys) != blocked_pairs.shape[1:]:
            raise ModelError(
                f"the knockout is for {blocked_pairs.shape[1]} tokens, but a forward pass has {tokens} queries and "
                f"{keys} keys; use no key cache"
            )
        knocked_out = torch.as_tensor(blocked_pairs, device=call.query.device)[:, None]
        if call.mask is not None and call.mask.dtype == torch.bool:
            return dataclasses.replace(call, mask=call.mask[..., :keys] & ~knocked_out)
        lowest = torch.finfo(call.query.dtype).min
        if call.mask is not None:
            mask = call.mask[..., :keys]
        else:
            future = torch.as_tensor(~causal, device=call.query.device)[None, None]
            mask = torch.zeros((), dtype=call.query.dtype, device=call.query.device).masked_fill(future, lowest)
        return dataclasses.replace(call, mask=mask.masked_fill(knocked_out, lowest))

    return recording(model, rewrite)
