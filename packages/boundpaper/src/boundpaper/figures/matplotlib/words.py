"""Convert the texts of a drawing, words and formulas, to LaTeX."""

import re
from collections.abc import Mapping

from boundpaper.errors import DataError, SpecError
from boundpaper.typeset.armour import plain
from boundpaper.typeset.text import escape, prose

_DOLLAR = re.compile(r"(?<!\\)\$")
_EQUIVALENTS: Mapping[str, str] = {r"\mathdefault": r"\mathrm", r"\mathregular": r"\mathrm", r"\degree": r"{}^{\circ}"}
"""Commands of matplotlib's formulas, each with the equivalent LaTeX command."""


def latex_words(text: str) -> str:
    r"""Return the LaTeX of a line of text in matplotlib's markup, in which pairs of dollars enclose formulas.

    An escaped dollar `\$` is a character; nothing else is markup. Raises SpecError that names a character or
    mathematical command that the document cannot set.
    """
    segments = _DOLLAR.split(text)
    if len(segments) % 2 == 0:  # matplotlib treats unpaired dollars as characters
        segments = [text]
    try:
        return "".join(
            _formula(segment) if i % 2 else escape(segment.replace(r"\$", "$"), "latex")
            for i, segment in enumerate(segments)
        )
    except (DataError, SpecError) as error:
        raise SpecError(f"the text {plain(text)!r} of the drawing: {error}") from None


def _formula(formula: str) -> str:
    if not formula.strip():
        return ""
    for command, equivalent in _EQUIVALENTS.items():
        formula = re.sub(re.escape(command) + r"(?![A-Za-z])", lambda _, equivalent=equivalent: equivalent, formula)  # type: ignore[misc]
    return prose(f"${formula}$", "latex")
