"""Define the scale of an axis: its limits, and the position of a value in mm."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from boundpaper.errors import SpecError

if TYPE_CHECKING:
    from boundpaper.figures.spec import Axis


def number(value: float) -> str:
    """Return a number as text with six significant digits, the same on every machine, and never "-0"."""
    text = f"{value:.6g}"
    return "0" if text == "-0" else text


@dataclass(frozen=True, kw_only=True)
class Scale:
    """An axis with its limits and length.

    Attributes
    ----------
    kind : {"linear", "log", "symlog", "edges"}
        PGFPlots computes positions of `log`; those of `symlog` and `edges` (a heat map's cells) are computed here.
    low, high : float
        Limits, in the axis' unit.
    length : float
        Length in mm.
    ticks : tuple of (float, str)
        Tick values and their labels.
    threshold : float
        The value beyond which `symlog` is logarithmic.
    edges : tuple of float
        Borders of a heat map's cells.
    reverse : bool
        Whether values increase from right to left, or from top to bottom. Coordinates change their sign (cells are
        counted from the other end), so that the axis line keeps its place.
    """

    kind: str
    low: float
    high: float
    length: float = 100.0
    ticks: tuple[tuple[float, str], ...] = ()
    threshold: float = 1.0
    edges: tuple[float, ...] = ()
    reverse: bool = False

    def coordinate(self, value: float) -> float:
        """Return the coordinate of a value as PGFPlots needs it."""
        if self.kind == "log":
            return value
        position = self._along(value) - self.origin
        if self.kind == "edges":  # PGFPlots counts cells from below or from the left, even on a reversed axis
            return len(self.edges) - 1 - position if self.reverse else position
        return -position if self.reverse else position

    @property
    def origin(self) -> float:
        """Return the value whose coordinate is 0: 0 itself, unless the limits are close together but far from 0.

        Coordinates have six significant digits, TeX's precision, with which Unix times a minute apart would be equal.
        For such values the origin is the limit nearest to zero, and bars start there.
        """
        if self.kind not in ("linear", "symlog"):
            return 0.0
        low, high = self._along(self.low), self._along(self.high)
        nearer, farther = sorted((low, high), key=abs)
        return nearer if high - low < 0.01 * abs(farther) else 0.0

    def _along(self, value: float) -> float:
        """Return the position of a value along the axis: its logarithm, the number of its cell, or the value itself."""
        if self.kind == "log":
            return math.log10(value)
        if self.kind == "symlog":
            return math.copysign(math.log10(1 + abs(value) / self.threshold), value)
        if self.kind == "edges":
            return self._cell_position(value)
        return value

    def _cell_position(self, value: float) -> float:
        i = min(max(bisect.bisect_right(self.edges, value) - 1, 0), len(self.edges) - 2)
        left, right = self.edges[i], self.edges[i + 1]
        if self.is_geometric:
            return i + math.log(max(value, left / right) / left) / math.log(right / left)
        return i + (value - left) / (right - left)

    @property
    def is_geometric(self) -> bool:
        """Return whether a heat map's cell borders are spaced more evenly on a log axis than on a linear one."""
        if len(self.edges) < 3 or self.edges[0] <= 0:
            return False
        factors = [b / a for a, b in pairwise(self.edges)]
        steps = [b - a for a, b in pairwise(self.edges)]
        return max(factors) / min(factors) < max(steps) / min(steps)

    @property
    def limits(self) -> tuple[float, float]:
        """Return the limits as PGFPlots needs them, the smaller first."""
        a, b = self.coordinate(self.low), self.coordinate(self.high)
        return (a, b) if a < b else (b, a)

    def mm(self, value: float) -> float:
        """Return the distance in mm of a value from the lower (or left) end of the axis."""
        fraction = (self._along(value) - self._along(self.low)) / (self._along(self.high) - self._along(self.low))
        return (1 - fraction if self.reverse else fraction) * self.length

    def extended(self, value: float, space: float, *, upper: bool) -> Scale:
        """Return the scale with the upper (or lower) limit moved until it is at least `space` mm from a value."""
        a, b = (self.low, self.high) if upper else (self.high, self.low)
        start, end, position = self._along(a), self._along(b), self._along(value)
        distance = abs(end - position) / abs(end - start) * self.length
        if distance >= space or self.kind == "edges" or space >= self.length:
            return self
        limit = self._value_at(start + (position - start) * self.length / (self.length - space))
        return replace(self, high=limit) if upper else replace(self, low=limit)

    def _value_at(self, position: float) -> float:
        """Return the value at a position along the axis, the inverse of `_along`."""
        if self.kind == "log":
            return float(10**position)
        if self.kind == "symlog":
            return math.copysign(self.threshold * (10 ** abs(position) - 1), position)
        return position


def range_scale(axis: Axis, values: Sequence[float], *, length: float, pad: float, from_zero: bool = False) -> Scale:
    """Return the scale of an axis whose limits are the range of the values, with a margin on both sides.

    `values` are all values that the panel draws along this axis, ends of error bars included; `length` is in mm, and
    `pad` is the margin as a fraction of the range. With `from_zero`, for bars, the range includes zero, and has no
    margin there, except on a log axis. Raises SpecError when the values are too close together for a log axis.
    """
    low, high = min(values), max(values)
    kind = axis.scale
    if kind == "log" and low < high < 1.001 * low:
        raise SpecError(
            f"axis '{axis.label}': {low:.10g} to {high:.10g} is too narrow for a log axis; use scale='linear'"
        )
    scale = Scale(kind=kind, low=low, high=high, length=length, threshold=axis.threshold, reverse=axis.reverse)
    includes_zero = (axis.zero or from_zero) and kind != "log"
    if includes_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    a, b = scale._along(low), scale._along(high)
    span = (b - a) or abs(a) / 2 or 1.0
    a, b = (a if includes_zero and a == 0 else a - pad * span), (b if includes_zero and b == 0 else b + pad * span)
    return replace(
        scale,
        low=scale._value_at(a) if axis.low is None else float(axis.low),
        high=scale._value_at(b) if axis.high is None else float(axis.high),
    )
