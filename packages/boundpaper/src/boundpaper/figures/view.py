"""Describe a figure with its layout for the templates, in nested dictionaries of texts and numbers."""

import math
from typing import Any

from boundpaper.errors import SpecError
from boundpaper.figures.draw import DRAW, Canvas, Plot, draw_stacks
from boundpaper.figures.layout import PlacedPanel, lay_out
from boundpaper.figures.legend import make_legend, placed_entries
from boundpaper.figures.margins import LINE_HEIGHT, bar_scale
from boundpaper.figures.metrics import width, wrap
from boundpaper.figures.names import write_edge_names, write_names_above, write_point_names
from boundpaper.figures.ready import PreparedPanel, PreparedSeries
from boundpaper.figures.scale import Scale, number
from boundpaper.figures.series import Bars, Bundle, Fit, Forest, Heatmap, Line, Points, Stacked
from boundpaper.figures.spec import Figure, Rule, Shade
from boundpaper.figures.text import latex

RASTER_FROM = 32
"""Rows or columns from which a heat map is included as a picture, since LaTeX would take seconds to draw it."""
STRUT = r"\vphantom{Ag}"
"""LaTeX before each name at an axis, which aligns names with and without ascenders."""


def figure_view(figure: Figure, name: str) -> dict[str, Any]:
    """Lay out and draw a figure; return its size, panels and legend for the templates."""
    legend = make_legend(figure, name)
    page = lay_out(figure, name, legend.height)
    panels = [_panel_view(panel, f"{name}-{i}.png") for i, panel in enumerate(page.panels, 1)]
    return {
        "page": {"width": number(page.width), "height": f"{page.height:.2f}", "panels": panels},
        "legend": placed_entries(legend, page),
    }


def rasterized_heat_maps(figure: Figure) -> list[tuple[int, Heatmap]]:
    """Return the heat maps that become pictures, each with the index of its panel."""
    return [
        (i, s)
        for i, panel in enumerate(figure.panels)
        for s in panel.series
        if isinstance(s, Heatmap) and max(len(s.values), len(s.values[0])) >= RASTER_FROM
    ]


def _panel_view(placed: PlacedPanel, picture: str) -> dict[str, Any]:
    """Draw a panel; return its fields for the templates. `picture` is the file name of a dense heat map."""
    panel, x, y = placed.panel, placed.x, placed.y
    canvas = Canvas(panel, x, y)
    fields: dict[str, Any] = {
        "left": f"{placed.left:.2f}",
        "low": f"{placed.low:.2f}",
        "width": f"{x.length:.2f}",
        "height": f"{y.length:.2f}",
        "x": _axis_view(placed, "x"),
        "y": _axis_view(placed, "y"),
        "title": placed.title,
        "title_up": f"{placed.title_up:.2f}",
        "shades": [_shade_view(canvas, shade, i) for i, shade in enumerate(panel.panel.shades)],
        "rules": [_rule_view(canvas, rule) for rule in panel.panel.rules],
        "plots": _panel_plots(canvas, picture),
        "guides": _row_lines(canvas),
        "arrows": _write_annotations(canvas),
    }
    write_names_above(canvas)
    write_edge_names(canvas)
    write_point_names(canvas)
    first = panel.series[0].series
    fields["heat"] = _colour_bar_view(first, y) if isinstance(first, Heatmap) else None
    return {**fields, "texts": canvas.texts, "leaders": canvas.leaders}


