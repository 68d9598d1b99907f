"""Sums over all, sampled and listed pairs of keys agree with loops over pairs, and with each other."""

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
def inputs():
    """Return 60 keys in four documents, counts of eligible keys, each bin's normal law, binned queries, and a head."""
    head = head_with(seed=21, queries=400, keys=60, dimension=4)
    queries = binned(head, BINS)
    keys = competing(head.keys, head.key_positions, head.key_documents, head.context, head.buckets, "earlier")
    counts = keys.eligible(queries.taus)
    laws = {bin_: bucket_law(queries.of(bin_), "bucket_full") for bin_ in range(1, BINS)}
    return keys, counts, laws, queries, head


def sums(inputs, cap=None, seed=0, counted=False):
    keys, counts, laws, queries, head = inputs
    if cap is None:
        return all_pairs(keys, counts, laws, queries, head.context, CELLS, "double", counted)
    return sampled_pairs(keys, counts, laws, queries, head.context, CELLS, cap, seed, counted)


def test_listed_pair_statistics_match_their_definition(inputs):
    keys, counts, laws, queries, _ = inputs
    later, earlier, total = draw_pairs(keys, counts[2], None, np.random.default_rng(0))
    actual = listed_pairs(keys, later, earlier, laws[2], queries, 2)
    rows = queries.of(2)
    assert total > 50
    for pair, (i, j) in enumerate(zip(later, earlier, strict=True)):
        scores = rows.astype(float) @ (keys.vectors[i].astype(float) - keys.vectors[j])
        assert actual.mean_gap[pair] == pytest.approx(scores.mean())
        assert actual.variance[pair] == pytest.approx(scores.var(ddof=1))
        p = stats.norm.cdf(scores.mean() / scores.std(ddof=1))
        assert actual.plasticity[pair] == pytest.approx(4 * p * (1 - p), abs=1e-11)
    assert not actual.same_key.any()
    assert not actual.no_variance.any()


def test_law_with_drift_is_evaluated_at_the_mean_position_of_the_bin(inputs):
    keys, counts, _, queries, head = inputs
    law = pooled_law(head, "pooled_full")
    later, earlier, _ = draw_pairs(keys, counts[3], 40, np.random.default_rng(0))
    actual = listed_pairs(keys, later, earlier, law, queries, 3)
    difference = keys.vectors[later].astype(float) - keys.vectors[earlier]
    np.testing.assert_allclose(actual.mean_gap, difference @ (law.alpha + queries.taus[3] * law.beta))


@pytest.mark.parametrize("counted", [False, True])
def test_sampling_every_pair_equals_all_pairs(inputs, counted):
    all_sums, sampled = sums(inputs, counted=counted), sums(inputs, cap=10**6, counted=counted)
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(sampled, name), getattr(all_sums, name), rtol=1e-9, atol=1e-9, err_msg=name)
    assert sampled.error.tolist() == [0.0] * BINS
    assert all_sums.count.sum() == all_sums.map_count.sum() > 100


def test_pairs_fall_into_the_cells_of_their_distances(inputs):
    keys, counts, _, queries, head = inputs
    count, grid = np.zeros((BINS, CELLS[0])), np.zeros(CELLS)
    for bin_ in range(1, BINS):
        for i, j in zip(*draw_pairs(keys, counts[bin_], None, np.random.default_rng(0))[:2], strict=True):
            near, far = sorted((int(keys.positions[i]), int(keys.positions[j])))
            distance_cell = (far - near) * CELLS[0] // head.context
            count[bin_, distance_cell] += 1
            grid[distance_cell, int((queries.taus[bin_] - (near + far) / 2) * CELLS[1] / head.context)] += 1
    assert sums(inputs).count.tolist() == count.tolist()
    assert sums(inputs).map_count.tolist() == grid.tolist()


def test_a_sample_is_scaled_up_and_states_the_error_of_its_mean(inputs):
    all_sums = sums(inputs)
    samples = [sums(inputs, cap=20, seed=seed) for seed in range(300)]
    total = all_sums.count.sum(axis=1)
    for name in ("spread", "mean_gap"):
        mean = np.mean([getattr(sample, name).sum(axis=1) for sample in samples], axis=0)
        np.testing.assert_allclose(mean[1:], getattr(all_sums, name).sum(axis=1)[1:], rtol=0.05, err_msg=name)
    for bin_ in range(1, BINS):
        values = np.array([sample.plasticity[bin_] for sample in samples]) / total[bin_]
        errors = np.array([sample.error[bin_] for sample in samples])
        if total[bin_] > 20:
            assert values.mean() == pytest.approx(all_sums.plasticity[bin_] / total[bin_], abs=0.03)
            assert np.sqrt(np.mean(errors**2)) == pytest.approx(values.std(), rel=0.25)
    repeated = sums(inputs, cap=20, seed=7)
    assert repeated.plasticity.tolist() == samples[7].plasticity.tolist() != samples[8].plasticity.tolist()


