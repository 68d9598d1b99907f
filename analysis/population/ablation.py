"""Measure the loss of retrieval and text likelihood when a single head is ablated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from analysis.population.asking import answers
from analysis.population.outcomes import mean_nats
from analysis.population.prompts import keys
from analysis.population.recipe import PopulationMember, PopulationRecipe
from keyquery.models.anatomy import blocks

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

Row = dict[str, Any]
CONTEXTS = {1: 40, 4: 16}  # contexts by multiple of the training length: 100 and 40 questions
TEXTS = 16


def ablation_rows(
    model: PreTrainedModel, which: PopulationMember, recipe: PopulationRecipe, tell: Callable[[str], None]
) -> list[Row]:
    """Return rows by `layer, head`: keys found, nats per key at one and four training lengths, and nats of text.

    Layer and head are -1 in the row of the whole model, the baseline of the other rows.
    """
    tell("each head taken out")
    prompts = {
        multiple: keys(which.seed, multiple * recipe.length, contexts) for multiple, contexts in CONTEXTS.items()
    }
    places: list[tuple[int, int]] = [(-1, -1)]
    places += [(block.layer, head) for block in blocks(model) for head in range(block.heads)]
    rows = []
    for layer, head in places:
        row: Row = {"layer": layer, "head": head}
        with ablate_head(model, layer, head):
            for multiple, contexts in prompts.items():
                replies = answers(model, contexts)
                row[f"asked_{multiple}x"] = len(replies)
                row[f"right_{multiple}x"] = sum(each.exact for each in replies)
                row[f"nats_{multiple}x"] = math.fsum(each.nats for each in replies) / len(replies)
            row["text_nats"] = mean_nats(model, recipe, TEXTS)
        rows.append(row)
    return rows


@contextmanager
def ablate_head(model: PreTrainedModel, layer: int, head: int) -> Iterator[None]:
    """Ablate one head of a model in this block, so that it writes nothing; layer -1 ablates none."""
    if layer < 0:
        yield
        return
    block = next(block for block in blocks(model) if block.layer == layer)
    part = slice(head * block.value_dim, (head + 1) * block.value_dim)

    def silence(module: Any, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        changed = inputs[0].clone()
        changed[..., part] = 0
        return (changed, *inputs[1:])

    handle = block.out.register_forward_pre_hook(silence)
    try:
        yield
    finally:
        handle.remove()
