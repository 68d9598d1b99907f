r"""Convert a matplotlib drawing to PGFPlots in the style of the project's figures, if the result is exact.

Lines, points of one look, areas with straight edges such as bars, error bars, texts in data coordinates and legends are
converted, on linear and decimal log axes in a grid of `subplots`. Typeface, text sizes and the two axis lines follow
the project's style; values, ticks and tick labels, colours, widths, dashes and mark shapes are kept. Any other part
raises `NotConverted` with its name.
"""

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import matplotlib.axes
import numpy as np
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure as Drawing
from matplotlib.offsetbox import DrawingArea
from matplotlib.spines import Spine
from matplotlib.text import Text
from matplotlib.ticker import AutoLocator, ScalarFormatter

from boundpaper.figures.matplotlib.artists import STYLE_TEXT, WRITERS, legend_image
from boundpaper.figures.matplotlib.page import lay_out_page
from boundpaper.figures.matplotlib.panel import ConvertedAxis, ConvertedPanel, Marks, kind_of, latex_lines
from boundpaper.figures.matplotlib.usual import NotConverted, make_default, quiet_fonts, require, require_default
from boundpaper.figures.ticks import is_year

MOST_POINTS = 2000
"""Maximum number of points of a panel: more take PGFPlots too long."""
# Properties of figures, pairs of axes and single axes that are converted, checked, or set by the project's style.
_FIGURE = (
    *("figheight", "figwidth", "size_inches", "dpi", "constrained_layout", "tight_layout", "constrained_layout_pads"),
    *("layout_engine", "canvas"),
)
_AXES = tuple(
    """
    adjustable anchor autoscale_on autoscalex_on autoscaley_on axisbelow navigate position forward_navigation_events
    subplotspec title xbound xlabel xlim xmargin xscale xticks xinverted xticklabels yinverted ybound ylabel ylim
    ymargin yscale yticks yticklabels
    """.split()
)
_AXIS = (
    *("inverted", "label_text", "major_formatter", "major_locator", "minor_formatter", "minor_locator", "ticklabels"),
    *("ticks", "tick_params", "ticks_position", "view_interval", "units", "converter", "label_coords"),
)
_LEGEND_POSITIONS = {
    "upper right": (0.98, 0.98), "upper left": (0.02, 0.98), "lower left": (0.02, 0.02), "lower right": (0.98, 0.02),
    "right": (0.98, 0.5), "center left": (0.02, 0.5), "center right": (0.98, 0.5), "lower center": (0.5, 0.02),
    "upper center": (0.5, 0.98), "center": (0.5, 0.5),
}  # fmt: skip


def pgfplots(drawing: Drawing, width: float, height: float | None) -> str:
    """Return the PGFPlots code of a drawing.

    `width` is the width of the figure in mm, and `height` the height of each panel's axes in mm, by default in the
    drawing's proportions. Raises NotConverted with the first artist or property that cannot be converted exactly.
    """
    require(not any(text.get_usetex() for text in drawing.findobj(Text)), "a text in TeX (usetex)")
    with warnings.catch_warnings(), quiet_fonts():
        warnings.simplefilter("ignore")  # warnings of fonts that the document does not use
        drawing.draw_without_rendering()  # computes limits, ticks and tick labels
    require_default(drawing, make_default(lambda: Drawing()), _FIGURE, "the figure")
    for child in drawing.get_children():
        if child is not drawing.patch and not isinstance(child, matplotlib.axes.Axes):
            raise NotConverted(f"{kind_of(child)} of the whole figure")
    require(not any(hasattr(axes, "_colorbar") for axes in drawing.axes), "a colour bar")
    visible_axes = [axes for axes in drawing.axes if axes.get_visible()]
    require(visible_axes, "a figure without axes")
    positions = {axes.get_position(original=True).bounds for axes in visible_axes}
    require(len(positions) == len(visible_axes), "axes over each other (twinx, twiny)")
    marks = Marks()
    panels = [_convert_panel(axes, marks) for axes in visible_axes]
    require(len({(p.row, p.column) for p in panels}) == len(panels), "axes in one cell of the grid")
    return lay_out_page(panels, marks, width, height)


