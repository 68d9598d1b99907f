"""Two sections of one document: what its words say of one thing, compared."""

import pandas as pd
import pytest

from analysis.claims.thesis.worded import thesis_worded_conflicts
from analysis.studies.ledger.said_twice import worded_conflicts
from boundpaper.errors import DataError
from boundpaper.store.reader import read
from conftest import ROOT

CLAIMS = pd.DataFrame({"claim": ["a.x", "a.y", "b", "c"], "verdict": ["holds", "contradicted", "holds", "holds"]})


def said(*rows):
    names = ("document", "about", "place", "says", "word", "claims")
    return pd.DataFrame([("001", "the bean", *row) for row in rows], columns=names)


@pytest.mark.parametrize(
    ("one", "other", "conflict", "unjudged"),
    [
        (("1", "Green", "green", "b"), ("2", "Green too", "green", "c"), False, False),
        (("1", "Green", "green", "b"), ("2", "Red", "red", "c"), True, True),
        (("1", "Green", "green", "a"), ("2", "Red", "red", "c"), True, False),
    ],
)
def test_differing_words_are_a_conflict_and_both_sides_cannot_hold(one, other, conflict, unjudged):
    row = worded_conflicts(said(one, other), CLAIMS).iloc[0]
    assert (bool(row["conflict"]), bool(row["unjudged"])) == (conflict, unjudged)
    assert thesis_worded_conflicts(said(one, other)).recomputed == str(int(conflict))


def test_third_section_can_create_a_conflict():
    rows = [("1", "", "green", "b"), ("2", "", "green", "c"), ("3", "", "red", "a")]
    assert bool(worded_conflicts(said(*rows), CLAIMS).iloc[0]["conflict"])


@pytest.mark.parametrize(
    ("rows", "told"),
    [([("1", "", "green", "b")], "has one row"), ([("1", "", "green", "b"), ("2", "", "red", "d")], "no claim 'd'")],
)
def test_incomparable_sections_are_refused(rows, told):
    with pytest.raises(DataError, match=told):
        worded_conflicts(said(*rows), CLAIMS)


def test_ledger_has_no_conflict_that_holds_on_both_sides():
    table = read(ROOT, "worded_conflicts")
    assert not table["unjudged"].any()
    assert 0 < table["conflict"].sum() < len(table)
