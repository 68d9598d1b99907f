import numpy as np
import pytest

from analysis.statistics import correlation_difference, fired, levels_and_differences
from analysis.statistics.bootstrap import bootstrap_p, percentile_interval, resamples

META = {"study": "s", "comparison": "c", "unit": "model"}
RANDOM = np.random.default_rng(6)


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_difference_of_correlations_by_a_plain_loop(method):
    from scipy import stats

    statistic = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}[method]
    outcome, first, second = RANDOM.normal(size=(3, 8))
    first = first + outcome
    row = correlation_difference(outcome, first, second, method=method, draws=300, seed=5, **META)
    values = []
    for index in np.concatenate(list(resamples(8, 300, 5))):
        if len(set(index)) >= 3:
            values.append(
                abs(statistic(first[index], outcome[index])[0]) - abs(statistic(second[index], outcome[index])[0])
            )
    assert row.estimate == pytest.approx(abs(statistic(first, outcome)[0]) - abs(statistic(second, outcome)[0]))
    assert (row.ci_low, row.ci_high) == pytest.approx(percentile_interval(np.array(values)))
    assert row.p_value == pytest.approx(bootstrap_p(np.array(values)))
    assert row.test == f"{method}_difference"


def test_degenerate_resamples_are_dropped_and_counted():
    outcome, first = np.array([1.0, 2, 3, 5]), np.array([2.0, 1, 4, 4])
    second = np.array([0.0, 0, 0, 1])
    row = correlation_difference(outcome, first, second, draws=400, seed=1, **META)
    index = np.concatenate(list(resamples(4, 400, 1)))
    bad = [len(set(rows)) < 3 or len(set(first[rows])) == 1 or len(set(second[rows])) == 1 for rows in index]
    assert 0 < sum(bad) < 400
    assert f"{sum(bad)} degenerate ones dropped" in row.note
    assert "few distinct values" in fired(row.note)


def test_mostly_degenerate_resamples_give_no_interval():
    row = correlation_difference([1, 2, 3], [1, 3, 2], [2, 1, 3], **META)
    assert row.estimate is not None
    assert row.ci_low is None
    assert row.p_value is None
    assert "more than half of the resamples are degenerate" in row.note
    flat = correlation_difference([1, 2, 3, 4], [1, 1, 1, 1], [2, 1, 3, 4], **META)
    assert flat.estimate is None
    assert "zero variance" in fired(flat.note)


def test_difference_of_a_variable_with_itself_is_zero():
    outcome, first = RANDOM.normal(size=(2, 9))
    row = correlation_difference(outcome, first, -first, **META)
    assert row.estimate == pytest.approx(0, abs=1e-12)
    assert row.ci_high - row.ci_low < 1e-12
    with pytest.raises(ValueError, match="use pearson or spearman"):
        correlation_difference(outcome, first, first, method="kendall", **META)


def test_difference_is_found_when_it_is_there():
    outcome = RANDOM.normal(size=40)
    row = correlation_difference(outcome, outcome + 0.1 * RANDOM.normal(size=40), RANDOM.normal(size=40), **META)
    assert row.ci_low > 0
    assert row.p_value < 0.001


def test_two_declining_series_correlate_in_levels_only():
    x = np.array([10.0, 9.5, 8.0, 7.8, 6.0, 5.9])
    y = np.array([50.0, 47.0, 46.5, 42.0, 41.5, 37.0])
    levels, differences = levels_and_differences(x, y, study="s", comparison="c", unit="length")
    assert levels.test == "pearson_levels"
    assert differences.test == "pearson_first_differences"
    assert levels.estimate > 0.9
    assert differences.estimate < 0
    assert differences.estimate == pytest.approx(np.corrcoef(np.diff(x), np.diff(y))[0, 1])
    assert (levels.n, differences.n) == (6, 5)
    assert "dependent units" in fired(levels.note)
    assert "dependent units" not in fired(differences.note)


def test_equal_steps_have_no_variance_although_subtraction_rounds():
    x = np.array([0.1, 0.2, 0.30000000000000004, 0.4])
    _, differences = levels_and_differences(x, [4.0, 3, 1, 0], study="s", comparison="c", unit="length")
    assert differences.estimate is None
    assert "zero variance" in fired(differences.note)


def test_resamples_are_seeded_chunked_and_uniform():
    once = np.concatenate(list(resamples(5, 4000, 3)))
    assert (once == np.concatenate(list(resamples(5, 4000, 3)))).all()
    assert np.bincount(once.ravel(), minlength=5) / once.size == pytest.approx(0.2, abs=0.01)
    sizes = [len(chunk) for chunk in resamples(1000, 5000)]
    assert sum(sizes) == 5000
    assert max(sizes) == 2000


def test_bootstrap_p():
    assert bootstrap_p(np.ones(99)) == pytest.approx(2 / 100)
    assert bootstrap_p(np.array([-1.0, 1.0])) == 1.0
