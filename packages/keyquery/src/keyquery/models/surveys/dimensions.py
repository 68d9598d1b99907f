"""Measure the norm of each dimension of queries and keys over texts, and its norm around the mean."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundpaper.errors import DataError, ModelError
from keyquery.models.architecture import run_forward
from keyquery.models.attention.calls import Call, recording, unsupported_message
from keyquery.models.attention.projections import projecting

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

SIDES = ("q", "k")


@dataclass(frozen=True)
class Dimensions:
    """Sizes of the dimensions of queries and keys in every layer, averaged over texts.

    Parameters
    ----------
    norms : mapping of side ("q", "k") to mapping of layer to array, shape (H, d), float64
        L2 norm over the sequence, M[h, d]. Keys have one row per key head.
    spreads : the same
        L2 norm over the sequence of the deviation from the sequence mean: what filling with the mean removes, as
        `norms` is what filling with zero removes.
    """

    norms: dict[str, dict[int, NDArray[np.float64]]]
    spreads: dict[str, dict[int, NDArray[np.float64]]]


def dimensions(model: PreTrainedModel, texts: Sequence[Tensor], where: Literal["pre", "post"] = "pre") -> Dimensions:
    """Measure dimensions over texts, one forward pass each; sums in float32, means over texts in float64.

    `texts` are token ids (1, T); `where` is before the rotary embedding or after it. Raises DataError if there are no
    texts; ModelError if the architecture does not expose queries and keys before the rotation.
    """
    if not texts:
        raise DataError("0 texts to find dimensions on; give --texts 1 or more")
    sums: dict[tuple[str, str, int], Any] = {}
    with ExitStack() as stack:
        sides = stack.enter_context(projecting(model, max(text.shape[1] for text in texts))) if where == "pre" else None

        def see(call: Call) -> None:
            if call.layer is None or call.cross:
                return
            pair = (call.query, call.key) if sides is None else sides.before(call)
            for side, tensors in zip(SIDES, pair, strict=True):
                exact = tensors[0].float()  # (H, T, d)
                centred = exact - exact.mean(dim=1, keepdim=True)
                for kind, tensor in (("norms", exact), ("spreads", centred)):
                    norms = tensor.square().sum(dim=1).sqrt().cpu().double().numpy()
                    place = (kind, side, call.layer)
                    sums[place] = sums.get(place, 0.0) + norms

        stack.enter_context(recording(model, see))
        for text in texts:
            run_forward(model, text)
    if not sums:
        raise ModelError(unsupported_message(model))
    gathered: dict[str, dict[str, dict[int, Any]]] = {
        kind: {side: {} for side in SIDES} for kind in ("norms", "spreads")
    }
    for (kind, side, layer), total in sorted(sums.items()):
        gathered[kind][side][layer] = total / len(texts)
    return Dimensions(gathered["norms"], gathered["spreads"])
