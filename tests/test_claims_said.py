"""Numbers in words: read from the printed text, and what is typed beside a text agrees with it."""

import pandas as pd
import pytest

from boundpaper.claims.worded_numbers import spelled, stated_number
from boundpaper.errors import DataError
from boundpaper.store import reader as store
from conftest import ROOT

SOURCES = sorted(path.stem for path in (ROOT / "artifacts/sources").glob("*.csv"))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("16L", 16),
        ("~17GB", 17),
        ("120K+", 120_000),
        ("0.90+", 0.9),
        ("725:1", 725),
        ("0% (all tasks)", 0),
        ("3B-class", 3),
        ("All four", 4),
        ("Neither", 0),
        ("triples", 3),
        ("1,249×", 1249),
        ("throughout", None),
        ("none the less", None),
    ],
)
def test_the_number_that_a_text_gives(text, number):
    assert spelled(text) == number


def test_said_prefers_the_text_and_refuses_words_without_a_number():
    assert stated_number(pd.Series({"printed": "11L", "as_number": 16.0})) == 11
    assert stated_number(pd.Series({"printed": "all", "as_number": 4.0})) == 4
    with pytest.raises(DataError, match="is not a number in words"):
        stated_number(pd.Series({"printed": "all", "as_number": float("nan")}))


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_typed_beside_a_text_is_what_the_text_says(name):
    frame = store.read(ROOT, name)
    typed = frame[frame["as_number"].notna()] if "as_number" in frame.columns else frame.iloc[:0]
    pairs = [(row["printed"], spelled(str(row["printed"])), float(row["as_number"])) for _, row in typed.iterrows()]
    assert [pair for pair in pairs if pair[1] is not None and pair[1] != pair[2]] == []
