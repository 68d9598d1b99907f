"""Place labels without overlap, along an edge and among points.

Both searches are deterministic, with lengths in mm; LaTeX prints each label at the position found.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass


def spread_along(centres: Sequence[float], heights: Sequence[float], low: float, high: float) -> list[float]:
    """Return centres of boxes on a line, moved as little as possible (least squares) so that no two boxes overlap.

    Neighbours that would touch are pooled into a block around their mean position, as in isotonic regression. All
    lengths are in mm. Boxes stay between `low` and `high`, or extend beyond `high` if the space is too small.
    """
    order = sorted(range(len(centres)), key=lambda i: (centres[i], i))
    blocks: list[tuple[list[int], float]] = []  # the boxes of each block, and its lower edge
    for i in order:
        members, start = [i], centres[i] - heights[i] / 2
        while blocks and blocks[-1][1] + sum(heights[j] for j in blocks[-1][0]) > start:
            previous, _ = blocks.pop()
            members = previous + members
            offset, total = 0.0, 0.0
            for j in members:
                total += centres[j] - heights[j] / 2 - offset
                offset += heights[j]
            start = total / len(members)
        blocks.append((members, start))
    spread = [0.0] * len(centres)
    for members, start in blocks:
        for j in members:
            spread[j] = start + heights[j] / 2
            start += heights[j]
    edge = high
    for j in reversed(order):
        spread[j] = min(spread[j], edge - heights[j] / 2)
        edge = spread[j] - heights[j] / 2
    edge = low
    for j in order:
        spread[j] = max(spread[j], edge + heights[j] / 2)
        edge = spread[j] + heights[j] / 2
    return spread


@dataclass(frozen=True, kw_only=True)
class PlacedLabel:
    """A label's left, lower, right and upper edge in mm, and whether a leader line connects it to its point."""

    left: float
    low: float
    right: float
    high: float
    has_leader: bool

    @property
    def middle(self) -> tuple[float, float]:
        """Return the centre of the label."""
        return (self.left + self.right) / 2, (self.low + self.high) / 2

    def overlap(self, label: PlacedLabel) -> float:
        """Return the area that two labels share, in square mm."""
        width = min(self.right, label.right) - max(self.left, label.left)
        height = min(self.high, label.high) - max(self.low, label.low)
        return max(width, 0.0) * max(height, 0.0)

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """Return the end of a leader line from a point: the nearest point of the box, a little inside its edge."""
        return min(max(x, self.left + 0.3), self.right - 0.3), min(max(y, self.low + 0.5), self.high - 0.5)

    def contains(self, x: float, y: float, margin: float) -> bool:
        """Return whether a point is in the box, or closer to it than `margin`."""
        return self.left - margin < x < self.right + margin and self.low - margin < y < self.high + margin


Point = tuple[float, float]
Candidates = list[tuple[PlacedLabel, float]]
"""Possible places of one label, each with its cost without other labels, cheapest first."""
_ATTEMPTS = 8
"""Maximum number of descents: the first starts from the cheapest candidates, and the others from random ones."""
_CONFLICT = 20.0
"""Minimum cost of two labels in conflict: at a total cost below it no labels conflict, and the search stops."""
_MOST_CANDIDATES = 40
"""Maximum number of candidates per label."""
_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))


def place_labels(
    points: Sequence[Point],
    widths: Sequence[float],
    height: float,
    axes_size: tuple[float, float],
    obstacles: Sequence[Point],
    radius: float,
) -> list[PlacedLabel]:
    """Return a place for each point's label: near the point, inside the axes, clear of marks, lines and other labels.

    All lengths are in mm: the `widths` of the labels, the `height` of one label, width and height of the axes, and the
    `radius` of a mark. `obstacles` are all marks and sampled points of lines.
    """
    candidates = [
        _candidates(x, y, w, height, radius, axes_size, points, obstacles)
        for (x, y), w in zip(points, widths, strict=True)
    ]
    rng = random.Random(len(points))
    lowest_cost, best_choice = _descend(points, candidates, [0] * len(points))
    for _ in range(_ATTEMPTS - 1):
        if lowest_cost < _CONFLICT:
            break
        cost, choice = _descend(points, candidates, [rng.randrange(len(places)) for places in candidates])
        if cost < lowest_cost:
            lowest_cost, best_choice = cost, choice
    return [places[k][0] for places, k in zip(candidates, best_choice, strict=True)]


