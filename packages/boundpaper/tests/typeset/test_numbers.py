"""Formats of numbers: printed text never implies more precision than the number has, and is idiomatic."""

import math
import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundpaper.errors import DataError, SpecError
from boundpaper.typeset.glyphs import OUTPUTS, glyphs
from boundpaper.typeset.numbers import (
    P_LEVELS,
    Show,
    fixed,
    integer,
    interval,
    markup,
    percent,
    points,
    printed,
    pvalue,
    scientific,
    signed,
    significant,
    stars,
    text,
    times,
    uncertain,
)
from boundpaper.typeset.rounding import shortest_text

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("show", "value", "latex", "markdown", "plain"),
    [
        (fixed(2), -1.239, "$-$1.24", "−1.24", "-1.24"), (fixed(2), 2.675, "2.68", "2.68", "2.68"),
        (fixed(1), 1234.56, "1,234.6", "1,234.6", "1,234.6"),
        (fixed(0, thousands=True), 1234.56, "1,235", "1,235", "1,235"), (signed(1), 2.25, "$+$2.3", "+2.3", "+2.3"),
        (signed(1), 0.04, "0.0", "0.0", "0.0"), (percent(1), 89.5, r"89.5\%", "89.5%", "89.5%"),
        (points(), 0.3325, "33", "33", "33"), (points(1), -0.0015, "$-$0.2", "−0.2", "-0.2"),
        (percent(0, share=True), 0.895, r"90\%", "90%", "90%"),
        (times(1), 37.04, r"37.0$\times$", "37.0×", "37.0x"), (integer(), 131072, "131,072", "131,072", "131,072"),
        (integer(thousands=False), np.int64(2048), "2048", "2048", "2048"),
        (significant(3), 0.00012345, "0.000123", "0.000123", "0.000123"), (significant(2), 9.96, "10", "10", "10"),
        (significant(2), 1234, "1,200", "1,200", "1,200"),
        (scientific(2), -3.4e-12, r"$-$3.40\,$\times$\,10$^{-12}$", "−3.40 × 10⁻¹²", "-3.40e-12"),
        (scientific(1), 9.97, r"1.0\,$\times$\,10$^{1}$", "1.0 × 10¹", "1.0e1"),
        (scientific(1), 3.0, "3.0", "3.0", "3.0"), (scientific(1), 0, "0", "0", "0"),
        (pvalue(), 3.4e-12, r"$<$\,10$^{-11}$", "\\<\u202f10⁻¹¹", "< 10^-11"),
        (pvalue(), 1e-11, r"$<$\,10$^{-10}$", "\\<\u202f10⁻¹⁰", "< 10^-10"),
        (pvalue(), 4e-4, r"$<$\,0.001", "\\<\u202f0.001", "< 0.001"),
        (pvalue(), 0.0, r"$<$\,10$^{-300}$", "\\<\u202f10⁻³⁰⁰", "< 10^-300"),
        (pvalue(), 0.001, "0.001", "0.001", "0.001"), (pvalue(), 0.0504, "0.0504", "0.0504", "0.0504"),
        (pvalue(relation=True), 0.25, r"$=$\,0.250", "=\u202f0.250", "= 0.250"),
        (interval(2), (-0.1, 0.456), "[$-$0.10, 0.46]", r"\[−0.10, 0.46\]", "[-0.10, 0.46]"),
        (interval(0, share=True), (0.1, 0.25), r"[10, 25]\%", r"\[10, 25\]%", "[10, 25]%"),
        (uncertain(), (0.12345, 0.0452), r"0.123\,$\pm$\,0.045", "0.123 ± 0.045", "0.123 ± 0.045"),
        (uncertain(), (0.12345, 0.0996), r"0.12\,$\pm$\,0.10", "0.12 ± 0.10", "0.12 ± 0.10"),
        (uncertain(), (1234.5, 560.0), r"1,230\,$\pm$\,560", "1,230 ± 560", "1,230 ± 560"),
        (printed(), "1815x", r"1,815$\times$", "1,815×", "1,815x"), (printed(), "−39%", r"$-$39\%", "−39%", "-39%"),
        (printed(), "~50", r"$\sim$50", r"\~50", "~50"),
        (printed(), "< 10⁻⁴⁸", r"$<$\,10$^{-48}$", "\\<\u202f10⁻⁴⁸", "< 10^-48"),
        (printed(), "97-100%", r"97--100\%", "97–100%", "97-100%"),
        (printed(), "50 each", "50 each", "50 each", "50 each"),
        (printed(), "3.00e-4", r"3.00\,$\times$\,10$^{-4}$", "3.00 × 10⁻⁴", "3.00e-4"),
        (text, "a_b", r"a\_b", r"a\_b", "a_b"), (text, True, "yes", "yes", "yes"), (text, 4.0, "4", "4", "4"),
        (markup, "*a* $x_1$", r"\emph{a} $x_1$", "*a* $x_1$", "*a* $x_1$"),
    ],
)  # fmt: skip
def test_each_format_prints_as_expected(show: Show, value: object, latex: str, markdown: str, plain: str) -> None:
    normal = [show.show(value, output).replace("\u00a0", " ") for output in ("latex", "markdown", "plain")]
    assert normal == [latex, markdown.replace("\u00a0", " "), plain]


