"""Record every attention call of a model without changing its code.

A private name is registered with transformers' attention interface, and also with its mask interface: without a mask
function there would be no mask, which is wrong for sliding windows and left padding. Both functions delegate to the
model's previous implementation (the sdpa kernel, or an eager function with attention sinks and soft-capping), so
recording does not change outputs.
"""

from __future__ import annotations

import inspect
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boundpaper.errors import ModelError
from keyquery.models import libraries

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from transformers import PreTrainedModel

NAME = "recorded_attention"
_SOFTMAX = re.compile("[sS]oftmax|dot_product|flash|attention_interface")
Recorder = Callable[["Call"], "Call | None"]
Observer = Callable[["Call", "Tensor"], None]


@dataclass(frozen=True)
class Call:
    """One call of the attention function, as the kernel receives it.

    Parameters
    ----------
    module : Module
        The calling attention module.
    layer : int or None
        Layer index of the module; None if it has none (vision towers).
    query, key, value : Tensor
        Shapes (B, H_q, T, d), (B, H_kv, S, d), (B, H_kv, S, d_v), after rotary embedding and any q/k norm; keys are not
        repeated for grouped-query attention, and S > T under a key cache or in cross-attention.
    mask : Tensor or None
        Boolean (True: visible) for sdpa, additive for eager; None for a plain causal mask.
    options : Mapping
        The remaining keyword arguments: `scaling`, `sliding_window`, `position_ids`, `softcap`, `s_aux`, ...
    """

    module: Module
    layer: int | None
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    options: Mapping[str, Any]

    @property
    def cross(self) -> bool:
        """Whether the keys come from another sequence, such as an image."""
        is_cross = getattr(self.module, "is_cross_attention", False)
        return bool(is_cross) or "CrossAttention" in type(self.module).__name__

    @property
    def scaling(self) -> float:
        """Factor on q.k before the softmax: the module's own, which is not always d^-1/2."""
        factor = self.options.get("scaling")
        return float(self.query.shape[-1] ** -0.5 if factor is None else factor)

    @property
    def window(self) -> int | None:
        """The sliding window in tokens; None if the layer sees everything before it."""
        size = self.options.get("sliding_window")
        return None if size is None else int(size)

    def positions(self) -> tuple[Tensor, Tensor]:
        """Positions of queries and keys, shapes (B or 1, T) and (B or 1, S), int64.

        Query positions are the model's position ids if it passes them on, else the last T of S. With a key cache, the
        last key belongs to the last query's token, so keys count back from it, even if a window dropped old keys;
        left padding is negative. Undefined for cross-attention.
        """
        torch = libraries.torch
        tokens, keys = self.query.shape[2], self.key.shape[2]
        device = self.query.device
        ids = self.options.get("position_ids")
        if ids is None or ids.ndim != 2 or ids.shape[-1] != tokens:
            queries = torch.arange(keys - tokens, keys, device=device)[None]
        else:
            queries = ids.to(device)
        if keys == tokens:
            return queries, queries
        return queries, queries[:, -1:] + torch.arange(1 - keys, 1, device=device)[None]


_recorder: ContextVar[Recorder | None] = ContextVar("attention_recorder", default=None)
_observer: ContextVar[Observer | None] = ContextVar("attention_observer", default=None)
_lock = threading.RLock()
_users = 0
_kernels: dict[int, tuple[object, str]] = {}  # id of a configuration -> (configuration, previous implementation)


def positions_of(attention_mask: Tensor) -> Tensor:
    """Return position ids that start at 0 with each row's first real token, as left padding requires.

    `attention_mask` (B, T) is 1 for tokens and 0 for padding.
    """
    return (attention_mask.long().cumsum(-1) - 1).clamp(min=0)


@contextmanager
def recording(model: PreTrainedModel, recorder: Recorder, observer: Observer | None = None) -> Iterator[None]:
    """Call `recorder` with every attention call of `model` in this context (thread or task).

    If a recorder returns a call (an intervention), the kernel runs on this call's query, key, value and mask. An
    observer is called after the kernel, with the call and the output (B, T, H, d_v).

    The model and the registries of transformers are restored at the end of the block, even after an error. Raises
    ModelError if the architecture computes attention in its own code.
    """
    configs = _attention_configs(model)
    kernels = {key: config._attn_implementation for key, config in configs.items()}
    if any(name == NAME for name in kernels.values()):
        raise ModelError("this model is being recorded already; one recording at a time")
    with _register_kernel(list(configs.values())):
        token, watched = _recorder.set(recorder), _observer.set(observer)
        try:
            model.set_attn_implementation(NAME)
            if model.config.get_text_config()._attn_implementation != NAME:
                raise ModelError(unsupported_message(model))
            yield
        finally:
            _recorder.reset(token)
            _observer.reset(watched)
            for key, config in configs.items():
                config._attn_implementation_internal = kernels[key]