def test_standard_error_is_that_of_sampling_without_replacement(inputs):
    keys, counts, laws, queries, _ = inputs
    later, earlier, total = draw_pairs(keys, counts[3], 20, np.random.default_rng([5, 3]))
    values = listed_pairs(keys, later, earlier, laws[3], queries, 3).plasticity
    actual = sums(inputs, cap=20, seed=5)
    assert actual.error[3] == pytest.approx(np.sqrt(values.var(ddof=1) / 20 * (1 - 20 / total)))
    assert actual.plasticity[3] == pytest.approx(values.mean() * total)


@pytest.mark.parametrize(("factor", "left_out"), [(0.5, True), (2.0, False)])
def test_direction_below_a_share_of_the_mean_variance_counts_as_no_variance(factor, left_out):
    """Query variance is 1 along the first axis and `factor` times the bound along the second, where keys differ."""
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(500, 2))
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    # uncorrelated, so that the planted variance along the second axis is exact
    rows[:, 1] -= rows[:, 0] * (rows[:, 0] @ rows[:, 1]) / (rows[:, 0] @ rows[:, 0])
    rows[:, 1] *= np.sqrt(factor * competition.NEGLIGIBLE / 2) / rows[:, 1].std(ddof=1)
    head = head_with(seed=1, queries=500, dimension=2)
    queries = binned(head, 1)
    order = queries.order
    queries_in_order = np.empty_like(rows)
    queries_in_order[order] = rows
    queries = type(queries)(
        queries=queries_in_order, order=order, edges=queries.edges, counts=queries.counts, taus=queries.taus
    )
    keys = competing(
        np.array([[0.0, 0.0], [0.0, 3.0], [0.0, 3.0]]), np.array([0, 1, 2]), np.zeros(3), 800, 8, "earlier"
    )
    law = bucket_law(queries_in_order, "bucket_full")
    pairs = np.array([1, 2]), np.array([0, 1])
    actual = listed_pairs(keys, *pairs, law, queries, 0)
    assert actual.no_variance.tolist() == [left_out, False]
    assert actual.same_key.tolist() == [False, True]
    _, no_variance = counted_pairs(keys, *pairs, queries, 0)
    assert no_variance.tolist() == [left_out, True]


def test_joined_parts_sum_and_are_double_if_any_part_is_double(inputs):
    keys, counts, laws, queries, head = inputs
    parts = [all_pairs(keys, counts, {bin_: laws[bin_]}, queries, head.context, CELLS, "double") for bin_ in (1, 2, 3)]
    joined = add_sums(parts)
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(joined, name), getattr(sums(inputs), name), rtol=1e-9, err_msg=name)
    single = replace(parts[1], precision="single")
    assert add_sums([parts[0], single]).precision == "double"
    assert add_sums([single, single]).precision == "single"


def test_bins_of_one_law_share_its_products(inputs):
    keys, counts, _, queries, head = inputs
    shared = pooled_law(head, "pooled_full")
    shared_sums = all_pairs(keys, counts, dict.fromkeys(range(1, BINS), shared), queries, head.context, CELLS, "double")
    laws = {bin_: pooled_law(head, "pooled_full") for bin_ in range(1, BINS)}
    separate_sums = all_pairs(keys, counts, laws, queries, head.context, CELLS, "double")
    for name in ARRAYS:
        np.testing.assert_allclose(
            getattr(shared_sums, name), getattr(separate_sums, name), rtol=1e-9, atol=1e-12, err_msg=name
        )


@pytest.mark.parametrize("d", [1, 3, 64])
def test_single_precision_scores_stay_within_their_error_bound(d):
    rows = np.random.default_rng(d).normal(size=(2000, 2, d))
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    single = rows.astype(np.float32)
    errors = np.einsum("ij,ij->i", single[:, 0], single[:, 1]) - np.einsum("ij,ij->i", rows[:, 0], rows[:, 1])
    assert np.abs(errors).max() <= competition.slack(d) < 2**-24 * (d + 5)


def test_double_precision_distance_keeps_digits_that_single_loses():
    one, other = np.array([1e4, 1.0], np.float32), np.array([1e4, 1.001], np.float32)
    assert kernel.squared_distance(one, other) == pytest.approx((float(other[1]) - float(one[1])) ** 2, rel=1e-12)
    assert kernel.direct_variance(one, other, one, one, 0.0) == (kernel.squared_distance(one, other), kernel.SAME_KEY)
    assert kernel.direct_variance(one, one, one, other, 0.0)[1] == kernel.NO_VARIANCE
    assert kernel.direct_variance(one, other, one, other, 0.5)[1] == -1
    assert kernel.direct_variance(one, other, one, other, 1.0)[1] == kernel.NO_VARIANCE
