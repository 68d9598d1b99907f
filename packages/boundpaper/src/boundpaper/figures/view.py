"""Describe a figure with its layout for the templates, in nested dictionaries of texts and numbers."""

import math
from typing import Any

from boundpaper.errors import SpecError
from boundpaper.figures.draw import Canvas, Plot, draw_bars, draw_bundle, draw_forest, draw_points, draw_stacks, line
from boundpaper.figures.layout import PageLayout, PlacedPanel, lay_out
from boundpaper.figures.legend import placed_entries, rows_of
from boundpaper.figures.margins import FOOT, bar_scale
from boundpaper.figures.metrics import width, wrap
from boundpaper.figures.names import name_edges, name_points, name_tops
from boundpaper.figures.ready import PreparedSeries, series_of_kind
from boundpaper.figures.scale import Scale, number
from boundpaper.figures.series import Bars, Bundle, Fit, Forest, Heatmap, Line, Points, Stacked
from boundpaper.figures.spec import Figure, Rule, Shade
from boundpaper.figures.style import look, style
from boundpaper.figures.text import latex

RASTER_FROM = 32  # rows or columns from which a heat map becomes a picture: drawing it in LaTeX would take seconds

STRUT = r"\vphantom{Ag}"  # before the names at an axis: those without ascenders would be set higher than others

_DRAW = {Line: line, Fit: line, Points: draw_points, Bars: draw_bars, Bundle: draw_bundle, Forest: draw_forest}


def figure_view(figure: Figure, name: str) -> dict[str, Any]:
    """Lay out and draw a figure; return its size, panels and legend for the templates."""
    legend = rows_of(figure, name)
    page = lay_out(figure, name, legend.height)
    panels = [_panel_view(figure, name, page, place, i) for i, place in enumerate(page.places)]
    return {
        "page": {"width": number(page.width), "height": f"{page.height:.2f}", "panels": panels},
        "legend": placed_entries(legend, page),
    }


def rasters(figure: Figure) -> list[tuple[int, Heatmap]]:
    """Return the heat maps that become pictures, each with the number of its panel."""
    return [
        (i, s)
        for i, panel in enumerate(figure.panels)
        for s in panel.series
        if isinstance(s, Heatmap) and max(len(s.values), len(s.values[0])) >= RASTER_FROM
    ]


def _panel_view(figure: Figure, name: str, page: PageLayout, panel: PlacedPanel, i: int) -> dict[str, Any]:
    ready, x, y = panel.ready, panel.x, panel.y
    canvas = Canvas(ready, x, y)
    fields: dict[str, Any] = {
        "left": f"{panel.left:.2f}",
        "low": f"{panel.low:.2f}",
        "width": f"{x.length:.2f}",
        "height": f"{y.length:.2f}",
        "x": _axis_view(panel, "x"),
        "y": _axis_view(panel, "y"),
        "title": panel.title,
    }
    fields["title_up"] = f"{panel.title_up:.2f}"
    fields["shades"] = [_shade_view(canvas, s, k, figure) for k, s in enumerate(ready.panel.shades)]
    fields["rules"] = [_rule_view(canvas, r, figure) for r in ready.panel.rules]
    fields["plots"] = _panel_plots(canvas, f"{name}-{i + 1}.png")
    fields["guides"] = _row_lines(canvas)
    arrows: list[dict[str, Any]] = []
    _place_annotations(canvas, figure, arrows)
    name_tops(canvas)
    name_edges(canvas)
    name_points(canvas)
    heat = [d.series for d in ready.drawn if isinstance(d.series, Heatmap)]
    fields["heat"] = _colour_bar_view(heat[0], x, y) if heat else None
    return {**fields, "words": canvas.words, "leaders": canvas.leaders, "arrows": arrows}