@contextmanager
def hide_calls() -> Iterator[None]:
    """Hide attention calls of this context from recorders and observers, for forward passes that inspect a model."""
    token, watched = _recorder.set(None), _observer.set(None)
    try:
        yield
    finally:
        _recorder.reset(token)
        _observer.reset(watched)


def unsupported_message(model: PreTrainedModel) -> str:
    """Return the error message for an architecture that has no attention, or computes it in its own code."""
    kind = getattr(model.config, "model_type", type(model).__name__)
    classes = {type(module) for module in model.modules() if "ttention" in type(module).__name__}
    if not any(map(_has_softmax_over_keys, classes)):
        names = ", ".join(sorted(type_.__name__ for type_ in classes))
        recurrent = f" ({names} is a recurrence, without a softmax over keys)" if classes else ""
        return (
            f"{type(model).__name__} (model type {kind}) computes no attention{recurrent}, so there are no queries and "
            "keys to look at"
        )
    return (
        f"{type(model).__name__} (model type {kind}) computes attention in its own code, not through the attention "
        "interface of transformers, so its queries and keys cannot be captured; models of the Llama, Mistral, Qwen, "
        "Gemma, GPT-NeoX and GPT-OSS families, and most others, can"
    )


def _has_softmax_over_keys(kind: type) -> bool:
    """Return whether a layer class uses a softmax over keys, by its source; True if the source cannot be read."""
    try:
        return _SOFTMAX.search(inspect.getsource(kind)) is not None
    except (OSError, TypeError):
        return True


def _attention_configs(model: PreTrainedModel) -> dict[int, Any]:
    """Return every configuration that chooses an attention function, by identity."""
    configs: dict[int, Any] = {}
    waiting: list[Any] = [module.config for module in model.modules() if hasattr(module, "set_attn_implementation")]
    while waiting:
        config = waiting.pop()
        if id(config) not in configs:
            configs[id(config)] = config
            waiting += [sub for key in config.sub_configs if (sub := getattr(config, key, None)) is not None]
    return configs


@contextmanager
def _register_kernel(configs: list[Any]) -> Iterator[None]:
    """Register the private name in both registries within this block, and restore each configuration afterwards."""
    global _users
    modeling, masking = libraries.need("transformers.modeling_utils"), libraries.need("transformers.masking_utils")
    with _lock:
        modeling.AttentionInterface.register(NAME, _record_and_attend)
        masking.AttentionMaskInterface.register(NAME, _original_mask)
        _users += 1
        for config in configs:
            _kernels[id(config)] = (config, config._attn_implementation or "sdpa")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            for config in configs:
                _kernels.pop(id(config), None)
            if not _users:  # the registries have no public way to forget a name
                modeling.AttentionInterface._global_mapping.pop(NAME, None)
                masking.AttentionMaskInterface._global_mapping.pop(NAME, None)


def _original_kernel(config: object) -> str:
    kernel = _kernels.get(id(config))
    if kernel is None:
        raise ModelError(f"attention of an unknown configuration ({type(config).__name__}) reached the recorder")
    return kernel[1]


def _record_and_attend(
    module: Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, *rest: Any, **options: Any
) -> Any:
    recorder = _recorder.get()
    if recorder is not None:
        layer = getattr(module, "layer_idx", None)
        changed = recorder(Call(module, layer, query, key, value, attention_mask, options))
        if changed is not None:
            query, key, value, attention_mask = changed.query, changed.key, changed.value, changed.mask
    home = sys.modules[type(module).__module__]
    kernel = _original_kernel(module.config)
    if kernel == "eager":
        attend = home.eager_attention_forward
    else:  # a modelling file may have its own table with overrides
        attend = getattr(
            home, "ALL_ATTENTION_FUNCTIONS", libraries.need("transformers.modeling_utils").ALL_ATTENTION_FUNCTIONS
        )[kernel]
    result = attend(module, query, key, value, attention_mask, *rest, **options)
    observer = _observer.get()
    if observer is not None:
        layer = getattr(module, "layer_idx", None)
        observer(Call(module, layer, query, key, value, attention_mask, options), result[0])
    return result


def _original_mask(*rest: Any, **options: Any) -> Any:
    masks = libraries.need("transformers.masking_utils").ALL_MASK_ATTENTION_FUNCTIONS
    return masks[_original_kernel(options.get("config"))](*rest, **options)
