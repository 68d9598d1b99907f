"""Look up a single cell of an artifact by values of columns in its row; errors suggest the nearest name."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import TYPE_CHECKING, Any

from boundpaper.errors import SpecError
from boundpaper.suggestions import SHOWN, or_known

if TYPE_CHECKING:
    import pandas as pd

NAN = float("nan")


def find_cell(frame: pd.DataFrame, artifact: str, column: str, where: dict[str, Any]) -> Any:
    """Return the cell in `column` of the only row of `frame` that matches `where`.

    `where` maps columns to the values that they must have, compared as by `cells_equal`. The cell is returned as a
    plain Python value. Raises SpecError for an unknown column or value, no row, several rows, or an empty cell.
    """
    if column not in frame.columns:
        raise SpecError(f"{artifact} has no column {column!r}{or_known(column, frame.columns)}")
    row = one_row(frame, artifact, where)
    cell = row[column].iloc[0]
    if is_empty(cell):
        reason = str(row["reason"].iloc[0]) if "reason" in frame.columns else ""
        raise SpecError(f"{artifact}: {column} is empty for {_condition(where)}" + (f" ({reason})" if reason else ""))
    return cell.item() if hasattr(cell, "item") else cell


def is_empty(cell: object) -> bool:
    """Return whether a cell of a frame has no value: None, NaN, `<NA>` or an empty text."""
    return cell is None or cell != cell or str(cell) in ("", "<NA>")


def one_row(frame: pd.DataFrame, artifact: str, where: dict[str, Any]) -> pd.DataFrame:
    """Return the only row of `frame` that matches `where`, as a frame, so that each cell keeps its type.

    Raises SpecError for an unknown column or value, no row, or several rows.
    """
    rows = frame
    for column, value in where.items():
        if column not in frame.columns:
            raise SpecError(f"{artifact} has no column {column!r}{or_known(column, frame.columns)}")
        rows = rows[cells_equal(rows[column], value)]
        if rows.empty:
            raise SpecError(_why_absent(frame, artifact, where, column))
    if len(rows) != 1:
        raise SpecError(_why_several(rows, artifact, where))
    return rows


def cells_equal(column: pd.Series[Any], value: object) -> pd.Series[Any]:
    """Return the mask of a column's cells that equal a value; compare numbers if the column has numbers, else texts."""
    if _has_numbers(column):
        try:
            return (column == float(str(value))).fillna(False).astype(bool)
        except ValueError:
            return column.isna() & False
    return column.astype(str) == str(value)


def _has_numbers(column: pd.Series[Any]) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(column) and not is_bool_dtype(column)


def positions_where(frame: pd.DataFrame, where: dict[str, Any], index: dict[Any, Any]) -> list[int]:
    """Return the positions, counted from 0, of the rows that match `where`; cells are compared as by `cells_equal`.

    `index` is a cache for further calls on the same frame: for each tuple of columns, it maps cells to positions.
    """
    is_numeric = {name: _has_numbers(frame[name]) for name in where}
    if (names := tuple(where)) not in index:
        cells = [
            frame[name].to_numpy(float, na_value=NAN) if is_numeric[name] else frame[name].astype(str) for name in names
        ]
        index[names] = {}
        for position, key in enumerate(zip(*cells, strict=True)):
            index[names].setdefault(key, []).append(position)
    try:
        key = tuple(float(str(cell)) if is_numeric[name] else str(cell) for name, cell in where.items())
    except ValueError:
        return []
    return list(index[names].get(key, ())) if where else list(range(len(frame)))


def _why_absent(frame: pd.DataFrame, artifact: str, where: dict[str, Any], column: str) -> str:
    """Return why no row matches `where`; `column` is the column of the first condition that leaves no row."""
    if not cells_equal(frame[column], where[column]).any():
        value = str(where[column])
        return f"{artifact} has no {column} {value!r}{or_known(value, list(dict.fromkeys(map(str, frame[column]))))}"
    other_conditions = {name: value for name, value in where.items() if name != column}
    rows = frame
    for name, value in other_conditions.items():
        matches = rows[cells_equal(rows[name], value)]
        rows = matches if len(matches) else rows
    return (
        f"{artifact} has no row with {_condition(where)}; with {_condition(other_conditions)} there is {column}: "
        f"{_first_values(dict.fromkeys(map(str, rows[column])))}"
    )


def _why_several(rows: pd.DataFrame, artifact: str, where: dict[str, Any]) -> str:
    if rows.empty:
        return f"{artifact} has no rows"
    for column in rows.columns:
        values = dict.fromkeys(map(str, rows[column]))
        if len(values) > 1:
            condition = _condition(where) or "no condition"
            return f"{artifact} has {len(rows)} rows with {condition}; choose a {column}: {_first_values(values)}"
    return f"{artifact} has {len(rows)} equal rows with {_condition(where)}"


def _condition(where: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in where.items())


def _first_values(values: Collection[str]) -> str:
    return ", ".join(islice(values, SHOWN)) + (", ..." if len(values) > SHOWN else "")
