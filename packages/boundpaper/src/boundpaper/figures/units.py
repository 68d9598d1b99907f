"""Check an axis by the units of the data package: its columns must agree in unit, and its label with the columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from boundpaper.figures.series import Bars, FieldValues, Forest, Heatmap, Series
from boundpaper.figures.spec import Axis, Figure
from boundpaper.store import units
from boundpaper.store.paths import SCHEMA

if TYPE_CHECKING:
    import pandas as pd

_VALUE_FIELDS = ("low", "high", "reported")
_IN_BRACKETS = re.compile(r"(?P<opening>[(\[])(?P<unit>[^()\[\]]+)[)\]]\s*$")
_AT_THE_END = re.compile(r"(?:,|\bin)\s+(?P<unit>[^\s,]+(?: [^\s,]+)?)\s*$")
_NOT_UNITS = frozenset(
    ("log", "log10", "log2", "logarithmic", "linear", "symlog", "mean", "median", "average", "sum", "total")
)
"""Words in brackets after a label that are not units."""


class _ShownColumn(NamedTuple):
    """A column of an artifact that an axis shows, with its unit."""

    field: str
    artifact: str
    unit: str

    def __str__(self) -> str:
        return f"{self.field!r} of {self.artifact} ({self.unit})"


def contradicted_unit(
    root: Path, artifacts: Mapping[str, str], frames: Callable[[], Mapping[str, pd.DataFrame]], figure: Figure
) -> str:
    """Return a description of the first contradiction between an axis and the data package; empty if there is none.

    A figure's column belongs to an artifact that has a column of the same name with all of its values. A column that
    the figure converts has other values, so its unit is unknown. `frames` returns the artifacts' rows, and is called
    only if the figure shows a column with a declared unit.
    """
    all_units = units.declared_units(root, artifacts)
    unit_names = {units.plain(unit) for by_artifact in all_units.values() for unit in by_artifact.values()}
    tables: Mapping[str, pd.DataFrame] | None = None
    for i, panel in enumerate(figure.panels, start=1):
        for name, axis in (("x", panel.x), ("y", panel.y)):
            columns: list[_ShownColumn] = []
            for column in _number_columns(panel.series, name):
                if column.field in all_units:
                    tables = frames() if tables is None else tables
                    columns += _origins(column, all_units[column.field], tables)
            if fault := _axis_fault(columns, axis, unit_names):
                return f"panel {i}, axis {name}: {fault}"
    return ""


def _number_columns(series: Sequence[Series], axis: str) -> Iterator[FieldValues]:
    """Yield the columns of numbers that series show along an axis."""
    for s in series:
        columns = (getattr(s, name, None) for name in _fields_along(s, axis))
        yield from (column for column in columns if isinstance(column, FieldValues))


def _fields_along(series: Series, axis: str) -> tuple[str, ...]:
    """Return the names of a series' fields that have numbers along an axis."""
    if isinstance(series, Heatmap):
        return ()
    if isinstance(series, Forest):
        return ("estimate", "low", "high") if axis == "x" else ()
    if isinstance(series, Bars) and series.horizontal:
        return ("x", *_VALUE_FIELDS) if axis == "x" else ("y",)
    return ("x", "x_low", "x_high") if axis == "x" else ("y", "y_low", "y_high", *_VALUE_FIELDS)


def _origins(
    column: FieldValues, by_artifact: Mapping[str, str], frames: Mapping[str, pd.DataFrame]
) -> list[_ShownColumn]:
    """Return the columns of artifacts that contain all values of `column`; none if a unit is absent or varies."""
    values = {value for value in column if isinstance(value, int | float) and value == value}
    origins = [
        _ShownColumn(column.field, name, unit)
        for name, unit in by_artifact.items()
        if values and name in frames and values <= set(frames[name][column.field].tolist())
    ]
    return [] if any(origin.unit.startswith(units.NONE) for origin in origins) else origins


def _axis_fault(columns: list[_ShownColumn], axis: Axis, unit_names: set[str]) -> str:
    """Return a contradiction between the units of columns, or between a unit and the axis' label; empty if none."""
    by_field: dict[str, list[_ShownColumn]] = {}
    for column in columns:
        by_field.setdefault(column.field, []).append(column)
    groups = list(by_field.values())
    for first, second in ((groups[0], group) for group in groups[1:]):
        if not {units.plain(column.unit) for column in first} & {units.plain(column.unit) for column in second}:
            return (
                f"{first[0]} and {second[0]} have different units in {SCHEMA}; convert one of them, or draw them in "
                "separate panels"
            )
    if not groups:
        return ""
    column_units = {units.plain(column.unit) for column in groups[0]}
    written_unit = _written_unit(axis, unit_names)
    if written_unit and units.plain(written_unit) not in column_units:
        return (
            f"the label {axis.label!r} says {written_unit!r}, but {SCHEMA} says {groups[0][0].unit!r} for "
            f"{groups[0][0].field!r} of {groups[0][0].artifact}; correct one of them, or convert the column"
        )
    return ""


def _written_unit(axis: Axis, known_units: set[str]) -> str:
    """Return the unit that an axis states: a percent sign at each tick, the text in brackets, or a unit at the end.

    Square brackets always contain a unit. Round brackets do if their text is in `known_units` or looks like a unit:
    `(francs)`, but not `(mean of 5 runs)` or `(log scale)`.
    """
    if axis.percent:
        return "%"
    if match := _IN_BRACKETS.search(axis.label):
        unit = match["unit"].partition(",")[0].strip()
        is_unit = match["opening"] == "[" or units.plain(unit) in known_units or units.may_be_unit(unit)
        return unit if is_unit and unit.lower() not in _NOT_UNITS else ""
    match = _AT_THE_END.search(axis.label)
    if match and (units.is_known_unit(match["unit"]) or units.plain(match["unit"]) in known_units):
        return match["unit"].strip()
    return ""
