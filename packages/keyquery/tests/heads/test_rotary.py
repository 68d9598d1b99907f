"""Aligned queries, which are rotated to one position of their bin, differ only by content, for every bin width."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from keyquery.heads.gap import gaps_to_empirical
from keyquery.heads.head import Head
from keyquery.heads.laws import binned
from keyquery.heads.plasticity import PlasticityOptions, plasticity
from keyquery.rotary import NO_ROTATION, Rotary, bin_centres, from_record, from_theta, rotation_records

CONTEXT, BINS, DOCUMENTS, D = 512, 8, 400, 12
FAST = Rotary(frequencies=(1.0, 0.4, 0.15, 0.05))  # rotates eight of the twelve dimensions
KINDS = (
    FAST,
    replace(FAST, layout="interleaved"),
    replace(FAST, start=4),  # the last dimensions are rotated
    replace(FAST, layout="interleaved", start=2, factor=1.3),
    Rotary(frequencies=(0.7,)),
    NO_ROTATION,
)


def matrix(rotary: Rotary, t: float, d: int = D) -> np.ndarray:
    """Return the rotation matrix for position `t` by definition, plane by plane, not multiplied by `rotary.factor`."""
    turn = np.eye(d)
    m = len(rotary.frequencies)
    for p, frequency in enumerate(rotary.frequencies):
        i, j = (p, p + m) if rotary.layout == "half" else (2 * p, 2 * p + 1)
        i, j = rotary.start + i, rotary.start + j
        c, s = np.cos(t * frequency), np.sin(t * frequency)
        turn[[i, i, j, j], [i, j, i, j]] = (c, -s, s, c)
    return turn


def planted_head(rotary: Rotary, width: int, shift: int = 0, kind: type = np.float64, seed: int = 0) -> Head:
    """Return a head with position-independent content and one query per bin and text, in the bin's middle tokens."""
    rng = np.random.default_rng(seed)
    mixing, mean = rng.normal(size=(D, D)) / np.sqrt(D), 0.8 * rng.normal(size=D)
    middles = bin_centres(CONTEXT, BINS)
    positions = np.random.default_rng(width).integers(width, size=(DOCUMENTS, BINS)) - width // 2 + middles
    content = rng.normal(size=(DOCUMENTS, BINS, D)) @ mixing + mean
    key_positions = np.sort(rng.permuted(np.tile(np.arange(CONTEXT), (DOCUMENTS, 1)), axis=1)[:, :12])
    keys = rng.normal(size=(DOCUMENTS, 12, D))

    def rotated(rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
        flat = rotary.turned(rows.reshape(-1, D), positions.ravel() + shift)
        flat[:, rotary.start : rotary.end] *= rotary.factor
        return flat.astype(kind)

    return Head(
        queries=rotated(content, positions), query_positions=positions.ravel() + shift,
        query_documents=np.repeat(np.arange(DOCUMENTS), BINS), keys=rotated(keys, key_positions),
        key_positions=key_positions.ravel() + shift, key_documents=np.repeat(np.arange(DOCUMENTS), 12),
        context=CONTEXT + shift, buckets=BINS if not shift else (CONTEXT + shift) * BINS // CONTEXT, rotary=rotary,
    )  # fmt: skip


def profile(head: Head, **options) -> np.ndarray:
    return plasticity(head, PlasticityOptions(pairs="earlier_bucket", **options)).profile.values


@pytest.mark.parametrize("rotary", KINDS)
def test_turn_matches_the_definition_of_the_rotation(rotary):
    rng = np.random.default_rng(1)
    rows, tokens = rng.normal(size=(50, D)), rng.integers(-300, 300, 50)
    expected = np.stack([matrix(rotary, t) @ row for t, row in zip(tokens, rows, strict=True)])
    np.testing.assert_allclose(rotary.turned(rows, tokens), expected, atol=1e-12)
    single = rotary.turned(rows.astype(np.float32), tokens)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=2e-6)
    np.testing.assert_allclose(rotary.turned(rotary.turned(rows, tokens), -tokens), rows, atol=1e-12)
    assert from_record(rotary.record()) == rotary