def _axis_view(panel: PlacedPanel, axis: str) -> dict[str, Any]:
    scale = panel.x if axis == "x" else panel.y
    spec, names = panel.ready.axis(axis), panel.ready.names[axis]
    low, high = scale.limits
    ticks = [(_tick_position(scale, v, bool(names)), t) for v, t in scale.ticks]
    outer = panel.x_outer if axis == "x" else panel.y_outer
    texts = list(panel.x_ticks.texts) if axis == "x" else [t for _, t in ticks]
    if axis == "y":
        texts = [rf"\textbf{{{t}}}" if i in panel.ready.heads else t for i, t in enumerate(texts)]
    if names:
        texts = [STRUT + t for t in texts]
    heat = scale.kind == "edges"
    grid = (
        spec.grid if spec.grid is not None else not names and not heat and axis == (panel.ready.bars or _values(panel))
    )
    room = scale.length
    label = (
        r"\\".join(rf"\strut {latex(part)}" for part in (wrap(spec.label, room) or [spec.label]))
        if spec.label and outer
        else ""
    )
    room_below = 1.0 + 0.5 + panel.x_ticks.depth
    return {
        "low": number(low),
        "high": number(high),
        "log": scale.kind == "log",
        "ticks": [number(v) for v, _ in ticks],
        "minor": [number(v) for v in _steps_between(scale)] if scale.kind == "log" and spec.base == 10 else [],
        "texts": texts if outer else [""] * len(texts),
        "size": panel.x_ticks.size,
        "turn": panel.x_ticks.turn,
        "wrapped": any(r"\\" in t for t in texts),
        "grid": grid,
        "bare": bool(names) and (bool(panel.ready.bars) or axis == "y"),
        "label": label,
        "label_at": f"{-room_below / panel.y.length:.4f}" if axis == "x" else f"{-panel.room / panel.x.length:.4f}",
    }


def _steps_between(scale: Scale) -> list[float]:
    """Return the multiples of powers of ten on a logarithmic axis, whose uneven steps show the reader its kind."""
    tens = [10.0**power for power in range(math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)))]
    return [digit * ten for ten in tens for digit in range(1, 10) if scale.low <= digit * ten <= scale.high]


def _values(panel: PlacedPanel) -> str:
    """Return the name of the value axis, whose ticks have grid lines."""
    return "x" if any(isinstance(d.series, Forest) for d in panel.ready.drawn) else "y"


def _tick_position(scale: Scale, value: float, is_category: bool) -> float:
    if scale.kind == "edges" and is_category:
        position = value + 0.5
        return len(scale.edges) - 1 - position + 0.0 if scale.reverse else position
    return scale.drawn(value)


def _panel_plots(canvas: Canvas, picture: str) -> list[Plot]:
    plots: list[Plot] = []
    prepared = canvas.ready.drawn
    piles = series_of_kind(prepared, Stacked)
    if piles:
        plots += draw_stacks(canvas, piles)
    back_to_front = sorted(prepared, key=_drawing_layer)
    for item in back_to_front:
        if isinstance(item.series, Heatmap):
            plots.append(_heat_map_plot(item, canvas, picture))
        elif not isinstance(item.series, Stacked):
            plots += _DRAW[type(item.series)](canvas, item)
    return plots


def _drawing_layer(item: PreparedSeries) -> int:
    """Return the layer of a series: bars and bundles are behind lines, lines behind points."""
    order: tuple[type, ...] = (Heatmap, Bars, Bundle, Fit, Line, Forest, Points)
    return order.index(type(item.series)) if type(item.series) in order else 0


def _heat_map_plot(item: PreparedSeries, canvas: Canvas, picture: str) -> Plot:
    s = item.series
    assert isinstance(s, Heatmap)
    rows, columns = len(s.values), len(s.values[0])
    plot: Plot = {"kind": "heatmap", "columns": columns, "count": rows}
    if max(rows, columns) >= RASTER_FROM:
        return {**plot, "picture": picture}
    bar = bar_scale(s, canvas.y.length)
    matrix = as_seen(s, canvas.x.reverse, not canvas.y.reverse)  # LaTeX counts rows from below
    cells = [
        (number(c + 0.5), number(r + 0.5), "nan" if v is None else number(bar.drawn(v)))
        for r, line_ in enumerate(reversed(matrix))
        for c, v in enumerate(line_)
    ]
    return {**plot, "picture": "", "rows": cells}


def as_seen(s: Heatmap, mirror: bool, flip: bool) -> list[list[float | None]]:
    """Return the matrix in displayed order, top row first."""
    rows = [list(reversed(row)) if mirror else list(row) for row in s.values]
    return rows[::-1] if flip else rows


