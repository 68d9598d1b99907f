"""Typeset the reasons and statements of claims: replace data keys by names, and write minus signs and powers of ten."""

import re
from collections.abc import Iterable

_POWER = re.compile(r"(?<=\d)e([-+]?)0*(\d+)\b|10\^(-?)(\d+)\b")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SIGN_OF_ZERO = re.compile(r"(?<![\w.])[+−](?=0(?:\.0+)?(?![\d.]*\d))")


def typeset(text: str, replacements: Iterable[tuple[str, str]] = ()) -> str:
    """Return a text with data keys replaced, and with signs as in print: `rho = -1.9e-02` becomes `ρ = −1.9 × 10⁻²`.

    Ranges (`0-1`) stay unchanged. `replacements` are the regular expressions of the vocabulary, each with its
    replacement, in the order in which they are applied.
    """
    for pattern, replacement in replacements:
        text = re.sub(pattern, replacement, text)
    text = re.sub(r"\brho\b", "ρ", text)
    text = _POWER.sub(_raise_power, text)
    text = re.sub(r"(?<=\d) - (?=\d)", " − ", text)
    text = re.sub(r"(?<![\w.%)])-(?=[\d.])", "−", text)
    return _SIGN_OF_ZERO.sub("", text)


def _raise_power(match: re.Match[str]) -> str:
    if match[2]:
        return f" × 10{(match[1].replace('+', '') + match[2]).translate(_SUPERSCRIPTS)}"
    return f"10{(match[3] + match[4]).translate(_SUPERSCRIPTS)}"
