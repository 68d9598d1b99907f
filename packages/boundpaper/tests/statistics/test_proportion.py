"""Proportions, and degradation as a fraction of the accuracy above chance."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from boundpaper.statistics import (
    clopper_pearson,
    degradation,
    fired,
    fisher,
    mcnemar,
    mcnemar_from_counts,
    wilson,
    wilson_interval,
)

META = {"study": "s", "comparison": "c", "unit": "item"}
RANDOM = np.random.default_rng(8)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(n=st.integers(1, 500), share=st.floats(0, 1), confidence=st.sampled_from([0.9, 0.95, 0.99]))
def test_wilson_agrees_with_statsmodels_and_mirrors(n, share, confidence):
    count = round(share * n)
    low, high = wilson_interval(count, n, confidence)
    assert (low, high) == pytest.approx(proportion_confint(count, n, 1 - confidence, "wilson"), abs=1e-12)
    assert 0 <= low <= count / n <= high <= 1
    assert wilson_interval(n - count, n, confidence) == pytest.approx((1 - high, 1 - low))


def test_wilson_row_of_no_hits_has_an_upper_limit():
    row = wilson(0, 20, **META)
    assert (row.estimate, row.ci_low) == (0, 0)
    assert 0 < row.ci_high < 0.2
    assert "0 of 20" in row.note
    with pytest.raises(ValueError, match="5 of 4"):
        wilson(5, 4, **META)
    with pytest.raises(ValueError, match="0 of 0"):
        wilson_interval(0, 0)


@pytest.mark.parametrize("counts", [(30, 12, 4, 20), (0, 5, 5, 0), (7, 1, 9, 3)])
def test_mcnemar_agrees_with_statsmodels(counts):
    both, first, second, neither = counts
    row = mcnemar_from_counts(*counts, **META)
    assert row.p_value == pytest.approx(statsmodels_mcnemar([[both, first], [second, neither]], exact=True).pvalue)
    assert row.estimate == pytest.approx((first - second) / sum(counts))
    assert row.ci_low <= row.estimate <= row.ci_high
    assert row.effect == pytest.approx(first / second)
    exact = stats.binomtest(first, first + second).proportion_ci(method="exact")
    assert row.effect_ci_low == pytest.approx(exact.low / (1 - exact.low))


def square_and_add(first, second, n, phi):
    (low_1, high_1), (low_2, high_2) = wilson_interval(first, n), wilson_interval(second, n)
    p_1, p_2 = first / n, second / n
    down = (p_1 - low_1) ** 2 - 2 * phi * (p_1 - low_1) * (high_2 - p_2) + (high_2 - p_2) ** 2
    up = (high_1 - p_1) ** 2 - 2 * phi * (high_1 - p_1) * (p_2 - low_2) + (p_2 - low_2) ** 2
    return p_1 - p_2 - math.sqrt(down), p_1 - p_2 + math.sqrt(up)


@pytest.mark.parametrize(
    ("counts", "shrink"),
    [
        # a negative correlation is used as it is
        ((36, 12, 2, 0), lambda phi, margins: phi),
        # a weak positive correlation is set to zero
        ((20, 12, 14, 9), lambda phi, margins: 0.0),
        # a strong positive correlation is reduced by n / 2 over the square root of the margins' product
        ((20, 12, 2, 16), lambda phi, margins: phi - 25 / margins),
    ],
)
def test_mcnemar_interval_shrinks_positive_correlation_only(counts, shrink):
    both, first_only, second_only, _ = counts
    n, first, second = sum(counts), both + first_only, both + second_only
    arms = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], counts, axis=0).T
    phi = np.corrcoef(arms)[0, 1]
    margins = math.sqrt(first * second * (n - first) * (n - second))
    expected = square_and_add(first, second, n, shrink(phi, margins))
    row = mcnemar_from_counts(*counts, **META)
    assert (row.ci_low, row.ci_high) == pytest.approx(expected)


def test_mcnemar_interval_covers_the_true_difference():
    generator = np.random.default_rng(4)
    cells = [0.5, 0.2, 0.1, 0.2]
    covered = 0
    for counts in generator.multinomial(60, cells, size=250):
        row = mcnemar_from_counts(*map(int, counts), **META)
        covered += row.ci_low <= 0.1 <= row.ci_high
    assert 0.92 <= covered / 250 <= 0.99


def test_mcnemar_of_items_equals_mcnemar_of_counts():
    first, second = RANDOM.integers(0, 2, size=(2, 50))
    row = mcnemar(first, second, **META)
    counts = [int(np.sum((first == a) & (second == b))) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]
    assert row == mcnemar_from_counts(*counts, **META)
    assert row.estimate == pytest.approx(first.mean() - second.mean())
    with pytest.raises(ValueError, match="other than 0 and 1"):
        mcnemar([0, 2], [1, 1], **META)
    with pytest.raises(ValueError, match="give one value per item"):
        mcnemar([0, 1], [1], **META)
    with pytest.raises(ValueError, match="not all zero"):
        mcnemar_from_counts(0, 0, 0, 0, **META)


def test_mcnemar_handles_extreme_counts():
    same = mcnemar_from_counts(5, 0, 0, 5, **META)
    assert same.p_value == 1
    assert same.effect is None
    assert "no item differs" in same.note
    one_sided = mcnemar_from_counts(5, 4, 0, 5, **META)
    assert one_sided.effect is None
    assert one_sided.effect_ci_low is not None
    assert one_sided.effect_ci_high is None
    assert "infinite" in one_sided.note
    assert "smallest attainable p" in fired(one_sided.note)
    assert fired(mcnemar_from_counts(5, 6, 0, 5, **META).note) == ()


@pytest.mark.parametrize("arms", [(3, 10, 8, 12), (40, 100, 25, 90), (0, 9, 4, 9)])
def test_fisher_agrees_with_scipy(arms):
    a, n, b, m = arms
    row = fisher(*arms, **META)
    assert row.p_value == pytest.approx(stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue)
    assert row.estimate == pytest.approx(a / n - b / m)
    expected = confint_proportions_2indep(a, n, b, m, method="newcomb")
    assert (row.ci_low, row.ci_high) == pytest.approx(expected)
    assert row.effect == pytest.approx(stats.contingency.odds_ratio([[a, n - a], [b, m - b]]).statistic)


def test_fisher_interval_matches_newcombes_example():
    # Newcombe (1998a), table II, method 10: 56/70 against 48/80 gives 0.0524 to 0.3339; 9/10 against 3/10 gives
    # 0.1705 to 0.8090
    row = fisher(56, 70, 48, 80, **META)
    assert (row.ci_low, row.ci_high) == pytest.approx((0.0524, 0.3339), abs=1e-4)
    row = fisher(9, 10, 3, 10, **META)
    assert (row.ci_low, row.ci_high) == pytest.approx((0.1705, 0.8090), abs=1e-4)


def test_fisher_handles_extreme_counts():
    none = fisher(0, 5, 0, 7, **META)
    assert none.p_value == 1
    assert none.effect is None
    assert "both arms are all right or all wrong" in none.note
    apart = fisher(4, 4, 0, 4, **META)
    assert apart.effect is None
    assert apart.effect_ci_low > 0
    tiny = fisher(2, 2, 0, 2, **META)
    assert tiny.p_value == pytest.approx(1 / 3)
    assert "no outcome could give a p below 0.3333" in tiny.note
    assert fired(apart.note) == ()


def test_degradation_matches_its_formula():
    row = degradation(80, 100, 40, 100, 0.25, **META)
    assert row.estimate == pytest.approx(0.4 / 0.55)
    assert row.ci_low < row.estimate < row.ci_high
    assert row == degradation(80, 100, 40, 100, 0.25, **META)
    assert degradation(80, 100, 90, 100, 0.25, **META).estimate < 0
    certain = degradation(1_000_000, 1_000_000, 500_000, 1_000_000, 0.0, **META)
    assert certain.ci_high - certain.ci_low == pytest.approx(2 * 1.96 * 0.0005, rel=0.1)


def test_degradation_is_empty_when_the_base_may_be_guessing():
    row = degradation(30, 100, 10, 100, 0.25, **META)
    assert wilson_interval(30, 100)[0] <= 0.25
    assert row.estimate is None
    assert row.ci_low is None
    assert "reaches chance" in row.note
    assert degradation(40, 100, 10, 100, 0.25, **META).estimate is not None
    assert "reaches chance" in degradation(0, 10, 0, 10, 0.0, **META).note


@pytest.mark.parametrize(("base", "disrupted", "chance"), [(10, 2, 0.6), (9, 4, 0.5)])
def test_degradation_interval_has_the_jeffreys_quantiles(base, disrupted, chance):
    row = degradation(base, 10, disrupted, 10, chance, draws=100_000, **META)
    before, after = (stats.beta(count + 0.5, 10 - count + 0.5) for count in (base, disrupted))
    for end, level in ((row.ci_low, 0.025), (row.ci_high, 0.975)):
        # the lost share is at most `end` if the disrupted accuracy is at least before - end (before - chance)
        reached, _ = integrate.quad(
            lambda b, end=end: before.pdf(b) * after.sf(b - end * (b - chance)), chance, 1, limit=400
        )
        # a change of the prior by .5 moves a level by .0035 or more, the draws by .0005
        assert reached / before.sf(chance) == pytest.approx(level, abs=0.0015)


def test_degradation_refuses_faulty_counts():
    with pytest.raises(ValueError, match="chance is 1"):
        degradation(1, 2, 1, 2, 1.0, **META)
    with pytest.raises(ValueError, match="3 of 2"):
        degradation(1, 2, 3, 2, 0.5, **META)


def test_fractional_counts_are_refused():
    for refused in (
        lambda: wilson_interval(2.5, 10),
        lambda: clopper_pearson(2.5, 10),
        lambda: degradation(60.5, 100, 40, 100, 0.5, **META),
        lambda: mcnemar_from_counts(2.5, 1, 1, 1, **META),
        lambda: fisher(1, 4.2, 1, 5, **META),
    ):
        with pytest.raises(ValueError, match="are no whole counts; convert"):
            refused()
    # a count read from a column of floats is still an integer
    assert wilson_interval(2.0, 10) == wilson_interval(np.int64(2), 10)


@pytest.mark.parametrize(("count", "n"), [(0, 7), (3, 7), (7, 7), (41, 200)])
def test_clopper_pearson_matches_statsmodels_and_the_binomial(count, n):
    low, high = clopper_pearson(count, n, 0.9)
    assert (low, high) == pytest.approx(proportion_confint(count, n, 0.1, method="beta"), abs=1e-12)
    if count:
        assert stats.binom.sf(count - 1, n, low) == pytest.approx(0.05)
    if count < n:
        assert stats.binom.cdf(count, n, high) == pytest.approx(0.05)