def _colour_bar_view(s: Heatmap, x: Scale, y: Scale) -> dict[str, Any]:
    scale = bar_scale(s, y.length)
    low, high = scale.limits
    wide = max(width(t) for _, t in scale.ticks)
    return {
        "map": "okviridis" if s.colors == "viridis" else "oksigned",
        "low": number(low),
        "high": number(high),
        "at": f"{1 + 2.0 / x.length:.4f}",
        "ticks": [number(scale.drawn(v)) for v, _ in scale.ticks],
        "texts": [t for _, t in scale.ticks],
        "label": rf"\strut {latex(s.bar)}" if s.bar else "",
        "label_at": f"{1 + (2.2 + wide + FOOT) / 2.5:.4f}",
    }


def _row_lines(canvas: Canvas) -> list[Plot]:
    """Draw light lines from a forest's row names to their estimates."""
    plots: list[Plot] = []
    if not series_of_kind(canvas.ready.drawn, Forest):
        return plots
    for i in range(len(canvas.ready.names["y"])):
        if i not in canvas.ready.heads:
            at = canvas.y.at(float(i))
            plots.append({"a": canvas.share(0, at), "b": canvas.share(canvas.x.length, at)})
    return plots


def _shade_view(canvas: Canvas, shade: Shade, k: int, figure: Figure) -> dict[str, Any]:
    """Describe a shaded range; ranges without an entity alternate between two greys, so that neighbours differ."""
    ready = canvas.ready
    scale = canvas.x if shade.axis == "x" else canvas.y
    ends = zip((shade.low, shade.high), (scale.low, scale.high), strict=True)
    a, b = sorted(scale.at(limit if end is None else ready.position(end, shade.axis)) for end, limit in ends)
    if a < -1e-6 or b > scale.length + 1e-6:
        raise SpecError(
            f"{ready.where}: the shaded range {shade.low} to {shade.high} exceeds the given limits of axis "
            f"{shade.axis}, {number(scale.low)} to {number(scale.high)}: widen the limits, or use None for an open end"
        )
    color = f"black, fill opacity={0.07 if k % 2 == 0 else 0.14}"
    if shade.entity:
        color = f"{style(shade.entity, figure.entities, ready.where).color}, fill opacity=0.12"
    if shade.axis == "x":
        if shade.label:
            canvas.tops.append(((a + b) / 2, shade.label, "okgrey!60!black"))
        return {"color": color, "a": canvas.share(a, 0), "b": canvas.share(b, canvas.y.length)}
    return {"color": color, "a": canvas.share(0, a), "b": canvas.share(canvas.x.length, b)}


def _rule_view(canvas: Canvas, rule: Rule, figure: Figure) -> dict[str, Any]:
    from boundpaper.figures.series import Series

    ready = canvas.ready
    ink = look(style(rule.entity, figure.entities, ready.where), Series())
    at = ready.position(rule.at, rule.axis)
    if rule.axis == "x":
        x = canvas.x.at(at)
        if rule.label:
            canvas.tops.append((x, rule.label, ink.text))
        return {"color": ink.color, "dash": rule.dash, "a": canvas.share(x, 0), "b": canvas.share(x, canvas.y.length)}
    y = canvas.y.at(at)
    return {"color": ink.color, "dash": rule.dash, "a": canvas.share(0, y), "b": canvas.share(canvas.x.length, y)}


_ANCHORS = {
    "above": "south", "below": "north", "left": "east", "right": "west", "above left": "south east",
    "above right": "south west", "below left": "north east", "below right": "north west", "center": "center",
}  # fmt: skip


def _place_annotations(canvas: Canvas, figure: Figure, arrows: list[dict[str, Any]]) -> None:
    from boundpaper.figures.series import Series

    for note in canvas.ready.panel.annotations:
        x, y = canvas.mm(canvas.ready.position(note.x, "x"), canvas.ready.position(note.y, "y"))
        color = "okblack"
        if note.entity:
            color = look(style(note.entity, figure.entities, canvas.ready.where), Series()).text
        dx = 0.8 * (("right" in note.anchor) - ("left" in note.anchor))
        dy = 0.8 * (("above" in note.anchor) - ("below" in note.anchor))
        canvas.say(x + dx, y + dy, latex(note.text), _ANCHORS[note.anchor], color, size="scriptsize")
        if note.target is not None:
            end = canvas.mm(canvas.ready.position(note.target[0], "x"), canvas.ready.position(note.target[1], "y"))
            arrows.append({"a": canvas.share(x, y), "b": canvas.share(*end), "color": color})