def _convert_panel(axes: Any, marks: Marks) -> ConvertedPanel:
    require(type(axes) is matplotlib.axes.Axes, f"{kind_of(axes)} ({axes.name} axes)")
    spec = axes.get_subplotspec()
    require(spec is not None, "axes outside a grid of subplots")
    grid = spec.get_gridspec()
    require(len(spec.rowspan) == len(spec.colspan) == 1, "axes over several cells of the grid")
    require(not hasattr(grid, "_subplot_spec"), "a grid within a grid")
    for ratios in (grid.get_width_ratios(), grid.get_height_ratios()):
        require(ratios is None or len(set(ratios)) == 1, "rows or columns of unequal size")
    require(not axes.child_axes, "axes within axes (an inset, or a secondary axis)")
    require_default(axes, _blank_axes(), _AXES, "the axes")
    for title in (axes._left_title, axes._right_title):
        require(not title.get_text(), "a title at the left or right")
    require(axes.axison, "axes that are switched off")
    for side in ("left", "bottom"):
        require(axes.spines[side].get_visible(), f"the {side} spine, which is hidden")
    _require_default_text(axes.title, _blank_axes().title, 0, axes._autotitlepos)
    _require_default_text(axes.xaxis.label, _blank_axes().xaxis.label, 0, axes.xaxis._autolabelpos)
    _require_default_text(axes.yaxis.label, _blank_axes().yaxis.label, 1, axes.yaxis._autolabelpos)
    x, y = _convert_axis(axes.xaxis, "x"), _convert_axis(axes.yaxis, "y")
    box = axes.get_window_extent()
    title = latex_lines(axes.title.get_text())
    panel = ConvertedPanel(spec.rowspan.start, spec.colspan.start, x, y, box.height / box.width, title)
    other_artists = (axes.patch, axes.xaxis, axes.yaxis, axes.title, axes._left_title, axes._right_title, axes.legend_)
    points = 0
    for artist in sorted(axes.get_children(), key=lambda child: child.get_zorder()):
        if not artist.get_visible() or artist in other_artists:
            continue
        if isinstance(artist, Spine):
            side = next(name for name, spine in axes.spines.items() if spine is artist)
            require_default(artist, _blank_axes().spines[side], (), f"the {side} spine")
            continue
        require(type(artist) in WRITERS, kind_of(artist))
        clip = artist.get_clip_box()
        require(clip is None or np.allclose(clip.extents, axes.bbox.extents), f"the clip box of {kind_of(artist)}")
        code = WRITERS[type(artist)](artist, axes, panel, marks)
        points += sum(plot.count("\n") for plot in code)
        require(points <= MOST_POINTS, f"more than {MOST_POINTS:,} values")
        panel.plots += code
    for axis, converted in ((axes.xaxis, x), (axes.yaxis, y)):
        is_auto = type(axis.get_major_locator()) is AutoLocator and type(axis.get_major_formatter()) is ScalarFormatter
        if is_auto and converted.values and all(map(is_year, converted.values)):
            converted.ticks = [tick for tick in converted.ticks if tick == round(tick)]
            has_labels = any(converted.tick_labels)
            converted.tick_labels = [f"{tick:.0f}" if has_labels else "" for tick in converted.ticks]
    if axes.get_legend() is not None and axes.get_legend().get_visible():
        _convert_legend(axes, panel, marks)
    return panel


@cache
def _blank_axes() -> Any:
    """Return axes with all defaults, for comparison."""
    return make_default(lambda: Drawing().subplots())


def _require_default_text(text: Any, default: Text, along: int, is_auto: bool) -> None:
    """Raise NotConverted unless a title or label has its default position and default properties.

    The text must be centred along coordinate `along` (0 or 1). `is_auto` says whether matplotlib chose the other.
    """
    if text.get_text():
        text_name = f"the text {text.get_text()!r}"
        require(is_auto and abs(text.get_position()[along] - 0.5) < 1e-9, f"the place of {text_name}")
        require(text.get_bbox_patch() is None, f"the box of {text_name}")
        require_default(text, default, (*STYLE_TEXT, "fontweight", "weight"), text_name)


