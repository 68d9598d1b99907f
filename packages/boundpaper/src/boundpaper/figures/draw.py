"""Convert a prepared panel to the input of the templates: coordinates as text, and labels with their positions.

Each function returns plots: dictionaries with a `kind` (the name of the template) and the fields that the template
needs. Numbers are strings of six significant digits, so that the files are the same on every machine.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from boundpaper.figures.metrics import width
from boundpaper.figures.ready import PreparedPanel, PreparedSeries
from boundpaper.figures.scale import Scale, number
from boundpaper.figures.series import Bars, Bundle, Fit, Forest, Line, Points, Stacked
from boundpaper.figures.spec import Axis
from boundpaper.figures.style import Look
from boundpaper.figures.text import cell
from boundpaper.figures.ticks import group_thousands

Plot = dict[str, Any]
MARK_MM = 0.63
"""Radius of a mark in mm, 1.8 pt."""


@dataclass
class Canvas:
    """A panel being drawn: its scales, and the texts on it."""

    ready: PreparedPanel
    x: Scale
    y: Scale
    words: list[Plot] = field(default_factory=list)
    leaders: list[Plot] = field(default_factory=list)
    tops: list[tuple[float, str, str]] = field(default_factory=list)

    def point(self, x: float, y: float) -> tuple[str, str]:
        """Return the coordinates of a point as PGFPlots needs them."""
        return number(self.x.drawn(x)), number(self.y.drawn(y))

    def mm(self, x: float, y: float) -> tuple[float, float]:
        """Return a point's position in mm from the lower left corner of the axes."""
        return self.x.at(x), self.y.at(y)

    def share(self, x: float, y: float) -> tuple[str, str]:
        """Return a position in mm as fractions of the width and height of the axes."""
        return f"{x / self.x.length:.4f}", f"{y / self.y.length:.4f}"

    def say(self, x: float, y: float, text: str, anchor: str, color: str = "okblack", **options: str) -> None:
        """Write a text at a position in mm; `anchor` is the edge of the text at this position."""
        at_x, at_y = self.share(x, y)
        defaults = {"size": "", "rotate": "", "align": "", "fill": ""}
        self.words.append({"x": at_x, "y": at_y, "text": text, "anchor": anchor, "color": color, **defaults, **options})

    def lead(self, a: tuple[float, float], b: tuple[float, float], color: str) -> None:
        """Draw a thin line from a mark to its label."""
        self.leaders.append({"a": self.share(*a), "b": self.share(*b), "color": color})


def _drawn_points(canvas: Canvas, xs: Iterable[float], ys: Iterable[float]) -> list[tuple[str, str]]:
    return [canvas.point(x, y) for x, y in zip(xs, ys, strict=True)]


def _deltas(scale: Scale, at: float, low: float, high: float) -> tuple[str, str]:
    """Return the lengths of an error bar upwards and downwards, in drawn coordinates."""
    a, b = sorted((scale.drawn(low), scale.drawn(high)))
    return number(max(b - scale.drawn(at), 0.0)), number(max(scale.drawn(at) - a, 0.0))


