"""Paired and Welch tests, effect sizes and the noncentral t."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from boundpaper.statistics import d_s, d_z, fired, hedges_g, paired_t, pooled_t, welch_t, welch_t_from_stats
from boundpaper.statistics.effects import d_s_from_stats, d_z_interval, hedges_factor
from boundpaper.statistics.noncentral import noncentrality_interval, tail_above

META = {"study": "s", "comparison": "c", "unit": "text"}
RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize("n", [2, 3, 8, 40])
def test_paired_agrees_with_scipy(n):
    first, second = RANDOM.normal(size=(2, n))
    row = paired_t(first, second, **META)
    expected = stats.ttest_rel(first, second)
    interval = expected.confidence_interval(0.95)
    assert row.n == n
    assert row.df == n - 1
    assert row.estimate == pytest.approx(np.mean(first - second))
    assert row.statistic == pytest.approx(expected.statistic)
    assert row.p_value == pytest.approx(expected.pvalue)
    assert (row.ci_low, row.ci_high) == pytest.approx((interval.low, interval.high))
    assert row.effect == pytest.approx(row.statistic / math.sqrt(n))
    assert row.effect == pytest.approx(d_z(first - second))
    assert row.effect_ci_low < row.effect < row.effect_ci_high


@pytest.mark.parametrize(("n", "fires"), [(2, True), (3, True), (10, True), (11, False)])
def test_interval_of_means_over_few_units_raises_the_few_units_guard(n, fires):
    first, second = RANDOM.normal(size=(2, n))
    longer = RANDOM.normal(size=30)
    rows = [paired_t(first, second, **META), pooled_t(first, longer, **META), welch_t(longer, first, **META)]
    rows.append(welch_t_from_stats(0.0, 1.0, n, 0.5, 1.2, 30, **META))
    for row in rows:
        assert row.ci_low is not None
        assert ("few units" in fired(row.note)) is fires, row.test
        assert (f"over {n} units (text) takes them for normal" in row.note) is fires
    assert "few units" not in fired(paired_t([1.0, 2.0], [0.0, 1.0], **META).note)


def test_paired_effect_interval_excludes_zero_exactly_when_p_is_small():
    for shift in np.linspace(0, 2, 21):
        base = np.array([0.3, -1.2, 0.8, 0.1, -0.6, 1.4])
        row = paired_t(base + shift, np.zeros(6) + np.array([0, 0.1, 0, 0.1, 0, 0.1]), **META)
        assert (row.effect_ci_low > 0) == (row.p_value < 0.05 and row.estimate > 0)


def test_paired_with_a_constant_arm_keeps_the_test_but_not_the_effect_interval():
    row = paired_t([0.1, 0.4, 0.2], [0.5, 0.5, 0.5], names=("drope", "rope"), **META)
    assert row.p_value == pytest.approx(stats.ttest_rel([0.1, 0.4, 0.2], [0.5] * 3).pvalue)
    assert row.effect is not None
    assert row.effect_ci_low is None
    assert "no d_z interval: an arm has no variance" in row.note
    assert "guard zero variance: rope is 0.5 in all 3 units" in row.note
    assert "zero variance" in fired(row.note)


@pytest.mark.parametrize("test", [paired_t, welch_t])
def test_note_states_a_confidence_level_other_than_95(test):
    first, second = [1.0, 2.0, 4.0, 4.5], [1.5, 2.0, 3.0, 5.0]
    assert "intervals" not in test(first, second, **META).note
    assert "90 % intervals" in test(first, second, confidence=0.9, **META).note


def test_paired_without_variance_of_differences_gives_the_mean_only():
    # 0.3 - 0.1 and 0.4 - 0.2 differ by floating-point noise, which would give a t of 1e15
    row = paired_t([0.3, 0.4, 0.9], [0.1, 0.2, 0.7], **META)
    assert row.estimate == pytest.approx(0.2)
    assert row.statistic is None
    assert row.p_value is None
    assert "the differences have no variance" in row.note


def test_paired_t_of_too_few_pairs_states_the_reason():
    assert "a single pair" in paired_t([1.0], [2.0], **META).note
    assert "no pairs" in paired_t([], [], **META).note


def test_paired_refuses_unequal_lengths_and_bad_levels():
    with pytest.raises(ValueError, match="rope has 2 values and drope has 3"):
        paired_t([1, 2], [1, 2, 3], names=("rope", "drope"), **META)
    with pytest.raises(ValueError, match="confidence is 95"):
        paired_t([1, 2], [1, 3], confidence=95, **META)


def test_note_of_a_small_sample_states_its_detectable_effect():
    first, second = RANDOM.normal(size=(2, 16))
    assert "80 % power" in paired_t(first[:15], second[:15], **META).note
    assert "80 % power" not in paired_t(first, second, **META).note


@pytest.mark.parametrize(("n1", "n2"), [(2, 2), (3, 9), (20, 11)])
def test_welch_agrees_with_scipy_and_statsmodels(n1, n2):
    first, second = RANDOM.normal(1, 2, n1), RANDOM.normal(0, 0.7, n2)
    row = welch_t(first, second, **META)
    expected = stats.ttest_ind(first, second, equal_var=False)
    interval = CompareMeans(DescrStatsW(first), DescrStatsW(second)).tconfint_diff(usevar="unequal")
    assert row.n == n1 + n2
    assert row.statistic == pytest.approx(expected.statistic)
    assert row.df == pytest.approx(expected.df)
    assert row.p_value == pytest.approx(expected.pvalue)
    assert (row.ci_low, row.ci_high) == pytest.approx(interval)
    assert f"n = {n1} + {n2}" in row.note
    from_stats = welch_t_from_stats(first.mean(), first.std(ddof=1), n1, second.mean(), second.std(ddof=1), n2, **META)
    for name in ("estimate", "ci_low", "statistic", "df", "p_value", "effect", "effect_ci_low", "effect_ci_high"):
        assert getattr(from_stats, name) == pytest.approx(getattr(row, name))


def test_pooled_t_counts_the_units_of_both_groups():
    row = pooled_t([1.0, 2.0, 4.0], [5.0, 7.0], study="s", comparison="c", unit="u", names=("one", "two"))
    assert (row.n, row.df) == (5, 3)


def test_pooled_effect_is_the_pooled_t_rescaled():
    first, second = RANDOM.normal(1, 1, 9), RANDOM.normal(0, 1, 6)
    pooled = stats.ttest_ind(first, second)
    assert d_s(first, second) == pytest.approx(pooled.statistic * math.sqrt(1 / 9 + 1 / 6))
    row = welch_t(first, second, effect="hedges_g", **META)
    assert row.effect_name == "hedges_g"
    assert row.effect == pytest.approx(hedges_g(first, second))
    plain = welch_t(first, second, **META)
    ratio = hedges_factor(13)
    assert row.effect / plain.effect == pytest.approx(ratio)
    assert row.effect_ci_high / plain.effect_ci_high == pytest.approx(ratio)


def test_hedges_factor_is_near_its_approximation_and_removes_the_bias():
    for df in (4, 10, 100):
        assert hedges_factor(df) == pytest.approx(1 - 3 / (4 * df - 1), abs=3e-3)
    assert hedges_factor(2) == pytest.approx(1 / math.sqrt(math.pi))
    samples = np.random.default_rng(0).normal(size=(40_000, 8))
    first, second = samples[:, :4] + 1, samples[:, 4:]
    pooled = np.sqrt((first.var(axis=1, ddof=1) + second.var(axis=1, ddof=1)) / 2)
    d = (first.mean(axis=1) - second.mean(axis=1)) / pooled
    assert np.mean(d) > 1.1
    assert np.mean(d) * hedges_factor(6) == pytest.approx(1, abs=0.02)
    with pytest.raises(ValueError, match="needs more than 1"):
        hedges_factor(1)


def test_welch_t_accepts_a_printed_deviation_of_zero():
    row = welch_t_from_stats(0.5, 0.0, 10, 0.4, 0.1, 10, names=("a", "b"), **META)
    assert row.p_value == pytest.approx(stats.ttest_ind_from_stats(0.5, 0, 10, 0.4, 0.1, 10, equal_var=False).pvalue)
    assert row.effect is not None
    assert row.effect_ci_low is None
    assert "guard zero variance: a has a standard deviation of 0 over 10 units" in row.note
    both = welch_t_from_stats(0.5, 0.0, 10, 0.4, 0.0, 10, **META)
    assert both.p_value is None
    assert both.estimate == pytest.approx(0.1)
    assert "neither group has variance" in both.note


def test_welch_t_with_one_unit_in_a_group_has_no_statistic():
    row = welch_t([1.0], [0.0, 0.5, 0.7], **META)
    assert row.statistic is None
    assert "a group of one unit" in row.note


def test_welch_refuses_faulty_input():
    with pytest.raises(ValueError, match="no sd negative"):
        welch_t_from_stats(0, -1, 3, 0, 1, 3, **META)
    with pytest.raises(ValueError, match="sizes 0 and 3"):
        welch_t_from_stats(0, 1, 0, 0, 1, 3, **META)
    with pytest.raises(ValueError, match="second is empty"):
        welch_t([1.0, 2.0], [], **META)


def test_effects_are_undefined_without_variance():
    assert d_z([0.2, 0.2]) is None
    assert d_z([0.2]) is None
    assert d_s([1, 1], [2, 2]) is None
    assert d_s([1.0], [2, 3]) is None
    assert d_s_from_stats(1, 0, 3, 2, 0, 3) is None


@settings(derandomize=True, max_examples=40, deadline=None)
@given(t=st.floats(-30, 30), df=st.integers(1, 60), confidence=st.sampled_from([0.8, 0.95, 0.99]))
def test_noncentrality_interval_has_the_requested_tails(t, df, confidence):
    interval = noncentrality_interval(t, df, confidence)
    assert interval is not None
    low, high = interval
    tail = (1 - confidence) / 2
    assert low < high
    assert float(tail_above(t, df, low)) == pytest.approx(tail, abs=1e-6)
    assert float(tail_above(-t, df, -high)) == pytest.approx(tail, abs=1e-6)
    mirrored = noncentrality_interval(-t, df, confidence)
    assert mirrored == pytest.approx((-high, -low), abs=1e-6)


def test_noncentrality_interval_is_normal_for_many_degrees_of_freedom():
    assert noncentrality_interval(3.0, 1e6) == pytest.approx((3 - 1.95996, 3 + 1.95996), abs=1e-3)
    assert noncentrality_interval(math.inf, 5) is None
    assert noncentrality_interval(1.0, 0) is None


LARGE_TAILS = (  # t, df, noncentrality, and P(T > t) integrated over the chi density with 25 digits
    (5000.0, 4, 8345.39, 0.9749999723981325),
    (1e5, 3, 174182.39, 0.9720330781508236),
    (2000.0, 1500, 2050.0, 0.9154817560488353),
)


@pytest.mark.parametrize(("t", "df", "delta", "tail"), LARGE_TAILS)
def test_noncentral_tails_are_exact_for_large_noncentralities(t, df, delta, tail):
    assert float(tail_above(t, df, delta)) == pytest.approx(tail, abs=1e-14)
    assert float(tail_above(-t, df, -delta)) == pytest.approx(1 - tail, abs=1e-14)


def test_noncentral_tails_agree_with_simulation_and_have_no_gaps():
    generator = np.random.default_rng(3)
    samples = (generator.normal(size=200_000) + 2.5) / np.sqrt(generator.chisquare(6, 200_000) / 6)
    assert float(tail_above(2.0, 6, 2.5)) == pytest.approx(np.mean(samples > 2.0), abs=4e-3)
    shifts = np.linspace(-300, 300, 1201)
    for df in (1, 2, 6, 13):
        for t in (-4.0, 0.0, 2.4):
            assert np.isfinite(tail_above(t, df, shifts)).all()
            assert tail_above(t, df, shifts) + tail_above(-t, df, -shifts) == pytest.approx(1, abs=1e-8)


def test_d_z_interval_covers_the_true_effect():
    generator = np.random.default_rng(11)
    covered = 0
    for _ in range(300):
        differences = generator.normal(0.8, 1, 6)
        interval = d_z_interval(d_z(differences) * math.sqrt(6), 6)
        assert interval is not None
        low, high = interval
        covered += low <= 0.8 <= high
    # 95 % of 300 with a standard error of 1.3 points
    assert 0.91 <= covered / 300 <= 0.985
