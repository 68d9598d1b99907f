"""Convert a prepared panel to the input of the templates: coordinates as text, and labels with their positions.

Numbers are texts of six significant digits, so that the files are the same on every machine.
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
from boundpaper.figures.text import data_latex
from boundpaper.figures.ticks import group_thousands

Plot = dict[str, Any]
"""The fields of a template, and its name as `kind`."""
MARK_MM = 0.63
"""Radius of a mark in mm, 1.8 pt."""


@dataclass
class Canvas:
    """A panel with its scales, and the texts and leader lines written on it.

    `names_above` are the names of vertical rules and ranges, each with its position in mm, text and colour.
    """

    panel: PreparedPanel
    x: Scale
    y: Scale
    texts: list[dict[str, str]] = field(default_factory=list)
    leaders: list[dict[str, Any]] = field(default_factory=list)
    names_above: list[tuple[float, str, str]] = field(default_factory=list)

    def point(self, x: float, y: float) -> tuple[str, str]:
        """Return the coordinates of a data point as texts for PGFPlots."""
        return number(self.x.coordinate(x)), number(self.y.coordinate(y))

    def mm(self, x: float, y: float) -> tuple[float, float]:
        """Return the position of a data point in mm from the lower left corner of the axes."""
        return self.x.mm(x), self.y.mm(y)

    def fractions(self, x: float, y: float) -> tuple[str, str]:
        """Return a position in mm as fractions of the width and height of the axes."""
        return f"{x / self.x.length:.4f}", f"{y / self.y.length:.4f}"

    def add_text(self, x: float, y: float, text: str, anchor: str, color: str = "okblack", **options: str) -> None:
        """Add a text at a position in mm; `anchor` is the edge of the text at this position."""
        left, low = self.fractions(x, y)
        defaults = {"size": "", "rotate": "", "align": "", "fill": ""}
        self.texts.append({"x": left, "y": low, "text": text, "anchor": anchor, "color": color, **defaults, **options})

    def add_leader(self, mark: tuple[float, float], label: tuple[float, float], color: str) -> None:
        """Add a thin line from a mark to its label, both at positions in mm."""
        self.leaders.append({"a": self.fractions(*mark), "b": self.fractions(*label), "color": color})


def _coordinates(canvas: Canvas, xs: Iterable[float], ys: Iterable[float]) -> list[tuple[str, str]]:
    return [canvas.point(x, y) for x, y in zip(xs, ys, strict=True)]


def _error_lengths(scale: Scale, value: float, low: float, high: float) -> tuple[str, str]:
    """Return the lengths of an error bar above and below its value, in coordinates of PGFPlots."""
    middle = scale.coordinate(value)
    lower, upper = sorted((scale.coordinate(low), scale.coordinate(high)))
    return number(max(upper - middle, 0.0)), number(max(middle - lower, 0.0))


def _band(canvas: Canvas, x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> list[tuple[str, str]]:
    """Return the outline of the band between `low` and `high`."""
    return _coordinates(canvas, x, high) + _coordinates(canvas, reversed(x), reversed(low))


def draw_line(canvas: Canvas, prepared: PreparedSeries) -> list[Plot]:
    """Draw a line, with a band behind it or error bars on it."""
    s = prepared.series
    assert isinstance(s, Line | Fit)
    has_errors = isinstance(s, Line) and s.uncertainty == "bars" and s.low is not None
    has_marks = isinstance(s, Line) and s.has_marks
    kind = "fit" if isinstance(s, Fit) else "line"
    plot: Plot = {"kind": kind, "look": prepared.look, "marks": has_marks, "errors": has_errors}
    plot["band"] = _band(canvas, s.x, s.low, s.high) if s.low is not None and not has_errors else []
    plot["rows"] = [
        (*canvas.point(x, y), *(_error_lengths(canvas.y, y, s.low[i], s.high[i]) if has_errors else ()))
        for i, (x, y) in enumerate(zip(s.x, s.y, strict=True))
    ]
    return [plot]


def draw_points(canvas: Canvas, prepared: PreparedSeries) -> list[Plot]:
    """Draw points, as one plot per look and size of mark."""
    s = prepared.series
    assert isinstance(s, Points)
    indices_by_look: dict[tuple[Look, str], list[int]] = {}
    largest = max(s.sizes) if s.sizes is not None else 1.0
    for i in range(len(s.x)):
        radius = 1.8 if s.sizes is None else max(1.8, 5.0 * math.sqrt(s.sizes[i] / largest))
        point_look = prepared.looks[i] if prepared.looks else prepared.look
        indices_by_look.setdefault((point_look, f"{radius:.1f}"), []).append(i)
    plots = []
    for (look, size), indices in indices_by_look.items():
        plot: Plot = {"kind": "points", "look": look, "size": size, "faint": len(s.x) > 150}
        plot["x_errors"], plot["y_errors"] = s.x_low is not None, s.y_low is not None
        plot["rows"] = [
            (
                *canvas.point(s.x[i], s.y[i]),
                *(_error_lengths(canvas.x, s.x[i], s.x_low[i], s.x_high[i]) if s.x_low is not None else ()),
                *(_error_lengths(canvas.y, s.y[i], s.y_low[i], s.y_high[i]) if s.y_low is not None else ()),
            )
            for i in indices
        ]
        plots.append(plot)
    return plots


def value_text(value: float, decimals: int | None) -> str:
    """Return the LaTeX of a bar's value: with the given decimals, or three significant digits (more from 1000)."""
    if decimals is None:
        exponent = math.floor(math.log10(abs(value))) if value else 0
        text = f"{value:.{min(max(0, 2 - exponent), 6)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = f"{value:.{decimals}f}"
    return f"${group_thousands('0' if float(text) == 0 and text.startswith('-') else text)}$"


