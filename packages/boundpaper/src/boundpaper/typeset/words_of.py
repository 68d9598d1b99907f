"""Extract the words of the HTML that this package writes."""

import html
import re

from boundpaper.typeset.characters import MATH
from boundpaper.typeset.text import prose

_TAG = re.compile(r"<[^<>]*>")
_TEX = re.compile(r"\\[A-Za-z]+")
_SIGNS = {command: char for char, command in reversed(MATH.items())}  # the first of several characters


def words_of_html(markup: str) -> str:
    """Return the text of the project's HTML; symbols of formulas become characters."""
    markup = _TEX.sub(lambda match: _SIGNS.get(match[0], match[0].removeprefix("\\")), markup)
    return html.unescape(_TAG.sub("", markup.replace("\\(", "").replace("\\)", "").replace("<br>", "\n")))


def plain_words(text: str) -> str:
    """Return the paper's prose as plain words in one line."""
    return words_of_html(prose(text, "html")).replace("\n", " ").strip()
