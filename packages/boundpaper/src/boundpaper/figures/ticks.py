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


def with_ticks(scale: Scale, axis: Axis, *, every: float, are_years: bool = False) -> Scale:
    """Return the scale with the ticks that `axis` gives, else with ticks at round numbers about `every` mm apart.

    Labels of years have neither decimals nor commas.
    """
    unit = r"\%" if axis.percent else ""
    if isinstance(axis.ticks, Mapping):
        return replace(scale, ticks=tuple((float(v), latex(t)) for v, t in axis.ticks.items()))
    count = max(2, min(9, round(scale.length / every)))
    if axis.ticks is not None:
        ticks = [float(v) for v in axis.ticks]
        is_plain = are_years and all(map(is_year, ticks))
        labels = [f"${v:.0f}$" for v in ticks] if is_plain else tick_texts(ticks, unit)
    elif scale.kind == "log":
        ticks = _enough_ticks(lambda n: log_ticks(scale.low, scale.high, n, axis.base), count)
        labels = tick_texts(ticks, unit, equal_decimals=False)
        if len(ticks) > 1 and (max(ticks) >= 1e5 or min(ticks) < 1e-3):
            labels = [_power_text(v, axis.base) + unit for v in ticks]
    elif scale.kind == "symlog":
        ticks = spaced_ticks(scale, symlog_ticks(scale.low, scale.high, axis.threshold), every * 0.6)
        labels = tick_texts(ticks, unit, equal_decimals=False)
    elif scale.is_geometric and scale.high / scale.low > 30:
        ticks = spaced_ticks(scale, log_ticks(scale.low, scale.high, count, axis.base), every * 0.6)
        labels = tick_texts(ticks, unit, equal_decimals=False)
    elif are_years:
        ticks = [v for v in linear_ticks(scale.low, scale.high, count) if v == round(v)]
        labels = [f"${v:.0f}$" for v in ticks]
    else:
        ticks = _enough_ticks(lambda n: linear_ticks(scale.low, scale.high, n), count)
        labels = tick_texts(ticks, unit)
    return replace(scale, ticks=tuple(zip(ticks, labels, strict=True)))


def _enough_ticks(make: Callable[[int], list[float]], count: int) -> list[float]:
    """Return `make(count)`, or, if this has fewer than three ticks, `make` of a larger count (at most 9)."""
    return next((ticks for n in range(count, 10) if len(ticks := make(n)) > 2), make(count))


def is_year(value: object) -> bool:
    """Return whether a number or a text of digits is probably a year of four digits."""
    try:
        return 1800 <= float(str(value)) <= 2100 and float(str(value)).is_integer()
    except ValueError:
        return False


def linear_ticks(low: float, high: float, count: int) -> list[float]:
    """Return about `count` ticks between the limits, at multiples of 1, 2 or 5 times a power of ten."""
    exact_step = (high - low) / count
    power = 10.0 ** math.floor(math.log10(exact_step))
    step = min((m * power for m in (1, 2, 5, 10)), key=lambda s: abs(math.log(s / exact_step)))
    slack = step * 1e-9
    first, last = math.ceil((low - slack) / step), math.floor((high + slack) / step)
    return [round(i * step, 12 - math.floor(math.log10(step))) for i in range(first, last + 1)]


def log_ticks(low: float, high: float, count: int, base: int) -> list[float]:
    """Return powers of the base; if fewer than 3 powers of 10 fit, add multiples; if still fewer, use linear ticks."""
    log = math.log2 if base == 2 else math.log10
    a, b = log(low), log(high)
    powers = range(math.ceil(a - 1e-9), math.floor(b + 1e-9) + 1)
    if base == 10 and len(powers) < 3:
        for multiples in ((1, 3), (1, 2, 5)):
            ticks = [m * 10.0**p for p in range(math.floor(a), math.floor(b) + 1) for m in multiples]
            ticks = [v for v in ticks if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
            if len(ticks) >= 3:
                return ticks
        return linear_ticks(low, high, count)
    step = max(1, math.ceil(len(powers) / count))
    return [float(base) ** p for p in powers if p % step == 0]


def symlog_ticks(low: float, high: float, threshold: float) -> list[float]:
    """Return ticks at zero and at powers of ten from the threshold outwards."""
    start = math.ceil(math.log10(threshold))
    stop = math.floor(math.log10(max(abs(low), abs(high), threshold)))
    powers = [10.0**p for p in range(start, stop + 1)]
    return [v for v in (*(-p for p in reversed(powers)), 0.0, *powers) if low <= v <= high]


def spaced_ticks(scale: Scale, ticks: Sequence[float], distance: float) -> list[float]:
    """Return the ticks, except those closer than `distance` mm to a larger tick or to zero."""
    spaced: list[float] = [v for v in ticks if v == 0]
    for value in sorted(ticks, key=lambda v: -abs(v)):
        if all(abs(scale.mm(value) - scale.mm(v)) >= distance for v in spaced):
            spaced.append(value)
    return sorted(spaced)


def tick_texts(ticks: Sequence[float], unit: str = "", *, equal_decimals: bool = True) -> list[str]:
    """Return tick labels, with equally many decimals if `equal_decimals`, very large or small ones as powers of ten."""
    largest = max((abs(v) for v in ticks), default=0.0)
    step = min((b - a for a, b in pairwise(sorted(ticks)) if b > a), default=largest)
    if largest > 1e5 * step:  # neighbours differ only after the sixth digit
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        return [f"${group_thousands(f'{v:.{decimals}f}')}${unit}" for v in ticks]
    if largest and (largest >= 1e6 or largest < 1e-3):
        power = math.floor(math.log10(largest))
        return [rf"$0${unit}" if v == 0 else rf"${v / 10**power:g}\cdot 10^{{{power}}}${unit}" for v in ticks]
    decimals = max((decimals_needed(v) for v in ticks), default=0)
    return [f"${group_thousands(f'{v:.{decimals if equal_decimals else decimals_needed(v)}f}')}${unit}" for v in ticks]


def _power_text(value: float, base: int) -> str:
    exponent = math.floor((math.log2(value) if base == 2 else math.log10(value)) + 1e-9)
    mantissa = value / float(base) ** exponent
    return f"${base}^{{{exponent}}}$" if abs(mantissa - 1) < 1e-6 else rf"${mantissa:g}\cdot {base}^{{{exponent}}}$"


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
