"""Read the numbers that state a quantity in cells and sentences, with their unit and rounding interval."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from boundpaper.errors import DataError
from boundpaper.statistics.rounding import Interval, printed_interval
from boundpaper.typeset.printed import parse

POWER = "10[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}+"
_CORE = (
    rf"(?<![\w.,^/])(?<!\w[-\u2013\u2212/])(?P<number>[-+\u2212]?(?:{POWER}|(?:[1-9]\d{{0,2}}+(?:,\d{{3}})++(?!\d)|\d++)"
    rf"(?:\.\d++)?+(?:e[-+]?\d{{1,3}})?+(?:\s?[×x·]\s?{POWER})?+))"
)
_UNIT = (
    r"(?P<unit>\s?%|\s?[x×](?!\w|\s?[\d(])|[ -]?(?:times|fold|percent|percentage points?|points?|pp)\b|[KMB](?!\w)"
    r"|\s?[°µA-Za-z]{1,3}(?:/s|/h)?(?![\w-]))"
)
_NUMBER = re.compile(rf"{_CORE}(?:{_UNIT}|(?![\w^]))(?!,\d|\.\d|[-\u2013]\d|[-\u2013]?[A-Za-z])")
_CELL = re.compile(
    rf"(?P<qualifier>[~≈<>≤≥]?+)\s*+{_CORE}(?:{_UNIT}|\seach)?+(?P<mark>[*†‡§¶↑↓]*+)"
    r"(?:\s*+(?:±|\+/-|\()[^()]{1,60}+\)?+)?(?P<late_mark>[*†‡§¶↑↓]*+)"
)
_WORD_UNITS = {
    "×": "x", "times": "x", "fold": "x", "percent": "%", "pp": "points",
    "point": "points", "percentage point": "points", "percentage points": "points",
}  # fmt: skip
_NO_UNIT = re.compile(  # short words that may follow a number and are not units
    "(?i)a|an|and|as|at|by|but|did|do|due|for|had|has|in|is|it|its|may|nor|not|of|off|on|one|or|out|per|so|than|the|then|"
    "to|two|up|via|vs|was|we|who|all|are|new|can|day|go|he|if|be|i|e|g|p|n|no|key|top|old|bit|use|set|our|how|dim"
)
_NAME_BEFORE = re.compile(
    r"(?i)\b(?:tables?|tabs?|fig(?:ure)?s?|sec(?:tion)?s?|eqs?|equations?|chapters?|appendix|layers?|heads?|steps?|seeds?|"
    r"lines?|pages?|pp?|versions?|v|nos?|python|cuda|pytorch|epochs?|phases?|stages?|parts?|runs?|question|issues?|"
    r"volumes?|rows?|columns?|items?|algorithms?|theorems?|lemmas?|level|rank|top|days?|week|ids?|grade|claim|step)"
    r"\.?\s?[#(]?$|[§#]$"
)
_QUALIFIER = re.compile(
    r"(?i)(?:(?P<bound>\b(?:over|under|up to|at least|at most|more than|less than|fewer than|below|above|exceeds?|"
    r"exceeding)|(?<!-)[<>≤≥])|[~≈]|\b(?:(?:only )?about|around|roughly|approximately|nearly|almost|some|close to))\s?$"
)
_YEARS = range(1900, 2100)
_ORNAMENTS = " \t\n\xa0✅✓✔❌✗✘⚠⭐★☆🏆🥇🥈🥉🎉🎯🔥🚀🟢🟡🔴🟠📈📉🔺🔻✨\ufe0f"  # characters beside a number


@dataclass(frozen=True)
class Number:
    """A printed number, with its offsets in the text."""

    text: str  # the printed number with its unit
    value: float
    decimals: int  # digits after the point; may be negative with an exponent
    unit: str  # `%`, `x`, `points`, K, M, B, another short unit as printed, or empty
    start: int
    end: int
    qualifier: str  # empty, `about` or `bound`
    has_mark: bool  # whether a footnote mark follows

    @cached_property
    def interval(self) -> Interval:
        """Return the interval of values that are printed as this number; digits after the eighth are ignored."""
        digits = 7 - math.floor(math.log10(abs(self.value))) if self.value else self.decimals
        return printed_interval(self.value, min(self.decimals, digits))

    @cached_property
    def loose_interval(self) -> Interval:
        """Return the interval that a number may mean: `interval`, but wider for round numbers and after "about"."""
        digits = re.sub(r"\D", "", self.text.partition(".")[0])
        zeros = len(digits) - len(digits.rstrip("0")) if "." not in self.text else 0
        size, half_width = abs(self.value), self.interval.width / 2
        if self.qualifier:
            half_width = max(half_width, min(max(half_width * 10.0**zeros, 0.02 * size), 0.1 * size))
        elif zeros and size >= 100:
            largest = (0.1 if self.unit == "x" else 0.05) * size
            half_width = max(half_width, min(half_width * 10.0**zeros, largest))
        return Interval(self.value - half_width, self.value + half_width)


def of_cell(text: str) -> Number | None:
    """Return the number in a cell with one number and perhaps a unit, spread or change; None for other cells."""
    match = _CELL.fullmatch(text.strip(_ORNAMENTS))
    if match is None:
        return None
    qualifier = {"": "", "~": "about", "≈": "about"}.get(match["qualifier"], "bound")
    return _number(match, qualifier, bool((match["mark"] + match["late_mark"]).strip("↑↓")))


def in_text(text: str) -> Iterator[Number]:
    """Yield the quantities in a sentence, without years, numbers in names or references, ranges and dimensions."""
    for match in _NUMBER.finditer(text):
        before = text[max(0, match.start() - 24) : match.start()]
        qualifier = _QUALIFIER.search(before)
        number = _number(match, "" if qualifier is None else "bound" if qualifier["bound"] else "about", False)
        is_year = number and not number.unit and number.decimals == 0 and number.value in _YEARS
        if number and not is_year and not _NAME_BEFORE.search(before):
            yield number


def _number(match: re.Match[str], qualifier: str, has_mark: bool) -> Number | None:
    """Return the number of a match of `_NUMBER` or `_CELL`; None if it cannot be parsed."""
    try:
        parsed = parse(match["number"])
    except DataError:
        return None
    if parsed.value is None or parsed.decimals is None:
        return None
    unit = (match["unit"] or "").strip(" -")
    unit = "" if _NO_UNIT.fullmatch(unit) else unit
    start, end = match.start("number"), match.end("unit" if unit else "number")
    text = match.string[start:end].strip()
    return Number(text, parsed.value, parsed.decimals, _WORD_UNITS.get(unit, unit), start, end, qualifier, has_mark)


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in order; the second and later occurrences of a name get a count, as in `name (2)`."""
    counts: Counter[str] = Counter()
    return tuple(f"{name} ({counts[name]})" if counts.update([name]) or counts[name] > 1 else name for name in names)
