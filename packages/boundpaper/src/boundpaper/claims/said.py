"""Numbers that a source gives in words or inside other text: read from the printed text, not from a typed column."""

from __future__ import annotations

import re

import pandas as pd

from boundpaper.errors import DataError

WORDS = {
    "zero": 0,
    "no": 0,
    "neither": 0,
    "one": 1,
    "only": 1,
    "highest": 1,
    "lowest": 1,
    "steepest": 1,
    "flattest": 1,
    "best": 1,
    "two": 2,
    "bilingual": 2,
    "bimodal": 2,
    "double": 2,
    "doubles": 2,
    "halves": 2,
    "three": 3,
    "triples": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}
_DIGITS = re.compile(r"(\d[\d,]*(?:\.\d+)?)([KM](?![A-Za-z]))?")
_SCALE = {"": 1.0, "K": 1e3, "M": 1e6}


def spelled(text: str) -> float | None:
    """The number that a text gives in digits (`~17GB`, `120K+`, `725:1`) or as a word (`All four`); None if none.

    Parameters
    ----------
    text : str
        As printed; of several numbers the first counts.
    """
    if digits := _DIGITS.search(text.replace("−", "-")):
        return float(digits[1].replace(",", "")) * _SCALE[digits[2] or ""]
    words = [WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in WORDS]
    return float(words[0]) if words else None


def said(row: pd.Series) -> float:
    """The number of a stated value: what its printed text spells, else what was typed beside a word such as `all`.

    Parameters
    ----------
    row : Series
        A row of a long source with `printed` and, where it has one, `as_number`.

    Raises
    ------
    DataError
        When the text spells no number and none is typed, or when both are there and differ.
    """
    number, typed = spelled(str(row["printed"])), row.get("as_number")
    if number is None and pd.isna(typed):
        raise DataError(f"{row['printed']!r} spells no number; fill as_number, or judge the word itself")
    return float(typed) if number is None else number  # type: ignore[arg-type]
