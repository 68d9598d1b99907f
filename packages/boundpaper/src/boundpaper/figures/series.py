"""Define what a panel can show: one frozen dataclass per kind, with data only and nothing about how it is drawn.

Every column is a sequence of numbers or a column of a DataFrame. Positions may be categories (strings): they are
laid out in the order of `Axis.categories`, or of first appearance. `entity` names who the series is about
(`boundpaper.figures.style.styles`) and decides its colour, mark and dash; `label` is what the legend says (the entity's
name where empty).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from boundpaper.errors import SpecError

Values: TypeAlias = Any
"""A sequence, array or DataFrame column; kept as a tuple. (`Any`, since no type covers all of these for mypy.)"""
Matrix: TypeAlias = Any
"""Rows of numbers: nested sequences, a 2-D array or a DataFrame; kept as a tuple of tuples."""
Origin: TypeAlias = Literal["reported", "recomputed", "measured"]


class FieldValues(tuple[Any, ...]):
    """The values of a column of a DataFrame, with its name in `field`; equal to a tuple of the same values."""

    field: str

    def __new__(cls, values: Iterable[Any], field: str = "") -> FieldValues:
        """Keep the values and the name."""
        made = super().__new__(cls, values)
        made.field = field
        return made


@dataclass(frozen=True, kw_only=True)
class Series:
    """Attributes that all kinds of series share.

    Attributes
    ----------
    entity : str
        Who this is about; empty takes the next free one of `series-1`, `series-2`, ...
    label : str
        The legend's text; the entity's name where empty.
    legend : bool
        False keeps the series out of the legend.
    origin : {"reported", "recomputed", "measured"}, optional
        Where the values come from. Reported ones get hollow marks, so that they never pass for measured ones.

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
            made = as_tuple(value, f"{type(self).__name__}.{field.name}")
            name = value.field if isinstance(value, FieldValues) else getattr(value, "name", None)
            object.__setattr__(self, field.name, FieldValues(made, name) if isinstance(name, str) else made)

    @property
    def title(self) -> str:
        """Return the name of this series for error messages."""
        return f"{type(self).__name__} '{self.label or self.entity or 'without label'}'"


def as_tuple(value: Any, where: str) -> tuple[Any, ...]:
    """Make a tuple of any column; the rows of a matrix become tuples as well."""
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if hasattr(value, "tolist"):
        value = value.tolist()
    try:
        if isinstance(value, str):
            raise TypeError
        items = tuple(value)
    except TypeError:
        raise SpecError(f"{where} is a {type(value).__name__}; give a sequence or a column") from None
    return tuple(as_tuple(v, where) if isinstance(v, list | tuple) or getattr(v, "ndim", 0) != 0 else v for v in items)


@dataclass(frozen=True, kw_only=True)
class Line(Series):
    """A line through points, in the order given.

    Attributes
    ----------
    x, y : columns of equal length
    low, high : columns, optional
        Ends of the uncertainty at each point, in the unit of `y`.
    uncertainty : {"bars", "band"}
        How `low` and `high` are drawn.
    marks : bool, optional
        Whether points are marked; by default up to 20 points are.
    direct : bool or str
        Name the line at its right end instead of in the legend; a string replaces the label there.
    dash : str
        Replaces the entity's dash.

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


@dataclass(frozen=True, kw_only=True)
class Points(Series):
    """Single points.

    Attributes
    ----------
    x, y : columns of equal length
    labels : column of str, optional
        A name for each point (empty ones stay bare), placed where it covers nothing.
    entities : column of str, optional
        One entity per point, in place of `entity`; the legend lists each once.
    sizes : column of float, optional
        The marks' areas, relative to each other.
    x_low, x_high, y_low, y_high : columns, optional
        Ends of the uncertainty.

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
    """A fitted line, with its confidence band where `low` and `high` are given; `x` must grow.

    Attributes
    ----------
    x, y : columns of equal length
        Points of the line.
    low, high : columns, optional
        Ends of the band at each point, in the unit of `y`.
    dash : str
        Replaces the entity's dash.

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
    """Bars; several such series in one panel stand side by side.

    Attributes
    ----------
    x, y : columns of equal length
        Vertical bars have categories in `x` and values in `y`; horizontal ones the other way round.
    low, high : columns, optional
        Ends of the uncertainty, in the unit of the values.
    values : bool or column of str
        Print each value at its bar; strings replace the numbers.
    decimals : int, optional
        Decimals of the printed values; by default at most three significant digits.
    reported : column, optional
        A value reported elsewhere for each bar, drawn as a hollow diamond; NaN or None where there is none.
    reported_label : str
        The legend's text for those diamonds.
    horizontal : bool

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
    """One layer of a stack: series of this kind in one panel are piled up in their order; no negative values.

    `values` prints each part's number inside it where it fits.

    Attributes
    ----------
    x : column
        Categories, or positions on a number axis.
    y : column of float
        The layer's part at each, 0 or more.
    values : bool
        Print each part's number inside it.
    decimals : int, optional
        Decimals of the numbers that are printed; as many as the data need by default.

    Examples
    --------
    >>> import boundpaper as bp
    >>> [bp.Stacked(x=["sun"], y=[part], label=name).label for name, part in (("root", 4), ("leaf", 14))]
    ['root', 'leaf']
    """

    x: Values
    y: Values
    values: bool = False
    decimals: int | None = None


@dataclass(frozen=True, kw_only=True)
class Heatmap(Series):
    """A matrix as colours; its panel can hold nothing else but rules and annotations.

    Attributes
    ----------
    values : (rows, columns) matrix
        Row 0 is at the bottom, unless `Axis(reverse=True)` puts it on top. None leaves a cell white: for
        combinations that cannot occur. NaN is an error here as elsewhere.
    x_edges, y_edges : columns of n + 1 numbers, optional
        The cells' borders, growing; 0, 1, 2, ... by default. Cells are drawn equally wide; ticks stand where they
        belong. With `Axis.categories`, ticks name the cells instead.
    colors : {"viridis", "signed"}
        `signed` is blue-white-red with limits made symmetric about zero.
    low, high : float, optional
        What the ends of the colours mean; the data's range by default.
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
    """Many thin lines, with the band that holds the middle 80 % of them and their mean.

    Attributes
    ----------
    x : column
    lines : (lines, points) matrix
        NaN where a line has a gap; the only place where NaN is allowed.
    opacity : float, optional
        Of one thin line; by default the more lines, the fainter.
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
    """Estimates with intervals, one per row, first row on top; several series share rows of the same name.

    Attributes
    ----------
    rows : column of str
    estimate, low, high : columns
    groups : column of str, optional
        A heading for each run of rows.
    entities : column of str, optional
        One entity per row, in place of `entity`.
    texts : column of str, optional
        Printed at the right of each row.

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
