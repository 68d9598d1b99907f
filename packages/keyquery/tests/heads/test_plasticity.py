"""Attention plasticity agrees with scalar loops, has the expected properties, and gives reasons for missing values."""

import itertools
import resource
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from heads_reference import exact, head_with, reference, references
from keyquery.heads import kernel
from keyquery.heads.competition import counted_pairs
from keyquery.heads.gap import gaps_to_empirical
from keyquery.heads.head import Head
from keyquery.heads.laws import ESTIMATORS, householder, pooled_law
from keyquery.heads.moments import class_moments
from keyquery.heads.pairs import CHUNK, PAIR_MODES
from keyquery.heads.plasticity import PlasticityOptions, bin_and_group, plasticity
from keyquery.rotary import NO_ROTATION

FULL = ("bucket_full", "pooled_full", "empirical")


def test_polynomial_of_pair_plasticity_keeps_its_error_bound() -> None:
    gaps = np.concatenate([np.linspace(-12, 12, 200_001), [0.0, 1e-12, 1e3, 1e9, -1e150]])
    variances = np.full(gaps.size, 2.0)
    out = np.empty(gaps.size)
    kernel.plasticities(gaps, variances, out)
    p = stats.norm.cdf(gaps / np.sqrt(variances))
    assert np.abs(out - (1 - special.erf(gaps / 2) ** 2)).max() < 2.5e-13
    assert np.abs(out - 4 * p * (1 - p)).max() < 2.5e-13
    assert out[gaps == 0.0].tolist() == [1.0, 1.0]
    assert (out >= 0).all()
    assert (out <= 1).all()


@pytest.mark.parametrize("pairs", PAIR_MODES)
def test_every_estimator_and_pair_mode_equals_scalar_loops(pairs: str) -> None:
    head = head_with(seed=3)
    for estimator, expected in references(head, ESTIMATORS, pairs, bins=8, min_queries=10).items():
        profile = plasticity(head, exact(estimator=estimator, pairs=pairs))
        assert profile.profile.counts.tolist() == expected["counts"], estimator
        assert max(expected["counts"]) > 20
        np.testing.assert_allclose(profile.profile.values, expected["profile"], rtol=0, atol=1e-10, err_msg=estimator)


@pytest.mark.parametrize("pairs", PAIR_MODES)
def test_finer_query_bins_do_not_change_the_key_buckets(pairs: str) -> None:
    head = head_with(seed=4, queries=400, buckets=4)
    profile = plasticity(head, exact(pairs=pairs, bins=16))
    expected = reference(head, "bucket_full", pairs, bins=16, min_queries=10)
    assert profile.profile.counts.tolist() == expected["counts"]
    assert profile.queries.size == 16
    np.testing.assert_allclose(profile.profile.values, expected["profile"], rtol=0, atol=1e-10)


