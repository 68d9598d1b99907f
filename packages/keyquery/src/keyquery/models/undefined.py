"""Explain why values in a model are infinite or undefined, and how to fix it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from boundpaper.errors import ModelError
from keyquery.models import libraries

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class NotFinite(ModelError):
    """Values in a forward pass are infinite or undefined; raised where the layer is known but not the model."""


def check_weights(model: PreTrainedModel, name: str) -> None:
    """Raise ModelError if a weight is not finite: few tokens may use it, so wrong answers could go unnoticed.

    The error calls the model `name`, and names the first such weight.
    """
    if wrong := _first_not_finite(model):
        raise ModelError(f"{name}: {wrong}")


def undefined_message(model: PreTrainedModel, place: str = "the model") -> str:
    """Return a message that names weights that are not finite, or says that `place` overflows with finite weights."""
    torch = libraries.torch
    mend = "give --dtype bf16 or fp32" if model.dtype == torch.float16 else "values overflow in the forward pass"
    computed = f"{place} computes NaN or infinity from finite weights in {str(model.dtype)[6:]}; {mend}"
    return _first_not_finite(model) or computed


def _first_not_finite(model: PreTrainedModel) -> str:
    """Describe the first weight that is not finite; empty if all are finite."""
    torch = libraries.torch
    mend = "give --dtype bf16 or fp32, or " if model.dtype == torch.float16 else ""
    for place, module in model.named_modules():
        for name, weight in module.named_parameters(recurse=False):
            values = module._hf_hook.weights_map[name] if weight.is_meta else weight.detach()  # on disk
            numbers = values.is_floating_point() and values.numel() > 0
            if numbers and not all(bool(end.isfinite()) for end in torch.aminmax(values)):
                which = f"{place}.{name}".lstrip(".")
                return f"its weights hold NaN or infinity (first: {which}); {mend}get the checkpoint again, or mend it"
    return ""


@contextmanager
def explain_not_finite(model: PreTrainedModel) -> Iterator[None]:
    """In this block, turn NotFinite into a ModelError that explains why values are not finite."""
    try:
        yield
    except NotFinite as error:
        raise ModelError(f"{error}; {undefined_message(model)}") from None
