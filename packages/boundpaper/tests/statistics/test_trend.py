"""The draw-up of a series (its largest rise), and the declining series that is nearest to it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from boundpaper.statistics import draw_up, draw_up_interval, isotonic_distance
from boundpaper.statistics.trend import isotonic_fit, rises

QUICK = settings(derandomize=True, max_examples=60, deadline=None)
profiles = st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=9)


@QUICK
@given(profiles)
def test_draw_up_matches_brute_force_over_pairs(values):
    expected = max(values[j] - values[i] for j in range(len(values)) for i in range(j))
    assert draw_up(values) == pytest.approx(expected, abs=1e-15)


def lowest_draw_up(lows, highs):
    """Minimise c subject to d_j - d_i <= c for i < j and the bounds, by linear programming."""
    n = len(lows)
    rows = []
    for j in range(n):
        for i in range(j):
            row = np.zeros(n + 1)
            row[j], row[i], row[n] = 1, -1, -1
            rows.append(row)
    cost = np.zeros(n + 1)
    cost[n] = 1
    bounds = [*zip(lows, highs, strict=True), (None, None)]
    return optimize.linprog(cost, np.array(rows), np.zeros(len(rows)), bounds=bounds).fun


@settings(derandomize=True, max_examples=40, deadline=None)
@given(profiles, st.floats(0.001, 0.5), st.floats(-1, 1))
def test_draw_up_interval_equals_its_exact_bounds(values, half, slope):
    profile = np.array(values) - slope * np.arange(len(values))
    interval = draw_up_interval(profile - half, profile + half)
    assert interval.low == pytest.approx(lowest_draw_up(profile - half, profile + half), abs=1e-7)
    first, second = np.triu_indices(len(values), 1)
    assert interval.high == pytest.approx((profile[second] - profile[first]).max() + 2 * half)
    assert interval.low <= draw_up(profile) <= interval.high


def test_draw_up_of_a_steep_decline_is_negative():
    assert draw_up([3, 2, 1]) == -1
    # both steps cannot be 2.9 at once between these bounds
    interval = draw_up_interval([2.9, 1.9, 0.9], [3.1, 2.1, 1.1])
    assert interval.low == pytest.approx(-1.1)
    assert interval.high == pytest.approx(-0.8)


@QUICK
@given(profiles)
def test_isotonic_fit_is_the_nearest_decline(values):
    fit = isotonic_fit(values)
    assert (np.diff(fit) <= 1e-12).all()
    assert fit.mean() == pytest.approx(np.mean(values), abs=1e-9)
    largest, rms = isotonic_distance(values)
    assert 0 <= rms <= largest + 1e-15
    # half the draw-up is the smallest sup-norm distance to any non-increasing series
    assert largest >= max(0, draw_up(values)) / 2 - 1e-9
    assert isotonic_fit(-np.array(values), increasing=True) == pytest.approx(-fit)
    if rises(values) == 0:
        assert largest == pytest.approx(0, abs=1e-12)


def test_distance_to_a_decline_matches_values_computed_by_hand():
    # the nearest non-increasing series to 3, 1, 2 is 3, 1.5, 1.5
    largest, rms = isotonic_distance([3.0, 1.0, 2.0])
    assert largest == pytest.approx(0.5)
    assert rms == pytest.approx((0.5 / 3) ** 0.5)


def test_faulty_series_are_refused():
    with pytest.raises(ValueError, match="needs at least two"):
        draw_up([1])
    with pytest.raises(ValueError, match="low not above high"):
        draw_up_interval([1, 2], [0, 3])
