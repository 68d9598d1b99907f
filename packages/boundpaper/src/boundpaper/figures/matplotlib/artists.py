"""Convert matplotlib artists to PGFPlots plots, provided that every visible property can be converted exactly."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import Polygon, Rectangle
from matplotlib.path import Path
from matplotlib.text import Annotation, Text

from boundpaper.figures.matplotlib.panel import ConvertedPanel, Marks, kind_of, latex_lines, number
from boundpaper.figures.matplotlib.usual import make_default, require, require_default

STYLE_TEXT = ("fontfamily", "fontname", "fontproperties", "fontsize", "size", "math_fontfamily", "position", "text")
"""Properties of a text that the project's style sets, or that the conversion writes."""
_INVISIBLE = ("None", "none", "", " ")
_EDGES = {"center": "", "left": "west", "right": "east", "top": "north", "bottom": "south", "baseline": "base"}
# Properties that are converted, by kind of artist.
_STROKED = ("color", "colors", "edgecolor", "edgecolors", "linestyle", "linewidth", "alpha", "capstyle", "joinstyle")
_FILLED = (*_STROKED, "facecolor", "fill", "hatch_linewidth", "hatchcolor")
_MAPPED = ("cmap", "clim", "norm")
_TEXT = (
    *("color", "horizontalalignment", "verticalalignment", "ha", "va", "anncoords", "annotation_clip", "clip_on"),
    *("unitless_position", "fontweight", "weight"),
)
_LINE = (
    *("color", "linestyle", "linewidth", "alpha", "data", "xdata", "ydata", "marker", "markersize", "markerfacecolor"),
    *("markeredgecolor", "markeredgewidth", "markerfacecoloralt", "dash_capstyle", "dash_joinstyle"),
    *("solid_capstyle", "solid_joinstyle"),
)


def _data_points(
    artist: Any, xy: Any, transform: Any, axes: Any, panel: ConvertedPanel, has_marks: bool = False
) -> list[tuple[float, float]]:
    """Return an artist's points in data coordinates, with NaN where a line breaks, and add them to the axes' values.

    Raises NotConverted for points far outside the axes, or, if the points have marks, outside the limits.
    """
    kind = kind_of(artist)
    if transform != axes.transData:
        axis_transforms = (axes.get_xaxis_transform(), axes.get_yaxis_transform())
        require(transform in axis_transforms, f"{kind} not in data coordinates")
        xy = (transform - axes.transData).transform(np.asarray(xy, dtype=float))
    points = []
    rows: Any = np.ma.filled(np.ma.asarray(xy, dtype=float), math.nan).reshape(-1, 2).tolist()
    for x, y in rows:
        if math.isnan(x) or math.isnan(y):
            points.append((math.nan, math.nan))
            continue
        for value, axis, name in ((x, panel.x, "x"), (y, panel.y, "y")):
            is_drawable = value > 0 or not axis.is_log
            require(is_drawable, f"{kind} with values on the logarithmic {name} axis that are not positive")
            low, high, position = (math.log(v) if axis.is_log else v for v in (axis.low, axis.high, value))
            require(not has_marks or axis.contains(value), f"points outside the limits of the {name} axis")
            require(low - (high - low) <= position <= high + (high - low), f"{kind} far beyond the {name} axis")
        points.append((x, y))
        panel.x.values.add(x)
        panel.y.values.add(y)
    return points


def _table(points: Sequence[tuple[float, float]]) -> str:
    return "table {\n" + "".join(f"{number(x)} {number(y)}\n" for x, y in points) + "}"


def xcolor(color: Any, alpha: float | None = None) -> tuple[str, float]:
    """Return a colour in xcolor's syntax, and its opacity."""
    r, g, b, a = to_rgba(color, alpha)
    return f"{{rgb,255:red,{round(255 * r)};green,{round(255 * g)};blue,{round(255 * b)}}}", a


