"""Measure norms of query and key dimensions over a text, and of their deviations from the mean; average over texts."""

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
    """Norms of the dimensions of queries and keys in every layer, averaged over texts.

    Both map "q" and "k" to a mapping of layers to arrays of shape (H, d), float64; keys have one row per key head.

    Parameters
    ----------
    norms : mapping
        L2 norm of a dimension over the sequence: the norm of what filling it with zero removes.
    spreads : mapping
        L2 norm of its deviation from the mean over the sequence: the norm of what filling it with the mean removes.
    """

    norms: dict[str, dict[int, NDArray[np.float64]]]
    spreads: dict[str, dict[int, NDArray[np.float64]]]


def dimensions(model: PreTrainedModel, texts: Sequence[Tensor], where: Literal["pre", "post"] = "pre") -> Dimensions:
    """Return the norms of the dimensions of queries and keys, averaged over texts, from one forward pass for each text.

    Sums over a text are in float32, means over texts in float64. `texts` are token ids (1, T); `where` says whether to
    measure before ("pre") or after ("post") the rotary embedding. Raises DataError if there are no texts, and
    ModelError if queries and keys cannot be read, before the rotation for "pre".
    """
    if not texts:
        raise DataError("0 texts to find dimensions on; give --texts 1 or more")
    sums: dict[str, dict[tuple[str, int], Any]] = {"norms": {}, "spreads": {}}
    with ExitStack() as stack:
        projections = None
        if where == "pre":
            projections = stack.enter_context(projecting(model, max(text.shape[1] for text in texts)))

        def add_norms(call: Call) -> None:
            if call.layer is None or call.cross:
                return
            pair = (call.query, call.key) if projections is None else projections.before(call)
            for side, vectors in zip(SIDES, pair, strict=True):
                single = vectors[0].float()  # (H, T, d)
                centred = single - single.mean(dim=1, keepdim=True)
                for kind, tensor in (("norms", single), ("spreads", centred)):
                    norms = tensor.square().sum(dim=1).sqrt().cpu().double().numpy()
                    sums[kind][side, call.layer] = sums[kind].get((side, call.layer), 0.0) + norms

        stack.enter_context(recording(model, add_norms))
        for text in texts:
            run_forward(model, text)
    if not sums["norms"]:
        raise ModelError(unsupported_message(model))
    means: dict[str, dict[str, dict[int, Any]]] = {kind: {side: {} for side in SIDES} for kind in sums}
    for kind, by_side_and_layer in sums.items():
        for (side, layer), total in sorted(by_side_and_layer.items()):
            means[kind][side][layer] = total / len(texts)
    return Dimensions(**means)
