r"""Find the numbers that state a quantity in a text, with their extents.

Digits that name or count something are skipped: digits after a letter (`B12`, `v0.2`, `L2`) or in a known name, sizes
in names, numbers of sections, items, tables, figures and findings, dates, years of references, and links.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = re.compile(r"(?<![\w.])(?P<value>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?P<unit>\s?[%×]|[KMx]\b)?")
_SIGN = re.compile(r"(?<![\w.%)\]}/:–-])[-+−±~≈]$")  # not the dash of a range or the hyphen of a name
_NAME_BEFORE = re.compile(r"[A-Za-z_][\w.]{0,60}[-/_.]$")  # `Bean-`, `v0.`: the number ends this name
_NAME_AFTER = re.compile(r"[-_]?[A-Za-z]")  # `8b-hf`, `2nd`, `14B`, `4p`: the number begins a name or a formula
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
    """A number in a text: the extent of its digits with sign and unit, and its absolute value."""

    start: int
    end: int
    magnitude: Decimal


def tokens(text: str, names: Sequence[re.Pattern[str]] = (), *, at_line_start: bool = False) -> list[Token]:
    """Return the numbers that state a quantity in a text, in order.

    Digits in `names` are skipped. If `at_line_start` is true, the number of a heading or list item is skipped too.
    """
    spans = [match.span() for pattern in (_LABEL, _YEAR, _DATE, _LINK, *names) for match in pattern.finditer(text)]
    if at_line_start and (ordinal := _ORDINAL.match(text)):
        spans.append(ordinal.span())
    numbers = []
    for match in _NUMBER.finditer(text):
        start, end = match.span("value")
        is_masked = any(low < end and start < high for low, high in spans)
        before, after = text[:start], text[match.end() :]
        if is_masked or _NAME_BEFORE.search(before) or (not match["unit"] and _NAME_AFTER.match(after)):
            continue
        start -= bool(_SIGN.search(before))
        numbers.append(Token(start, match.end(), Decimal(match["value"].replace(",", "")).normalize()))
    return numbers


def magnitudes(texts: Iterable[str]) -> frozenset[Decimal]:
    """Return the absolute values of all numbers in texts."""
    plain_texts = (re.sub(r"(?<=\d),(?=\d{3})", "", text) for text in texts)
    digits = (match for text in plain_texts for match in re.findall(r"\d+(?:\.\d+)?|\.\d+", text))
    return frozenset(Decimal(number).normalize() for number in digits)
