"""Samples: what every test checks before it counts."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

# Spread below this share of the values' size is floating-point noise, not variance.
NOISE = 1e-12


def sample(values: npt.ArrayLike, name: str) -> FloatArray:
    """Give `values` as a float64 vector.

    Parameters
    ----------
    values : array_like, shape (n,)
        Finite numbers.
    name : str
        What an error calls them.

    Raises
    ------
    ValueError
        If they are not one-dimensional or not all finite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; give one number per unit, shape (n,)")
    missing = int(np.count_nonzero(~np.isfinite(array)))
    if missing:
        raise ValueError(f"{name}: {missing} of {array.size} values are missing or infinite; drop them and note it")
    return array


def matched(first: npt.ArrayLike, second: npt.ArrayLike, names: tuple[str, str]) -> tuple[FloatArray, FloatArray]:
    """Give two samples of the same units as float64 vectors of equal length.

    Raises
    ------
    ValueError
        As `sample`, or if the lengths differ.
    """
    one, two = sample(first, names[0]), sample(second, names[1])
    if one.size != two.size:
        raise ValueError(
            f"{names[0]} has {one.size} values and {names[1]} has {two.size}; pair them, one of each per unit"
        )
    return one, two


def is_constant(values: FloatArray, scale: float | None = None) -> bool:
    """Tell whether values have no variance beyond floating-point noise.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Fewer than two values count as constant.
    scale : float, optional
        Size against which the spread is judged; default the largest absolute value. Differences need the size of what
        they were taken from.
    """
    if values.size < 2:
        return True
    size = float(np.max(np.abs(values))) if scale is None else scale
    return bool(np.ptp(values) <= NOISE * size)


def distinct(values: FloatArray) -> int:
    """Count values that differ by more than floating-point noise."""
    if values.size == 0:
        return 0
    gaps = np.diff(np.sort(values))
    return 1 + int(np.count_nonzero(gaps > NOISE * float(np.max(np.abs(values)))))


def check_confidence(confidence: float) -> float:
    """Give `confidence` back, or raise ValueError when it does not lie strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; give a share between 0 and 1, such as 0.95")
    return confidence
