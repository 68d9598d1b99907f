"""Place labels without overlap, along an edge and among points.

Both are small deterministic searches in millimetres; LaTeX only prints the result.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass


def spread_along(wanted: Sequence[float], heights: Sequence[float], low: float, high: float) -> list[float]:
    """Return centres of boxes on a line, moved as little as possible (least squares) so that no two boxes overlap.

    Neighbours that would touch are pooled into a block around their mean position, as in isotonic regression. `wanted`
    and `heights` are centres and sizes in mm. Boxes stay between `low` and `high`, or extend beyond `high` if the space
    is too small.
    """
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    blocks: list[tuple[list[int], float]] = []  # the boxes, and the lower edge of the block
    for i in order:
        members, start = [i], wanted[i] - heights[i] / 2
        while blocks and blocks[-1][1] + sum(heights[j] for j in blocks[-1][0]) > start:
            previous, _ = blocks.pop()
            members = previous + members
            offset, wishes = 0.0, 0.0
            for j in members:
                wishes += wanted[j] - heights[j] / 2 - offset
                offset += heights[j]
            start = wishes / len(members)
        blocks.append((members, start))
    places = [0.0] * len(wanted)
    for members, start in blocks:
        for j in members:
            places[j] = start + heights[j] / 2
            start += heights[j]
    edge = high
    for j in reversed(order):
        places[j] = min(places[j], edge - heights[j] / 2)
        edge = places[j] - heights[j] / 2
    edge = low
    for j in order:
        places[j] = max(places[j], edge + heights[j] / 2)
        edge = places[j] + heights[j] / 2
    return places


@dataclass(frozen=True, kw_only=True)
class PlacedLabel:
    """A label's left, lower, right and upper edge in mm, and whether a leader line connects it to its point."""

    left: float
    low: float
    right: float
    high: float
    leader: bool

    @property
    def middle(self) -> tuple[float, float]:
        """Return the centre of the label."""
        return (self.left + self.right) / 2, (self.low + self.high) / 2

    def overlap(self, label: PlacedLabel) -> float:
        """Return the area that two labels share, in square mm."""
        wide = min(self.right, label.right) - max(self.left, label.left)
        tall = min(self.high, label.high) - max(self.low, label.low)
        return max(wide, 0.0) * max(tall, 0.0)

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """Return where a leader from a point ends: the nearest point of the box, a little inside."""
        return min(max(x, self.left + 0.3), self.right - 0.3), min(max(y, self.low + 0.5), self.high - 0.5)

    def holds(self, x: float, y: float, room: float) -> bool:
        """Return whether a point is in the box, or closer to it than `room`."""
        return self.left - room < x < self.right + room and self.low - room < y < self.high + room


def place_labels(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    box: tuple[float, float],
    obstacles: Sequence[tuple[float, float]],
    radius: float,
) -> list[PlacedLabel]:
    """Return a place for each point's label: near the point, inside the axes, clear of marks, lines and other labels.

    All lengths are in mm: `widths` of the labels, `height` of one label, `box` the axes' width and height, `radius` of
    a mark. `obstacles` are all marks and sampled points of lines.
    """
    options = [
        _options(x, y, w, height, radius, box, points, obstacles) for (x, y), w in zip(points, widths, strict=True)
    ]
    first = [min(range(len(o)), key=lambda k, o=o: (o[k][1], k)) for o in options]  # type: ignore[misc]
    rng = random.Random(len(points))
    best: tuple[float, list[int]] | None = None
    for attempt in range(_ATTEMPTS):
        start = first if not attempt else [rng.randrange(len(o)) for o in options]
        placed = _descend(points, options, start)
        if best is None or placed[0] < best[0]:
            best = placed
        if best[0] < _CONFLICT:
            break
    return [o[k][0] for o, k in zip(options, best[1] if best else [], strict=True)]


_ATTEMPTS = 8
"""Further descents from other starts, if labels conflict after the first."""
_CONFLICT = 20.0
"""Least cost of two labels in conflict: the search stops at places that cost less altogether."""
_KEPT = 40
"""Number of places tried per label, those of least cost."""
Places = list[tuple[PlacedLabel, float]]
Point = tuple[float, float]


