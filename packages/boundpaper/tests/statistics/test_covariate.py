"""Partial correlations, and correlations within families."""

from itertools import permutations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from boundpaper.statistics import partial, pearson, within_family
from boundpaper.statistics.correlations.coefficient import interval

META = {"study": "s", "comparison": "c", "unit": "model"}
RANDOM = np.random.default_rng(4)


@pytest.mark.parametrize(("n", "k"), [(8, 1), (13, 2), (40, 3)])
def test_partial_correlation_matches_multiple_regression(n, k):
    covariates = RANDOM.normal(size=(n, k))
    x = RANDOM.normal(size=n) + covariates.sum(axis=1)
    y = RANDOM.normal(size=n) + 0.3 * x - covariates[:, 0]
    row = partial(x, y, covariates if k > 1 else covariates[:, 0], covariate_name="size", **META)
    fit = sm.OLS(y, sm.add_constant(np.column_stack([x, covariates]))).fit()
    assert row.df == n - 2 - k == fit.df_resid
    assert row.statistic == pytest.approx(fit.tvalues[1])
    assert row.p_value == pytest.approx(fit.pvalues[1])
    assert (row.ci_low, row.ci_high) == interval(row.estimate, n, "pearson", k)[0]
    assert "given size" in row.note


def test_partial_correlation_matches_the_closed_form_for_one_covariate():
    x, y, z = RANDOM.normal(size=(3, 9))
    xy, xz, yz = (np.corrcoef(a, b)[0, 1] for a, b in ((x, y), (x, z), (y, z)))
    expected = (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))
    assert partial(x, y, z, **META).estimate == pytest.approx(expected)
    ranks = [stats.rankdata(values) for values in (x, y, z)]
    row = partial(x, y, z, method="spearman", **META)
    assert row.test == "spearman_partial"
    assert row.estimate == pytest.approx(partial(*ranks, **META).estimate)


def test_partial_does_not_depend_on_the_covariates_scale():
    x, y = RANDOM.normal(size=(2, 10))
    z = RANDOM.normal(size=10)
    row = partial(x, y, z, **META)
    assert partial(x, y, 1e9 * z + 7e9, **META).estimate == pytest.approx(row.estimate, abs=1e-6)


def test_partial_correlation_without_freedom_or_variance_states_the_reason():
    x, y, z = RANDOM.normal(size=(3, 3))
    assert "n = 3 with 1 held fixed leaves no degree of freedom" in partial(x, y, z, **META).note
    first, second = RANDOM.normal(size=(2, 7))
    row = partial(2 * first + 1, second, first, covariate_name="log parameters", **META)
    assert row.estimate is None
    assert "x does not vary once log parameters is held fixed" in row.note
    assert "y does not vary" in partial(first, np.ones(7), second, **META).note
    four = partial([1, 2, 4, 3], [1, 3, 2, 5], [2, 1, 1, 7], **META)
    assert four.p_value is not None
    assert four.ci_low is None
    assert "n = 4 with 1 held fixed" in four.note


def test_partial_refuses_faulty_input():
    x, y, z = RANDOM.normal(size=(3, 6))
    with pytest.raises(ValueError, match="size is constant or linearly dependent"):
        partial(x, y, np.column_stack([z, 2 * z]), covariate_name="size", **META)
    with pytest.raises(ValueError, match="constant or linearly dependent"):
        partial(x, y, np.zeros(6), **META)
    with pytest.raises(ValueError, match=r"shape \(5,\); give \(6,\)"):
        partial(x, y, z[:5], **META)
    with pytest.raises(ValueError, match="partial tau has no t test"):
        partial(x, y, z, method="kendall", **META)


def test_within_family_correlation_ignores_levels_between_families():
    families = ["a"] * 4 + ["b"] * 4
    deviations = np.array([0.0, 1, 2, 3, 0, 1, 2, 3])
    level = np.array([0.0] * 4 + [100.0] * 4)
    x, y = deviations + level, -deviations + level + np.array([0.1, 0, 0, -0.1, 0, 0.2, 0, 0])
    assert pearson(x, y, **META).estimate > 0.9
    row = within_family(x, y, families, **META)
    assert row.estimate < -0.9
    dummies = (level > 0).astype(float)
    assert row.estimate == pytest.approx(partial(x, y, dummies, **META).estimate)
    assert (row.ci_low, row.ci_high) == pytest.approx(interval(row.estimate, 8, "pearson", 1)[0])
    assert "exact p over 576 relabelings inside families" in row.note
    # only one of 576 relabelings reverses both families, for each sign
    assert row.p_value == pytest.approx(2 / 576, abs=6 / 576)


def test_within_family_correlation_matches_brute_force():
    x, y = RANDOM.normal(size=(2, 6))
    row = within_family(x, y, list("aaabbb"), **META)
    cx = np.concatenate([x[:3] - x[:3].mean(), x[3:] - x[3:].mean()])
    cy = np.concatenate([y[:3] - y[:3].mean(), y[3:] - y[3:].mean()])
    null = [
        abs(np.corrcoef(np.concatenate([cx[:3][list(p)], cx[3:][list(q)]]), cy)[0, 1])
        for p in permutations(range(3))
        for q in permutations(range(3))
    ]
    assert row.p_value == pytest.approx(np.mean(np.array(null) >= abs(row.estimate) - 1e-9))


def test_within_family_drops_single_units_and_ignores_order():
    x, y = RANDOM.normal(size=(2, 7))
    families = ["a", "b", "a", "lone", "b", "a", "b"]
    row = within_family(x, y, families, **META)
    units = [0, 2, 5, 1, 4, 6]
    sorted_row = within_family(x[units], y[units], [families[i] for i in units], **META)
    assert row.n == 6
    assert "1 units alone in their family left out" in row.note
    assert row.estimate == pytest.approx(sorted_row.estimate)
    assert row.p_value == sorted_row.p_value


def test_within_family_of_pairs_cannot_be_significant():
    x, y = RANDOM.normal(size=(2, 8))
    row = within_family(x, y, list("aabbccdd"), **META)
    assert "guard smallest attainable p: no outcome could give a p below 0.125" in row.note


def test_within_family_p_of_many_units_is_monte_carlo():
    x = RANDOM.normal(size=20)
    y = x + 0.1 * RANDOM.normal(size=20)
    row = within_family(x, y, ["a"] * 10 + ["b"] * 10, draws=999, **META)
    assert row.p_value == pytest.approx(0.001)
    assert "Monte-Carlo p over 999" in row.note


def test_within_family_correlation_needs_a_family_of_two_units():
    assert "no family has two units" in within_family([1, 2], [3, 4], ["a", "b"], **META).note
    row = within_family([1, 1, 2, 2], [1, 2, 3, 5], list("aabb"), **META)
    assert "x does not vary inside families" in row.note
    with pytest.raises(ValueError, match="4 values but 3 family labels"):
        within_family([1, 1, 2, 2], [1, 2, 3, 5], list("aab"), **META)
