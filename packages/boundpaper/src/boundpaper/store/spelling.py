"""Find two spellings of one word that look alike.

A blank at the end, a no-break blank, a letter with its accent as one character or as two: the eye sees one word, and
every comparison sees two, so that groups and keys split silently.
"""

import functools
import unicodedata

_DROPPED = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))  # soft hyphen, and what has no width
_LIKE = frozenset(["<compat>", "<noBreak>", "<wide>", "<narrow>", "<initial>", "<medial>", "<final>", "<isolated>"])


def clean(text: str) -> str:
    """Return a text in Unicode form NFC, with single blanks inside, none at its ends, and no invisible marks."""
    if text.isascii():
        return " ".join(text.split())
    return " ".join(unicodedata.normalize("NFC", text).translate(_DROPPED).split())


def looks(text: str) -> str:
    """Reduce a text to its looks: `clean`, with ligatures and wide letters replaced by plain ones.

    Raised and lowered letters, fractions and circled numbers stay: they look different.
    """
    cleaned = clean(text)
    return cleaned if cleaned.isascii() else clean("".join(map(_plain_character, cleaned)))


@functools.cache
def _plain_character(character: str) -> str:
    kind = unicodedata.decomposition(character).partition(" ")[0]
    return unicodedata.normalize("NFKC", character) if kind in _LIKE else character


def spelled_out(text: str) -> str:
    """Quote a text, with every mark written out that is invisible or looks like part of a letter."""
    seen = repr(text)
    return "".join(f"\\u{ord(each):04x}" if unicodedata.combining(each) else each for each in seen)


def difference(text: str) -> str:
    """Say in a few words why a text is not `clean`; empty if it is."""
    if text == clean(text):
        return ""
    if text != text.strip():
        return "begins or ends with a blank"
    if unicodedata.normalize("NFC", text) != text:
        return "has a letter and its accent as two characters"
    if text.translate(_DROPPED) != text:
        return "holds a mark that is not seen"
    return "holds a no-break blank, or blanks one behind the other"