def stroke_options(color: Any, alpha: float | None, width: float, dashes: Any) -> str:
    """Return the TikZ options of a stroke, or `draw=none` if it is invisible."""
    tikz_color, opacity = xcolor(color, alpha)
    if not width or not opacity:
        return "draw=none"
    offset, pattern = dashes
    on_off = " ".join(f"{'off' if i % 2 else 'on'} {length:.4g}bp" for i, length in enumerate(pattern or ()))
    dash = f", dash pattern={on_off}, dash phase={offset:.4g}bp" if pattern else ", solid"
    draw_opacity = f", draw opacity={opacity:.4g}" if opacity < 1 else ""
    return f"draw={tikz_color}, line width={width:.4g}bp{dash}{draw_opacity}"


def fill_options(color: Any, alpha: float | None = None) -> str:
    """Return the TikZ options that fill an area with a matplotlib colour."""
    if isinstance(color, str) and color == "none":
        return "fill=none"
    tikz_color, opacity = xcolor(color, alpha)
    fill_opacity = f", fill opacity={opacity:.4g}" if opacity < 1 else ""
    return f"fill={tikz_color}{fill_opacity}" if opacity else "fill=none"


def _line_styles(line: Any, marks: Marks, extra: Sequence[str] = ()) -> tuple[str, str]:
    """Return the options of a line and of its marks ("" if absent); `extra` properties may differ from the defaults."""
    require_default(line, make_default(lambda: Line2D([], [])), (*_LINE, *extra), kind_of(line))
    stroke = mark = ""
    if str(line.get_linestyle()) not in _INVISIBLE and line.get_linewidth():
        stroke = stroke_options(line.get_color(), line.get_alpha(), line.get_linewidth(), line._dash_pattern)
    if str(line.get_marker()) not in _INVISIBLE and line.get_markersize():
        style = MarkerStyle(line.get_marker())
        is_filled = style.is_filled() and str(line.get_markerfacecolor()) != "none"
        size = line.get_markersize() * (0.5 if line.get_marker() == "." else 1.0)
        shape = marks.name(style.get_path().transformed(style.get_transform()), is_filled, size)
        edge = stroke_options(line.get_markeredgecolor(), line.get_alpha(), line.get_markeredgewidth(), (0, None))
        face = fill_options(line.get_markerfacecolor(), line.get_alpha()) if is_filled else "fill=none"
        mark = f"mark={shape}, mark options={{{edge}, {face}}}"
    return stroke, mark


def _line(line: Any, axes: Any, panel: ConvertedPanel, marks: Marks) -> list[str]:
    style, mark = _line_styles(line, marks)
    points = _data_points(line, line.get_xydata(), line.get_transform(), axes, panel, bool(mark))
    plots = [f"\\addplot[no marks, {style}] {_table(points)};\n"] if style else []
    visible = [p for p in points if not math.isnan(p[0])]
    return [*plots, f"\\addplot[only marks, {mark}] {_table(visible)};\n"] if mark and visible else plots


def _shared_value(values: Any, name: str) -> Any:
    """Return the value shared by all elements of a collection; raise NotConverted if they differ."""
    is_shared = len(values) <= 1 or all(np.array_equal(value, values[0]) for value in np.asarray(values, dtype=object))
    require(is_shared, name)
    return values[0] if len(values) else None


def _scatter_style(dots: Any, marks: Marks) -> str:
    kind = kind_of(dots)
    require(dots.get_array() is None, f"colours by value of {kind}")
    converted = (*_FILLED, "offsets", "offset_transform", "sizes", *_MAPPED)
    require_default(dots, make_default(lambda: PathCollection([])), converted, kind)
    size = _shared_value(dots.get_sizes(), f"points of several sizes of {kind}")
    face = _shared_value(dots.get_facecolor(), f"points of several colours of {kind}")
    edge = _shared_value(dots.get_edgecolor(), f"points with edges of several colours of {kind}")
    width = _shared_value(dots.get_linewidth(), f"points with edges of several widths of {kind}")
    _shared_value(dots.get_linestyle(), f"points with edges of several dashes of {kind}")
    path = _shared_value([p.vertices for p in dots.get_paths()], f"points of several shapes of {kind}")
    require(path is not None, f"{kind} without a shape")
    shape = marks.name(dots.get_paths()[0], face is not None, math.sqrt(size))
    edge_options = "draw=none" if edge is None else stroke_options(edge, None, width, (0, None))
    return f"mark={shape}, mark options={{{edge_options}, {'fill=none' if face is None else fill_options(face)}}}"


