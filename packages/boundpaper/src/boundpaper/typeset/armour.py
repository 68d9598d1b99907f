r"""Armour data text, so that a cell which a step puts into a caption, note, label or chapter is never read as markup.

Captions and notes are f-strings, in which a cell and the author's markup look alike. So the text that exhibits read
comes with its markup characters replaced by private ones that no parser knows; `boundpaper.typeset.text` puts them
back, each as a literal character. Slicing, joining and formatting keep the armour.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from boundpaper.errors import DataError, SpecError

if TYPE_CHECKING:
    import pandas as pd

_MARKUP = r"$\*@^"  # what begins mathematics, a command, emphasis, a key of a citation, and TeX's own way to write any
_SHIFT = 0x10FF00  # into the last private plane
_ON = {ord(char): chr(ord(char) + _SHIFT) for char in _MARKUP}
_OFF = {ord(worn): chr(char) for char, worn in _ON.items()}
_QUOTED = {worn: f"\\{char}" for worn, char in _OFF.items()}
_WORN = re.compile("[" + "".join(map(chr, _OFF)) + "]")
# What lets a document read, write or run: no exhibit needs one of them behind its preamble.
_PRIMITIVES = re.compile(
    r"(?<!\\)(?:\\\\)*(\\(?:pdf(?:obj|refobj|ximage|filedump|mdfivesum|filesize|filemoddate|shellescape|literal|catalog"
    r"|names|mapfile|mapline|setmatrix)|immediate|open(?:in|out)|close(?:in|out)|write(?:18)?|read(?:line)?|special"
    r"|input|include|includeonly|endinput|InputIfFileExists|IfFileExists|lstinputlisting|verbatiminput|usepackage"
    r"|RequirePackage|catcode|lccode|uccode|csname|scantokens|everyeof|ShellEscape|directlua|@+[A-Za-z@]*)"
    r"(?![A-Za-z@])|\^\^)"
)


def armoured(text: str) -> str:
    """Armour data text, so that no character of it is markup.

    Raises DataError when the text holds one of the private characters already.
    """
    if is_armoured(text):
        raise DataError(
            f"{plain(text)[:60]!r} holds a Unicode private-use character (plane 16): remove it from the data"
        )
    return text.translate(_ON)


def plain(text: str) -> str:
    """Remove the armour from data text."""
    return text.translate(_OFF)


def quoted(text: str) -> str:
    r"""Put a backslash before each armoured character of an author's text; `prose` reads them as literal."""
    return text.translate(_QUOTED)


def is_armoured(text: str) -> bool:
    """Return whether any character of a text is armoured."""
    return _WORN.search(text) is not None


def frame(data: pd.DataFrame) -> pd.DataFrame:
    """Return a copy of a table of data with all of its text armoured."""
    import pandas as pd

    result = data
    for column in data.columns:
        if pd.api.types.is_numeric_dtype(data[column]) or pd.api.types.is_bool_dtype(data[column]):
            continue
        cells = [cell for cell in data[column] if isinstance(cell, str)]
        joined = "".join(cells)
        if not is_armoured(joined) and not any(char in joined for char in _MARKUP):
            continue
        result = result if result is not data else data.copy()
        result[column] = [armoured(cell) if isinstance(cell, str) else cell for cell in data[column]]
    return result


def guarded_latex(source: str, where: str) -> str:
    r"""Return the LaTeX of an exhibit; refuse it if its body could read a file or holds unescaped data.

    What stands before `\begin{document}` is the project's own preamble and is not looked at. Raises SpecError that
    names `where` and what was found.
    """
    body = source.partition(r"\begin{document}")[2] or source
    if match := _PRIMITIVES.search(body):
        raise SpecError(f"{where}: {match[1]} in its LaTeX; an exhibit reads and writes no file")
    if match := _WORN.search(body):
        raise SpecError(f"{where}: {plain(match[0])!r} of the data reached its LaTeX unescaped; escape it there")
    return source
