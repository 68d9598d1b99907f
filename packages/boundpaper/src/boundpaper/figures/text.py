"""Convert text inside figures to LaTeX."""

from boundpaper.typeset.text import prose


def latex(text: str) -> str:
    """Convert plain text with `$math$` and `*emphasis*`; everything else is escaped."""
    return prose(text, "latex")


def cell(text: str) -> str:
    """Convert a name, category or other cell of the data as `latex` does, with digits and hyphens as written."""
    return prose(text, "latex", numbers=False)
