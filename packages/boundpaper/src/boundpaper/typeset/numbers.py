"""Define number formats for tables, captions and chapters.

A format is a frozen dataclass: `format.show(value, "latex")` returns text, and `format.parts(value)` returns the parts
by which a table aligns a column. Numbers are rounded in their shortest decimal form, halves away from zero. A zero has
no sign, NaN and infinity are errors, and the printed bound of a p-value is never below the true p.
"""

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias

from boundpaper.errors import DataError, SpecError
from boundpaper.typeset.armour import plain, quoted
from boundpaper.typeset.glyphs import SUPERSCRIPT, NumberParts, glyphs, interval_tokens
from boundpaper.typeset.glyphs import Output as Output
from boundpaper.typeset.grouping import group_digits
from boundpaper.typeset.rounding import EXACT, decimal_parts, significant_place
from boundpaper.typeset.rounding import finite as finite
from boundpaper.typeset.rounding import round_half_up as round_half_up
from boundpaper.typeset.rounding import shortest_text as shortest_text
from boundpaper.typeset.text import escape, numerals, prose

P_LEVELS = (0.05, 0.01, 0.001)


class ScalarFormat:
    """A format for one number."""

    __slots__ = ()

    def parts(self, value: object) -> NumberParts:
        """Return the parts of the rounded value."""
        raise NotImplementedError

    def show(self, value: object, format: Output = "latex") -> str:
        """Return `value` as text in `format`; in CSV, it has all its digits."""
        return shortest_text(value) if format == "csv" else glyphs(self.parts(value).tokens, format)


@dataclass(frozen=True, slots=True)
class Fixed(ScalarFormat):
    """A format with a fixed number of decimals."""

    digits: int
    sign: bool = False  # whether positive numbers get a plus
    suffix: str = ""
    thousands: bool = True
    scale: int = 1  # factor by which numbers are multiplied before rounding

    def __post_init__(self) -> None:
        if not isinstance(self.digits, int) or not 0 <= self.digits <= 15:
            raise SpecError(f"a number format can have 0 to 15 digits, not {self.digits!r}")

    def parts(self, value: object) -> NumberParts:
        """Return the parts of the rounded value."""
        number = EXACT.multiply(finite(value), self.scale)
        return decimal_parts(number, self.digits, sign=self.sign, thousands=self.thousands, suffix=self.suffix)

    def bare(self) -> "Fixed":
        """Return this format without plus and suffix, for interval ends and uncertainties."""
        return replace(self, sign=False, suffix="")


@dataclass(frozen=True, slots=True)
class Significant(ScalarFormat):
    """A format with `digits` significant digits and no exponent."""

    digits: int
    thousands: bool = True

    def parts(self, value: object) -> NumberParts:
        """Return the parts of the rounded value."""
        number = finite(value)
        return decimal_parts(number, significant_place(number, self.digits), thousands=self.thousands)


@dataclass(frozen=True, slots=True)
class Scientific(ScalarFormat):
    """A format with a mantissa of `digits` decimals and a power of ten, which is omitted if it is 1."""

    digits: int

    def parts(self, value: object) -> NumberParts:
        """Return the parts of the rounded value."""
        number = finite(value)
        if number == 0:
            return NumberParts(whole="0")
        decimals = significant_place(number, self.digits + 1)
        exponent = self.digits - decimals
        mantissa = decimal_parts(round_half_up(number, decimals).scaleb(-exponent, EXACT), self.digits)
        return replace(mantissa, exponent=exponent or None)