@pytest.mark.parametrize("rotary", KINDS)
def test_plasticity_of_aligned_queries_does_not_depend_on_the_bin_width(rotary):
    """Content does not depend on position, so aligned bins of any width agree up to rounding."""
    exact = profile(planted_head(rotary, 1))
    for width in (2, 8, 64):
        np.testing.assert_allclose(profile(planted_head(rotary, width)), exact, atol=1e-9)


@pytest.mark.parametrize("rotary", KINDS[:4])
def test_pooled_bins_count_the_rotation_as_content(rotary):
    exact, pooled = profile(planted_head(rotary, 1)), profile(planted_head(rotary, 64), estimator="bucket_full")
    assert np.nanmin(pooled - exact) > 0.02


@pytest.mark.parametrize("width", [1, 16])
def test_aligned_and_captured_queries_are_equal_without_rotation(width):
    head = planted_head(NO_ROTATION, width)
    np.testing.assert_array_equal(profile(head), profile(head, estimator="bucket_full"))


@pytest.mark.parametrize("rotary", KINDS)
def test_single_positions_agree_with_brute_force(rotary):
    """Queries at one position need no rotation, so a loop over pairs gives the expected values."""
    head = planted_head(rotary, 1)
    actual = profile(head)
    query_bins = head.query_bins(BINS)
    for bin_ in (3, 7):
        rows = head.queries[query_bins == bin_]
        mean, covariance = rows.mean(axis=0), np.cov(rows.T)
        start, values = bin_ * CONTEXT // BINS, []
        for document in range(DOCUMENTS):
            keys = head.keys[(head.key_documents == document) & (head.key_positions < start)]
            for i in range(len(keys)):
                for j in range(i):
                    w = keys[i] - keys[j]
                    p = ndtr(w @ mean / np.sqrt(w @ covariance @ w))
                    values.append(4 * p * (1 - p))
        assert actual[bin_] == pytest.approx(np.mean(values), abs=1e-6)  # products in single precision


@pytest.mark.parametrize("rotary", KINDS)
def test_shift_of_all_positions_leaves_plasticity_unchanged(rotary):
    """Plasticity depends only on distances, so a shift by three bins moves its profile by three bins."""
    shift = CONTEXT // BINS * 3
    base, shifted = profile(planted_head(rotary, 16)), profile(planted_head(rotary, 16, shift=shift))
    np.testing.assert_allclose(shifted[3:], base, atol=1e-9)


def test_single_precision_is_close_to_double():
    for width in (1, 64):
        np.testing.assert_allclose(
            profile(planted_head(FAST, width, kind=np.float32)), profile(planted_head(FAST, width)), atol=2e-5
        )


def test_wrong_rotation_changes_the_plasticity_of_wide_bins():
    """With opposite angles or wrong pairs of dimensions, plasticity in wide bins differs from that in narrow bins."""
    head = planted_head(FAST, 64)
    exact = profile(planted_head(FAST, 1))
    for wrong in (
        replace(FAST, frequencies=tuple(-frequency for frequency in FAST.frequencies)),
        replace(FAST, layout="interleaved"),
        replace(FAST, start=4),
    ):
        assert np.nanmax(np.abs(profile(replace(head, rotary=wrong)) - exact)) > 0.02


def test_law_of_aligned_queries_agrees_with_a_count():
    gaps = {gap.estimator: gap.by_bin.value for gap in gaps_to_empirical(planted_head(FAST, 64), pairs_per_bin=300)}
    assert set(gaps) == {"aligned_full", "bucket_full", "pooled_full", "pooled_diag", "bucket_diag"}
    assert gaps["aligned_full"] < 0.01
    assert "aligned_full" not in {
        gap.estimator for gap in gaps_to_empirical(replace(planted_head(FAST, 64), rotary=None))
    }


