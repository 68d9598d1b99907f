r"""Armour data text, so that a cell in a caption, note, label or chapter is never read as markup.

Captions and notes are f-strings, in which cells and the author's markup look alike. So each markup character in the
data of an exhibit is replaced by a private-use character, its armour, which survives slicing, joining and formatting.
`boundpaper.typeset.text` converts armoured characters back to literal characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from boundpaper.errors import DataError, SpecError

if TYPE_CHECKING:
    import pandas as pd

_MARKUP = r"$\*@^"  # characters that begin mathematics, commands, emphasis, citation keys, and TeX's ^^ notation
_SHIFT = 0x10FF00  # shift into the last private-use plane
_ARMOUR = {ord(char): chr(ord(char) + _SHIFT) for char in _MARKUP}
_MARKUP_OF = {ord(armour): chr(char) for char, armour in _ARMOUR.items()}
_QUOTED = {armour: f"\\{char}" for armour, char in _MARKUP_OF.items()}
_ARMOURED = re.compile("[" + "".join(map(chr, _MARKUP_OF)) + "]")
# Commands that read, write or execute files; no exhibit needs such a command after its preamble.
_PRIMITIVES = re.compile(
    r"(?<!\\)(?:\\\\)*(\\(?:pdf(?:obj|refobj|ximage|filedump|mdfivesum|filesize|filemoddate|shellescape|literal|catalog"
    r"|names|mapfile|mapline|setmatrix)|immediate|open(?:in|out)|close(?:in|out)|write(?:18)?|read(?:line)?|special"
    r"|input|include|includeonly|endinput|InputIfFileExists|IfFileExists|lstinputlisting|verbatiminput|usepackage"
    r"|RequirePackage|catcode|lccode|uccode|csname|scantokens|everyeof|ShellEscape|directlua|@+[A-Za-z@]*)"
    r"(?![A-Za-z@])|\^\^)"
)


def armoured(text: str) -> str:
    """Return data text with its markup characters armoured.

    Raises DataError when the text already contains a private-use character that serves as armour.
    """
    if is_armoured(text):
        raise DataError(
            f"{plain(text)[:60]!r} contains a Unicode private-use character (plane 16): remove it from the data"
        )
    return text.translate(_ARMOUR)


def plain(text: str) -> str:
    """Return data text without armour."""
    return text.translate(_MARKUP_OF)


def quoted(text: str) -> str:
    r"""Return an author's text with a backslash before each armoured character, so that `prose` takes it literally."""
    return text.translate(_QUOTED)


def is_armoured(text: str) -> bool:
    """Return whether any character of a text is armoured."""
    return _ARMOURED.search(text) is not None


def frame(data: pd.DataFrame) -> pd.DataFrame:
    """Return a copy of a frame with all text armoured."""
    import pandas as pd

    result = data.copy()
    for column in data.columns:
        if pd.api.types.is_numeric_dtype(data[column]):
            continue
        all_text = "".join(cell for cell in data[column] if isinstance(cell, str))
        if is_armoured(all_text) or any(char in all_text for char in _MARKUP):
            result[column] = [armoured(cell) if isinstance(cell, str) else cell for cell in data[column]]
    return result


def guarded_latex(source: str, exhibit: str) -> str:
    r"""Return an exhibit's LaTeX `source`; raise SpecError if its body reads or writes files or has unescaped data.

    The part before `\begin{document}` is the project's preamble and is not checked.
    """
    body = source.partition(r"\begin{document}")[2] or source
    if match := _PRIMITIVES.search(body):
        raise SpecError(f"{exhibit}: {match[1]} in its LaTeX; an exhibit must not read or write files")
    if match := _ARMOURED.search(body):
        raise SpecError(f"{exhibit}: {plain(match[0])!r} from the data is not escaped in its LaTeX; escape it")
    return source