def _axis_view(placed: PlacedPanel, axis: str) -> dict[str, Any]:
    scale = placed.x if axis == "x" else placed.y
    panel = placed.panel
    spec, names = panel.axis(axis), panel.names[axis]
    low, high = scale.limits
    has_labels = placed.has_x_labels if axis == "x" else placed.has_y_labels
    texts = list(placed.x_ticks.texts) if axis == "x" else [text for _, text in scale.ticks]
    if axis == "y":
        texts = [rf"\textbf{{{text}}}" if i in panel.headings else text for i, text in enumerate(texts)]
    if names:
        texts = [STRUT + text for text in texts]
    grid = spec.grid
    if grid is None:
        grid = not names and scale.kind != "edges" and axis == (panel.bar_axis or _value_axis(panel))
    lines = (wrap(spec.label, scale.length) or [spec.label]) if spec.label and has_labels else []
    below = 1.0 + 0.5 + placed.x_ticks.depth
    return {
        "low": number(low),
        "high": number(high),
        "log": scale.kind == "log",
        "ticks": [number(_tick_position(scale, value, bool(names))) for value, _ in scale.ticks],
        "minor": [number(v) for v in _minor_ticks(scale)] if scale.kind == "log" and spec.base == 10 else [],
        "texts": texts if has_labels else [""] * len(texts),
        "size": placed.x_ticks.size,
        "angle": placed.x_ticks.angle,
        "wrapped": any(r"\\" in text for text in texts),
        "grid": grid,
        "bare": bool(names) and (bool(panel.bar_axis) or axis == "y"),
        "label": r"\\".join(rf"\strut {latex(line)}" for line in lines),
        "label_at": f"{-below / placed.y.length:.4f}" if axis == "x" else f"{-placed.space_left / placed.x.length:.4f}",
    }


def _minor_ticks(scale: Scale) -> list[float]:
    """Return the multiples of powers of ten, whose uneven distances show that an axis is logarithmic."""
    tens = [10.0**power for power in range(math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)))]
    return [digit * ten for ten in tens for digit in range(1, 10) if scale.low <= digit * ten <= scale.high]


def _value_axis(panel: PreparedPanel) -> str:
    """Return the name of the value axis of a panel without bars."""
    return "x" if any(isinstance(prepared.series, Forest) for prepared in panel.series) else "y"


def _tick_position(scale: Scale, value: float, is_category: bool) -> float:
    if scale.kind == "edges" and is_category:
        position = value + 0.5
        return len(scale.edges) - 1 - position + 0.0 if scale.reverse else position
    return scale.coordinate(value)


def _panel_plots(canvas: Canvas, picture: str) -> list[Plot]:
    layers = [prepared for prepared in canvas.panel.series if isinstance(prepared.series, Stacked)]
    plots = draw_stacks(canvas, layers)
    for prepared in sorted(canvas.panel.series, key=_depth):
        if isinstance(prepared.series, Heatmap):
            plots.append(_heat_map_plot(prepared.series, canvas, picture))
        elif not isinstance(prepared.series, Stacked):
            plots += DRAW[type(prepared.series)](canvas, prepared)
    return plots


def _depth(prepared: PreparedSeries) -> int:
    """Return the rank of a series from back to front: bars and bundles are behind lines, lines behind points."""
    order: tuple[type, ...] = (Heatmap, Bars, Bundle, Fit, Line, Forest, Points)
    return order.index(type(prepared.series)) if type(prepared.series) in order else 0


def _heat_map_plot(s: Heatmap, canvas: Canvas, picture: str) -> Plot:
    rows, columns = len(s.values), len(s.values[0])
    plot: Plot = {"kind": "heatmap", "columns": columns, "count": rows}
    if max(rows, columns) >= RASTER_FROM:
        return {**plot, "picture": picture}
    bar = bar_scale(s, canvas.y.length)
    matrix = displayed_rows(s, canvas.x.reverse, not canvas.y.reverse)
    cells = [
        (number(c + 0.5), number(r + 0.5), "nan" if v is None else number(bar.coordinate(v)))
        for r, row in enumerate(reversed(matrix))  # LaTeX counts rows from below
        for c, v in enumerate(row)
    ]
    return {**plot, "picture": "", "rows": cells}


def displayed_rows(s: Heatmap, is_mirrored: bool, is_flipped: bool) -> list[list[float | None]]:
    """Return a heat map's rows from top to bottom: `is_mirrored` reverses each row, `is_flipped` the order of rows."""
    rows = [list(reversed(row)) if is_mirrored else list(row) for row in s.values]
    return rows[::-1] if is_flipped else rows


