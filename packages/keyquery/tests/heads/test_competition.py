"""Sums over listed, drawn and all pairs of keys: compared with the definition pair by pair, and with each other."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from heads_reference import head_with
from keyquery.heads import competition, kernel
from keyquery.heads.competition import add_sums, all_pairs, counted_pairs, listed_pairs, sampled_pairs
from keyquery.heads.laws import binned, bucket_law, pooled_law
from keyquery.heads.pairs import competing, draw_pairs

BINS, CELLS = 4, (5, 3)
ARRAYS = ("count", "spread", "mean_gap", "map_count", "map_plasticity", "plasticity")


@pytest.fixture(scope="module")
def made():
    """Return 60 keys in four documents, eligible counts, the bins' normal laws, and queries by bin and context."""
    head = head_with(seed=21, queries=400, keys=60, dimension=4)
    queries = binned(head, BINS)
    keys = competing(head.keys, head.key_positions, head.key_documents, head.context, head.buckets, "earlier")
    counts = keys.eligible(queries.taus)
    laws = {place: bucket_law(queries.of(place), "bucket_full") for place in range(1, BINS)}
    return keys, counts, laws, queries, head


def sums(made, cap=None, seed=0, counted=False):
    keys, counts, laws, queries, head = made
    if cap is None:
        return all_pairs(keys, counts, laws, queries, head.context, CELLS, "double", counted)
    return sampled_pairs(keys, counts, laws, queries, head.context, CELLS, cap, seed, counted)


def test_listed_pair_statistics_match_their_definition(made):
    keys, counts, laws, queries, _ = made
    later, earlier, total = draw_pairs(keys, counts[2], None, np.random.default_rng(0))
    actual = listed_pairs(keys, later, earlier, laws[2], queries, 2)
    rows = queries.of(2)
    assert total > 50
    for pair, (one, other) in enumerate(zip(later, earlier, strict=True)):
        scores = rows.astype(float) @ (keys.vectors[one].astype(float) - keys.vectors[other])
        assert actual.mean_gap[pair] == pytest.approx(scores.mean())
        assert actual.variance[pair] == pytest.approx(scores.var(ddof=1))
        p = stats.norm.cdf(scores.mean() / scores.std(ddof=1))
        assert actual.plasticity[pair] == pytest.approx(4 * p * (1 - p), abs=1e-11)
    assert not actual.same_key.any()
    assert not actual.no_variance.any()


def test_law_with_drift_is_evaluated_at_the_mean_position_of_the_bin(made):
    keys, counts, _, queries, head = made
    law = pooled_law(head, "pooled_full")
    later, earlier, _ = draw_pairs(keys, counts[3], 40, np.random.default_rng(0))
    actual = listed_pairs(keys, later, earlier, law, queries, 3)
    difference = keys.vectors[later].astype(float) - keys.vectors[earlier]
    np.testing.assert_allclose(actual.mean_gap, difference @ (law.alpha + queries.taus[3] * law.beta))


@pytest.mark.parametrize("counted", [False, True])
def test_sampling_every_pair_equals_all_pairs(made, counted):
    all_sums, drawn = sums(made, counted=counted), sums(made, cap=10**6, counted=counted)
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(drawn, name), getattr(all_sums, name), rtol=1e-9, atol=1e-9, err_msg=name)
    assert drawn.error.tolist() == [0.0] * BINS
    assert all_sums.count.sum() == all_sums.map_count.sum() > 100


def test_pairs_fall_into_the_cells_of_their_distances(made):
    keys, counts, _, queries, head = made
    count, grid = np.zeros((BINS, CELLS[0])), np.zeros(CELLS)
    for place in range(1, BINS):
        for one, other in zip(*draw_pairs(keys, counts[place], None, np.random.default_rng(0))[:2], strict=True):
            near, far = sorted((int(keys.positions[one]), int(keys.positions[other])))
            across = (far - near) * CELLS[0] // head.context
            count[place, across] += 1
            grid[across, int((queries.taus[place] - (near + far) / 2) * CELLS[1] / head.context)] += 1
    assert sums(made).count.tolist() == count.tolist()
    assert sums(made).map_count.tolist() == grid.tolist()


def test_a_sample_is_scaled_up_and_states_the_error_of_its_mean(made):
    all_sums = sums(made)
    drawn = [sums(made, cap=20, seed=seed) for seed in range(300)]
    total = all_sums.count.sum(axis=1)
    for name in ("spread", "mean_gap"):
        mean = np.mean([getattr(each, name).sum(axis=1) for each in drawn], axis=0)
        np.testing.assert_allclose(mean[1:], getattr(all_sums, name).sum(axis=1)[1:], rtol=0.05, err_msg=name)
    for place in range(1, BINS):
        values = np.array([each.plasticity[place] for each in drawn]) / total[place]
        errors = np.array([each.error[place] for each in drawn])
        if total[place] > 20:
            assert values.mean() == pytest.approx(all_sums.plasticity[place] / total[place], abs=0.03)
            assert np.sqrt(np.mean(errors**2)) == pytest.approx(values.std(), rel=0.25)
    again = sums(made, cap=20, seed=7)
    assert again.plasticity.tolist() == drawn[7].plasticity.tolist() != drawn[8].plasticity.tolist()


