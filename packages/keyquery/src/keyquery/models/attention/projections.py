"""Recover queries and keys before the rotary embedding.

Each vector is rotated back to position 0 with the rotation read from the model and verified (`rotations`). This is
exact up to rounding for any architecture: separate or joint projections, latent attention, a norm after the rotation.
If a module's output agrees up to rounding, that output, which is exact, is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.architecture import query_scale
from keyquery.models.attention.calls import Call
from keyquery.models.attention.positions import may_rotate
from keyquery.models.attention.rotations import rotations
from keyquery.rotary import Rotary, Rotations

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from transformers import PreTrainedModel

TOLERANCE = 2e-2  # relative to the length: rounding of half precision; differences of other vectors are far larger


class Projections:
    """Rotates queries and keys of attention calls back; `before(call)` returns them.

    `rotates` says whether the model rotates at all; if not, queries and keys are returned unchanged. `turning` maps
    layers to their rotation, or to the reason why it is unknown; `mend` ends the error message.
    """

    def __init__(self, rotates: bool = True, turning: Rotations | None = None, mend: str = "") -> None:
        self._rotates, self._turning, self._mend = rotates, turning or {}, mend
        self._made: dict[tuple[int, str], Tensor] = {}

    def before(self, call: Call) -> tuple[Tensor, Tensor]:
        """Return the queries and keys of a call before rotation, shapes (B, H_q, T, d) and (B, H_kv, T, d).

        Raises ModelError, with the reason, if the layer's rotation is unknown.
        """
        if not self._rotates:
            return call.query, call.key
        owner = id(call.module)
        outputs = [self._made.pop((owner, side), None) for side in ("q", "k")]
        turning = self._turning.get(-1 if call.layer is None else call.layer, "its rotation was not looked at")
        if isinstance(turning, str):
            raise ModelError(
                f"{turning}, so queries and keys before the rotary embedding cannot be computed in layer "
                f"{call.layer}{self._mend}"
            )
        query, key = _rotated_back(call, turning)
        return _exact_match(outputs[0], query), _exact_match(outputs[1], key)


@contextmanager
def projecting(
    model: PreTrainedModel, context: int, mend: str = "; an experiment that reads them needs another model"
) -> Iterator[Projections]:
    """Hook every attention module of `model`; the hooks are removed at the end of the block.

    Without rotation, queries and keys are returned unchanged. `context` is the number of tokens of the texts, on
    which the frequencies of some rotations depend; `mend` ends the error message.
    """
    turns = may_rotate(model)
    projections = Projections(turns, rotations(model, max(2, context)) if turns else None, mend)
    hooks = []
    try:
        for module in model.modules() if turns else ():
            if getattr(module, "layer_idx", None) is None:
                continue
            for side in ("q", "k"):
                names = (f"{side}_norm", f"{side}_layernorm", f"{side}_proj")
                source = next((part for name in names if (part := getattr(module, name, None)) is not None), None)
                if source is not None:
                    hooks.append(source.register_forward_hook(_catch_output(projections, id(module), side)))
        yield projections
    finally:
        for hook in hooks:
            hook.remove()


def _catch_output(projections: Projections, owner: int, side: str) -> Any:
    def hook(module: Module, inputs: Any, output: Tensor) -> None:
        projections._made[owner, side] = output

    return hook


def _exact_match(output: Tensor | None, turned_back: Tensor) -> Tensor:
    """Return a module's output as (B, H, T, d) if it equals `turned_back` up to rounding, else `turned_back`."""
    batch, heads, tokens, dims = turned_back.shape
    if output is None or output.numel() != turned_back.numel():
        return turned_back
    readings = []
    if output.ndim == 3:  # one or more heads, concatenated
        readings.append(output.reshape(batch, tokens, heads, dims).transpose(1, 2))
    if output.shape == (batch, tokens, heads, dims):
        readings.append(output.transpose(1, 2))
    if output.shape == turned_back.shape:
        readings.append(output)
    size = float(turned_back.norm())
    equal = (reading for reading in readings if float((reading.float() - turned_back).norm()) <= TOLERANCE * size)
    return next(equal, turned_back)


def _rotated_back(call: Call, rotary: Rotary) -> tuple[Tensor, Tensor]:
    """Return queries and keys rotated back to position 0, without the rotation's factor and the queries' scale."""
    torch = libraries.torch
    scale = query_scale(call.module)
    positions = call.positions()
    query, key = (
        _at_zero(side.float(), places, rotary) for side, places in zip((call.query, call.key), positions, strict=True)
    )
    if scale is not None:
        scales = torch.from_numpy(scale.at(positions[0].cpu().numpy())).to(query.device)
        query = query / scales[:, None, :, None]
    return query, key


def _at_zero(vectors: Tensor, positions: Tensor, rotary: Rotary) -> Tensor:
    """Return R(-t) v / factor for vectors v (B, H, T, d) at positions t (B or 1, T)."""
    torch = libraries.torch
    if rotary.still:
        return vectors
    frequencies = torch.tensor(rotary.frequencies, dtype=torch.float64)
    angles = positions.cpu().double()[..., None] * frequencies
    cosine, sine = (waves.float().to(vectors.device)[:, None] / rotary.factor for waves in (angles.cos(), angles.sin()))
    rotated = vectors[..., rotary.start : rotary.end]
    if rotary.layout == "half":
        first, second = rotated.chunk(2, dim=-1)
    else:
        first, second = rotated[..., 0::2], rotated[..., 1::2]
    back = first * cosine + second * sine, second * cosine - first * sine
    unrotated = torch.cat(back, dim=-1) if rotary.layout == "half" else torch.stack(back, dim=-1).flatten(-2)
    result: Tensor = torch.cat([vectors[..., : rotary.start], unrotated, vectors[..., rotary.end :]], dim=-1)
    return result
