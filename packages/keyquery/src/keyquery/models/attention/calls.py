"""Record every attention call of a model without changing its code.

The function `_record_and_attend` is registered with transformers' attention interface under a private name. A mask
function is registered under the same name, since without it there would be no mask for sliding windows and left
padding. Both functions call the model's previous implementation (the sdpa kernel, or an eager function with attention
sinks and soft-capping), so recording does not change outputs.
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
_SOFTMAX = re.compile("[sS]oftmax|dot_product|flash|attention_interface")  # words of code with a softmax over keys
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
        Shapes (B, H_q, T, d), (B, H_kv, S, d), (B, H_kv, S, d_v), after the rotary embedding and norms of queries and
        keys. Keys are not repeated for grouped-query attention. S differs from T with a key cache or cross-attention.
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
        """Factor on q.k before the softmax: the one that the module passes, or else d^-1/2."""
        factor = self.options.get("scaling")
        return float(self.query.shape[-1] ** -0.5 if factor is None else factor)

    @property
    def window(self) -> int | None:
        """The sliding window in tokens; None if queries see all tokens before them."""
        size = self.options.get("sliding_window")
        return None if size is None else int(size)

    def positions(self) -> tuple[Tensor, Tensor]:
        """Return the positions of queries and keys, int64, of shapes (B or 1, T) and (B or 1, S).

        Query positions are the position ids if the module passes them on, or else the last T of S. With a key cache,
        keys count back from the last key, which belongs to the last query's token, even if a window dropped old keys;
        left padding has negative positions. The result is undefined for cross-attention.
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
_recordings = 0  # number of recordings at this moment
_kernels: dict[int, tuple[object, str]] = {}  # id of a configuration -> (configuration, previous implementation)


def positions_of(attention_mask: Tensor) -> Tensor:
    """Return position ids that start at 0 with each row's first real token, as left padding requires.

    `attention_mask` (B, T) is 1 for tokens and 0 for padding.
    """
    return (attention_mask.long().cumsum(-1) - 1).clamp(min=0)


@contextmanager
def recording(model: PreTrainedModel, recorder: Recorder, observer: Observer | None = None) -> Iterator[None]:
    """Give every attention call of `model` to `recorder` until the end of the block, in this thread or task only.

    If the recorder returns a call (an intervention), the kernel runs on that call's query, key, value and mask. After
    the kernel, `observer` gets the call and the output (B, T, H, d_v). The model and the registries of transformers are
    restored at the end of the block, even after an error. Raises ModelError if the architecture computes attention in
    its own code, or if the model is being recorded already.
    """
    configs = _attention_configs(model)
    kernels = {key: config._attn_implementation for key, config in configs.items()}
    if any(name == NAME for name in kernels.values()):
        raise ModelError("this model is being recorded already; end that recording first")
    with _register_kernel(list(configs.values())):
        recorder_token, observer_token = _recorder.set(recorder), _observer.set(observer)
        try:
            model.set_attn_implementation(NAME)
            if model.config.get_text_config()._attn_implementation != NAME:
                raise ModelError(unsupported_message(model))
            yield
        finally:
            _recorder.reset(recorder_token)
            _observer.reset(observer_token)
            for key, config in configs.items():
                config._attn_implementation_internal = kernels[key]


@contextmanager
def hide_calls() -> Iterator[None]:
    """Hide the attention calls in this block from recorders and observers, for forward passes that inspect a model."""
    recorder_token, observer_token = _recorder.set(None), _observer.set(None)
    try:
        yield
    finally:
        _recorder.reset(recorder_token)
        _observer.reset(observer_token)


def model_label(model: PreTrainedModel) -> str:
    """Return the name of a model's class with its model type, for messages."""
    kind = type(model).__name__
    return f"{kind} (model type {getattr(model.config, 'model_type', kind)})"


