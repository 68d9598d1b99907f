"""Convert text inside figures to LaTeX."""

from boundpaper.typeset.text import prose


def latex(text: str) -> str:
    """Return the LaTeX of plain text with `$math$` and `*emphasis*`; everything else is escaped."""
    return prose(text, "latex")


def data_latex(text: str) -> str:
    """Return the LaTeX of a name, category or other data cell, with digits and hyphens as written."""
    return prose(text, "latex", numbers=False)
