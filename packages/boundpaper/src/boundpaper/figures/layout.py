"""Lay out a figure: size and position of every panel in mm, before anything is drawn.

Axes line up in rows and columns: the axes of a column have the same left edge, whatever the width of tick labels.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from boundpaper.errors import SpecError
from boundpaper.figures.draw import bar_labels
from boundpaper.figures.margins import SMALL, TickLabels, has_names_above, left_of, right_of, room_below, x_tick_labels
from boundpaper.figures.metrics import width
from boundpaper.figures.ready import PreparedPanel, categories, prepare, stack_tops, values_along
from boundpaper.figures.scale import Scale, settle
from boundpaper.figures.series import Bars, Forest, Heatmap, Stacked
from boundpaper.figures.spec import Figure, Panel
from boundpaper.figures.text import cell, latex
from boundpaper.figures.ticks import is_year, with_ticks

GAP_MM = 3.5
CLEAR_MM = 1.6
"""Distance in mm from the outermost value to the frame: half a mark and a small gap."""
TITLE_MM = 5.0


@dataclass(frozen=True, kw_only=True)
class PlacedPanel:
    """A panel's position; lengths are in mm from the figure's lower left corner."""

    ready: PreparedPanel
    x: Scale
    y: Scale
    left: float
    low: float
    room: float
    x_ticks: TickLabels
    x_outer: bool
    y_outer: bool
    title: str
    title_up: float


@dataclass(frozen=True, kw_only=True)
class PageLayout:
    """A figure with its layout; `legend_at` is the middle of the legend's upper edge."""

    width: float
    height: float
    places: tuple[PlacedPanel, ...]
    legend_low: float


