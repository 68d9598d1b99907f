"""Two correlations with one outcome over the same units: Williams' t and Steiger's z."""

import numpy as np
import pytest
from scipy import stats

from boundpaper.statistics import dependent_correlations
from boundpaper.statistics.correlations.dependent import steiger_z, williams_t

META = {"study": "s", "comparison": "c", "unit": "model"}


def test_williams_t_of_a_known_example():
    # printed with r.test(103, .4, .5, .1) of the R package psych: t = -0.89, p < 0.37
    result = williams_t(0.4, 0.5, 0.1, 103)
    assert result is not None
    t, df = result
    assert round(t, 2) == -0.89
    assert df == 100
    assert 0.365 < 2 * stats.t.sf(abs(t), df) < 0.375


def test_williams_t_matches_the_case_of_uncorrelated_predictors():
    # with r_between = 0 and r_second = -r_first the pooled term is 0, and t has a closed form
    result = williams_t(0.3, -0.3, 0.0, 20)
    assert result is not None
    t, _ = result
    assert t == pytest.approx(0.6 * np.sqrt(19 / (2 * 19 / 17 * (1 - 2 * 0.09))))


def test_steiger_z_has_the_standard_error_of_fishers_z():
    """Over many samples, the statistic's denominator equals the standard error of the difference of Fisher's z."""
    generator = np.random.default_rng(5)
    covariance = np.array([[1, 0.6, 0.6], [0.6, 1, 0.3], [0.6, 0.3, 1]])
    samples = generator.multivariate_normal(np.zeros(3), covariance, size=(3000, 60))
    z = np.arctanh([np.corrcoef(sample.T)[0, 1:] for sample in samples])
    error = (np.arctanh(0.61) - np.arctanh(0.59)) / steiger_z(0.61, 0.59, 0.3, 60)
    assert np.std(z[:, 0] - z[:, 1]) == pytest.approx(error, rel=0.05)


@pytest.mark.parametrize(("test", "least", "most"), [("williams", 0.03, 0.07), ("steiger", 0.03, 0.085)])
def test_dependent_correlation_test_rejects_equal_correlations_at_its_level(test, least, most):
    generator = np.random.default_rng(6)
    rejected = 0
    for _ in range(1000):
        outcome = generator.normal(size=12)
        first, second = (outcome + 0.7 * generator.normal(size=12) for _ in range(2))
        rejected += dependent_correlations(outcome, first, second, test=test, **META).p_value < 0.05
    assert least <= rejected / 1000 <= most


def test_dependent_correlation_test_needs_four_units():
    # z grows with sqrt(n - 3), and t with sqrt(n - 1) if the pooled term is 0 as above
    assert steiger_z(0.6, 0.3, 0.2, 4) == pytest.approx(steiger_z(0.6, 0.3, 0.2, 103) / 10)
    result = williams_t(0.3, -0.3, 0.0, 4)
    assert result is not None
    t, df = result
    assert (t, df) == (pytest.approx(0.6 * np.sqrt(3 / (2 * 3 * (1 - 2 * 0.09)))), 1)
    assert steiger_z(0.6, 0.3, 0.2, 3) is None
    assert williams_t(0.3, -0.3, 0.0, 3) is None


def test_decreasing_metric_is_compared_by_absolute_correlation():
    generator = np.random.default_rng(7)
    outcome = generator.normal(size=9)
    first, second = (outcome + generator.normal(size=9) for _ in range(2))
    up, down = (dependent_correlations(outcome, sign * first, second, **META) for sign in (1, -1))
    assert up == down
    assert up.estimate == pytest.approx(
        abs(np.corrcoef(first, outcome)[0, 1]) - abs(np.corrcoef(second, outcome)[0, 1])
    )
    swapped = dependent_correlations(outcome, second, first, **META)
    assert (swapped.statistic, swapped.p_value) == pytest.approx((-up.statistic, up.p_value))


def test_untestable_correlations_state_the_reason():
    few = dependent_correlations([1, 2, 4], [1, 3, 2], [2, 1, 3], **META)
    assert few.p_value is None
    assert "n = 3" in few.note
    flat = dependent_correlations([1, 2, 4, 3], [1, 1, 1, 1], [2, 1, 3, 5], **META)
    assert flat.estimate is None
    assert "a correlation is undefined" in flat.note
    exact = dependent_correlations([1, 2, 3, 5], [1, 2, 3, 5], [2, 4, 6, 10], test="steiger", **META)
    assert exact.p_value is None
    with pytest.raises(ValueError, match="unknown test 'hotelling'"):
        dependent_correlations([1, 2, 4, 3], [1, 2, 1, 1], [2, 1, 3, 5], test="hotelling", **META)
