"""Coefficients, their intervals, permutation p and the leave-one-out range."""

import math
import sys
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from boundpaper.statistics import fired, kendall, leave_one_out, pearson, spearman
from boundpaper.statistics.correlations.coefficient import coefficient, interval
from boundpaper.statistics.correlations.correlation import correlate
from boundpaper.statistics.locations.permutation import (
    exact_relabelings,
    permutation_p,
    random_relabelings,
    relabelings,
    sign_flip_p,
)

META = {"study": "s", "comparison": "c", "unit": "model"}
RANDOM = np.random.default_rng(2)
FUNCTIONS = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}

small_integers = st.integers(2, 5).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 4), min_size=n, max_size=n) for _ in range(2)))
)


@pytest.mark.parametrize("method", FUNCTIONS)
@pytest.mark.parametrize("n", [2, 5, 9, 30])
def test_coefficients_agree_with_scipy(method, n):
    x, y = RANDOM.normal(size=(2, n))
    # rounding makes ties
    for first, second in ((x, y), (np.round(x), np.round(y + x))):
        value = coefficient(first, second, method)
        if value is not None:
            assert value == pytest.approx(SCIPY[method](first, second).statistic, abs=1e-12)


@pytest.mark.parametrize("method", FUNCTIONS)
@settings(derandomize=True, max_examples=25, deadline=None)
@given(pair=small_integers)
def test_exact_p_is_the_share_of_all_permutations(method, pair):
    x, y = (np.array(values, dtype=float) for values in pair)
    row = correlate(x, y, method, **META)
    if len(set(pair[0])) == 1 or len(set(pair[1])) == 1:
        assert row.estimate is None
        assert row.p_value is None
        assert "no variance" in row.note
        return
    null = {order: abs(SCIPY[method](np.array(order), y).statistic) for order in set(permutations(x))}
    reached = sum(null[order] >= abs(row.estimate) - 1e-9 for order in permutations(x))
    assert row.p_value == pytest.approx(reached / math.factorial(len(x)))
    assert row.p_value >= 1 / math.factorial(len(x))


def test_exact_kendall_p_agrees_with_scipy():
    x, y = RANDOM.normal(size=(2, 8))
    assert kendall(x, y, **META).p_value == pytest.approx(stats.kendalltau(x, y, method="exact").pvalue)


@pytest.mark.parametrize("method", FUNCTIONS)
def test_exact_p_of_eight_units_is_computed_in_chunks(method):
    x, y = RANDOM.normal(size=(2, 8))
    correlate(x, y, method, **META)
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append(event) if event in ("call", "c_call") else None)
    try:
        row = correlate(x, y, method, **META)
    finally:
        sys.setprofile(None)
    assert "exact p over 40320 relabelings" in row.note
    assert len(calls) < 40320 / 4, "one call per relabeling would be slow on any machine"


def test_perfect_correlation_has_no_interval_and_no_t():
    row = pearson([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], **META)
    assert row.estimate == 1.0
    assert row.ci_low is None
    assert row.statistic is None
    assert row.p_value == pytest.approx(2 / 120)
    assert "|r| is 1" in row.note


