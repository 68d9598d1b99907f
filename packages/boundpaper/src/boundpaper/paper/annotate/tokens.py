r"""Find the numbers in a text that state a quantity, with their extents.

Digits that name or number something are skipped: after a letter (`B12`, `v0.2`, `L2`) or in a known name, numbers of
sections, items, tables, figures and findings, sizes in names, dates, years of references, and links.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = re.compile(r"(?<![\w.])(?P<value>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?P<unit>\s?[%×]|[KMx]\b)?")
_SIGN = re.compile(r"(?<![\w.%)\]}/:–-])[-+−±~≈]$")  # neither the dash of a range nor the hyphen of a name
_BEHIND_NAME = re.compile(r"[A-Za-z_][\w.]{0,60}[-/_.]$")  # `Bean-`, `v0.`: what follows is part of a name
_BEFORE_NAME = re.compile(r"[-_]?[A-Za-z]")  # `8b-hf`, `2nd`, `14B`, `4p`: part of a name or a formula
_LABELS = (
    r"Tables?|Figures?|Figs?\.|Sections?|Findings?|Experiments?|Equations?|Eqs?\.|Appendix|Chapters?"
    r"|Claims?|Arms?|Parts?"
)
_LABEL = re.compile(
    rf"\b(?:{_LABELS})[\s~]+\d+(?:\.\d+)*(?:[\s~]*(?:,|and|to|[-–])[\s~]*\d+(?:\.\d+)*)*", re.IGNORECASE
)
_YEAR = re.compile(r"(?<=[(,\s])(?:19|20)\d\d[a-z]?(?=\))|(?<=et al\.,\s)(?:19|20)\d\d|\bet al\.\s\((?:19|20)\d\d\)")
_DATE = re.compile(r"\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b|\b[A-Z][a-z]+,?\s(?:19|20)\d\d\s*$")
_LINK = re.compile(r"!?\[[^\]]{0,500}\]\([^)]{0,500}\)|https?://\S+|arXiv:\S+", re.IGNORECASE)
_ORDINAL = re.compile(r"^\s*(?:#{1,6}\s+)?(?:\d+(?:\.\d+)*[.)]?)(?=\s|$)")


@dataclass(frozen=True)
class Token:
    """A number in a text: its extent with sign and unit, and its absolute value."""

    start: int
    end: int
    size: Decimal


def tokens(text: str, names: Sequence[re.Pattern[str]] = (), *, begins: bool = False) -> list[Token]:
    """Return the numbers of a text that state a quantity, in order.

    `names` are names with digits, which are skipped; `begins` says that the text begins a line, where the number of a
    heading or list item is skipped.
    """
    masked = [match.span() for pattern in (_LABEL, _YEAR, _DATE, _LINK, *names) for match in pattern.finditer(text)]
    if begins and (ordinal := _ORDINAL.match(text)):
        masked.append(ordinal.span())
    numerals = []
    for match in _NUMBER.finditer(text):
        start, end = match.span("value")
        inside = any(low < end and start < high for low, high in masked)
        before, after = text[:start], text[match.end() :]
        if inside or _BEHIND_NAME.search(before) or (not match["unit"] and _BEFORE_NAME.match(after)):
            continue
        start -= bool(_SIGN.search(before))
        numerals.append(Token(start, match.end(), Decimal(match["value"].replace(",", "")).normalize()))
    return numerals


def sizes(texts: Iterable[str]) -> frozenset[Decimal]:
    """Return the absolute values of all numbers in texts."""
    plain = (re.sub(r"(?<=\d),(?=\d{3})", "", text) for text in texts)
    return frozenset(Decimal(each).normalize() for text in plain for each in re.findall(r"\d+(?:\.\d+)?|\.\d+", text))
