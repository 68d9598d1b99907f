"""Compute the positions and labels of ticks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from boundpaper.figures.text import latex
from boundpaper.typeset.grouping import group_digits

if TYPE_CHECKING:
    from boundpaper.figures.scale import Scale
    from boundpaper.figures.spec import Axis


def with_ticks(scale: Scale, axis: Axis, *, every: float, years: bool = False) -> Scale:
    """Return the scale with ticks: the axis' ticks, else round numbers about `every` mm apart; years have no comma."""
    sign = r"\%" if axis.percent else ""
    if isinstance(axis.ticks, Mapping):
        return replace(scale, ticks=tuple((float(v), latex(t)) for v, t in axis.ticks.items()))
    if axis.ticks is not None:
        given_ticks = [float(v) for v in axis.ticks]
        if years and all(map(is_year, given_ticks)):
            return replace(scale, ticks=tuple((v, f"${v:.0f}$") for v in given_ticks))
        return replace(scale, ticks=tuple(zip(given_ticks, tick_texts(given_ticks, sign), strict=True)))
    wanted = max(2, min(9, round(scale.length / every)))
    if scale.kind == "log":
        at = _enough_ticks(lambda count: log_ticks(scale.low, scale.high, count, axis.base), wanted)
        powers = len(at) > 1 and (max(at) >= 1e5 or min(at) < 1e-3)
        labels = [_power_text(v, axis.base) + sign for v in at] if powers else tick_texts(at, sign, equal=False)
    elif scale.kind == "symlog":
        at = without_crowded(scale, symlog_ticks(scale.low, scale.high, axis.threshold), every * 0.6)
        labels = tick_texts(at, sign, equal=False)
    elif scale.geometric and scale.high / scale.low > 30:
        at = without_crowded(scale, log_ticks(scale.low, scale.high, wanted, axis.base), every * 0.6)
        labels = tick_texts(at, sign, equal=False)
    elif years:
        at = [v for v in linear_ticks(scale.low, scale.high, wanted) if v == round(v)]
        labels = [f"${v:.0f}$" for v in at]
    else:
        at = _enough_ticks(lambda count: linear_ticks(scale.low, scale.high, count), wanted)
        labels = tick_texts(at, sign)
    return replace(scale, ticks=tuple(zip(at, labels, strict=True)))


def _enough_ticks(make: Callable[[int], list[float]], wanted: int) -> list[float]:
    """Return at least three ticks, since two show no scale, or if that is impossible `wanted` ticks."""
    return next((at for count in range(wanted, 10) if len(at := make(count)) > 2), make(wanted))


def is_year(value: object) -> bool:
    """Return whether a number or a text of digits is probably a year of four digits."""
    try:
        return 1800 <= float(str(value)) <= 2100 and float(str(value)).is_integer()
    except ValueError:
        return False


def linear_ticks(low: float, high: float, count: int) -> list[float]:
    """Return about `count` ticks between the limits, at multiples of 1, 2 or 5 times a power of ten."""
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((m * power for m in (1, 2, 5, 10)), key=lambda s: abs(math.log(s / raw)))
    slack = step * 1e-9
    first, last = math.ceil((low - slack) / step), math.floor((high + slack) / step)
    return [round(i * step, 12 - math.floor(math.log10(step))) for i in range(first, last + 1)]


def log_ticks(low: float, high: float, count: int, base: int) -> list[float]:
    """Return powers of the base as ticks; below two decades also multiples (3, or 2 and 5), or round numbers."""
    log = math.log2 if base == 2 else math.log10
    a, b = log(low), log(high)
    powers = range(math.ceil(a - 1e-9), math.floor(b + 1e-9) + 1)
    if base == 10 and len(powers) < 3:
        for parts in ((1, 3), (1, 2, 5)):
            at = [m * 10.0**p for p in range(math.floor(a), math.floor(b) + 1) for m in parts]
            at = [v for v in at if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
            if len(at) >= 3:
                return at
        return linear_ticks(low, high, count)
    step = max(1, math.ceil(len(powers) / count))
    return [float(base) ** p for p in powers if p % step == 0]


def symlog_ticks(low: float, high: float, threshold: float) -> list[float]:
    """Return ticks at zero and at powers of ten from the threshold outwards."""
    start = math.ceil(math.log10(threshold))
    stop = math.floor(math.log10(max(abs(low), abs(high), threshold)))
    sizes = [10.0**p for p in range(start, stop + 1)]
    return [v for v in (*(-s for s in reversed(sizes)), 0.0, *sizes) if low <= v <= high]


def without_crowded(scale: Scale, at: Sequence[float], room: float) -> list[float]:
    """Return the ticks, except those closer than `room` mm to a larger tick or to zero."""
    kept: list[float] = [v for v in at if v == 0]
    for value in sorted(at, key=lambda v: -abs(v)):
        if all(abs(scale.at(value) - scale.at(k)) >= room for k in kept):
            kept.append(value)
    return sorted(kept)


def tick_texts(at: Sequence[float], sign: str = "", *, equal: bool = True) -> list[str]:
    """Return tick labels, with `equal` decimals if requested; very large and small numbers have a power of ten."""
    largest = max((abs(v) for v in at), default=0.0)
    step = min((b - a for a, b in pairwise(sorted(at)) if b > a), default=largest)
    if largest > 1e5 * step:  # they differ only after the digits that a tick label shows
        places = max(0, -math.floor(math.log10(step) + 1e-9))
        return [f"${group_thousands(f'{v:.{places}f}')}${sign}" for v in at]
    if largest and (largest >= 1e6 or largest < 1e-3):
        power = math.floor(math.log10(largest))
        return [rf"$0${sign}" if v == 0 else rf"${v / 10**power:g}\cdot 10^{{{power}}}${sign}" for v in at]
    decimals = max((decimals_needed(v) for v in at), default=0)
    return [f"${group_thousands(f'{v:.{decimals if equal else decimals_needed(v)}f}')}${sign}" for v in at]


def _power_text(value: float, base: int) -> str:
    exponent = math.log2(value) if base == 2 else math.log10(value)
    whole_power = math.floor(exponent + 1e-9)
    lead = value / float(base) ** whole_power
    return f"${base}^{{{whole_power}}}$" if abs(lead - 1) < 1e-6 else rf"${lead:g}\cdot {base}^{{{whole_power}}}$"


def decimals_needed(value: float) -> int:
    """Return the number of decimals that a number needs, up to six significant digits."""
    text = f"{value:.6g}"
    if "e" in text:
        mantissa, _, exponent = text.partition("e")
        return max(0, len(mantissa.partition(".")[2]) - int(exponent))
    return len(text.partition(".")[2])


def group_thousands(text: str) -> str:
    """Return the text with thousands separated by commas, for use in mathematics."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    integer, point, fraction = digits.partition(".")
    return sign + group_digits(integer).replace(",", "{,}") + point + fraction