def test_html_numbers_are_superscripted_and_escaped() -> None:
    assert scientific(1).show(-3.4e-12, "html") == "−3.4 × 10<sup>−12</sup>"
    assert pvalue().show(0.0001, "html") == "&lt;\u202f0.001"


def test_csv_numbers_are_not_rounded() -> None:
    assert fixed(1).show(0.123456789, "csv") == "0.123456789"
    assert shortest_text(np.float64(1e-7)) == "1e-07"
    assert shortest_text(np.int64(7)) == "7"
    assert interval(1).show((0.25, 0.5), "csv") == "0.25,0.5"
    assert uncertain().show((0.25, 0.5), "csv") == "0.25,0.5"


@given(FINITE, st.integers(0, 6))
def test_rounded_number_is_never_minus_zero_and_off_by_at_most_half_a_unit(value: float, digits: int) -> None:
    rounded = fixed(digits).show(value, "plain")
    assert not re.fullmatch(r"[-+]0(\.0+)?", rounded)
    assert abs(Decimal(rounded.replace(",", "")) - Decimal(repr(value))) <= Decimal(5).scaleb(-digits - 1)
    assert not re.fullmatch(r"[-+]0(\.0+)?", signed(digits).show(value, "plain"))


@given(FINITE.filter(lambda x: x != 0), st.integers(0, 6))
def test_scientific_format_reads_back_to_the_number(value: float, digits: int) -> None:
    rounded = scientific(digits).show(value, "plain")
    mantissa = rounded.partition("e")[0].lstrip("-")
    assert 1 <= Decimal(mantissa) < 10
    exact = Decimal(repr(value))
    assert abs(Decimal(rounded) - exact) <= abs(exact) * Decimal("0.51").scaleb(-digits)


@given(st.floats(0, 1))
def test_printed_p_is_never_below_the_exact_p(p: float) -> None:
    printed_p = pvalue().show(p, "plain")
    if printed_p.startswith("< "):
        bound = Decimal(printed_p[2:].replace("10^", "1e"))
        assert Decimal(repr(p)) < bound
        assert p == 0 or p < 1e-300 or Decimal(repr(p)) >= bound / 10 or bound == Decimal("0.001")
    else:
        assert abs(float(printed_p) - p) <= 0.0005
        assert stars(Decimal(printed_p)) <= stars(p)
        assert not any(float(printed_p) <= level < p for level in P_LEVELS)


@given(FINITE, st.floats(1e-12, 1e12))
def test_uncertainty_has_two_digits_and_the_value_matches(value: float, spread: float) -> None:
    middle, _, shown = uncertain().show((value, spread), "plain").partition(" ± ")
    digits = Decimal(shown.replace(",", ""))
    assert 10 <= digits.scaleb(-digits.adjusted() + 1) < 100
    assert len(middle.partition(".")[2]) == len(shown.partition(".")[2])
    assert abs(digits - Decimal(repr(spread))) <= Decimal(repr(spread)) * Decimal("0.0501")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan"), Decimal("NaN")])
@pytest.mark.parametrize("show", [fixed(2), percent(), scientific(), pvalue(), significant(2), integer()])
@pytest.mark.parametrize("output", OUTPUTS)
def test_nan_and_infinity_are_refused(show: Show, value: object, output: str) -> None:
    with pytest.raises(DataError, match="give a reason"):
        show.show(value, output)


@pytest.mark.parametrize("value", ["0.5", True, None, object()])
def test_values_that_are_no_numbers_are_refused(value: object) -> None:
    with pytest.raises(DataError, match="is not a number"):
        fixed(2).show(value)


@pytest.mark.parametrize(
    ("show", "value", "message"),
    [
        (pvalue(), 1.2, "between 0 and 1"), (pvalue(), -0.1, "between 0 and 1"),
        (interval(1), (2, 1), "wrong order"), (interval(1), 3, "pair"),
        (uncertain(), (1, 0), "does not determine a precision"),
        (uncertain(), (1, -2), "does not determine a precision"), (printed(), 3.5, "text of a document"),
    ],
)  # fmt: skip
def test_invalid_values_are_refused_by_name(show: Show, value: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        show.show(value)


def test_invalid_format_options_are_refused() -> None:
    with pytest.raises(SpecError, match="0 to 15"):
        fixed(-1)
    with pytest.raises(SpecError, match="significant digit"):
        significant(0).show(1.0)
    with pytest.raises(SpecError, match="docx"):
        glyphs("1", "docx")


def test_stars_count_the_levels_that_p_is_below() -> None:
    assert [stars(p) for p in (0.2, 0.05, 0.049, 0.01, 0.0009)] == [0, 0, 1, 1, 3]
    with pytest.raises(DataError, match="between 0 and 1"):
        stars(2.0)