def _colour_bar_view(s: Heatmap, y: Scale) -> dict[str, Any]:
    scale = bar_scale(s, y.length)
    low, high = scale.limits
    widest = max(width(t) for _, t in scale.ticks)
    return {
        "map": "okviridis" if s.colors == "viridis" else "oksigned",
        "low": number(low),
        "high": number(high),
        "ticks": [number(scale.coordinate(v)) for v, _ in scale.ticks],
        "texts": [t for _, t in scale.ticks],
        "label": rf"\strut {latex(s.bar)}" if s.bar else "",
        "label_at": f"{1 + (2.2 + widest + LINE_HEIGHT) / 2.5:.4f}",
    }


def _row_lines(canvas: Canvas) -> list[Plot]:
    """Return light lines across the axes, one for each named row of a forest."""
    if _value_axis(canvas.panel) != "x":
        return []
    heights = [canvas.y.mm(i) for i in range(len(canvas.panel.names["y"])) if i not in canvas.panel.headings]
    return [{"a": canvas.fractions(0, y), "b": canvas.fractions(canvas.x.length, y)} for y in heights]


def _shade_view(canvas: Canvas, shade: Shade, i: int) -> dict[str, Any]:
    """Return a shaded range for the templates; ranges without an entity alternate between two greys."""
    panel = canvas.panel
    scale = canvas.x if shade.axis == "x" else canvas.y
    ends = zip((shade.low, shade.high), (scale.low, scale.high), strict=True)
    a, b = sorted(scale.mm(limit if end is None else panel.position(end, shade.axis)) for end, limit in ends)
    if a < -1e-6 or b > scale.length + 1e-6:
        raise SpecError(
            f"{panel.location}: the shaded range {shade.low} to {shade.high} exceeds the given limits of axis "
            f"{shade.axis}, {number(scale.low)} to {number(scale.high)}: widen the limits, or use None for an open end"
        )
    color = f"black, fill opacity={0.07 if i % 2 == 0 else 0.14}"
    if shade.entity:
        color = f"{canvas.panel.entity_look(shade.entity).color}, fill opacity=0.12"
    if shade.axis == "x":
        if shade.label:
            canvas.names_above.append(((a + b) / 2, shade.label, "okgrey!60!black"))
        return {"color": color, "a": canvas.fractions(a, 0), "b": canvas.fractions(b, canvas.y.length)}
    return {"color": color, "a": canvas.fractions(0, a), "b": canvas.fractions(canvas.x.length, b)}


def _rule_view(canvas: Canvas, rule: Rule) -> dict[str, Any]:
    rule_look = canvas.panel.entity_look(rule.entity)
    fields = {"color": rule_look.color, "dash": rule.dash}
    position = canvas.panel.position(rule.at, rule.axis)
    if rule.axis == "x":
        x = canvas.x.mm(position)
        if rule.label:
            canvas.names_above.append((x, rule.label, rule_look.text_color))
        return {**fields, "a": canvas.fractions(x, 0), "b": canvas.fractions(x, canvas.y.length)}
    y = canvas.y.mm(position)
    return {**fields, "a": canvas.fractions(0, y), "b": canvas.fractions(canvas.x.length, y)}


_ANCHORS = {
    "above": "south", "below": "north", "left": "east", "right": "west", "above left": "south east",
    "above right": "south west", "below left": "north east", "below right": "north west", "center": "center",
}  # fmt: skip


def _write_annotations(canvas: Canvas) -> list[dict[str, Any]]:
    """Write the annotations; return their arrows."""
    panel, arrows = canvas.panel, []
    for annotation in panel.panel.annotations:
        x, y = canvas.mm(panel.position(annotation.x, "x"), panel.position(annotation.y, "y"))
        color = canvas.panel.entity_look(annotation.entity).text_color if annotation.entity else "okblack"
        dx = 0.8 * (("right" in annotation.anchor) - ("left" in annotation.anchor))
        dy = 0.8 * (("above" in annotation.anchor) - ("below" in annotation.anchor))
        canvas.add_text(x + dx, y + dy, latex(annotation.text), _ANCHORS[annotation.anchor], color, size="scriptsize")
        if annotation.target is not None:
            end = canvas.mm(panel.position(annotation.target[0], "x"), panel.position(annotation.target[1], "y"))
            arrows.append({"a": canvas.fractions(x, y), "b": canvas.fractions(*end), "color": color})
    return arrows
