"""Check a figure before drawing; errors name the figure, the panel and the series."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from boundpaper.errors import DataError, SpecError
from boundpaper.figures.series import Bars, Bundle, Fit, Forest, Heatmap, Line, Points, Series, Stacked
from boundpaper.figures.spec import Axis, Figure, Panel
from boundpaper.figures.style import look, style

_COLUMNS: dict[type[Series], tuple[str, ...]] = {
    Line: ("x", "y", "low", "high"),
    Points: ("x", "y", "labels", "entities", "sizes", "x_low", "x_high", "y_low", "y_high"),
    Fit: ("x", "y", "low", "high"),
    Bars: ("x", "y", "low", "high", "reported", "values"),
    Stacked: ("x", "y"),
    Forest: ("rows", "estimate", "low", "high", "groups", "entities", "texts"),
    Bundle: ("x",),
    Heatmap: (),
}
_TEXT = ("labels", "entities", "values", "rows", "groups", "texts")
_HOLES = ("reported",)
_PAIRS = (("low", "high"), ("x_low", "x_high"), ("y_low", "y_high"))


def check(figure: Figure, name: str) -> None:
    """Raise DataError for faulty columns and SpecError for a faulty figure."""
    if sum((bool(figure.panels), bool(figure.template), bool(figure.body))) != 1:
        raise SpecError(f"figure {name}: give exactly one of panels, template and body")
    if not figure.caption.strip():
        raise SpecError(f"figure {name}: no caption; describe the data, their unit and n")
    for i, panel in enumerate(figure.panels, 1):
        place = f"figure {name}" + (f", panel {i}" if len(figure.panels) > 1 else "")
        place += f" '{panel.title}'" if panel.title else ""
        _check_panel(panel, place)
    _check_rules(figure, name)


def _check_rules(figure: Figure, name: str) -> None:
    """Raise SpecError for an unnamed reference line with the dash of a series, since dashes identify series."""
    series_types = {
        look(style(series.entity or "series-1", figure.entities, f"figure {name}, {series.title}"), series).dash
        for panel in figure.panels
        for series in panel.series
        if isinstance(series, Line | Fit | Bundle)
    }
    for i, panel in enumerate(figure.panels, 1):
        for rule in panel.rules:
            if rule.dash != "solid" and rule.dash in series_types and not rule.label:
                raise SpecError(
                    f"figure {name}, panel {i}: the line at {rule.at} looks like a series, since both are {rule.dash}; "
                    "name it (label=...) or draw it solid"
                )


def _check_panel(panel: Panel, place: str) -> None:
    if not panel.series:
        raise SpecError(f"{place}: no series; give at least one, for example Line(x=..., y=...)")
    for series in panel.series:
        check_series(series, place)
        for axis, column in _values_by_axis(series):
            _check_axis(
                getattr(panel, axis),
                axis,
                column,
                f"{place}, {series.title}",
                is_cut=isinstance(series, Line | Fit | Bundle),
            )
    maps = [s for s in panel.series if isinstance(s, Heatmap)]
    if maps and len(panel.series) > 1:
        raise SpecError(f"{place}: a heat map must be alone in its panel; put the other series into another panel")
    bars = {s.horizontal for s in panel.series if isinstance(s, Bars)}
    if len(bars) > 1:
        raise SpecError(f"{place}: bars are horizontal in one series and vertical in another")
    for spec in (panel.x, panel.y):
        if spec.scale == "log" and spec.reverse:
            raise SpecError(f"{place}: a log axis cannot be reversed")
        if spec.low is not None and spec.high is not None and spec.low >= spec.high:
            raise SpecError(
                f"{place}: axis '{spec.label}' runs from {spec.low} to {spec.high}; low must be less than high"
            )


def check_series(series: Series, place: str) -> None:
    """Check that the columns of a series are present, equally long and without NaN."""
    place = f"{place}, {series.title}"
    names = _COLUMNS.get(type(series))
    if names is None:
        raise SpecError(f"{place}: {type(series).__name__} is not a series; see boundpaper/figures/series.py")
    if isinstance(series, Heatmap):
        _check_matrix(series.values, "values", place, holes=False, blanks=True)
        if all(v is None for row in series.values for v in row):
            raise DataError(f"{place}: values contains no value; check the selection of rows")
        rows, columns = len(series.values), len(series.values[0])
        _check_edges(series.x_edges, "x_edges", columns, place)
        _check_edges(series.y_edges, "y_edges", rows, place)
        return
    columns_ = [(n, getattr(series, n)) for n in names if not isinstance(getattr(series, n), bool | type(None))]
    first, length = columns_[0][0], len(columns_[0][1])
    if not length:
        raise DataError(f"{place}: column {first} is empty; check the selection of rows")
    for n, column in columns_:
        if len(column) != length:
            raise DataError(f"{place}: {first} has {length} values, but {n} has {len(column)}; give equally many")
        if n not in _TEXT:
            _check_numbers(column, n, place, holes=n in _HOLES)
    for low, high in _PAIRS:
        if (getattr(series, low, None) is None) != (getattr(series, high, None) is None):
            raise SpecError(f"{place}: give both {low} and {high}, or neither")
    if isinstance(series, Bundle):
        _check_matrix(series.lines, "lines", place, holes=True)
        if len(series.lines[0]) != length:
            raise DataError(f"{place}: x has {length} values, but each line {len(series.lines[0])}; give equally many")
    if isinstance(series, Stacked) and any(v < 0 for v in series.y):
        raise DataError(f"{place}: a stack cannot have negative values; draw Bars instead")
    if isinstance(series, Fit) and any(b <= a for a, b in pairwise(series.x)):
        raise DataError(f"{place}: x must increase from point to point; sort the rows")


def _check_numbers(column: Sequence[Any], name: str, place: str, *, holes: bool, blanks: bool = False) -> None:
    for i, value in enumerate(column):
        if isinstance(value, str) and name in ("x", "y"):
            continue
        if (blanks and value is None) or (holes and (value is None or value != value)):
            continue
        try:
            fine = math.isfinite(value)
        except TypeError:
            raise DataError(f"{place}: {name}[{i}] is {value!r}, not a number") from None
        if not fine:
            raise DataError(f"{place}: {name}[{i}] is {value}; drop the row, or draw a Bundle, which may have gaps")


def _check_matrix(rows: Any, name: str, place: str, *, holes: bool, blanks: bool = False) -> None:
    if not len(rows) or not len(rows[0]):
        raise DataError(f"{place}: {name} is empty; check the selection of rows")
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise DataError(
                f"{place}: {name}[0] has {len(rows[0])} values, but {name}[{i}] has {len(row)}; give equally long rows"
            )
        _check_numbers(row, f"{name}[{i}]", place, holes=holes, blanks=blanks)
        if holes and all(v != v for v in row):
            raise DataError(f"{place}: {name}[{i}] contains no value; drop the line")


def _check_edges(edges: Any, name: str, cells: int, place: str) -> None:
    if edges is None:
        return
    if len(edges) != cells + 1:
        raise DataError(f"{place}: {cells} cells need {cells + 1} borders, but {name} has {len(edges)}")
    _check_numbers(edges, name, place, holes=False)
    if any(b <= a for a, b in pairwise(edges)):
        raise DataError(f"{place}: {name} must increase from border to border")


def _values_by_axis(series: Series) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield each axis with all values that the series draws along it."""
    if isinstance(series, Forest):
        yield "x", (*series.estimate, *series.low, *series.high)
    elif isinstance(series, Bundle):
        yield "x", tuple(series.x)
        yield "y", tuple(v for line in series.lines for v in line)
    elif isinstance(series, Points):
        yield "x", (*series.x, *(series.x_low or ()), *(series.x_high or ()))
        yield "y", (*series.y, *(series.y_low or ()), *(series.y_high or ()))
    elif isinstance(series, Line | Fit | Bars):
        ends = (*(series.low or ()), *(series.high or ()))
        flat = isinstance(series, Bars) and series.horizontal
        yield "x", (*series.x, *(ends if flat else ()))
        yield "y", (*series.y, *(() if flat else ends))
    elif isinstance(series, Stacked):
        yield "x", tuple(series.x)


def _check_axis(axis: Axis, name: str, column: tuple[Any, ...], place: str, *, is_cut: bool) -> None:
    numbers = [v for v in column if not isinstance(v, str)]
    if axis.scale == "log" and any(v <= 0 for v in numbers):
        raise DataError(
            f"{place}: {min(numbers):g} cannot be drawn on a log axis ({name}); use scale='symlog', or drop it"
        )
    categories = set(axis.categories)
    undeclared = [v for v in column if isinstance(v, str) and categories and v not in categories]
    if undeclared:
        raise DataError(
            f"{place}: '{undeclared[0]}' is not a category of axis {name}; known are "
            f"{', '.join(map(str, axis.categories))}"
        )
    if is_cut:
        return
    for value in numbers:
        if (axis.low is not None and value < axis.low) or (axis.high is not None and value > axis.high):
            raise DataError(
                f"{place}: {value:g} is outside the given limits of axis {name} and would be cut off; widen the limits"
            )
