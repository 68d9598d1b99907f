"""Compute the space in mm around a panel's axes: for tick labels, axis labels, names at the edges and colour bars."""

import math
from dataclasses import dataclass
from itertools import pairwise

from boundpaper.figures.metrics import LINE_MM, Size, width, wrap
from boundpaper.figures.names import edge_names
from boundpaper.figures.ready import PreparedPanel
from boundpaper.figures.scale import Scale
from boundpaper.figures.series import Forest, Heatmap
from boundpaper.figures.spec import Axis
from boundpaper.figures.text import data_latex
from boundpaper.figures.ticks import with_ticks

TICK_MM = 1.0
"""Length of a tick in mm."""
LINE_HEIGHT = LINE_MM["footnotesize"]
"""Height in mm of a line of labels."""
NAME_MM = LINE_MM["scriptsize"] + 0.5
"""Height in mm of a line of names above the axes."""


@dataclass(frozen=True, kw_only=True)
class TickLabels:
    """The tick labels of an x axis; `angle` is in degrees, and `depth` is the height that the labels take in mm."""

    texts: tuple[str, ...]
    size: Size = "footnotesize"
    angle: int = 0
    depth: float = LINE_HEIGHT


def space_left(panel: PreparedPanel, y: Scale, has_labels: bool) -> float:
    """Return the space in mm to the left of the axes; `has_labels` is False for an inner panel of a shared axis."""
    if not has_labels:
        return 1.5
    texts = panel.names["y"] or [t for _, t in y.ticks]
    widest = max((width(_plain(t), is_bold=i in panel.headings) for i, t in enumerate(texts)), default=0.0)
    label = panel.panel.y.label
    return widest + TICK_MM + 1.8 + _label_lines(label, y.length) * LINE_HEIGHT + (0.6 if label else 0.0)


def _plain(text: str) -> str:
    return text.replace(r"\%", "%").replace("{,}", ",").replace(r"\cdot", "x")


def _label_lines(label: str, length: float) -> int:
    """Return the number of lines that an axis label takes along an axis of `length` mm."""
    return len(wrap(label, length) or [label]) if label else 0


def space_right(panel: PreparedPanel, x: Scale, y: Scale) -> float:
    """Return the space in mm to the right of the axes: for names, texts, a colour bar or half a tick label's width."""
    spaces = [1.5]
    if not panel.names["x"]:
        spaces += [width(_plain(t)) / 2 + 0.4 - (x.length - x.mm(v)) for v, t in x.ticks]
    spaces += [max(width(t, "scriptsize") for t in name.lines) + 3.6 for name in edge_names(panel)]
    for prepared in panel.series:
        s = prepared.series
        if isinstance(s, Forest) and s.texts is not None:
            spaces.append(max(width(str(t), "scriptsize") for t in s.texts) + 2.6)
        if isinstance(s, Heatmap):
            widest = max(width(_plain(t)) for _, t in bar_scale(s, y.length).ticks)
            spaces.append(6.5 + widest + (LINE_HEIGHT + 0.8 if s.bar else 0.8))
    return max(spaces)


def colour_limits(s: Heatmap) -> tuple[float, float]:
    """Return the values of a heat map's first and last colour."""
    values = [v for row in s.values for v in row if v is not None]
    low = min(values) if s.low is None else s.low
    high = max(values) if s.high is None else s.high
    if s.colors == "signed":
        high = max(abs(low), abs(high)) or 1.0
        low = -high
    return (low, high) if low < high else (low - 0.5, low + 0.5)


def bar_scale(s: Heatmap, length: float) -> Scale:
    """Return the scale of a heat map's colour bar."""
    low, high = colour_limits(s)
    return with_ticks(Scale(kind="linear", low=low, high=high, length=length), Axis(), every=11.0)


def has_names_above(panel: PreparedPanel) -> bool:
    """Return whether names of ranges or rules are printed above the axes."""
    p = panel.panel
    return any(s.label and s.axis == "x" for s in p.shades) or any(r.label and r.axis == "x" for r in p.rules)


def space_below(panel: PreparedPanel, ticks: TickLabels, has_labels: bool, axes_width: float) -> float:
    """Return the space in mm below the axes; `has_labels` is False for an inner panel of a shared axis."""
    if not has_labels:
        return TICK_MM + 0.8
    lines = _label_lines(panel.panel.x.label, axes_width)
    return TICK_MM + 0.9 + ticks.depth + (lines * LINE_HEIGHT + 0.4 if lines else 0.0)


def x_tick_labels(panel: PreparedPanel, x: Scale) -> TickLabels:
    """Return the tick labels of an x axis; if they do not fit in one line, they are broken, made smaller or rotated."""
    names = [str(n) for n in panel.names["x"]]
    texts = tuple(t for _, t in x.ticks)
    if not texts:
        return TickLabels(texts=(), depth=0.0)
    distance = min((abs(b - a) for a, b in pairwise(x.mm(v) for v, _ in x.ticks)), default=x.length) - 1.0
    plain_texts = names or [_plain(t) for t in texts]
    sizes: tuple[Size, ...] = ("footnotesize", "scriptsize")
    for size in sizes:
        if all(width(t, size) <= distance for t in plain_texts):
            return TickLabels(texts=texts, size=size, depth=LINE_MM[size])
        wrapped = [wrap(t, distance, size) for t in plain_texts] if names else [None]
        if all(wrapped):
            most_lines = max(len(lines) for lines in wrapped if lines)
            broken_texts = tuple(r"\\".join(map(data_latex, lines or ())) for lines in wrapped)
            return TickLabels(texts=broken_texts, size=size, depth=most_lines * LINE_MM[size])
    longest = max(width(t, "scriptsize") for t in plain_texts)
    return TickLabels(texts=texts, size="scriptsize", angle=40, depth=longest * math.sin(math.radians(40)) + 2.4)
