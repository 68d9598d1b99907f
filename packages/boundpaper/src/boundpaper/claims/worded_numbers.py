"""Parse numbers that a source prints in words or within other text."""

import re
from collections.abc import Mapping

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.paper_vocabulary import vocabulary

_CARDINALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WORDS: Mapping[str, float] = {name: float(number) for number, name in enumerate(_CARDINALS)}
"""Number words of every paper; a paper's vocabulary adds others."""
_DIGITS = re.compile(r"(\d[\d,]*(?:\.\d+)?)([KM](?![A-Za-z]))?")
_SCALE = {"": 1.0, "K": 1e3, "M": 1e6}


def worded_number(text: str) -> float | None:
    """Return the number that a text has in digits (`~17GB`, `120K+`, `725:1`) or as a word (`All four`), or None.

    If the text has several numbers, the first counts.
    """
    if digits := _DIGITS.search(text.replace("−", "-")):
        return float(digits[1].replace(",", "")) * _SCALE[digits[2] or ""]
    numbers = {**WORDS, **vocabulary().numbers}
    return next((float(numbers[word]) for word in re.findall(r"[a-z]+", text.lower()) if word in numbers), None)


def stated_number(row: pd.Series) -> float:
    """Return the number of a stated value: the number in its printed text, else the one in `as_number`.

    `row` has the column `printed` and perhaps `as_number`, the number for a word such as `all`. Raises DataError when
    neither column has a number, or when they differ.
    """
    number, filled_in = worded_number(str(row["printed"])), row.get("as_number")
    if number is None and pd.isna(filled_in):
        raise DataError(f"{row['printed']!r} is not a number in words; fill as_number, or judge the word itself")
    return float(filled_in) if number is None else number  # type: ignore[arg-type]
