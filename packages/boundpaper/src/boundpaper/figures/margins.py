"""Compute in mm the space around a panel's axes for tick labels, axis labels, names at the edges and colour bars."""

import math
from dataclasses import dataclass
from itertools import pairwise

from boundpaper.figures.metrics import LINE_MM, Size, width, wrap
from boundpaper.figures.names import edge_names
from boundpaper.figures.ready import PreparedPanel
from boundpaper.figures.scale import Scale
from boundpaper.figures.series import Forest, Heatmap
from boundpaper.figures.spec import Axis
from boundpaper.figures.text import cell
from boundpaper.figures.ticks import with_ticks

TICK_MM = 1.0
FOOT = LINE_MM["footnotesize"]
SMALL = LINE_MM["scriptsize"] + 0.5
"""Height in mm of a line of names above the axes."""


@dataclass(frozen=True, kw_only=True)
class TickLabels:
    """The tick labels of an x axis: lines, font size and angle in degrees."""

    texts: tuple[str, ...]
    size: Size = "footnotesize"
    turn: int = 0
    depth: float = FOOT


def left_of(panel: PreparedPanel, y: Scale, outer: bool) -> float:
    """Return the space to the left of the axes in mm, for tick labels and the axis label."""
    if not outer:
        return 1.5
    texts = panel.names["y"] or [t for _, t in y.ticks]
    widest = max((width(_plain(t), bold=i in panel.heads) for i, t in enumerate(texts)), default=0.0)
    return (
        widest
        + TICK_MM
        + 1.8
        + label_lines(panel.panel.y.label, y.length) * FOOT
        + (0.6 if panel.panel.y.label else 0.0)
    )


def _plain(text: str) -> str:
    return text.replace(r"\%", "%").replace("{,}", ",").replace(r"\cdot", "x")


def label_lines(label: str, room: float) -> int:
    """Return the number of lines that an axis label takes."""
    return len(wrap(label, room) or [label]) if label else 0


def right_of(panel: PreparedPanel, x: Scale, y: Scale) -> float:
    """Return the space to the right in mm: for names, a colour bar, a forest's texts, half the last tick label."""
    needs = [1.5]
    overhangs = [width(_plain(t)) / 2 + 0.4 - (x.length - x.at(v)) for v, t in x.ticks] if not panel.names["x"] else []
    needs += overhangs
    needs += [max(width(t, "scriptsize") for t in name.lines) + 3.6 for name in edge_names(panel)]
    for item in panel.drawn:
        s = item.series
        if isinstance(s, Forest) and s.texts is not None:
            needs.append(max(width(str(t), "scriptsize") for t in s.texts) + 2.6)
        if isinstance(s, Heatmap):
            bar = bar_scale(s, y.length)
            needs.append(6.5 + max(width(_plain(t)) for _, t in bar.ticks) + (FOOT + 0.8 if s.bar else 0.8))
    return max(needs)


def colour_limits(s: Heatmap) -> tuple[float, float]:
    """Return the limits of a heat map's colours."""
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


def room_below(panel: PreparedPanel, ticks: TickLabels, outer: bool, wide: float) -> float:
    """Return the space below the axes in mm, for tick labels and the axis label."""
    if not outer:
        return TICK_MM + 0.8
    lines = label_lines(panel.panel.x.label, wide)
    return TICK_MM + 0.9 + ticks.depth + (lines * FOOT + 0.4 if lines else 0.0)


def x_tick_labels(panel: PreparedPanel, x: Scale) -> TickLabels:
    """Return the tick labels of an x axis in one line; if they do not fit, break, else shrink, else rotate them."""
    names = [str(n) for n in panel.names["x"]]
    texts = tuple(t for _, t in x.ticks)
    if not texts:
        return TickLabels(texts=(), depth=0.0)
    places = [x.at(v) for v, _ in x.ticks]
    room = min((abs(b - a) for a, b in pairwise(places)), default=x.length) - 1.0
    plain_texts = names or [_plain(t) for t in texts]
    sizes: tuple[Size, ...] = ("footnotesize", "scriptsize")
    for size in sizes:
        if all(width(t, size) <= room for t in plain_texts):
            return TickLabels(texts=texts, size=size, depth=LINE_MM[size])
        broken = [wrap(t, room, size) for t in plain_texts] if names else [None]
        if all(broken):
            lines = max(len(b) for b in broken if b)
            set_ = tuple(r"\\".join(cell(part) for part in b or ()) for b in broken)
            return TickLabels(texts=set_, size=size, depth=lines * LINE_MM[size])
    longest = max(width(t, "scriptsize") for t in plain_texts)
    return TickLabels(texts=texts, size="scriptsize", turn=40, depth=longest * math.sin(math.radians(40)) + 2.4)
