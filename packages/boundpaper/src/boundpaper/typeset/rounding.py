"""Round the shortest decimal form of a number, exactly at any magnitude, with halves away from zero."""

import numbers
from decimal import ROUND_HALF_UP, Context, Decimal

from boundpaper.errors import DataError, SpecError
from boundpaper.typeset.glyphs import NumberParts
from boundpaper.typeset.grouping import group_digits

EXACT = Context(prec=1100, rounding=ROUND_HALF_UP)  # enough to round all floats exactly, up to 10^±308


def finite(value: object, name: str = "value") -> Decimal:
    """Return the shortest decimal form of a number, without rounding.

    Raises DataError for NaN, infinity, and a value that is not a number (text, bool, None).
    """
    if isinstance(value, bool) or not isinstance(value, (Decimal, numbers.Real)):
        raise DataError(f"the {name} {value!r} is not a number")
    if isinstance(value, numbers.Integral):
        return Decimal(int(value))
    number = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    if not number.is_finite():
        raise DataError(f"the {name} is not a finite number: leave the cell empty and give a reason")
    return number


def round_half_up(number: Decimal, digits: int) -> Decimal:
    """Return a number rounded to `digits` digits after the point, halves away from zero; -2 rounds to hundreds."""
    return number.quantize(Decimal(1).scaleb(-digits, EXACT), context=EXACT)


def decimal_parts(
    number: Decimal, digits: int, *, sign: bool = False, thousands: bool = True, suffix: str = ""
) -> NumberParts:
    """Return the parts of a number rounded to `digits` decimals; `sign` writes a plus, and a zero has no sign."""
    rounded = round_half_up(number, digits)
    integer, _, fraction = format(rounded.copy_abs(), "f").partition(".")
    if thousands:
        integer = group_digits(integer)
    sign_text = "" if rounded == 0 else "-" if rounded < 0 else "+" if sign else ""
    return NumberParts(sign=sign_text, whole=integer, fraction=fraction, suffix=suffix)


def significant_place(number: Decimal, digits: int) -> int:
    """Return the number of decimals for `digits` significant digits: with two digits, 9.96 needs 0 and becomes 10."""
    if digits < 1:
        raise SpecError(f"a number needs at least one significant digit, not {digits}")
    if number == 0:
        return digits - 1
    decimals = digits - 1 - number.adjusted()
    return decimals - 1 if round_half_up(number, decimals).adjusted() > number.adjusted() else decimals


def shortest_text(value: object) -> str:
    """Return the shortest text that parses to the same number."""
    finite(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    return str(value) if isinstance(value, Decimal) else repr(float(value))  # type: ignore[arg-type]


def half_width(low: object, high: object) -> float:
    """Return half the width of an interval; infinity if the width is larger than any float."""
    return float(finite(high) - finite(low)) / 2
