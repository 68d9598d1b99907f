import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from analysis.statistics import draw_up, draw_up_interval, isotonic_distance, measured_trend, reported_trend
from analysis.statistics.trend import isotonic_fit, rises

META = {"study": "s", "comparison": "c"}
QUICK = settings(derandomize=True, max_examples=60, deadline=None)
profiles = st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=9)


@QUICK
@given(profiles)
def test_draw_up_by_all_pairs(values):
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
def test_draw_up_interval_is_exact(values, half, slope):
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
    # half the draw-up is the sup-norm distance to all declines, which no fit can beat
    assert largest >= max(0, draw_up(values)) / 2 - 1e-9
    assert isotonic_fit(-np.array(values), increasing=True) == pytest.approx(-fit)
    if rises(values) == 0:
        assert largest == pytest.approx(0, abs=1e-12)


@QUICK
@given(profiles, st.integers(1, 2), st.integers(0, 10_000))
def test_rounding_bounds_hold_for_every_unrounded_profile(values, decimals, seed):
    printed = np.round(values, decimals)
    half = 0.5 * 10.0**-decimals
    rows = reported_trend(printed, printed - half, printed + half, **META)
    assert [row.test for row in rows] == ["draw_up", "isotonic_max", "isotonic_rms", "rises"]
    true = printed + half * np.random.default_rng(seed).uniform(-1, 1, len(printed))
    measured = [draw_up(true), *isotonic_distance(true), rises(true)]
    for row, value in zip(rows, measured, strict=True):
        assert row.ci_low - 1e-9 <= value <= row.ci_high + 1e-9
        assert row.ci_low - 1e-9 <= row.estimate <= row.ci_high + 1e-9
        assert row.p_value is None
        assert "no confidence interval" in row.note


def test_reported_trend_refuses():
    with pytest.raises(ValueError, match="outside its rounding interval"):
        reported_trend([1, 2], [0, 0], [0.5, 3], **META)
    with pytest.raises(ValueError, match="needs at least two"):
        reported_trend([1], [0], [2], **META)
    with pytest.raises(ValueError, match="low not above high"):
        draw_up_interval([1, 2], [0, 3])


def test_measured_trend_finds_a_bump_and_not_a_decline():
    generator = np.random.default_rng(1)
    decline = np.linspace(1, 0.5, 10)
    noise = 0.05 * generator.normal(size=(32, 10))
    bump = decline + 0.2 * (np.arange(10) == 6)
    with_bump, without = measured_trend(bump + noise, **META), measured_trend(decline + noise, **META)
    assert with_bump.p_value < 0.01
    assert with_bump.ci_low > 0
    assert with_bump.estimate == pytest.approx(draw_up((bump + noise).mean(axis=0)))
    assert with_bump.effect == pytest.approx(isotonic_distance((bump + noise).mean(axis=0))[1])
    assert without.p_value > 0.1
    assert without.n == 32


def test_measured_trend_holds_its_level_on_flat_profiles():
    generator = np.random.default_rng(2)
    p_values = [
        measured_trend(generator.normal(size=(24, 10)), draws=199, seed=trial, **META).p_value for trial in range(200)
    ]
    assert np.mean(np.array(p_values) <= 0.05) <= 0.09


def test_measured_trend_interval_covers_the_true_draw_up():
    generator = np.random.default_rng(3)
    truth = np.array([1, 0.8, 0.7, 0.9, 0.6, 0.4])
    covered = 0
    for trial in range(100):
        row = measured_trend(truth + 0.1 * generator.normal(size=(20, 6)), draws=199, seed=trial, **META)
        covered += row.ci_low <= draw_up(truth) <= row.ci_high
    assert covered >= 92


def test_heads_that_share_keys_are_resampled_together():
    generator = np.random.default_rng(4)
    heads = np.linspace(1, 0, 8) + generator.normal(size=(12, 8))
    groups = [f"k{head // 4}" for head in range(12)]
    row = measured_trend(heads, clusters=groups, **META)
    assert row.n == 3
    assert "3 units (12 heads)" in row.note
    single = measured_trend(heads[:1], **META)
    assert single.p_value is None
    assert "a single unit" in single.note
    # equal copies of each head are the same evidence when clustered
    doubled = measured_trend(np.repeat(heads, 2, axis=0), clusters=np.repeat(np.arange(12), 2).astype(str), **META)
    assert doubled.p_value == pytest.approx(measured_trend(heads, **META).p_value)
    with pytest.raises(ValueError, match="12 heads but 2 cluster names"):
        measured_trend(heads, clusters=["a", "b"], **META)
    with pytest.raises(ValueError, match=r"shape \(8,\)"):
        measured_trend(heads[0], **META)
