"""From a ready panel to what the templates print: coordinates as text, labels at their places.

Each function returns plots, dictionaries with a `kind` (the template's name) and that template's fields.
Numbers are texts of six significant digits, so that the files are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from figures._labels import place, spread
from figures._metrics import LINE_MM, width, wrap
from figures._ready import Drawn, Ready
from figures._scale import Scale, number
from figures._series import Bars, Bundle, Fit, Forest, Line, Points, Stacked
from figures._style import Look, look, style
from figures._text import latex
from figures._ticks import thousands

Plot = dict[str, Any]
MARK_MM = 0.63
"""Radius of a mark, 1.8 pt."""


@dataclass
class Canvas:
    """A panel while it is drawn: its scales, and the words that go onto it."""

    ready: Ready
    x: Scale
    y: Scale
    words: list[Plot] = field(default_factory=list)
    leaders: list[Plot] = field(default_factory=list)

    def point(self, x: float, y: float) -> tuple[str, str]:
        """The coordinates that PGFPlots is given."""
        return number(self.x.drawn(x)), number(self.y.drawn(y))

    def mm(self, x: float, y: float) -> tuple[float, float]:
        """The place in mm from the axes' lower left corner."""
        return self.x.at(x), self.y.at(y)

    def share(self, x: float, y: float) -> tuple[str, str]:
        """A place in mm as a share of the axes."""
        return f"{x / self.x.length:.4f}", f"{y / self.y.length:.4f}"

    def say(self, x: float, y: float, text: str, anchor: str, color: str = "okblack", **more: str) -> None:
        """Write a text at a place in mm; `anchor` is the text's own edge there."""
        at_x, at_y = self.share(x, y)
        plain = {"size": "", "rotate": "", "align": "", "fill": ""}
        self.words.append({"x": at_x, "y": at_y, "text": text, "anchor": anchor, "color": color, **plain, **more})

    def lead(self, a: tuple[float, float], b: tuple[float, float], color: str) -> None:
        """Draw a thin line from a mark to its label."""
        self.leaders.append({"a": self.share(*a), "b": self.share(*b), "color": color})


def _both(canvas: Canvas, xs: Iterable[float], ys: Iterable[float]) -> list[tuple[str, str]]:
    return [canvas.point(x, y) for x, y in zip(xs, ys, strict=True)]


def _deltas(scale: Scale, at: float, low: float, high: float) -> tuple[str, str]:
    """Lengths of an error bar upwards and downwards, in the coordinates that are drawn."""
    a, b = sorted((scale.drawn(low), scale.drawn(high)))
    return number(max(b - scale.drawn(at), 0.0)), number(max(scale.drawn(at) - a, 0.0))


