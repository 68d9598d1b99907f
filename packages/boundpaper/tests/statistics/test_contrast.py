"""Differences of correlations, and correlations of changes between lengths."""

import numpy as np
import pytest
from scipy import stats

from boundpaper.statistics import correlation_difference, fired, levels_and_differences
from boundpaper.statistics.bootstrap import resamples
from boundpaper.statistics.correlations.contrast import zou_interval

META = {"study": "s", "comparison": "c", "unit": "model"}
RANDOM = np.random.default_rng(6)


def zou(r_first, r_second, r_between, errors):
    """Return Zou's interval (2007, eq. 15), computed independently of the module."""
    (l1, u1), (l2, u2) = (
        [np.tanh(np.arctanh(r) + side * stats.norm.ppf(0.975) * error) for side in (-1, 1)]
        for r, error in zip((r_first, r_second), errors, strict=True)
    )
    shared = (r_between - r_first * r_second / 2) * (1 - r_first**2 - r_second**2 - r_between**2) + r_between**3
    c = shared / (1 - r_first**2) / (1 - r_second**2)
    down = (r_first - l1) ** 2 + (u2 - r_second) ** 2 - 2 * c * (r_first - l1) * (u2 - r_second)
    up = (u1 - r_first) ** 2 + (r_second - l2) ** 2 - 2 * c * (u1 - r_first) * (r_second - l2)
    return r_first - r_second - np.sqrt(down), r_first - r_second + np.sqrt(up)


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_difference_of_correlations_by_its_formula(method):
    statistic = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}[method]
    outcome, first, second = RANDOM.normal(size=(3, 8))
    first, second = first + outcome, second - 0.5 * outcome
    row = correlation_difference(outcome, first, second, method=method, **META)
    r_first, r_second, r_between = (
        statistic(*pair)[0] for pair in ((first, outcome), (-second, outcome), (first, -second))
    )
    assert r_first > 0
    assert r_second > 0
    rank = method == "spearman"
    errors = [np.sqrt((1 + rank * r**2 / 2) / 5) for r in (r_first, r_second)]
    assert row.estimate == pytest.approx(r_first - r_second)
    assert (row.ci_low, row.ci_high) == pytest.approx(zou(r_first, r_second, r_between, errors))
    assert (row.effect, row.effect_ci_low, row.effect_ci_high) == (row.estimate, row.ci_low, row.ci_high)
    assert row.test == f"{method}_difference"


def test_interval_of_overlapping_correlations_of_a_known_example():
    # Zou (2007), section on overlapping correlations: r .396 and .179, between them .088, n = 66, gives [-0.093, 0.517]
    ends, _ = zou_interval(0.396, 0.179, 0.088, 66)
    assert ends == pytest.approx((-0.093, 0.517), abs=6e-4)


@pytest.mark.parametrize("n", [4, 10])
@pytest.mark.parametrize("rs", [(0.7, 0.7, 0.5), (0.7, 0.3, 0.4), (-0.67, 0.45, -0.5), (0.8, 0.1, 0.0)])
def test_interval_of_a_difference_of_correlations_has_coverage_with_few_units(n, rs):
    """For comparison, a percentile bootstrap over 4 to 8 units has a coverage of .41 to .96."""
    generator = np.random.default_rng(8)
    covariance = np.array([[1, rs[0], rs[1]], [rs[0], 1, rs[2]], [rs[1], rs[2], 1]])
    samples = generator.standard_normal((300, n, 3)) @ np.linalg.cholesky(covariance).T
    covered = 0
    for outcome, first, second in samples.transpose(0, 2, 1):
        r = np.corrcoef([outcome, first, second])
        r_between = np.sign(r[0, 1]) * np.sign(r[0, 2]) * r[1, 2]
        interval, _ = zou_interval(abs(r[0, 1]), abs(r[0, 2]), r_between, n)
        assert interval is not None
        low, high = interval
        covered += low <= abs(rs[0]) - abs(rs[1]) <= high
    assert covered / 300 > 0.91


def test_p_of_a_difference_of_correlations_agrees_with_its_interval():
    generator = np.random.default_rng(9)
    verdicts = []
    for _ in range(50):
        n = int(generator.integers(4, 30))
        outcome, second = generator.normal(size=(2, n))
        first = outcome + generator.uniform(0.02, 2) * generator.normal(size=n)
        for method in ("pearson", "spearman"):
            row = correlation_difference(outcome, first, second, method=method, **META)
            if row.ci_low is None:
                assert "|r| is 1" in row.note or "|rho| is 1" in row.note
                continue
            assert (row.p_value < 0.05) == (row.ci_low > 0 or row.ci_high < 0)
            verdicts.append(row.p_value < 0.05)
            # at the level 1 - p the interval ends at zero
            if 1e-9 < row.p_value < 0.999:
                options = {"method": method, "confidence": 1 - row.p_value, **META}
                row = correlation_difference(outcome, first, second, **options)
                assert min(abs(row.ci_low), abs(row.ci_high)) < 1e-6
    assert 10 < sum(verdicts) < len(verdicts) - 10


def test_undefined_difference_of_correlations_states_the_reason():
    row = correlation_difference([1, 2, 3], [1, 3, 2], [2, 1, 3], **META)
    assert row.estimate is not None
    assert row.ci_low is None
    assert row.p_value is None
    assert "n = 3" in row.note
    flat = correlation_difference([1, 2, 3, 4], [1, 1, 1, 1], [2, 1, 3, 4], **META)
    assert flat.estimate is None
    assert "zero variance" in fired(flat.note)
    few = correlation_difference([1.0, 2, 3, 5], [2.0, 1, 4, 4], [0.0, 0, 0, 1], **META)
    assert "few distinct values" in fired(few.note)
    exact = correlation_difference([1, 2, 3, 5], [1, 2, 3, 5], [2, 1, 3, 4], **META)
    assert exact.p_value is None
    assert "|r| is 1" in exact.note


def test_difference_of_a_variable_with_itself_is_zero():
    outcome, first = RANDOM.normal(size=(2, 9))
    row = correlation_difference(outcome, first, -first, **META)
    assert row.estimate == pytest.approx(0, abs=1e-12)
    assert row.ci_low <= 0 <= row.ci_high
    assert row.p_value == 1
    with pytest.raises(ValueError, match="use pearson or spearman"):
        correlation_difference(outcome, first, first, method="kendall", **META)


def test_true_difference_of_correlations_is_significant():
    outcome = RANDOM.normal(size=40)
    row = correlation_difference(outcome, outcome + 0.1 * RANDOM.normal(size=40), RANDOM.normal(size=40), **META)
    assert row.ci_low > 0
    assert row.p_value < 0.001


def test_two_declining_series_correlate_in_levels_but_not_in_differences():
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


def test_equal_steps_count_as_zero_variance_despite_rounding():
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
