"""Find different spellings of a word that look alike.

Two spellings can look equal but compare as different, for instance if one has a final blank, a no-break blank, or an
accented letter made of two characters. Rows of one group would then count as two groups.
"""

import functools
import unicodedata

_DROPPED = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))  # soft hyphen, and characters of zero width
_TAGS = frozenset(["<compat>", "<noBreak>", "<wide>", "<narrow>", "<initial>", "<medial>", "<final>", "<isolated>"])


def clean(text: str) -> str:
    """Return a text in Unicode form NFC, without invisible characters, outer blanks and repeated blanks."""
    if text.isascii():
        return " ".join(text.split())
    return " ".join(unicodedata.normalize("NFC", text).translate(_DROPPED).split())


def appearance(text: str) -> str:
    """Return a `clean` text with plain letters for ligatures and wide letters; texts that look alike become equal.

    Superscripts, subscripts, fractions and circled numbers stay, since they look different.
    """
    clean_text = clean(text)
    return clean_text if clean_text.isascii() else clean("".join(map(_plain_character, clean_text)))


@functools.cache
def _plain_character(character: str) -> str:
    tag = unicodedata.decomposition(character).partition(" ")[0]
    return unicodedata.normalize("NFKC", character) if tag in _TAGS else character


def spelled_out(text: str) -> str:
    """Return a text in quotes, with invisible and combining characters written out."""
    quoted = repr(text)
    return "".join(
        f"\\u{ord(character):04x}" if unicodedata.combining(character) else character for character in quoted
    )


def spelling_fault(text: str) -> str:
    """Return the first reason why a text is not `clean`; empty if it is."""
    if text == clean(text):
        return ""
    if text != text.strip():
        return "begins or ends with a blank"
    if unicodedata.normalize("NFC", text) != text:
        return "has a letter and its accent as two characters"
    if text.translate(_DROPPED) != text:
        return "contains an invisible character"
    return "contains a no-break blank, or several blanks in a row"
