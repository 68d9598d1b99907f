"""Aggregates of a profile, means over heads, and missing values."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from heads_reference import head_with
from keyquery.heads.aggregate import bimodality, over_heads
from keyquery.heads.missing import BinnedValues, Scalar, weighted_mean
from keyquery.heads.plasticity import Plasticity, PlasticityOptions, plasticity
from keyquery.heads.summary import summarise


def profile_of(context: int, values: list[float | None], queries: list[int], taus: list[float]) -> Plasticity:
    """Return a plasticity result with a given profile."""
    profile = plasticity(head_with(seed=0), PlasticityOptions(min_queries=10))
    numbers = np.array([np.nan if value is None else value for value in values])
    reasons = tuple("few queries" if value is None else "" for value in values)
    row = BinnedValues(numbers, np.ones(len(values), dtype=np.int64), reasons)
    return replace(profile, context=context, profile=row, queries=np.array(queries), taus=np.array(taus))


def test_aggregates_weight_bins_by_their_queries() -> None:
    # two bins in decile 0, no bin in decile 4, one bin in each other decile
    taus = [2.0, 8.0, 15.0, 25.0, 35.0, 55.0, 65.0, 75.0, 85.0, 95.0]
    values = [0.9, 0.6, 0.8, 0.7, 0.7, 0.6, 0.5, 0.4, 0.3, None]
    queries = [30, 10, 20, 20, 20, 20, 20, 20, 20, 5]
    aggregates = summarise(profile_of(100, values, queries, taus))
    assert aggregates.deciles.values[0] == pytest.approx((30 * 0.9 + 10 * 0.6) / 40)
    assert aggregates.deciles.counts.tolist() == [2, 1, 1, 1, 0, 1, 1, 1, 1, 0]
    assert aggregates.deciles.reasons[4] == "no query bin centred in 40-50 tokens"
    assert aggregates.deciles.reasons[9] == "few queries"
    assert aggregates.ap_overall.value == pytest.approx(np.average(values[:9], weights=queries[:9]))
    assert aggregates.ap_first_20.value == pytest.approx((0.825 + 0.8) / 2)
    assert (aggregates.ap_last_20.value, aggregates.ap_last_20.count) == (pytest.approx(0.3), 1)
    assert aggregates.ap_drop.value == pytest.approx(0.8125 - 0.3)
    assert aggregates.lengths.values[0] == pytest.approx(aggregates.ap_overall.value)
    assert aggregates.lengths.reasons[1] == "no query bin centred in 8192-16384 tokens"


def test_aggregates_without_a_value_state_the_reason() -> None:
    aggregates = summarise(profile_of(100, [0.5, None], [50, 9], [5.0, 95.0]))
    assert aggregates.ap_first_20.value == 0.5
    assert aggregates.ap_last_20 == Scalar(None, 0, "deciles 8, 9 have no value")
    assert aggregates.ap_drop == Scalar(None, 0, "deciles 8, 9 have no value")
    empty = summarise(profile_of(100, [None, None], [9, 9], [5.0, 95.0]))
    assert empty.ap_overall == Scalar(None, 0, "no query bin has a value")


def test_length_bins_split_the_published_context() -> None:
    middles = [(bucket + 0.5) * 8192 for bucket in range(16)]
    values: list[float | None] = [0.9 - 0.02 * bucket for bucket in range(16)]
    aggregates = summarise(profile_of(131072, values, [500] * 16, middles))
    assert aggregates.lengths.counts.tolist() == [1, 1, 2, 4, 8]
    assert aggregates.lengths.values[4] == pytest.approx(np.mean([0.9 - 0.02 * bucket for bucket in range(8, 16)]))
    assert aggregates.deciles.counts.tolist() == [2, 1, 2, 1, 2, 2, 1, 2, 1, 2]
    assert aggregates.ap_drop.value == pytest.approx(
        aggregates.deciles.values[:2].mean() - aggregates.deciles.values[8:].mean()
    )


def test_missing_values_require_a_reason() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        BinnedValues(np.array([1.0, np.nan]), np.array([1, 0]), ("", ""))
    with pytest.raises(ValueError, match="needs a reason"):
        BinnedValues(np.array([1.0]), np.array([1]), ("few",))
    with pytest.raises(ValueError, match="differ in length"):
        BinnedValues(np.array([1.0]), np.array([1]), ())
    with pytest.raises(ValueError, match="give either a value or a reason"):
        Scalar(None, 0)
    with pytest.raises(ValueError, match="give None for a missing value"):
        Scalar(float("nan"), 0)
    row = BinnedValues(np.array([1.0, np.nan, 4.0]), np.array([3, 0, 2]), ("", "few", ""))
    all_bins = np.ones(3, dtype=np.bool_)
    assert weighted_mean(row, np.array([1.0, 5.0, 2.0]), all_bins, "none").value == pytest.approx(3.0)
    assert weighted_mean(row, np.array([1.0, 5.0, 2.0]), ~row.present, "none").reason == "none"


def test_means_over_heads_leave_missing_heads_out_and_count_them() -> None:
    values = np.array([[0.1, np.nan, np.nan], [0.3, 0.5, np.nan], [0.5, 0.7, np.nan], [0.7, 0.2, np.nan]])
    means = over_heads(values, [(0, 0), (0, 0), (0, 1), (1, 0)])
    np.testing.assert_allclose(means.mean.values[:2], [0.4, np.mean([0.5, 0.7, 0.2])])
    assert means.mean.counts.tolist() == [4, 3, 0]
    assert means.mean.reasons == ("", "", "no head has a value")
    assert means.sd.values[0] == pytest.approx(np.std([0.1, 0.3, 0.5, 0.7], ddof=1))
    assert means.bimodality.reasons[1] == "fewer than four heads, or all of them alike"
    assert means.clusters == 3
    assert means.low.reasons[2] == "fewer than two key heads have a value"
    assert means.low.values[0] < 0.4 < means.high.values[0]


def test_cluster_bootstrap_equals_a_bootstrap_of_rows() -> None:
    values = np.concatenate([np.random.default_rng(1).gamma(2.0, size=40), [np.nan]])[:, None]
    clusters = [row_number // 2 for row_number in range(41)]
    resampled = over_heads(values, clusters, draws=300, seed=5)
    index = (np.random.default_rng(5).random((300, 21)) * 21).astype(int)
    members = [values[2 * unit : 2 * unit + 2, 0] for unit in range(21)]
    means = [np.nanmean(np.concatenate([members[unit] for unit in row])) for row in index]
    assert resampled.low.values[0] == pytest.approx(np.quantile(means, 0.025))
    assert resampled.high.values[0] == pytest.approx(np.quantile(means, 0.975))
    assert over_heads(values, clusters).low.counts.tolist() == [2000]


def test_interval_over_few_key_heads_is_from_student_t() -> None:
    values = np.random.default_rng(2).normal(3, 1, (8, 1500))
    means = over_heads(values, list(range(8)), draws=50)
    low, high = stats.t.interval(0.95, 7, values[:, 0].mean(), stats.sem(values[:, 0]))
    assert (means.low.values[0], means.high.values[0]) == pytest.approx((low, high))
    assert means.low.counts[0] == 8
    covered = np.mean((means.low.values < 3) & (means.high.values > 3))
    assert covered == pytest.approx(0.95, abs=0.0225)  # four standard errors below .95; a bootstrap covers .88
    # four copies of a head in one cluster count as one head
    copied = over_heads(np.repeat(values[:, :1], 4, axis=0), [row_number // 4 for row_number in range(32)])
    assert (copied.low.values[0], copied.high.values[0]) == pytest.approx((low, high))


def test_bimodality_distinguishes_two_groups_from_one() -> None:
    rng = np.random.default_rng(0)
    assert bimodality(rng.normal(size=20_000)) == pytest.approx(1 / 3, abs=0.02)
    assert bimodality(rng.uniform(size=20_000)) == pytest.approx(5 / 9, abs=0.02)
    assert bimodality(np.r_[rng.normal(0.9, 0.05, 500), rng.normal(0.25, 0.05, 500)]) > 0.8
    sample = rng.gamma(2.0, size=50)
    skewness, kurtosis = stats.skew(sample, bias=False), stats.kurtosis(sample, bias=False)
    assert bimodality(sample) == pytest.approx((skewness**2 + 1) / (kurtosis + 3 * 49**2 / (48 * 47)))
    assert np.isnan(bimodality(np.ones(9)))
    assert np.isnan(bimodality(np.arange(3.0)))


@pytest.mark.parametrize(
    ("values", "clusters", "draws", "message"),
    [
        (np.ones((2, 1)), ["a"], 10, "with 1 clusters"), (np.ones(2), ["a", "b"], 10, "give \\(heads, columns\\)"),
        (np.full((1, 1), np.inf), ["a"], 10, "infinite"), (np.ones((1, 1)), ["a"], 0, "at least one draw"),
    ],
)  # fmt: skip
def test_tables_of_heads_that_do_not_fit_are_refused(
    values: np.ndarray, clusters: list[str], draws: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        over_heads(values, clusters, draws=draws)
