"""Exchange of positions: planted effects of position and of content are recovered."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from keyquery.heads.exchange import exchange, exchanged_pairs, opposite_signs
from keyquery.heads.head import Head
from keyquery.heads.plasticity import PlasticityOptions, plasticity
from keyquery.rotary import NO_ROTATION, Rotary, bin_centres

CONTEXT, BINS, DOCUMENTS, KEYS, D = 256, 8, 300, 16, 10
ROTARY = Rotary(frequencies=(0.02, 0.9))  # rotates four of ten dimensions; the first pair by 5 radians over the context
OPTIONS = PlasticityOptions(pairs="earlier_bucket")


def planted_head(
    rotary: Rotary, width: int, *, position: float, content: float, drift: float = 0.0, seed: int = 0
) -> Head:
    """Return a head whose scores are the sum of a content and a position term.

    Rotated dimensions have the same vector in every query and key, so that their score is `position` times the cosine
    of the angle for the distance. Dimension 4 of a key is its preference, scaled by `content`, and dimension 5 drifts
    with its position by `drift` per token. Queries vary only in dimensions from 6 on.
    """
    rng = np.random.default_rng(seed)
    middles = bin_centres(CONTEXT, BINS)
    query_positions = np.random.default_rng(width).integers(width, size=(DOCUMENTS, BINS)) - width // 2 + middles
    key_positions = np.sort(rng.permuted(np.tile(np.arange(CONTEXT), (DOCUMENTS, 1)), axis=1)[:, :KEYS])
    queries, keys = np.zeros((DOCUMENTS, BINS, D)), np.zeros((DOCUMENTS, KEYS, D))
    queries[..., 0], keys[..., 0] = position, 1.0
    queries[..., 4], keys[..., 4] = 1.0, content * rng.normal(size=keys.shape[:2])
    queries[..., 5], keys[..., 5] = 1.0, drift * key_positions
    queries[..., 6:], keys[..., 6:] = rng.normal(size=(DOCUMENTS, BINS, 4)), rng.normal(size=(DOCUMENTS, KEYS, 4))
    return Head(
        queries=rotary.turned(queries.reshape(-1, D), query_positions.ravel()), query_positions=query_positions.ravel(),
        query_documents=np.repeat(np.arange(DOCUMENTS), BINS),
        keys=rotary.turned(keys.reshape(-1, D), key_positions.ravel()), key_positions=key_positions.ravel(),
        key_documents=np.repeat(np.arange(DOCUMENTS), KEYS), context=CONTEXT, buckets=BINS, rotary=rotary,
    )  # fmt: skip


@pytest.mark.parametrize("width", [1, 4, 32])
def test_exchange_recovers_planted_position_and_content_at_every_width(width):
    """A pair's position part is the difference of its planted cosines; the content part, of its planted preferences."""
    pairs = exchanged_pairs(planted_head(ROTARY, width, position=3.0, content=0.7), OPTIONS, 400)
    distances = [pairs.centre - positions for positions in (pairs.nearer, pairs.farther)]
    planted = 3.0 * (np.cos(0.02 * distances[0]) - np.cos(0.02 * distances[1]))
    # means over 300 queries, whose varying dimensions have means near 0
    np.testing.assert_allclose((pairs.gap - pairs.gap_exchanged) / 2, planted, atol=1e-9)
    content = (pairs.gap + pairs.gap_exchanged) / 2
    assert np.std(content) == pytest.approx(0.7 * np.sqrt(2), rel=0.15)
    np.testing.assert_allclose(pairs.variance, pairs.variance_exchanged, rtol=1e-9)


@pytest.mark.parametrize("width", [1, 32])
@pytest.mark.parametrize("position", [0.0, 1.0, 4.0, -4.0])
def test_crowding_grows_with_the_planted_position_effect(width, position):
    actual = exchange(exchanged_pairs(planted_head(ROTARY, width, position=position, content=0.5), OPTIONS, 400))
    if position == 0:
        assert actual.position_part == pytest.approx(0, abs=1e-12)
        assert actual.sway == pytest.approx(0, abs=1e-12)
        return
    weak = exchange(exchanged_pairs(planted_head(ROTARY, width, position=position / 2, content=0.5), OPTIONS, 400))
    assert actual.position_part == pytest.approx(2 * weak.position_part, rel=1e-6)
    assert actual.sway > weak.sway > 0
    assert actual.plasticity < weak.plasticity


