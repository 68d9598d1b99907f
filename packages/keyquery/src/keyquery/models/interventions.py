"""Intervene: change the output of a part of the model while a block of code runs, and always undo the change.

    with applied(model, [Intervention("mlp", "zero", layers=(1,), positions=(0,))]):
        ...

Several interventions on one part act in the given order. Hooks do not handle key caches; `phases` determines what
acts in the prefill and what in decode steps, since position 0 is only in the prefill.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
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
        Projections of queries, keys and values; output of the attention (after its output projection) or of the MLP;
        "heads" is each head's output before the output projection.
    action : {"zero", "mean", "scale"}
        Fill with zero, fill with the mean over the sequence, or multiply by `factor`.
    layers : tuple of int or None
        Indices of blocks; all if None.
    positions : tuple of int or None
        Positions in the forward pass; all if None. The mean is always over all positions.
    dims : mapping of int to array, or None
        By layer, a boolean mask of dimensions to change: (H, d) for q, k, v and heads (key heads for k and v), (D,)
        for attention and mlp. A layer without an entry is unchanged; if None, all dimensions change.
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
        """Return the intervention as JSON values, for a cache's key."""
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
    """Apply interventions in every forward pass of `model` in this block.

    Raises ModelError if a layer does not exist, a mask does not fit, or the model does not expose the part.
    """
    parts = blocks(model)
    _require_known(parts, interventions)
    with ExitStack() as stack:
        late = [change for change in interventions if change.where == "post" and change.site in ("q", "k")]
        if late:
            stack.enter_context(recording(model, _call_rewriter(late)))
        for intervention in interventions:
            if intervention in late:
                continue
            for block in parts:
                if intervention.touches(block.layer):
                    for hook in _add_hooks(block, intervention):
                        stack.callback(hook.remove)
        yield


def phases(model: PreTrainedModel, interventions: Sequence[Intervention], *, decode: bool) -> tuple[Phase, Phase]:
    """Return context managers for the prefill and for each decode step of a generation.

    With `decode`, interventions also act in decode steps, except those on given positions. Raises ModelError if a
    mean over the sequence is requested in decode steps, where the sequence is one token.
    """
    lasting = [intervention for intervention in interventions if intervention.positions is None] if decode else []
    if any(change.action == "mean" for change in lasting):
        raise ModelError(
            "a mean over the sequence has no meaning in decode steps of one token; let it act in the prefill"
        )

    def prefill() -> AbstractContextManager[None]:
        return applied(model, interventions) if interventions else nullcontext()

    def step() -> AbstractContextManager[None]:
        return applied(model, lasting) if lasting else nullcontext()

    return prefill, step


def _require_known(parts: Sequence[Block], interventions: Sequence[Intervention]) -> None:
    by_layer = {block.layer: block for block in parts}
    names = f"0 to {parts[-1].layer}" if len(by_layer) == parts[-1].layer + 1 else ", ".join(map(str, by_layer))
    for change in interventions:
        if change.site not in SITES:
            raise ModelError(f"no site {change.site!r} to intervene on; sites are {', '.join(SITES)}")
        if change.action not in ACTIONS:
            raise ModelError(f"no action {change.action!r} at a site; actions are {', '.join(ACTIONS)}")
        wrong = [layer for layer in (*(change.layers or ()), *(change.dims or ())) if layer not in by_layer]
        if wrong:
            raise ModelError(f"no layer {wrong[0]} with self-attention and MLP; such layers are {names}")
        if any(place < 0 for place in change.positions or ()):
            raise ModelError("positions count from 0; negative ones are not supported")
        if change.where == "post" and change.site not in ("q", "k"):
            raise ModelError("'post' is for queries and keys: only these are rotated")
        for layer, mask in (change.dims or {}).items():
            shape = _mask_shape(by_layer[layer], change.site)
            if mask.shape != shape:
                raise ModelError(f"layer {layer}: the mask has shape {mask.shape}, but '{change.site}' has {shape}")


def _mask_shape(block: Block, site: str) -> tuple[int, ...]:
    if site in ("attention", "mlp"):
        return (block.width,)
    return (
        block.heads if site in ("q", "heads") else block.key_heads,
        block.head_dim if site in ("q", "k") else block.value_dim,
    )


def _add_hooks(block: Block, change: Intervention) -> list[Any]:
    """Add the hooks of an intervention to a block, and return them."""
    mask = (change.dims or {}).get(block.layer)
    flat = mask.reshape(-1) if mask is not None else None
    shape: list[Any] = []  # the residual stream (B, T, D), which some parts return as (B T, D)

    def inner(tensor: Tensor, heads_first: bool = False) -> Tensor:
        if tensor.ndim == 2:
            return changed_tensor(tensor.reshape(*shape[-1][:2], -1), change, flat).reshape(tensor.shape)
        tokens_first = tensor.transpose(1, 2) if heads_first else tensor
        shaped = tokens_first.flatten(2)  # a norm over single heads gives (B, T, H, d)
        new = changed_tensor(shaped, change, flat).reshape(tokens_first.shape)
        return new.transpose(1, 2) if heads_first else new

    def entering(module: Any, inputs: Any, options: dict[str, Any]) -> None:
        shape[:] = [(inputs[0] if inputs else options["hidden_states"]).shape]

    def after(module: Any, inputs: Any, output: Any) -> Any:
        if isinstance(output, tuple):
            return inner(output[0]), *output[1:]
        return inner(output, _heads_first(inputs[0] if inputs else output, block, change.site))

    def before(module: Any, inputs: Any) -> Any:
        return (inner(inputs[0]), *inputs[1:])

    if change.site == "heads":
        hook = block.out.register_forward_pre_hook(before)
    else:
        hook = part_of(block, change.site).register_forward_hook(after)
    return [hook, block.module.register_forward_pre_hook(entering, with_kwargs=True)]


