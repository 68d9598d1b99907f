"""Read and check the cells of a Table, once for all output formats."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from boundpaper.errors import DataError, SpecError
from boundpaper.suggestions import or_known
from boundpaper.tables.cells import Cell, Grid
from boundpaper.tables.rounding import mark_best, rounded_cells
from boundpaper.tables.spec import Column, Table, check, mark_names, with_text_names
from boundpaper.typeset.armour import plain
from boundpaper.typeset.numbers import AsPrinted, Words
from boundpaper.typeset.numbers import integer as integer_format
from boundpaper.typeset.numbers import text as text_format


def read(table: Table, name: str) -> Grid:
    """Return the cells of a Table as a grid.

    Raises SpecError as `tables.spec.check` does, and for a column of floats without a format or an unexplained mark.
    Raises DataError, with table, column and row, for an empty cell without a reason, text in a number column, infinity,
    or an interval with swapped ends.
    """
    table = with_text_names(table)
    check(table, name)
    data = {
        field: [None if _is_empty(value) else _python_value(value) for value in table.rows[field]]
        for field in {*table.fields, *(field for column in table.columns for field in column.fields)}
    }
    prose = {column.field for column in table.columns if isinstance(column.show, Words) and column.show.markup}
    for field in data.keys() - prose - {column.mark for column in table.columns}:
        data[field] = [plain(value) if isinstance(value, str) else value for value in data[field]]
    reader = _CellReader(table, name, data)
    columns = tuple(reader.with_format(column) for column in table.columns)
    labels = tuple(map(_as_label, data[columns[0].field]))
    reader = replace(reader, labels=labels)
    groups = tuple(map(_as_label, data[table.groups])) if table.groups else ("",) * len(labels)
    ruled = (False,) * len(labels)
    if table.rule_before:
        ruled = tuple(reader.is_ruled(value, row) for row, value in enumerate(data[table.rule_before]))
    cells_by_column = []
    for column in columns:
        cells = [reader.cell(column, row) for row in range(len(labels))]
        cells = rounded_cells(column, cells, table.levels, partial(reader.location, column))
        cells = mark_best(column, cells, groups)
        cells_by_column.append(cells if column.repeat else _hide_repeats(cells, groups))
    rows = tuple(zip(*cells_by_column, strict=True))
    block_field = _block_field(table, columns)
    blocks = tuple(map(_as_label, data[block_field])) if block_field else ("",) * len(rows)
    units = tuple(map(_as_label, data[table.units])) if table.units else ("",) * len(rows)
    return Grid(name, table, columns, rows, groups, ruled, blocks, units)


@dataclass(frozen=True)
class _CellReader:
    """A reader of one table's cells.

    `data` has the values of each field as Python objects, None if empty. `labels` are the values of the first column,
    by which messages name rows.
    """

    table: Table
    name: str
    data: Mapping[str, list[object]]
    labels: tuple[str, ...] = ()

    def location(self, column: Column | None, row: int | None = None) -> str:
        """Return the location of a cell, column or row for messages."""
        location = f"table {self.name}"
        if column is not None:
            location += f", column {column.title!r} ({column.field})"
        if row is None:
            return location
        label = self.labels[row] if self.labels else ""
        return f"{location}, row {row + 1}" + (f" ({label})" if label else "")

    def with_format(self, column: Column) -> Column:
        """Return a column with its format, or with the default format of its values."""
        if column.show is not None:
            return column
        values = [value for value in self.data[column.field] if value is not None]
        has_spread = column.ci is not None or column.uncertainty is not None
        if column.width is not None or all(isinstance(value, (str, bool)) for value in values):
            if has_spread:
                raise SpecError(f"{self.location(column)} is a text column, which cannot have uncertainty= or ci=")
            return replace(column, show=text_format)
        if any(isinstance(value, str) for value in values):
            raise SpecError(f"{self.location(column)} mixes text and numbers: use one of them, or show it as text")
        are_whole = all(isinstance(value, numbers.Real) and float(value).is_integer() for value in values)
        if are_whole and not has_spread:
            return replace(column, show=integer_format())
        raise SpecError(f"{self.location(column)} has floats but no format: give a format, such as fixed(2)")

    def cell(self, column: Column, row: int) -> Cell:
        """Return a cell after all checks, not yet rounded."""
        location = self.location(column, row)
        marks = self._read_marks(column, row, location)
        value = self.data[column.field][row]
        reason = self._reason(column, row)
        if value is None:
            if column.blank:
                return Cell(marks=marks)
            if not reason:
                advice = "give reason=, the field with reasons, or missing=, one reason"
                raise DataError(f"{location} is empty without a reason: {advice}")
            return Cell(reason=reason, marks=marks)
        if isinstance(column.show, Words):
            if isinstance(value, float) and not math.isfinite(value):
                raise DataError(f"{location} is {value}: leave it empty and give a reason")
            return Cell(value=value, marks=marks)
        if isinstance(value, str) and not isinstance(column.show, AsPrinted):
            raise DataError(f"{location} is the text {value!r}, but the column has numbers: convert it")
        p, digits = self._read_number(column.p, row, location), self._read_digits(column, row, location)
        low, high = (self._read_number(end, row, location) for end in column.ci or (None, None))
        uncertainty = self._read_number(column.uncertainty, row, location)
        if not isinstance(column.show, AsPrinted):
            value = self._read_number(column.field, row, location)
        spread_fields = [column.uncertainty] if column.uncertainty else column.ci or ()
        if empty_field := next((field for field in spread_fields if self.data[field][row] is None), None):
            if not reason:
                raise DataError(
                    f"{location} has a value but no {empty_field} and no reason: give reason=, the field with reasons"
                )
            return Cell(value=value, p=p, digits=digits, marks=marks, reason=reason)
        if low is not None and high is not None and low > high:
            raise DataError(f"{location} has the interval [{low}, {high}], with the ends in the wrong order: swap them")
        if uncertainty is not None and uncertainty < 0:
            raise DataError(f"{location} has the negative uncertainty {uncertainty}: give its absolute value")
        return Cell(value=value, uncertainty=uncertainty, low=low, high=high, p=p, digits=digits, marks=marks)

    def is_ruled(self, value: object, row: int) -> bool:
        """Return whether a rule precedes a row, given its value of `rule_before`."""
        if value is None or isinstance(value, bool):
            return bool(value)
        raise DataError(f"{self.location(None, row)}: rule_before must be true or false, not {value!r}")

    def _read_number(self, field: str | None, row: int, location: str) -> float | int | None:
        if field is None or self.data[field][row] is None:
            return None
        value = self.data[field][row]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise DataError(f"{location}: {field} is {value!r}, which is not a number: convert it")
        if not math.isfinite(value):
            raise DataError(f"{location}: {field} is {value}: leave it empty and give a reason")
        return value

    def _read_digits(self, column: Column, row: int, location: str) -> int | None:
        """Return a row's number of decimals, or None if the column has no field of decimals."""
        if column.digits is None:
            return None
        digits = self._read_number(column.digits, row, location)
        if digits is None or not float(digits).is_integer():
            raise DataError(f"{location}: {column.digits} is {digits!r}, but must be a whole number of decimals")
        return int(digits)

    def _read_marks(self, column: Column, row: int, location: str) -> tuple[str, ...]:
        if column.mark is None:
            return ()
        value = self.data[column.mark][row]
        if isinstance(value, (list, tuple)):
            marks = tuple(map(str, value))
        else:
            marks = () if value is None else mark_names(str(value))
        for mark in marks:
            if mark not in self.table.marks:
                raise SpecError(
                    f"{location}: the mark {mark!r} of field {column.mark!r} is not explained in the table's marks"
                    f"{or_known(mark, self.table.marks)}"
                )
        return tuple(dict.fromkeys(marks))

    def _reason(self, column: Column, row: int) -> str:
        """Return why a cell is empty, if it is: the text in the field of reasons, else the column's `missing`."""
        default = column.missing or ""
        reason_field = column.reason or self.table.reason
        value = None if reason_field is None else self.data[reason_field][row]
        if value is None:
            return default
        fields = set(map(str, self.table.rows.columns))
        reasons = [reason.strip().partition(": ") for reason in str(value).split(";")]
        if all(colon and field in fields for field, colon, _ in reasons):
            return {field: reason.strip() for field, _, reason in reasons}.get(column.field, default)
        return str(value).strip()


def _block_field(table: Table, columns: Sequence[Column]) -> str:
    """Return the field whose values define blocks of rows; empty if the table has no blocks."""
    if table.space is not None:
        return table.space if isinstance(table.space, str) else ""
    return next((column.field for column in columns if not column.repeat), "")


def _hide_repeats(cells: list[Cell], groups: tuple[str, ...]) -> list[Cell]:
    """Return the cells of a column, with `is_hidden` set for each that repeats the cell above in its group."""
    result = cells[:1]
    for row in range(1, len(cells)):
        above, cell = cells[row - 1], cells[row]
        repeats = cell.value is not None and cell.value == above.value and cell.marks == above.marks
        result.append(replace(cell, is_hidden=True) if repeats and groups[row] == groups[row - 1] else cell)
    return result


def _is_empty(value: object) -> bool:
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    return not value.strip() if isinstance(value, str) else isinstance(value, float) and math.isnan(value)


def _as_label(value: object) -> str:
    return "" if value is None else str(value)


def _python_value(value: object) -> object:
    """Return a numpy scalar as a Python value, or any other value unchanged."""
    return value.item() if hasattr(value, "item") else value
