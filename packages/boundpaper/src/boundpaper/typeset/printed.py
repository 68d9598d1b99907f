"""Parse numbers as a document prints them: the value, and the interval of values that round to it."""

import math
import re
from dataclasses import dataclass

from boundpaper.errors import DataError
from boundpaper.typeset.armour import plain

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_UNIT = r"(?:\s*(?:%|×|x|pp|points|each|tokens))?"
_WHOLE = r"(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)"
_NUMBER = rf"[-+±]?{_WHOLE}(?:\.\d+)?(?:e[-+]?\d{{1,3}})?[KM]?"
_SINGLE_NUMBER = re.compile(rf"^({_NUMBER}){_UNIT}$")
_RANGE = re.compile(rf"^({_NUMBER}){_UNIT}\s*(?:-|to)\s*({_WHOLE}(?:\.\d+)?(?:e[-+]?\d{{1,3}})?[KM]?){_UNIT}$")
_POWER = re.compile(r"^(?:(\d+(?:\.\d+)?)\s*[×x·]\s*)?10([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})$")
# Text that is surely intended as a number, even in a cell that may contain words.
_INTENDED_NUMBER = re.compile(rf"^[-+±]?(?:\d+,[\d,.]*|\d+(?:\.\d+)?e[-+]?\d+|10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+){_UNIT}$")
_SUFFIX_POWERS = {"K": 3, "M": 6}


class Unreadable(DataError):
    """A printed value should be a number but cannot be parsed."""


@dataclass(frozen=True)
class PrintedNumber:
    """A printed number.

    Attributes
    ----------
    value : float or None
        The number; None for a printed range. Percent and times signs are ignored: the value of `50%` is 50.
    decimals : int or None
        Digits after the decimal point, including the exponent: `3.00e-4` has 6, `50K` has -3.
    low, high : float
        The ends of the rounding interval, half a unit of the last printed digit below and above `value`. For a range,
        they are half a unit below its low end and half a unit above its high end.
    """

    value: float | None
    decimals: int | None
    low: float
    high: float


def parse(text: str) -> PrintedNumber:
    """Return the number in a printed cell.

    A number may have a sign (also U+2212 or ±), thousands commas, an `e` exponent, the suffix K or M, and a footnote
    star; it may follow `~`, `≈`, `<`, `>`, `=`, `≥` or `≤`, and precede a unit (`%`, `×`, `x`, `pp`, `points`, `each`,
    `tokens`). Powers such as `10⁻⁴` and ranges such as `97-100%` are also numbers. Raises Unreadable when the text is
    meant as a number but is ambiguous (`0,5`) or out of range, and DataError when it is not a number.
    """
    excerpt = text if len(text) < 60 else f"{text[:60]}..."
    body = plain(text).strip().rstrip("*").replace("−", "-").replace("–", "-").lstrip("~≈<>=≥≤ ").strip()
    if power := _POWER.match(body):
        exponent = int(power[2].translate(_SUPERSCRIPTS))
        return _parse_number(power[1] or "1", -exponent, excerpt)
    if single := _SINGLE_NUMBER.match(body):
        return _parse_number(single[1], 0, excerpt)
    if bounds := _RANGE.match(body):
        low_end, high_end = _parse_number(bounds[1], 0, excerpt), _parse_number(bounds[2], 0, excerpt)
        if bounds[2][-1] in _SUFFIX_POWERS and bounds[1][-1] not in _SUFFIX_POWERS:
            low_end = _parse_number(bounds[1] + bounds[2][-1], 0, excerpt)
        if low_end.low > high_end.high:
            raise DataError(f"{text!r}: the range is in descending order; write its ends as two rows")
        return PrintedNumber(value=None, decimals=None, low=low_end.low, high=high_end.high)
    if _INTENDED_NUMBER.match(body):
        raise Unreadable(
            f"{excerpt!r} is not a printed number: use commas for thousands (1,234), a point for decimals, and at most "
            "three digits of exponent"
        )
    raise DataError(f"{excerpt!r} is not a printed number; write the digits, or empty the cell and give a reason")


def _parse_number(text: str, shift: int, excerpt: str) -> PrintedNumber:
    body = text.replace(",", "").lstrip("±")
    scale = _SUFFIX_POWERS.get(body[-1], 0)
    mantissa, _, exponent = body.rstrip("KM").partition("e")
    power = int(exponent or 0) + scale - shift
    decimals = len(mantissa.partition(".")[2]) - power
    value = float(f"{mantissa}e{power}")
    if math.isinf(value) or (value == 0 and mantissa.strip("+-0.")):
        raise Unreadable(f"{excerpt!r} is outside the range of floating-point numbers")
    half = float(f"5e{-decimals - 1}")
    return PrintedNumber(value=value, decimals=decimals, low=value - half, high=value + half)
