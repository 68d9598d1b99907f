"""Define the series that a panel can show: one frozen dataclass per kind, with data but no drawing code.

Every column is a sequence of numbers or a column of a DataFrame. Positions may be categories (strings), which are laid
out in the order of `Axis.categories` or of first appearance. `entity` names the subject of the series (see
`boundpaper.figures.style.styles`), which determines colour, mark and dash; `label` is the legend's text (by default the
name of the entity).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from boundpaper.errors import SpecError

Values: TypeAlias = Any
"""A sequence, array or DataFrame column, stored as a tuple. (`Any`, since no mypy type covers all of these.)"""
Matrix: TypeAlias = Any
"""Rows of numbers: nested sequences, a 2-D array or a DataFrame; stored as a tuple of tuples."""
Origin: TypeAlias = Literal["reported", "recomputed", "measured"]


class FieldValues(tuple[Any, ...]):
    """A tuple of the values of a DataFrame column, with the column's name in `field`."""

    field: str

    def __new__(cls, values: Iterable[Any], field: str = "") -> FieldValues:
        """Return the tuple with the name of its column."""
        column = super().__new__(cls, values)
        column.field = field
        return column


@dataclass(frozen=True, kw_only=True)
class Series:
    """Attributes that all kinds of series share.

    Attributes
    ----------
    entity : str
        The subject of the series; if empty, the next unused of `series-1`, `series-2`, ...
    label : str
        The legend's text; by default the name of the entity.
    legend : bool
        If False, the series is not in the legend.
    origin : {"reported", "recomputed", "measured"}, optional
        The origin of the values; marks of reported values are hollow.

    Examples
    --------
    >>> import boundpaper as bp
    >>> from boundpaper.figures import Series
    >>> isinstance(bp.Line(x=[1, 7], y=[0.5, 8.1]), Series)
    True
    """

    entity: str = ""
    label: str = ""
    legend: bool = True
    origin: Origin | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type not in ("Values", "Matrix") or value is None or isinstance(value, bool):
                continue
            converted = as_tuple(value, f"{type(self).__name__}.{field.name}")
            name = value.field if isinstance(value, FieldValues) else getattr(value, "name", None)
            object.__setattr__(self, field.name, FieldValues(converted, name) if isinstance(name, str) else converted)

    @property
    def title(self) -> str:
        """Return the name of this series for error messages."""
        return f"{type(self).__name__} '{self.label or self.entity or 'without label'}'"


def as_tuple(value: Any, location: str) -> tuple[Any, ...]:
    """Return a column as a tuple, or a matrix as a tuple of tuples; the error names the column by `location`."""
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if hasattr(value, "tolist"):
        value = value.tolist()
    try:
        if isinstance(value, str):
            raise TypeError
        values = tuple(value)
    except TypeError:
        raise SpecError(f"{location} is a {type(value).__name__}; give a sequence or a column") from None
    return tuple(
        as_tuple(v, location) if isinstance(v, list | tuple) or getattr(v, "ndim", 0) != 0 else v for v in values
    )


@dataclass(frozen=True, kw_only=True)
class Line(Series):
    """A line through points, in the order given.

    Attributes
    ----------
    x, y : columns of equal length
    low, high : columns, optional
        Ends of the uncertainty at each point, in the unit of `y`.
    uncertainty : {"bars", "band"}
        Whether `low` and `high` are drawn as error bars or as a band.
    marks : bool, optional
        Whether points have marks; by default if there are at most 20.
    direct : bool or str
        If True, name the line at its right end instead of in the legend; a string replaces the label there.
    dash : str
        Dash style in place of the entity's.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Line(x=[1, 7], y=[0.5, 8.1], low=[0.4, 7.9], high=[0.6, 8.3], uncertainty="band", label="beans").title
    "Line 'beans'"
    """

    x: Values
    y: Values
    low: Values = None
    high: Values = None
    uncertainty: Literal["bars", "band"] = "bars"
    marks: bool | None = None
    direct: bool | str = False
    dash: str = ""

    @property
    def has_marks(self) -> bool:
        """Return whether points have marks."""
        return len(self.x) <= 20 if self.marks is None else self.marks


@dataclass(frozen=True, kw_only=True)
class Points(Series):
    """Single points.

    Attributes
    ----------
    x, y : columns of equal length
    labels : column of str, optional
        A name for each point, or an empty string; names are placed where they cover nothing.
    entities : column of str, optional
        One entity per point instead of `entity`; the legend lists each entity once.
    sizes : column of float, optional
        Relative areas of the marks.
    x_low, x_high, y_low, y_high : columns, optional
        Ends of the uncertainty of each coordinate.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Points(x=[1, 2], y=[3, 5], labels=["first", ""]).labels
    ('first', '')
    """

    x: Values
    y: Values
    labels: Values = None
    entities: Values = None
    sizes: Values = None
    x_low: Values = None
    x_high: Values = None
    y_low: Values = None
    y_high: Values = None


