"""Place names on a panel: beside points, without covering other parts, and at the edges, without overlap."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from boundpaper.figures.draw import MARK_MM, Canvas
from boundpaper.figures.labels import place_labels, spread_along
from boundpaper.figures.metrics import LINE_MM, width, wrap_evenly
from boundpaper.figures.ready import PreparedPanel
from boundpaper.figures.series import Fit, Line, Points, Series
from boundpaper.figures.style import look, style
from boundpaper.figures.text import cell


def name_points(canvas: Canvas) -> None:
    """Place the names of all labelled points of a panel in one search."""
    named_spots: list[tuple[float, float]] = []
    texts: list[str] = []
    colors: list[str] = []
    obstacles: list[tuple[float, float]] = []
    for item in canvas.ready.drawn:
        s = item.series
        if isinstance(s, Points):
            spots = [canvas.mm(x, y) for x, y in zip(s.x, s.y, strict=True)]
            obstacles += spots
            for i, text in enumerate(s.labels or ()):
                if str(text):
                    named_spots.append(spots[i])
                    texts.append(str(text))
                    colors.append((item.looks[i] if item.looks else item.look).text)
            for i in range(len(s.x)):
                if s.y_low is not None:
                    obstacles += _points_between(canvas.mm(s.x[i], s.y_low[i]), canvas.mm(s.x[i], s.y_high[i]))
                if s.x_low is not None:
                    obstacles += _points_between(canvas.mm(s.x_low[i], s.y[i]), canvas.mm(s.x_high[i], s.y[i]))
        elif isinstance(s, Line | Fit):
            spots = [canvas.mm(x, y) for x, y in zip(s.x, s.y, strict=True)]
            if isinstance(s, Line) and s.low is not None and s.uncertainty == "bars":
                for x, low, high in zip(s.x, s.low, s.high, strict=True):
                    obstacles += _points_between(canvas.mm(x, low), canvas.mm(x, high))
            for a, b in pairwise(spots):
                obstacles += _points_between(a, b)
    for name in edge_names(canvas.ready):
        if name.end is not None and _stops_short(canvas, name):
            named_spots.append(canvas.mm(name.end, name.at))
            texts.append(name.lines[0])
            colors.append(name.color)
    for rule in canvas.ready.panel.rules:
        at = canvas.ready.position(rule.at, rule.axis)
        if rule.axis == "y":
            obstacles += _points_between((0, canvas.y.at(at)), (canvas.x.length, canvas.y.at(at)))
        else:
            obstacles += _points_between((canvas.x.at(at), 0), (canvas.x.at(at), canvas.y.length))
    if not texts:
        return
    # a white box hides grid lines, bands and fits behind a name
    clear: dict[str, Any] = {"size": "scriptsize", "fill": "white, fill opacity=0.75, text opacity=1"}
    widths = [width(t, "scriptsize") for t in texts]
    boxes = place_labels(named_spots, widths, 3.1, (canvas.x.length, canvas.y.length), obstacles, MARK_MM)
    for spot, text, color, box in zip(named_spots, texts, colors, boxes, strict=True):
        x, y = spot
        if box.left > x:
            canvas.say(box.left, box.middle[1], cell(text), "west", color, **clear)
        elif box.right < x:
            canvas.say(box.right, box.middle[1], cell(text), "east", color, **clear)
        else:
            canvas.say(*box.middle, cell(text), "center", color, **clear)
        if box.leader:
            end = box.nearest(x, y)
            distance = math.hypot(end[0] - x, end[1] - y)
            start = (x + (end[0] - x) * MARK_MM * 1.3 / distance, y + (end[1] - y) * MARK_MM * 1.3 / distance)
            canvas.lead(start, end, "okgrey")


def _points_between(a: tuple[float, float], b: tuple[float, float]) -> list[tuple[float, float]]:
    steps = max(1, math.ceil(math.hypot(b[0] - a[0], b[1] - a[1]) / 0.8))
    return [(a[0] + (b[0] - a[0]) * t / steps, a[1] + (b[1] - a[1]) * t / steps) for t in range(steps + 1)]


EDGE_ROOM = 24.0
"""Greatest width in mm of a reference line's label at the right edge before it is wrapped."""


@dataclass(frozen=True, kw_only=True)
class EdgeName:
    """A name at the right edge: of a line, or of a rule or range across the panel."""

    lines: tuple[str, ...]
    color: str
    at: float
    end: float | None = None


def edge_names(ready: PreparedPanel) -> list[EdgeName]:
    """Return the names at the right edge: of lines, horizontal rules and horizontal ranges."""
    edges: list[EdgeName] = []
    for item in ready.drawn:
        s = item.series
        if isinstance(s, Line) and s.direct:
            text = s.direct if isinstance(s.direct, str) else item.look.label
            end, at = max(zip(s.x, s.y, strict=True))
            edges.append(EdgeName(lines=(text,), color=item.look.text, at=at, end=end))
    for rule in ready.panel.rules:
        if rule.axis == "y" and rule.label:
            edges.append(_edge_name(ready, rule.label, rule.entity, ready.position(rule.at, "y")))
    for shade in ready.panel.shades:
        if shade.axis == "y" and shade.label:
            ends = [ready.position(end, "y") for end in (shade.low, shade.high) if end is not None]
            edges.append(_edge_name(ready, shade.label, shade.entity or "neutral", sum(ends) / len(ends)))
    return edges


def _edge_name(ready: PreparedPanel, label: str, entity: str, at: float) -> EdgeName:
    lines = tuple(wrap_evenly(label, EDGE_ROOM, "scriptsize"))
    return EdgeName(lines=lines, color=look(style(entity, ready.own, ready.where), Series()).text, at=at)


def _stops_short(canvas: Canvas, name: EdgeName) -> bool:
    """Return whether a line ends so far from the edge that its name is placed at the last point."""
    return name.end is not None and canvas.x.length - canvas.x.at(name.end) > 8.0


def name_tops(canvas: Canvas) -> None:
    """Write the names of vertical rules and ranges above the axes, without overlap and not beyond their ends."""
    widths = [width(text, "scriptsize") + 1.2 for _, text, _ in canvas.tops]
    places = spread_along([at for at, _, _ in canvas.tops], widths, -0.6, canvas.x.length + 0.6)
    for (_, text, color), x in zip(canvas.tops, places, strict=True):
        canvas.say(x, canvas.y.length + 1.3, cell(text), "base", color, size="scriptsize")


def name_edges(canvas: Canvas) -> None:
    """Write the names at the right edge, without overlap."""
    names = [name for name in edge_names(canvas.ready) if not _stops_short(canvas, name)]
    wanted = [canvas.y.at(n.at) for n in names]
    heights = [LINE_MM["scriptsize"] * len(n.lines) + 0.1 for n in names]
    centres = spread_along(wanted, heights, -2.0, canvas.y.length + 3.0)
    has_moved = any(abs(centre - want) > 0.9 for want, centre in zip(wanted, centres, strict=True))
    for name, want, centre in zip(names, wanted, centres, strict=True):
        start = canvas.x.length + (2.6 if has_moved else 1.2)
        if abs(centre - want) > 0.9 or (name.end is not None and canvas.x.length - canvas.x.at(name.end) > 3.0):
            end = canvas.x.length if name.end is None else canvas.x.at(name.end) + MARK_MM + 0.3
            canvas.lead((end, want), (start - 0.3, centre), name.color)
        text = r"\\".join(cell(part) for part in name.lines)
        canvas.say(start, centre, text, "west", name.color, size="scriptsize", align="left")