def test_pearson_t_agrees_with_scipy():
    x, y = RANDOM.normal(size=(2, 11))
    row = pearson(x, y, p="t", **META)
    expected = stats.pearsonr(x, y)
    assert row.test == "pearson_t"
    assert row.p_value == pytest.approx(expected.pvalue)
    assert row.df == 9
    assert row.statistic == pytest.approx(row.estimate * math.sqrt(9 / (1 - row.estimate**2)))
    again = pearson(x, y, **META)
    assert again.test == "pearson"
    assert again.statistic == row.statistic
    assert (row.ci_low, row.ci_high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert (row.effect, row.effect_ci_low) == (row.estimate, row.ci_low)


@pytest.mark.parametrize("method", FUNCTIONS)
def test_monte_carlo_p_is_seeded_and_near_the_asymptotic_one(method):
    x, y = RANDOM.normal(size=(2, 25))
    y = y + 0.4 * x
    row = correlate(x, y, method, **META)
    assert row.p_value == correlate(x, y, method, **META).p_value
    assert row.p_value == pytest.approx(SCIPY[method](x, y).pvalue, abs=0.015)
    assert "Monte-Carlo p over 9999 relabelings with seed 0" in row.note
    # (b + 1)/(m + 1): never zero
    strong = correlate(x, x, method, draws=99, **META)
    assert strong.p_value == pytest.approx(0.01)


def test_interval_needs_more_than_three_units():
    row = pearson([1, 2, 4], [3, 1, 5], **META)
    assert row.ci_low is None
    assert row.estimate is not None
    assert "no interval: n = 3, the z interval needs more than 3" in row.note
    assert pearson([1, 2, 4, 6], [3, 1, 5, 2], **META).ci_low is not None
    assert kendall([1, 2, 4, 6], [3, 1, 5, 2], **META).ci_low is None


def test_tiny_samples_return_notes_with_reasons():
    assert "n = 1" in pearson([1.0], [2.0], **META).note
    assert "n = 0" in kendall([], [], **META).note
    of_two_units = pearson([1, 2], [1, 3], **META)
    assert of_two_units.p_value == 1.0
    assert of_two_units.df == 0
    assert "leaves no degree of freedom" in of_two_units.note


def test_guards_on_values_appear_in_the_note():
    row = pearson([1, 1, 1, 1], [1, 2, 3, 4], names=("bias", "lbp"), **META)
    assert row.estimate is None
    assert "guard zero variance: bias is 1 in all 4 units" in row.note
    two_valued = pearson([0, 0, 1, 1], [1, 2, 3, 4], **META)
    assert fired(two_valued.note)[0] == "few distinct values"
    assert fired(pearson([1, 2, 3, 4.0, 7], [1, 5, 3, 9, 8.0], **META).note) == ()


def test_guard_on_smallest_p_appears_below_four_units():
    note = spearman([1, 2, 3], [1, 2, 3], **META).note
    assert "guard smallest attainable p: no outcome could give a p below 0.3333" in note
    assert "smallest attainable p" not in spearman([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], **META).note


@pytest.mark.parametrize(("method", "least"), [("pearson", 0.925), ("spearman", 0.915), ("kendall", 0.915)])
def test_intervals_cover_the_true_coefficient(method, least):
    generator = np.random.default_rng(9)
    rho, n = 0.6, 13
    truth = {"pearson": rho, "spearman": 6 / np.pi * np.arcsin(rho / 2), "kendall": 2 / np.pi * np.arcsin(rho)}[method]
    covered = 0
    for _ in range(600):
        x = generator.normal(size=n)
        y = rho * x + math.sqrt(1 - rho**2) * generator.normal(size=n)
        ends, _ = interval(coefficient(x, y, method), n, method)
        covered += ends[0] <= truth <= ends[1]
    assert least <= covered / 600 <= 0.985


@settings(derandomize=True, max_examples=30, deadline=None)
@given(scale=st.floats(0.01, 100), shift=st.floats(-100, 100), seed=st.integers(0, 1000))
def test_affine_maps_change_only_the_sign(scale, shift, seed):
    x, y = np.random.default_rng(seed).normal(size=(2, 5))
    for method in FUNCTIONS:
        row = correlate(x, y, method, **META)
        moved = correlate(scale * x + shift, y, method, **META)
        turned = correlate(-x, y, method, **META)
        assert moved.estimate == pytest.approx(row.estimate, abs=1e-9)
        assert moved.p_value == pytest.approx(row.p_value)
        assert turned.estimate == pytest.approx(-row.estimate, abs=1e-12)
        assert turned.p_value == pytest.approx(row.p_value)


def test_leave_one_out_finds_the_unit_that_carries_the_correlation():
    x = np.array([1.0, 2, 3, 4, 5, 20])
    y = np.array([2.0, 1, 3, 1, 2, 30])
    names = ["a", "b", "c", "d", "e", "outlier"]
    row = leave_one_out(x, y, units=names, **META)
    values = [stats.pearsonr(np.delete(x, i), np.delete(y, i)).statistic for i in range(6)]
    assert (row.effect_ci_low, row.effect_ci_high) == pytest.approx((min(values), max(values)))
    assert row.effect == pytest.approx(max(values) - min(values))
    assert row.estimate == pytest.approx(stats.pearsonr(x, y).statistic)
    assert "lowest without outlier" in row.note
    expected = pearson(x[:5], y[:5], **META).p_value
    assert row.p_value == pytest.approx(expected)
    assert row.effect_name == "leave_one_out_range"


def test_leave_one_out_reports_undefined_cases():
    row = leave_one_out([1, 1, 2], [1, 2, 3], units=["a", "b", "c"], **META)
    assert "undefined without c" in row.note
    assert row.effect_ci_low is not None
    flat = leave_one_out([1, 1, 1], [1, 2, 3], **META)
    assert flat.estimate is None
    assert flat.p_value is None
    with pytest.raises(ValueError, match="3 values but 2 unit names"):
        leave_one_out([1, 1, 2], [1, 2, 3], units=["a", "b"], **META)


def test_correlate_refuses_faulty_input():
    with pytest.raises(ValueError, match="x: 1 of 2 values are missing"):
        pearson([np.nan, 1], [1, 2], **META)
    with pytest.raises(ValueError, match="lbp has 2 values and ap has 3"):
        pearson([1, 2], [1, 2, 3], names=("lbp", "ap"), **META)
    with pytest.raises(ValueError, match="p='t' is only for pearson"):
        correlate([1, 2, 3], [1, 2, 4], "kendall", p="t", **META)
    with pytest.raises(ValueError, match="draws is 0"):
        pearson(np.arange(9), np.arange(9), draws=0, **META)


def test_relabelings_are_all_permutations_identity_first():
    table = relabelings(5)
    assert len({tuple(row) for row in table}) == 120
    assert list(table[0]) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="9! relabelings"):
        relabelings(9)
    with pytest.raises(ValueError, match="read-only"):
        table[0, 0] = 1


