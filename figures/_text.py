"""Text inside figures, in LaTeX."""

from __future__ import annotations

import re

from artifacts.text import prose


def latex(text: str) -> str:
    """Convert plain text with `$math$` and `*emphasis*`; everything else is escaped."""
    return prose(text, "latex")


def minus(text: str) -> str:
    """Turn a hyphen before a number into a minus sign, unless it is a range's."""
    return re.sub(r"(?<![\w.%])-(?=[\d.])", "\N{MINUS SIGN}", text)
