"""Start forward passes at a later block, from stored outputs of the earlier blocks for the same tokens.

Everything around the blocks runs as usual (embeddings, masks, rotations, the last norm), and each skipped block outputs
the very tensor of an earlier forward pass and leaves the same keys and values in a key cache, so that the logits, and
those of later tokens, equal those of a whole pass to the last bit.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
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

MAX_BYTES = 2**30  # bytes of states that are kept of a model, and at most this share of the free memory:
SHARE = 8
PROBES = ((3, 5, 4, 6), (6, 3, 7, 5))  # tokens of two texts
Known = dict[int, tuple["Tensor", Any]]
"""What blocks gave out for one batch of tokens, by place from 0 without gaps, and their layers of the key cache."""

_known: WeakKeyDictionary[Any, dict[bytes, Known]] = WeakKeyDictionary()
_exact: WeakKeyDictionary[Any, dict[bool, bool]] = WeakKeyDictionary()


def untouched_blocks(model: PreTrainedModel, interventions: Sequence[Intervention], *, cached: bool = False) -> int:
    """Return the number of blocks before the first intervened one; 0 if the model's blocks cannot be skipped.

    Blocks cannot be skipped in hybrid models, if blocks return more than the residual stream, or if a test shows any
    difference in the logits. `cached` says that a key cache is filled.
    """
    exactness = _exact.setdefault(model, {})
    if cached not in exactness:
        exactness[cached] = _is_exact(model, cached)
    if not exactness[cached] or any(intervention.where == "post" for intervention in interventions):
        return 0
    for place, block in enumerate(parts := blocks(model)):
        if any(intervention.touches(block.layer) for intervention in interventions):
            return place
    return len(parts)


@contextmanager
def skip_stored_blocks(model: PreTrainedModel, count: int) -> Iterator[None]:
    """In this block, skip those of the first `count` model blocks with a stored output; store the other outputs.

    A forward pass resumes those of the same tokens, mask and positions. None may change the first `count` blocks, whose
    weights are always the same. One that goes on with a key cache runs whole. ModelError is raised where a block gives
    out more than one tensor.
    """
    states: Known = {}

    def begin(module: Any, inputs: Any, given: dict[str, Any]) -> None:
        nonlocal states
        cache = given.get("past_key_values")
        states = {} if cache is not None and cache.get_seq_length() else _stored_outputs(model, inputs, given)

    def resuming(place: int, block: Block, run: Callable[..., Any]) -> Callable[..., Any]:
        def forward(*inputs: Any, **options: Any) -> Any:
            kind = libraries.transformers.Cache
            cache = next((value for value in (*inputs, *options.values()) if isinstance(value, kind)), None)
            if place in states:
                output, layer = states[place]
                if cache is not None:
                    cache.layers[block.layer] = copy.deepcopy(layer)
                return output.clone()
            output = run(*inputs, **options)
            if not isinstance(output, libraries.torch.Tensor):
                raise ModelError(f"{type(block.module).__name__} returns more than the residual stream")
            if place == len(states) and _bytes(states) + output.nbytes <= _room(model):
                # a later block may add to the tensor itself
                states[place] = output.clone(), None if cache is None else copy.deepcopy(cache.layers[block.layer])
            return output

        return forward

    with ExitStack() as stack:
        if count:
            stack.callback(model.register_forward_pre_hook(begin, with_kwargs=True).remove)
        for place, block in enumerate(blocks(model)[:count] if count else ()):
            stack.callback(_replace_run(block.module, resuming(place, block, block.module.forward)))
        yield


def _stored_outputs(model: PreTrainedModel, inputs: tuple[Any, ...], options: dict[str, Any]) -> Known:
    """Return the stored outputs of the model's blocks for the inputs of a forward pass, to be filled by it."""
    of_model, torch = _known.setdefault(model, {}), libraries.torch
    while of_model and sum(map(_bytes, of_model.values())) > _room(model):
        of_model.popitem()  # the newest: where texts come in turn, the oldest is the next that is asked for
    tensors = [value for value in (*inputs, *options.values()) if isinstance(value, torch.Tensor)]
    mark = [f"{tuple(tensor.shape)}".encode() + tensor.cpu().numpy().tobytes() for tensor in tensors]
    return of_model.setdefault(b" ".join([*mark, b"cached" * (options.get("past_key_values") is not None)]), {})


def _room(model: PreTrainedModel) -> int:
    free = free_memory(device_of(model))
    return MAX_BYTES if free is None else min(MAX_BYTES, free // SHARE)


def _bytes(states: Known) -> int:
    """Return the bytes of stored outputs and of their layers of a key cache."""
    tensors = [each for output, layer in states.values() for each in (output, *getattr(layer, "__dict__", {}).values())]
    return sum(tensor.nbytes for tensor in tensors if isinstance(tensor, libraries.torch.Tensor))


def _replace_run(module: Any, run: Callable[..., Any]) -> Callable[[], None]:
    """Make a module run a function; return the function that undoes it."""
    old_forward = vars(module).get("forward")
    module.forward = run

    def undo() -> None:
        del module.forward
        if old_forward is not None:
            module.forward = old_forward

    return undo


def _is_exact(model: PreTrainedModel, cached: bool) -> bool:
    """Return whether logits of a text stay equal, to the last bit, for any number of skipped blocks."""
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
            full = logits(text)
        for count in range(1, layers + 1):
            logits(other_text)  # so that nothing a block remembers is of the text
            with skip_stored_blocks(model, count):
                if not torch.equal(logits(text), full):
                    return False
    except (ModelError, KeyError, TypeError, AttributeError, IndexError, RuntimeError):  # code of any architecture
        return False
    finally:
        _known.pop(model, None)
    return True
