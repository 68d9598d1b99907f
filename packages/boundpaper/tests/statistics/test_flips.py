"""Exact paired tests over all sign flips of the differences."""

import itertools

import numpy as np
import pytest

from boundpaper.statistics import fired, paired_t, sign_flips

NAMED = {"study": "beans", "comparison": "sun and shade", "unit": "plant"}


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_the_p_is_the_share_of_flips_that_reach_the_mean(n: int) -> None:
    first, second = np.random.default_rng(n).normal(size=(2, n))
    means = [abs(float(np.mean((first - second) * signs))) for signs in itertools.product((1, -1), repeat=n)]
    row = sign_flips(first, second, **NAMED)
    assert row.p_value == pytest.approx(np.mean(np.array(means) >= abs((first - second).mean()) - 1e-12))
    assert ("smallest attainable p" in fired(row.note)) == (n < 6)
    assert (row.statistic, row.df) == (None, None)


def test_sign_flip_interval_and_effect_are_those_of_students_t() -> None:
    first, second = [8.1, 9.0, 7.7, 8.8], [2.2, 3.9, 2.4, 3.0]
    flips, student = sign_flips(first, second, **NAMED), paired_t(first, second, **NAMED)
    for name in ("estimate", "ci_low", "ci_high", "effect", "effect_ci_low", "effect_ci_high"):
        assert getattr(flips, name) == getattr(student, name)


def test_sign_flips_without_variance_have_a_p_and_without_pairs_none() -> None:
    row = sign_flips([1, 1, 1], [0, 0, 0], **NAMED)
    assert (row.p_value, row.ci_low) == (0.25, None)
    assert "no interval, d_z, d_z interval" in row.note
    assert sign_flips([], [], **NAMED).p_value is None
