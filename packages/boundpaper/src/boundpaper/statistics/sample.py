"""Check samples before a test computes with them."""

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Alternative = Literal["two-sided", "greater", "less"]

NOISE = 1e-12
"""Fraction of the values' magnitude up to which their spread is floating-point noise, not variance."""


def sample(values: npt.ArrayLike, name: str) -> FloatArray:
    """Return `values` as a float64 vector; raise ValueError, with `name` in its text, unless all values are finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; give one number per unit, shape (n,)")
    missing = int(np.count_nonzero(~np.isfinite(array)))
    if missing:
        raise ValueError(f"{name}: {missing} of {array.size} values are missing or infinite; drop them and note it")
    return array


def matched(first: npt.ArrayLike, second: npt.ArrayLike, names: tuple[str, str]) -> tuple[FloatArray, FloatArray]:
    """Return two samples of the same units as float64 vectors of equal length.

    Raises ValueError as `sample` does, or if the lengths differ.
    """
    a, b = sample(first, names[0]), sample(second, names[1])
    if a.size != b.size:
        raise ValueError(f"{names[0]} has {a.size} values and {names[1]} has {b.size}; give one value of each per unit")
    return a, b


def is_constant(values: FloatArray, scale: float | None = None) -> bool:
    """Return whether values have no variance beyond floating-point noise.

    Fewer than two values count as constant. The noise is relative to `scale`, by default the largest absolute value;
    for differences, pass the magnitude of the values that were subtracted.
    """
    if values.size < 2:
        return True
    if scale is None:
        values = at_unit_scale(values)
        scale = float(np.max(np.abs(values)))
    return bool(np.ptp(values) <= NOISE * scale)


def distinct_count(values: FloatArray) -> int:
    """Return the number of values that differ by more than floating-point noise."""
    return int(levels(values).max()) + 1 if values.size else 0


def levels(values: FloatArray) -> IntArray:
    """Return the rank of each value among the distinct values, from 0.

    Values that differ only by floating-point noise, such as 0.1 + 0.2 and 0.3, share a rank.
    """
    if values.size == 0:
        return np.zeros(0, dtype=np.int64)
    scaled = at_unit_scale(values)
    order = np.argsort(scaled, kind="stable")
    is_step = np.diff(scaled[order], prepend=scaled[order[0]]) > NOISE * float(np.max(np.abs(scaled)))
    ranks = np.empty(values.size, dtype=np.int64)
    ranks[order] = np.cumsum(is_step)
    return ranks


def at_unit_scale(values: FloatArray) -> FloatArray:
    """Return the values times the power of two that makes the largest magnitude between 1/2 and 1.

    The scaling is exact, and squares and sums of the result can neither overflow nor underflow.
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    if largest == 0:
        return values
    return np.asarray(np.ldexp(values, -math.frexp(largest)[1]), dtype=np.float64)


def check_alternative(alternative: str, caller: str) -> None:
    """Raise ValueError that names `caller` unless `alternative` is two-sided, greater or less."""
    if alternative not in get_args(Alternative):
        raise ValueError(f"{caller}: bad alternative {alternative!r}; choose one of {', '.join(get_args(Alternative))}")


def check_whole(counts: Sequence[float], caller: str) -> None:
    """Raise ValueError that names `caller` unless every count is a whole number, of any type."""
    fractions = [count for count in counts if not float(count).is_integer()]
    if fractions:
        raise ValueError(f"{caller}: {fractions} are no whole counts; convert each fraction to its count first")


def check_confidence(confidence: float) -> float:
    """Return `confidence`, or raise ValueError unless it is strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; give a number between 0 and 1, such as 0.95")
    return confidence
