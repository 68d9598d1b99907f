"""Look up single cells of artifacts by the keys of their row; errors suggest the nearest name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boundpaper.errors import SpecError
from boundpaper.suggestions import SHOWN, or_known

if TYPE_CHECKING:
    import pandas as pd

NAN = float("nan")


def number(frame: pd.DataFrame, artifact: str, value: str, where: dict[str, Any]) -> Any:
    """Return the cell in column `value` of the only row of `frame` that matches `where`.

    `where` maps columns to required values: numbers are compared as numbers, all else as text. The cell is returned as
    a plain Python value. Raises SpecError for an unknown column or key, no row, several rows, or an empty cell.
    """
    if value not in frame.columns:
        raise SpecError(f"{artifact} has no column {value!r}{or_known(value, frame.columns)}")
    rows = one_row(frame, artifact, where)
    cell = rows[value].iloc[0]
    if cell is None or cell != cell or str(cell) in ("", "<NA>"):
        why = str(rows["reason"].iloc[0]) if "reason" in frame.columns else ""
        raise SpecError(f"{artifact}: {value} is empty for {_condition(where)}" + (f" ({why})" if why else ""))
    return cell.item() if hasattr(cell, "item") else cell


def one_row(frame: pd.DataFrame, artifact: str, where: dict[str, Any]) -> pd.DataFrame:
    """Return the only row of `frame` that matches `where`, as a frame, so that each cell keeps its type.

    Raises SpecError for an unknown column or key, no row, or several.
    """
    rows = frame
    for column, wanted in where.items():
        if column not in frame.columns:
            raise SpecError(f"{artifact} has no column {column!r}{or_known(column, frame.columns)}")
        chosen = rows[cells_equal(rows[column], wanted)]
        if chosen.empty:
            raise SpecError(_why_absent(frame, artifact, where, column, wanted))
        rows = chosen
    if len(rows) != 1:
        raise SpecError(_why_several(rows, artifact, where))
    return rows


def cells_equal(column: pd.Series[Any], wanted: object) -> pd.Series[Any]:
    """Return a mask of rows in which a column has this value, compared as numbers or else as text."""
    if _has_numbers(column):
        try:
            return (column == float(str(wanted))).fillna(False).astype(bool)
        except ValueError:
            return column.isna() & False
    return column.astype(str) == str(wanted)


def _has_numbers(column: pd.Series[Any]) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(column) and not is_bool_dtype(column)


def places_where(frame: pd.DataFrame, where: dict[str, Any], index: dict[Any, Any]) -> list[int]:
    """Return the places of the rows that match `where`, compared as by `cells_equal`, counted from 0.

    `index` caches, for further calls on this frame, the places by the cells of the columns in `where`.
    """
    numeric = {name: _has_numbers(frame[name]) for name in where}
    if (names := tuple(where)) not in index:
        cells = [
            frame[name].to_numpy(float, na_value=NAN) if numeric[name] else frame[name].astype(str) for name in names
        ]
        index[names] = {}
        for place, key in enumerate(zip(*cells, strict=True)):
            index[names].setdefault(key, []).append(place)
    try:
        wanted = tuple(float(str(cell)) if numeric[name] else str(cell) for name, cell in where.items())
    except ValueError:
        return []
    return list(index[names].get(wanted, ())) if where else list(range(len(frame)))


def _why_absent(frame: pd.DataFrame, artifact: str, where: dict[str, Any], column: str, wanted: object) -> str:
    if not cells_equal(frame[column], wanted).any():
        known = list(dict.fromkeys(str(item) for item in frame[column]))
        return f"{artifact} has no {column} {str(wanted)!r}{or_known(str(wanted), known)}"
    others = {name: item for name, item in where.items() if name != column}
    rows = frame
    for name, item in others.items():
        narrowed = rows[cells_equal(rows[name], item)]
        rows = narrowed if len(narrowed) else rows
    known = list(dict.fromkeys(str(item) for item in rows[column]))
    shown = ", ".join(known[:SHOWN]) + (", ..." if len(known) > SHOWN else "")
    return f"{artifact} has no row with {_condition(where)}; with {_condition(others)} there is {column}: {shown}"


def _why_several(rows: pd.DataFrame, artifact: str, where: dict[str, Any]) -> str:
    if rows.empty:
        return f"{artifact} has no rows"
    for column in rows.columns:
        values = list(dict.fromkeys(str(item) for item in rows[column]))
        if len(values) == len(rows) or len(values) > 1:
            shown = ", ".join(values[:SHOWN]) + (", ..." if len(values) > SHOWN else "")
            named = _condition(where) or "no condition"
            return f"{artifact} has {len(rows)} rows with {named}; choose a {column}: {shown}"
    return f"{artifact} has {len(rows)} equal rows with {_condition(where)}"


def _condition(where: dict[str, Any]) -> str:
    return ", ".join(f"{name}={item!r}" for name, item in where.items())
