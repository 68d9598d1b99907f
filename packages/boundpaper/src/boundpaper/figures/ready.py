"""Prepare a panel for drawing: replace categories by positions, and find the look of each series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, pairwise
from typing import Any

from boundpaper.errors import DataError
from boundpaper.figures.series import Bars, Bundle, Fit, Forest, Heatmap, Line, Points, Series, Stacked
from boundpaper.figures.spec import Axis, Panel
from boundpaper.figures.style import Look, Style, look, style


@dataclass(frozen=True, kw_only=True)
class PreparedSeries:
    """A series with numeric positions and its look; `looks` has one look per point if each point has an entity.

    `shift` and `thickness` are a bar's offset from its category and its thickness, in the unit of the category axis.
    `slots` are the positions of a forest's rows.
    """

    series: Series
    look: Look
    looks: tuple[Look, ...] = ()
    shift: float = 0.0
    thickness: float = 0.0
    slots: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PreparedPanel:
    """A panel prepared for drawing.

    `location` names the panel in errors, and `entities` are those of the figure. `names` has the categories along each
    axis, none for a numeric axis; `headings` has the positions of group headings among the names along y. `bar_axis` is
    the axis along which bars extend, or empty if there are no bars.
    """

    panel: Panel
    location: str
    series: tuple[PreparedSeries, ...]
    names: Mapping[str, tuple[str, ...]]
    headings: frozenset[int] = frozenset()
    bar_axis: str = ""
    entities: Mapping[str, Style | str] = field(default_factory=dict)

    def axis(self, name: str) -> Axis:
        """Return the specification of the axis "x" or "y"."""
        return self.panel.x if name == "x" else self.panel.y

    def entity_look(self, entity: str) -> Look:
        """Return the look of an entity that a rule, a range or an annotation names."""
        return look(style(entity, self.entities, self.location), Series())

    def position(self, value: Any, axis: str) -> float:
        """Return the position of a value on an axis: the index of a category, or the number itself."""
        if not isinstance(value, str):
            return float(value)
        if value not in self.names[axis]:
            raise DataError(
                f"{self.location}: '{value}' is not among the categories of axis {axis}: "
                f"{', '.join(self.names[axis]) or 'it has numbers'}"
            )
        return float(self.names[axis].index(value))


def prepare(
    panel: Panel, location: str, entities: Mapping[str, Style | str], names: Mapping[str, tuple[str, ...]]
) -> PreparedPanel:
    """Return a panel prepared for drawing; `names` are the categories along each axis, from `categories`."""
    slots, headings, rows = _numbered_rows(panel)
    names = {**names, "y": rows} if rows else names
    empty_panel = PreparedPanel(
        panel=panel, location=location, series=(), names=names, headings=headings, entities=entities
    )
    bars = [s for s in panel.series if isinstance(s, Bars)]
    forests = [s for s in panel.series if isinstance(s, Forest)]
    all_prepared = []
    for series, entity in series_entities(panel):
        series_location = f"{location}, {series.title}"
        looks = tuple(
            look(style(e, entities, series_location), series) for e in getattr(series, "entities", None) or ()
        )
        series_look = look(style(entity, entities, series_location), series)
        prepared = PreparedSeries(series=_with_positions(series, empty_panel), look=series_look, looks=looks)
        if isinstance(series, Bars):
            axis = "y" if series.horizontal else "x"
            step = _smallest_step([empty_panel.position(v, axis) for s in bars for v in getattr(s, axis)])
            thickness = step * (0.8 / len(bars) if len(bars) > 1 else 0.62)
            shift = (bars.index(series) - (len(bars) - 1) / 2) * thickness
            prepared = replace(prepared, shift=shift, thickness=thickness)
        elif isinstance(series, Stacked):
            step = _smallest_step([empty_panel.position(v, "x") for v in series.x])
            prepared = replace(prepared, thickness=0.66 * step)
        elif isinstance(series, Forest):
            dodge = (forests.index(series) - (len(forests) - 1) / 2) * min(0.3, 0.7 / len(forests))
            keys = zip(_group_of_rows(series), series.rows, strict=True)
            prepared = replace(prepared, slots=tuple(slots[key] + dodge for key in keys))
        all_prepared.append(prepared)
    bar_axis = "y" if bars or any(isinstance(s, Stacked) for s in panel.series) else ""
    if bars and bars[0].horizontal:
        bar_axis = "x"
    return replace(empty_panel, series=tuple(all_prepared), bar_axis=bar_axis)


def series_entities(panel: Panel) -> list[tuple[Series, str]]:
    """Return each series with its entity, or with the next of `series-1` to `series-8` if it has none."""
    unnamed = (f"series-{i}" for i in cycle(range(1, 9)))
    return [(series, series.entity or next(unnamed)) for series in panel.series]


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
    """Return the positions of (group, row) pairs from the top, the positions of group headings, and all names."""
    slots: dict[tuple[str, str], float] = {}
    names: list[str] = []
    headings = set()
    groups: dict[str, list[str]] = {}
    for series in panel.series:
        if isinstance(series, Forest):
            for group, row in zip(_group_of_rows(series), series.rows, strict=True):
                members = groups.setdefault(group, [])
                if row not in members:
                    members.append(row)
    for group, members in groups.items():
        if group:
            headings.add(len(names))
            names.append(group)
        for row in members:
            slots[group, row] = float(len(names))
            names.append(str(row))
    return slots, frozenset(headings), tuple(names)


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


def _smallest_step(positions: Sequence[float]) -> float:
    """Return the smallest distance of two different positions, or 1 if there is only one."""
    return min((b - a for a, b in pairwise(sorted(set(positions)))), default=1.0)


def values_along(prepared: PreparedSeries, axis: str) -> list[float]:
    """Return all values that a series draws along an axis; none for a heat map."""
    s = prepared.series
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
        return [v + factor * prepared.thickness / 2 + prepared.shift for v in values for factor in (-1.3, 1.3)]
    if isinstance(s, Stacked) and axis == "x":
        return [v + factor * prepared.thickness for v in values for factor in (-0.8, 0.8)]
    if isinstance(s, Line | Fit | Bars) and axis == ("x" if isinstance(s, Bars) and s.horizontal else "y"):
        values += [*(s.low or ()), *(s.high or ())]
        if isinstance(s, Bars):
            values += [v for v in s.reported or () if v is not None and v == v]
    return values


def stack_tops(all_prepared: Sequence[PreparedSeries]) -> dict[float, float]:
    """Return the height of each stack, by its position."""
    tops: dict[float, float] = {}
    for prepared in all_prepared:
        if isinstance(prepared.series, Stacked):
            for x, y in zip(prepared.series.x, prepared.series.y, strict=True):
                tops[x] = tops.get(x, 0.0) + y
    return tops
