"""Printed numbers: every notation in the sources, and the rounding interval of each."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundpaper.errors import DataError
from boundpaper.store.frames import parsed
from boundpaper.typeset.numbers import AsPrinted
from boundpaper.typeset.printed import Unreadable, parse


@pytest.mark.parametrize(
    ("text", "value", "decimals"),
    [
        ("0.6449*", 0.6449, 4), ("3.00e-4", 3e-4, 6), ("−39%", -39, 0), ("+37×", 37, 0), ("-0.211", -0.211, 3),
        ("~50 each", 50, 0), ("±394", 394, 0), ("115,929", 115929, 0), ("+115,929%", 115929, 0), ("< 10⁻⁴⁸", 1e-48, 48),
        ("10⁻²⁹", 1e-29, 29), ("~50K", 50_000, -3), ("3.44M", 3_440_000, -4), ("1.00×", 1.0, 2), ("≈ 0.07", 0.07, 2),
        (">128", 128, 0),
    ],
)  # fmt: skip
def test_printed_numbers_are_read_with_decimals_and_interval(text, value, decimals):
    number = parse(text)
    assert number.value == pytest.approx(value)
    assert number.decimals == decimals
    assert number.high - number.low == pytest.approx(10.0**-decimals)
    assert (number.low + number.high) / 2 == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("97-100%", 96.5, 100.5), ("0.16–0.19", 0.155, 0.195), ("30–50K", 29500, 50500), ("80-100%", 79.5, 100.5)],
)
def test_printed_ranges_have_ends_and_no_value(text, low, high):
    number = parse(text)
    assert number.value is None
    assert (number.low, number.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize("text", ["", "high", "NaN", "inf", "1.2.3", "varies", "—", "1e", "5-3"])
def test_text_that_is_no_number_is_refused(text):
    with pytest.raises(DataError):
        parse(text)


@pytest.mark.parametrize("text", ["0,5", "0,186", "1,23,4", "12,34", "1,2345", "0,5%", "-3,14"])
def test_a_decimal_comma_is_refused(text):
    with pytest.raises(Unreadable, match="use commas for thousands"):
        parse(text)
    assert AsPrinted().parts(text) is None


@pytest.mark.parametrize("text", ["1" * 400, "1e" + "9" * 5000, "10" + "⁹" * 5000])
def test_number_of_too_many_digits_is_refused(text):
    with pytest.raises(Unreadable):
        parse(text)


def test_number_in_a_column_of_words_is_refused():
    frame = pd.DataFrame({"printed": ["0,5"]})
    with pytest.raises(Unreadable):
        parsed(frame, words=True)
    assert parsed(pd.DataFrame({"printed": ["high"]}), words=True)["value"].isna().all()


@settings(derandomize=True, max_examples=200)
@given(st.decimals(min_value=-10000, max_value=10000, places=3))
def test_any_decimal_is_parsed_to_its_value(number):
    reading = parse(f"{number:.3f}")
    assert reading.value == pytest.approx(float(number))
    assert reading.decimals == 3
    assert reading.low < float(number) + 1e-9
    assert reading.high > float(number) - 1e-9


@pytest.mark.parametrize("text", ["10⁹⁹⁹", "2 × 10⁻⁹⁹⁹", "1e400", "3-1e400", "-1e-400"])
def test_number_beyond_the_float_range_is_refused_as_printed(text):
    with pytest.raises(Unreadable) as caught:
        parse(text)
    assert str(caught.value) == f"{text!r} is outside the range of floating-point numbers"
