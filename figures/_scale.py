"""From values to millimetres: limits with a margin, ticks at round numbers, and their texts."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from figures._spec import Axis


def number(value: float) -> str:
    """Six significant digits, the same on every machine, never minus zero."""
    text = f"{value:.6g}"
    return "0" if text in ("-0", "0") else text


@dataclass(frozen=True, kw_only=True)
class Scale:
    """One axis, settled.

    Attributes
    ----------
    kind : {"linear", "log", "symlog", "edges"}
        `log` is left to PGFPlots; `symlog` and `edges` (a heat map's cells) are computed here, on a linear axis.
    low, high : float
        Limits, in the axis' unit.
    length : float
        In mm.
    ticks : tuple of (float, str)
        Values and their texts.
    """

    kind: str
    low: float
    high: float
    length: float = 100.0
    ticks: tuple[tuple[float, str], ...] = ()
    threshold: float = 1.0
    edges: tuple[float, ...] = ()
    reverse: bool = False

    def drawn(self, value: float) -> float:
        """The coordinate that PGFPlots is given."""
        if self.kind == "symlog":
            return math.copysign(math.log10(1 + abs(value) / self.threshold), value)
        if self.kind == "edges":
            i = min(max(bisect.bisect_right(self.edges, value) - 1, 0), len(self.edges) - 2)
            left, right = self.edges[i], self.edges[i + 1]
            if left > 0 and right / left > 1.5:  # borders that grow by factors: between them a log axis is the straight reading
                return i + math.log(max(value, 1e-300) / left) / math.log(right / left) if value > 0 else float(i)
            return i + (value - left) / (right - left)
        return value

    def at(self, value: float) -> float:
        """The distance in mm from the lower (left) end of the axis."""
        f = math.log10 if self.kind == "log" else self.drawn
        share = (f(value) - f(self.low)) / (f(self.high) - f(self.low))
        return (1 - share if self.reverse else share) * self.length

    def value(self, mm: float) -> float:
        """The coordinate, as PGFPlots is given it, at a distance in mm; the inverse of `at`."""
        share = 1 - mm / self.length if self.reverse else mm / self.length
        if self.kind == "log":
            return float(10 ** (math.log10(self.low) + share * (math.log10(self.high) - math.log10(self.low))))
        low, high = self.drawn(self.low), self.drawn(self.high)
        return low + share * (high - low)


def settle(axis: Axis, values: Iterable[float], *, pad: float, zero: bool = False) -> Scale:
    """Find limits for the data: its range and a margin of `pad` (a share of the range) on both sides.

    Parameters
    ----------
    values : iterable of float
        Everything the panel draws along this axis, ends of error bars included.
    zero : bool
        Bars stand on zero: it is a limit, and has no margin beyond it.
    """
    data = sorted(values)
    low, high = data[0], data[-1]
    if axis.scale == "log":
        a, b = math.log10(low), math.log10(high)
        span = (b - a) or 1.0
        found = Scale(kind="log", low=10 ** (a - pad * span), high=10 ** (b + pad * span), reverse=axis.reverse)
        if zero:
            found = replace(found, low=10.0 ** math.floor(a - 0.3))
    else:
        if axis.zero or zero:
            low, high = min(low, 0.0), max(high, 0.0)
        bare = Scale(kind=axis.scale, low=low, high=high, threshold=axis.threshold, reverse=axis.reverse)
        a, b = bare.drawn(low), bare.drawn(high)
        span = (b - a) or abs(a) or 1.0
        grounded = axis.zero or zero
        a, b = (a if grounded and a == 0 else a - pad * span), (b if grounded and b == 0 else b + pad * span)
        found = replace(bare, low=_undrawn(bare, a), high=_undrawn(bare, b))
    return replace(
        found,
        low=found.low if axis.low is None else axis.low,
        high=found.high if axis.high is None else axis.high,
    )


def _undrawn(scale: Scale, drawn: float) -> float:
    if scale.kind == "symlog":
        return math.copysign(scale.threshold * (10 ** abs(drawn) - 1), drawn)
    return drawn


def with_ticks(scale: Scale, axis: Axis, *, every: float) -> Scale:
    """Add ticks: the axis' own, or round numbers about `every` mm apart."""
    percent = r"\,\%" if axis.percent else ""
    if axis.ticks is not None:
        from figures._text import latex

        if hasattr(axis.ticks, "items"):
            return replace(scale, ticks=tuple((float(v), latex(str(t))) for v, t in axis.ticks.items()))
        own = [float(v) for v in axis.ticks]
        return replace(scale, ticks=tuple(zip(own, _texts(own, percent), strict=True)))
    wanted = max(2, min(9, round(scale.length / every)))
    if scale.kind == "log":
        at = _log_ticks(scale, wanted, axis.base)
        texts = [_power(v, axis.base) + percent for v in at] if _spread(at) else _texts(at, percent)
    elif scale.kind == "symlog":
        at = _symlog_ticks(scale, wanted)
        texts = _texts(at, percent)
    else:
        at = linear_ticks(scale.low, scale.high, wanted)
        texts = _texts(at, percent)
    return replace(scale, ticks=tuple(zip(at, texts, strict=True)))


def linear_ticks(low: float, high: float, wanted: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between the limits, about as many as wanted."""
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((m * power for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(math.log(s / raw)))
    slack = step * 1e-9
    first, last = math.ceil((low - slack) / step), math.floor((high + slack) / step)
    return [round(i * step, 12 - math.floor(math.log10(step))) for i in range(first, last + 1)]


def _log_ticks(scale: Scale, wanted: int, base: int) -> list[float]:
    log = math.log2 if base == 2 else math.log10
    a, b = log(scale.low), log(scale.high)
    powers = range(math.ceil(a - 1e-9), math.floor(b + 1e-9) + 1)
    if base == 10 and len(powers) < 3:
        for parts in ((1, 3), (1, 2, 5)):
            at = [m * 10.0**p for p in range(math.floor(a), math.floor(b) + 1) for m in parts]
            at = [v for v in at if scale.low <= v <= scale.high]
            if len(at) >= 3:
                return at
        return linear_ticks(scale.low, scale.high, wanted)
    step = max(1, math.ceil(len(powers) / wanted))
    return [float(base) ** p for p in powers if p % step == 0]


def _symlog_ticks(scale: Scale, wanted: int) -> list[float]:
    start = math.floor(math.log10(scale.threshold))
    stop = math.ceil(math.log10(max(abs(scale.low), abs(scale.high))))
    sides = (scale.low < 0) + (scale.high > 0)
    step = max(1, math.ceil((stop - start + 1) * sides / wanted))
    sizes = [10.0**p for p in range(start, stop + 1, step)]
    return [v for v in (*(-s for s in reversed(sizes)), 0.0, *sizes) if scale.low <= v <= scale.high]


def _spread(at: Sequence[float]) -> bool:
    """Whether plain numbers would be unwieldy."""
    return bool(at) and (max(at) >= 1e6 or min(at) < 1e-3)


def _power(value: float, base: int) -> str:
    exponent = round(math.log2(value) if base == 2 else math.log10(value), 6)
    if exponent == int(exponent):
        return f"${base}^{{{int(exponent)}}}$"
    lead = value / 10 ** math.floor(exponent)
    return f"${lead:g}\\cdot 10^{{{math.floor(exponent)}}}$"


def _texts(at: Sequence[float], percent: str) -> list[str]:
    """Ticks with equal decimals on linear axes, plain numbers else; thousands set apart by a thin space."""
    if not at:
        return []
    largest = max(abs(v) for v in at)
    if largest and (largest >= 1e6 or largest < 1e-3):
        power = math.floor(math.log10(largest))
        return [rf"$0${percent}" if v == 0 else rf"${v / 10**power:g}\cdot 10^{{{power}}}${percent}" for v in at]
    steps = {round(b - a, 12) for a, b in zip(at, at[1:], strict=False)}
    places = max(_decimals(v) for v in at) if len(steps) <= 1 else None
    return [f"${thousands(f'{v:.{_decimals(v) if places is None else places}f}')}${percent}" for v in at]


def _decimals(value: float) -> int:
    text = f"{value:.6g}"
    return len(text.partition(".")[2]) if "e" not in text else 6


def thousands(text: str) -> str:
    r"""Set groups of three digits apart by `\,` where a number has five or more before the point."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    whole, point, rest = digits.partition(".")
    if len(whole) < 5:
        return text
    head = len(whole) % 3 or 3
    return sign + r"\,".join([whole[:head], *(whole[i : i + 3] for i in range(head, len(whole), 3))]) + point + rest
