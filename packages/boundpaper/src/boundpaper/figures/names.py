"""Place names on a panel: beside points, where they cover nothing, and at the edges, where they do not overlap."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from boundpaper.figures.draw import MARK_MM, Canvas
from boundpaper.figures.labels import place_labels, spread_along
from boundpaper.figures.metrics import LINE_MM, width, wrap_evenly
from boundpaper.figures.ready import PreparedPanel
from boundpaper.figures.series import Fit, Line, Points
from boundpaper.figures.text import data_latex


def write_point_names(canvas: Canvas) -> None:
    """Write the names of points, and of lines that end far from the edge, at places found in one search."""
    named_points: list[tuple[float, float]] = []
    texts: list[str] = []
    colors: list[str] = []
    obstacles: list[tuple[float, float]] = []
    for prepared in canvas.panel.series:
        s = prepared.series
        if isinstance(s, Points):
            points = [canvas.mm(x, y) for x, y in zip(s.x, s.y, strict=True)]
            obstacles += points
            for i, text in enumerate(s.labels or ()):
                if str(text):
                    named_points.append(points[i])
                    texts.append(str(text))
                    colors.append((prepared.looks[i] if prepared.looks else prepared.look).text_color)
            for i in range(len(s.x)):
                if s.y_low is not None:
                    obstacles += _points_between(canvas.mm(s.x[i], s.y_low[i]), canvas.mm(s.x[i], s.y_high[i]))
                if s.x_low is not None:
                    obstacles += _points_between(canvas.mm(s.x_low[i], s.y[i]), canvas.mm(s.x_high[i], s.y[i]))
        elif isinstance(s, Line | Fit):
            if isinstance(s, Line) and s.low is not None and s.uncertainty == "bars":
                for x, low, high in zip(s.x, s.low, s.high, strict=True):
                    obstacles += _points_between(canvas.mm(x, low), canvas.mm(x, high))
            for a, b in pairwise(canvas.mm(x, y) for x, y in zip(s.x, s.y, strict=True)):
                obstacles += _points_between(a, b)
    for name in edge_names(canvas.panel):
        if name.x is not None and _ends_before_edge(canvas, name):
            named_points.append(canvas.mm(name.x, name.y))
            texts.append(name.lines[0])
            colors.append(name.color)
    for rule in canvas.panel.panel.rules:
        position = canvas.panel.position(rule.at, rule.axis)
        if rule.axis == "y":
            y = canvas.y.mm(position)
            obstacles += _points_between((0, y), (canvas.x.length, y))
        else:
            x = canvas.x.mm(position)
            obstacles += _points_between((x, 0), (x, canvas.y.length))
    if not texts:
        return
    # a white box hides grid lines, bands and fits behind a name
    options: dict[str, Any] = {"size": "scriptsize", "fill": "white, fill opacity=0.75, text opacity=1"}
    widths = [width(t, "scriptsize") for t in texts]
    boxes = place_labels(named_points, widths, 3.1, (canvas.x.length, canvas.y.length), obstacles, MARK_MM)
    for (x, y), text, color, box in zip(named_points, texts, colors, boxes, strict=True):
        if box.left > x:
            canvas.add_text(box.left, box.middle[1], data_latex(text), "west", color, **options)
        elif box.right < x:
            canvas.add_text(box.right, box.middle[1], data_latex(text), "east", color, **options)
        else:
            canvas.add_text(*box.middle, data_latex(text), "center", color, **options)
        if box.has_leader:
            end = box.nearest(x, y)
            distance = math.hypot(end[0] - x, end[1] - y)
            start = (x + (end[0] - x) * MARK_MM * 1.3 / distance, y + (end[1] - y) * MARK_MM * 1.3 / distance)
            canvas.add_leader(start, end, "okgrey")


def _points_between(a: tuple[float, float], b: tuple[float, float]) -> list[tuple[float, float]]:
    """Return points from `a` to `b`, ends included, with distances of at most 0.8 mm."""
    steps = max(1, math.ceil(math.hypot(b[0] - a[0], b[1] - a[1]) / 0.8))
    return [(a[0] + (b[0] - a[0]) * t / steps, a[1] + (b[1] - a[1]) * t / steps) for t in range(steps + 1)]


EDGE_MM = 24.0
"""Width in mm from which the name of a rule or range at the right edge is wrapped."""


@dataclass(frozen=True, kw_only=True)
class EdgeName:
    """A name at the right edge: of a line, or of a rule or range across the panel.

    `y` is its position on the y axis, and `x` is the end of a line on the x axis.
    """

    lines: tuple[str, ...]
    color: str
    y: float
    x: float | None = None


def edge_names(panel: PreparedPanel) -> list[EdgeName]:
    """Return the names at the right edge: of lines, horizontal rules and horizontal ranges."""
    names: list[EdgeName] = []
    for prepared in panel.series:
        s = prepared.series
        if isinstance(s, Line) and s.direct:
            text = s.direct if isinstance(s.direct, str) else prepared.look.label
            x, y = max(zip(s.x, s.y, strict=True))
            names.append(EdgeName(lines=(text,), color=prepared.look.text_color, y=y, x=x))
    for rule in panel.panel.rules:
        if rule.axis == "y" and rule.label:
            names.append(_edge_name(panel, rule.label, rule.entity, panel.position(rule.at, "y")))
    for shade in panel.panel.shades:
        if shade.axis == "y" and shade.label:
            ends = [panel.position(end, "y") for end in (shade.low, shade.high) if end is not None]
            names.append(_edge_name(panel, shade.label, shade.entity or "neutral", sum(ends) / len(ends)))
    return names


def _edge_name(panel: PreparedPanel, label: str, entity: str, y: float) -> EdgeName:
    lines = tuple(wrap_evenly(label, EDGE_MM, "scriptsize"))
    return EdgeName(lines=lines, color=panel.entity_look(entity).text_color, y=y)


def _ends_before_edge(canvas: Canvas, name: EdgeName) -> bool:
    """Return whether a line ends so far from the edge that its name is placed at the line's last point."""
    return name.x is not None and canvas.x.length - canvas.x.mm(name.x) > 8.0


