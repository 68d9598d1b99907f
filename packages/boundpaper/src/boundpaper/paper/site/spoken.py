"""Describe the panels, axes and series of a figure in words, for readers who cannot see it."""

from typing import Any

from boundpaper.figures import Axis, Figure, Panel, Series
from boundpaper.typeset.words_of import plain_words

MOST_SERIES = 6
"""Most series of a panel that are described one by one; for more series, only their common range is given."""


def describe_figure(figure: Figure) -> str:
    """Return the alternative text of a figure; for a figure without panels, its short caption."""
    if not figure.panels:
        return f"A drawing: {plain_words(figure.short or figure.caption)}"
    count = len(figure.panels)
    sentences = [_describe_panel(panel, number, count) for number, panel in enumerate(figure.panels, 1)]
    return (f"{count} panels. " if count > 1 else "") + " ".join(sentences)


def _describe_panel(panel: Panel, number: int, count: int) -> str:
    title = plain_words(panel.title) or (f"panel {number}" if count > 1 else "")
    types = dict.fromkeys(type(series).__name__.lower() for series in panel.series)
    kinds = " and ".join(types).replace("heatmap", "map")
    y_axis, x_axis = (_describe_axis(axis) for axis in (panel.y, panel.x))
    head = f"{title}: {kinds}" if title else kinds.capitalize()
    if len(panel.series) > MOST_SERIES:
        values = [value for series in panel.series for value in _numbers_shown(series)]
        words = f"{len(panel.series)} series: {_describe_range(values)}."
    else:
        words = " ".join(f"{_describe_series(series)}." for series in panel.series)
    return f"{head}, {y_axis} against {x_axis}. {words}"


def _describe_axis(axis: Axis) -> str:
    return (plain_words(axis.label) or "no label") + (" (logarithmic)" if axis.scale == "log" else "")


def _describe_series(series: Series) -> str:
    x, y = getattr(series, "x", None), _numbers_shown(series)
    name = plain_words(series.label or series.entity) or "values"
    if not y:
        return name
    if x is not None and len(x) == len(y) and len(y) > 1 and type(series).__name__ in ("Line", "Fit"):
        return f"{name}: from {_spoken(y[0])} at {_spoken(x[0])} to {_spoken(y[-1])} at {_spoken(x[-1])}"
    return f"{name}: {_describe_range(y)}"


def _numbers_shown(series: Series) -> list[Any]:
    """Return the numbers that a series shows: y values, estimates, or the values of a heat map or a bundle."""
    fields = (getattr(series, name, None) for name in ("y", "estimate", "values", "lines"))
    cells = next(filter(None, fields), ())
    flat = [cell for row in cells for cell in (row if isinstance(row, tuple) else (row,))] if cells is not True else []
    return [value for value in flat if isinstance(value, (int, float)) and value == value]


def _describe_range(values: list[Any]) -> str:
    if not values:
        return "no values"
    low, high = _spoken(min(values)), _spoken(max(values))
    return f"{len(values)} values from {low} to {high}" if len(values) > 1 else low


def _spoken(value: Any) -> str:
    return f"{value:.3g}".replace("-", "−") if isinstance(value, (int, float)) else plain_words(str(value))
