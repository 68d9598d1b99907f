"""Represent a rounded number as tokens, and write tokens in every format.

A token is a character, or a raised character after `^`. In a format, all numbers have the same minus (`$-$` in LaTeX,
U+2212 in Markdown and HTML, a hyphen in plain text), multiplication sign and superscripts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from boundpaper.errors import SpecError
from boundpaper.typeset.text import escape

Output = Literal["latex", "markdown", "html", "plain", "csv"]
OUTPUTS: tuple[Output, ...] = ("latex", "markdown", "html", "plain", "csv")

_PLAIN = {"–": "-", "×": "x", "e": "e", "±": " ± ", ";": ", ", " ": " "}
_UNICODE = {"-": "−", "e": " × 10", "±": " ± ", ";": ", ", " ": "\u00a0"}
_LATEX = {
    "-": "$-$", "+": "$+$", "×": r"$\times$", "e": r"\,$\times$\,10", "±": r"\,$\pm$\,", ";": ", ", " ": "~",
    "<": r"$<$\,", ">": r"$>$\,", "≤": r"$\leq$\,", "≥": r"$\geq$\,", "=": r"$=$\,", "~": r"$\sim$", "≈": r"$\approx$",
    "%": r"\%", "*": r"${*}$", "–": "--",
}  # fmt: skip
SUPERSCRIPT = dict(zip("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻", strict=True))


@dataclass(frozen=True, slots=True)
class NumberParts:
    """The parts of a rounded number, in this order: `prefix sign whole . fraction × 10^exponent suffix`.

    If `whole` is empty and `exponent` is not None, the number is a power of ten without a mantissa.
    """

    sign: str = ""
    whole: str = ""
    fraction: str = ""
    exponent: int | None = None
    prefix: str = ""
    suffix: str = ""

    @property
    def lead(self) -> tuple[str, ...]:
        """Return the tokens before the decimal point."""
        return (*self.prefix, *self.sign, *(self.whole or "10"))

    @property
    def tail(self) -> tuple[str, ...]:
        """Return the tokens from the decimal point to the last digit."""
        return (".", *self.fraction) if self.fraction else ()

    @property
    def power(self) -> tuple[str, ...]:
        """Return the tokens of the power of ten."""
        if self.exponent is None:
            return ()
        superscript = tuple(f"^{char}" for char in str(self.exponent))
        return ("e", *superscript) if self.whole else superscript

    @property
    def tokens(self) -> tuple[str, ...]:
        """Return all tokens, from left to right."""
        return (*self.lead, *self.tail, *self.power, *self.suffix)


def glyphs(tokens: Iterable[str], format: Output) -> str:
    """Return tokens as text in a format; raise SpecError for an unknown format."""
    if format not in OUTPUTS:
        raise SpecError(f"unknown number format {format!r}: use one of {', '.join(OUTPUTS)}")
    texts = []
    previous = ""
    for is_raised, group in groupby(tokens, key=lambda token: len(token) == 2 and token[0] == "^"):
        run = list(group)
        if is_raised:
            texts.append(_raised_power("".join(token[1] for token in run), format, previous))
        else:
            texts.append("".join(_format_token(token, format) for token in run))
        previous = run[-1]
    return "".join(texts)


def _format_token(token: str, format: Output) -> str:
    if format == "latex":
        return _LATEX.get(token, token)
    if format in ("markdown", "html"):
        text = _UNICODE.get(token) or escape(token, "html" if format == "html" else "markdown")
        return "−" if token == "-" else ("+" if token == "+" else text) + ("\u202f" if token in "<>≤≥=" else "")
    return _PLAIN.get(token, token) + (" " if token in "<>≤≥=" else "")


def _raised_power(power: str, format: Output, previous: str) -> str:
    if format == "latex":
        return f"$^{{{power}}}$"
    if format == "html":
        return f"<sup>{power.replace('-', '−')}</sup>"
    if format == "markdown":
        return "".join(SUPERSCRIPT[char] for char in power)
    return power if previous == "e" else f"^{power}"


def interval_tokens(low: NumberParts, high: NumberParts) -> tuple[str, ...]:
    """Return the tokens of an interval, `[low, high]`."""
    return ("[", *low.tokens, ";", *high.tokens, "]")
