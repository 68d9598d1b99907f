"""Measure how many directions a text's hidden states span, by three variants of the entropy of singular values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from keyquery.models import libraries
from keyquery.models.undefined import NotFinite

if TYPE_CHECKING:
    from torch import Tensor


def hidden_entropy(states: Tensor) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the entropy of hidden states X, for all tokens and for those after the first.

    Squared singular values come from the smaller Gram matrix in float64; `states` are of shape (T, D). Return entropies
    of shape (2, 3), with rows for all tokens and for the content, and columns as in `entropies`, and ranks of shape
    (2,). Raises NotFinite if a state is not finite.
    """
    torch = libraries.torch
    if not bool(torch.isfinite(states).all()):
        raise NotFinite("hidden states are infinite or undefined")
    exact = (states.cpu() if states.device.type == "mps" else states).double()  # MPS has no float64
    tokens, width = exact.shape
    if tokens <= width:
        all_tokens = exact @ exact.T
        content = all_tokens[1:, 1:]
    else:
        content = exact[1:].T @ exact[1:]
        all_tokens = content + torch.outer(exact[0], exact[0])
    by_layer = []
    for gram, count in ((all_tokens, tokens), (content, tokens - 1)):
        squares = torch.linalg.eigvalsh(gram).cpu().numpy()
        by_layer.append(entropies(squares, max(count, width)))
    return np.array([values for values, _ in by_layer]), np.array([rank for _, rank in by_layer], dtype=np.int64)


def entropies(squares: NDArray[np.float64], size: int) -> tuple[list[float], int]:
    """Return three entropies of squared singular values, and the rank.

    `squares` are sigma^2, possibly slightly negative from rounding; `size` is the larger side of the matrix: values
    below size * 2.2e-16 times the largest count as 0.

    Returns
    -------
    list of three floats
        -sum p log p with p = sigma^2 / sum sigma^2 (nats); the same divided by the log of the rank, NaN for rank 1;
        and -sum p log p with p = sigma / sum sigma (nats). All NaN for a matrix of zeros.
    int
        The rank.
    """
    kept = squares[squares > max(squares.max() * size * np.finfo(np.float64).eps, 0.0)]
    if not len(kept):
        return [np.nan, np.nan, np.nan], 0
    squared = _entropy(kept)
    return [squared, squared / np.log(len(kept)) if len(kept) > 1 else np.nan, _entropy(np.sqrt(kept))], len(kept)


def _entropy(weights: NDArray[np.float64]) -> float:
    shares = weights / weights.sum()
    return max(0.0, float(-(shares * np.log(shares)).sum()))