@dataclass(frozen=True, slots=True)
class PValue(ScalarFormat):
    """A format for p-values: `0.012`, `< 0.001`, `< 10^-11`; `relation` writes `= 0.012`, for use after the letter p.

    A p-value below 0.001 is shown as `<` and the next larger power of ten. A p-value above a level in `P_LEVELS` gets
    enough digits to stay above it: 0.0504 is not rounded to 0.050.
    """

    digits: int = 3
    relation: bool = False

    def parts(self, value: object) -> NumberParts:
        """Return the parts of the rounded p-value; raise DataError outside 0 to 1."""
        p = _p_value(value)
        if p < Decimal("0.001"):
            exponent = max(p.adjusted() + 1, -300) if p else -300  # p = 0 is floating-point underflow
            if exponent == -3:
                return NumberParts(prefix="<", whole="0", fraction="001")
            return NumberParts(prefix="<", exponent=exponent)
        digits = max(self.digits, 3)
        while any(round_half_up(p, digits) <= Decimal(str(level)) < p for level in P_LEVELS):
            digits += 1
        return replace(decimal_parts(p, digits), prefix="=" if self.relation else "")


@dataclass(frozen=True, slots=True)
class IntervalFormat:
    """A format for a pair (low, high): `[0.12, 0.45]`."""

    digits: int
    scale: int = 1
    suffix: str = ""

    def show(self, value: object, format: Output = "latex") -> str:
        """Return the pair as text; raise DataError if it is not a pair or its ends are in the wrong order."""
        low, high = pair(value, "interval")
        if format == "csv":
            return f"{shortest_text(low)},{shortest_text(high)}"
        ends = Fixed(self.digits, scale=self.scale)
        return glyphs(interval_tokens(ends.parts(low), ends.parts(high)) + tuple(self.suffix), format)


@dataclass(frozen=True, slots=True)
class Uncertain:
    """A format for a pair (value, uncertainty): `0.123 ± 0.045`; the uncertainty has `digits` significant digits."""

    digits: int = 2
    sign: bool = False

    def decimals(self, uncertainty: object) -> int:
        """Return an uncertainty's number of decimals (-2: hundreds); raise DataError for uncertainties of 0 or less."""
        spread = finite(uncertainty, "uncertainty")
        if spread <= 0:
            raise DataError(f"the uncertainty {uncertainty!r} does not determine a precision: use fixed(digits)")
        return significant_place(spread, self.digits)

    def parts_at(self, decimals: int, value: object) -> NumberParts:
        """Return the parts of a value or an uncertainty rounded to a number of decimals."""
        return decimal_parts(finite(value), decimals, sign=self.sign)

    def show(self, value: object, format: Output = "latex") -> str:
        """Return the pair as text in `format`."""
        number, spread = pair(value, "value with its uncertainty")
        if format == "csv":
            return f"{shortest_text(number)},{shortest_text(spread)}"
        decimals = self.decimals(spread)
        spread_tokens = replace(self, sign=False).parts_at(decimals, spread).tokens
        return glyphs((*self.parts_at(decimals, number).tokens, "±", *spread_tokens), format)


_PRINTED = re.compile(
    r"(?P<prefix>[~≈<>≤≥=]?)\s*(?P<sign>[+\-−]?)(?P<whole>[1-9]\d{0,2}(?:,\d{3})+|\d+|(?=\.\d))(?:\.(?P<fraction>\d+))?"
    r"(?:[eE](?P<exponent>[+\-−]?\d+))?(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?(?:\s*[-–]\s*+(?P<to>\d+(?:\.\d+)?))?"
    r"\s*(?P<suffix>[%×x]?\*?)"
)
_UNRAISED = {raised: char for char, raised in SUPERSCRIPT.items()}