def _convert_axis(axis: Any, name: str) -> ConvertedAxis:
    """Return an axis with limits, scale, ticks and label; raise NotConverted if one of them cannot be converted."""
    scale, axis_name = axis.get_scale(), f"the {name} axis"
    require(scale in ("linear", "log"), f"the {scale} scale of {axis_name}")
    require(scale == "linear" or axis.get_transform().base == 10, f"the base of {axis_name}, which is not 10")
    require(axis.get_visible(), f"{axis_name}, which is hidden")
    low, high = axis.get_view_interval()
    require(low < high, f"{axis_name}, which is reversed")
    if scale == "linear":
        largest = max(abs(low), abs(high))
        require(high - low > 2e-4 * largest, f"values of {axis_name} that differ only after the fourth digit")
        require(1e-9 < largest < 1e9, f"values of {axis_name} as large or small as {largest:g}")
    else:
        require(low > 1e-30 and high < 1e30 and high / low > 1.01, f"the limits of {axis_name}")
    new_axis = getattr(_blank_axes(), f"{name}axis")
    require_default(axis, new_axis, _AXIS, axis_name)
    side = "bottom" if name == "x" else "left"
    has_grid = False
    for level in ("major", "minor"):
        defaults = new_axis.get_tick_params(which=level)
        for key, value in axis.get_tick_params(which=level).items():
            if key == "gridOn" and level == "major":
                has_grid = bool(value)
            elif key not in ("labelsize", "labelfontfamily", f"label{side}"):
                is_default = key in defaults and defaults[key] == value
                require(is_default, f"the {key} ({value}) of the {level} ticks of {axis_name}")
    majors = _visible_ticks(axis.get_major_ticks(), low, high)
    offset = axis.get_offset_text().get_text() or axis.get_major_formatter().get_offset()
    require(not offset, f"the offset or multiplier ({offset}) of {axis_name}")
    minors = _visible_ticks(axis.get_minor_ticks(), low, high)
    require(not axis.get_minor_formatter().get_offset(), f"the offset of the minor ticks of {axis_name}")
    labelled_minors = [tick for tick in minors if tick.label1.get_text()]
    require(not (has_grid and labelled_minors), f"the grid of {axis_name}, where minor ticks have labels")
    ticks = sorted([*majors, *labelled_minors], key=lambda tick: tick.get_loc())
    default_tick = new_axis.get_major_ticks()[0]
    for tick in ticks:
        label_name = f"the tick label {tick.label1.get_text()!r}"
        require(tick.label1.get_bbox_patch() is None, f"the box of {label_name}")
        require_default(tick.label1, default_tick.label1, (*STYLE_TEXT, "visible"), label_name)
        converted = ("data", "xdata", "ydata", *(("markeredgewidth", "markersize") if tick in labelled_minors else ()))
        require_default(tick.tick1line, default_tick.tick1line, converted, f"a tick of {axis_name}")
    return ConvertedAxis(
        low,
        high,
        is_log=scale == "log",
        ticks=[tick.get_loc() for tick in ticks],
        tick_labels=[latex_lines(t.label1.get_text()) if t.label1.get_visible() else "" for t in ticks],
        minor_ticks=[tick.get_loc() for tick in minors if not tick.label1.get_text()],
        has_grid=has_grid,
        label=latex_lines(axis.label.get_text()) if axis.label.get_visible() else "",
    )


def _visible_ticks(ticks: Sequence[Any], low: float, high: float) -> list[Any]:
    slack = 1e-9 * (high - low)
    return [t for t in ticks if low - slack <= t.get_loc() <= high + slack and t.get_visible()]


def _convert_legend(axes: Any, panel: ConvertedPanel, marks: Marks) -> None:
    """Store the legend's entries in the panel, and the legend's position unless matplotlib chooses the position."""
    legend = axes.get_legend()
    require(not legend.get_title().get_text(), f"the title of a legend ({legend.get_title().get_text()!r})")
    require(legend._ncols == 1, f"a legend of {legend._ncols} columns")
    require(legend._bbox_to_anchor is None, "the place of a legend (bbox_to_anchor)")
    require(not isinstance(legend._loc, tuple), "the place of a legend")
    if legend._loc != 0:
        location = next(name for name, code in legend.codes.items() if code == legend._loc)
        panel.legend_at = _LEGEND_POSITIONS[location]
    errorbar_lines = {str(c.get_label()): c.lines[0] for c in axes.containers if isinstance(c, ErrorbarContainer)}
    areas = legend.findobj(DrawingArea)
    require(len(areas) == len(legend.texts) == len(legend.legend_handles), "a legend with custom entries")
    for area, handle, text in zip(areas, legend.legend_handles, legend.texts, strict=True):
        name = text.get_text()
        converted = (*STYLE_TEXT, "horizontalalignment", "verticalalignment")
        require_default(text, make_default(lambda: Text()), converted, f"the legend's {name!r}")
        if errorbar_lines.get(name) is not None:
            handle = errorbar_lines[name]
        else:
            require(len(area.get_children()) == 1, f"the picture of the legend's {name!r}")
        panel.entries.append((legend_image(handle, marks, name), latex_lines(name)))
