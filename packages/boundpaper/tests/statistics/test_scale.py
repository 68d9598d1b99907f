"""Tests do not depend on the scale of values or on rounding noise between equal values, and refuse unknown options."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from boundpaper.statistics import (
    correlate,
    correlation_difference,
    d_z,
    kendall,
    paired_t,
    partial,
    pearson,
    pooled_t,
    smallest_correlation,
    smallest_d_s,
    smallest_d_z,
    spearman,
    student_interval,
    welch_t,
    welch_t_from_stats,
    wilcoxon,
    within_family,
)
from boundpaper.statistics.correlations.coefficient import coefficient, interval
from boundpaper.statistics.correlations.contrast import zou_interval
from boundpaper.statistics.denominators import possible_counts
from boundpaper.statistics.locations.permutation import permutation_p
from boundpaper.statistics.locations.student import half_width, t_p
from boundpaper.statistics.sample import is_constant, levels

META = {"study": "s", "comparison": "c", "unit": "model"}
X = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0])
Y = np.array([2.0, 7.0, 1.0, 8.0, 2.5, 4.0, 6.0])
G = np.array([1.0, 2.0, 2.0, 3.0, 5.0, 4.0, 1.0])
FAMILIES = ["a", "a", "a", "b", "b", "b", "b"]


@pytest.mark.parametrize("scale", [2.0**1019, 2.0**600, 2.0**-600, 2.0**-1060])
def test_coefficients_do_not_depend_on_scale(scale):
    x = X * scale
    for test in (pearson, spearman, kendall):
        plain, scaled = test(X, Y, **META), test(x, Y, **META)
        assert (scaled.estimate, scaled.p_value) == pytest.approx((plain.estimate, plain.p_value), abs=1e-9)
    plain, scaled = (partial(values, Y, G, **META) for values in (X, x))
    assert (scaled.estimate, scaled.p_value) == pytest.approx((plain.estimate, plain.p_value), abs=1e-9)
    plain, scaled = (within_family(values, Y, FAMILIES, **META) for values in (X, x))
    assert (scaled.estimate, scaled.p_value) == pytest.approx((plain.estimate, plain.p_value), abs=1e-9)
    plain, scaled = (correlation_difference(Y, values, G, **META) for values in (X, x))
    assert (scaled.ci_low, scaled.p_value) == pytest.approx((plain.ci_low, plain.p_value), abs=1e-9)
    assert d_z(x) == pytest.approx(d_z(X))


def test_rounding_noise_between_equal_values_counts_as_ties():
    noisy, plain = [0.1 + 0.2, 0.3, 0.5, 0.7], [0.3, 0.3, 0.5, 0.7]
    assert noisy[0] != noisy[1]
    other = [1.0, 2.0, 3.0, 4.0]
    assert spearman(noisy, other, **META).estimate == pytest.approx(stats.spearmanr(plain, other).statistic)
    assert kendall(noisy, other, **META).estimate == pytest.approx(stats.kendalltau(plain, other).statistic)
    assert levels(np.array(noisy)).tolist() == [0, 0, 1, 2]
    difference = correlation_difference(other + other, noisy + noisy, plain + other, method="spearman", **META)
    expected = correlation_difference(other + other, plain + plain, plain + other, method="spearman", **META)
    assert (difference.estimate, difference.ci_low) == pytest.approx((expected.estimate, expected.ci_low))


def test_permutations_that_tie_exactly_also_tie_far_from_zero():
    # integers are exact, so the share of relabelings that reach r can be counted without rounding
    x, y = [0, 1, 1, 2], [0, 3, 1, 2]
    products = [sum(x[i] * y[j] for i, j in enumerate(order)) for order in permutations(range(4))]
    centre = sum(x) * sum(y) / 4
    reached = sum(abs(product - centre) >= abs(products[0] - centre) for product in products)
    near = pearson(x, y, **META)
    far = pearson([1e6 + 1e-3 * value for value in x], [1e6 + 1e-3 * value for value in y], **META)
    assert near.p_value == pytest.approx(reached / math.factorial(4))
    assert far.p_value == near.p_value
    grouped = [within_family(np.array(x * 2) + shift, y * 2, FAMILIES[:4] + ["b"] * 4, **META) for shift in (0, 1e9)]
    assert grouped[0].p_value == grouped[1].p_value


def test_one_sided_p_counts_one_tail():
    two, up, down = (pearson(X, Y, alternative=side, **META) for side in ("two-sided", "greater", "less"))
    products = np.array(list(permutations(X))) @ Y  # r increases with them
    assert down.p_value == pytest.approx(np.mean(products <= X @ Y + 1e-9))
    assert up.p_value == pytest.approx(np.mean(products >= X @ Y - 1e-9))
    assert "one-sided" in up.note
    assert "one-sided" not in two.note
    for side in ("two-sided", "greater", "less"):
        for row, expected in (
            (paired_t(X, Y, alternative=side, **META), stats.ttest_rel(X, Y, alternative=side)),
            (pooled_t(X, Y, alternative=side, **META), stats.ttest_ind(X, Y, alternative=side)),
            (wilcoxon(X, Y, alternative=side, **META), stats.wilcoxon(X, Y, alternative=side, method="exact")),
            (pearson(X, Y, p="t", alternative=side, **META), stats.pearsonr(X, Y, alternative=side)),
        ):
            assert row.p_value == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (pearson, {"p": "wald"}, "unknown p 'wald'"),
        (pearson, {"alternative": "bigger"}, "bad alternative 'bigger'"),
        (paired_t, {"alternative": "bigger"}, "bad alternative 'bigger'"),
        (pooled_t, {"alternative": "bigger"}, "bad alternative 'bigger'"),
        (wilcoxon, {"alternative": "bigger"}, "bad alternative 'bigger'"),
        (welch_t, {"effect": "cohen"}, "unknown effect 'cohen'"),
    ],
)
def test_unknown_options_are_refused(function, options, message):
    with pytest.raises(ValueError, match=message):
        function(X, Y, **META, **options)


def test_unknown_coefficients_are_refused():
    with pytest.raises(ValueError, match="unknown coefficient 'phi'"):
        correlate(X, Y, "phi", **META)
    with pytest.raises(ValueError, match="unknown coefficient 'phi'"):
        partial(X, Y, G, method="phi", **META)
    with pytest.raises(ValueError, match="unknown coefficient 'phi'"):
        correlation_difference(X, Y, G, method="phi", **META)
    with pytest.raises(ValueError, match="bad alternative 'up'"):
        permutation_p(0.1, lambda index: index[:, 0].astype(float), [np.arange(3)], alternative="up")
    with pytest.raises(ValueError, match="bad alternative 'up'"):
        t_p(1.0, 3, "up")
    with pytest.raises(ValueError, match="interval: unknown coefficient 'phi'"):
        interval(0.5, 8, "phi")
    with pytest.raises(ValueError, match="coefficient: unknown coefficient 'phi'"):
        coefficient(X, Y, "phi")
    for method in ("phi", "kendall"):
        with pytest.raises(ValueError, match="zou_interval: "):
            zou_interval(0.5, 0.4, 0.3, 9, method)
    with pytest.raises(ValueError, match="unknown unread='maybe'; choose one of no, possible, certain"):
        possible_counts(0.0, 10, unread="maybe")


def test_fractional_unit_counts_are_refused():
    for call in (
        lambda: interval(0.5, 8.5),
        lambda: welch_t_from_stats(0.0, 1.0, 2.5, 1.0, 1.0, 3, **META),
        lambda: smallest_d_z(3.5),
        lambda: smallest_d_s(4.5, 5),
        lambda: smallest_correlation(5.5),
    ):
        with pytest.raises(ValueError, match=r"\[\d\.5\] are no whole counts; convert"):
            call()


def test_pooled_t_matches_students_test_of_scipy():
    row = pooled_t(X, Y[:5], **META)
    expected = stats.ttest_ind(X, Y[:5])
    interval_of_scipy = expected.confidence_interval()
    assert (row.statistic, row.df, row.p_value) == pytest.approx((expected.statistic, 10, expected.pvalue))
    assert (row.ci_low, row.ci_high) == pytest.approx((interval_of_scipy.low, interval_of_scipy.high))
    pooled = math.sqrt((6 * X.var(ddof=1) + 4 * Y[:5].var(ddof=1)) / 10)
    assert row.effect == pytest.approx((X.mean() - Y[:5].mean()) / pooled)
    assert row.effect_ci_low < row.effect < row.effect_ci_high
    alone = pooled_t(X, [1.0], **META)
    assert alone.p_value is None
    assert "a group of one unit" in alone.note
    with pytest.raises(ValueError, match="a group is empty"):
        pooled_t(X, [], **META)


@pytest.mark.parametrize("n", [2, 3, 7, 40])
def test_student_interval_matches_scipy(n):
    values = np.random.default_rng(n).normal(3, 2, n)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert student_interval(values, 0.9) == pytest.approx((expected.low, expected.high))
    scaled = student_interval(values * 2.0**900, 0.9)
    assert scaled == pytest.approx((expected.low * 2.0**900, expected.high * 2.0**900))


@pytest.mark.filterwarnings("error")
def test_half_of_an_interval_needs_a_spread_and_a_degree_of_freedom():
    # from tables of t: 4.303 for two degrees of freedom, 2.228 for ten
    halves = half_width(np.array([1.0, 2.0, 0.0, np.nan, 1.0]), np.array([2.0, 10.0, 5.0, 5.0, 0.0]))
    assert halves == pytest.approx([4.303, 4.456, np.nan, np.nan, np.nan], abs=6e-4, nan_ok=True)


def test_student_interval_needs_two_values_that_differ():
    assert student_interval([1.0]) is None
    assert student_interval([0.1 + 0.2, 0.3]) is None
    assert is_constant(np.array([0.1 + 0.2, 0.3]))
    with pytest.raises(ValueError, match="confidence is 1"):
        student_interval([1.0, 2.0], 1.0)


def test_wilcoxon_matches_scipy_with_ties_and_excludes_zeros():
    row = wilcoxon(X, Y, **META)
    expected = stats.wilcoxon(X, Y, method="exact")
    assert row.p_value == pytest.approx(expected.pvalue)
    assert row.statistic is not None
    assert min(row.statistic, 28 - row.statistic) == expected.statistic
    assert row.effect == pytest.approx(2 * row.statistic / 28 - 1)
    pairs = [(a + b) / 2 for i, a in enumerate(X - Y) for b in (X - Y)[i:]]
    assert row.estimate == pytest.approx(np.median(pairs))
    # with ties: all 2^5 sign flips of the midranks by hand; one pair has no difference
    differences = np.array([1.0, -1.0, 2.0, 2.0, 3.0, 0.0])
    ranks, signs = np.array([1.5, 1.5, 3.5, 3.5, 5.0]), np.array([1, -1, 1, 1, 1])
    flips = [sum(r for r, bit in zip(ranks, bits, strict=True) if bit) for bits in np.ndindex(2, 2, 2, 2, 2)]
    positive = ranks[signs > 0].sum()
    p_of_flips = min(1, 2 * np.mean(np.array(flips) >= positive))
    tied = wilcoxon(differences, np.zeros(6), **META)
    assert tied.p_value == pytest.approx(p_of_flips)
    assert "1 pairs without a difference left out" in tied.note
    many = np.random.default_rng(3).normal(0.3, 1, 80)
    assert wilcoxon(many, np.zeros(80), **META).p_value == pytest.approx(stats.wilcoxon(many).pvalue, rel=0.02)
    none = wilcoxon([1.0, 0.1 + 0.2], [1.0, 0.3], **META)
    assert none.p_value is None
    assert "no pair differs" in none.note
