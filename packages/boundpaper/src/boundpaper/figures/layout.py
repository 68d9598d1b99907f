"""Lay out a figure: compute the size and position of every panel in mm, before anything is drawn.

Axes line up in rows and columns: the axes of a column have the same left edge, whatever the width of tick labels.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from boundpaper.errors import SpecError
from boundpaper.figures import margins
from boundpaper.figures.draw import bar_labels
from boundpaper.figures.metrics import width
from boundpaper.figures.ready import PreparedPanel, categories, prepare, stack_tops, values_along
from boundpaper.figures.scale import Scale, range_scale
from boundpaper.figures.series import Bars, Forest, Heatmap, Stacked
from boundpaper.figures.spec import Figure, Panel
from boundpaper.figures.text import data_latex, latex
from boundpaper.figures.ticks import is_year, with_ticks

GAP_MM = 3.5
"""Distance in mm between neighbouring panels."""
CLEAR_MM = 1.6
"""Distance in mm from the outermost value to the frame: half a mark and a small gap."""
TITLE_MM = 5.0
"""Space in mm for the titles above a row of panels."""


@dataclass(frozen=True, kw_only=True)
class PlacedPanel:
    """A panel with its layout in mm.

    `left` and `low` are the lower left corner of the axes in the figure, `space_left` is the space for labels to the
    left of the axes, and `title_up` is the height of the title above them. Inner panels have no labels at shared axes.
    """

    panel: PreparedPanel
    x: Scale
    y: Scale
    left: float
    low: float
    space_left: float
    x_ticks: margins.TickLabels
    has_x_labels: bool
    has_y_labels: bool
    title: str
    title_up: float


@dataclass(frozen=True, kw_only=True)
class PageLayout:
    """A figure's layout in mm; `legend_low` is the lower edge of the legend."""

    width: float
    height: float
    panels: tuple[PlacedPanel, ...]
    legend_low: float


