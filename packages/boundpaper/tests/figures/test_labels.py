"""Placement of labels without overlaps."""

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from boundpaper.figures.labels import place_labels, spread_along


@given(st.lists(st.floats(0, 50, allow_nan=False), min_size=1, max_size=12))
def test_spread_boxes_do_not_overlap_and_keep_their_order(wanted):
    placed = spread_along(wanted, [3.0] * len(wanted), 0.0, 50.0)
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    assert all(placed[b] - placed[a] >= 3.0 - 1e-6 for a, b in itertools.pairwise(order))
    assert all(1.5 - 1e-6 <= v <= 48.5 + 1e-6 for v in placed)


def test_spread_leaves_distant_boxes_where_they_are():
    assert spread_along([10.0, 20.0], [3.0, 3.0], 0.0, 30.0) == [10.0, 20.0]
    assert spread_along([10.0, 10.0], [4.0, 4.0], 0.0, 30.0) == [8.0, 12.0]


def test_thirteen_labels_among_points_overlap_nothing():
    rng = random.Random(3)
    points = [(rng.uniform(5, 115), rng.uniform(5, 55)) for _ in range(13)]
    placed = place_labels(points, [18.0] * 13, 3.1, (120.0, 60.0), points, 0.63)
    assert all(a.overlap(b) == 0 for i, a in enumerate(placed) for b in placed[:i])
    assert not any(box.contains(x, y, 0.0) for box in placed for x, y in points)
    assert all(box.left >= 0 and box.right <= 120 and box.low >= 0 and box.high <= 60 for box in placed)


def test_single_label_is_placed_right_of_its_point_without_leader():
    (box,) = place_labels([(20.0, 20.0)], [10.0], 3.0, (60.0, 40.0), [(20.0, 20.0)], 0.63)
    assert not box.has_leader
    assert box.left > 20.0
    assert box.middle[1] == 20.0