def _descend(
    points: Sequence[Point], candidates: Sequence[Candidates], start: Sequence[int]
) -> tuple[float, list[int]]:
    """Move each label in turn to its best place, in at most 20 rounds; return total cost and indices of the places."""
    chosen = list(start)
    for _ in range(20):
        has_moved = False
        for i, places in enumerate(candidates):
            placed_labels = [(candidates[j][chosen[j]][0], points[j]) for j in range(len(candidates)) if j != i]
            costs = [
                cost + _conflict_cost(box, points[i], placed_labels) if cost < 100 else cost for box, cost in places
            ]
            k = costs.index(min(costs))
            if costs[k] < costs[chosen[i]] - 1e-9:
                chosen[i], has_moved = k, True
        if not has_moved:
            break
    total = 0.0
    for i, places in enumerate(candidates):
        placed_labels = [(candidates[j][chosen[j]][0], points[j]) for j in range(i)]
        box, cost = places[chosen[i]]
        total += cost + _conflict_cost(box, points[i], placed_labels)
    return total, chosen


def _conflict_cost(box: PlacedLabel, point: Point, placed_labels: Sequence[tuple[PlacedLabel, Point]]) -> float:
    """Return the cost of a label's conflicts with other labels: overlaps, and crossings of leader lines."""
    total = 0.0
    for other_box, other_point in placed_labels:
        total += 30 * (1 + overlap) if (overlap := box.overlap(other_box)) else 0
        if not box.has_leader and not other_box.has_leader:
            continue
        end, other_end = box.nearest(*point), other_box.nearest(*other_point)
        if box.has_leader and other_box.has_leader:
            total += 30 * _segments_cross(point, end, other_point, other_end)
        total += _CONFLICT * (other_box.has_leader and _segment_meets(box, other_point, other_end))
        total += _CONFLICT * (box.has_leader and _segment_meets(other_box, point, end))
    return total


def _candidates(
    x: float,
    y: float,
    w: float,
    h: float,
    radius: float,
    axes_size: tuple[float, float],
    points: Sequence[Point],
    obstacles: Sequence[Point],
) -> Candidates:
    """Return possible places of a point's label, cheapest first, each with its cost if there were no other labels."""
    places = []
    gap = radius + 0.6
    for dx, dy in _DIRECTIONS:
        step = gap if not (dx and dy) else gap * 0.6
        cx, cy = x + dx * (step + w / 2), y + dy * (step + h / 2)
        cost = 0.0 if dx and not dy else 0.4 if dy and not dx else 0.7
        places.append((_box(cx, cy, w, h, has_leader=False), cost))
    for distance in (2.5, 4.5, 7.0, 10.0, 14.0, 19.0):
        for k in range(16):
            angle = 2 * math.pi * k / 16
            east, north = math.cos(angle), math.sin(angle)
            cx, cy = x + east * (distance + w / 2 * abs(east)), y + north * (distance + h / 2)
            places.append((_box(cx, cy, w, h, has_leader=True), 2.0 + distance * 0.6))
    candidates = []
    right, top = axes_size
    for label, cost in places:
        cost += 6 * sum(1 for px, py in points if (px, py) != (x, y) and label.contains(px, py, radius * 0.7))
        cost += 3 * sum(1 for px, py in obstacles if (px, py) != (x, y) and label.contains(px, py, 0.3))
        overhang = max(-label.left, 0) + max(-label.low, 0) + max(label.right - right, 0) + max(label.high - top, 0)
        cost += 100 * (overhang > 0) + 20 * overhang
        if label.has_leader:
            end = label.nearest(x, y)
            cost += 5 * sum(1 for p in points if p != (x, y) and _segment_distance((x, y), end, p) < radius * 1.4)
        candidates.append((label, cost))
    return sorted(candidates, key=lambda candidate: candidate[1])[:_MOST_CANDIDATES]


def _box(cx: float, cy: float, w: float, h: float, *, has_leader: bool) -> PlacedLabel:
    return PlacedLabel(left=cx - w / 2, low=cy - h / 2, right=cx + w / 2, high=cy + h / 2, has_leader=has_leader)


def _segment_meets(box: PlacedLabel, a: Point, b: Point) -> bool:
    """Return whether the segment from `a` to `b` enters a box or passes close to it."""
    is_beside = max(a[0], b[0]) <= box.left - 0.5 or min(a[0], b[0]) >= box.right + 0.5
    if is_beside or max(a[1], b[1]) <= box.low - 0.5 or min(a[1], b[1]) >= box.high + 0.5:
        return False  # a quick answer for most leaders, which are far from most boxes
    return any(box.contains(a[0] + (b[0] - a[0]) * t / 32, a[1] + (b[1] - a[1]) * t / 32, 0.5) for t in range(1, 32))


def _segment_distance(a: Point, b: Point, p: Point) -> float:
    """Return the distance of the point `p` from the segment between `a` and `b`."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    fraction = min(1.0, max(0.0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy)))
    return math.hypot(a[0] + fraction * dx - p[0], a[1] + fraction * dy - p[1])


def _segments_cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    def side(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
