"""Precision of printed numbers: the interval that a number stands for, and bounds of a printed p."""

from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from boundpaper.statistics import (
    Interval,
    agreement,
    bound_holds,
    meets,
    p_bound,
    percent_change,
    printed_interval,
    relative_decline,
    rounds_to,
)
from boundpaper.statistics.pvalue import bound_exponent
from boundpaper.statistics.rounding import difference, half_unit, mean, ratio, shared_decimals

QUICK = settings(derandomize=True, max_examples=100, deadline=None)
numbers = st.floats(-1000, 1000)
inside = st.floats(0, 1)


def box(value, width):
    return Interval(value, value + width)


def point(interval, share):
    return min(interval.high, interval.low + share * interval.width)


@QUICK
@given(a=numbers, b=numbers, wa=st.floats(0, 10), wb=st.floats(0, 10), s=inside, t=inside)
def test_interval_arithmetic_contains_every_possible_result(a, b, wa, wb, s, t):
    first, second = box(a, wa), box(b, wb)
    x, y = point(first, s), point(second, t)
    results = [(first + second, x + y), (difference(first, second), x - y), (first * second, x * y), (-first, -x)]
    results.append((mean([first, second]), (x + y) / 2))
    if not second.low <= 0 <= second.high and abs(y) > 1e-6:
        results.append((ratio(first, second), x / y))
        results.append((percent_change(second, first), 100 * (x - y) / y))
        results.append((relative_decline(second, first), 1 - x / y))
    for interval, value in results:
        slack = 1e-9 * (1 + abs(interval.low) + abs(interval.high))
        assert interval.low - slack <= value <= interval.high + slack


def test_interval_arithmetic_gives_the_narrowest_range():
    assert difference(Interval(1, 2), Interval(0, 3)) == Interval(-2, 2)
    assert Interval(-1, 2) * Interval(3, 4) == Interval(-4, 8)
    assert Interval(1, 2) / Interval(4, 8) == Interval(0.125, 0.5)
    assert ratio(Interval(1, 2), Interval(-8, -4)) == Interval(-0.5, -0.125)
    change = percent_change(Interval(9.5, 10.5), Interval(4.5, 5.5))
    assert change.low == pytest.approx(100 * (4.5 / 10.5 - 1))
    assert change.high == pytest.approx(100 * (5.5 / 9.5 - 1))
    assert Interval(1, 3) - 1 == Interval(0, 2)
    assert (Interval(1, 3) * 2).middle == 4
    assert mean([Interval(1, 2), Interval(3, 6)]) == Interval(2, 4)


def test_faulty_intervals_are_refused():
    with pytest.raises(ValueError, match="the lower first"):
        Interval(2, 1)
    with pytest.raises(ValueError, match="give both ends"):
        Interval(float("nan"), 1)
    with pytest.raises(ValueError, match="may be zero"):
        ratio(Interval(1, 1), Interval(-1, 1))
    with pytest.raises(ValueError, match="at least one"):
        mean([])


def test_printed_interval_is_half_a_unit_either_way():
    assert printed_interval(0.64, 2) == Interval(0.635, 0.645)
    assert printed_interval(120, -1) == Interval(115, 125)
    assert half_unit(0) == 0.5


@QUICK
@given(value=st.decimals(-100, 100, places=4), decimals=st.integers(0, 4))
def test_rounds_to_accepts_a_rounded_value_and_no_other(value, decimals):
    printed = float(round(value, decimals))
    assert rounds_to(float(value), printed, decimals)
    assert not rounds_to(float(value), printed + 1.01 * 10**-decimals, decimals)
    assert not rounds_to(float(value), printed - 1.01 * 10**-decimals, decimals)


def test_ties_round_either_way():
    assert rounds_to(0.125, 0.12, 2)
    assert rounds_to(0.125, 0.13, 2)
    # 0.35 - 0.05 is one ulp below 0.3
    assert rounds_to(0.35 - 0.045, 0.31, 2)
    assert not rounds_to(0.1251, 0.12, 2)


