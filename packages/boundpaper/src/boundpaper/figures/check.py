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
_TEXT_COLUMNS = ("labels", "entities", "values", "rows", "groups", "texts")
_COLUMNS_WITH_GAPS = ("reported",)
_INTERVALS = (("low", "high"), ("x_low", "x_high"), ("y_low", "y_high"))


def check(figure: Figure, name: str) -> None:
    """Raise DataError for faulty columns and SpecError for a faulty figure."""
    if sum((bool(figure.panels), bool(figure.template), bool(figure.body))) != 1:
        raise SpecError(f"figure {name}: give exactly one of panels, template and body")
    if not figure.caption.strip():
        raise SpecError(f"figure {name}: no caption; describe the data, their unit and n")
    for i, panel in enumerate(figure.panels, 1):
        location = f"figure {name}" + (f", panel {i}" if len(figure.panels) > 1 else "")
        location += f" '{panel.title}'" if panel.title else ""
        _check_panel(panel, location)
    _check_rules(figure, name)


def _check_rules(figure: Figure, name: str) -> None:
    """Raise SpecError for an unnamed reference line that is dashed like a series, since dashes identify series."""
    series_dashes = {
        look(style(series.entity or "series-1", figure.entities, f"figure {name}, {series.title}"), series).dash
        for panel in figure.panels
        for series in panel.series
        if isinstance(series, Line | Fit | Bundle)
    }
    for i, panel in enumerate(figure.panels, 1):
        for rule in panel.rules:
            if rule.dash != "solid" and rule.dash in series_dashes and not rule.label:
                raise SpecError(
                    f"figure {name}, panel {i}: the line at {rule.at} looks like a series, since both are {rule.dash}; "
                    "name it (label=...) or draw it solid"
                )


def _check_panel(panel: Panel, location: str) -> None:
    if not panel.series:
        raise SpecError(f"{location}: no series; give at least one, for example Line(x=..., y=...)")
    for series in panel.series:
        check_series(series, location)
        is_clipped = isinstance(series, Line | Fit | Bundle)
        for name, values in _values_by_axis(series):
            _check_axis(getattr(panel, name), name, values, f"{location}, {series.title}", is_clipped=is_clipped)
    if len(panel.series) > 1 and any(isinstance(series, Heatmap) for series in panel.series):
        raise SpecError(f"{location}: a heat map must be alone in its panel; put the other series into another panel")
    if len({series.horizontal for series in panel.series if isinstance(series, Bars)}) > 1:
        raise SpecError(f"{location}: bars are horizontal in one series and vertical in another; use one direction")
    for axis in (panel.x, panel.y):
        if axis.scale == "log" and axis.reverse:
            raise SpecError(f"{location}: a log axis cannot be reversed; remove reverse=True, or use another scale")
        if axis.low is not None and axis.high is not None and axis.low >= axis.high:
            raise SpecError(
                f"{location}: axis '{axis.label}' runs from {axis.low} to {axis.high}; low must be less than high"
            )


def check_series(series: Series, location: str) -> None:
    """Raise DataError or SpecError unless the columns of a series are equally long and have valid values."""
    location = f"{location}, {series.title}"
    names = _COLUMNS.get(type(series))
    if names is None:
        raise SpecError(f"{location}: {type(series).__name__} is not a series; see boundpaper/figures/series.py")
    if isinstance(series, Heatmap):
        _check_matrix(series.values, "values", location, allow_none=True)
        if all(v is None for row in series.values for v in row):
            raise DataError(f"{location}: all cells of `values` are None; check the selection of rows")
        _check_edges(series.x_edges, "x_edges", len(series.values[0]), location)
        _check_edges(series.y_edges, "y_edges", len(series.values), location)
        return
    columns = {name: getattr(series, name) for name in names}
    columns = {name: column for name, column in columns.items() if not isinstance(column, bool | type(None))}
    first, length = next((name, len(column)) for name, column in columns.items())
    if not length:
        raise DataError(f"{location}: column {first} is empty; check the selection of rows")
    for name, column in columns.items():
        if len(column) != length:
            raise DataError(f"{location}: {first} has {length} values, but {name} has {len(column)}; give equally many")
        if name not in _TEXT_COLUMNS:
            _check_numbers(column, name, location, allow_gaps=name in _COLUMNS_WITH_GAPS)
    for low, high in _INTERVALS:
        if (getattr(series, low, None) is None) != (getattr(series, high, None) is None):
            raise SpecError(f"{location}: give both {low} and {high}, or neither")
    if isinstance(series, Bundle):
        _check_matrix(series.lines, "lines", location, allow_gaps=True)
        if len(series.lines[0]) != length:
            raise DataError(
                f"{location}: x has {length} values, but each line {len(series.lines[0])}; give equally many"
            )
    if isinstance(series, Stacked) and any(v < 0 for v in series.y):
        raise DataError(f"{location}: a stack cannot have negative values; draw Bars instead")
    if isinstance(series, Fit) and any(b <= a for a, b in pairwise(series.x)):
        raise DataError(f"{location}: x must increase from point to point; sort the rows")