def write_names_above(canvas: Canvas) -> None:
    """Write the names of vertical rules and ranges above the axes, without overlap and not beyond the axes' ends."""
    widths = [width(text, "scriptsize") + 1.2 for _, text, _ in canvas.names_above]
    centres = spread_along([x for x, _, _ in canvas.names_above], widths, -0.6, canvas.x.length + 0.6)
    for (_, text, color), x in zip(canvas.names_above, centres, strict=True):
        canvas.add_text(x, canvas.y.length + 1.3, data_latex(text), "base", color, size="scriptsize")


def write_edge_names(canvas: Canvas) -> None:
    """Write the names at the right edge, without overlap."""
    names = [name for name in edge_names(canvas.panel) if not _ends_before_edge(canvas, name)]
    heights = [LINE_MM["scriptsize"] * len(name.lines) + 0.1 for name in names]
    positions = [canvas.y.mm(name.y) for name in names]
    centres = spread_along(positions, heights, -2.0, canvas.y.length + 3.0)
    has_moved = any(abs(centre - y) > 0.9 for y, centre in zip(positions, centres, strict=True))
    for name, y, centre in zip(names, positions, centres, strict=True):
        start = canvas.x.length + (2.6 if has_moved else 1.2)
        if abs(centre - y) > 0.9 or (name.x is not None and canvas.x.length - canvas.x.mm(name.x) > 3.0):
            end = canvas.x.length if name.x is None else canvas.x.mm(name.x) + MARK_MM + 0.3
            canvas.add_leader((end, y), (start - 0.3, centre), name.color)
        text = r"\\".join(map(data_latex, name.lines))
        canvas.add_text(start, centre, text, "west", name.color, size="scriptsize", align="left")
