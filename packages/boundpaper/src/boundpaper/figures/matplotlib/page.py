"""Lay out a converted drawing: size and position of its axes in mm, in the project's figure style."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from boundpaper.figures.margins import FOOT
from boundpaper.figures.matplotlib.panel import ConvertedAxis, ConvertedPanel, Marks, number
from boundpaper.figures.matplotlib.usual import require
from boundpaper.figures.metrics import width as width_of
from boundpaper.figures.view import STRUT

_GAP = 3.0
_ANCHOR = {0.02: ("west", "south"), 0.98: ("east", "north"), 0.5: ("", "")}


def lay_out_page(panels: Sequence[ConvertedPanel], marks: Marks, width: float, height: float | None) -> str:
    """Return the TikZ picture, with axes placed within the given width and room for everything around them."""
    columns, rows = sorted({p.column for p in panels}), sorted({p.row for p in panels})
    left = {c: max(_room_left(p) for p in panels if p.column == c) for c in columns}
    wide = (width - sum(left.values()) - _GAP * len(columns)) / len(columns)
    require(wide > 20, f"{len(columns)} axes in a row, {max(wide, 0):.0f} mm for each")
    legends = {id(p): _legend_columns(p, wide) for p in panels}
    text, low = "", 0.0
    for r in reversed(rows):
        members = [p for p in panels if p.row == r]
        tall = height if height is not None else max(20.0, max(p.ratio for p in members) * wide)
        low += max(_room_below(p) for p in members)
        for p in members:
            before = [c for c in columns if c < p.column]
            at = sum(left[c] + wide + _GAP for c in before) + left[p.column]
            text += _axis(p, at, low, wide, tall, left[p.column], legends[id(p)])
        above = max(_room_above(p, legends[id(p)]) for p in members)
        low += tall + above + (_GAP if r != rows[0] else 0)
    page = f"\\path[use as bounding box] (0,0) rectangle ({width:.2f}mm,{low:.2f}mm);\n"
    return f"\\begin{{tikzpicture}}[figure text]\n{marks.declared()}{page}{text}\\end{{tikzpicture}}\n"


def _text_width(tex: str) -> float:
    """Return the estimated width in mm of the longest line of a LaTeX text."""
    plain_text = tex.replace(r"\%", "%").replace(r"\_", "_").replace("{", "").replace("}", "")
    return max(width_of(line) for line in plain_text.split(r"\\"))


def _high(tex: str) -> float:
    return FOOT * (tex.count(r"\\") + 1) if tex else 0.0


def _room_left(panel: ConvertedPanel) -> float:
    ticks = max((_text_width(t) for t in panel.y.texts if t), default=0.0)
    half = max((_text_width(t) / 2 for t in panel.x.texts if t), default=0.0)
    return max(ticks + 3.0 + (_high(panel.y.label) + 1.0 if panel.y.label else 0.0), half)


def _room_below(panel: ConvertedPanel) -> float:
    ticks = max((_high(t) for t in panel.x.texts if t), default=0.0)
    return 2.2 + ticks + (_high(panel.x.label) + 0.8 if panel.x.label else 0.0)


def _room_above(panel: ConvertedPanel, columns: int) -> float:
    rows = -(-len(panel.entries) // columns) if columns else 0
    return 1.5 + rows * (FOOT + 0.8) + (_high(panel.title) + 2.0 if panel.title else 0.0)


def _legend_columns(panel: ConvertedPanel, wide: float) -> int:
    """Return the number of entries per row of a legend above the axes; 0 if the legend is elsewhere."""
    if not panel.entries or panel.legend_at is not None:
        return 0
    widest = max(_text_width(name) for _, name in panel.entries) + 11.0
    require(widest <= wide, "a legend with names wider than the axes")
    return min(len(panel.entries), int(wide // widest))


def _axis(panel: ConvertedPanel, at: float, low: float, wide: float, tall: float, room: float, columns: int) -> str:
    _require_separate_labels(panel.x, wide, _text_width)
    _require_separate_labels(panel.y, tall, _high)
    options = [f"panel, at={{({at:.2f}mm,{low:.2f}mm)}}, anchor=south west", f"width={wide:.2f}mm, height={tall:.2f}mm"]
    options.append("unbounded coords=jump, filter discard warning=false")
    for name, axis in (("x", panel.x), ("y", panel.y)):
        options.append(f"{name}min={number(axis.low)}, {name}max={number(axis.high)}")
        options += [f"{name}mode=log, log origin=infty"] if axis.log else []
        options += [f"{name}majorgrids"] if axis.grid else []
        options.append(f"{name}tick={{{','.join(map(number, axis.at))}}}")
        strut = STRUT if name == "x" else ""  # texts below an axis are aligned at their upper edges
        options.append(f"{name}ticklabels={{{','.join(f'{{{strut}{t}}}' if t else '{}' for t in axis.texts)}}}")
        options.append(f"{name}ticklabel style={{align={'center' if name == 'x' else 'right'}}}")
        options += [f"minor {name}tick={{{','.join(map(number, axis.minor))}}}"] if axis.minor else []
    if panel.x.label:
        label_at = -(_room_below(panel) - _high(panel.x.label) - 0.4) / tall
        place = f"at={{(axis description cs:0.5,{label_at:.4f})}}, anchor=north, align=center, inner sep=0pt"
        options.append(f"xlabel={{{panel.x.label}}}, xlabel style={{{place}}}")
    if panel.y.label:
        place = f"at={{(axis description cs:{-room / wide:.4f},0.5)}}, anchor=north, align=center, inner sep=0pt"
        options.append(f"ylabel={{{panel.y.label}}}, ylabel style={{{place}}}")
    rows = -(-len(panel.entries) // columns) if columns else 0
    if panel.title:
        title_shift = 1.8 + rows * (FOOT + 0.8)
        options.append(f"title={{{panel.title}}}, title style={{yshift={title_shift:.2f}mm, align=left}}")
    if columns:
        place = "at={(0.5,1)}, anchor=south, yshift=0.4mm, /tikz/every even column/.append style={column sep=3mm}"
        options.append(f"legend columns={columns}, legend style={{{place}}}")
    elif panel.legend_at:
        across, along = panel.legend_at
        anchor = f"{_ANCHOR[along][1]} {_ANCHOR[across][0]}".strip() or "center"
        place = f"at={{({across},{along})}}, anchor={anchor}, fill=white, fill opacity=0.8, text opacity=1"
        options.append(f"legend style={{{place}}}, legend cell align=left")
    entries = "".join(
        f"\\addlegendimage{{{image}}}\n\\addlegendentry{{{STRUT}{name}}}\n" for image, name in panel.entries
    )
    plots = "".join(panel.plots).replace("\\addplot[", "\\addplot[forget plot, ")
    return "\\begin{axis}[\n  " + ",\n  ".join(options) + f",\n]\n{entries}{plots}\\end{{axis}}\n"


def _require_separate_labels(axis: ConvertedAxis, length: float, size: Callable[[str], float]) -> None:
    """Raise NotConverted if a tick label overlaps the next."""
    if len(axis.at) < 2:
        return
    positions = [math.log(v) if axis.log else v for v in axis.at]
    low, high = (math.log(v) if axis.log else v for v in (axis.low, axis.high))
    visible = sorted((at, text) for at, text in zip(positions, axis.texts, strict=True) if text)
    for (a, left_text), (b, right_text) in pairwise(visible):
        gap = (b - a) / (high - low) * length
        require((size(left_text) + size(right_text)) / 2 <= gap + 0.5, "tick labels that would overlap")
