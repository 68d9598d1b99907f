"""Rotary bands: how much of each rotated pair of dimensions oscillates with position at the pair's own frequency."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from analysis.heads.head import Float64Array, FloatArray, IntArray
from analysis.heads.moments import centred

Layout = Literal["halves", "interleaved"]
LAYOUTS: tuple[str, ...] = get_args(Layout)


@dataclass(frozen=True, kw_only=True)
class Bands:
    """R^2 of rotary pairs on cos(omega t), sin(omega t).

    Parameters
    ----------
    frequencies : ndarray, shape (bands,)
        Radians per token.
    r_squared : ndarray, shape (bands,)
        Share of the pair's variance, with a constant in the model; 0 for a pair that does not vary.
    shuffled : ndarray, shape (shuffles, bands)
        The same with positions shuffled over vectors.
    p_values : ndarray, shape (bands,)
        (1 + shuffles that reach the value) / (1 + shuffles).
    """

    frequencies: Float64Array
    r_squared: Float64Array
    shuffled: Float64Array
    p_values: Float64Array


def bands(
    vectors: FloatArray,
    positions: IntArray,
    frequencies: Float64Array,
    layout: Layout = "halves",
    shuffles: int = 99,
    seed: int = 0,
) -> Bands:
    """Regress each rotary pair on its own oscillation, and on that at shuffled positions.

    Parameters
    ----------
    vectors : ndarray, shape (n, d)
        Queries or keys.
    positions : ndarray of int, shape (n,)
        Their positions.
    frequencies : ndarray, shape (bands,)
        The model's rotary frequencies, 2 * bands <= d; dimensions beyond are not rotated.
    layout : {"halves", "interleaved"}
        Pair i is (i, i + bands) or (2 i, 2 i + 1).
    shuffles, seed : int
        Shuffles of the positions, and their seed.

    Raises
    ------
    ValueError
        If the layout is unknown, there are more frequencies than pairs, or no shuffles.
    """
    omegas = np.asarray(frequencies, dtype=np.float64)
    count = omegas.size
    if layout not in LAYOUTS:
        raise ValueError(f"layout {layout!r}; give one of {', '.join(LAYOUTS)}")
    if not 1 <= count <= vectors.shape[1] // 2:
        raise ValueError(f"{count} frequencies for {vectors.shape[1]} dimensions; give one per rotated pair")
    if shuffles < 1:
        raise ValueError(f"{shuffles} shuffles; give at least one")
    pairs = np.arange(2 * count).reshape((2, count) if layout == "halves" else (count, 2))
    first, second = pairs if layout == "halves" else pairs.T
    rows, _ = centred(vectors)
    values = np.stack([rows[:, first], rows[:, second]])
    waves = np.stack([_waves(np.asarray(positions, dtype=np.float64), omega) for omega in omegas], axis=2)
    total = np.einsum("ink,ink->k", values, values)
    generator = np.random.default_rng(seed)
    observed = _shares(waves, values, total)
    drawn = np.stack([_shares(waves[:, generator.permutation(len(rows))], values, total) for _ in range(shuffles)])
    return Bands(
        frequencies=omegas,
        r_squared=observed,
        shuffled=drawn,
        p_values=(1 + np.count_nonzero(drawn >= observed, axis=0)) / (1 + shuffles),
    )


def _waves(positions: Float64Array, omega: float) -> Float64Array:
    """Give an orthonormal basis of the centred cos and sin, shape (2, n); rows of zeros for what is not independent."""
    angles = omega * positions
    # 1 - cos instead of cos: for waves longer than the context the cosine itself would be rounding
    columns = np.stack([2.0 * np.sin(angles / 2) ** 2, np.sin(angles)], axis=1)
    columns -= columns.mean(axis=0)
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    left[:, sizes <= 1e-10 * sizes[0]] = 0.0
    return np.ascontiguousarray(left.T)


def _shares(waves: Float64Array, values: Float64Array, total: Float64Array) -> Float64Array:
    """Give the share of each band's variance in the span of its waves."""
    found = np.zeros(total.size)
    for wave in waves:
        for value in values:
            found += np.einsum("nk,nk->k", wave, value) ** 2
    return np.divide(found, total, out=np.zeros(total.size), where=total > 0)
