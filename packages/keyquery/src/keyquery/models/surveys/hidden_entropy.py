"""Measure the rank of a text's hidden states, and the entropy of their singular values in three variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from keyquery.models import libraries
from keyquery.models.undefined import NotFinite

if TYPE_CHECKING:
    from torch import Tensor


def hidden_entropy(states: Tensor) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the entropies (2, 3) of the singular values of hidden states (T, D), and the ranks (2,).

    The first row is that of all tokens, the second that of the tokens after the first; columns are those of
    `entropies`. Squared singular values come from the smaller Gram matrix, in float64. Raises NotFinite if a state is
    not finite.
    """
    torch = libraries.torch
    if not bool(torch.isfinite(states).all()):
        raise NotFinite("hidden states are infinite or undefined")
    double = (states.cpu() if states.device.type == "mps" else states).double()  # MPS has no float64
    tokens, width = double.shape
    if tokens <= width:
        all_tokens = double @ double.T
        content = all_tokens[1:, 1:]
    else:
        content = double[1:].T @ double[1:]
        all_tokens = content + torch.outer(double[0], double[0])
    rows = []
    for gram, count in ((all_tokens, tokens), (content, tokens - 1)):
        squares = torch.linalg.eigvalsh(gram).cpu().numpy()
        rows.append(entropies(squares, max(count, width)))
    return np.array([row for row, _ in rows]), np.array([rank for _, rank in rows], dtype=np.int64)


def entropies(squares: NDArray[np.float64], size: int) -> tuple[list[float], int]:
    """Return three entropies of the singular values of a matrix, and its rank.

    `squares` are the squared singular values, possibly slightly negative from rounding. `size` is the larger number of
    rows or columns: values below size * 2.2e-16 times the largest value count as 0.

    Returns
    -------
    list of three floats
        -sum p log p with p = sigma^2 / sum sigma^2 (nats); this entropy divided by the log of the rank, NaN for rank 1;
        and -sum p log p with p = sigma / sum sigma (nats). All are NaN for a matrix of zeros.
    int
        The rank.
    """
    positive = squares[squares > max(squares.max() * size * np.finfo(np.float64).eps, 0.0)]
    rank = len(positive)
    if not rank:
        return [np.nan, np.nan, np.nan], 0
    squared = _entropy(positive)
    return [squared, squared / np.log(rank) if rank > 1 else np.nan, _entropy(np.sqrt(positive))], rank


def _entropy(weights: NDArray[np.float64]) -> float:
    shares = weights / weights.sum()
    return max(0.0, float(-(shares * np.log(shares)).sum()))
