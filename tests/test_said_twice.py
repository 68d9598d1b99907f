"""Statements of two sections about the same thing are compared; those of the thesis are also checked in its text."""

import re

import pandas as pd
import pytest

from analysis.claims.thesis.worded import thesis_worded_conflicts, thesis_worded_own
from analysis.studies.ledger.said_twice import worded_conflicts
from boundpaper.errors import DataError
from boundpaper.store.reader import read
from conftest import ROOT

CLAIMS = pd.DataFrame({"claim": ["a.x", "a.y", "b", "c"], "verdict": ["holds", "contradicted", "holds", "holds"]})


def statements(*rows):
    names = ("document", "about", "place", "says", "word", "claims")
    return pd.DataFrame([("001", "the bean", *row) for row in rows], columns=names)


@pytest.mark.parametrize(
    ("first", "second", "conflict", "unjudged"),
    [
        (("1", "Green", "green", "b"), ("2", "Green too", "green", "c"), False, False),
        (("1", "Green", "green", "b"), ("2", "Red", "red", "c"), True, True),
        (("1", "Green", "green", "a"), ("2", "Red", "red", "c"), True, False),
    ],
)
def test_statements_in_different_words_conflict_if_they_cannot_both_hold(first, second, conflict, unjudged):
    row = worded_conflicts(statements(first, second), CLAIMS).iloc[0]
    assert (bool(row["conflict"]), bool(row["unjudged"])) == (conflict, unjudged)
    assert thesis_worded_conflicts(statements(first, second)).recomputed == str(int(conflict))


def test_third_section_can_create_a_conflict():
    rows = [("1", "", "green", "b"), ("2", "", "green", "c"), ("3", "", "red", "a")]
    assert bool(worded_conflicts(statements(*rows), CLAIMS).iloc[0]["conflict"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [([("1", "", "green", "b")], "has one row"), ([("1", "", "green", "b"), ("2", "", "red", "d")], "no claim 'd'")],
)
def test_incomparable_sections_are_refused(rows, message):
    with pytest.raises(DataError, match=message):
        worded_conflicts(statements(*rows), CLAIMS)


def test_ledger_has_no_conflict_that_holds_on_both_sides():
    table = read(ROOT, "worded_conflicts")
    assert not table["unjudged"].any()
    assert 0 < table["conflict"].sum() < len(table)
    assert not table.loc[table["document"] == "thesis", "conflict"].any()


OWN = read(ROOT, "said_twice").query("document == 'thesis'")


def section(place):
    """Return a chapter's text or, if `place` is `chapter: title`, that of its section or of its box `In brief`."""
    name, _, title = place.partition(": ")
    text = (ROOT / f"paper/chapters/{name}.tex.j2").read_text(encoding="utf-8")
    if not title:
        return text
    begin, end = ("begin{inbrief}", "end{inbrief}") if title == "In brief" else (f"section{{{title}", r"section{")
    return text.partition(begin)[2].partition(end)[0]


@pytest.mark.parametrize(("place", "says", "word"), list(OWN[["place", "says", "word"]].itertuples(index=False)))
def test_statement_of_the_thesis_is_printed_and_has_its_word(place, says, word):
    assert says in section(place)
    assert any(re.search(rf"(?i)\b{part}", says) for part in word.split("/"))


@pytest.mark.parametrize("row", range(len(OWN)))
def test_statement_of_the_thesis_that_is_turned_around_is_a_conflict(row):
    reversed_rows = OWN.reset_index(drop=True)
    reversed_rows.loc[row, "word"] = "the opposite"
    assert thesis_worded_own(OWN).verdict == "holds"
    assert thesis_worded_own(reversed_rows).verdict == "contradicted"
