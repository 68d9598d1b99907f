"""Parse a printed number, and test whether a cell may be its source."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from boundpaper.errors import DataError
from boundpaper.typeset.printed import parse

TOKEN = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
SAME, EQUAL, ROUNDED = 3, 2, 1


def tokens(text: str) -> list[str]:
    """Return the numbers in a text as printed, but with plain signs and without thousands separators."""
    return [
        numeral.replace(",", "").lstrip("+")
        for numeral in TOKEN.findall(text.replace("−", "-").replace("$-$", "-").replace("{,}", ""))
    ]


def number_in(text: str) -> float:
    """Return the number in a cell's text if there is exactly one, else NaN."""
    try:
        return float(text)
    except ValueError:
        digits = tokens(text)
        return float(digits[0]) if len(digits) == 1 else math.nan


@dataclass(frozen=True)
class SearchedNumber:
    """A printed number.

    `text` has the digits, with a plain sign and without thousands commas. `low` and `high` are the ends of the range of
    values that are rounded to it. `may_be_percent` says whether it may be a percentage, 100 times the value of a cell.
    """

    text: str
    low: float
    high: float
    may_be_percent: bool = False

    @classmethod
    def read(cls, text: str) -> SearchedNumber | None:
        """Return the number if the whole text is a number, else None."""
        try:
            number = parse(text)
        except DataError:
            return None
        digits = tokens(text)
        if number.value is None or len(digits) != 1:
            return None
        return cls(digits[0], number.low, number.high, text.rstrip().endswith("%"))

    def match_rank(self, text: str) -> int:
        """Return how well a cell's text matches: `SAME` digits, an `EQUAL` value, a `ROUNDED` value, or 0 for none."""
        numeral = SearchedNumber.read(text)
        if numeral is None:
            return 0
        if numeral.text == self.text:
            return SAME
        if float(numeral.text) == float(self.text):
            return EQUAL
        return ROUNDED if self._is_within(float(numeral.text)) else 0

    def may_equal(self, values: Any) -> Any:
        """Return whether a value equals this number, or may be printed as this number; for an array, return a mask."""
        return (values == float(self.text)) | self._is_within(values)

    @cached_property
    def may_fit(self) -> Callable[[str], bool]:
        """Return a quick test of texts, to be used before `match_rank`: if it is false, the text does not match."""
        return cache(lambda text: bool(self.may_equal(number_in(text))))

    def may_be_in(self, latex: str) -> bool:
        """Return whether a LaTeX text may contain the number; this quick test is never wrongly false."""
        digits = latex.replace("{,}", "").replace(",", "")
        return all(run in digits for run in re.findall(r"\d+", self.text.partition("e")[0]))

    def _is_within(self, values: Any) -> Any:
        is_within = (self.low <= values) & (values <= self.high)
        if self.may_be_percent:
            is_within |= (self.low <= 100 * values) & (100 * values <= self.high)
        return is_within