@pytest.mark.parametrize("width", [1, 4, 32])
def test_without_rotation_the_position_part_is_zero_and_the_drift_is_the_linear_slope(width):
    """Without rotation the position part is 0, and a planted drift is the slope over the keys' distances."""
    pairs = exchanged_pairs(planted_head(NO_ROTATION, width, position=2.0, content=0.0, drift=0.03), OPTIONS, 400)
    assert not pairs.sway.any()
    np.testing.assert_array_equal(pairs.gap, pairs.gap_exchanged)
    actual = exchange(pairs)
    assert (actual.position_part, actual.probability_change) == (0, 0)
    assert actual.linear_slope == pytest.approx(0.03, rel=0.05)
    assert actual.linear_share > 0.9
    assert actual.nearer_wins > 0.65
    assert (
        exchange(exchanged_pairs(planted_head(NO_ROTATION, width, position=2.0, content=1.0), OPTIONS)).linear_share
        < 0.02
    )


def test_the_law_agrees_with_counting_queries():
    """Compare the law with the share of queries whose winner changes when the two keys change places."""
    head = planted_head(ROTARY, 1, position=1.5, content=0.6)
    pairs = exchanged_pairs(head, OPTIONS, 50)
    for bin_ in (3, 6):
        queries = head.queries[head.query_bins(BINS) == bin_]
        rows = np.flatnonzero(pairs.bin == bin_)
        changed = []
        for row in rows:
            documents = [
                set(head.key_documents[head.key_positions == t]) for t in (pairs.nearer[row], pairs.farther[row])
            ]
            for document in documents[0] & documents[1]:
                near, far = (
                    head.keys[(head.key_documents == document) & (head.key_positions == t)][0]
                    for t in (pairs.nearer[row], pairs.farther[row])
                )
                if not np.isclose(np.mean(queries @ (near - far)), pairs.gap[row]):
                    continue
                shift = np.array([pairs.nearer[row] - pairs.farther[row]])
                moved = ROTARY.turned(near[None], -shift)[0] - ROTARY.turned(far[None], shift)[0]
                changed.append(np.mean((queries @ (near - far) > 0) != (queries @ moved > 0)))
                break
        assert len(changed) == len(rows)
        np.testing.assert_allclose(pairs.sway[rows], changed, atol=0.12)
        assert np.mean(pairs.sway[rows]) == pytest.approx(np.mean(changed), abs=0.015)


def test_plasticity_of_pairs_equals_that_of_the_head():
    head = planted_head(ROTARY, 32, position=1.5, content=0.6)
    pairs, profile = exchanged_pairs(head, OPTIONS, 10**9), plasticity(head, OPTIONS).profile
    for bin_ in range(1, BINS):
        assert exchange(pairs, pairs.bin == bin_).plasticity == pytest.approx(profile.values[bin_], abs=1e-6)
        assert exchange(pairs, pairs.bin == bin_).pairs == profile.counts[bin_]


def test_pairs_across_texts_give_the_null_distribution():
    """Planted content does not depend on the text, so pairs across texts agree with pairs within texts."""
    head = planted_head(ROTARY, 32, position=1.5, content=0.6)
    within = exchange(exchanged_pairs(head, OPTIONS, 4000))
    across = exchange(exchanged_pairs(head, OPTIONS, 4000, across_documents=True))
    for name in ("sway", "plasticity", "position_part", "gap"):
        assert getattr(within, name) == pytest.approx(getattr(across, name), abs=0.01)
    assert within.pairs > across.pairs > 0.9 * within.pairs
    one_text = replace(head, key_documents=np.zeros_like(head.key_documents))
    assert exchange(exchanged_pairs(one_text, OPTIONS, 100, across_documents=True)).pairs == 0


def test_cells_without_pairs_have_no_values():
    pairs = exchanged_pairs(planted_head(ROTARY, 1, position=1.0, content=0.5), OPTIONS, 20)
    empty = exchange(pairs, pairs.apart > 10**6)
    assert (empty.pairs, empty.sway, empty.linear_share) == (0, None, None)


def test_head_of_unknown_rotation_is_refused():
    with pytest.raises(ValueError, match="rotation of this head is unknown"):
        exchanged_pairs(replace(planted_head(ROTARY, 1, position=1.0, content=0.5), rotary=None), OPTIONS)


