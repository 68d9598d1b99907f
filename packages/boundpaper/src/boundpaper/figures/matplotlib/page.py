"""Lay out a converted drawing: size and position of its axes in mm, in the project's figure style."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from boundpaper.figures.margins import LINE_HEIGHT
from boundpaper.figures.matplotlib.panel import ConvertedAxis, ConvertedPanel, Marks, number
from boundpaper.figures.matplotlib.usual import require
from boundpaper.figures.metrics import width as width_of
from boundpaper.figures.view import STRUT

_GAP = 3.0
"""Distance in mm between axes and the labels of their neighbours."""
_ANCHORS = {0.02: ("west", "south"), 0.98: ("east", "north"), 0.5: ("", "")}
"""Horizontal and vertical anchor of a legend, by its position as a fraction of the axes' width or height."""


def lay_out_page(panels: Sequence[ConvertedPanel], marks: Marks, width: float, height: float | None) -> str:
    """Return the TikZ picture of a drawing `width` mm wide; axes are `height` mm high, or keep their shape."""
    columns, rows = sorted({p.column for p in panels}), sorted({p.row for p in panels})
    lefts = {c: max(_space_left(p) for p in panels if p.column == c) for c in columns}
    axes_width = (width - sum(lefts.values()) - _GAP * len(columns)) / len(columns)
    require(axes_width > 20, f"{len(columns)} axes in a row, {max(axes_width, 0):.0f} mm for each")
    legend_columns = {id(p): _legend_columns(p, axes_width) for p in panels}
    code, low = "", 0.0
    for r in reversed(rows):
        members = [p for p in panels if p.row == r]
        axes_height = height if height is not None else max(20.0, max(p.ratio for p in members) * axes_width)
        low += max(_space_below(p) for p in members)
        for p in members:
            left = sum(lefts[c] + axes_width + _GAP for c in columns if c < p.column) + lefts[p.column]
            code += _axes_code(p, (left, low), (axes_width, axes_height), lefts[p.column], legend_columns[id(p)])
        space_above = max(_space_above(p, legend_columns[id(p)]) for p in members)
        low += axes_height + space_above + (_GAP if r != rows[0] else 0)
    page = f"\\path[use as bounding box] (0,0) rectangle ({width:.2f}mm,{low:.2f}mm);\n"
    return f"\\begin{{tikzpicture}}[figure text]\n{marks.declarations()}{page}{code}\\end{{tikzpicture}}\n"


def _text_width(tex: str) -> float:
    """Return the estimated width in mm of the longest line of a LaTeX text."""
    plain_text = tex.replace(r"\%", "%").replace(r"\_", "_").replace("{", "").replace("}", "")
    return max(width_of(line) for line in plain_text.split(r"\\"))


def _text_height(tex: str) -> float:
    return LINE_HEIGHT * (tex.count(r"\\") + 1) if tex else 0.0


def _space_left(panel: ConvertedPanel) -> float:
    y_labels = max((_text_width(t) for t in panel.y.tick_labels if t), default=0.0)
    half_x_label = max((_text_width(t) / 2 for t in panel.x.tick_labels if t), default=0.0)
    return max(y_labels + 3.0 + (_text_height(panel.y.label) + 1.0 if panel.y.label else 0.0), half_x_label)


def _space_below(panel: ConvertedPanel) -> float:
    x_labels = max((_text_height(t) for t in panel.x.tick_labels if t), default=0.0)
    return 2.2 + x_labels + (_text_height(panel.x.label) + 0.8 if panel.x.label else 0.0)


def _legend_height(panel: ConvertedPanel, columns: int) -> float:
    return math.ceil(len(panel.entries) / columns) * (LINE_HEIGHT + 0.8) if columns else 0.0


def _space_above(panel: ConvertedPanel, columns: int) -> float:
    return 1.5 + _legend_height(panel, columns) + (_text_height(panel.title) + 2.0 if panel.title else 0.0)


