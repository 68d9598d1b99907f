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
        Consecutive windows of each document; a remainder shorter than a window is dropped.
    held_out : dict of str to ndarray of int32, shape (windows, length)
        Windows spread evenly over each set, by the set's name.
    digest : str
        Hash of all windows.
    """

    train: IDS
    held_out: dict[str, IDS]
    digest: str

    def batch(self, recipe: DistilRecipe, seed: int, step: int) -> Tensor:
        """Return the token ids of a step (from 0), shape (rows, length); each pass over the windows has a new order."""
        import torch

        rows = []
        for position in range(step * recipe.rows, (step + 1) * recipe.rows):
            epoch, index = divmod(position, len(self.train))
            rows.append(self.train[np.random.default_rng([seed, epoch]).permutation(len(self.train))[index]])
        return torch.from_numpy(np.stack(rows).astype(np.int64))


def read_windows(recipe: DistilRecipe, tokenizer: Any) -> Windows:
    """Read and cut the texts of a recipe.

    Raises DataError if a set is not installed, or one of its parts has too few tokens.
    """
    train: list[IDS] = []
    held_out: dict[str, IDS] = {}
    digest = hashlib.sha256()
    for name in recipe.texts:
        train.append(_cut_windows(name, TRAINED, recipe, tokenizer, 1))
        windows = _cut_windows(name, HELD_OUT, recipe, tokenizer, recipe.held_out)
        held_out[name] = windows[np.linspace(0, len(windows) - 1, recipe.held_out).astype(int)]
        digest.update(train[-1].tobytes())
        digest.update(held_out[name].tobytes())
    return Windows(np.concatenate(train), held_out, digest.hexdigest()[:16])


def _cut_windows(name: str, part: str, recipe: DistilRecipe, tokenizer: Any, least: int) -> IDS:
    cuts: list[IDS] = []
    for _, text in texts_of(name, part):
        ids = np.array(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"], dtype=np.int32)
        count = len(ids) // recipe.length
        cuts.append(ids[: count * recipe.length].reshape(count, recipe.length))
    windows = np.concatenate(cuts) if cuts else np.zeros((0, recipe.length), dtype=np.int32)
    if len(windows) < least:
        raise DataError(
            f"{name}:{part} has {len(windows)} windows of {recipe.length} tokens, but needs {least}; "
            "use a recipe with shorter windows"
        )
    return windows