def unsupported_message(model: PreTrainedModel) -> str:
    """Return the error message for an architecture without attention, or with attention computed in its own code."""
    classes = {type(module) for module in model.modules() if "ttention" in type(module).__name__}
    if not any(map(_has_softmax_over_keys, classes)):
        names = ", ".join(sorted(type_.__name__ for type_ in classes))
        recurrent = f" ({names} is a recurrence, without a softmax over keys)" if classes else ""
        return f"{model_label(model)} computes no attention{recurrent}, so there are no queries and keys to look at"
    return (
        f"{model_label(model)} computes attention in its own code, not through the attention interface of "
        "transformers, so its queries and keys cannot be captured; models of the Llama, Mistral, Qwen, Gemma, GPT-NeoX "
        "and GPT-OSS families, and most others, can"
    )


def _has_softmax_over_keys(kind: type) -> bool:
    """Return whether a layer class uses a softmax over keys, as its source says; True if the source cannot be read."""
    try:
        return _SOFTMAX.search(inspect.getsource(kind)) is not None
    except (OSError, TypeError):
        return True


def _attention_configs(model: PreTrainedModel) -> dict[int, Any]:
    """Return, by object id, a model's configurations that name an attention function, and their sub-configurations."""
    configs: dict[int, Any] = {}
    queue: list[Any] = [module.config for module in model.modules() if hasattr(module, "set_attn_implementation")]
    while queue:
        config = queue.pop()
        if id(config) not in configs:
            configs[id(config)] = config
            queue += [part for key in config.sub_configs if (part := getattr(config, key, None)) is not None]
    return configs


@contextmanager
def _register_kernel(configs: list[Any]) -> Iterator[None]:
    """Register `NAME` in transformers' registries of attention and mask functions until the end of the block."""
    global _recordings
    modeling, masking = libraries.need("transformers.modeling_utils"), libraries.need("transformers.masking_utils")
    with _lock:
        modeling.AttentionInterface.register(NAME, _record_and_attend)
        masking.AttentionMaskInterface.register(NAME, _original_mask)
        _recordings += 1
        for config in configs:
            _kernels[id(config)] = (config, config._attn_implementation or "sdpa")
    try:
        yield
    finally:
        with _lock:
            _recordings -= 1
            for config in configs:
                _kernels.pop(id(config), None)
            if not _recordings:  # the registries have no public way to remove a name
                modeling.AttentionInterface._global_mapping.pop(NAME, None)
                masking.AttentionMaskInterface._global_mapping.pop(NAME, None)


def _original_kernel(config: object) -> str:
    """Return the name of the attention function that a configuration had before recording."""
    kernel = _kernels.get(id(config))
    if kernel is None:
        raise ModelError(f"the recorder got an attention call with an unknown configuration ({type(config).__name__})")
    return kernel[1]


def _record_and_attend(
    module: Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, *rest: Any, **options: Any
) -> Any:
    """Give the call to the recorder, call the model's previous function, and give its output to the observer."""
    recorder = _recorder.get()
    if recorder is not None:
        layer = getattr(module, "layer_idx", None)
        changed = recorder(Call(module, layer, query, key, value, attention_mask, options))
        if changed is not None:
            query, key, value, attention_mask = changed.query, changed.key, changed.value, changed.mask
    modeling = sys.modules[type(module).__module__]
    kernel = _original_kernel(module.config)
    if kernel == "eager":
        attend = modeling.eager_attention_forward
    else:  # a modelling file may have its own table of functions
        functions = libraries.need("transformers.modeling_utils").ALL_ATTENTION_FUNCTIONS
        attend = getattr(modeling, "ALL_ATTENTION_FUNCTIONS", functions)[kernel]
    result = attend(module, query, key, value, attention_mask, *rest, **options)
    observer = _observer.get()
    if observer is not None:
        layer = getattr(module, "layer_idx", None)
        observer(Call(module, layer, query, key, value, attention_mask, options), result[0])
    return result


def _original_mask(*rest: Any, **options: Any) -> Any:
    masks = libraries.need("transformers.masking_utils").ALL_MASK_ATTENTION_FUNCTIONS
    return masks[_original_kernel(options.get("config"))](*rest, **options)
