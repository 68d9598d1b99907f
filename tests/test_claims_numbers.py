"""Quantities printed with two different numbers: the list is complete, and each difference is explained or reported."""

import csv

import pandas as pd
import pytest

from analysis.claims.thesis.coincidences import thesis_numbers_told_apart
from boundpaper.claims import numbers
from boundpaper.store.reader import read
from conftest import ROOT

PLACE = ("document", "number", "table", "cell")


def cells(*quantities, number="1249"):
    rows = [("9", number, "table", f"row {index}", quantity, "9 T1") for index, quantity in enumerate(quantities)]
    return pd.DataFrame(rows, columns=[*PLACE, "quantity", "source"])


def explanation(relation, operand="", number="1249"):
    row = ("9", number, relation, operand, "", "reason: a table would decide")
    return pd.DataFrame([row], columns=["document", "number", "relation", "operand", "place", "reason"])


UNRELATED = explanation("ratio", "1.00", number="7777")


@pytest.mark.parametrize(
    ("printed", "number"),
    [
        ("+115,929%", "115929"),
        ("0.6045", "0.6045"),
        ("~1,815x", "1815"),
        ("0.0604", None),  # three digits
        ("4,096", None),  # a power of two
        ("12,000", None),  # round
        ("3.512-31.64", None),  # two numbers
        ("no", None),
    ],
)
def test_only_numbers_with_enough_digits_are_compared(printed, number):
    assert numbers.distinctive_number(printed) == number


def test_every_repeated_number_is_listed_with_its_quantity():
    with (ROOT / numbers.REPEATED_NUMBERS).open(encoding="utf-8", newline="") as stream:
        listed = list(csv.DictReader(stream))
    actual = numbers.keep_quantities(numbers.repeated_numbers(ROOT), listed)
    assert actual == [{name: row[name] for name in actual[0]} for row in listed], (
        "run: python -m boundpaper.claims.numbers"
    )
    assert [row for row in listed if not row["quantity"]] == []


def test_a_cell_that_is_new_has_no_quantity_and_others_keep_theirs():
    row = {"document": "9", "number": "1249", "table": "table", "source": "9 T1"}
    actual = numbers.keep_quantities(
        [{**row, "cell": "old"}, {**row, "cell": "new"}], [{**row, "cell": "old", "quantity": "a ratio"}]
    )
    assert [each["quantity"] for each in actual] == ["a ratio", ""]
    assert [each["reason"] for each in actual] == ["", "quantity not yet named"]


def test_number_repeated_for_one_quantity_is_accepted():
    assert thesis_numbers_told_apart(cells("a ratio", "a ratio"), UNRELATED) == []


@pytest.mark.parametrize("quantities", [("a ratio", "a count"), ("a ratio", "")])
def test_number_of_two_quantities_without_a_reason_is_reported(quantities):
    [verdict] = thesis_numbers_told_apart(cells(*quantities), UNRELATED)
    assert (verdict.key, verdict.verdict) == ("9_1249", "not supported")
    assert "may be a copy" in verdict.reason


@pytest.mark.parametrize(
    ("relation", "operand", "verdict"),
    [
        ("ratio", "1.00", "holds"), ("ratio", "1.10", "contradicted"), ("difference", "0.6", "holds"),
        ("difference", "3.1", "contradicted"), ("undecided", "", "not testable"),
    ],
)  # fmt: skip
def test_relation_between_two_quantities_is_computed(relation, operand, verdict):
    [judged] = thesis_numbers_told_apart(cells("a ratio", "a contrast"), explanation(relation, operand))
    assert judged.verdict == verdict


def test_operands_of_explained_numbers_are_printed_where_stated():
    explained = read(ROOT, "number_coincidences")
    tied = explained[explained["relation"] != "undecided"]
    assert len(tied)
    for _, row in tied.iterrows():
        table, _, cell = str(row["place"]).partition(": ")
        with (ROOT / f"artifacts/sources/{table}.csv").open(encoding="utf-8", newline="") as stream:
            printed = [
                each["printed"] for each in csv.DictReader(stream) if set(cell.split(" / ")) <= set(each.values())
            ]
        assert [text.strip("+%×") for text in printed] == [str(row["operand"])], row["place"]


def test_every_explanation_refers_to_a_number_of_two_quantities():
    listed, explained = read(ROOT, "repeated_numbers"), read(ROOT, "number_coincidences")
    counts = listed.groupby(["document", "number"])["quantity"].nunique()
    assert set(counts[counts > 1].index) == set(map(tuple, explained[["document", "number"]].to_numpy()))
