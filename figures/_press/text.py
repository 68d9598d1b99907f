"""Text inside figures, in LaTeX."""

from __future__ import annotations

from artifacts.typeset.text import prose


def latex(text: str) -> str:
    """Convert plain text with `$math$` and `*emphasis*`; everything else is escaped."""
    return prose(text, "latex")
