"""Numbers in words are parsed from the printed text, and agree with the number typed next to the text."""

import pandas as pd
import pytest

from boundpaper.claims.worded_numbers import stated_number, worded_number
from boundpaper.errors import DataError
from boundpaper.store import reader as store
from conftest import ROOT

SOURCES = sorted(path.stem for path in (ROOT / "artifacts/sources").glob("*.csv"))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("16L", 16), ("~17GB", 17), ("120K+", 120_000), ("0.90+", 0.9), ("725:1", 725), ("0% (all tasks)", 0),
        ("3B-class", 3), ("All four", 4), ("Neither", 0), ("triples", 3), ("1,249×", 1249), ("throughout", None),
        ("none the less", None),
    ],
)  # fmt: skip
def test_spelled_numbers_are_read_from_text(text, number):
    assert worded_number(text) == number


def test_stated_number_prefers_the_text_and_refuses_other_words():
    assert stated_number(pd.Series({"printed": "11L", "as_number": 16.0})) == 11
    assert stated_number(pd.Series({"printed": "all", "as_number": 4.0})) == 4
    with pytest.raises(DataError, match="has no number; fill in"):
        stated_number(pd.Series({"printed": "all", "as_number": float("nan")}))


@pytest.mark.parametrize("name", SOURCES)
def test_typed_numbers_agree_with_their_texts(name):
    frame = store.read(ROOT, name)
    typed = frame[frame["as_number"].notna()] if "as_number" in frame.columns else frame.iloc[:0]
    pairs = [
        (row["printed"], worded_number(str(row["printed"])), float(row["as_number"])) for _, row in typed.iterrows()
    ]
    assert [pair for pair in pairs if pair[1] is not None and pair[1] != pair[2]] == []