@dataclass(frozen=True, slots=True)
class AsPrinted:
    """A format for numbers given as text in a document (`−39%`, `~50`, `3.00e-4`, `< 10⁻⁴⁸`, `97-100%`).

    Thousands get commas even if the document has none. Text that is not a number, such as `50 each`, stays unchanged.
    """

    def parts(self, value: object) -> NumberParts | None:
        """Return the parts of the text; None if it is not a number."""
        if not isinstance(value, str):
            raise DataError(f"printed() is for text of a document, not {value!r}: use fixed(digits)")
        match = _PRINTED.fullmatch(plain(value).strip())
        if match is None:
            return None
        whole, power = match["whole"] or "0", match["power"]
        if power and (whole != "10" or match["fraction"] or match["exponent"]):
            return None
        exponent = "".join(_UNRAISED[char] for char in power or "") or (match["exponent"] or "").replace("−", "-")
        return NumberParts(
            sign=match["sign"].replace("−", "-"),
            whole="" if power else group_digits(whole) if len(whole) > 3 else whole,
            fraction=match["fraction"] or "",
            exponent=int(exponent) if exponent else None,
            prefix=match["prefix"],
            suffix=(f"–{match['to']}" if match["to"] else "") + match["suffix"].replace("x", "×"),
        )

    def show(self, value: object, format: Output = "latex") -> str:
        """Return the text in `format`."""
        parts = self.parts(value)
        if format == "csv":
            return plain(str(value))
        if parts is None:
            return Words().show(value, format)
        return glyphs(parts.tokens, format)


@dataclass(frozen=True, slots=True)
class Words:
    """A format for text: literal data or, with `markup`, an author's prose.

    `boundpaper.typeset.text.prose` defines prose. With `numbers`, numbers in data are typeset as in prose, which is
    right only for sentences, since it changes identifiers.

    Examples
    --------
    >>> import boundpaper as bp
    >>> [kind.show("1500 *seeds*", "html") for kind in (bp.text, bp.sentences, bp.markup)]
    ['1500 *seeds*', '1,500 *seeds*', '1500 <em>seeds</em>']
    """

    markup: bool = False
    numbers: bool = False

    def show(self, value: object, format: Output = "latex") -> str:
        """Return the text; booleans become yes and no, and whole floats lose their decimal point."""
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, float) and value.is_integer():
            value = str(int(value))
        text = str(value)
        if format == "plain" or format == "csv":
            return quoted(text) if self.markup else plain(text)
        if self.markup:
            return prose(text, format)
        return escape(numerals(text, thousands=True) if self.numbers else text, format)


Number: TypeAlias = Fixed | Significant | Scientific | PValue
Show: TypeAlias = Number | IntervalFormat | Uncertain | AsPrinted | Words