def _band(canvas: Canvas, x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> list[tuple[str, str]]:
    return _both(canvas, x, high) + _both(canvas, reversed(x), reversed(low))


def line(canvas: Canvas, item: Drawn) -> list[Plot]:
    """A line, its band behind it or its error bars on it."""
    s = item.series
    assert isinstance(s, Line | Fit)
    bars = isinstance(s, Line) and s.uncertainty == "bars" and s.low is not None
    marks = isinstance(s, Line) and (s.marks if s.marks is not None else len(s.x) <= 20)
    plot: Plot = {"kind": "fit" if isinstance(s, Fit) else "line", "look": item.look, "marks": marks, "errors": bars}
    plot["band"] = _band(canvas, s.x, s.low, s.high) if s.low is not None and not bars else []
    plot["rows"] = [
        (*canvas.point(x, y), *(_deltas(canvas.y, y, s.low[i], s.high[i]) if bars else ()))
        for i, (x, y) in enumerate(zip(s.x, s.y, strict=True))
    ]
    return [plot]


def points(canvas: Canvas, item: Drawn) -> list[Plot]:
    """Points, one plot per look (and per size)."""
    s = item.series
    assert isinstance(s, Points)
    groups: dict[tuple[Look, str], list[int]] = {}
    largest = max(s.sizes) if s.sizes is not None else 1.0
    for i in range(len(s.x)):
        radius = 1.8 if s.sizes is None else max(1.8, 5.0 * math.sqrt(s.sizes[i] / largest))
        groups.setdefault((item.looks[i] if item.looks else item.look, f"{radius:.1f}"), []).append(i)
    found = []
    for (shown, radius), members in groups.items():
        plot: Plot = {"kind": "points", "look": shown, "size": radius, "faint": len(s.x) > 150}
        plot["x_errors"], plot["y_errors"] = s.x_low is not None, s.y_low is not None
        plot["rows"] = [
            (
                *canvas.point(s.x[i], s.y[i]),
                *(_deltas(canvas.x, s.x[i], s.x_low[i], s.x_high[i]) if s.x_low is not None else ()),
                *(_deltas(canvas.y, s.y[i], s.y_low[i], s.y_high[i]) if s.y_low is not None else ()),
            )
            for i in members
        ]
        found.append(plot)
    return found


def value_text(value: float, decimals: int | None) -> str:
    """A number at a bar: fixed decimals, or three significant digits."""
    if decimals is None:
        size = math.floor(math.log10(abs(value))) if value else 0
        decimals = min(max(0, 2 - size), 6)
        text = f"{value:.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text and value == int(value) else text
    else:
        text = f"{value:.{decimals}f}"
    return f"${thousands('0' if float(text) == 0 and text.startswith('-') else text)}$"


def bar_texts(s: Bars | Stacked) -> list[str]:
    """What is printed at each bar; empty without values."""
    values = s.x if isinstance(s, Bars) and s.horizontal else s.y
    if s.values is False:
        return []
    if s.values is True:
        return [value_text(float(v), s.decimals) for v in values]
    return [latex(str(v)) for v in s.values]


def bars(canvas: Canvas, item: Drawn) -> list[Plot]:
    """Bars beside their neighbours, with their values and the values reported elsewhere."""
    s = item.series
    assert isinstance(s, Bars)
    flat = s.horizontal
    places = [v + item.shift for v in (s.y if flat else s.x)]
    values = s.x if flat else s.y
    along = canvas.x if flat else canvas.y
    across = canvas.y if flat else canvas.x

    def xy(place_: float, value: float) -> tuple[float, float]:
        return (value, place_) if flat else (place_, value)

    errors = s.low is not None
    plot: Plot = {"kind": "bars", "look": item.look, "flat": flat, "errors": errors, "log": along.kind == "log"}
    plot["thick"] = number(item.thick * 0.9)
    plot["rows"] = [
        (*canvas.point(*xy(p, v)), *(_deltas(along, v, s.low[i], s.high[i]) if errors else ()))
        for i, (p, v) in enumerate(zip(places, values, strict=True))
    ]
    found = [plot]
    thick = abs(across.at(places[0] + item.thick) - across.at(places[0]))
    said = bar_texts(s)
    upright = not flat and any(width(t, "scriptsize") > thick * 1.08 for t in said)
    for i, text in enumerate(said):
        down = values[i] < 0
        ends = [values[i], *((s.low[i], s.high[i]) if errors else ())]
        if s.reported is not None and s.reported[i] is not None and s.reported[i] == s.reported[i]:
            ends.append(s.reported[i])
        x, y = canvas.mm(*xy(places[i], min(ends) if down else max(ends)))
        side = -1 if down else 1
        if flat:
            canvas.say(x + 0.8 * side, y, text, "east" if down else "west", size="scriptsize")
        elif upright:
            canvas.say(x, y + 0.7 * side, text, "east" if down else "west", size="scriptsize", rotate="90")
        else:
            canvas.say(x, y + 0.5 * side, text, "north" if down else "south", size="scriptsize")
    if s.reported is not None:
        told = [canvas.point(*xy(p, r)) for p, r in zip(places, s.reported, strict=True) if r is not None and r == r]
        if told:
            found.append({"kind": "reported", "rows": told})
    return found


def stacked(canvas: Canvas, items: Sequence[Drawn]) -> list[Plot]:
    """All layers of a panel's stacks, from the ground up."""
    height: dict[float, float] = {}
    found = []
    for item in items:
        s = item.series
        assert isinstance(s, Stacked)
        rows = []
        for x, y, text in zip(s.x, s.y, bar_texts(s) or [""] * len(s.x), strict=True):
            base = height.get(x, 0.0)
            height[x] = base + y
            left, right = x - item.thick / 2, x + item.thick / 2
            rows.append((canvas.point(left, base), canvas.point(right, base + y)))
            room = canvas.y.at(base + y) - canvas.y.at(base)
            wide = canvas.x.at(right) - canvas.x.at(left)
            if text and room > 3.0 and width(text, "scriptsize") < wide - 0.6:
                middle = canvas.mm(x, base + y / 2)
                canvas.say(*middle, text, "center", _ink(item.look), size="scriptsize", fill=_paper(item.look))
        found.append({"kind": "stacked", "look": item.look, "rows": rows})
    return found


def _ink(shown: Look) -> str:
    """White words on dark plain fills, black ones elsewhere."""
    dark = shown.color in ("okblack", "okblue", "okvermillion", "okgreen", "okgrey") or shown.color.endswith("!black")
    return "white" if dark and not shown.hatch else "okblack"


def _paper(shown: Look) -> str:
    return "white" if shown.hatch else ""


def bundle(canvas: Canvas, item: Drawn) -> list[Plot]:
    """Thin lines in one plot, interrupted by NaN rows; the band of the middle 80 %; the mean."""
    import numpy as np

    s = item.series
    assert isinstance(s, Bundle)
    lines = np.asarray(s.lines, dtype=float)
    rows: list[tuple[str, str]] = []
    for values in lines:
        for x, y in zip(s.x, values, strict=True):
            rows.append(("nan", "nan") if np.isnan(y) else canvas.point(x, y))
        rows.append(("nan", "nan"))
    kept = ~np.all(np.isnan(lines), axis=0)
    x = [v for v, keep in zip(s.x, kept, strict=True) if keep]
    low, high = np.nanpercentile(lines[:, kept], (10, 90), axis=0)
    opacity = s.opacity if s.opacity is not None else min(0.6, max(0.08, 12 / len(lines)))
    plot: Plot = {"kind": "bundle", "look": item.look, "rows": rows[:-1], "opacity": f"{opacity:.2f}"}
    plot["band"] = _band(canvas, x, low.tolist(), high.tolist()) if s.band else []
    plot["mean"] = _both(canvas, x, np.nanmean(lines[:, kept], axis=0).tolist()) if s.mean else []
    return [plot]


def forest(canvas: Canvas, item: Drawn) -> list[Plot]:
    """Estimates with intervals, one plot per look."""
    s = item.series
    assert isinstance(s, Forest)
    groups: dict[Look, list[int]] = {}
    for i in range(len(s.rows)):
        groups.setdefault(item.looks[i] if item.looks else item.look, []).append(i)
    if s.texts is not None:
        for i, text in enumerate(s.texts):
            canvas.say(canvas.x.length + 2.0, canvas.y.at(item.slots[i]), latex(str(text)), "west", size="scriptsize")
    return [
        {
            "kind": "forest",
            "look": shown,
            "rows": [
                (*canvas.point(s.estimate[i], item.slots[i]), *_deltas(canvas.x, s.estimate[i], s.low[i], s.high[i]))
                for i in members
            ],
        }
        for shown, members in groups.items()
    ]


def name_points(canvas: Canvas) -> None:
    """Place the names of all labelled points of a panel together."""
    at, texts, colors, obstacles = [], [], [], []
    for item in canvas.ready.drawn:
        s = item.series
        if isinstance(s, Points):
            spots = [canvas.mm(x, y) for x, y in zip(s.x, s.y, strict=True)]
            obstacles += spots
            for i, text in enumerate(s.labels or ()):
                if str(text):
                    at.append(spots[i])
                    texts.append(str(text))
                    colors.append((item.looks[i] if item.looks else item.look).text)
            for i in range(len(s.x)):
                if s.y_low is not None:
                    obstacles += _between(canvas.mm(s.x[i], s.y_low[i]), canvas.mm(s.x[i], s.y_high[i]))
                if s.x_low is not None:
                    obstacles += _between(canvas.mm(s.x_low[i], s.y[i]), canvas.mm(s.x_high[i], s.y[i]))
        elif isinstance(s, Line | Fit):
            spots = [canvas.mm(x, y) for x, y in zip(s.x, s.y, strict=True)]
            for a, b in zip(spots, spots[1:], strict=False):
                obstacles += _between(a, b)
    for rule in canvas.ready.panel.rules:
        where = canvas.ready.position(rule.at, rule.axis)
        x, y = canvas.x, canvas.y
        ends = (
            ((0, y.at(where)), (x.length, y.at(where)))
            if rule.axis == "y"
            else ((x.at(where), 0), (x.at(where), y.length))
        )
        obstacles += _between(*ends)
    if not at:
        return
    widths = [width(t, "scriptsize") for t in texts]
    found = place(at, widths, 2.9, (canvas.x.length, canvas.y.length), obstacles, MARK_MM)
    for spot, text, color, box in zip(at, texts, colors, found, strict=True):
        canvas.say(*box.middle, latex(text), "center", color, size="scriptsize")
        if box.leader:
            x, y = spot
            end = (min(max(x, box.left + 0.3), box.right - 0.3), min(max(y, box.low + 0.5), box.high - 0.5))
            far = math.hypot(end[0] - x, end[1] - y)
            start = (x + (end[0] - x) * MARK_MM * 1.3 / far, y + (end[1] - y) * MARK_MM * 1.3 / far)
            canvas.lead(start, end, "okgrey")


def _between(a: tuple[float, float], b: tuple[float, float]) -> list[tuple[float, float]]:
    steps = max(1, math.ceil(math.hypot(b[0] - a[0], b[1] - a[1]) / 0.8))
    return [(a[0] + (b[0] - a[0]) * t / steps, a[1] + (b[1] - a[1]) * t / steps) for t in range(steps + 1)]


EDGE_ROOM = 24.0
"""How wide a reference line's label may be at the right edge before it is wrapped, in mm."""


def edge_names(ready: Ready) -> list[tuple[str, list[str], str, float | None]]:
    """What stands at the right edge: names of lines and of horizontal rules, as (kind, lines of text, colour, y)."""
    found: list[tuple[str, list[str], str, float | None]] = []
    for item in ready.drawn:
        s = item.series
        if isinstance(s, Line) and s.direct:
            text = s.direct if isinstance(s.direct, str) else item.look.label
            found.append(("line", [text], item.look.text, s.y[max(range(len(s.x)), key=lambda i, s=s: s.x[i])]))  # type: ignore[misc]
    for mark in (*ready.panel.rules, *ready.panel.shades):
        if mark.axis == "y" and mark.label:
            at = mark.at if hasattr(mark, "at") else None
            middle = ready.position(at, "y") if at is not None else None
            shown = _tone(mark.entity or "neutral", ready)
            found.append(("rule", wrap(mark.label, EDGE_ROOM, "scriptsize") or [mark.label], shown, middle))
            if at is None:
                low, high = ready.position(mark.low, "y"), ready.position(mark.high, "y")  # type: ignore[union-attr]
                found[-1] = ("rule", found[-1][1], shown, (low + high) / 2)
    return found


def _tone(entity: str, ready: Ready) -> str:
    from figures._series import Series

    return look(style(entity, {}, ready.where), Series()).text


def name_edges(canvas: Canvas) -> None:
    """Write the names at the right edge, apart from each other."""
    names = edge_names(canvas.ready)
    wanted = [canvas.y.at(float(n[3])) for n in names if n[3] is not None]
    heights = [LINE_MM["scriptsize"] * len(n[1]) + 0.1 for n in names]
    centres = spread(wanted, heights, -2.0, canvas.y.length + 3.0)
    for (kind, lines, color, _), want, centre in zip(names, wanted, centres, strict=True):
        start = canvas.x.length + (1.0 if kind == "rule" else 1.4)
        if abs(centre - want) > 0.9:
            canvas.lead((start - 0.4, want), (start + 1.6, centre), color)
            start += 2.0
        text = r"\\".join(latex(part) for part in lines)
        canvas.say(start, centre, text, "west", color, size="scriptsize", align="left")