def lay_out(figure: Figure, name: str, legend_height: float) -> PageLayout:
    """Return the layout of a figure; raise SpecError if its axes would be too narrow."""
    panels = _prepared_panels(figure, name)
    count = len(panels)
    columns = figure.columns or (count if count <= 3 else 2 if count == 4 else 3)
    rows = math.ceil(count / columns)
    axes_width = figure.width / columns - 16  # a first guess, from which heights follow
    heights = [
        max(_axes_height(figure, panel, axes_width, columns) for panel in panels[start : start + columns])
        for start in range(0, count, columns)
    ]
    ys = _scales_along(figure, panels, "y", [heights[i // columns] for i in range(count)])
    xs = _scales_along(figure, panels, "x", [axes_width] * count)
    lefts, rights = [0.0] * columns, [0.0] * columns
    for _ in range(2):  # the last tick label determines the right margin, which determines the ticks
        for i, panel in enumerate(panels):
            c = i % columns
            lefts[c] = max(lefts[c], margins.space_left(panel, ys[i], c == 0 or not figure.share_y))
            rights[c] = max(rights[c], margins.space_right(panel, xs[i], ys[i]))
        axes_width = (figure.width - sum(lefts) - sum(rights) - GAP_MM * (columns - 1)) / columns
        if axes_width < 12:
            raise SpecError(
                f"figure {name}: {columns} panels in a row leave {axes_width:.0f} mm for each; "
                "set columns= to fewer, or shorten labels"
            )
        xs = _scales_along(figure, panels, "x", [axes_width] * count)
    ticks = [margins.x_tick_labels(panel, x) for panel, x in zip(panels, xs, strict=True)]
    low = legend_height if figure.legend == "below" else 0.0
    placed: dict[int, PlacedPanel] = {}
    for r in reversed(range(rows)):
        indices = range(r * columns, min((r + 1) * columns, count))
        has_labels = {i: not figure.share_x or i + columns >= count for i in indices}
        low += max(margins.space_below(panels[i], ticks[i], has_labels[i], axes_width) for i in indices)
        space_above = margins.NAME_MM + 0.4 if any(margins.has_names_above(panels[i]) for i in indices) else 0.0
        for i in indices:
            c = i % columns
            placed[i] = PlacedPanel(
                panel=panels[i], x=xs[i], y=ys[i], low=low, space_left=lefts[c], x_ticks=ticks[i],
                left=sum(lefts[: c + 1]) + sum(rights[:c]) + c * (axes_width + GAP_MM),
                has_x_labels=has_labels[i], has_y_labels=c == 0 or not figure.share_y,
                title=_panel_title(figure, panels[i].panel, i), title_up=1.8 + space_above,
            )  # fmt: skip
        has_titles = any(placed[i].title for i in indices)
        low += heights[r] + (TITLE_MM if has_titles else 1.2) + space_above
        low += GAP_MM if r else 0.0
    return PageLayout(
        width=figure.width,
        height=low + (legend_height if figure.legend == "above" else 0.0),
        panels=tuple(placed[i] for i in range(count)),
        legend_low=low if figure.legend == "above" else 0.0,
    )


def _prepared_panels(figure: Figure, name: str) -> list[PreparedPanel]:
    shared = {a: categories(figure.panels, a) for a in ("x", "y") if (figure.share_x if a == "x" else figure.share_y)}
    panels = []
    for i, panel in enumerate(figure.panels, 1):
        location = f"figure {name}" + (f", panel {i}" if len(figure.panels) > 1 else "")
        names = {a: shared.get(a) or categories([panel], a) for a in ("x", "y")}
        panels.append(prepare(panel, location, figure.entities, names))
    return panels


def _panel_title(figure: Figure, panel: Panel, i: int) -> str:
    letter = rf"(\kern-0.06em {chr(ord('a') + i)}\kern-0.06em)" if figure.letters else ""  # bold parentheses leave gaps
    return " ".join(filter(None, (letter, latex(panel.title))))


def _axes_height(figure: Figure, panel: PreparedPanel, axes_width: float, columns: int) -> float:
    """Return the height of the axes: as specified, else by the number of named rows, else by the width."""
    if figure.height is not None:
        return figure.height
    if forests := sum(isinstance(p.series, Forest) for p in panel.series):
        return max(12.0, len(panel.names["y"]) * max(4.3, 2.6 * forests) + 3)
    if panel.bar_axis == "x":
        bars = sum(isinstance(p.series, Bars) for p in panel.series)
        return max(12.0, len(panel.names["y"]) * max(5.5, 3.6 * bars + 1.6))
    if any(isinstance(p.series, Heatmap) for p in panel.series):
        return min(0.82 * axes_width, 70.0)
    return 62.0 if columns == 1 else min(max(0.78 * axes_width, 32.0), 52.0)


def _scales_along(figure: Figure, panels: Sequence[PreparedPanel], axis: str, lengths: Sequence[float]) -> list[Scale]:
    """Return the scales of all panels along one axis, with equal limits if the panels share the axis."""
    is_shared = figure.share_x if axis == "x" else figure.share_y
    columns = [_panel_values(panel, axis) for panel in panels]
    if is_shared:
        columns = [[v for values in columns for v in values]] * len(panels)
    scales = [_panel_scale(p, axis, values, length) for p, values, length in zip(panels, columns, lengths, strict=True)]
    if is_shared and len({s.kind for s in scales}) == 1:
        lows, highs = [s.low for s in scales], [s.high for s in scales]
        scales = [replace(s, low=min(lows), high=max(highs)) for s in scales]
    return [_with_ticks(p, axis, s) for p, s in zip(panels, scales, strict=True)]


def _panel_values(panel: PreparedPanel, axis: str) -> list[float]:
    """Return all values that a panel draws along an axis: of series, rules, shaded ranges and annotations."""
    values = [v for prepared in panel.series for v in values_along(prepared, axis)]
    if axis == "y":
        values += stack_tops(panel.series).values()
    values += [panel.position(r.at, axis) for r in panel.panel.rules if r.axis == axis]
    shades = [s for s in panel.panel.shades if s.axis == axis]
    values += [panel.position(end, axis) for s in shades for end in (s.low, s.high) if end is not None]
    values += [panel.position(getattr(a, axis), axis) for a in panel.panel.annotations]
    return values


def _panel_scale(panel: PreparedPanel, axis: str, values: Sequence[float], length: float) -> Scale:
    spec = panel.axis(axis)
    first = panel.series[0].series
    if isinstance(first, Heatmap):  # the only series of its panel
        cells = len(first.values[0]) if axis == "x" else len(first.values)
        edges = tuple(map(float, getattr(first, f"{axis}_edges") or range(cells + 1)))
        if panel.names[axis]:
            edges = tuple(i - 0.5 for i in range(cells + 1))
        return Scale(kind="edges", low=edges[0], high=edges[-1], length=length, edges=edges, reverse=spec.reverse)
    if panel.names[axis]:
        last = len(panel.names[axis]) - 1.0
        # bars and rows take half a step on both sides of their positions
        margin = 0.5 if axis == "y" or any(isinstance(p.series, Bars | Stacked) for p in panel.series) else 0.25
        low, high = min([*values, -margin]), max([*values, last + margin])
        return Scale(kind="linear", low=low, high=high, length=length, reverse=axis == "y")
    has_bars = panel.bar_axis == axis
    pad = max(0.05 if has_bars or axis == "y" else 0.03, CLEAR_MM / max(length - 2 * CLEAR_MM, CLEAR_MM))
    scale = range_scale(spec, values, length=length, pad=pad, from_zero=has_bars)
    return _with_headroom(panel, axis, scale) if has_bars else scale


def _with_headroom(panel: PreparedPanel, axis: str, scale: Scale) -> Scale:
    """Return the scale with space for the numbers printed at bars, unless limits are specified."""
    spec = panel.axis(axis)
    bars = [p.series for p in panel.series if isinstance(p.series, Bars) and p.series.values is not False]
    for s in bars * 3:  # extending one end reduces the space at the other: three rounds converge
        values = s.x if s.horizontal else s.y
        for i, (value, text) in enumerate(zip(values, bar_labels(s), strict=True)):
            label_width = width(text, "scriptsize") + 1.6
            space = label_width if s.horizontal or len(panel.series) * len(values) > 12 else 4.2
            ends = [value, *((s.low[i], s.high[i]) if s.low is not None else ())]
            end = min(ends) if value < 0 else max(ends)
            if (spec.low if value < 0 else spec.high) is None:
                scale = scale.extended(end, space, upper=value >= 0)
    return scale


def _with_ticks(panel: PreparedPanel, axis: str, scale: Scale) -> Scale:
    names, spec = panel.names[axis], panel.axis(axis)
    if names:
        return replace(scale, ticks=tuple((float(i), data_latex(str(n))) for i, n in enumerate(names)))
    values = _panel_values(panel, axis)
    are_years = bool(values) and spec.scale == "linear" and not spec.percent and all(map(is_year, values))
    return with_ticks(scale, spec, every=16.0 if axis == "x" else 11.0, are_years=are_years)
