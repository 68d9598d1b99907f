"""Find different spellings of a word that look alike.

Spellings with a final blank, a no-break blank, or an accented letter of two characters look equal but compare as
different, so that groups and keys split silently.
"""

import functools
import unicodedata

_DROPPED = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))  # soft hyphen, and characters of zero width
_LIKE = frozenset(["<compat>", "<noBreak>", "<wide>", "<narrow>", "<initial>", "<medial>", "<final>", "<isolated>"])


def clean(text: str) -> str:
    """Return a text in Unicode form NFC, with single blanks inside, none at the ends, and no invisible characters."""
    if text.isascii():
        return " ".join(text.split())
    return " ".join(unicodedata.normalize("NFC", text).translate(_DROPPED).split())


def looks(text: str) -> str:
    """Return a text reduced to its look: `clean`, with ligatures and wide letters replaced by plain ones.

    Superscripts, subscripts, fractions and circled numbers stay, since they look different.
    """
    clean_text = clean(text)
    return clean_text if clean_text.isascii() else clean("".join(map(_plain_character, clean_text)))


@functools.cache
def _plain_character(character: str) -> str:
    kind = unicodedata.decomposition(character).partition(" ")[0]
    return unicodedata.normalize("NFKC", character) if kind in _LIKE else character


def spelled_out(text: str) -> str:
    """Return a text in quotes, with invisible and combining characters written out."""
    quoted = repr(text)
    return "".join(f"\\u{ord(sign):04x}" if unicodedata.combining(sign) else sign for sign in quoted)


def difference(text: str) -> str:
    """Return in a few words why a text is not `clean`; empty if it is."""
    if text == clean(text):
        return ""
    if text != text.strip():
        return "begins or ends with a blank"
    if unicodedata.normalize("NFC", text) != text:
        return "has a letter and its accent as two characters"
    if text.translate(_DROPPED) != text:
        return "contains an invisible character"
    return "contains a no-break blank, or several blanks in a row"
