"""Tokens and heads are drawn at the stated rates, and each draw is independent of earlier ones."""

import random

import numpy as np
import pytest

from boundpaper.errors import ModelError
from keyquery.models.architecture import Layer, QueryScale
from keyquery.models.captures.sampling import Buckets, HeadIndex, draw_heads, tokens

pytestmark = pytest.mark.models


def layer(index: int, kind: str = "full", query: int = 32, key: int = 8) -> Layer:
    return Layer(index, kind, query, key, 128, 128**-0.5, 512 if kind == "sliding" else None)


def test_one_token_per_bucket_and_document_on_average() -> None:
    buckets, counts = Buckets(131072, 16, 1.0), np.zeros(16)
    assert buckets.size == 8192
    for document in range(200):
        counts += np.bincount(buckets.of(tokens(buckets, 0, document, 3, "q")), minlength=16)
    # Binomial(8192, 1/8192) has variance near 1: a mean over 200 documents has a standard error of .07
    assert np.abs(counts / 200 - 1).max() < 0.3
    assert abs(counts.mean() / 200 - 1) < 0.06


def test_rate_of_a_whole_bucket_keeps_every_token() -> None:
    assert tokens(Buckets(64, 4, 16), 0, 0, 0, "k").tolist() == list(range(64))
    assert tokens(Buckets(64, 4, 99), 0, 0, 0, "k").tolist() == list(range(64))


def test_draws_depend_on_seed_document_head_and_kind_only() -> None:
    buckets = Buckets(4096, 16, 16)
    draw = tokens(buckets, 0, 5, 2, "q")
    tokens(buckets, 0, 6, 2, "q")
    assert np.array_equal(draw, tokens(buckets, 0, 5, 2, "q"))
    assert np.all(np.diff(draw) > 0)
    for seed, document, layer_index, side in ((1, 5, 2, "q"), (0, 4, 2, "q"), (0, 5, 1, "q"), (0, 5, 2, "k")):
        other = tokens(buckets, seed, document, layer_index, side)
        # independent draws of 256 out of 4,096 overlap by 16 on average
        assert len(set(draw) & set(other)) < 45


@pytest.mark.parametrize(
    ("context", "count", "rate", "message"),
    [
        (100, 16, 1.0, "96 or 112"), (8, 16, 1.0, "equal buckets"), (0, 1, 1.0, "positive numbers"),
        (64, 4, 0.0, "positive numbers"), (64, 4, -1.0, "positive numbers"),
        (64, 4, float("nan"), "positive numbers"), (64, 4, float("inf"), "positive numbers"),
    ],
)  # fmt: skip
def test_invalid_buckets_are_refused(context: int, count: int, rate: float, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Buckets(context, count, rate)


def test_head_draw_matches_the_published_captures() -> None:
    """The 11B model: 40 layers of 32 heads, cross-attention in 3, 8, ..., 38; of 300 drawn heads, 239 are kept."""
    cross = set(range(3, 40, 5))
    heads = draw_heads([layer(index, "cross" if index in cross else "full") for index in range(40)])
    assert len(heads) == 239
    pairs = [(index, head) for index in range(40) for head in range(32)]
    expected = [pair for pair in random.Random(0).sample(pairs, 300) if pair[0] not in cross]
    assert [(head.layer, head.query) for head in heads] == sorted(expected)
    assert all(head.key == head.query // 4 for head in heads)


def test_sliding_layers_are_excluded_before_the_draw() -> None:
    layers = [layer(index, "sliding" if index % 2 else "full") for index in range(20)]
    heads = draw_heads(layers, 300)
    assert len(heads) == 300
    assert {head.layer % 2 for head in heads} == {0}
    assert {head.layer % 2 for head in draw_heads(layers, 300, sliding=True)} == {0, 1}


def test_all_heads_when_there_are_fewer() -> None:
    heads = draw_heads([layer(1, query=2, key=1), layer(0, query=2, key=2)], 300)
    assert heads == (HeadIndex(0, 0, 0), HeadIndex(0, 1, 1), HeadIndex(1, 0, 0), HeadIndex(1, 1, 0))
    assert draw_heads([layer(0, query=4, key=2)], None) == draw_heads([layer(0, query=4, key=2)], 4)


def test_selection_without_heads_is_refused_with_the_reason() -> None:
    with pytest.raises(ModelError, match="--sliding"):
        draw_heads([layer(0, "sliding"), layer(1, "cross")])


def test_query_scale_matches_values_computed_by_hand() -> None:
    scale = QueryScale(beta=0.1, period=8.0)
    assert scale.at(np.array([0, 7, 8, 16])) == pytest.approx([1, 1, 1 + 0.1 * np.log(2), 1 + 0.1 * np.log(3)])
    assert QueryScale(0.1, 8.0, shift=1).at(np.array([7])) == pytest.approx([1 + 0.1 * np.log(2)])
