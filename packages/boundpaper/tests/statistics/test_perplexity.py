"""Differences of log perplexity over texts, with their intervals."""

import numpy as np
import pytest
from scipy import stats

from boundpaper.statistics import disruption_contrast, fired, log_perplexity_difference

META = {"study": "s", "comparison": "c"}
RANDOM = np.random.default_rng(12)
BASE = np.exp(RANDOM.normal(2, 0.3, 12))
HURT = BASE * np.exp(RANDOM.normal(1.5, 0.4, 12))


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_log_perplexity_difference_is_the_mean_change_with_students_interval(n):
    row = log_perplexity_difference(BASE[:n], HURT[:n], **META)
    change = np.log(HURT[:n]) - np.log(BASE[:n])
    expected = stats.ttest_1samp(change, 0)
    interval = expected.confidence_interval()
    assert row.unit == "text"
    assert row.estimate == pytest.approx(change.mean())
    assert (row.ci_low, row.ci_high) == pytest.approx((interval.low, interval.high))
    assert (row.statistic, row.df, row.p_value) == pytest.approx((expected.statistic, n - 1, expected.pvalue))
    assert row.effect_name == "percent_increase"
    assert row.effect == pytest.approx(100 * (np.exp(change.mean()) - 1))
    assert row.effect_ci_low == pytest.approx(100 * (np.exp(row.ci_low) - 1))
    assert f"by sign flips p is {2 / 2**n:.3g} (exact p over {2**n} sign flips)" in row.note


def test_log_perplexity_difference_of_three_texts_has_students_interval_and_guard():
    """In a published run with these numbers, the bootstrap interval ended at the smallest and the largest change."""
    change = np.array([7.05, 8.41, 8.5])
    row = log_perplexity_difference(np.ones(3), np.exp(change), **META)
    half = 4.302653 * change.std(ddof=1) / np.sqrt(3)
    assert (row.ci_low, row.ci_high) == pytest.approx((change.mean() - half, change.mean() + half), rel=1e-6)
    assert row.ci_low < change.min()
    assert row.ci_high > change.max()
    # interval and p belong to one test
    assert (row.p_value < 0.05) == (row.ci_low > 0)
    assert fired(row.note) == ("few units",)
    assert "by sign flips p is 0.25" in row.note
    assert "cannot be below 0.25" in row.note


def test_swapping_arms_turns_the_sign():
    swapped, back = (log_perplexity_difference(*arms, **META) for arms in ((BASE, HURT), (HURT, BASE)))
    assert back.estimate == pytest.approx(-swapped.estimate)
    assert back.p_value == pytest.approx(swapped.p_value)


def test_one_text_has_no_interval():
    row = log_perplexity_difference([5.0], [10.0], **META)
    assert row.estimate == pytest.approx(np.log(2))
    assert row.effect == pytest.approx(100)
    assert row.ci_low is None
    assert row.p_value is None
    assert "a single text" in row.note


def test_equal_changes_of_all_texts_fire_the_zero_variance_guard():
    row = log_perplexity_difference([5.0, 6, 7], [10.0, 12, 14], **META)
    assert "zero variance" in fired(row.note)
    assert row.ci_low is None
    assert row.p_value == 0.25
    assert "smallest attainable p" in fired(row.note)
    assert row.statistic is None
    assert fired(log_perplexity_difference(BASE, HURT, **META).note) == ()


def test_perplexity_increase_beyond_the_float_range_is_omitted():
    row = log_perplexity_difference([1e-200, 1e-200], [1e200, 3e200], **META)
    assert row.estimate == pytest.approx(400 * np.log(10) + np.log(3) / 2)
    assert row.effect is None
    assert "exceeds the largest number" in row.note


def test_contrast_is_the_difference_of_differences():
    other, other_hurt = BASE * 1.2, BASE * 1.2 * np.exp(RANDOM.normal(0.5, 0.1, 12))
    row = disruption_contrast(*(np.tile(arm, 2) for arm in (BASE, HURT, other, other_hurt)), **META)
    few = disruption_contrast(BASE, HURT, other, other_hurt, **META)
    assert (few.effect, few.effect_ci_low) == (pytest.approx(row.effect), None)
    assert "a bootstrap over 12 texts covers less than it says" in few.note
    first = log_perplexity_difference(BASE, HURT, **META)
    second = log_perplexity_difference(other, other_hurt, **META)
    assert row.estimate == pytest.approx(first.estimate - second.estimate)
    assert row.effect_name == "ratio_of_percentages"
    assert row.effect == pytest.approx(first.effect / second.effect)
    assert row.effect_ci_low < row.effect < row.effect_ci_high
    assert row.ci_low > 0


def test_contrast_without_an_increase_has_no_ratio():
    better = disruption_contrast(BASE, HURT, BASE, BASE * 0.9, **META)
    assert better.effect is None
    assert better.estimate is not None
    assert "does not get worse" in better.note
    base, hurt = np.tile(BASE, 2), np.tile(HURT, 2)
    wavering = base * np.exp(np.where(np.arange(24) % 2, 0.5, -0.45))
    unsure = disruption_contrast(base, hurt, base, wavering, **META)
    assert unsure.effect is not None
    assert unsure.effect_ci_low is None
    assert "may be zero" in unsure.note


def test_faulty_perplexities_are_refused():
    with pytest.raises(ValueError, match="base must be perplexities above 0"):
        log_perplexity_difference([0.0, 1], [1.0, 2], **META)
    with pytest.raises(ValueError, match=r"texts; give the same texts"):
        log_perplexity_difference([1.0], [1.0, 2], **META)
    with pytest.raises(ValueError, match="1 of 2 values are missing"):
        disruption_contrast([1, 2], [1, np.nan], [1, 2], [1, 2], **META)
