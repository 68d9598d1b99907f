"""Numbers that a source gives in words or within other text, read from the printed text."""

import re
from collections.abc import Mapping

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.paper_vocabulary import vocabulary

_CARDINALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WORDS: Mapping[str, float] = {name: float(number) for number, name in enumerate(_CARDINALS)}
"""Words that stand for a number in any paper; others are in a paper's vocabulary."""
_DIGITS = re.compile(r"(\d[\d,]*(?:\.\d+)?)([KM](?![A-Za-z]))?")
_SCALE = {"": 1.0, "K": 1e3, "M": 1e6}


def spelled(text: str) -> float | None:
    """The number that a text gives in digits (`~17GB`, `120K+`, `725:1`) or as a word (`All four`); None if it gives
    none.

    Of several numbers the first counts.
    """
    if digits := _DIGITS.search(text.replace("−", "-")):
        return float(digits[1].replace(",", "")) * _SCALE[digits[2] or ""]
    known = {**WORDS, **vocabulary().numbers}
    return next((float(known[word]) for word in re.findall(r"[a-z]+", text.lower()) if word in known), None)


def stated_number(row: pd.Series) -> float:
    """The number of a stated value: what its printed text spells, else the number typed beside a word such as `all`.

    `row` is of a long source with `printed` and, where it has one, `as_number`. Raises DataError when the text spells
    no number and none is typed, or when both are there and differ.
    """
    number, typed = spelled(str(row["printed"])), row.get("as_number")
    if number is None and pd.isna(typed):
        raise DataError(f"{row['printed']!r} is not a number in words; fill as_number, or judge the word itself")
    return float(typed) if number is None else number  # type: ignore[arg-type]
