"""Round numbers exactly: halves of the shortest decimal form away from zero, for numbers of any magnitude."""

import math
import numbers
from decimal import ROUND_HALF_UP, Context, Decimal

from boundpaper.errors import DataError, SpecError
from boundpaper.typeset.glyphs import NumberParts
from boundpaper.typeset.grouping import group_digits

EXACT = Context(prec=1100, rounding=ROUND_HALF_UP)  # enough to round all floats exactly, up to 10^±308


def finite(value: object, name: str = "value") -> Decimal:
    """Return a number exactly as its shortest decimal form.

    Raises DataError for a value that is not a number (text, bool, None), NaN or infinite.
    """
    if isinstance(value, Decimal):
        number = value
    elif isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return Decimal(int(value))
    elif isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = Decimal(repr(float(value)))
    else:
        raise DataError(f"the {name} {value!r} is not a number")
    if not number.is_finite():
        raise DataError(f"the {name} is not a finite number: leave it empty and give a reason")
    return number


def round_half_up(number: Decimal, digits: int) -> Decimal:
    """Return a number rounded to `digits` after the point (negative: before it), halves away from zero."""
    return number.quantize(Decimal(1).scaleb(-digits, EXACT), context=EXACT)


def decimal_parts(
    number: Decimal, digits: int, *, sign: bool = False, thousands: bool = True, suffix: str = ""
) -> NumberParts:
    """Return a number rounded to `digits` decimals and split into parts; a zero has no sign."""
    value = round_half_up(number, digits)
    integer, _, fraction = format(value.copy_abs(), "f").partition(".")
    if thousands:
        integer = group_digits(integer)
    sign_text = "" if value == 0 else "-" if value < 0 else "+" if sign else ""
    return NumberParts(sign=sign_text, whole=integer, fraction=fraction, suffix=suffix)


def significant_place(number: Decimal, digits: int) -> int:
    """Return the decimals at which `number` has `digits` significant digits after rounding (9.96 to two: 0, so 10)."""
    if digits < 1:
        raise SpecError(f"a number needs at least one significant digit, not {digits}")
    if number == 0:
        return digits - 1
    place = digits - 1 - number.adjusted()
    return place - 1 if round_half_up(number, place).adjusted() > number.adjusted() else place


def shortest_text(value: object) -> str:
    """Return the shortest text that parses to the same number."""
    finite(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    return str(value) if isinstance(value, Decimal) else repr(float(value))  # type: ignore[arg-type]


def half_width(low: object, high: object) -> float:
    """Return half the width of an interval."""
    return float(finite(high) - finite(low)) / 2 if math.isfinite(float(finite(high) - finite(low))) else math.inf
