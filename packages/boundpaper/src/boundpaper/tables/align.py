r"""Align the numbers of a column: split each number into pieces, and pad the pieces to equal widths.

Columns are right-aligned and digits are equally wide, so it is enough that everything to the right of the decimal point
has the same width in every row. Padding is `\phantom{...}` in LaTeX, and spaces of a digit's width in other formats.
"""

import functools
import operator
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
        Side on which the piece is padded; "none" for the leftmost piece, since columns are right-aligned.
    overhang : tuple of str
        Tokens after `tokens` that may extend over the padding: the exponent of a bare power of ten.
    """

    tokens: tuple[str, ...]
    side: Literal["none", "left", "right"]
    overhang: tuple[str, ...] = ()


Pieces: TypeAlias = tuple[Piece, ...]
DASH = "–"
VALUE_PIECES = 2
"""Number of pieces of a value (`number_pieces`), which precede the pieces of its uncertainty."""
_BOLD: dict[Markup, str] = {"latex": "\\textbf{{{}}}", "markdown": "**{}**", "html": "<b>{}</b>"}
_TOKEN_ORDER = (*"<>≤≥=~≈± [-.0,;", "e", "^-", "^0", "%", "×", "*", "]")


def number_pieces(parts: NumberParts) -> Pieces:
    """Return a number split at its decimal point; a suffix stays with the digits, before the padding."""
    lead = Piece(parts.lead, "none")
    if not parts.whole:
        return (lead, Piece((), "right", overhang=parts.power))
    return (lead, Piece((*parts.tail, *parts.power, *parts.suffix), "right"))


def spread_pieces(ends: Sequence[NumberParts]) -> Pieces:
    """Return the pieces of an uncertainty; if `ends` is empty, pieces that only have padding."""
    if not ends:
        return (Piece((), "right"), Piece((), "left"), Piece((), "right"))
    return (Piece(("±",), "right"), Piece(ends[0].lead, "left"), Piece(ends[0].tail, "right"))


def interval_pieces(ends: Sequence[NumberParts]) -> Pieces:
    """Return an interval as one piece; if `ends` is empty, a piece that only has padding."""
    if not ends:
        return (Piece((), "right"),)
    return (Piece((" ", *interval_tokens(ends[0], ends[1])), "right"),)


def missing_pieces(pieces: Pieces) -> Pieces:
    """Return the pieces of a dash for a missing number: it stands below the last digit before the point of a number."""
    return (Piece((DASH,), "none"), *(Piece((), piece.side) for piece in pieces[1:]))


def align_column(
    column: Sequence[Pieces | None], format: Markup, bold: Sequence[bool], hanging_marks: Sequence[str] | None = None
) -> list[str]:
    """Return a column's numbers as aligned text; None (a text or blank cell) becomes an empty string.

    `bold` has True for each value in bold. `hanging_marks`, only for LaTeX, follow the last digits and take no width.
    """
    widths = _piece_widths(column)
    marks = hanging_marks or [""] * len(column)
    return [
        _aligned_text(pieces, widths, format, is_bold, mark)
        for pieces, is_bold, mark in zip(column, bold, marks, strict=True)
    ]


def _aligned_text(
    pieces: Pieces | None, widths: Sequence[Counter[str]], format: Markup, is_bold: bool, mark: str
) -> str:
    """Return a number padded to the widths of its column's pieces, with the value in bold if `is_bold`."""
    if pieces is None:
        return ""
    runs: list[tuple[bool, str]] = []
    last = max(index for index, piece in enumerate(pieces) if index == 0 or piece.tokens or piece.overhang)
    for index, (piece, width) in enumerate(zip(pieces, widths, strict=True)):
        missing = _missing_tokens(piece, width) if piece.side != "none" else []
        overhang, last_mark = glyphs(piece.overhang, format), mark if index == last else ""
        if overhang and format == "latex" and len(missing) >= len(piece.overhang):
            overhang, last_mark = f"\\rlap{{{overhang}{last_mark}}}", ""
        value = (is_bold and index < VALUE_PIECES, glyphs(piece.tokens, format) + overhang)
        hanging = (False, f"\\rlap{{{last_mark}}}" if last_mark else "")
        space = (False, _padding(missing, format))
        runs += [space, value, hanging] if piece.side == "left" else [value, hanging, space]
    text = ""
    for run_is_bold, adjacent_runs in groupby((run for run in runs if run[1]), key=lambda run: run[0]):
        run_text = "".join(run[1] for run in adjacent_runs)
        text += _BOLD[format].format(run_text) if run_is_bold else run_text
    return text


def widest_tokens(column: Sequence[Pieces | None]) -> list[str]:
    """Return tokens that together are as wide as one padded number of a column."""
    return [token for counter in _piece_widths(column) for token in counter.elements()]


def _piece_widths(column: Sequence[Pieces | None]) -> list[Counter[str]]:
    """Return the width of each piece in a column: for each width class of tokens, the largest count in this piece."""
    numbers = [pieces for pieces in column if pieces is not None]
    return [
        functools.reduce(operator.or_, (Counter(map(_width_class, piece.tokens)) for piece in pieces))
        for pieces in zip(*numbers, strict=True)
    ]


def _width_class(token: str) -> str:
    """Return a token that is as wide as `token` and represents all tokens of this width."""
    if token.isdigit() or token == DASH:
        return "0"
    if len(token) == 2 and token[0] == "^":
        return "^-" if token[1] == "-" else "^0"
    return "-" if token == "+" else token


def _missing_tokens(piece: Piece, width: Counter[str]) -> list[str]:
    missing = width - Counter(map(_width_class, piece.tokens))
    return sorted(missing.elements(), key=_TOKEN_ORDER.index)


def _padding(tokens: list[str], format: Markup) -> str:
    """Return blank space as wide as the tokens."""
    if not tokens:
        return ""
    if format == "latex":
        return f"\\phantom{{{glyphs(tokens, format)}}}"
    widths = {" ": "\u00a0", "^-": "", "^0": ""} | dict.fromkeys(".,;[]", "\u2008")
    return "".join(widths.get(token, "\u2007") for token in tokens)