def pair(value: object, name: str) -> tuple[Any, Any]:
    """Return a pair of finite numbers; raise DataError for any other value, or for an interval with reversed ends."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise DataError(f"expected a pair of numbers for the {name}, not {value!r}")
    first, second = value
    if finite(first) > finite(second) and name == "interval":
        raise DataError(f"the interval {value!r} has its ends in the wrong order: swap them")
    return first, second


def _p_value(value: object) -> Decimal:
    """Return a p-value in its shortest decimal form; raise DataError outside 0 to 1."""
    p = finite(value, "p-value")
    if not 0 <= p <= 1:
        raise DataError(f"the p-value {value!r} is not between 0 and 1")
    return p


def stars(p: object, levels: tuple[float, ...] = P_LEVELS) -> int:
    """Return the number of significance levels that a p-value is below."""
    return sum(_p_value(p) < Decimal(str(level)) for level in levels)


def fixed(digits: int, *, thousands: bool = True) -> Fixed:
    """Return a format with `digits` decimals: `0.85`, `1,815.8`.

    Parameters
    ----------
    digits : int
        Digits after the point.
    thousands : bool
        Whether to write commas between thousands.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.fixed(1).show(1815.84, "plain")
    '1,815.8'
    """
    return Fixed(digits, thousands=thousands)


def signed(digits: int) -> Fixed:
    """Return a format with `digits` decimals and a plus before positive numbers: `+0.85`.

    Parameters
    ----------
    digits : int
        Digits after the point.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.signed(2).show(0.85, "plain")
    '+0.85'
    """
    return Fixed(digits, sign=True)


def percent(digits: int = 1, *, share: bool = False, sign: bool = False) -> Fixed:
    """Return a format for percentages: `89.5%`.

    Parameters
    ----------
    digits : int
        Digits after the point.
    share : bool
        Whether the data are shares (0.895) and not percentages (89.5).
    sign : bool
        Whether to write a plus before positive numbers.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.percent(share=True).show(0.895, "plain")
    '89.5%'
    """
    return Fixed(digits, sign=sign, suffix="%", scale=100 if share else 1)


def points(digits: int = 0, *, sign: bool = False) -> Fixed:
    """Return a format for differences in percentage points, without a unit: 0.332 becomes `33`.

    Parameters
    ----------
    digits : int
        Digits after the point.
    sign : bool
        Whether to write a plus before positive numbers.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.points().show(0.332, "plain")
    '33'
    """
    return Fixed(digits, sign=sign, scale=100)


def times(digits: int = 1, *, sign: bool = False) -> Fixed:
    """Return a format for factors: `2.3×`.

    Parameters
    ----------
    digits : int
        Digits after the point.
    sign : bool
        Whether to write a plus before positive numbers.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.times().show(2.26, "html")
    '2.3×'
    """
    return Fixed(digits, sign=sign, suffix="×")


def integer(*, thousands: bool = True, sign: bool = False) -> Fixed:
    """Return a format for whole numbers: `131,072`; years and identifiers need `thousands=False`.

    Parameters
    ----------
    thousands : bool
        Whether to write commas between thousands.
    sign : bool
        Whether to write a plus before positive numbers.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.integer().show(131072, "plain")
    '131,072'
    """
    return Fixed(0, sign=sign, thousands=thousands)


def significant(digits: int, *, thousands: bool = True) -> Significant:
    """Return a format with `digits` significant digits: `0.0123`, `12.3`, `1,230`.

    Parameters
    ----------
    digits : int
        Significant digits.
    thousands : bool
        Whether to write commas between thousands.

    Examples
    --------
    >>> import boundpaper as bp
    >>> [bp.significant(3).show(value, "plain") for value in (0.01234, 1234)]
    ['0.0123', '1,230']
    """
    return Significant(digits, thousands)


def scientific(digits: int = 1) -> Scientific:
    """Return a format with a mantissa of `digits` decimals and a power of ten: `3.4 × 10^-12`.

    Parameters
    ----------
    digits : int
        Digits of the mantissa after the point.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.scientific().show(3.41e-12, "plain")
    '3.4e-12'
    """
    return Scientific(digits)


def pvalue(digits: int = 3, *, relation: bool = False) -> PValue:
    """Return a format for p-values, which shows a bound for values below 0.001: `0.012`, `< 0.001`, `< 10^-11`.

    Parameters
    ----------
    digits : int
        Digits after the point.
    relation : bool
        Whether to write `=` before a number that is no bound: `= 0.012`.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.pvalue(relation=True).show(0.0002, "plain")
    '< 0.001'
    """
    return PValue(digits, relation)


def interval(digits: int, *, share: bool = False) -> IntervalFormat:
    """Return a format for pairs (low, high): `[0.12, 0.45]`.

    Parameters
    ----------
    digits : int
        Digits after the point.
    share : bool
        Whether the data are shares (0.895) and not percentages (89.5).

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.interval(2).show((0.12, 0.45), "plain")
    '[0.12, 0.45]'
    """
    return IntervalFormat(digits, scale=100 if share else 1, suffix="%" if share else "")


def uncertain(digits: int = 2, *, sign: bool = False) -> Uncertain:
    """Return a format for pairs (value, uncertainty), rounded to the same number of decimals: `0.123 ± 0.045`.

    Parameters
    ----------
    digits : int
        Significant digits of the uncertainty.
    sign : bool
        Whether to write a plus before positive numbers.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.uncertain().show((0.12345, 0.0451), "plain")
    '0.123 ± 0.045'
    """
    return Uncertain(digits, sign)


def printed() -> AsPrinted:
    """Return a format for numbers given as text in a document.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.printed().show("~50", "plain")
    '~50'
    """
    return AsPrinted()


text = Words()
markup = Words(markup=True)
sentences = Words(numbers=True)
