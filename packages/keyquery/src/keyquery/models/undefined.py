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
    """Values in a forward pass are infinite or undefined.

    Code that knows the layer but not the model raises this error; `explain_not_finite` adds what the weights show.
    """


def check_weights(model: PreTrainedModel, name: str) -> None:
    """Raise ModelError if a weight is NaN or infinite, which could go unnoticed if only a few tokens use it.

    The error names the model, as `name`, and the first such weight.
    """
    if fault := _first_not_finite(model):
        raise ModelError(f"{name}: {fault}")


def undefined_message(model: PreTrainedModel, component: str = "the model") -> str:
    """Return a message that names a weight that is not finite, or else says that `component` overflows."""
    torch = libraries.torch
    advice = "give --dtype bf16 or fp32" if model.dtype == torch.float16 else "values overflow in the forward pass"
    overflow = f"{component} computes NaN or infinity from finite weights in {str(model.dtype)[6:]}; {advice}"
    return _first_not_finite(model) or overflow


def _first_not_finite(model: PreTrainedModel) -> str:
    """Return a message about the first weight that is not finite; empty if all are finite."""
    torch = libraries.torch
    advice = "give --dtype bf16 or fp32, or " if model.dtype == torch.float16 else ""
    for module_name, module in model.named_modules():
        for name, weight in module.named_parameters(recurse=False):
            # a meta tensor stands for a weight on disk
            values = module._hf_hook.weights_map[name] if weight.is_meta else weight.detach()
            has_floats = values.is_floating_point() and values.numel() > 0
            if has_floats and not all(bool(extreme.isfinite()) for extreme in torch.aminmax(values)):
                weight_name = f"{module_name}.{name}".lstrip(".")
                return f"its weights hold NaN or infinity (first: {weight_name}); {advice}get the checkpoint again"
    return ""


@contextmanager
def explain_not_finite(model: PreTrainedModel) -> Iterator[None]:
    """In a `with` block, turn NotFinite into a ModelError that explains why values are not finite."""
    try:
        yield
    except NotFinite as error:
        raise ModelError(f"{error}; {undefined_message(model)}") from None
