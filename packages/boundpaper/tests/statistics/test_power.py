"""Power of tests, and the smallest effects that they detect."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

from boundpaper.statistics import smallest_correlation, smallest_d_flips, smallest_d_s, smallest_d_z
from boundpaper.statistics.power import correlation_power, detectable_note, paired_power, pooled_power


@pytest.mark.parametrize("n", [2, 3, 7, 15, 40])
def test_paired_power_agrees_with_statsmodels(n):
    for effect in (0.0, 0.4, 1.1):
        expected = TTestPower().power(effect, n, 0.05, alternative="two-sided")
        assert paired_power(effect, n) == pytest.approx(expected, abs=1e-6)
    assert paired_power(-0.4, n) == paired_power(0.4, n)


@pytest.mark.parametrize(("n1", "n2"), [(3, 4), (8, 8), (5, 30)])
def test_pooled_power_agrees_with_statsmodels(n1, n2):
    expected = TTestIndPower().power(0.9, n1, 0.05, ratio=n2 / n1)
    assert pooled_power(0.9, n1, n2) == pytest.approx(expected, abs=1e-6)


def test_smallest_effects_have_the_power_asked_for():
    for n in (2, 3, 5, 15):
        assert paired_power(smallest_d_z(n), n) == pytest.approx(0.8, abs=1e-4)
    assert pooled_power(smallest_d_s(4, 9), 4, 9) == pytest.approx(0.8, abs=1e-4)
    for n in (4, 7, 13):
        assert correlation_power(smallest_correlation(n), n) == pytest.approx(0.8, abs=1e-3)
    assert smallest_correlation(8, covariates=1) == pytest.approx(smallest_correlation(7), abs=1e-6)


def test_correlation_power_agrees_with_simulation():
    generator = np.random.default_rng(5)
    n, rho, draws = 7, 0.8, 40_000
    x = generator.normal(size=(draws, n))
    y = rho * x + np.sqrt(1 - rho**2) * generator.normal(size=(draws, n))
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    r = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
    t = r * np.sqrt((n - 2) / (1 - r**2))
    share = np.mean(np.abs(t) > stats.t.isf(0.025, n - 2))
    assert correlation_power(rho, n) == pytest.approx(share, abs=0.01)
    assert correlation_power(0.0, n) == pytest.approx(0.05, abs=1e-6)


def test_power_refuses_samples_without_degree_of_freedom():
    with pytest.raises(ValueError, match="paired_power: 1 units"):
        paired_power(1, 1)
    with pytest.raises(ValueError, match="correlation_power: 2 units"):
        correlation_power(0.5, 4, covariates=2)
    with pytest.raises(ValueError, match="strictly between"):
        correlation_power(1.0, 5)


def test_the_note_is_for_small_samples():
    assert detectable_note("|r|", 0.8211, 8) == "80 % power at 0.05 needs |r| of 0.82 or more"
    assert detectable_note("|r|", 0.5, 16) == ""


def test_sign_flip_test_of_few_pairs_has_no_detectable_effect():
    """The smallest p is 1/16 with five signs and 1/128 with eight; 1/128 is between .05 / 7 and .05 / 6."""
    assert smallest_d_flips(5) is None
    assert smallest_d_flips(8, alpha=0.05 / 7) is None
    assert smallest_d_flips(8, alpha=0.05 / 6) > smallest_d_flips(8) > smallest_d_z(8) - 0.05
    with pytest.raises(ValueError, match="at most 15 pairs"):
        smallest_d_flips(16)


def test_smallest_d_flips_at_the_least_level_needs_all_signs_alike():
    """If only eight equal signs have a p below the level, power .8 needs Phi(d)^8 = .8, which gives d = 1.92."""
    assert smallest_d_flips(8, alpha=0.0125) == pytest.approx(stats.norm.ppf(0.8 ** (1 / 8)), abs=0.03)