def bar_labels(s: Bars | Stacked) -> list[str]:
    """Return the LaTeX of the text printed at each bar; empty if values are not printed."""
    values = s.x if isinstance(s, Bars) and s.horizontal else s.y
    if s.values is False:
        return []
    if s.values is True:
        return [value_text(float(v), s.decimals) for v in values]
    return [data_latex(str(v)) for v in s.values]


def needs_marks_for_bars(axis: Axis) -> bool:
    """Return whether marks are drawn instead of bars, because lengths of bars on this axis would mean nothing.

    A logarithmic axis has no zero at which bars can start. They can start at 1: their lengths are logarithms of ratios.
    """
    return axis.scale == "log" and axis.low != 1


def draw_bars(canvas: Canvas, prepared: PreparedSeries) -> list[Plot]:
    """Draw bars side by side, with their values and, if given, the reported values."""
    s = prepared.series
    assert isinstance(s, Bars)
    is_horizontal = s.horizontal
    positions = [v + prepared.shift for v in (s.y if is_horizontal else s.x)]
    values = s.x if is_horizontal else s.y
    value_scale, position_scale = (canvas.x, canvas.y) if is_horizontal else (canvas.y, canvas.x)
    has_bars = not needs_marks_for_bars(canvas.panel.axis("x" if is_horizontal else "y"))

    def xy(position: float, value: float) -> tuple[float, float]:
        return (value, position) if is_horizontal else (position, value)

    has_errors = s.low is not None
    plot: Plot = {"kind": "bars", "look": prepared.look, "horizontal": is_horizontal, "errors": has_errors}
    if not has_bars:
        plot = {"kind": "points", "look": prepared.look, "size": "2.2", "faint": False}
        plot["x_errors"], plot["y_errors"] = has_errors and is_horizontal, has_errors and not is_horizontal
    plot["width"] = number(prepared.thickness * 0.9)
    plot["rows"] = [
        (*canvas.point(*xy(p, v)), *(_error_lengths(value_scale, v, s.low[i], s.high[i]) if has_errors else ()))
        for i, (p, v) in enumerate(zip(positions, values, strict=True))
    ]
    plots = [plot]
    thickness = abs(position_scale.mm(positions[0] + prepared.thickness) - position_scale.mm(positions[0]))
    labels = bar_labels(s)
    is_rotated = not is_horizontal and any(width(text, "scriptsize") > thickness * 1.08 for text in labels)
    # the white background of a number interrupts reference lines
    options: dict[str, Any] = {"size": "scriptsize", "fill": "white" if canvas.panel.panel.rules else ""}
    options |= {"rotate": "90"} if is_rotated else {}
    for i, text in enumerate(labels):
        is_negative = values[i] < 0 and has_bars
        sign = -1 if is_negative else 1
        ends = [value_scale.mm(v) for v in (values[i], *((s.low[i], s.high[i]) if has_errors else ()))]
        if s.reported is not None and s.reported[i] is not None and s.reported[i] == s.reported[i]:
            ends.append(value_scale.mm(s.reported[i]) + 1.0 * sign)
        end = min(ends) if is_negative else max(ends)
        end += 0 if has_bars else MARK_MM * sign  # the number begins at the edge of the mark
        anchors = ("east", "west") if is_horizontal or is_rotated else ("north", "south")
        anchor_point = xy(position_scale.mm(positions[i]), end + 0.8 * sign)
        canvas.add_text(*anchor_point, text, anchors[0] if is_negative else anchors[1], **options)
    if s.reported is not None:
        reported = [
            canvas.point(*xy(p, r)) for p, r in zip(positions, s.reported, strict=True) if r is not None and r == r
        ]
        if reported:
            plots.append({"kind": "reported", "rows": reported})
    return plots


