"""Parse answers: find options such as yes and no as whole words, find numbers, and classify the errors in numbers."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final, Literal

from keyquery.tasks.items import Item

Outcome = Literal["right", "wrong", "unparsed"]
RIGHT: Final = "right"
WRONG: Final = "wrong"
UNPARSED: Final = "unparsed"

EXACT = "exact"
NO_NUMBER = "no_number"
NEAR_MISS = "near_miss"
OTHER_NUMBER = "other_number"
RUN_DELETION = "run_deletion"
TRUNCATION = "truncation"
OTHER_DELETION = "other_deletion"
INSERTION = "insertion"
WRONG_LENGTH = "wrong_length"
CLASSES = (EXACT, NEAR_MISS, RUN_DELETION, TRUNCATION, OTHER_DELETION, INSERTION, OTHER_NUMBER, WRONG_LENGTH, NO_NUMBER)
LETTERS = dict(zip(CLASSES, "enrtdiowx", strict=True))
"""Letters by class, for tables with one letter per question; `NO_STOP` is a right number without a full stop."""
NO_STOP = "s"
NEAR_DIGITS = 2  # largest number of changed digits in a near-miss: one wrong digit, or two swapped digits

# A hyphen or apostrophe inside a word is part of the word: "no" is not in "no-one"
BEFORE, AFTER = r"(?<!\w)(?<!\w['’-])", r"(?!['’-]?\w)"
DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|\d(?: \d(?!\d))+|\d+")


def chosen_option(text: str, options: Sequence[str]) -> str | None:
    """Return the option that occurs first in a text as whole words, in any letter case; None if none occurs.

    If two options start at the same character, the longer one counts, so "new york" is not "new".
    """
    earliest: tuple[int, int, str] | None = None
    for option in options:
        words = r"\s+".join(map(re.escape, option.split()))
        match = re.search(BEFORE + words + AFTER, text, re.IGNORECASE)
        if match and (earliest is None or (match.start(), -match.end()) < earliest[:2]):
            earliest = (match.start(), -match.end(), option)
    return None if earliest is None else earliest[2]


def judge(text: str, answer: str, options: Sequence[str] = ()) -> Outcome:
    """Return whether a continuation is right, wrong or unparsed.

    `options` are all possible answers: the first option in the text counts, and a text without an option is unparsed.
    An open question has no options: the first sentence must contain the answer as whole words, and a text without words
    is unparsed.
    """
    if options:
        choice = chosen_option(text, options)
        return UNPARSED if choice is None else RIGHT if choice.casefold() == answer.casefold() else WRONG
    sentence = next((each for each in re.split(r"[.?!\n]", text) if re.search(r"\w", each)), "")
    if not sentence:
        return UNPARSED
    return RIGHT if chosen_option(sentence, [answer]) is not None else WRONG


def parse(item: Item, text: str) -> Outcome:
    """Return whether a continuation answers an item right; if the right answer is a number, the first number counts.

    If a language has words for digits, the item's fact `digits` maps each word to its digit.
    """
    digits = item.facts.get("digits")
    key = first_number(item.answer, digits)
    if item.options or not key:
        return judge(text, item.answer, item.options)
    number = first_number(text, digits)
    return UNPARSED if not number else RIGHT if number == key else WRONG


def first_number(text: str, digits: Mapping[str, str] | None = None) -> str:
    """Return the first number in a text, as digits; empty if there is none.

    Digits may be spaced ("4 0 7"), and commas may separate thousands. For a language that writes each digit as a word,
    `digits` maps words to digits, as in {"d4": "4"}: then the first run of such words counts, and numerals are ignored.
    """
    if digits is None:
        match = DIGITS.search(text)
        return re.sub(r"\D", "", match.group()) if match else ""
    numeral = ""
    for word in text.split():
        if word in digits:
            numeral += digits[word]
        elif numeral:
            break
    return numeral


def error_class(answer: str, key: str) -> str:
    """Return how a number differs from the requested key: one of `CLASSES`.

    The classes are tried in this order:

    - `no_number`: no number was given; `exact`: equal.
    - Of the same length: `near_miss` with one or two digits changed (two neighbours exchanged are two changes), else
      `other_number`.
    - Shorter, the key with digits left out: `run_deletion` if only runs of equal digits became shorter (12234 to
      1234), else `truncation` if it is the key's beginning, else `other_deletion`. A key that is cut inside a final run
      (12344 to 1234) counts as `run_deletion`: see `is_ambiguous`.
    - Longer, the key with inserted digits: `insertion`.
    - `wrong_length`: everything else.
    """
    if not answer:
        return NO_NUMBER
    if answer == key:
        return EXACT
    if len(answer) == len(key):
        differences = sum(digit != key_digit for digit, key_digit in zip(answer, key, strict=True))
        return NEAR_MISS if differences <= NEAR_DIGITS else OTHER_NUMBER
    if _digits_in_order(answer, key):
        if _has_shorter_runs(answer, key):
            return RUN_DELETION
        return TRUNCATION if key.startswith(answer) else OTHER_DELETION
    return INSERTION if _digits_in_order(key, answer) else WRONG_LENGTH


def is_ambiguous(answer: str, key: str) -> bool:
    """Return whether a number is both a run deletion and a truncation of the key (see `error_class`)."""
    return error_class(answer, key) == RUN_DELETION and key.startswith(answer)


def _digits_in_order(digits: str, number: str) -> bool:
    """Return whether `number` has all digits of `digits` in the same order, possibly with others between them."""
    remaining = iter(number)
    return all(digit in remaining for digit in digits)


def _has_shorter_runs(answer: str, key: str) -> bool:
    """Return whether a number has the key's runs of equal digits, none of them longer than in the key."""
    runs, key_runs = ([(digit, len(list(run))) for digit, run in groupby(number)] for number in (answer, key))
    return len(runs) == len(key_runs) and all(
        digit == key_digit and length <= key_length
        for (digit, length), (key_digit, key_length) in zip(runs, key_runs, strict=True)
    )
