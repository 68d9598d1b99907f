"""Competing keys, and their listed or drawn pairs, equal values computed by hand and by loops."""

import itertools

import numpy as np
import pytest

from keyquery.heads.moments import Moments, centred, class_moments, mean_and_products
from keyquery.heads.pairs import competing, draw_pairs, pair_counts

CONTEXT, BUCKETS = 40, 4


def some_keys(mode="earlier", positions=(3, 30, 7, 12, 5, 5), documents=(4, 2, 2, 4, 9, 2)):
    """Return keys whose vector is their row number: three in document 2, two in 4, one in 9."""
    rows = np.arange(len(positions), dtype=np.float64)[:, None]
    return competing(rows, np.array(positions), np.array(documents), CONTEXT, BUCKETS, mode)


def test_keys_are_grouped_by_document_and_lone_keys_left_out():
    keys = some_keys()
    assert keys.vectors[:, 0].tolist() == [5, 2, 1, 0, 3]
    assert keys.positions.tolist() == [5, 7, 30, 3, 12]
    assert (keys.groups.tolist(), keys.starts.tolist()) == ([0, 0, 0, 1, 1], [0, 3, 5])
    assert keys.shift.tolist() == [2.5]


def test_keys_of_one_bucket_compete_and_others_do_not():
    keys = some_keys("same_bucket")
    # buckets of ten tokens: document 2 has keys 5 and 7 in one; keys 3 and 12 of document 4 are in two
    assert keys.vectors[:, 0].tolist() == [5, 2]
    assert (keys.groups.tolist(), keys.starts.tolist()) == ([0, 0], [0, 2])


def test_keys_that_are_alone_in_their_group_do_not_compete():
    keys = some_keys(positions=(1, 2), documents=(0, 1))
    assert (keys.positions.size, keys.starts.tolist()) == (0, [0])
    assert list(keys.chunks()) == []


@pytest.mark.parametrize(
    ("limit", "counts"),
    [(-1, [0, 0]), (0, [0, 0]), (5, [0, 1]), (5.2, [1, 1]), (7.5, [2, 1]), (12, [2, 1]), (99, [3, 2])],
)
def test_keys_before_a_limit_are_eligible(limit, counts):
    assert some_keys().eligible(np.array([limit, 40.0])).tolist() == [counts, [3, 2]]


def test_keys_between_two_bounds_leave_out_groups_of_one():
    keys = some_keys().between(5, 30)
    assert keys.positions.tolist() == [5, 7]  # 30 is outside, and 12 is the only key left in document 4
    assert (keys.groups.tolist(), keys.starts.tolist()) == ([0, 0], [0, 2])
    assert some_keys().between(3, 13).starts.tolist() == [0, 2, 4]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 100])
def test_chunks_cover_each_group_once_and_exceed_their_size_only_for_a_long_group(size):
    keys = some_keys(positions=(1, 2, 3, 1, 2, 1, 2, 3, 4), documents=(0, 0, 0, 1, 1, 2, 2, 2, 2))
    chunks = list(keys.chunks(size))
    assert [group for first, after in chunks for group in range(first, after)] == [0, 1, 2]
    for first, after in chunks:
        assert after - first == 1 or keys.starts[after] - keys.starts[first] <= size
    for (first, after), (_, later) in itertools.pairwise(chunks):
        assert keys.starts[after + 1] - keys.starts[first] > size, (after, later)  # no chunk is shorter than necessary


class FixedDraws:
    """A random generator that draws given values."""

    def __init__(self, *values):
        """Set the values to draw."""
        self.values = np.array(values, dtype=np.int64)

    def choice(self, total, cap, *, replace, shuffle):
        """Return the given values, which must be valid pair numbers."""
        assert not replace
        assert not shuffle
        assert self.values.max() < total
        assert len(self.values) == cap
        return self.values[::-1]


def test_all_pairs_of_the_eligible_keys_are_listed_once():
    keys = some_keys()
    later, earlier, total = draw_pairs(keys, np.array([3, 2]), None, np.random.default_rng(0))
    assert list(zip(later.tolist(), earlier.tolist(), strict=True)) == [(1, 0), (2, 0), (2, 1), (4, 3)]
    assert total == 4 == pair_counts(np.array([3, 2])).sum()
    later, earlier, total = draw_pairs(keys, np.array([2, 2]), 2, np.random.default_rng(0))
    assert (later.tolist(), earlier.tolist(), total) == ([1, 4], [0, 3], 2)
    assert draw_pairs(keys, np.zeros(0, dtype=np.int64), 5, np.random.default_rng(0))[2] == 0


