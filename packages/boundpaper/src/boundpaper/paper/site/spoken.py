"""Describe a figure in words for readers who cannot see it: panels, axes, and the ends of each series."""

from collections.abc import Iterator
from typing import Any

from boundpaper.figures import Figure, Panel, Series
from boundpaper.typeset.words_of import plain_words

NAMED = 6
"""Most series of a panel that are described one by one; of more series, only the common range is given."""


def describe_figure(figure: Figure) -> str:
    """Return the alternative text of a figure; for a figure without panels, its short caption."""
    if not figure.panels:
        return f"A drawing: {plain_words(figure.short or figure.caption)}"
    parts = [_describe_panel(panel, place, len(figure.panels)) for place, panel in enumerate(figure.panels)]
    return (f"{len(parts)} panels. " if len(parts) > 1 else "") + " ".join(parts)


def _describe_panel(panel: Panel, place: int, count: int) -> str:
    title = plain_words(panel.title) or (f"panel {place + 1}" if count > 1 else "")
    kinds = " and ".join(dict.fromkeys(type(each).__name__.lower() for each in panel.series)).replace("heatmap", "map")
    axes = [plain_words(axis.label) or "no label" for axis in (panel.y, panel.x)]
    scales = [" (logarithmic)" if axis.scale == "log" else "" for axis in (panel.y, panel.x)]
    head = f"{title}: {kinds}" if title else kinds.capitalize()
    parts = [each for series in panel.series for each in _series(series)]
    if len(panel.series) > NAMED:
        values = [value for series in panel.series for value in _numbers_shown(series)]
        parts = [f"{len(panel.series)} series: {_describe_range(values)}"]
    return (
        f"{head}, {axes[0]}{scales[0]} against {axes[1]}{scales[1]}. {' '.join(f'{each}.' for each in parts if each)}"
    )


def _series(series: Series) -> Iterator[str]:
    x, y = getattr(series, "x", None), _numbers_shown(series)
    name = plain_words(series.label or series.entity) or "values"
    if not y:
        yield name
    elif x is not None and len(x) == len(y) and len(y) > 1 and type(series).__name__ in ("Line", "Fit"):
        yield f"{name}: from {_spoken(y[0])} at {_spoken(x[0])} to {_spoken(y[-1])} at {_spoken(x[-1])}"
    else:
        yield f"{name}: {_describe_range(y)}"


def _numbers_shown(series: Series) -> list[Any]:
    """Return the numbers that a series shows: heights, estimates, or all cells of a heat map or bundle."""
    cells = next((found for name in ("y", "estimate", "values", "lines") if (found := getattr(series, name, None))), ())
    flat = [cell for row in cells for cell in (row if isinstance(row, tuple) else (row,))] if cells is not True else []
    return [value for value in flat if isinstance(value, (int, float)) and value == value]


def _describe_range(values: list[Any]) -> str:
    if not values:
        return "no values"
    low, high = _spoken(min(values)), _spoken(max(values))
    return f"{len(values)} values from {low} to {high}" if len(values) > 1 else low


def _spoken(value: Any) -> str:
    return f"{value:.3g}".replace("-", "−") if isinstance(value, (int, float)) else plain_words(str(value))
