"""Convert the HTML that this package writes to plain text."""

import html
import re

from boundpaper.typeset.characters import MATH
from boundpaper.typeset.text import prose

_TAG = re.compile(r"<[^<>]*>")
_TEX = re.compile(r"\\[A-Za-z]+")
_CHARACTERS = {command: char for char, command in reversed(MATH.items())}  # the first character of each command


def words_of_html(markup: str) -> str:
    """Return the text of the project's HTML; TeX commands in formulas become characters."""
    markup = _TEX.sub(lambda match: _CHARACTERS.get(match[0], match[0].removeprefix("\\")), markup)
    return html.unescape(_TAG.sub("", markup.replace("\\(", "").replace("\\)", "").replace("<br>", "\n")))


def plain_words(text: str) -> str:
    """Return prose (`boundpaper.typeset.text`) as plain text in one line."""
    return words_of_html(prose(text, "html")).replace("\n", " ").strip()
