"""Parse numbers that a source prints as words or within other text."""

import re
from collections.abc import Mapping

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.paper_vocabulary import vocabulary

_CARDINALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WORDS: Mapping[str, float] = {name: float(number) for number, name in enumerate(_CARDINALS)}
"""The number words of all papers; the vocabulary of a paper can add words."""
_DIGITS = re.compile(r"(\d[\d,]*(?:\.\d+)?)([KM](?![A-Za-z]))?")
_SCALE = {"": 1.0, "K": 1e3, "M": 1e6}


def worded_number(text: str) -> float | None:
    """Return the first number in a text, in digits (`~17GB`, `120K+`, `725:1`) or else as a word (`All four`).

    Return None for a text without a number.
    """
    if digits := _DIGITS.search(text.replace("−", "-")):
        return float(digits[1].replace(",", "")) * _SCALE[digits[2] or ""]
    numbers = {**WORDS, **vocabulary().numbers}
    return next((float(numbers[word]) for word in re.findall(r"[a-z]+", text.lower()) if word in numbers), None)


def stated_number(row: pd.Series) -> float:
    """Return the number in the column `printed` of a row; if the text has no number, the number in `as_number`.

    A row may have a column `as_number` for words such as `all`. Raises DataError when neither column has a number.
    """
    number, as_number = worded_number(str(row["printed"])), row.get("as_number")
    if number is None and pd.isna(as_number):
        raise DataError(f"{row['printed']!r} has no number; fill in the column as_number, or judge the word itself")
    return float(as_number) if number is None else number  # type: ignore[arg-type]
