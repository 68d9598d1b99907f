"""Prepare a panel for drawing: convert categories to positions, look up looks, find the range of values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from boundpaper.figures.series import Bars, Bundle, Fit, Forest, Heatmap, Line, Points, Series, Stacked
from boundpaper.figures.spec import Axis, Panel
from boundpaper.figures.style import Look, Style, look, style


@dataclass(frozen=True, kw_only=True)
class PreparedSeries:
    """A series with numeric positions and its look; `looks` has one look per point if the points differ.

    `shift` and `thick` are a bar's offset from its category and its thickness, in the unit of the category axis;
    `slots` are the positions of a forest's rows.
    """

    series: Series
    look: Look
    looks: tuple[Look, ...] = ()
    shift: float = 0.0
    thick: float = 0.0
    slots: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PreparedPanel:
    """A panel prepared for drawing.

    `names` has the categories along each axis, empty for a numeric axis; `heads` has the positions of group headings
    among the names along y. Bars extend along the axis `bars`; `own` has the figure's `entities`.
    """

    panel: Panel
    where: str
    drawn: tuple[PreparedSeries, ...]
    names: Mapping[str, tuple[str, ...]]
    heads: frozenset[int] = frozenset()
    bars: str = ""
    own: Mapping[str, Style | str] = field(default_factory=dict)

    def axis(self, name: str) -> Axis:
        """Return the axis as specified."""
        return self.panel.x if name == "x" else self.panel.y

    def position(self, value: Any, axis: str) -> float:
        """Return the number of a category, or the number itself."""
        if isinstance(value, str):
            from boundpaper.errors import DataError

            if value not in self.names[axis]:
                raise DataError(
                    f"{self.where}: '{value}' is not a category of axis {axis}: "
                    f"{', '.join(self.names[axis]) or 'it has numbers'}"
                )
            return float(self.names[axis].index(value))
        return float(value)


def prepare(
    panel: Panel, where: str, own: Mapping[str, Style | str], names: Mapping[str, tuple[str, ...]]
) -> PreparedPanel:
    """Return a panel prepared for drawing; `names` are the categories along each axis, from `categories`."""
    slots, heads, rows = _numbered_rows(panel)
    names = {**names, "y": rows} if rows else names
    without_series = PreparedPanel(panel=panel, where=where, drawn=(), names=names, heads=heads, own=own)
    bars = [s for s in panel.series if isinstance(s, Bars)]
    forests = [s for s in panel.series if isinstance(s, Forest)]
    free = iter(range(1, 1000))
    prepared = []
    for series in panel.series:
        place = f"{where}, {series.title}"
        entity = series.entity or f"series-{(next(free) - 1) % 8 + 1}"
        base = look(style(entity, own, place), series)
        entities = getattr(series, "entities", None)
        looks = tuple(look(style(e, own, place), series) for e in entities) if entities is not None else ()
        item = PreparedSeries(series=_with_positions(series, without_series), look=base, looks=looks)
        if isinstance(series, Bars):
            side = "y" if series.horizontal else "x"
            step = _smallest_step([without_series.position(v, side) for s in bars for v in getattr(s, side)])
            thick = step * (0.8 / len(bars) if len(bars) > 1 else 0.62)
            item = replace(item, shift=(bars.index(series) - (len(bars) - 1) / 2) * thick, thick=thick)
        elif isinstance(series, Stacked):
            item = replace(item, thick=0.66 * _smallest_step([without_series.position(v, "x") for v in series.x]))
        elif isinstance(series, Forest):
            dodge = (forests.index(series) - (len(forests) - 1) / 2) * min(0.3, 0.7 / len(forests))
            keys = zip(_group_of_rows(series), series.rows, strict=True)
            item = replace(item, slots=tuple(slots[key] + dodge for key in keys))
        prepared.append(item)
    grows = (
        ("x" if bars[0].horizontal else "y")
        if bars
        else "y"
        if any(isinstance(s, Stacked) for s in panel.series)
        else ""
    )
    return replace(without_series, drawn=tuple(prepared), bars=grows)


def categories(panels: Sequence[Panel], axis: str) -> tuple[str, ...]:
    """Return the categories of panels along an axis: in the order of `Axis.categories`, else of appearance."""
    declared = {str(c): None for p in panels for c in (p.x if axis == "x" else p.y).categories}
    if declared:
        return tuple(declared)
    used = {v: None for p in panels for s in p.series for v in (getattr(s, axis, None) or ()) if isinstance(v, str)}
    return tuple(used)


def _group_of_rows(series: Forest) -> tuple[str, ...]:
    return tuple(series.groups) if series.groups is not None else ("",) * len(series.rows)


def _numbered_rows(panel: Panel) -> tuple[dict[tuple[str, str], float], frozenset[int], tuple[str, ...]]:
    """Return the row numbers of a forest from the top, the slots of group headings, and the texts of all slots."""
    slots: dict[tuple[str, str], float] = {}
    names: list[str] = []
    heads = set()
    groups: dict[str, list[str]] = {}
    for series in panel.series:
        if isinstance(series, Forest):
            for group, row in zip(_group_of_rows(series), series.rows, strict=True):
                members = groups.setdefault(group, [])
                if row not in members:
                    members.append(row)
    for group, members in groups.items():
        if group:
            heads.add(len(names))
            names.append(group)
        for row in members:
            slots[group, row] = float(len(names))
            names.append(str(row))
    return slots, frozenset(heads), tuple(names)


def _with_positions(series: Series, panel: PreparedPanel) -> Series:
    """Return the series with categories replaced by positions."""
    if isinstance(series, Forest | Heatmap):
        return series
    positions: dict[str, Any] = {
        axis: tuple(panel.position(v, axis) for v in getattr(series, axis))
        for axis in ("x", "y")
        if hasattr(series, axis)
    }
    return replace(series, **positions)


def _smallest_step(at: Sequence[float]) -> float:
    places = sorted(set(at))
    return min((b - a for a, b in pairwise(places)), default=1.0)


def values_along(item: PreparedSeries, axis: str) -> list[float]:
    """Return all values that a series draws along an axis."""
    s = item.series
    if isinstance(s, Heatmap):
        return []
    if isinstance(s, Forest):
        return [*s.estimate, *s.low, *s.high] if axis == "x" else []
    if isinstance(s, Bundle):
        return list(s.x) if axis == "x" else [v for line in s.lines for v in line if v == v]
    values = list(getattr(s, axis))
    if isinstance(s, Points):
        return values + list(getattr(s, f"{axis}_low") or ()) + list(getattr(s, f"{axis}_high") or ())
    if isinstance(s, Bars) and axis != ("x" if s.horizontal else "y"):
        return [v + side * item.thick / 2 + item.shift for v in values for side in (-1.3, 1.3)]
    if isinstance(s, Stacked) and axis == "x":
        return [v + side * item.thick * 0.8 for v in values for side in (-1, 1)]
    if isinstance(s, Line | Fit | Bars) and axis == ("x" if isinstance(s, Bars) and s.horizontal else "y"):
        values += [*(s.low or ()), *(s.high or ())]
        if isinstance(s, Bars):
            values += [v for v in s.reported or () if v is not None and v == v]
    return values


def stack_tops(items: Sequence[PreparedSeries]) -> dict[float, float]:
    """Return the height of each stack."""
    tops: dict[float, float] = {}
    for item in items:
        if isinstance(item.series, Stacked):
            for x, y in zip(item.series.x, item.series.y, strict=True):
                tops[x] = tops.get(x, 0.0) + y
    return tops


def series_of_kind(items: Sequence[PreparedSeries], kind: type) -> list[PreparedSeries]:
    """Return the series of one kind."""
    return [d for d in items if isinstance(d.series, kind)]
