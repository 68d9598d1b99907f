"""Start forward passes at a later block, from stored outputs of the earlier blocks for the same tokens.

Everything around the blocks runs as usual: embeddings, masks, rotations, and the last norm. Each skipped block outputs
the tensor of an earlier forward pass, and leaves the same keys and values in a key cache. So all logits equal those of
a complete pass to the last bit, also those of later tokens.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.anatomy import Block, blocks
from keyquery.models.answers.forwards import device_of, key_cache, step
from keyquery.models.architecture import run_forward
from keyquery.models.checkpoints.memory import free_memory
from keyquery.models.interventions import Intervention

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

MAX_BYTES = 2**30  # maximum number of bytes to store for a model
MEMORY_SHARE = 1 / 8  # largest share of the free memory to use
PROBES = ((3, 5, 4, 6), (6, 3, 7, 5))  # token ids of two texts
StoredOutputs = dict[int, tuple["Tensor", Any]]
"""The output of each block for one batch of tokens, and its layer of the key cache, by the block's index from 0 on."""

_stored: WeakKeyDictionary[Any, dict[bytes, StoredOutputs]] = WeakKeyDictionary()  # by model and inputs
_exactness: WeakKeyDictionary[Any, dict[bool, bool]] = WeakKeyDictionary()  # by model and `cached`


def count_untouched_blocks(model: PreTrainedModel, changes: Sequence[Intervention], *, cached: bool = False) -> int:
    """Return the number of blocks before the first block with an intervention; 0 if no block can be skipped.

    No block can be skipped in hybrid models, if blocks return more than the residual stream, or if a test shows any
    difference in the logits. `cached` says whether the passes fill a key cache.
    """
    exactness = _exactness.setdefault(model, {})
    if cached not in exactness:
        exactness[cached] = _is_exact(model, cached)
    if not exactness[cached] or any(change.where == "post" for change in changes):
        return 0
    touched = [any(change.touches(block.layer) for change in changes) for block in blocks(model)]
    return [*touched, True].index(True)


@contextmanager
def skip_stored_blocks(model: PreTrainedModel, count: int) -> Iterator[None]:
    """In a `with` block, skip those of the first `count` blocks whose output is stored; store the others' outputs.

    An output is used again for the same tokens, mask and positions, so no forward pass may change the first `count`
    blocks or their weights. A pass that continues from a filled key cache skips nothing. Raises ModelError if a block
    returns more than one tensor.
    """
    outputs: StoredOutputs = {}

    def look_up_outputs(module: Any, inputs: Any, options: dict[str, Any]) -> None:
        nonlocal outputs
        cache = options.get("past_key_values")
        outputs = {} if cache is not None and cache.get_seq_length() else _stored_outputs(model, inputs, options)

    def forward(index: int, block: Block, run: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
        cache_type = libraries.transformers.Cache
        cache = next((value for value in (*inputs, *options.values()) if isinstance(value, cache_type)), None)
        if index in outputs:
            output, layer = outputs[index]
            if cache is not None:
                cache.layers[block.layer] = copy.deepcopy(layer)
            return output.clone()
        output = run(*inputs, **options)
        if not isinstance(output, libraries.torch.Tensor):
            raise ModelError(f"{type(block.module).__name__} returns more than the residual stream")
        if index == len(outputs) and _bytes(outputs) + output.nbytes <= _byte_limit(model):
            # a later block may add to the tensor in place
            outputs[index] = output.clone(), None if cache is None else copy.deepcopy(cache.layers[block.layer])
        return output

    with ExitStack() as stack:
        if count:
            stack.callback(model.register_forward_pre_hook(look_up_outputs, with_kwargs=True).remove)
            for index, block in enumerate(blocks(model)[:count]):
                stack.callback(_replace_forward(block.module, partial(forward, index, block, block.module.forward)))
        yield


def _stored_outputs(model: PreTrainedModel, inputs: tuple[Any, ...], options: dict[str, Any]) -> StoredOutputs:
    """Return the dictionary of blocks' outputs for a forward pass's inputs; the pass fills in missing outputs."""
    by_inputs, torch = _stored.setdefault(model, {}), libraries.torch
    while by_inputs and sum(map(_bytes, by_inputs.values())) > _byte_limit(model):
        by_inputs.popitem()  # the newest, since callers that repeat a series of texts need the oldest next
    tensors = [value for value in (*inputs, *options.values()) if isinstance(value, torch.Tensor)]
    contents = [f"{tuple(tensor.shape)}".encode() + tensor.cpu().numpy().tobytes() for tensor in tensors]
    return by_inputs.setdefault(b" ".join([*contents, b"cached" * (options.get("past_key_values") is not None)]), {})


def _byte_limit(model: PreTrainedModel) -> int:
    """Return the maximum number of bytes to store for a model."""
    free = free_memory(device_of(model))
    return MAX_BYTES if free is None else min(MAX_BYTES, int(free * MEMORY_SHARE))


def _bytes(outputs: StoredOutputs) -> int:
    """Return the number of bytes of stored outputs and of the key-cache layers stored with them."""
    values = [value for pair in outputs.values() for value in (pair[0], *getattr(pair[1], "__dict__", {}).values())]
    return sum(value.nbytes for value in values if isinstance(value, libraries.torch.Tensor))


def _replace_forward(module: Any, forward: Callable[..., Any]) -> Callable[[], None]:
    """Replace a module's forward method by `forward`; return a function that restores the old method."""
    old_forward = vars(module).get("forward")
    module.forward = forward

    def undo() -> None:
        del module.forward
        if old_forward is not None:
            module.forward = old_forward

    return undo


def _is_exact(model: PreTrainedModel, cached: bool) -> bool:
    """Return whether the logits of a text stay equal, to the last bit, whatever number of blocks is skipped."""
    config, torch = model.config.get_text_config(), libraries.torch

    def logits(tokens: Tensor) -> Tensor:
        if not cached:
            return run_forward(model, tokens).logits  # type: ignore[no-any-return]
        cache, tokens = key_cache(model), tokens.to(device_of(model))
        with torch.inference_mode():
            first_logits = step(model, tokens, None, cache, 0)
            return torch.cat([first_logits, step(model, tokens[:, :1], None, cache, tokens.shape[1])], dim=1)

    try:
        layers = int(config.num_hidden_layers)
        text, other_text = (torch.tensor([probe]) % int(config.vocab_size) for probe in PROBES)
        if len(blocks(model)) != layers:
            return False
        with skip_stored_blocks(model, layers):
            full_logits = logits(text)
        for count in range(1, layers + 1):
            logits(other_text)  # so that no block still remembers `text`
            with skip_stored_blocks(model, count):
                if not torch.equal(logits(text), full_logits):
                    return False
    except (ModelError, KeyError, TypeError, AttributeError, IndexError, RuntimeError):  # from any architecture
        return False
    finally:
        _stored.pop(model, None)
    return True