def _descend(points: Sequence[Point], options: Sequence[Places], start: Sequence[int]) -> tuple[float, list[int]]:
    """Move one label at a time to its best place until none moves; return the total cost and the chosen places."""
    chosen = list(start)
    for _ in range(20):
        has_moved = False
        for i, costs_here in enumerate(options):
            others = [(options[j][chosen[j]][0], points[j]) for j in range(len(options)) if j != i]
            costs = [cost + _conflict_cost(box, points[i], others) if cost < 100 else cost for box, cost in costs_here]
            k = min(range(len(costs_here)), key=lambda k, costs=costs: (costs[k], k))  # type: ignore[misc]
            if costs[k] < costs[chosen[i]] - 1e-9:
                chosen[i], has_moved = k, True
        if not has_moved:
            break
    total = 0.0
    for i, costs_here in enumerate(options):
        others = [(options[j][chosen[j]][0], points[j]) for j in range(i)]
        box, cost = costs_here[chosen[i]]
        total += cost + _conflict_cost(box, points[i], others)
    return total, chosen


def _conflict_cost(box: PlacedLabel, point: Point, other_labels: Sequence[tuple[PlacedLabel, Point]]) -> float:
    """Return the cost of a box given other labels: overlapping area, and leader lines that cross leaders or labels."""
    total = 0.0
    for other_box, end in other_labels:
        total += 30 * (1 + overlap) if (overlap := box.overlap(other_box)) else 0
        if not box.leader and not other_box.leader:
            continue
        own_end, other_end = box.nearest(*point), other_box.nearest(*end)
        total += 30 * (box.leader and other_box.leader and _cross(point, own_end, end, other_end))
        total += _CONFLICT * (other_box.leader and _crosses_box(box, end, other_end))
        total += _CONFLICT * (box.leader and _crosses_box(other_box, point, own_end))
    return total


_AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))


def _options(
    x: float,
    y: float,
    w: float,
    h: float,
    radius: float,
    box: tuple[float, float],
    points: Sequence[tuple[float, float]],
    obstacles: Sequence[tuple[float, float]],
) -> list[tuple[PlacedLabel, float]]:
    """Return boxes around a point, each with its cost without other labels."""
    options = []
    gap = radius + 0.6
    for dx, dy in _AROUND:
        step = gap if not (dx and dy) else gap * 0.6
        cx, cy = x + dx * (step + w / 2), y + dy * (step + h / 2)
        options.append((_box(cx, cy, w, h, leader=False), 0.0 if dx and not dy else 0.4 if dy and not dx else 0.7))
    for reach in (2.5, 4.5, 7.0, 10.0, 14.0, 19.0):
        for k in range(16):
            angle = 2 * math.pi * k / 16
            east, north = math.cos(angle), math.sin(angle)
            cx, cy = x + east * (reach + w / 2 * abs(east)), y + north * (reach + h / 2)
            options.append((_box(cx, cy, w, h, leader=True), 2.0 + reach * 0.6))
    scored_options = []
    for label, start in options:
        cost = start
        cost += 6 * sum(1 for px, py in points if (px, py) != (x, y) and label.holds(px, py, radius * 0.7))
        cost += 3 * sum(1 for px, py in obstacles if (px, py) != (x, y) and label.holds(px, py, 0.3))
        overhang = max(-label.left, 0) + max(-label.low, 0) + max(label.right - box[0], 0) + max(label.high - box[1], 0)
        cost += 100 * (overhang > 0) + 20 * overhang
        if label.leader:
            end = label.nearest(x, y)
            cost += 5 * sum(1 for p in points if p != (x, y) and _near((x, y), end, p) < radius * 1.4)
        scored_options.append((label, cost))
    return sorted(scored_options, key=lambda option: option[1])[:_KEPT]


def _box(cx: float, cy: float, w: float, h: float, *, leader: bool) -> PlacedLabel:
    return PlacedLabel(left=cx - w / 2, low=cy - h / 2, right=cx + w / 2, high=cy + h / 2, leader=leader)


def _crosses_box(box: PlacedLabel, a: tuple[float, float], b: tuple[float, float]) -> bool:
    beside = max(a[0], b[0]) <= box.left - 0.5 or min(a[0], b[0]) >= box.right + 0.5
    if beside or max(a[1], b[1]) <= box.low - 0.5 or min(a[1], b[1]) >= box.high + 0.5:
        return False  # most leaders are far from most boxes
    return any(box.holds(a[0] + (b[0] - a[0]) * t / 32, a[1] + (b[1] - a[1]) * t / 32, 0.5) for t in range(1, 32))


def _near(a: tuple[float, float], b: tuple[float, float], p: tuple[float, float]) -> float:
    """Return the distance of the point `p` from the line between `a` and `b`."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    share = min(1.0, max(0.0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy)))
    return math.hypot(a[0] + share * dx - p[0], a[1] + share * dy - p[1])


def _cross(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float], d: tuple[float, float]) -> bool:
    def side(p: tuple[float, float], q: tuple[float, float], r: tuple[float, float]) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