def test_standard_error_is_that_of_sampling_without_replacement(made):
    keys, counts, laws, queries, _ = made
    later, earlier, total = draw_pairs(keys, counts[3], 20, np.random.default_rng([5, 3]))
    values = listed_pairs(keys, later, earlier, laws[3], queries, 3).plasticity
    actual = sums(made, cap=20, seed=5)
    assert actual.error[3] == pytest.approx(np.sqrt(values.var(ddof=1) / 20 * (1 - 20 / total)))
    assert actual.plasticity[3] == pytest.approx(values.mean() * total)


@pytest.mark.parametrize(("shrunk", "left_out"), [(0.5, True), (2.0, False)])
def test_direction_below_a_share_of_the_mean_variance_counts_as_no_variance(shrunk, left_out):
    """Queries vary by 1 along the first axis and by a share of the bound along the second, where keys differ."""
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(500, 2))
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    # uncorrelated, so that the planted variance along the second axis is exact
    rows[:, 1] -= rows[:, 0] * (rows[:, 0] @ rows[:, 1]) / (rows[:, 0] @ rows[:, 0])
    rows[:, 1] *= np.sqrt(shrunk * competition.NEGLIGIBLE / 2) / rows[:, 1].std(ddof=1)
    head = head_with(seed=1, queries=500, dimension=2)
    queries = binned(head, 1)
    order = queries.order
    turned = np.empty_like(rows)
    turned[order] = rows
    queries = type(queries)(queries=turned, order=order, edges=queries.edges, counts=queries.counts, taus=queries.taus)
    keys = competing(
        np.array([[0.0, 0.0], [0.0, 3.0], [0.0, 3.0]]), np.array([0, 1, 2]), np.zeros(3), 800, 8, "earlier"
    )
    law = bucket_law(turned, "bucket_full")
    pairs = np.array([1, 2]), np.array([0, 1])
    actual = listed_pairs(keys, *pairs, law, queries, 0)
    assert actual.no_variance.tolist() == [left_out, False]
    assert actual.same_key.tolist() == [False, True]
    _, without = counted_pairs(keys, *pairs, queries, 0)
    assert without.tolist() == [left_out, True]


def test_joined_parts_sum_and_are_double_if_any_part_is_double(made):
    keys, counts, laws, queries, head = made
    parts = [
        all_pairs(keys, counts, {place: laws[place]}, queries, head.context, CELLS, "double") for place in (1, 2, 3)
    ]
    joined = add_sums(parts)
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(joined, name), getattr(sums(made), name), rtol=1e-9, err_msg=name)
    single = replace(parts[1], precision="single")
    assert add_sums([parts[0], single]).precision == "double"
    assert add_sums([single, single]).precision == "single"


def test_bins_of_one_law_share_its_products(made):
    keys, counts, _, queries, head = made
    shared = pooled_law(head, "pooled_full")
    one = all_pairs(keys, counts, dict.fromkeys(range(1, BINS), shared), queries, head.context, CELLS, "double")
    laws = {place: pooled_law(head, "pooled_full") for place in range(1, BINS)}
    two = all_pairs(keys, counts, laws, queries, head.context, CELLS, "double")
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("d", [1, 3, 64])
def test_single_precision_scores_stay_within_their_error_bound(d):
    rows = np.random.default_rng(d).normal(size=(2000, 2, d))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    single = rows.astype(np.float32)
    off = np.einsum("ij,ij->i", single[:, 0], single[:, 1]) - np.einsum("ij,ij->i", rows[:, 0], rows[:, 1])
    assert np.abs(off).max() <= competition.slack(d) < 2**-24 * (d + 5)


def test_double_precision_distance_keeps_digits_that_single_loses():
    one, other = np.array([1e4, 1.0], np.float32), np.array([1e4, 1.001], np.float32)
    assert kernel.squared_distance(one, other) == pytest.approx((float(other[1]) - float(one[1])) ** 2, rel=1e-12)
    assert kernel.direct_variance(one, other, one, one, 0.0) == (kernel.squared_distance(one, other), kernel.SAME_KEY)
    assert kernel.direct_variance(one, one, one, other, 0.0)[1] == kernel.NO_VARIANCE
    assert kernel.direct_variance(one, other, one, other, 0.5)[1] == -1
    assert kernel.direct_variance(one, other, one, other, 1.0)[1] == kernel.NO_VARIANCE