def test_bins_with_fewer_queries_than_dimensions_keep_their_singular_covariance() -> None:
    head = head_with(seed=5, queries=60, dimension=12)
    profile = plasticity(head, exact(min_queries=2))
    expected = reference(head, "bucket_full", "earlier", bins=8, min_queries=2)
    assert profile.queries.min() < 12
    np.testing.assert_allclose(profile.profile.values, expected["profile"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("estimator", ["bucket_full", "pooled_diag", "empirical"])
def test_maps_equal_scalar_loops(estimator: str) -> None:
    head = head_with(seed=6)
    profile = plasticity(head, exact(estimator=estimator, cells=(5, 4)))
    count, total = np.zeros((5, 4)), np.zeros((5, 4))
    gap, spread, pairs = np.zeros((8, 5)), np.zeros((8, 5)), np.zeros((8, 5))
    for b, (tau, counted) in enumerate(reference(head, estimator, "earlier", bins=8, min_queries=10)["records"]):
        for i, j, m, v, value in counted:
            one, other = int(head.key_positions[i]), int(head.key_positions[j])
            across, along = abs(one - other) * 5 // 800, int((tau - (one + other) / 2) * 4 / 800)
            count[across, along] += 1
            total[across, along] += value
            gap[b, across] += abs(m)
            spread[b, across] += v**0.5
            pairs[b, across] += 1
    values, found_count = profile.by_distances()
    np.testing.assert_array_equal(found_count, count)
    np.testing.assert_allclose(values[count > 0], (total / np.maximum(count, 1))[count > 0], atol=1e-10)
    assert np.isnan(values[count == 0]).all()
    assert (count == 0).any()
    mean_gap, mean_spread, per_distance = profile.by_distance()
    np.testing.assert_array_equal(per_distance, pairs)
    compared = pairs > 0
    np.testing.assert_allclose(mean_gap[compared], gap[compared] / pairs[compared], rtol=1e-10)
    np.testing.assert_allclose(mean_spread[compared], spread[compared] / pairs[compared], rtol=1e-10)


def test_documents_longer_than_a_block_and_a_tile_equal_scalar_loops() -> None:
    head = head_with(seed=7, keys=180, documents=2, queries=120)
    profile = plasticity(head, exact())
    expected = reference(head, "bucket_full", "earlier", 8, 10)
    np.testing.assert_allclose(profile.profile.values, expected["profile"], rtol=0, atol=1e-10)
    assert profile.profile.counts.max() > 2 * kernel.TILE
    assert np.bincount(head.key_documents).max() > 2 * kernel.BLOCK


@pytest.mark.parametrize("estimator", ["bucket_full", "pooled_full"])
def test_sums_over_chunks_of_documents_add_up(estimator: str) -> None:
    head = head_with(seed=8, keys=5000, documents=400, queries=300)
    assert len(head.keys) > 2 * CHUNK

    def sums_of(rows: np.ndarray) -> np.ndarray:
        keys = {name: getattr(head, name)[rows] for name in ("keys", "key_positions", "key_documents")}
        sums = plasticity(replace(head, **keys), exact(estimator=estimator)).sums
        by_distance = np.stack([sums.count, sums.mean_gap, sums.spread]).ravel()
        return np.concatenate([by_distance, sums.plasticity, sums.map_count.ravel(), sums.map_plasticity.ravel()])

    first = head.key_documents < 130
    total = sums_of(np.ones(5000, dtype=np.bool_))
    np.testing.assert_allclose(sums_of(first) + sums_of(~first), total, rtol=1e-10, atol=1e-10)
    assert total.max() > 1000


@pytest.mark.parametrize(
    ("estimator", "tolerance"),
    [("bucket_full", 1e-8), ("pooled_full", 1e-8), ("pooled_diag", 1e-6), ("bucket_diag", 1e-6)],
)
def test_default_precision_is_close_to_double(estimator: str, tolerance: float) -> None:
    head = head_with(seed=25, queries=6000, keys=1200, dimension=32, documents=20)
    head = replace(head, queries=head.queries.astype(np.float32), keys=head.keys.astype(np.float32))
    single = plasticity(head, PlasticityOptions(estimator=estimator))
    double = plasticity(head, PlasticityOptions(estimator=estimator, precision="double"))
    assert (single.precision, double.precision) == ("single", "double")
    np.testing.assert_array_equal(single.profile.counts, double.profile.counts)
    np.testing.assert_allclose(single.profile.values, double.profile.values, rtol=0, atol=tolerance)
    (values, counts), (expected, expected_counts) = single.by_distances(), double.by_distances()
    np.testing.assert_array_equal(counts, expected_counts)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-6)


def test_every_pair_stays_within_a_millionth_in_single_precision() -> None:
    # as many documents as pairs, so that a bin or a cell of the map has few documents
    head = head_with(seed=2, queries=500, keys=400, dimension=64, documents=150)
    single = plasticity(head, PlasticityOptions(cells=(200, 200)))
    double = plasticity(head, PlasticityOptions(cells=(200, 200), precision="double"))
    assert single.precision == "single"
    single_pairs = single.sums.map_count == 1
    assert np.count_nonzero(single_pairs) > 500
    assert np.abs(single.sums.map_plasticity - double.sums.map_plasticity)[single_pairs].max() < 1e-6


def test_distant_keys_are_computed_in_double_precision() -> None:
    head = head_with(seed=9, keys=160, dimension=16)
    keys = head.keys.astype(np.float64)
    keys[::2] += 1e4 * np.ones(16)
    far = replace(head, keys=keys)
    profile = plasticity(far, PlasticityOptions(min_queries=10))
    expected = reference(far, "bucket_full", "earlier", bins=8, min_queries=10)
    assert profile.precision == "double"
    np.testing.assert_allclose(profile.profile.values, expected["profile"], rtol=0, atol=1e-9)


@settings(max_examples=20, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10_000), estimator=st.sampled_from(FULL), pairs=st.sampled_from(PAIR_MODES))
def test_a_joint_orthogonal_map_changes_nothing_with_full_covariance(seed: int, estimator: str, pairs: str) -> None:
    head = head_with(seed=seed, queries=150, keys=40)
    turn = stats.ortho_group.rvs(6, random_state=seed)
    turned = replace(head, queries=head.queries @ turn, keys=head.keys @ turn)
    options = exact(estimator=estimator, pairs=pairs)
    before, after = plasticity(head, options), plasticity(turned, options)
    np.testing.assert_allclose(after.profile.values, before.profile.values, rtol=0, atol=1e-9)


