"""Handle the precision of printed numbers: the range of values that round to a number, and arithmetic on ranges.

A number printed with d decimals stands for an interval of half a unit of the last place on either side. Results of
rounded inputs are also intervals; each function below returns the exact range for independent inputs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Agreement = Literal["holds", "holds after rounding", "contradicted"]

SLACK = 1e-9
"""Fraction of their size by which ends that are equal in exact arithmetic may differ."""
FEWEST_VALUES = 5
"""Minimum number of printed values whose common final zero is not chance."""


@dataclass(frozen=True)
class Interval:
    """A closed range of numbers.

    Parameters
    ----------
    low, high : float
        The ends of the range.

    Raises
    ------
    ValueError
        If low is above high or an end is missing.

    Examples
    --------
    >>> from boundpaper.statistics import Interval
    >>> Interval(18.35, 18.45).low
    18.35
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"interval from {self.low} to {self.high}: give both ends, the lower first")

    @property
    def middle(self) -> float:
        """Return the middle of the range."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """Return the length of the range."""
        return self.high - self.low

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __add__(self, other: "Interval | float") -> "Interval":
        right = exact(other)
        return Interval(self.low + right.low, self.high + right.high)

    def __sub__(self, other: "Interval | float") -> "Interval":
        return self + -exact(other)

    def __mul__(self, other: "Interval | float") -> "Interval":
        right = exact(other)
        ends = [a * b for a in (self.low, self.high) for b in (right.low, right.high)]
        return Interval(min(ends), max(ends))

    def __truediv__(self, other: "Interval | float") -> "Interval":
        return ratio(self, exact(other))


def exact(value: "Interval | float") -> Interval:
    """Return a number as a range of length 0, or a range unchanged."""
    return value if isinstance(value, Interval) else Interval(float(value), float(value))


def half_unit(decimals: int) -> float:
    """Return half a unit of the last place of a number printed with `decimals` decimals (negative for tens)."""
    return 0.5 * 10.0**-decimals


def printed_interval(value: float, decimals: int) -> Interval:
    """Return the range of values that round to a printed number: value -+ half a unit of the last place.

    Parameters
    ----------
    value : float
        The number.
    decimals : int
        Digits after the point; negative if digits before the point are rounded.

    Examples
    --------
    >>> from boundpaper.statistics import printed_interval
    >>> printed_interval(18, 0)
    Interval(low=17.5, high=18.5)
    """
    half = half_unit(decimals)
    return Interval(value - half, value + half)


def shared_decimals(values: Iterable[float], decimals: int) -> int:
    """Return the number of decimals, up to `decimals`, without the trailing zeros that all values share.

    A column of 3.00, 6.00 and 14.00 was rounded to units and printed with two zeros. With fewer than `FEWEST_VALUES`
    values, common zeros may be chance, so `decimals` is returned.
    """
    numbers = list(values)
    if len(numbers) < FEWEST_VALUES or not any(numbers):
        return decimals
    fewest = decimals
    while fewest > -12 and all(
        abs(value * 10.0 ** (fewest - 1) - round(value * 10.0 ** (fewest - 1))) < SLACK for value in numbers
    ):
        fewest -= 1
    return fewest


def difference(first: Interval, second: Interval) -> Interval:
    """Return first - second."""
    return first - second


def mean(values: Iterable[Interval]) -> Interval:
    """Return the range of the mean of numbers in several ranges; raise ValueError if there are none."""
    ranges = list(values)
    if not ranges:
        raise ValueError("mean of 0 intervals; give at least one")
    low, high = sum(interval.low for interval in ranges), sum(interval.high for interval in ranges)
    return Interval(low / len(ranges), high / len(ranges))


def ratio(numerator: Interval, denominator: Interval) -> Interval:
    """Return the range of numerator / denominator; raise ValueError if the denominator may be zero."""
    if denominator.low <= 0 <= denominator.high:
        raise ValueError(f"ratio: the denominator is in {denominator} and may be zero; compare differences instead")
    return numerator * Interval(1 / denominator.high, 1 / denominator.low)


def percent_change(before: Interval, after: Interval) -> Interval:
    """Return 100 (after - before) / before, for a `before` that cannot be zero.

    Parameters
    ----------
    before, after : Interval
        Ranges of the two numbers, in the same unit.

    Raises
    ------
    ValueError
        If `before` may be zero.

    Examples
    --------
    >>> from boundpaper.statistics import percent_change, printed_interval
    >>> change = percent_change(printed_interval(8.1, 1), printed_interval(18.4, 1))
    >>> round(change.low, 1), round(change.high, 1)
    (125.2, 129.2)
    """
    # written so that `before` occurs only once; otherwise the range would be too wide
    return (ratio(after, before) - 1) * 100


def relative_decline(before: Interval, after: Interval) -> Interval:
    """Return 1 - after / before, for a `before` that cannot be zero.

    Parameters
    ----------
    before, after : Interval
        Ranges of the two numbers, in the same unit.

    Raises
    ------
    ValueError
        If `before` may be zero.

    Examples
    --------
    >>> from boundpaper.statistics import printed_interval, relative_decline
    >>> lost = relative_decline(printed_interval(18.4, 1), printed_interval(8.1, 1))
    >>> round(lost.low, 3), round(lost.high, 3)
    (0.556, 0.564)
    """
    return exact(1) - ratio(after, before)


def meets(first: Interval, second: Interval) -> bool:
    """Return whether two ranges have a number in common, which may be a shared end.

    Parameters
    ----------
    first, second : Interval
        The ranges, in the same unit.

    Examples
    --------
    >>> from boundpaper.statistics import meets, printed_interval
    >>> meets(printed_interval(18.4, 1), printed_interval(18.5, 1))
    True
    """
    slack = SLACK * min(first.width, second.width) + 1e-14 * max(
        abs(first.low), abs(first.high), abs(second.low), abs(second.high)
    )
    return first.low <= second.high + slack and second.low <= first.high + slack


def overlaps(first: Interval, second: Interval) -> bool:
    """Return whether two ranges have more than an end in common.

    The printed numbers 6,586 and 6,587 are different although their ranges share an end. A range of length 0 is a
    number, and overlaps a range whose end it equals.
    """
    common = min(first.high, second.high) - max(first.low, second.low)
    narrow = min(first.width, second.width)
    return meets(first, second) and (narrow == 0 or common > 1e-6 * narrow)


def rounds_to(value: float, printed: float, decimals: int) -> bool:
    """Return whether `value` rounds to a number printed with `decimals` decimals; a tie may round either way.

    Parameters
    ----------
    value : float
        The exact number.
    printed : float
        The printed number, in the same unit.
    decimals : int
        Digits after the point of the printed number.

    Examples
    --------
    >>> from boundpaper.statistics import rounds_to
    >>> rounds_to(18.42, 18.4, 1), rounds_to(18.46, 18.4, 1)
    (True, False)
    """
    return abs(value - printed) <= half_unit(decimals) * (1 + SLACK) + 1e-14 * abs(printed)


def agreement(value: float, within: Interval | None, printed: float, decimals: int) -> Agreement:
    """Return whether a recomputed number agrees with the printed number.

    Parameters
    ----------
    value : float
        The number recomputed from the printed inputs.
    within : Interval or None
        Range of `value`, given the rounding of the inputs; None if these are exact.
    printed : float
        The printed number.
    decimals : int
        Decimals of the printed number.

    Returns
    -------
    str
        `holds` if the value rounds to the printed number, `holds after rounding` if it does not but the ranges overlap,
        else `contradicted`, which includes two different numbers of equal precision, such as counts.

    Examples
    --------
    >>> from boundpaper.statistics import agreement
    >>> agreement(18.42, None, 18.4, 1), agreement(18.46, None, 18.4, 1)
    ('holds', 'contradicted')
    """
    if rounds_to(value, printed, decimals):
        return "holds"
    if within is not None and overlaps(within, printed_interval(printed, decimals)):
        return "holds after rounding"
    return "contradicted"
