"""Quantities read from cells and sentences: their digits, units and rounding intervals."""

import pytest

from boundpaper.audit import number


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("12.3", 12.3, ""), ("−0.4", -0.4, ""), ("+5.1%", 5.1, "%"), ("3.0x", 3.0, "x"), ("1,234", 1234, ""),
        ("12.5 ± 0.3", 12.5, ""), ("71.2 (+3.1)", 71.2, ""), ("4.2 ms", 4.2, "ms"), ("3.1×10⁻⁵", 3.1e-5, ""),
        ("2.5e-4", 2.5e-4, ""), ("8K", 8, "K"), ("55.1*", 55.1, ""), ("~40", 40, ""), ("7.1↑", 7.1, ""),
    ],
)  # fmt: skip
def test_cell_with_one_number_is_read(text, value, unit):
    quantity = number.of_cell(text)
    assert quantity is not None
    assert quantity.value == pytest.approx(value)
    assert quantity.unit in (unit, "")


@pytest.mark.parametrize(
    "text", ["", "-", "n/a", "71.2 / 65.3", "3-5", "v1.2.3", "Llama-3.1", "0,5", "1.2, 3.4", "2024-01-02"]
)
def test_cell_with_no_or_several_numbers_is_read_as_none(text):
    assert number.of_cell(text) is None


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("Llama-3.1-8B reaches 71.2% on GPT-4 tasks.", ["71.2%"]),
        ("Figure 3 and Table 12 show 5.1 points in 2023.", ["5.1 points"]),
        ("About 40 of 224x224 images, 50-65K tokens, 3 × 3.", ["40"]),
        ("It is 2.5x faster (1.2 s).", ["2.5x", "1.2 s"]),
        ("Layer 7, step 500, version 2.0, arXiv:2301.12345.", []),
        ("At 10,000 tokens −0.3 is lost.", ["10,000", "−0.3"]),
    ],
)
def test_quantities_of_a_sentence_are_found(text, printed):
    assert [quantity.text for quantity in number.in_text(text)][: len(printed)] == printed


def test_rounding_interval_follows_the_printed_digits():
    exact, rounded = number.of_cell("18.4"), next(number.in_text("about 40 cm"))
    assert exact is not None
    assert (exact.interval.low, exact.interval.high) == pytest.approx((18.35, 18.45))
    assert (rounded.loose_interval.low, rounded.loose_interval.high) == pytest.approx((36, 44))