def draw_stacks(canvas: Canvas, layers: Sequence[PreparedSeries]) -> list[Plot]:
    """Draw all layers of a panel's stacks, from the bottom up."""
    heights: dict[float, float] = {}
    plots = []
    for prepared in layers:
        s = prepared.series
        assert isinstance(s, Stacked)
        rows = []
        for x, y, text in zip(s.x, s.y, bar_labels(s) or [""] * len(s.x), strict=True):
            base = heights.get(x, 0.0)
            heights[x] = base + y
            left, right = x - prepared.thickness / 2, x + prepared.thickness / 2
            rows.append((canvas.point(left, base), canvas.point(right, base + y), base > 0))
            layer_height = canvas.y.mm(base + y) - canvas.y.mm(base)
            layer_width = canvas.x.mm(right) - canvas.x.mm(left)
            if text and layer_height > 3.0 and width(text, "scriptsize") < layer_width - 0.6:
                middle = canvas.mm(x, base + y / 2)
                fill = "white" if prepared.look.hatch else ""
                canvas.add_text(*middle, text, "center", _text_colour(prepared.look), size="scriptsize", fill=fill)
        plots.append({"kind": "stacked", "look": prepared.look, "rows": rows})
    return plots


def _text_colour(look: Look) -> str:
    """Return the text colour on a fill: white on dark plain fills, otherwise black."""
    is_dark = look.color in ("okblack", "okblue", "okvermillion", "okgreen", "okgrey") or look.color.endswith("!black")
    return "white" if is_dark and not look.hatch else "okblack"


def draw_bundle(canvas: Canvas, prepared: PreparedSeries) -> list[Plot]:
    """Draw thin lines as one plot, separated by rows of NaN, with the band of the middle 80 % and the mean."""
    import numpy as np

    s = prepared.series
    assert isinstance(s, Bundle)
    lines = np.asarray(s.lines, dtype=float)
    rows: list[tuple[str, str]] = []
    for values in lines:
        for x, y in zip(s.x, values, strict=True):
            rows.append(("nan", "nan") if np.isnan(y) else canvas.point(x, y))
        rows.append(("nan", "nan"))
    has_values = ~np.all(np.isnan(lines), axis=0)
    x = [v for v, is_shown in zip(s.x, has_values, strict=True) if is_shown]
    low, high = np.nanpercentile(lines[:, has_values], (10, 90), axis=0)
    opacity = s.opacity if s.opacity is not None else min(1.0, max(0.2, 20 / len(lines)))
    plot: Plot = {"kind": "bundle", "look": prepared.look, "rows": rows[:-1], "opacity": f"{opacity:.2f}"}
    plot["band"] = _band(canvas, x, low.tolist(), high.tolist()) if s.band else []
    plot["top"], plot["bottom"] = _coordinates(canvas, x, high.tolist()), _coordinates(canvas, x, low.tolist())
    plot["mean"] = _coordinates(canvas, x, np.nanmean(lines[:, has_values], axis=0).tolist()) if s.mean else []
    return [plot]


def draw_forest(canvas: Canvas, prepared: PreparedSeries) -> list[Plot]:
    """Draw estimates with intervals, one plot per look."""
    s = prepared.series
    assert isinstance(s, Forest)
    rows_by_look: dict[Look, list[tuple[str, ...]]] = {}
    for i, (estimate, low, high, y) in enumerate(zip(s.estimate, s.low, s.high, prepared.slots, strict=True)):
        row = (*canvas.point(estimate, y), *_error_lengths(canvas.x, estimate, low, high))
        rows_by_look.setdefault(prepared.looks[i] if prepared.looks else prepared.look, []).append(row)
        if s.texts is not None:
            anchor_point = (canvas.x.length + 2.0, canvas.y.mm(y))
            canvas.add_text(*anchor_point, data_latex(str(s.texts[i])), "west", size="scriptsize")
    return [{"kind": "forest", "look": look, "rows": rows} for look, rows in rows_by_look.items()]


DRAW = {
    Line: draw_line, Fit: draw_line, Points: draw_points, Bars: draw_bars, Bundle: draw_bundle, Forest: draw_forest,
}  # fmt: skip
"""Functions that draw a series, by its type; stacks are drawn together."""
