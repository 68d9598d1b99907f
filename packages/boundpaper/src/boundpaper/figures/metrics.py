r"""Estimate the width of text in mm, before LaTeX runs, so that labels can be placed without overlap.

Widths are Adobe's metrics of Palatino Roman, which mathpazo and TeX Gyre Pagella share. They are exact for plain text.
The width of mathematics is estimated from its letters, within a few per cent.
"""

import re
from typing import Literal, TypeAlias

from boundpaper.typeset.armour import plain

Size: TypeAlias = Literal["footnotesize", "scriptsize"]

POINTS: dict[Size, float] = {"footnotesize": 9.0, "scriptsize": 8.0}
"""Font sizes in pt under the class option 11pt."""
MM_PER_POINT = 25.4 / 72.27
LINE_MM: dict[Size, float] = {"footnotesize": 11 * MM_PER_POINT, "scriptsize": 9.5 * MM_PER_POINT}
"""Distance between baselines in mm, by font size."""

# Widths of the characters 32 to 126, in thousandths of the font size.
_WIDTHS = (
    250, 278, 371, 500, 500, 840, 778, 278, 333, 333, 389, 606, 250, 333, 250, 606, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 250, 250, 606, 606, 606, 444, 747, 778, 611, 709, 774, 611, 556, 763, 832, 337, 333, 726, 611, 946,
    831, 786, 604, 786, 668, 525, 613, 778, 722, 1000, 667, 667, 667, 333, 606, 333, 606, 500, 278, 500, 553, 444,
    611, 479, 333, 556, 582, 291, 234, 556, 291, 883, 582, 546, 601, 560, 395, 424, 326, 603, 565, 834, 516, 556, 500,
    333, 606, 333, 606,
)  # fmt: skip
_MINUS = 778
_UNKNOWN = 550
"""Width of characters that are not in the table, in the same unit."""


def width(text: str, size: Size = "footnotesize", is_bold: bool = False) -> float:
    """Return the width in mm of one line of a figure's text (plain text with `$math$` and `*emphasis*`)."""
    thousandths = 0.0
    for i, segment in enumerate(text.split("$")):
        if i % 2:
            letters = re.sub(r"\\[,;: ]", "", segment)
            letters = re.sub(r"\\[a-zA-Z]+", "m", letters)
            scripts = len(re.findall(r"[_^](\{[^{}]*\}|.)", letters))
            letters = re.sub(r"[_^{}\\ ]", "", letters)
            thousandths += sum(_MINUS if c == "-" else _character_width(c) for c in letters) - 150 * scripts
            thousandths += 60 * sum(c.isalpha() for c in letters) + 700 * len(re.findall(r"[=<>]", letters))
        else:
            thousandths += sum(_character_width(c) for c in segment.replace("*", ""))
    return thousandths / 1000 * POINTS[size] * MM_PER_POINT * (1.06 if is_bold else 1.0)


def _character_width(c: str) -> float:
    c = plain(c)
    code = ord(c) - 32
    return _WIDTHS[code] if 0 <= code < len(_WIDTHS) else _MINUS if c == "\N{MINUS SIGN}" else _UNKNOWN


def wrap(text: str, limit: float, size: Size = "footnotesize") -> list[str] | None:
    """Break text at spaces into at most three lines of at most `limit` mm; return None if it does not fit."""
    lines: list[str] = []
    for word in text.split():
        if lines and width(f"{lines[-1]} {word}", size) <= limit:
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    if len(lines) > 3 or any(width(line, size) > limit or line.count("$") % 2 for line in lines):
        return None
    return lines


def wrap_evenly(text: str, limit: float, size: Size = "footnotesize") -> list[str]:
    """Break text into as many lines as `wrap` does, of similar length; return one line if the text does not fit."""
    best = wrap(text, limit, size)
    if best is None:
        return [text]
    while (tighter := wrap(text, max(width(line, size) for line in best) - 0.01, size)) and len(tighter) == len(best):
        best = tighter
    return best
