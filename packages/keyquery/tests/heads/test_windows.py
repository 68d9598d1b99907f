"""Heads with a window or chunks: keys outside a query's window or chunk do not compete for the query."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heads_reference import exact, head_with, reference, references
from keyquery.heads.exchange import exchanged_pairs
from keyquery.heads.gap import gaps_to_empirical
from keyquery.heads.laws import ESTIMATORS
from keyquery.heads.pairs import PAIR_MODES
from keyquery.heads.plasticity import PlasticityOptions, plasticity

WINDOWS = [(150, False), (37, False), (200, True), (130, True), (799, False)]


@pytest.mark.parametrize(("window", "chunks"), WINDOWS)
@pytest.mark.parametrize("pairs", PAIR_MODES)
def test_pairs_lie_within_the_window_of_a_query(window: int, chunks: bool, pairs: str) -> None:
    head = head_with(seed=3, keys=160, window=window, chunks=chunks)
    for estimator, expected in references(head, ESTIMATORS, pairs, bins=8, min_queries=10).items():
        actual = plasticity(head, exact(estimator=estimator, pairs=pairs))
        assert actual.profile.counts.tolist() == expected["counts"], estimator
        assert (actual.eligible - actual.same_key - actual.no_variance).tolist() == expected["counts"]
        np.testing.assert_allclose(actual.profile.values, expected["profile"], rtol=0, atol=1e-10)


def test_window_reduces_pairs_and_a_long_window_keeps_all() -> None:
    head = head_with(seed=3, keys=160)
    counts = {
        window: plasticity(replace(head, window=window), exact()).profile.counts.sum() for window in (37, 150, 800)
    }
    assert 0 < counts[37] < counts[150] < counts[800]
    assert counts[800] == plasticity(head, exact()).profile.counts.sum()


def test_maps_and_competition_hold_the_same_pairs() -> None:
    head = head_with(seed=6, keys=160, window=150)
    actual = plasticity(head, exact(cells=(16, 16)))
    assert actual.sums.count.sum() == actual.sums.map_count.sum() == actual.profile.counts.sum()
    far = 150 * 16 // 800 + 1
    assert actual.sums.count[:, far:].sum() == 0
    assert actual.sums.map_count[far:].sum() == actual.sums.map_count[:, far:].sum() == 0
    expected = reference(head, "aligned_full", "earlier", 8, 10)["records"]
    for bin_, (_, counted) in enumerate(expected):
        gaps = sum(abs(pair[2]) for pair in counted)
        assert actual.sums.mean_gap[bin_].sum() == pytest.approx(gaps, rel=1e-9)


def test_sample_as_large_as_all_pairs_equals_all_pairs() -> None:
    head = head_with(seed=6, keys=160, window=150)
    all_pairs, complete = plasticity(head, exact()), plasticity(head, exact(cap=10**6))
    np.testing.assert_allclose(all_pairs.profile.values, complete.profile.values, atol=1e-9)
    sampled = plasticity(head, exact(cap=20))
    assert sampled.profile.counts.max() == 20
    assert sampled.eligible.tolist() == all_pairs.eligible.tolist()


def test_pairs_of_exchange_and_gap_estimates_lie_within_the_window() -> None:
    head = head_with(seed=6, keys=160, window=150)
    pairs = exchanged_pairs(head, PlasticityOptions(min_queries=10), 10**6)
    assert pairs.gap.size == plasticity(head, exact()).profile.counts.sum()
    assert (pairs.nearer - pairs.farther).max() < 150
    assert all(gap.by_pair.value is not None for gap in gaps_to_empirical(head, exact(), prepared=None))


def test_window_without_two_keys_gives_a_reason() -> None:
    actual = plasticity(head_with(seed=6, keys=30, window=2), exact())
    assert set(actual.profile.reasons) == {"no eligible pair of keys"}


@pytest.mark.parametrize(
    ("window", "chunks", "message"), [(0, False, "a window of 0"), (None, True, "without a window")]
)
def test_invalid_windows_are_refused(window: int | None, chunks: bool, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        head_with(window=window, chunks=chunks)


@pytest.mark.models
def test_window_of_a_captured_layer_is_used_in_its_analysis(tmp_path: Path) -> None:
    """Sliding and full-attention layers of one model are captured and analysed with their own masks."""
    pytest.importorskip("torch")
    from captures_made import captured
    from keyquery.measure.heads.finding import analyse
    from keyquery.models.captures.reading import open_capture
    from models_tiny import saved, text

    model = saved("ministral", tmp_path / "model")
    capture = captured(model, tmp_path / "made", lambda seed: text(70, seed), texts=12, rate=16.0, sliding=True)
    assert [capture.window(layer) for layer in range(3)] == [(5, False), (None, False), (5, False)]
    settings = PlasticityOptions(bins=4, min_queries=10)
    pairs = {head.layer: sum(row["pairs"] for row in analyse(capture, head, settings).bins) for head in capture.heads}
    # 12 texts, 4 bins centred at 7.5, 23.5, 39.5 and 55.5; all 5 tokens of the window are before the centre
    assert pairs[0] == pairs[2] == 12 * 4 * (5 * 4 // 2)
    assert pairs[1] == 12 * sum(n * (n - 1) // 2 for n in (8, 24, 40, 56))
    (capture.root / "manifest.json").unlink()
    without_manifest = open_capture(capture.root)
    assert [without_manifest.window(layer) for layer in range(3)] == [(5, False), (None, False), (5, False)]
