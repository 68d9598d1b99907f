"""Forwards that go on from a later block: what earlier blocks gave out for the same tokens is given out again, unrun.

Everything around the blocks runs as ever (embeddings, masks, rotations, the last norm), and each block that is not run
gives out the very tensor of an earlier forward, so that the logits are those of a whole forward to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from boundpaper.errors import ModelError
from keyquery.models import libraries
from keyquery.models.anatomy import blocks
from keyquery.models.architecture import run
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


def untouched(model: PreTrainedModel, interventions: Sequence[Intervention]) -> int:
    """How many blocks come before the first that interventions act in; 0 for a model that must run whole.

    A model must run whole where some layers are no such blocks (hybrids), where blocks hand on more than the residual
    stream, or where logits differ in any bit when blocks are left out for a try.
    """
    if model not in _exact:
        _exact[model] = _is_exact(model)
    if not _exact[model] or any(each.where == "post" for each in interventions):
        return 0
    for place, block in enumerate(parts := blocks(model)):
        if any(each.touches(block.layer) for each in interventions):
            return place
    return len(parts)


def known(model: PreTrainedModel, tokens: Tensor) -> Known:
    """What the model's blocks are known to give out for these tokens (B, T), to be filled by `resumed`."""
    of_model = _known.setdefault(model, {})
    if sum(each.nbytes for states in of_model.values() for each in states.values()) > MOST:
        of_model.clear()
    return of_model.setdefault(f"{tuple(tokens.shape)}".encode() + tokens.cpu().numpy().tobytes(), {})


@contextmanager
def resumed(model: PreTrainedModel, states: Known, count: int) -> Iterator[None]:
    """Within this context, skip those of the first `count` blocks whose output is known; keep what the others output.

    All forwards in it, and those that filled `states`, are of the same tokens and mask, without a key cache, and with
    the first `count` blocks as they are.

    Raises
    ------
    ModelError
        By a forward pass, where a block gives out more than one tensor.
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
                stack.callback(_unrun(block.module, states[place]))
            else:
                stack.callback(block.module.register_forward_hook(keeping(place)).remove)
        yield


def _unrun(module: Any, output: Tensor) -> Callable[[], None]:
    """Have a module give out a copy of a tensor in place of running; the call that undoes it."""
    own = vars(module).get("forward")
    module.forward = lambda *inputs, **options: output.clone()

    def undo() -> None:
        del module.forward
        if own is not None:
            module.forward = own

    return undo


def _is_exact(model: PreTrainedModel) -> bool:
    """Whether logits of one text are the same, to the last bit, with every number of blocks left out after another."""
    config, torch, states = model.config.get_text_config(), libraries.torch, Known()
    try:
        layers = int(config.num_hidden_layers)
        text, other = (torch.tensor([each]) % int(config.vocab_size) for each in PROBES)
        if len(blocks(model)) != layers:
            return False
        with resumed(model, states, layers):
            whole = run(model, text).logits
        for count in range(1, layers + 1):
            run(model, other)  # so that nothing a block remembers is of the text
            with resumed(model, states, count):
                if not torch.equal(run(model, text).logits, whole):
                    return False
    except (ModelError, KeyError, TypeError, AttributeError, IndexError, RuntimeError):  # code of any architecture
        return False
    return True