def test_intervals_meet_where_they_share_a_number():
    assert meets(Interval(0, 1), Interval(1, 2))
    assert meets(Interval(0, 5), Interval(1, 2))
    assert not meets(Interval(0, 1), Interval(1.001, 2))
    assert meets(printed_interval(0.3, 1), printed_interval(0.4, 1))
    assert not meets(Interval(1e-12, 2e-12), Interval(3e-12, 4e-12))


def test_agreement_allows_for_rounding():
    drop = difference(printed_interval(0.64, 2), printed_interval(0.5, 2))
    assert agreement(0.14, drop, 0.14, 2) == "holds"
    assert agreement(0.14, drop, 0.15, 2) == "holds after rounding"
    assert agreement(0.14, drop, 0.16, 2) == "contradicted"
    assert agreement(0.14, None, 0.15, 2) == "contradicted"


@pytest.mark.parametrize(("value", "decimals"), [(6586, 0), (1815, 0), (-43.5, 1), (0.06, 2), (128_000, -3)])
def test_numbers_printed_one_unit_apart_disagree(value, decimals):
    unit = 10.0**-decimals
    for printed in (value - unit, value + unit):
        assert agreement(value, printed_interval(value, decimals), printed, decimals) == "contradicted"
    assert agreement(value, printed_interval(value, decimals), value, decimals) == "holds"
    # rounding twice can be off: 45.4 may be printed from 45.44, which rounds to 45
    assert agreement(value + 0.54 * unit, printed_interval(value + 0.5 * unit, decimals + 1), value, decimals) == (
        "holds after rounding"
    )


def test_p_bound_is_rounded_up():
    assert p_bound(3.4e-12) == "p < 10^-11"
    assert p_bound(1e-12) == "p < 10^-11"
    assert p_bound(9.99e-13) == "p < 10^-12"
    assert p_bound(0.0) == "p < 10^-300"
    assert p_bound(1.0) == "p < 10^1"


@QUICK
@given(p=st.floats(1e-299, 1))
def test_printed_p_bound_is_never_below_p(p):
    exponent = bound_exponent(p)
    assert Decimal(repr(p)) < Decimal(10) ** exponent
    assert Decimal(repr(p)) >= Decimal(10) ** (exponent - 1)


def test_printed_p_bound_is_checked():
    assert bound_holds(3.4e-12, 1e-11)
    assert not bound_holds(3.4e-12, 1e-12)
    assert bound_holds(0.0, 1e-48)
    assert not bound_holds(0.0, 1e-310)
    with pytest.raises(ValueError, match="p is nan"):
        p_bound(float("nan"))
    with pytest.raises(ValueError, match=r"p is 1\.5"):
        p_bound(1.5)


@QUICK
@given(a=st.floats(1, 100), b=st.floats(1, 100), decimals=st.integers(0, 3))
def test_results_of_rounded_inputs_meet_the_result_of_exact_ones(a, b, decimals):
    first, second = (printed_interval(round(value, decimals), decimals) for value in (a, b))
    assume(second.low > 0)
    exact = 100 * (a - b) / b
    assert meets(percent_change(second, first), printed_interval(round(exact, decimals), decimals))


@pytest.mark.parametrize(
    ("values", "printed", "needed"),
    [
        ([3e-4, 3e-4, 6e-4, 9e-4, 1.4e-3], 6, 4),
        ([3.0, 6.0, 14.0, 8.0, 10.0], 2, 0),
        ([30.0, 60.0, 140.0, 80.0, 10.0], 1, -1),
        ([3.0, 6.0, 14.0, 8.0, 10.5], 2, 1),
        ([3.01, 6.0, 14.0, 8.0, 10.0], 2, 2),
        ([3.0, 6.0, 14.0, 8.0], 2, 2),  # too few values: zeros may be chance
        ([], 3, 3),
        ([0.0] * 5, 2, 2),
    ],
)
def test_shared_decimals_is_the_last_place_that_any_value_needs(values, printed, needed):
    assert shared_decimals(values, printed) == needed
