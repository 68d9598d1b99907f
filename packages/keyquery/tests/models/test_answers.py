"""Answers are judged as a person would judge them, and each wrong number gets an error class."""

import itertools

import pytest

from keyquery.tasks.answers import CLASSES, chosen_option, error_class, first_number, is_ambiguous, judge, parse
from keyquery.tasks.items import Item

YES_NO = ("yes", "no")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (" yes", "right"), ("Yes, it is.", "right"), ("**YES**\nQuestion: no", "right"), ("I don't know. Yes", "right"),
        ("Nobody knows; not now, noon, no-one's yes", "right"), ("no", "wrong"), ("No! Well, yes", "wrong"),
        ("(no)", "wrong"), ("", "unparsed"), ("know", "unparsed"), ("yesterday, noon", "unparsed"),
        ("no-one can say", "unparsed"), ("yes_or", "unparsed"),
    ],
)  # fmt: skip
def test_judge_counts_the_first_whole_word(text: str, outcome: str) -> None:
    assert judge(text, "yes", YES_NO) == outcome


def test_chosen_option_is_a_whole_word_and_the_longest() -> None:
    assert chosen_option("It was Negative, not positive", ("positive", "negative")) == "negative"
    assert chosen_option("new  York", ("new", "new york")) == "new york", "the longer of two options counts"
    assert chosen_option("newer", ("new", "new york")) is None
    assert judge("c++ is", "c++", ("c", "c++")) == "right", "options are plain texts, not patterns"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (" Oslo.", "right"), ("the city of oslo, of course", "right"), ("\n...Oslo", "right"), ("Osloer", "wrong"),
        ("Bergen. Oslo", "wrong"), (" ...\n", "unparsed"),
    ],
)  # fmt: skip
def test_judge_finds_an_open_answer_in_the_first_sentence(text: str, outcome: str) -> None:
    assert judge(text, "Oslo") == outcome


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The key is 40712. Not 12345.", "40712"), (" 4 0 7 1 2 .", "40712"), ("4 0 7 12", "407"), ("40,712", "40712"),
        ("40,71", "40"), ("key: 00712", "00712"), ("none", ""),
    ],
)  # fmt: skip
def test_the_first_number_of_a_text_is_read(text: str, number: str) -> None:
    assert first_number(text) == number


def test_parse_reads_a_text_by_the_kind_of_its_answer() -> None:
    key = Item("passkey-0000", "passkey", "what is the key ?", "4 0 7 1 2")
    assert [parse(key, text) for text in ("40712.", "4 0 7 1 2 . 9", "4 0 7 1", "none")] == [
        "right", "right", "wrong", "unparsed",
    ]  # fmt: skip
    worded = Item("passkey-0001", "passkey", "key", "d4 d0", facts={"digits": {"d4": "4", "d0": "0"}})
    assert [parse(worded, text) for text in ("d4 d0 .", "d4", "4 0")] == ["right", "wrong", "unparsed"]
    closed = Item("cities-0000", "cities", "is it ?", "no", YES_NO)
    assert [parse(closed, text) for text in ("No.", "yes", "12")] == ["right", "wrong", "unparsed"]
    assert parse(Item("cities_open-0000", "cities_open", "where ?", "Peru"), "in Peru") == "right"


def test_number_reads_digit_words_of_the_small_language() -> None:
    words = {f"d{digit}": str(digit) for digit in range(10)}
    assert first_number("key d4 d0 d7 . d1", words) == "407"
    assert first_number("4 0 7", words) == ""
    assert first_number("d12 d3", words) == "3"


@pytest.mark.parametrize(
    ("answer", "key", "expected"),
    [
        ("40712", "40712", "exact"), ("", "40712", "no_number"), ("40713", "40712", "near_miss"),
        ("47012", "40712", "near_miss"),  # neighbours exchanged
        ("90713", "40712", "near_miss"), ("90813", "40712", "other_number"), ("1234", "12234", "run_deletion"),
        ("1234", "122334", "run_deletion"),  # two runs, each one digit short
        ("124", "12224", "run_deletion"),
        ("1234", "12344", "run_deletion"),  # also a truncation, but a missing run is checked first
        ("14", "1224", "other_deletion"),  # the run is missing completely
        ("407", "40712", "truncation"), ("4", "40712", "truncation"), ("4012", "40712", "other_deletion"),
        ("712", "40712", "other_deletion"), ("407123", "40712", "insertion"), ("440712", "40712", "insertion"),
        ("4017125", "40712", "insertion"), ("4079", "40712", "wrong_length"), ("9071234", "40712", "wrong_length"),
    ],
)  # fmt: skip
def test_wrong_keys_are_classified(answer: str, key: str, expected: str) -> None:
    assert error_class(answer, key) == expected


def test_truncation_of_a_repeated_last_digit_is_ambiguous() -> None:
    assert is_ambiguous("1234", "12344")
    assert not is_ambiguous("1234", "12234")
    assert not is_ambiguous("407", "40712")


def test_each_wrong_number_has_one_error_class_consistent_with_its_length() -> None:
    classes = set()
    for key in ("0010", "0123", "1111"):
        for length in range(6):
            for digits in itertools.product("0123", repeat=length):
                answer = "".join(digits)
                kind = error_class(answer, key)
                classes.add(kind)
                assert (kind in ("near_miss", "other_number", "exact")) == (len(answer) == len(key))
                if kind in ("run_deletion", "truncation", "other_deletion"):
                    assert 0 < len(answer) < len(key)
    assert classes == set(CLASSES)