@pytest.mark.parametrize("i", [2, 3, 1000, 94_906_267, 99_999_999])
def test_pair_is_found_by_its_number_in_a_group_of_any_length(i):
    # above 2^53 a root in double precision is off by one on either side of a triangular number
    edge = i * (i - 1) // 2
    draws = FixedDraws(edge - 1, edge, edge + i - 1)
    later, earlier, _ = draw_pairs(some_keys(), np.array([100_000_000, 2]), 3, draws)
    assert later.tolist() == [i - 1, i, i]
    assert earlier.tolist() == [i - 2, 0, i - 1]


def test_pairs_are_drawn_without_replacement_and_evenly():
    keys = some_keys(positions=range(8), documents=(0,) * 8)
    draws = [draw_pairs(keys, np.array([8]), 7, np.random.default_rng(seed)) for seed in range(400)]
    samples = [list(zip(later.tolist(), earlier.tolist(), strict=True)) for later, earlier, _ in draws]
    assert all(len(set(sample)) == 7 for sample in samples)
    assert {total for _, _, total in draws} == {28}
    counts = {pair: sum(pair in sample for sample in samples) for pair in itertools.combinations(range(7, -1, -1), 2)}
    assert len(counts) == 28
    assert 65 < min(counts.values()) < max(counts.values()) < 140  # expected: 100, standard deviation: 9


# --- moments


def moments(vectors, times):
    return class_moments(np.array(vectors, dtype=np.float64), np.array(times))


def test_constant_projection_has_no_correlation_and_no_negative_variance():
    planted = moments([[1.0, 2.0], [1.0, 4.0], [1.0, 9.0]], [0, 10, 20])
    first_axis, second_axis = np.eye(2)
    assert planted.correlation_along(first_axis) == 0
    assert planted.variance_along(first_axis) == 0
    assert planted.variance_along(second_axis) == pytest.approx(np.var([2, 4, 9]))
    assert planted.correlation_along(second_axis) == pytest.approx(np.corrcoef([2, 4, 9], [0, 10, 20])[0, 1])
    rounding = Moments(
        n=3,
        mean=first_axis,
        covariance=-1e-20 * np.eye(2),
        position_mean=0.0,
        position_variance=1.0,
        position_covariance=first_axis,
    )
    assert rounding.variance_along(first_axis) == 0


def test_correlation_is_clipped_at_one():
    line = moments([[1.0], [2.0], [3.0]], [0, 1, 2])
    assert line.correlation_along(np.ones(1)) == 1
    beyond = Moments(
        n=3, mean=np.zeros(1), covariance=np.ones((1, 1)), position_mean=0.0, position_variance=1.0,
        position_covariance=np.array([-1.0000001]),
    )  # fmt: skip
    assert beyond.correlation_along(np.ones(1)) == -1


def test_linear_share_is_zero_without_spread_of_positions_or_vectors():
    assert moments([[1.0], [2.0]], [7, 7]).linear_share == 0
    alike = moments([[2.0], [2.0]], [0, 5])
    assert (alike.linear_share, alike.slope.tolist()) == (0, [0.0])
    assert moments([[0.0], [3.0]], [0, 6]).slope.tolist() == pytest.approx([0.5])


@pytest.mark.parametrize("n", [1, 2, 511, 512, 513, 1024, 1500])
def test_moments_over_blocks_equal_moments_over_all_rows(n):
    rows = np.random.default_rng(n).normal(size=(n, 3)) + 100
    mean, products = mean_and_products(rows)
    np.testing.assert_allclose(mean, rows.mean(axis=0), rtol=1e-13)
    deviations = rows - rows.mean(axis=0)
    np.testing.assert_allclose(products, deviations.T @ deviations, rtol=1e-9, atol=1e-9)
    differences, middle = centred(rows.astype(np.float32))
    assert differences.dtype == np.float64
    np.testing.assert_allclose(differences + middle, rows.astype(np.float32), rtol=1e-12)


def test_single_precision_is_used_only_for_single_precision_vectors():
    rows = np.random.default_rng(0).normal(size=(700, 2))
    exact = class_moments(rows, np.arange(700)).covariance
    assert class_moments(rows, np.arange(700), "single").covariance.tolist() == exact.tolist()
    reduced = class_moments(rows.astype(np.float32), np.arange(700), "single").covariance
    assert reduced.tolist() != class_moments(rows.astype(np.float32), np.arange(700)).covariance.tolist()
    np.testing.assert_allclose(reduced, exact, rtol=1e-5)
