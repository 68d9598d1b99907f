"""Cut installed texts into windows of tokens: a stream for training, and held-out windows from other documents."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.distil.recipe import DistilRecipe
from boundpaper.errors import DataError
from keyquery.models.text_sets import texts_of

if TYPE_CHECKING:
    from torch import Tensor

TRAINED, HELD_OUT = "calibration", "evaluation"
IDS = NDArray[np.int32]


@dataclass(frozen=True)
class Windows:
    """Windows of tokens for training both arms.

    Parameters
    ----------
    train : ndarray of int32, shape (windows, length)
        Consecutive windows of each document; a rest shorter than a window is dropped.
    held_out : dict of str to ndarray of int32, shape (windows, length)
        By set, windows spread evenly over the set.
    digest : str
        Hash of all windows.
    """

    train: IDS
    held_out: dict[str, IDS]
    digest: str

    def step(self, recipe: DistilRecipe, seed: int, step: int) -> Tensor:
        """Return the token ids of a step (from 0), shape (rows, length); each pass over windows has a new order."""
        import torch

        rows = []
        for place in range(step * recipe.rows, (step + 1) * recipe.rows):
            turn, index = divmod(place, len(self.train))
            rows.append(self.train[_shuffled_order(len(self.train), seed, turn)[index]])
        return torch.from_numpy(np.stack(rows).astype(np.int64))


def _shuffled_order(count: int, seed: int, turn: int) -> IDS:
    return np.random.default_rng([seed, turn]).permutation(count).astype(np.int32)


def read_windows(recipe: DistilRecipe, tokenizer: Any) -> Windows:
    """Read and cut the texts of a recipe.

    Raises DataError if a set is not installed, or one of its parts has too few tokens.
    """
    train: list[IDS] = []
    held: dict[str, IDS] = {}
    state = hashlib.sha256()
    for name in recipe.texts:
        train.append(_cut_windows(name, TRAINED, recipe, tokenizer, 1))
        cut = _cut_windows(name, HELD_OUT, recipe, tokenizer, recipe.held_out)
        held[name] = cut[np.linspace(0, len(cut) - 1, recipe.held_out).astype(int)]
        state.update(train[-1].tobytes())
        state.update(held[name].tobytes())
    return Windows(np.concatenate(train), held, state.hexdigest()[:16])


def _cut_windows(name: str, part: str, recipe: DistilRecipe, tokenizer: Any, least: int) -> IDS:
    parts: list[IDS] = []
    for _, text in texts_of(name, part):
        ids = np.array(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"], dtype=np.int32)
        whole = len(ids) // recipe.length
        parts.append(ids[: whole * recipe.length].reshape(whole, recipe.length))
    cut = np.concatenate(parts) if parts else np.zeros((0, recipe.length), dtype=np.int32)
    if len(cut) < least:
        raise DataError(
            f"{name}:{part} has {len(cut)} windows of {recipe.length} tokens, but {least} are needed; use shorter ones"
        )
    return cut