@dataclass(frozen=True, kw_only=True)
class Fit(Series):
    """A fitted line, with a confidence band if `low` and `high` are given; `x` must increase.

    Attributes
    ----------
    x, y : columns of equal length
        Points of the line.
    low, high : columns, optional
        Ends of the band at each point, in the unit of `y`.
    dash : str
        Dash style in place of the entity's.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Fit(x=[0, 10], y=[1.0, 21.0], low=[0.5, 19.0], high=[1.5, 23.0]).y
    (1.0, 21.0)
    """

    x: Values
    y: Values
    low: Values = None
    high: Values = None
    dash: str = ""


@dataclass(frozen=True, kw_only=True)
class Bars(Series):
    """A series of bars; the bars of several series in a panel are side by side.

    Attributes
    ----------
    x, y : columns of equal length
        Vertical bars have categories in `x` and values in `y`; horizontal bars the reverse.
    low, high : columns, optional
        Ends of the uncertainty, in the unit of the values.
    values : bool or column of str
        Print each value at its bar; strings replace the numbers.
    decimals : int, optional
        Decimals of the printed values; by default at most three significant digits.
    reported : column, optional
        For each bar a value reported elsewhere, drawn as a hollow diamond; NaN or None for no value.
    reported_label : str
        The legend's text for the diamonds.
    horizontal : bool
        Whether bars extend along the x axis.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Bars(x=["sun", "shade"], y=[18.4, 3.1], values=True, decimals=1).y
    (18.4, 3.1)
    """

    x: Values
    y: Values
    low: Values = None
    high: Values = None
    values: Values = False
    decimals: int | None = None
    reported: Values = None
    reported_label: str = "reported"
    horizontal: bool = False


@dataclass(frozen=True, kw_only=True)
class Stacked(Series):
    """One layer of stacked bars; the `Stacked` series of a panel are stacked in order.

    Attributes
    ----------
    x : column
        Categories, or positions on a number axis.
    y : column of float
        Height of the layer at each position, 0 or more.
    values : bool
        Whether heights are printed inside the layer, where there is space.
    decimals : int, optional
        Decimals of the printed values; by default at most three significant digits.

    Examples
    --------
    >>> import boundpaper as bp
    >>> [bp.Stacked(x=["sun"], y=[size], label=name).label for name, size in (("root", 4), ("leaf", 14))]
    ['root', 'leaf']
    """

    x: Values
    y: Values
    values: bool = False
    decimals: int | None = None


@dataclass(frozen=True, kw_only=True)
class Heatmap(Series):
    """A matrix as colours; it is the only series of its panel.

    Attributes
    ----------
    values : (rows, columns) matrix
        Row 0 is at the bottom, or on top if the y axis is reversed. A cell of None, for a combination that cannot
        occur, stays white; NaN is an error.
    x_edges, y_edges : columns of n + 1 numbers, optional
        Increasing borders of the cells; by default 0, 1, 2, ... All cells are drawn equally wide, and ticks lie between
        borders in proportion. With `Axis.categories`, ticks name the cells instead.
    colors : {"viridis", "signed"}
        `signed` is blue-white-red, with limits symmetric about zero.
    low, high : float, optional
        Values of the first and last colour; by default the range of the data.
    bar : str
        The label of the colour bar.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Heatmap(values=[[0.1, 0.9], [None, 0.5]], low=0, high=1, bar="share").values
    ((0.1, 0.9), (None, 0.5))
    """

    values: Matrix
    x_edges: Values = None
    y_edges: Values = None
    colors: Literal["viridis", "signed"] = "viridis"
    low: float | None = None
    high: float | None = None
    bar: str = ""


@dataclass(frozen=True, kw_only=True)
class Bundle(Series):
    """Many thin lines, with a band of the middle 80 % of the lines and their mean.

    Attributes
    ----------
    x : column
    lines : (lines, points) matrix
        Values of each line; NaN is a gap in a line.
    opacity : float, optional
        Opacity of one thin line; by default lower if there are more lines.
    band, mean : bool
        Whether the 10-90 % band and the mean are drawn.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Bundle(x=[1, 2], lines=[[0.1, 0.2], [0.3, 0.1]], label="heads").lines[1]
    (0.3, 0.1)
    """

    x: Values
    lines: Matrix
    opacity: float | None = None
    band: bool = True
    mean: bool = True


@dataclass(frozen=True, kw_only=True)
class Forest(Series):
    """Estimates with intervals, one per row, first row on top; series in a panel share rows of equal names.

    Attributes
    ----------
    rows : column of str
    estimate, low, high : columns
    groups : column of str, optional
        The group of each row; consecutive rows of a group share a heading.
    entities : column of str, optional
        One entity per row instead of `entity`.
    texts : column of str, optional
        Text printed to the right of each row.

    Examples
    --------
    >>> import boundpaper as bp
    >>> bp.Forest(rows=["sun", "shade"], estimate=[0.4, 0.1], low=[0.2, -0.1], high=[0.6, 0.3]).rows
    ('sun', 'shade')
    """

    rows: Values
    estimate: Values
    low: Values
    high: Values
    groups: Values = None
    entities: Values = None
    texts: Values = None