def _legend_columns(panel: ConvertedPanel, axes_width: float) -> int:
    """Return the number of entries per row of a legend above the axes; 0 if there is no legend there."""
    if not panel.entries or panel.legend_at is not None:
        return 0
    widest = max(_text_width(name) for _, name in panel.entries) + 11.0
    require(widest <= axes_width, "a legend with names wider than the axes")
    return min(len(panel.entries), int(axes_width // widest))


def _axes_code(
    panel: ConvertedPanel, corner: tuple[float, float], size: tuple[float, float], space_left: float, columns: int
) -> str:
    """Return the PGFPlots code of a panel; `corner` is its axes' lower left corner, and `size` their size, in mm.

    `space_left` is the space to the left of the axes, and `columns` is the number of the legend's columns above them.
    """
    width, height = size
    _require_separate_labels(panel.x, width, _text_width)
    _require_separate_labels(panel.y, height, _text_height)
    options = [f"panel, at={{({corner[0]:.2f}mm,{corner[1]:.2f}mm)}}, anchor=south west"]
    options.append(f"width={width:.2f}mm, height={height:.2f}mm")
    options.append("unbounded coords=jump, filter discard warning=false")
    for name, axis in (("x", panel.x), ("y", panel.y)):
        options.append(f"{name}min={number(axis.low)}, {name}max={number(axis.high)}")
        options += [f"{name}mode=log, log origin=infty"] if axis.is_log else []
        options += [f"{name}majorgrids"] if axis.has_grid else []
        options.append(f"{name}tick={{{','.join(map(number, axis.ticks))}}}")
        strut = STRUT if name == "x" else ""  # texts below an axis are aligned at their upper edges
        labels = ",".join(f"{{{strut}{text}}}" if text else "{}" for text in axis.tick_labels)
        options.append(f"{name}ticklabels={{{labels}}}")
        options.append(f"{name}ticklabel style={{align={'center' if name == 'x' else 'right'}}}")
        options += [f"minor {name}tick={{{','.join(map(number, axis.minor_ticks))}}}"] if axis.minor_ticks else []
    label_style = "anchor=north, align=center, inner sep=0pt"
    if panel.x.label:
        y = -(_space_below(panel) - _text_height(panel.x.label) - 0.4) / height
        style = f"at={{(axis description cs:0.5,{y:.4f})}}, {label_style}"
        options.append(f"xlabel={{{panel.x.label}}}, xlabel style={{{style}}}")
    if panel.y.label:
        style = f"at={{(axis description cs:{-space_left / width:.4f},0.5)}}, {label_style}"
        options.append(f"ylabel={{{panel.y.label}}}, ylabel style={{{style}}}")
    if panel.title:
        shift = 1.8 + _legend_height(panel, columns)
        options.append(f"title={{{panel.title}}}, title style={{yshift={shift:.2f}mm, align=left}}")
    if columns:
        style = "at={(0.5,1)}, anchor=south, yshift=0.4mm, /tikz/every even column/.append style={column sep=3mm}"
        options.append(f"legend columns={columns}, legend style={{{style}}}")
    elif panel.legend_at:
        x, y = panel.legend_at
        anchor = f"{_ANCHORS[y][1]} {_ANCHORS[x][0]}".strip() or "center"
        style = f"at={{({x},{y})}}, anchor={anchor}, fill=white, fill opacity=0.8, text opacity=1"
        options.append(f"legend style={{{style}}}, legend cell align=left")
    entries = "".join(
        f"\\addlegendimage{{{image}}}\n\\addlegendentry{{{STRUT}{name}}}\n" for image, name in panel.entries
    )
    plots = "".join(panel.plots).replace("\\addplot[", "\\addplot[forget plot, ")
    return "\\begin{axis}[\n  " + ",\n  ".join(options) + f",\n]\n{entries}{plots}\\end{{axis}}\n"


def _require_separate_labels(axis: ConvertedAxis, length: float, size: Callable[[str], float]) -> None:
    """Raise NotConverted if a tick label overlaps the next."""
    low, high, *positions = (math.log(v) if axis.is_log else v for v in (axis.low, axis.high, *axis.ticks))
    labels = sorted((position, text) for position, text in zip(positions, axis.tick_labels, strict=True) if text)
    for (a, left_text), (b, right_text) in pairwise(labels):
        distance = (b - a) / (high - low) * length
        require((size(left_text) + size(right_text)) / 2 <= distance + 0.5, "tick labels that would overlap")
