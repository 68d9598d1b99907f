"""Queries and keys before the rotary embedding, from the modules that make them.

Where an attention module has its own query and key projections, their output (after a q/k norm, where there is one) is
caught by a forward hook and is exact. Where one projection makes queries, keys and values together, the rotation is
undone with the architecture's own function and the opposite angle, which is exact up to rounding.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from analysis.models.attention.calls import Call
from analysis.models.attention.positions import rotates
from analysis.models.libraries import need
from artifacts.errors import ModelError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from transformers import PreTrainedModel

TOLERANCE = 2e-2  # relative spread of norms that half precision leaves; a q/k norm after the rotation is far above it


class Projections:
    """What the projections of each attention module gave last; `before(call)` takes it out."""

    def __init__(self, rotates: bool = True, mend: str = "") -> None:
        self._rotates, self._mend = rotates, mend
        self._made: dict[tuple[int, str], Tensor] = {}
        self._angles: dict[int, Any] = {}

    def before(self, call: Call) -> tuple[Tensor, Tensor]:
        """Queries and keys of a call before rotation, shapes (B, H_q, T, d) and (B, H_kv, T, d).

        Raises
        ------
        ModelError
            When the architecture does not show them.
        """
        if not self._rotates:
            return call.query, call.key
        owner = id(call.module)
        query, key = self._made.pop((owner, "q"), None), self._made.pop((owner, "k"), None)
        angles = self._angles.pop(owner, None)
        if query is not None and key is not None:
            return _shaped(query, call.query, call, self._mend), _shaped(key, call.key, call, self._mend)
        rotate = getattr(sys.modules[type(call.module).__module__], "apply_rotary_pos_emb", None)
        if rotate is None or not isinstance(angles, tuple) or not getattr(call.module, "use_rope", True):
            raise ModelError(
                f"{type(call.module).__name__} shows neither its query and key projections nor its rotation, so "
                f"queries and keys before the rotary embedding cannot be had{self._mend}"
            )
        return _unrotated(call, rotate, *angles)


@contextmanager
def projecting(
    model: PreTrainedModel, mend: str = "; an experiment that reads them needs another model"
) -> Iterator[Projections]:
    """Hooks on every attention module of `model`, removed when the block is left.

    Parameters
    ----------
    model : PreTrainedModel
        A model that rotates nothing has its queries and keys before rotation as they are.
    mend : str
        The end of the error where they cannot be had.
    """
    held = Projections(rotates(model), mend)
    hooks = []
    try:
        for module in model.modules():
            if getattr(module, "layer_idx", None) is None:
                continue
            for side in ("q", "k"):
                named = (f"{side}_norm", f"{side}_layernorm", f"{side}_proj")
                source = next((part for name in named if (part := getattr(module, name, None)) is not None), None)
                if source is not None:
                    hooks.append(source.register_forward_hook(_catch(held, id(module), side)))
            if not hasattr(module, "q_proj"):
                hooks.append(module.register_forward_pre_hook(_angles(held, id(module)), with_kwargs=True))
        yield held
    finally:
        for hook in hooks:
            hook.remove()


def _catch(held: Projections, owner: int, side: str) -> Any:
    def hook(module: Module, inputs: Any, output: Tensor) -> None:
        held._made[owner, side] = output

    return hook


def _angles(held: Projections, owner: int) -> Any:
    def hook(module: Module, inputs: Any, options: dict[str, Any]) -> None:
        held._angles[owner] = options.get("position_embeddings")

    return hook


def _shaped(made: Tensor, rotated: Tensor, call: Call, mend: str) -> Tensor:
    """A projection's output as (B, H, T, d); rotation must have left its norms alone."""
    batch, heads, tokens, dims = rotated.shape
    readings = []
    if made.ndim == 3 and made.numel() == rotated.numel():  # heads side by side, be they one or many
        readings.append(made.reshape(batch, tokens, heads, dims).transpose(1, 2))
    if made.shape == (batch, tokens, heads, dims):
        readings.append(made.transpose(1, 2))
    if made.shape == rotated.shape:
        readings.append(made)
    fitting = []
    for reading in readings:
        norms = reading.float().norm(dim=-1)
        ratio = rotated.float().norm(dim=-1) / norms.clamp(min=1e-20)
        # One factor per position is allowed: scaled rotary embeddings (YaRN) and query scales put it there. A single
        # head has no other to agree with, so its factor must be the same at all positions.
        ratio = ratio.where(norms > 0, ratio[norms > 0].median()) if heads == 1 and bool((norms > 0).any()) else ratio
        per_position = ratio.mean(dim=1, keepdim=True) if heads > 1 else ratio.median()
        if bool(((ratio - per_position).abs() <= TOLERANCE * per_position).all()):  # vectors of zeros fit too
            fitting.append(reading)
    if len(fitting) == 1:
        return fitting[0]
    what = (
        "has as many tokens as heads, which cannot be told apart"
        if fitting
        else "is not what enters the rotary embedding"
    )
    raise ModelError(
        f"{type(call.module).__name__}: the output of its projections {what}, so queries and keys before the rotary "
        f"embedding cannot be had{mend}"
    )


def _unrotated(call: Call, rotate: Any, cosine: Tensor, sine: Tensor) -> tuple[Tensor, Tensor]:
    torch = need("torch")
    query, key = call.query.float(), call.key.float()
    cosine, sine = cosine.float(), sine.float()
    query, key = rotate(query, key, cosine, -sine)
    size = (cosine[0, 0] ** 2 + sine[0, 0] ** 2).mean()  # 1, or the square of YaRN's factor
    turned = torch.arange(query.shape[-1], device=query.device) < cosine.shape[-1]
    scale = torch.where(turned, 1 / size, torch.ones_like(size))
    return query * scale, key * scale