def part_of(block: Block, site: str) -> Module:
    """Return the module of a block whose output is the given site ("heads" is the input of `block.out`)."""
    if site == "attention":
        return block.attention
    return block.mlp if site == "mlp" else block.projection(site)


def _heads_first(tensor: Tensor, block: Block, site: str) -> bool:
    """Return whether the input of a norm is (B, H, T, d), not (B, T, H, d).

    If T equals H, the shape is ambiguous, but the memory layout of a transposed tensor still shows it.
    """
    if tensor.ndim != 4:
        return False
    heads = _mask_shape(block, site)[0]
    if (tensor.shape[1] == heads) != (tensor.shape[2] == heads):
        return bool(tensor.shape[1] == heads)
    return bool(tensor.stride(1) < tensor.stride(2))


def changed_tensor(tensor: Tensor, change: Intervention, mask: NDArray[np.bool_] | None) -> Tensor:
    """Apply the intervention to a copy of `tensor` (B, T, D), where `mask` (D,) and its positions allow."""
    torch = libraries.torch
    if change.action == "mean":
        new = tensor.float().mean(dim=1, keepdim=True).to(tensor.dtype).expand_as(tensor)
    else:
        new = tensor * change.factor if change.action == "scale" else torch.zeros_like(tensor)  # also after overflow
    selected = torch.ones(tensor.shape[1:], dtype=torch.bool, device=tensor.device)
    if mask is not None:
        selected &= torch.as_tensor(mask, device=tensor.device)[None]
    if change.positions is not None:
        rows = torch.zeros(tensor.shape[1], dtype=torch.bool, device=tensor.device)
        rows[[place for place in change.positions if place < tensor.shape[1]]] = True
        selected &= rows[:, None]
    result: Tensor = torch.where(selected[None], new, tensor)
    return result


def _call_rewriter(late: Sequence[Intervention]) -> Callable[[Call], Call | None]:
    def rewrite(call: Call) -> Call | None:
        tensors = {"q": call.query, "k": call.key}
        for change in late:
            if call.layer is None or call.cross or not change.touches(call.layer):
                continue
            tensor = tensors[change.site].transpose(1, 2)  # (B, T, H, d)
            mask = (change.dims or {}).get(call.layer)
            flat = changed_tensor(tensor.flatten(2), change, mask.reshape(-1) if mask is not None else None)
            tensors[change.site] = flat.reshape(tensor.shape).transpose(1, 2)
        return dataclasses.replace(call, query=tensors["q"], key=tensors["k"])

    return rewrite


def knockout(model: PreTrainedModel, blocked: NDArray[np.bool_], layers: tuple[int, ...] | None = None) -> Any:
    """Return a context manager in which some tokens cannot attend to others: attention knockout before the softmax.

    `blocked` is True where the query (row) must not attend to the key (column). The softmax renormalises rows.
    `layers` are indices of blocks (None: all). Raises ModelError if a query would be left without any key.
    """
    torch = libraries.torch
    hidden = blocked if blocked.ndim == 3 else blocked[None]
    causal = np.tril(np.ones(hidden.shape[1:], dtype=bool))
    if not (causal & ~hidden).any(axis=2).all():
        raise ModelError("a token would be left without any token to attend to; never block a token from the first one")

    def rewrite(call: Call) -> Call | None:
        if call.layer is None or call.cross or (layers is not None and call.layer not in layers):
            return None
        tokens, keys = call.query.shape[2], call.key.shape[2]
        if (tokens, keys) != hidden.shape[1:]:
            raise ModelError(
                f"a knockout of {hidden.shape[1]} tokens got a forward pass of {tokens} on {keys}; use no key cache"
            )
        block = torch.as_tensor(hidden, device=call.query.device)[:, None]
        visible = torch.as_tensor(causal, device=call.query.device)[None, None]
        if call.mask is not None and call.mask.dtype == torch.bool:
            return dataclasses.replace(call, mask=call.mask[..., :keys] & ~block)
        lowest = torch.finfo(call.query.dtype).min
        start = torch.zeros((), dtype=call.query.dtype, device=call.query.device)
        base = call.mask[..., :keys] if call.mask is not None else start.masked_fill(~visible, lowest)
        return dataclasses.replace(call, mask=base.masked_fill(block, lowest))

    return recording(model, rewrite)