@settings(max_examples=25, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10_000), estimator=st.sampled_from(ESTIMATORS), drift=st.floats(0, 100))
def test_plasticity_lies_between_zero_and_one(seed: int, estimator: str, drift: float) -> None:
    head = head_with(seed=seed, queries=120, keys=40, drift=drift)
    profile = plasticity(head, PlasticityOptions(estimator=estimator, min_queries=5))
    values = profile.profile.values[profile.profile.present]
    most = 1.0 if estimator != "empirical" else (1 + 1 / (profile.queries[profile.profile.present].min() - 1))
    assert values.size
    assert (values >= 0).all()
    assert (values <= most + 1e-12).all()
    assert np.isnan(profile.profile.values[~profile.profile.present]).all()


@settings(max_examples=10, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_order_of_keys_and_queries_does_not_matter(seed: int) -> None:
    head = head_with(seed=seed, queries=120, keys=40)
    rng = np.random.default_rng(seed)
    keys, queries = rng.permutation(40), rng.permutation(120)
    rows = dict.fromkeys(("keys", "key_positions", "key_documents"), keys)
    rows |= dict.fromkeys(("queries", "query_positions", "query_documents"), queries)
    shuffled = replace(head, **{name: getattr(head, name)[order] for name, order in rows.items()})
    mirrored = replace(head, queries=-head.queries)
    expected = plasticity(head, exact()).profile.values
    np.testing.assert_allclose(plasticity(shuffled, exact()).profile.values, expected, rtol=0, atol=1e-10)
    # k1 and k2 change places when all scores change sign
    np.testing.assert_allclose(plasticity(mirrored, exact()).profile.values, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_queries_with_zero_mean_are_fully_plastic(estimator: str) -> None:
    head = head_with(seed=2, queries=200)
    positions, documents = np.tile(head.query_positions, 2), np.tile(head.query_documents, 2)
    queries = np.concatenate([head.queries, -head.queries])
    head = replace(head, queries=queries, query_positions=positions, query_documents=documents)
    profile = plasticity(head, exact(estimator=estimator))
    n = profile.queries[profile.profile.present]
    expected = n / (n - 1) if estimator == "empirical" else np.ones(n.size)
    np.testing.assert_allclose(profile.profile.values[profile.profile.present], expected, rtol=0, atol=1e-12)


def gaussian(
    drift: np.ndarray, positions: np.ndarray, keys: np.ndarray, key_positions: list[int], scales: np.ndarray
) -> Head:
    noise = np.random.default_rng(0).normal(size=(len(positions), drift.size)) * scales
    return Head(
        queries=noise + np.outer(positions, drift), query_positions=positions,
        query_documents=np.zeros(len(positions), dtype=np.int64), keys=keys, key_positions=np.array(key_positions),
        key_documents=np.zeros(len(keys), dtype=np.int64), context=1000, buckets=10, rotary=NO_ROTATION,
    )  # fmt: skip


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators_agree_with_simulated_gaussian_queries(estimator: str) -> None:
    rng = np.random.default_rng(1)
    positions = np.sort(rng.integers(0, 1000, 60_000))
    drift, keys = 0.002 * rng.normal(size=4), rng.normal(size=(3, 4))
    # a diagonal covariance in the drift's basis is exact for isotropic queries
    scales = np.ones(4) if estimator == "pooled_diag" else np.linspace(0.5, 2.0, 4)
    head = gaussian(drift, positions, keys, [3, 5, 9], scales)
    expected = []
    for b in range(10):
        tau = positions[positions * 10 // 1000 == b].mean()
        pair_values = []
        for i in range(3):
            for j in range(i):
                w = keys[i] - keys[j]
                p = stats.norm.cdf(tau * w @ drift / np.sqrt(np.sum((w * scales) ** 2)))
                pair_values.append(4 * p * (1 - p))
        expected.append(np.mean(pair_values))
    profile = plasticity(head, PlasticityOptions(estimator=estimator)).profile.values
    assert np.ptp(expected) > 0.3
    np.testing.assert_allclose(profile, expected, atol=0.02)


def test_plasticity_decays_like_one_over_position_when_only_the_drift_grows() -> None:
    # keys with evenly spread differences: the share of pairs not decided by the drift shrinks like 1 / t
    rng = np.random.default_rng(2)
    positions = np.sort(rng.integers(0, 1000, 8000))
    keys = rng.normal(size=(400, 4))
    head = gaussian(np.array([0.1, 0.0, 0.0, 0.0]), positions, keys, rng.integers(0, 40, 400).tolist(), np.ones(4))
    profile = plasticity(head, PlasticityOptions(estimator="pooled_full"))
    product = profile.profile.values[4:] * profile.taus[4:]
    assert np.ptp(product) < 0.04 * product.mean()
    assert profile.profile.values[9] < 0.1


def test_missing_values_are_counted_with_their_reason() -> None:
    head = head_with(seed=11, queries=300)
    head = replace(head, query_positions=np.where(head.query_positions < 200, 5, head.query_positions))
    profile = plasticity(head, PlasticityOptions(min_queries=30, pairs="same_bucket"))
    assert profile.profile.reasons[0] == "no eligible pair of keys"
    assert profile.profile.reasons[1] == "0 queries, 30 needed"
    assert np.isnan(profile.taus[1])
    assert not profile.profile.present[:2].any()
    assert profile.profile.present[2:].all()
    assert profile.profile.counts[:2].tolist() == [0, 0]
    strict = plasticity(head, PlasticityOptions(min_queries=1000))
    assert set(strict.profile.reasons[2:]) <= {f"{n} queries, 1000 needed" for n in strict.queries}
    assert not strict.profile.present.any()


def test_equal_keys_and_directions_without_variance_are_excluded_and_counted() -> None:
    head = head_with(seed=12, dimension=5)
    queries, keys = head.queries.copy(), head.keys.copy()
    queries[:, 4] = 3.0
    keys[1::4] = keys[0]
    keys[2::4, :4] = keys[2, :4]
    head = replace(head, queries=queries, keys=keys)
    for estimator in ("bucket_full", "bucket_diag", "pooled_full"):
        expected = reference(head, estimator, "earlier", bins=8, min_queries=10)
        for precision in ("single", "double"):
            profile = plasticity(head, exact(estimator=estimator, precision=precision))
            assert (
                list(zip(profile.same_key.tolist(), profile.no_variance.tolist(), strict=True)) == expected["left_out"]
            )
            assert profile.no_variance.sum() > 0
            assert profile.same_key.sum() > 0
            close = 1e-10 if precision == "double" else 1e-6
            np.testing.assert_allclose(profile.profile.values, expected["profile"], rtol=0, atol=close)
            counted = profile.profile.counts + profile.same_key + profile.no_variance
            assert counted[profile.profile.present].tolist() == profile.eligible[profile.profile.present].tolist()


def test_bin_whose_pairs_are_all_excluded_is_missing() -> None:
    head = head_with(seed=13)
    profile = plasticity(replace(head, keys=np.ones_like(head.keys)), exact())
    assert not profile.profile.present.any()
    assert profile.profile.reasons[7] == f"all {profile.eligible[7]} pairs left out"
    assert profile.same_key.tolist() == profile.eligible.tolist()


def test_ties_count_as_half_in_the_distribution_free_estimator() -> None:
    rng = np.random.default_rng(3)
    head = head_with(seed=14)
    queries, keys = (rng.integers(-1, 2, rows.shape) * 1.0 for rows in (head.queries, head.keys))
    tied = replace(head, queries=queries, keys=keys)
    options = exact(estimator="empirical")
    expected = reference(tied, "empirical", "earlier", bins=8, min_queries=10)
    ties = np.mean(tied.queries @ (tied.keys[0] - tied.keys[1]) == 0)
    assert ties > 0.05
    np.testing.assert_allclose(plasticity(tied, options).profile.values, expected["profile"], rtol=0, atol=1e-12)


def test_error_of_a_capped_sample_is_its_spread_over_seeds() -> None:
    head = head_with(seed=16, keys=300, queries=400)
    expected = plasticity(head, exact()).profile.values[7]
    samples = [plasticity(head, exact(cap=60, seed=seed)) for seed in range(40)]
    values = np.array([sample.profile.values[7] for sample in samples])
    errors = np.array([sample.error[7] for sample in samples])
    assert np.std(values) == pytest.approx(errors[0], rel=0.35)
    assert np.count_nonzero(np.abs(values - expected) < 2 * errors) >= 34


def test_gap_to_counting_is_small_only_with_full_covariance() -> None:
    head = head_with(seed=17, queries=4000, keys=100, dimension=4)
    gaps = {gap.estimator: gap for gap in gaps_to_empirical(head, PlasticityOptions(), pairs_per_bin=200)}
    assert set(gaps) == {"aligned_full", "bucket_full", "pooled_full", "pooled_diag", "bucket_diag"}
    full, diagonal = gaps["bucket_full"], gaps["bucket_diag"]
    assert full.by_pair.value is not None
    assert diagonal.by_pair.value is not None
    assert full.by_pair.value < 0.03 < diagonal.by_pair.value
    assert full.by_bin.value is not None
    assert full.by_bin.value < 0.01
    assert full.by_pair.count == diagonal.by_pair.count
    assert full.by_bin.count == 8
    few = gaps_to_empirical(head, PlasticityOptions(min_queries=10**6))
    assert [gap.by_pair.value for gap in few] == [None] * 5
    assert few[0].by_bin.reason == "no query bin has a pair"


def test_householder_reflection_has_the_direction_as_its_first_axis() -> None:
    rng = np.random.default_rng(0)
    nearly = np.array([1.0, 1e-9, 0.0])
    for direction in (rng.normal(size=5), nearly, -nearly, np.array([3.0, 0.0]), np.array([-3.0, 0.0])):
        basis = householder(direction)
        np.testing.assert_allclose(basis[:, 0], direction / np.linalg.norm(direction), atol=1e-15)
        np.testing.assert_allclose(basis @ basis, np.eye(direction.size), atol=1e-14)
    np.testing.assert_array_equal(householder(np.zeros(3)), np.eye(3))


def test_dominant_drift_keeps_the_digits_of_the_residual() -> None:
    head = head_with(seed=18, drift=1e6)
    profile = plasticity(head, exact(estimator="pooled_full"))
    expected = reference(head, "pooled_full", "earlier", bins=8, min_queries=10)
    np.testing.assert_allclose(profile.profile.values, expected["profile"], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"estimator": "bucket"}, "estimator 'bucket'; give one of aligned_full, bucket_full"),
        ({"pairs": "later"}, "pairs 'later'; give one of earlier"),
        ({"precision": "half"}, "give one of single, double"),
        ({"min_queries": 1}, "a covariance needs at least 2"), ({"bins": 0}, "give at least one of each"),
        ({"cap": 1}, "a standard error needs at least 2"),
    ],
)  # fmt: skip
def test_options_out_of_range_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PlasticityOptions(**changes)