def _band(canvas: Canvas, x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> list[tuple[str, str]]:
    return _drawn_points(canvas, x, high) + _drawn_points(canvas, reversed(x), reversed(low))


def line(canvas: Canvas, item: PreparedSeries) -> list[Plot]:
    """Draw a line, with a band behind it or error bars on it."""
    s = item.series
    assert isinstance(s, Line | Fit)
    bars = isinstance(s, Line) and s.uncertainty == "bars" and s.low is not None
    marks = isinstance(s, Line) and (s.marks if s.marks is not None else len(s.x) <= 20)
    plot: Plot = {"kind": "fit" if isinstance(s, Fit) else "line", "look": item.look, "marks": marks, "errors": bars}
    plot["band"] = _band(canvas, s.x, s.low, s.high) if s.low is not None and not bars else []
    plot["rows"] = [
        (*canvas.point(x, y), *(_deltas(canvas.y, y, s.low[i], s.high[i]) if bars else ()))
        for i, (x, y) in enumerate(zip(s.x, s.y, strict=True))
    ]
    return [plot]


def draw_points(canvas: Canvas, item: PreparedSeries) -> list[Plot]:
    """Draw points, as one plot per look (and per size)."""
    s = item.series
    assert isinstance(s, Points)
    groups: dict[tuple[Look, str], list[int]] = {}
    largest = max(s.sizes) if s.sizes is not None else 1.0
    for i in range(len(s.x)):
        radius = 1.8 if s.sizes is None else max(1.8, 5.0 * math.sqrt(s.sizes[i] / largest))
        groups.setdefault((item.looks[i] if item.looks else item.look, f"{radius:.1f}"), []).append(i)
    plots = []
    for (look, size), members in groups.items():
        plot: Plot = {"kind": "points", "look": look, "size": size, "faint": len(s.x) > 150}
        plot["x_errors"], plot["y_errors"] = s.x_low is not None, s.y_low is not None
        plot["rows"] = [
            (
                *canvas.point(s.x[i], s.y[i]),
                *(_deltas(canvas.x, s.x[i], s.x_low[i], s.x_high[i]) if s.x_low is not None else ()),
                *(_deltas(canvas.y, s.y[i], s.y_low[i], s.y_high[i]) if s.y_low is not None else ()),
            )
            for i in members
        ]
        plots.append(plot)
    return plots


def value_text(value: float, decimals: int | None) -> str:
    """Return a bar's value as text: with fixed decimals, or at most three significant digits."""
    if decimals is None:
        size = math.floor(math.log10(abs(value))) if value else 0
        text = f"{value:.{min(max(0, 2 - size), 6)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = f"{value:.{decimals}f}"
    return f"${group_thousands('0' if float(text) == 0 and text.startswith('-') else text)}$"


def bar_labels(s: Bars | Stacked) -> list[str]:
    """Return the text printed at each bar; empty if values are not printed."""
    values = s.x if isinstance(s, Bars) and s.horizontal else s.y
    if s.values is False:
        return []
    if s.values is True:
        return [value_text(float(v), s.decimals) for v in values]
    return [cell(str(v)) for v in s.values]


def length_means_nothing(axis: Axis) -> bool:
    """Return whether bar lengths on this axis would be meaningless, so that marks are drawn instead.

    A logarithmic axis has no zero for bars to start at; a bar from 1 would show the logarithm of a ratio.
    """
    return axis.scale == "log" and axis.low != 1


def draw_bars(canvas: Canvas, item: PreparedSeries) -> list[Plot]:
    """Draw bars side by side, with their values and, if given, the reported values."""
    s = item.series
    assert isinstance(s, Bars)
    flat = s.horizontal
    places = [v + item.shift for v in (s.y if flat else s.x)]
    values = s.x if flat else s.y
    value_scale = canvas.x if flat else canvas.y
    position_scale = canvas.y if flat else canvas.x
    axis = canvas.ready.axis("x" if flat else "y")

    def xy(place_: float, value: float) -> tuple[float, float]:
        return (value, place_) if flat else (place_, value)

    errors = s.low is not None
    plot: Plot = {"kind": "bars", "look": item.look, "flat": flat, "errors": errors}
    if length_means_nothing(axis):
        plot = {"kind": "points", "look": item.look, "size": "2.2", "faint": False}
        plot["x_errors"], plot["y_errors"] = errors and flat, errors and not flat
    plot["thick"] = number(item.thick * 0.9)
    plot["rows"] = [
        (*canvas.point(*xy(p, v)), *(_deltas(value_scale, v, s.low[i], s.high[i]) if errors else ()))
        for i, (p, v) in enumerate(zip(places, values, strict=True))
    ]
    plots = [plot]
    thick = abs(position_scale.at(places[0] + item.thick) - position_scale.at(places[0]))
    labels = bar_labels(s)
    paper = "white" if canvas.ready.panel.rules else ""  # a reference line is interrupted at a number
    upright = not flat and any(width(t, "scriptsize") > thick * 1.08 for t in labels)
    for i, text in enumerate(labels):
        falls = values[i] < 0 and not length_means_nothing(axis)
        side = -1 if falls else 1
        ends = [value_scale.at(v) for v in (values[i], *((s.low[i], s.high[i]) if errors else ()))]
        if s.reported is not None and s.reported[i] is not None and s.reported[i] == s.reported[i]:
            ends.append(value_scale.at(s.reported[i]) + 1.0 * side)
        end = min(ends) if falls else max(ends)
        x, y = (end, position_scale.at(places[i])) if flat else (position_scale.at(places[i]), end)
        if length_means_nothing(axis):  # the number begins at the edge of the mark
            x, y = (x + MARK_MM * side, y) if flat else (x, y + MARK_MM * side)
        if flat:
            canvas.say(x + 0.8 * side, y, text, "east" if falls else "west", size="scriptsize", fill=paper)
        elif upright:
            canvas.say(x, y + 0.8 * side, text, "east" if falls else "west", size="scriptsize", rotate="90", fill=paper)
        else:
            canvas.say(x, y + 0.8 * side, text, "north" if falls else "south", size="scriptsize", fill=paper)
    if s.reported is not None:
        reported = [
            canvas.point(*xy(p, r)) for p, r in zip(places, s.reported, strict=True) if r is not None and r == r
        ]
        if reported:
            plots.append({"kind": "reported", "rows": reported})
    return plots


def draw_stacks(canvas: Canvas, items: Sequence[PreparedSeries]) -> list[Plot]:
    """Draw all layers of a panel's stacks, from the bottom up."""
    height: dict[float, float] = {}
    plots = []
    for item in items:
        s = item.series
        assert isinstance(s, Stacked)
        rows = []
        for x, y, text in zip(s.x, s.y, bar_labels(s) or [""] * len(s.x), strict=True):
            base = height.get(x, 0.0)
            height[x] = base + y
            left, right = x - item.thick / 2, x + item.thick / 2
            rows.append((canvas.point(left, base), canvas.point(right, base + y), base > 0))
            room = canvas.y.at(base + y) - canvas.y.at(base)
            wide = canvas.x.at(right) - canvas.x.at(left)
            if text and room > 3.0 and width(text, "scriptsize") < wide - 0.6:
                middle = canvas.mm(x, base + y / 2)
                fill = "white" if item.look.hatch else ""
                canvas.say(*middle, text, "center", _ink(item.look), size="scriptsize", fill=fill)
        plots.append({"kind": "stacked", "look": item.look, "rows": rows})
    return plots


def _ink(look: Look) -> str:
    """Return the text colour on a fill: white on dark plain fills, otherwise black."""
    dark = look.color in ("okblack", "okblue", "okvermillion", "okgreen", "okgrey") or look.color.endswith("!black")
    return "white" if dark and not look.hatch else "okblack"


def draw_bundle(canvas: Canvas, item: PreparedSeries) -> list[Plot]:
    """Draw thin lines as one plot, separated by NaN rows, with the band of the middle 80 % and the mean."""
    import numpy as np

    s = item.series
    assert isinstance(s, Bundle)
    lines = np.asarray(s.lines, dtype=float)
    rows: list[tuple[str, str]] = []
    for values in lines:
        for x, y in zip(s.x, values, strict=True):
            rows.append(("nan", "nan") if np.isnan(y) else canvas.point(x, y))
        rows.append(("nan", "nan"))
    has_values = ~np.all(np.isnan(lines), axis=0)
    x = [v for v, keep in zip(s.x, has_values, strict=True) if keep]
    low, high = np.nanpercentile(lines[:, has_values], (10, 90), axis=0)
    opacity = s.opacity if s.opacity is not None else min(1.0, max(0.2, 20 / len(lines)))
    plot: Plot = {"kind": "bundle", "look": item.look, "rows": rows[:-1], "opacity": f"{opacity:.2f}"}
    plot["band"] = _band(canvas, x, low.tolist(), high.tolist()) if s.band else []
    plot["top"], plot["bottom"] = _drawn_points(canvas, x, high.tolist()), _drawn_points(canvas, x, low.tolist())
    plot["mean"] = _drawn_points(canvas, x, np.nanmean(lines[:, has_values], axis=0).tolist()) if s.mean else []
    return [plot]


def draw_forest(canvas: Canvas, item: PreparedSeries) -> list[Plot]:
    """Draw estimates with intervals, one plot per look."""
    s = item.series
    assert isinstance(s, Forest)
    groups: dict[Look, list[int]] = {}
    for i in range(len(s.rows)):
        groups.setdefault(item.looks[i] if item.looks else item.look, []).append(i)
    if s.texts is not None:
        for i, text in enumerate(s.texts):
            canvas.say(canvas.x.length + 2.0, canvas.y.at(item.slots[i]), cell(str(text)), "west", size="scriptsize")
    return [
        {
            "kind": "forest",
            "look": look,
            "rows": [
                (*canvas.point(s.estimate[i], item.slots[i]), *_deltas(canvas.x, s.estimate[i], s.low[i], s.high[i]))
                for i in members
            ],
        }
        for look, members in groups.items()
    ]