def test_opposite_sign_expectation_agrees_with_numerical_integration():
    """Given the first variable, the second is normal, which allows numerical integration."""
    x = np.linspace(-9, 9, 60_001)
    for correlation in (-1.0, -0.999, -0.5, 0.0, 0.3, 0.9999, 1 - 1e-13, 1.0):
        spread = np.sqrt(max(0.0, 1 - correlation**2))
        for a, b in ((0.0, 0.0), (0.0, -1.2), (0.7, 0.0), (1.5, 1.4), (2.0, -0.3), (-4.0, 4.0), (9.0, 9.0)):
            actual = opposite_signs(np.array([a]), np.array([b]), np.array([correlation]))[0]
            conditional_mean = b + correlation * x
            above = ndtr(conditional_mean / spread) if spread > 1e-6 else (conditional_mean > 0).astype(float)
            density = np.where(a + x > 0, 1 - above, above) * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
            assert actual == pytest.approx(np.trapezoid(density, x), abs=2e-4), (a, b, correlation)


@pytest.mark.parametrize(("position", "content"), [(3.0, 0.7), (-1.0, 2.0), (0.5, 0.1)])
def test_exchange_parts_are_divided_by_the_spread_and_averaged_over_pairs(position, content):
    """Compute each mean from its definition, for queries whose spread along the key difference is far from 1."""
    pairs = exchanged_pairs(planted_head(ROTARY, 4, position=position, content=content), OPTIONS, 400)
    spread = np.sqrt(pairs.variance)
    assert np.median(spread) > 1.5
    actual = exchange(pairs)
    content_gap = 0.5 * np.abs(pairs.gap + pairs.gap_exchanged)
    assert actual.content_part == pytest.approx(np.mean(content_gap / spread), rel=1e-9)
    assert actual.position_part == pytest.approx(np.mean((pairs.gap - pairs.gap_exchanged) / 2 / spread), rel=1e-9)
    assert (actual.gap, actual.spread) == pytest.approx((np.mean(np.abs(pairs.gap)), np.mean(spread)), rel=1e-9)


@pytest.mark.parametrize(("factor", "has_pairs"), [(0.0, False), (1e-8, False), (1.0, True)])
def test_pairs_with_hardly_any_query_variance_are_left_out(factor, has_pairs):
    """With a small `factor`, keys differ only where queries are constant, so the variance is rounding noise."""
    head = planted_head(ROTARY, 4, position=1.0, content=1e3)
    keys = head.keys.copy()
    keys[:, 6:] *= factor
    pairs = exchanged_pairs(replace(head, keys=keys), OPTIONS, 400)
    assert bool(pairs.gap.size) == has_pairs
    assert np.isfinite(pairs.gap).all()


@pytest.mark.parametrize("width", [1, 4, 32])
@pytest.mark.parametrize(
    ("rotary", "position", "drift"), [(ROTARY, 3.0, 0.0), (ROTARY, -2.0, 0.0), (NO_ROTATION, 0.0, 0.03)]
)
def test_plasticity_sway_and_profile_return_what_was_planted(rotary, position, drift, width):
    """Plasticity and sway are those of planted scores: a cosine of the distance, a drift, and preferences of keys."""
    head = planted_head(rotary, width, position=position, content=0.7, drift=drift)
    keys = rotary.turned(head.keys, -head.key_positions)  # keys as planted, before rotation
    values: list[list[float]] = [[] for _ in range(BINS)]
    sways: list[float] = []
    for document in range(DOCUMENTS):
        rows = np.flatnonzero(head.key_documents == document)
        for bin_, centre in enumerate(bin_centres(CONTEXT, BINS)):
            early = rows[head.key_positions[rows] < bin_ * CONTEXT // BINS]
            far, near = np.triu_indices(early.size, 1)
            first, second = early[near], early[far]
            distances = [centre - head.key_positions[keys_of_pairs] for keys_of_pairs in (first, second)]
            expected = position * (np.cos(0.02 * distances[0]) - np.cos(0.02 * distances[1]))
            preference = keys[first, 4:6].sum(axis=1) - keys[second, 4:6].sum(axis=1)
            spread = np.linalg.norm(keys[first, 6:] - keys[second, 6:], axis=1)
            p, exchanged = ndtr((expected + preference) / spread), ndtr((preference - expected) / spread)
            values[bin_] += list(4 * p * (1 - p))
            sways += list(np.abs(p - exchanged))  # the spread is unchanged: winners change between the two means
    profile = plasticity(head, OPTIONS).profile.values
    means = [np.mean(of_bin) for of_bin in values[1:]]  # of 300 queries per bin
    np.testing.assert_allclose(profile[1:], means, atol=0.02)
    actual = exchange(exchanged_pairs(head, OPTIONS, 10**9))
    assert actual.sway == pytest.approx(np.mean(sways), abs=0.02)