@pytest.mark.parametrize("cells", [(16, 16), (7, 9)])
def test_cells_that_do_not_divide_the_context_hold_the_right_pairs(cells: tuple[int, int]) -> None:
    head = head_with(seed=21, keys=1200, documents=20, queries=400, context=1000, buckets=10)
    expected = plasticity(head, PlasticityOptions(cells=cells)).sums
    # the same pairs, listed: their distance uses integer division
    listed = plasticity(head, PlasticityOptions(cells=cells, cap=10**9)).sums
    np.testing.assert_array_equal(expected.map_count, listed.map_count)
    np.testing.assert_array_equal(expected.count, listed.count)
    assert expected.map_count.sum() > 50_000
    queries, keys = head.query_bins(10), head.key_positions
    counts = np.zeros(cells)
    for bin_ in np.flatnonzero(np.bincount(queries, minlength=10) >= 30):
        total, n = int(head.query_positions[queries == bin_].sum()), int((queries == bin_).sum())
        for document in range(20):
            early = [t for t in keys[head.key_documents == document].tolist() if t * n < total]
            for one, other in itertools.combinations(early, 2):
                # mean query position minus mean key position, total / n - (one + other) / 2, in integers
                behind = (2 * total - n * (one + other)) * cells[1] // (2 * n * 1000)
                counts[abs(one - other) * cells[0] // 1000, behind] += 1
    np.testing.assert_array_equal(expected.map_count, counts)


def test_memory_does_not_grow_with_the_pairs_of_a_long_document() -> None:
    """Of 131,072 keys, 7,960 compete in the first bin; an array with all of their pairs would take 250 MB."""
    n, rng = 131_072, np.random.default_rng(0)
    head = Head(
        queries=rng.normal(size=(200, 4)).astype(np.float32), query_positions=np.arange(200) * 80,
        query_documents=np.zeros(200, dtype=np.int64), keys=rng.normal(size=(n, 4)).astype(np.float32),
        key_positions=np.arange(n), key_documents=np.zeros(n, dtype=np.int64), context=n, buckets=8,
        rotary=NO_ROTATION,
    )  # fmt: skip
    small = replace(head, keys=head.keys[:500], key_positions=np.arange(500), key_documents=np.zeros(500, dtype=int))
    plasticity(small, PlasticityOptions(bins=8))  # compilation is not counted
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    profile = plasticity(head, PlasticityOptions(bins=8))
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert profile.profile.counts.sum() > 30_000_000
    assert growth < 100e6


def test_counting_in_single_precision_is_exact() -> None:
    """Keys that differ only in their last bits are ordered as in double precision, ties included."""
    head = head_with(seed=22, queries=600, keys=120, dimension=16, documents=3)
    keys = head.keys.astype(np.float32)
    keys[60:] = keys[:60] + np.float32(2e-7) * np.sign(head.keys[60:]).astype(np.float32)
    documents = np.r_[head.key_documents[:60], head.key_documents[:60]]
    queries = head.queries.astype(np.float32)
    queries[::7] = 0.0
    head = replace(head, queries=queries, keys=keys, key_documents=documents)
    profile = plasticity(head, exact(estimator="empirical", precision="single"))
    expected = reference(head, "empirical", "earlier", bins=8, min_queries=10)
    assert profile.profile.counts.tolist() == expected["counts"]
    np.testing.assert_allclose(profile.profile.values, expected["profile"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("exponent", [0, 38, -100])  # a head accepts values up to 1e12
def test_listed_pairs_are_counted_exactly(exponent: int) -> None:
    """Scores of small integers are often equal, and are exact in double precision for every scale of the queries."""
    rng = np.random.default_rng(24)
    integer_queries, keys = rng.integers(-2, 3, size=(700, 4)), rng.integers(-2, 3, size=(60, 4))
    integer_queries[rng.random(700) < 0.1] = 0
    head = Head(
        queries=np.ldexp(integer_queries.astype(np.float32), exponent),
        query_positions=np.full(700, 900) + np.arange(700) // 10, query_documents=np.zeros(700, dtype=np.int64),
        keys=keys.astype(np.float32), key_positions=np.arange(60) * 10, key_documents=np.zeros(60, dtype=np.int64),
        context=1000, buckets=1, rotary=NO_ROTATION,
    )  # fmt: skip
    shared = bin_and_group(head, PlasticityOptions())
    later, earlier = np.tril_indices(60, -1)
    counted, same_key = counted_pairs(shared.keys, later, earlier, shared.queries, 0)
    for pair, (i, j) in enumerate(zip(later, earlier, strict=True)):
        gaps = integer_queries @ (keys[i] - keys[j])
        p = ((gaps > 0).sum() + 0.5 * (gaps == 0).sum()) / 700
        assert counted[pair] == pytest.approx(4 * p * (1 - p) * 700 / 699, abs=1e-12)
        assert same_key[pair] == (keys[i] == keys[j]).all()
    assert same_key.any()
    assert not same_key.all()


@pytest.mark.parametrize("estimator", ["bucket_full", "pooled_full"])
def test_nearly_collinear_queries_are_computed_in_double_precision(estimator: str) -> None:
    head = head_with(seed=23, queries=900, keys=200, dimension=8)
    queries = head.queries.astype(np.float32)
    queries[:, 7] = queries[:, 0] + np.float32(1e-3) * queries[:, 7]  # a near copy
    head = replace(head, queries=queries, keys=head.keys.astype(np.float32))
    profile = plasticity(head, PlasticityOptions(estimator=estimator))
    expected = plasticity(head, PlasticityOptions(estimator=estimator, precision="double"))
    np.testing.assert_allclose(profile.profile.values, expected.profile.values, rtol=0, atol=1e-6)
    moments = class_moments(head.queries, head.query_positions, "single")
    law, law_in_double = pooled_law(head, "pooled_full", None, "single"), pooled_law(head, "pooled_full")
    np.testing.assert_array_equal(law.factor, law_in_double.factor)
    assert (moments.covariance != class_moments(head.queries, head.query_positions).covariance).any()
