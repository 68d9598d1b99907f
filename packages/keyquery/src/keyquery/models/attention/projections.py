"""Recover queries and keys before the rotary embedding.

Each vector is rotated back to position 0 with the rotation that `rotations` reads from the model and verifies. This is
exact up to rounding for any architecture: with separate or joint projections, latent attention, or a norm after the
rotation. If the output of a projection or norm agrees up to rounding, that output is used, since it is exact.
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

TOLERANCE = 2e-2  # relative difference that rounding of half precision explains; other vectors differ far more


class Projections:
    """The queries and keys of attention calls before rotation.

    `rotates` says whether the model rotates at all; if not, queries and keys are returned unchanged. `by_layer` maps
    layers to their rotation, or to the reason why it is unknown; `advice` ends the error message.
    """

    def __init__(self, rotates: bool = True, by_layer: Rotations | None = None, advice: str = "") -> None:
        self._rotates, self._by_layer, self._advice = rotates, by_layer or {}, advice
        self._outputs: dict[tuple[int, str], Tensor] = {}  # of projections or norms, by module id and "q" or "k"

    def before(self, call: Call) -> tuple[Tensor, Tensor]:
        """Return the queries and keys of a call before rotation, shapes (B, H_q, T, d) and (B, H_kv, T, d).

        Raises ModelError, with the reason, if the layer's rotation is unknown.
        """
        if not self._rotates:
            return call.query, call.key
        outputs = [self._outputs.pop((id(call.module), site), None) for site in ("q", "k")]
        rotation = self._by_layer.get(-1 if call.layer is None else call.layer, "its rotation was not looked at")
        if isinstance(rotation, str):
            raise ModelError(
                f"{rotation}, so queries and keys before the rotary embedding cannot be computed in layer "
                f"{call.layer}{self._advice}"
            )
        query, key = _rotated_back(call, rotation)
        return _exact_match(outputs[0], query), _exact_match(outputs[1], key)


@contextmanager
def projecting(
    model: PreTrainedModel, context: int, advice: str = "; an experiment that reads them needs another model"
) -> Iterator[Projections]:
    """Yield the `Projections` of `model`, whose attention modules are hooked until the end of the block.

    `context` is the number of tokens of the texts, on which the frequencies of some rotations depend; `advice` ends the
    error message of `Projections.before`.
    """
    rotates = may_rotate(model)
    projections = Projections(rotates, rotations(model, max(2, context)) if rotates else None, advice)
    hooks = []
    try:
        for module in model.modules() if rotates else ():
            if getattr(module, "layer_idx", None) is None:
                continue
            for site in ("q", "k"):
                names = (f"{site}_norm", f"{site}_layernorm", f"{site}_proj")
                source = next((child for name in names if (child := getattr(module, name, None)) is not None), None)
                if source is not None:
                    hooks.append(source.register_forward_hook(_output_recorder(projections, (id(module), site))))
        yield projections
    finally:
        for hook in hooks:
            hook.remove()


def _output_recorder(projections: Projections, key: tuple[int, str]) -> Any:
    def hook(module: Module, inputs: Any, output: Tensor) -> None:
        projections._outputs[key] = output

    return hook


def _exact_match(output: Tensor | None, vectors: Tensor) -> Tensor:
    """Return a module's output as (B, H, T, d) if it equals `vectors` (B, H, T, d) up to rounding, else `vectors`."""
    batch, heads, tokens, dims = vectors.shape
    if output is None or output.numel() != vectors.numel():
        return vectors
    arrangements = []
    if output.ndim == 3:  # one or more heads, concatenated
        arrangements.append(output.reshape(batch, tokens, heads, dims).transpose(1, 2))
    if output.shape == (batch, tokens, heads, dims):
        arrangements.append(output.transpose(1, 2))
    if output.shape == vectors.shape:
        arrangements.append(output)
    for arrangement in arrangements:
        if float((arrangement.float() - vectors).norm()) <= TOLERANCE * float(vectors.norm()):
            return arrangement
    return vectors


def _rotated_back(call: Call, rotary: Rotary) -> tuple[Tensor, Tensor]:
    """Return queries and keys rotated back to position 0, over the rotation's factor; queries also over their scale."""
    scale = query_scale(call.module)
    query_positions, key_positions = call.positions()
    query = _at_zero(call.query.float(), query_positions, rotary)
    if scale is not None:
        scales = libraries.torch.from_numpy(scale.at(query_positions.cpu().numpy())).to(query.device)
        query = query / scales[:, None, :, None]
    return query, _at_zero(call.key.float(), key_positions, rotary)


def _at_zero(vectors: Tensor, positions: Tensor, rotary: Rotary) -> Tensor:
    """Return R(-t) v / factor for vectors v (B, H, T, d) at positions t (B or 1, T)."""
    torch = libraries.torch
    if rotary.is_identity:
        return vectors
    frequencies = torch.tensor(rotary.frequencies, dtype=torch.float64)
    angles = positions.cpu().double()[..., None] * frequencies
    cosine = angles.cos().float().to(vectors.device)[:, None] / rotary.factor
    sine = angles.sin().float().to(vectors.device)[:, None] / rotary.factor
    rotated = vectors[..., rotary.start : rotary.end]
    if rotary.layout == "half":
        first, second = rotated.chunk(2, dim=-1)
    else:
        first, second = rotated[..., 0::2], rotated[..., 1::2]
    pairs = first * cosine + second * sine, second * cosine - first * sine
    unrotated = torch.cat(pairs, dim=-1) if rotary.layout == "half" else torch.stack(pairs, dim=-1).flatten(-2)
    result: Tensor = torch.cat([vectors[..., : rotary.start], unrotated, vectors[..., rotary.end :]], dim=-1)
    return result
