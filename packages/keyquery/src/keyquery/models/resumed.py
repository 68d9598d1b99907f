"""Run forward passes from a later block on, with the outputs that earlier blocks had for the same tokens.

Everything around the blocks runs as usual (embeddings, masks, rotations, the last norm), and each skipped block outputs
the very tensor of an earlier forward pass, so that the logits equal those of a whole pass to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.anatomy import blocks
from keyquery.models.architecture import run_forward
from keyquery.models.interventions import Intervention

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

MOST = 2**28  # bytes of states that are kept of a model
PROBES = ((3, 5, 4, 6), (6, 3, 7, 5))  # tokens of two texts
Known = dict[int, "Tensor"]
"""What blocks gave out for one batch of tokens, by place from 0, without gaps."""

_known: WeakKeyDictionary[Any, dict[bytes, Known]] = WeakKeyDictionary()
_exact: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def untouched_blocks(model: PreTrainedModel, interventions: Sequence[Intervention]) -> int:
    """Return the number of blocks before the first with an intervention; 0 for a model whose blocks cannot be skipped.

    Blocks cannot be skipped if some layers are of another kind (hybrids), if blocks pass on more than the residual
    stream, or if logits differ in any bit when blocks are skipped for a test.
    """
    if model not in _exact:
        _exact[model] = _is_batch_exact(model)
    if not _exact[model] or any(each.where == "post" for each in interventions):
        return 0
    for place, block in enumerate(parts := blocks(model)):
        if any(each.touches(block.layer) for each in interventions):
            return place
    return len(parts)


def stored_outputs(model: PreTrainedModel, tokens: Tensor) -> Known:
    """Return the stored outputs of the model's blocks for these tokens (B, T), to be filled by `resumed`."""
    of_model = _known.setdefault(model, {})
    if sum(each.nbytes for states in of_model.values() for each in states.values()) > MOST:
        of_model.clear()
    return of_model.setdefault(f"{tuple(tokens.shape)}".encode() + tokens.cpu().numpy().tobytes(), {})


@contextmanager
def skip_stored_blocks(model: PreTrainedModel, states: Known, count: int) -> Iterator[None]:
    """Within this context, skip those of the first `count` blocks whose output is known; store the others' outputs.

    All forward passes in it, and those that filled `states`, must have the same tokens and mask, no key cache, and no
    change of the first `count` blocks. A forward pass raises ModelError where a block gives out more than one tensor.
    """

    def keeping(place: int) -> Any:
        def hook(module: Any, inputs: Any, output: Any) -> None:
            if not isinstance(output, libraries.torch.Tensor):
                raise ModelError(f"{type(module).__name__} gives out more than the residual stream")
            if place == len(states) and sum(each.nbytes for each in states.values()) + output.nbytes <= MOST:
                states[place] = output.clone()  # a later block may add to the tensor itself

        return hook

    with ExitStack() as stack:
        for place, block in enumerate(blocks(model)[:count] if count else ()):
            if place in states:
                stack.callback(_replace_run(block.module, states[place]))
            else:
                stack.callback(block.module.register_forward_hook(keeping(place)).remove)
        yield


def _replace_run(module: Any, output: Tensor) -> Callable[[], None]:
    """Make a module output a copy of a tensor instead of running; return the function that undoes it."""
    own = vars(module).get("forward")
    module.forward = lambda *inputs, **options: output.clone()

    def undo() -> None:
        del module.forward
        if own is not None:
            module.forward = own

    return undo


def _is_batch_exact(model: PreTrainedModel) -> bool:
    """Tell whether logits of one text stay the same, to the last bit, whatever number of blocks is skipped."""
    config, torch, states = model.config.get_text_config(), libraries.torch, Known()
    try:
        layers = int(config.num_hidden_layers)
        text, other = (torch.tensor([each]) % int(config.vocab_size) for each in PROBES)
        if len(blocks(model)) != layers:
            return False
        with skip_stored_blocks(model, states, layers):
            whole = run_forward(model, text).logits
        for count in range(1, layers + 1):
            run_forward(model, other)  # so that nothing a block remembers is of the text
            with skip_stored_blocks(model, states, count):
                if not torch.equal(run_forward(model, text).logits, whole):
                    return False
    except (ModelError, KeyError, TypeError, AttributeError, IndexError, RuntimeError):  # code of any architecture
        return False
    return True