def _scatter(dots: Any, axes: Any, panel: ConvertedPanel, marks: Marks) -> list[str]:
    mark = _scatter_style(dots, marks)
    points = _data_points(dots, dots.get_offsets(), dots.get_offset_transform(), axes, panel, has_marks=True)
    visible = [p for p in points if not math.isnan(p[0])]
    return [f"\\addplot[only marks, {mark}] {_table(visible)};\n"] if visible else []


def _patch_style(patch: Any) -> str:
    is_rectangle = isinstance(patch, Rectangle)
    default = make_default(lambda: Rectangle((0, 0), 1, 1) if is_rectangle else Polygon([(0, 0), (1, 1)]))
    require_default(patch, default, (*_FILLED, "xy", "x", "y", "width", "height", "bounds", "closed"), kind_of(patch))
    face = fill_options(patch.get_facecolor()) if patch.get_fill() else "fill=none"
    return f"{stroke_options(patch.get_edgecolor(), None, patch.get_linewidth(), patch._dash_pattern)}, {face}"


def _patch(patch: Any, axes: Any, panel: ConvertedPanel, marks: Marks) -> list[str]:
    path = patch.get_path().transformed(patch.get_patch_transform())
    is_closed = not isinstance(patch, Polygon) or patch.get_closed()
    return [_convert_area(patch, path, patch.get_data_transform(), _patch_style(patch), axes, panel, is_closed)]


def _convert_area(
    artist: Any, path: Any, transform: Any, style: str, axes: Any, panel: ConvertedPanel, is_closed: bool = True
) -> str:
    codes = path.codes if path.codes is not None else [Path.MOVETO] + [Path.LINETO] * (len(path.vertices) - 1)
    require(list(codes).count(Path.MOVETO) == 1 and set(codes) <= {Path.MOVETO, Path.LINETO, Path.CLOSEPOLY},
            f"{kind_of(artist)} with curves or holes")  # fmt: skip
    corners = path.vertices[:-1] if codes[-1] == Path.CLOSEPOLY else path.vertices
    points = _data_points(artist, corners, transform, axes, panel)
    require(not any(math.isnan(x) for x, _ in points), f"{kind_of(artist)} with missing values")
    return f"\\addplot[no marks, {style}] {_table(points)}{' -- cycle' if is_closed else ''};\n"


def _convert_areas(areas: Any, axes: Any, panel: ConvertedPanel, marks: Marks) -> list[str]:
    kind = kind_of(areas)
    require(areas.get_array() is None, f"colours by value of {kind}")
    default = make_default(lambda: PolyCollection([]))
    require_default(areas, default, (*_FILLED, *_MAPPED, "offsets", "sizes", "verts", "data"), kind)
    require(np.allclose(areas.get_offsets(), 0), f"{kind} with offsets")
    face = _shared_value(areas.get_facecolor(), f"several colours of {kind}")
    style = f"{_collection_stroke(areas)}, {'fill=none' if face is None else fill_options(face)}"
    return [_convert_area(areas, path, areas.get_transform(), style, axes, panel) for path in areas.get_paths()]


def _collection_stroke(collection: Any) -> str:
    kind = kind_of(collection)
    edge = _shared_value(collection.get_edgecolor(), f"several colours of {kind}")
    width = _shared_value(collection.get_linewidth(), f"several widths of {kind}")
    dashes = collection.get_linestyle()
    _shared_value([str(dash) for dash in dashes], f"several dashes of {kind}")
    return "draw=none" if edge is None else stroke_options(edge, None, width, dashes[0])