def lay_out(figure: Figure, name: str, legend_height: float) -> PageLayout:
    """Return a figure with its layout.

    Raises SpecError when the panels leave no room for their axes.
    """
    panels = _prepared_panels(figure, name)
    count = len(panels)
    columns = figure.columns or (count if count <= 3 else 2 if count == 4 else 3)
    rows = math.ceil(count / columns)
    guess = figure.width / columns - 16
    heights = [
        max(_height(figure, p, guess, columns) for p in panels[r * columns : (r + 1) * columns]) for r in range(rows)
    ]
    ys = _set_scales(figure, panels, "y", [heights[i // columns] for i in range(count)])
    xs = _set_scales(figure, panels, "x", [guess] * count)
    lefts, rights = [0.0] * columns, [0.0] * columns
    for axes in range(2):  # the last tick label determines the right margin, which determines the ticks
        for i, panel in enumerate(panels):
            c = i % columns
            outer = c == 0 or not figure.share_y
            lefts[c] = max(lefts[c] if axes else 0.0, left_of(panel, ys[i], outer))
            rights[c] = max(rights[c] if axes else 0.0, right_of(panel, xs[i], ys[i]))
        wide = (figure.width - sum(lefts) - sum(rights) - GAP_MM * (columns - 1)) / columns
        if wide < 12:
            raise SpecError(
                f"figure {name}: {columns} panels in a row leave {wide:.0f} mm for each; "
                "set columns= to fewer, or shorten labels"
            )
        xs = _set_scales(figure, panels, "x", [wide] * count)
    ticks = [x_tick_labels(panel, x) for panel, x in zip(panels, xs, strict=True)]
    low = 0.0
    places: list[PlacedPanel | None] = [None] * count
    if figure.legend == "below" and legend_height:
        low += legend_height
    for r in reversed(range(rows)):
        members = range(r * columns, min((r + 1) * columns, count))
        outers = [not figure.share_x or i + columns >= count for i in members]
        low += max(room_below(panels[i], ticks[i], outer, wide) for i, outer in zip(members, outers, strict=True))
        room_above = SMALL + 0.4 if any(has_names_above(panels[i]) for i in members) else 0.0
        for i, outer in zip(members, outers, strict=True):
            c = i % columns
            title = _panel_title(figure, panels[i].panel, i)
            places[i] = PlacedPanel(
                ready=panels[i], x=xs[i], y=ys[i], low=low, room=lefts[c], x_ticks=ticks[i], x_outer=outer,
                left=sum(lefts[: c + 1]) + sum(rights[:c]) + c * (wide + GAP_MM), title=title,
                y_outer=c == 0 or not figure.share_y,
                title_up=1.8 + room_above,
            )  # fmt: skip
        has_titles = any(_panel_title(figure, panels[i].panel, i) for i in members)
        low += heights[r] + (TITLE_MM if has_titles else 1.2) + room_above
        low += GAP_MM if r else 0.0
    top = low
    if figure.legend == "above" and legend_height:
        low += legend_height
    return PageLayout(
        width=figure.width,
        height=low,
        places=tuple(p for p in places if p is not None),
        legend_low=top if figure.legend == "above" else 0.0,
    )


def _prepared_panels(figure: Figure, name: str) -> list[PreparedPanel]:
    shared = {a: categories(figure.panels, a) for a in ("x", "y") if (figure.share_x if a == "x" else figure.share_y)}
    panels = []
    for i, panel in enumerate(figure.panels, 1):
        place = f"figure {name}" + (f", panel {i}" if len(figure.panels) > 1 else "")
        names = {a: shared.get(a) or categories([panel], a) for a in ("x", "y")}
        panels.append(prepare(panel, place, figure.entities, names))
    return panels


def _panel_title(figure: Figure, panel: Panel, i: int) -> str:
    letter = rf"(\kern-0.06em {chr(ord('a') + i)}\kern-0.06em)" if figure.letters else ""  # bold parentheses are loose
    return " ".join(part for part in (letter, latex(panel.title)) if part)


def _height(figure: Figure, panel: PreparedPanel, wide: float, columns: int) -> float:
    """Return the height of the axes: the given height, else from the number of named rows, else in proportion."""
    if figure.height is not None:
        return figure.height
    if any(isinstance(d.series, Forest) for d in panel.drawn):
        forests = sum(isinstance(d.series, Forest) for d in panel.drawn)
        return max(12.0, len(panel.names["y"]) * max(4.3, 2.6 * forests) + 3)
    if panel.bars == "x":
        thin = sum(isinstance(d.series, Bars) for d in panel.drawn)
        return max(12.0, len(panel.names["y"]) * max(5.5, 3.6 * thin + 1.6))
    if any(isinstance(d.series, Heatmap) for d in panel.drawn):
        return min(0.82 * wide, 70.0)
    return 62.0 if columns == 1 else min(max(0.78 * wide, 32.0), 52.0)


def _set_scales(figure: Figure, panels: Sequence[PreparedPanel], axis: str, lengths: Sequence[float]) -> list[Scale]:
    """Return the scales of all panels along one axis, the same scale if the figure shares it."""
    is_shared = figure.share_x if axis == "x" else figure.share_y
    spans = [_values_along(panel, axis) for panel in panels]
    if is_shared:
        spans = [[v for s in spans for v in s]] * len(panels)
    scales = [_panel_scale(p, axis, s, length) for p, s, length in zip(panels, spans, lengths, strict=True)]
    if is_shared and len({s.kind for s in scales}) == 1:
        lows, highs = [s.low for s in scales], [s.high for s in scales]
        scales = [replace(s, low=min(lows), high=max(highs)) for s in scales]
    return [_with_ticks(p, axis, s) for p, s in zip(panels, scales, strict=True)]


def _values_along(panel: PreparedPanel, axis: str) -> list[float]:
    values = [v for d in panel.drawn for v in values_along(d, axis)]
    if axis == "y":
        values += stack_tops(panel.drawn).values()
    values += [panel.position(r.at, axis) for r in panel.panel.rules if r.axis == axis]
    shades = [s for s in panel.panel.shades if s.axis == axis]
    values += [panel.position(end, axis) for s in shades for end in (s.low, s.high) if end is not None]
    values += [panel.position(getattr(a, axis), axis) for a in panel.panel.annotations]
    return values


def _panel_scale(panel: PreparedPanel, axis: str, values: Sequence[float], length: float) -> Scale:
    spec = panel.axis(axis)
    maps = [d.series for d in panel.drawn if isinstance(d.series, Heatmap)]
    if maps:
        rows, columns = len(maps[0].values), len(maps[0].values[0])
        cells = columns if axis == "x" else rows
        edges = tuple(map(float, getattr(maps[0], f"{axis}_edges") or range(cells + 1)))
        if panel.names[axis]:
            edges = tuple(i - 0.5 for i in range(cells + 1))
        return Scale(kind="edges", low=edges[0], high=edges[-1], length=length, edges=edges, reverse=spec.reverse)
    if panel.names[axis]:
        count = len(panel.names[axis])
        room = 0.5 if _holds_blocks(panel, axis) else 0.25
        low, high = min([*values, 0.0]), max([*values, count - 1.0])
        low, high = min(low, -room), max(high, count - 1 + room)
        return Scale(kind="linear", low=low, high=high, length=length, reverse=axis == "y")
    grown = panel.bars == axis
    pad = max(0.05 if grown or axis == "y" else 0.03, CLEAR_MM / max(length - 2 * CLEAR_MM, CLEAR_MM))
    scale = settle(spec, values, length=length, pad=pad, grounded=grown)
    return scale if not grown else _with_headroom(panel, axis, scale)


def _holds_blocks(panel: PreparedPanel, axis: str) -> bool:
    """Return whether categories are bars or rows, which need half a step at both ends."""
    return axis == "y" or any(isinstance(d.series, Bars | Stacked) for d in panel.drawn)


def _with_headroom(panel: PreparedPanel, axis: str, scale: Scale) -> Scale:
    """Return the scale with room for the numbers printed at bars, unless limits are given."""
    spec = panel.axis(axis)
    bars = [d.series for d in panel.drawn if isinstance(d.series, Bars) and d.series.values is not False]
    for s in bars * 3:  # extending one end reduces the room at the other: three rounds converge
        values = s.x if s.horizontal else s.y
        for i, (value, text) in enumerate(zip(values, bar_labels(s), strict=True)):
            label_width = width(text, "scriptsize") + 1.6
            room = label_width if s.horizontal or len(panel.drawn) * len(values) > 12 else 4.2
            ends = [value, *((s.low[i], s.high[i]) if s.low is not None else ())]
            end = min(ends) if value < 0 else max(ends)
            if (spec.low if value < 0 else spec.high) is None:
                scale = scale.extended(end, room, upper=value >= 0)
    return scale


def _with_ticks(panel: PreparedPanel, axis: str, scale: Scale) -> Scale:
    names, spec = panel.names[axis], panel.axis(axis)
    if names:
        return replace(scale, ticks=tuple((float(i), cell(str(n))) for i, n in enumerate(names)))
    values = _values_along(panel, axis)
    years = bool(values) and spec.scale == "linear" and not spec.percent and all(map(is_year, values))
    return with_ticks(scale, spec, every=16.0 if axis == "x" else 11.0, years=years)