def test_a_head_of_unknown_rotation_is_refused_by_name():
    head = replace(planted_head(FAST, 8), rotary=None)
    with pytest.raises(ValueError, match=r"rotation of this head is unknown.*NO_ROTATION.*bucket_full"):
        plasticity(head)
    assert np.isfinite(profile(head, estimator="bucket_full")[1:]).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"frequencies": (np.nan,)}, "not finite"), ({"layout": "thirds"}, "give one of half, interleaved"),
        ({"start": -1}, "start -1"), ({"factor": 0.0}, "factor 0.0"),
    ],
)  # fmt: skip
def test_a_rotation_out_of_range_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(FAST, **changes)


def test_a_rotation_of_more_dimensions_than_there_are_is_refused():
    with pytest.raises(ValueError, match="covers 14 dimensions, but vectors have only 12"):
        replace(planted_head(FAST, 1), rotary=replace(FAST, start=6))


@pytest.mark.parametrize(("context", "bins"), [(512, 32), (100, 7), (9, 9), (17, 4)])
def test_centres_lie_in_their_bins(context, bins):
    middles = bin_centres(context, bins)
    np.testing.assert_array_equal(middles * bins // context, np.arange(bins))
    for bin_, middle in enumerate(middles):
        members = np.flatnonzero(np.arange(context) * bins // context == bin_)
        assert middle == members[len(members) // 2]


@pytest.mark.parametrize("rotary", KINDS[:5])
@pytest.mark.parametrize("step", [1, 3])
def test_turn_of_many_positions_matches_the_definition_with_and_without_the_compiler(rotary, step):
    """The positions, consecutive or every third, exceed the ranges of both tables of angles."""
    tokens = step * np.arange(-513, 897)  # the first token ends a row of the longer table, the last begins one
    rows = np.random.default_rng(4).normal(size=(len(tokens), D))
    expected = np.stack([matrix(rotary, t) @ row for t, row in zip(tokens, rows, strict=True)])
    for compiled in (True, False):
        np.testing.assert_allclose(rotary.turned(rows, tokens, compiled=compiled), expected, atol=1e-10)
    assert NO_ROTATION.turned(rows, tokens) is rows


def test_turning_a_whole_head_takes_no_more_than_a_second_copy_of_it():
    """Angles are computed bin by bin; the angles of all queries at once would take four times the queries' memory."""
    n, d, bins = 131_072, 64, 64
    rng, positions = np.random.default_rng(0), np.arange(n)
    head = Head(
        queries=rng.normal(size=(n, d)).astype(np.float32), query_positions=positions,
        query_documents=np.zeros(n, dtype=np.int64), keys=np.zeros((3, d), dtype=np.float32),
        key_positions=positions[:3], key_documents=np.zeros(3, dtype=np.int64), context=n, buckets=bins,
        rotary=from_theta(10_000.0, d),
    )  # fmt: skip
    binned(head, bins, aligned=True)  # compiles the functions, whose memory is not counted
    tracemalloc.start()
    turned = binned(head, bins, aligned=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert turned.queries.nbytes == head.queries.nbytes
    assert peak < 2 * head.queries.nbytes


def test_rotation_of_a_base_has_the_frequencies_of_its_pairs():
    rotary = from_theta(16.0, 8, layout="interleaved", start=2, factor=1.5)
    assert rotary == Rotary(frequencies=(1.0, 0.5, 0.25, 0.125), layout="interleaved", start=2, factor=1.5)
    assert (rotary.end, rotary.is_identity, NO_ROTATION.is_identity) == (10, False, True)
    assert (from_theta(2.0, 2).frequencies, from_theta(0.25, 4).frequencies) == ((1.0,), (1.0, 2.0))
    for base, d, message in ((0.0, 8, "base 0.0"), (np.inf, 8, "base inf"), (4.0, 0, "0 dim"), (4.0, 3, "3 dim")):
        with pytest.raises(ValueError, match=message):
            from_theta(base, d)


def test_layers_of_one_rotation_are_one_record():
    by_layer = {0: FAST, 1: "not known", 2: FAST, 3: NO_ROTATION}
    rotated, refused, unrotated = rotation_records(by_layer)
    assert (rotated["layers"], refused, unrotated["layers"]) == ([0, 2], {"layers": [1], "refused": "not known"}, [3])
    assert from_record(rotated) == FAST