def test_blocks_keep_their_units():
    blocks = [np.array([0, 3]), np.array([1, 2, 4])]
    table = exact_relabelings(blocks)
    assert len({tuple(row) for row in table}) == 12
    drawn = np.concatenate(list(random_relabelings(blocks, 500, 1, 10**7)))
    for rows in (table, drawn):
        for block in blocks:
            assert (np.sort(rows[:, block], axis=1) == block).all()
    assert drawn.shape == (500, 5)
    assert len({tuple(row) for row in drawn}) == 12


def test_sampled_p_approaches_the_exact_one():
    x, y = RANDOM.normal(size=(2, 8))
    exact = pearson(x, y, **META).p_value
    value = coefficient(x, y)
    blocks = [np.arange(8)]
    reached = [
        np.abs([coefficient(x[row], y) for row in table]) >= abs(value) - 1e-12
        for table in random_relabelings(blocks, 2000, 0, 8)
    ]
    assert np.mean(np.concatenate(reached)) == pytest.approx(exact, abs=0.04)
    constant = permutation_p(0.0, lambda index: np.zeros(len(index)), blocks)
    assert constant.p_value == 1.0
    assert constant.smallest == 1.0
    drawn = permutation_p(9.0, lambda index: index[:, 0].astype(float), [np.arange(9)], draws=199)
    assert drawn.p_value == drawn.smallest == pytest.approx(1 / 200), "no value from 0 to 8 reaches 9"


def test_sign_flips_agree_with_scipy():
    differences = RANDOM.normal(0.4, 1, 9)
    expected = stats.permutation_test(
        (differences,), lambda a, axis: np.mean(a, axis=axis), permutation_type="samples", vectorized=True,
        n_resamples=np.inf,
    )  # fmt: skip
    outcome = sign_flip_p(differences)
    assert outcome.p_value == pytest.approx(expected.pvalue)
    assert outcome.smallest == pytest.approx(2 / 2**9)
    assert sign_flip_p(np.array([1.0, 1.0, 1.0])).p_value == 0.25
    assert sign_flip_p(np.zeros(3)).p_value == 1.0
    # with integers 8 of 16 flips reach the mean; far from zero the differences have rounding errors
    steps = np.array([1.0, 2.0, 3.0, -4.0])
    flips = [abs(np.dot(signs, steps)) for signs in product((-1, 1), repeat=4)]
    reached = np.mean(np.array(flips) >= abs(steps.sum()))
    far = (1e6 + 1e-3 * steps) - 1e6
    assert sign_flip_p(steps).p_value == reached
    assert sign_flip_p(far, size=1e6).p_value == reached
    assert sign_flip_p(far).p_value < reached  # the differences do not show the size of the subtracted values
    assert sign_flip_p(np.ones(16), draws=199).smallest == pytest.approx(1 / 200)
    many = RANDOM.normal(0.3, 1, 40)
    assert sign_flip_p(many).p_value == pytest.approx(stats.ttest_1samp(many, 0).pvalue, abs=0.02)
