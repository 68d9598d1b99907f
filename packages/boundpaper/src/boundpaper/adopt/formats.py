r"""Parse and apply the formats of bound numbers: in `\val{table/key/column:.3f}`, the format is `.3f`."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from boundpaper.errors import SpecError
from boundpaper.typeset.numbers import Fixed, Scientific, Significant

SEPARATORS = {",": ",", ";": "{,}", "_": r"\,"}
"""The LaTeX of each thousands separator, by its character in a format."""
_FORMAT = re.compile(r"(?P<signs>[+!,;_]*)(?:\.(?P<digits>\d\d?))?(?P<kind>[fpndgex])")


@dataclass(frozen=True)
class NumberFormat:
    """How a number is printed.

    Attributes
    ----------
    kind : str
        `f`: fixed digits after the point; `n`: as `f`, without a zero before the point; `d`: integer; `p`: fraction
        times 100, without a percent sign; `g`: significant digits; `e`: exponent as in 1e-3; `x`: power of ten.
    digits : int
        Digits after the point; for `g`, significant digits.
    sign, bare : bool
        Whether a plus sign is printed, and whether a minus sign is omitted.
    thousands : str
        The LaTeX of the thousands separator; empty for no separator.
    """

    kind: str
    digits: int
    sign: bool = False
    bare: bool = False
    thousands: str = ""

    def show(self, number: Decimal) -> str:
        """Return the LaTeX of a number in this format."""
        number = abs(number) if self.bare else number
        has_separator = bool(self.thousands)
        if self.kind in "ex":
            text = Scientific(self.digits).show(number, "plain")
            mantissa, _, exponent = text.partition("e")
            if self.kind == "e" or not exponent:
                return text
            return rf"\ensuremath{{{mantissa} \times 10^{{{exponent}}}}}"
        if self.kind == "g":
            text = Significant(self.digits, thousands=has_separator).show(number, "plain")
        else:
            scale = 100 if self.kind == "p" else 1
            text = Fixed(self.digits, sign=self.sign, thousands=has_separator, scale=scale).show(number, "plain")
        if self.kind == "n":
            text = re.sub(r"^([+-]?)0\.", r"\1.", text)
        return text.replace(",", self.thousands) if has_separator else text


@cache
def parse_format(text: str) -> NumberFormat:
    """Return the format that a text describes; raise SpecError for a text that is not a format."""
    match = _FORMAT.fullmatch(text)
    signs = match["signs"] if match else ""
    if match is None or (match["digits"] is None) != (match["kind"] == "d") or len(set(signs)) != len(signs):
        raise SpecError(f"{text!r} is not a format; write .3f, .1p (a fraction as a percentage), d, +.2f, ,d or .2e")
    separators = [SEPARATORS[sign] for sign in signs if sign in SEPARATORS]
    digits = int(match["digits"] or 0)
    if len(separators) > 1 or digits > 15 or (match["kind"] == "g" and not digits):
        raise SpecError(f"{text!r} is not a format; give at most one thousands separator, and at most 15 digits")
    return NumberFormat(match["kind"], digits, "+" in signs, "!" in signs, "".join(separators))
