r"""Align numbers: split each number into pieces, and pad each piece to the widest of its column.

Columns are right-aligned and digits are equally wide, so it is enough that everything to the right of the decimal point
has the same width in every row. Pads are `\phantom{...}` in LaTeX and spaces of a digit's width in Markdown and HTML.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias

from boundpaper.typeset.glyphs import NumberParts, glyphs, interval_tokens
from boundpaper.typeset.text import Markup


@dataclass(frozen=True, slots=True)
class Piece:
    """Tokens of `boundpaper.typeset.glyphs` that are padded as a unit.

    Attributes
    ----------
    tokens : tuple of str
    side : {"none", "left", "right"}
        Side of the padding; "none" for the leftmost piece in a right-aligned column.
    overhang : tuple of str
        Last tokens, which may extend over the padding: the exponent of a bare power of ten.
    """

    tokens: tuple[str, ...]
    side: Literal["none", "left", "right"]
    overhang: tuple[str, ...] = ()


Pieces: TypeAlias = tuple[Piece, ...]
DASH = "–"
VALUE_PIECES = 2  # number of pieces from `number_pieces`; the others are uncertainty
_BOLD: dict[Markup, str] = {"latex": "\\textbf{{{}}}", "markdown": "**{}**", "html": "<b>{}</b>"}
_ORDER = (*"<>≤≥=~≈± [-.0,;", "e", "^-", "^0", "%", "×", "*", "]")


def number_pieces(parts: NumberParts) -> Pieces:
    """Return a number split at its decimal point; a suffix stays with the digits, before the padding."""
    lead = Piece(parts.lead, "none")
    if not parts.whole:
        return (lead, Piece((), "right", overhang=parts.power))
    return (lead, Piece((*parts.tail, *parts.power, *parts.suffix), "right"))


def spread_pieces(ends: Sequence[NumberParts]) -> Pieces:
    """Return the pieces of an uncertainty, or of the gap if there is none."""
    if not ends:
        return (Piece((), "right"), Piece((), "left"), Piece((), "right"))
    return (Piece(("±",), "right"), Piece(ends[0].lead, "left"), Piece(ends[0].tail, "right"))


def estimate_pieces(ends: Sequence[NumberParts]) -> Pieces:
    """Return an interval as one piece: brackets without space inside, directly after the value."""
    if not ends:
        return (Piece((), "right"),)
    return (Piece((" ", *interval_tokens(ends[0], ends[1])), "right"),)


def missing_pieces(like: Pieces) -> Pieces:
    """Return the dash of a missing number, under the last digit before the point."""
    return (Piece((DASH,), "none"), *(Piece((), piece.side) for piece in like[1:]))


def align_column(
    column: Sequence[Pieces | None], format: Markup, bold: Sequence[bool], hung: Sequence[str] | None = None
) -> list[str]:
    """Return a column's numbers as aligned text; None (a text or blank cell) becomes an empty string.

    `bold` says which values are bold; `hung`, for LaTeX, are marks after each number's last digit that take no width.
    """
    present = [pieces for pieces in column if pieces is not None]
    widest = [_widest([pieces[slot] for pieces in present]) for slot in range(len(present[0]))] if present else []
    marks = hung or [""] * len(column)
    return [
        _written(pieces, widest, format, strong, mark) for pieces, strong, mark in zip(column, bold, marks, strict=True)
    ]


def _written(pieces: Pieces | None, widest: Sequence[Counter[str]], format: Markup, strong: bool, mark: str) -> str:
    """Return one number as text, with the value bold if `strong`; adjacent bold pieces form one run."""
    if pieces is None:
        return ""
    runs: list[tuple[bool, str]] = []
    ends = max(slot for slot, piece in enumerate(pieces) if slot == 0 or piece.tokens or piece.overhang)
    for slot, (piece, widths) in enumerate(zip(pieces, widest, strict=True)):
        pad = _missing_tokens(piece, widths) if piece.side != "none" else []
        overhang, end_mark = glyphs(piece.overhang, format), mark if slot == ends else ""
        if overhang and format == "latex" and len(pad) >= len(piece.overhang):
            overhang, end_mark = f"\\rlap{{{overhang}{end_mark}}}", ""
        value = (strong and slot < VALUE_PIECES, glyphs(piece.tokens, format) + overhang)
        hanging = (False, f"\\rlap{{{end_mark}}}" if end_mark else "")
        space = (False, _padding(pad, format))
        runs += [space, value, hanging] if piece.side == "left" else [value, hanging, space]
    text = ""
    for bold, group in groupby((run for run in runs if run[1]), key=lambda run: run[0]):
        joined = "".join(each for _, each in group)
        text += _BOLD[format].format(joined) if bold else joined
    return text


def widest_tokens(column: Sequence[Pieces | None]) -> list[str]:
    """Return the tokens of the widest number of a column, to which the numbers are padded."""
    present = [pieces for pieces in column if pieces is not None]
    counters = [_widest([pieces[slot] for pieces in present]) for slot in range(len(present[0]))] if present else []
    return [token for counter in counters for token in counter.elements()]


def _width_class(token: str) -> str:
    if token.isdigit() or token == DASH:
        return "0"
    if len(token) == 2 and token[0] == "^":
        return "^-" if token[1] == "-" else "^0"
    return "-" if token == "+" else token


def _widest(pieces: Sequence[Piece]) -> Counter[str]:
    widest: Counter[str] = Counter()
    for piece in pieces:
        widest |= Counter(map(_width_class, piece.tokens))
    return widest


def _missing_tokens(piece: Piece, widest: Counter[str]) -> list[str]:
    lacking = widest - Counter(map(_width_class, piece.tokens))
    return sorted(lacking.elements(), key=_ORDER.index)


def _padding(pad: list[str], format: Markup) -> str:
    if not pad:
        return ""
    if format == "latex":
        return f"\\phantom{{{glyphs(pad, format)}}}"
    widths = {" ": "\u00a0", "^-": "", "^0": ""} | dict.fromkeys(".,;[]", "\u2008")
    return "".join(widths.get(token, "\u2007") for token in pad)