def _segments_style(lines: Any) -> str:
    kind = kind_of(lines)
    require(lines.get_array() is None, f"colours by value of {kind}")
    converted = (*_STROKED, *_MAPPED, "segments", "verts", "facecolor", "hatchcolor", "hatch_linewidth")
    require_default(lines, make_default(lambda: LineCollection([])), converted, kind)
    require(not len(lines.get_facecolor()), f"{kind} with a fill")
    return _collection_stroke(lines)


def _convert_segments(lines: Any, axes: Any, panel: ConvertedPanel, marks: Marks) -> list[str]:
    style, points = _segments_style(lines), []
    for segment in lines.get_segments():
        points += [*_data_points(lines, segment, lines.get_transform(), axes, panel), (math.nan, math.nan)]
    return [f"\\addplot[no marks, {style}] {_table(points[:-1])};\n"] if points else []


def _convert_text(text: Any, axes: Any, panel: ConvertedPanel, marks: Marks) -> list[str]:
    if not text.get_text().strip():
        return []
    text_name = f"the text {text.get_text()!r}"
    require(text.get_bbox_patch() is None, f"the box of {text_name}")
    if isinstance(text, Annotation):
        require(text.arrow_patch is None, f"the arrow of {text_name}")
        require(text.xycoords == text.anncoords == "data", f"{text_name}, whose place is not in the data's coordinates")
    else:
        require(text.get_transform() == axes.transData, f"{text_name}, whose place is not in the data's coordinates")
    default = make_default(lambda: Annotation("", (0, 0)) if isinstance(text, Annotation) else Text())
    require_default(text, default, (*STYLE_TEXT, *_TEXT), text_name)
    require(text.get_weight() in ("normal", "regular", "bold", 400, 700), f"the weight of {text_name}")
    position = text.get_unitless_position()
    ((x, y),) = _data_points(text, [position], axes.transData, axes, panel, has_marks=True)
    vertical = _EDGES.get(text.get_verticalalignment())
    require(vertical is not None, f"the alignment of {text_name}")
    anchor = f"{vertical} {_EDGES[text.get_horizontalalignment()]}".strip() or "center"
    tikz_color, opacity = xcolor(text.get_color(), text.get_alpha())
    style = f"anchor={anchor}, inner sep=0pt, align=center, text={tikz_color}"
    style += f", opacity={opacity:.4g}" if opacity < 1 else ""
    style += r", font=\footnotesize\bfseries" if text.get_weight() in ("bold", 700) else ""
    return [f"\\node[{style}] at (axis cs:{number(x)},{number(y)}) {{{latex_lines(text.get_text())}}};\n"]


WRITERS: dict[type, Callable[[Any, Any, ConvertedPanel, Marks], list[str]]] = {
    Line2D: _line, PathCollection: _scatter, Rectangle: _patch, Polygon: _patch, PolyCollection: _convert_areas,
    LineCollection: _convert_segments, Text: _convert_text, Annotation: _convert_text,
}  # fmt: skip
try:
    from matplotlib.collections import FillBetweenPolyCollection  # from matplotlib 3.10 on

    WRITERS[FillBetweenPolyCollection] = _convert_areas
except ImportError:
    pass


def legend_image(handle: Any, marks: Marks, name: str) -> str:
    """Return the options of a legend entry's picture."""
    if isinstance(handle, Line2D):
        stroke, mark = _line_styles(handle, marks, ("markevery",))
        return f"{stroke or 'only marks'}, {mark or 'no marks'}"
    if isinstance(handle, PathCollection):
        return f"only marks, {_scatter_style(handle, marks)}"
    if isinstance(handle, LineCollection):
        return f"no marks, {_segments_style(handle)}"
    require(isinstance(handle, Rectangle | Polygon), f"the picture of the legend's {name!r} ({kind_of(handle)})")
    return f"legend image code/.code={{\\path[{_patch_style(handle)}] (0mm,-1mm) rectangle (6mm,1mm);}}"