def _check_numbers(
    column: Sequence[Any], name: str, location: str, *, allow_gaps: bool = False, allow_none: bool = False
) -> None:
    """Raise DataError for a value that is not a finite number.

    Columns x and y may also have categories. None is allowed with `allow_none`, None and NaN with `allow_gaps`.
    """
    for i, value in enumerate(column):
        if isinstance(value, str) and name in ("x", "y"):
            continue
        if (value is None and (allow_none or allow_gaps)) or (allow_gaps and value != value):
            continue
        try:
            is_finite = math.isfinite(value)
        except TypeError:
            raise DataError(f"{location}: {name}[{i}] is {value!r}, not a number; give one, or drop the row") from None
        if not is_finite:
            raise DataError(f"{location}: {name}[{i}] is {value}; drop the row, or draw a Bundle, which may have gaps")


def _check_matrix(rows: Any, name: str, location: str, *, allow_gaps: bool = False, allow_none: bool = False) -> None:
    if not len(rows) or not len(rows[0]):
        raise DataError(f"{location}: {name} is empty; check the selection of rows")
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            lengths = f"{name}[0] has {len(rows[0])} values, but {name}[{i}] has {len(row)}"
            raise DataError(f"{location}: {lengths}; give equally long rows")
        _check_numbers(row, f"{name}[{i}]", location, allow_gaps=allow_gaps, allow_none=allow_none)
        if allow_gaps and all(v != v for v in row):
            raise DataError(f"{location}: {name}[{i}] contains no value; drop the line")


def _check_edges(edges: Any, name: str, cells: int, location: str) -> None:
    if edges is None:
        return
    if len(edges) != cells + 1:
        raise DataError(f"{location}: {cells} cells need {cells + 1} borders, but {name} has {len(edges)}")
    _check_numbers(edges, name, location)
    if any(b <= a for a, b in pairwise(edges)):
        raise DataError(f"{location}: {name} must increase from border to border")


def _values_by_axis(series: Series) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the name of each axis, "x" or "y", with all values that the series draws along it."""
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
        is_horizontal = isinstance(series, Bars) and series.horizontal
        yield "x", (*series.x, *(ends if is_horizontal else ()))
        yield "y", (*series.y, *(() if is_horizontal else ends))
    elif isinstance(series, Stacked):
        yield "x", tuple(series.x)


def _check_axis(axis: Axis, name: str, values: tuple[Any, ...], location: str, *, is_clipped: bool) -> None:
    numbers = [v for v in values if not isinstance(v, str)]
    if axis.scale == "log" and any(v <= 0 for v in numbers):
        raise DataError(
            f"{location}: {min(numbers):g} cannot be drawn on a log axis ({name}); use scale='symlog', or drop it"
        )
    categories = set(axis.categories)
    undeclared = [v for v in values if isinstance(v, str) and categories and v not in categories]
    if undeclared:
        raise DataError(
            f"{location}: '{undeclared[0]}' is not a category of axis {name}; known are "
            f"{', '.join(map(str, axis.categories))}"
        )
    if is_clipped:
        return
    for value in numbers:
        if (axis.low is not None and value < axis.low) or (axis.high is not None and value > axis.high):
            raise DataError(f"{location}: {value:g} is outside the given limits of axis {name}; widen them")
