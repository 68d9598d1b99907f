"""Read the cells of a Table; each value is read and checked once for all output formats."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from boundpaper.errors import DataError, SpecError
from boundpaper.suggestions import or_known
from boundpaper.tables.cells import Cell, Grid
from boundpaper.tables.rounding import mark_best, rounded
from boundpaper.tables.spec import Column, Table, check, mark_names, with_text_names
from boundpaper.typeset.armour import plain
from boundpaper.typeset.numbers import AsPrinted, Words
from boundpaper.typeset.numbers import integer as integer_format
from boundpaper.typeset.numbers import text as text_format


def read(table: Table, name: str) -> Grid:
    """Return the cells of a Table as a grid.

    Raises SpecError as `tables.spec.check` does, and for a column of floats without a format or an unexplained mark;
    DataError, with table, column and row, for an empty cell without a reason, text in a number column, infinity, or an
    interval with swapped ends.
    """
    table = with_text_names(table)
    check(table, name)
    fields = {entry for column in table.columns for entry in column.fields} | {
        table.reason,
        table.groups,
        table.rule_before,
        table.units,
        table.space if isinstance(table.space, str) else None,
    }
    data = {
        field: [None if _is_empty(value) else _python_value(value) for value in table.rows[field]]
        for field in fields
        if field is not None
    }
    prose = {column.field for column in table.columns if isinstance(column.show, Words) and column.show.markup}
    for field in data.keys() - prose - {column.mark for column in table.columns}:
        data[field] = [plain(value) if isinstance(value, str) else value for value in data[field]]
    reader = _CellReader(table, name, data)
    columns = tuple(reader.resolved(column) for column in table.columns)
    labels = tuple(map(_as_label, data[columns[0].field]))
    reader = replace(reader, labels=labels)
    groups = tuple(map(_as_label, data[table.groups])) if table.groups else ("",) * len(labels)
    rules = tuple(
        reader.truth(entry, row) for row, entry in enumerate(data[table.rule_before] if table.rule_before else ())
    )
    by_column = []
    for column in columns:
        cells = [reader.cell(column, row) for row in range(len(labels))]
        cells = rounded(column, cells, table.levels, lambda row, column=column: reader.where(column, row))  # type: ignore[misc]
        cells = mark_best(column, cells, groups)
        by_column.append(cells if column.repeat else _hide_repeats(cells, groups))
    rows = tuple(zip(*by_column, strict=True))
    grouping = _grouping_field(table, columns)
    blocks = tuple(map(_as_label, data[grouping])) if grouping else ("",) * len(rows)
    units = tuple(map(_as_label, data[table.units])) if table.units else ("",) * len(rows)
    return Grid(name, table, columns, rows, groups, rules or (False,) * len(rows), blocks, units)


@dataclass(frozen=True)
class _CellReader:
    """A reader of one table's cells.

    `data` has the fields' values as plain Python objects, None if empty; `labels` are the values of the first column,
    which name rows in messages.
    """

    table: Table
    name: str
    data: Mapping[str, list[object]]
    labels: tuple[str, ...] = ()

    def where(self, column: Column | None, row: int | None = None) -> str:
        place = f"table {self.name}"
        if column is not None:
            place += f", column {column.title!r} ({column.field})"
        if row is None:
            return place
        label = self.labels[row] if self.labels else ""
        return f"{place}, row {row + 1}" + (f" ({label})" if label else "")

    def resolved(self, column: Column) -> Column:
        """Return a column with the default format if it has none."""
        if column.show is not None:
            return column
        values = [value for value in self.data[column.field] if value is not None]
        has_spread = column.ci is not None or column.uncertainty is not None
        if column.width is not None or all(isinstance(value, (str, bool)) for value in values):
            if has_spread:
                raise SpecError(f"{self.where(column)} is a text column, which cannot have uncertainty= or ci=")
            return replace(column, show=text_format)
        if any(isinstance(value, str) for value in values):
            raise SpecError(f"{self.where(column)} mixes text and numbers: use one of them, or show it as text")
        are_whole = all(isinstance(value, numbers.Real) and float(value).is_integer() for value in values)
        if are_whole and not has_spread:
            return replace(column, show=integer_format())
        raise SpecError(f"{self.where(column)} has floats but no format: give a format, such as fixed(2)")

    def cell(self, column: Column, row: int) -> Cell:
        """Return a cell: its value or the reason why it is empty, its marks, uncertainty, interval and p-value."""
        where = self.where(column, row)
        marks = self._read_marks(column, row, where)
        value = self._value_at(column.field, row)
        reason = self._why_empty(column, row)
        if value is None:
            if column.blank:
                return Cell(marks=marks)
            if not reason:
                raise DataError(
                    f"{where} is empty without a reason: give reason=, the field with reasons, or missing=, one reason"
                )
            return Cell(reason=reason, marks=marks)
        if isinstance(column.show, Words):
            if isinstance(value, float) and not math.isfinite(value):
                raise DataError(f"{where} is {value}: leave it empty and give a reason")
            return Cell(value=value, marks=marks)
        if isinstance(value, str) and not isinstance(column.show, AsPrinted):
            raise DataError(f"{where} is the text {value!r}, but the column has numbers")
        p, digits = self._read_number(column.p, row, where), self._read_digits(column, row, where)
        low, high = (self._read_number(end, row, where) for end in column.ci or (None, None))
        uncertainty = self._read_number(column.uncertainty, row, where)
        if not isinstance(column.show, AsPrinted):
            value = self._read_number(column.field, row, where)
        needed_values = (
            {column.uncertainty: uncertainty}
            if column.uncertainty
            else dict(zip(column.ci or (), (low, high), strict=False))
        )
        if any(end is None for end in needed_values.values()):
            absent = next(field for field, end in needed_values.items() if end is None)
            if not reason:
                raise DataError(
                    f"{where} has a value but no {absent} and no reason: give reason=, the field with reasons"
                )
            return Cell(value=value, p=p, digits=digits, marks=marks, reason=reason)
        if low is not None and high is not None and low > high:
            raise DataError(f"{where} has the interval [{low}, {high}], with the ends in the wrong order")
        if uncertainty is not None and uncertainty < 0:
            raise DataError(f"{where} has the negative uncertainty {uncertainty}")
        return Cell(value=value, uncertainty=uncertainty, low=low, high=high, p=p, digits=digits, marks=marks)

    def truth(self, value: object, row: int) -> bool:
        """Return a cell of `rule_before` as a bool."""
        if value is None or isinstance(value, bool):
            return bool(value)
        raise DataError(f"{self.where(None, row)}: rule_before must be true or false, not {value!r}")

    def _value_at(self, field: str, row: int) -> object:
        return self.data[field][row]

    def _read_number(self, field: str | None, row: int, where: str) -> float | int | None:
        value = None if field is None else self._value_at(field, row)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise DataError(f"{where}: {field} is {value!r}, which is not a number")
        if not math.isfinite(value):
            raise DataError(f"{where}: {field} is {value}: leave it empty and give a reason")
        return value

    def _read_digits(self, column: Column, row: int, where: str) -> int | None:
        """Return the number of decimals that a row gives, or None."""
        if column.digits is None:
            return None
        digits = self._read_number(column.digits, row, where)
        if digits is None or not float(digits).is_integer():
            raise DataError(f"{where}: {column.digits} is {digits!r}, but must be a whole number of decimals")
        return int(digits)

    def _read_marks(self, column: Column, row: int, where: str) -> tuple[str, ...]:
        if column.mark is None:
            return ()
        value = self._value_at(column.mark, row)
        if isinstance(value, (list, tuple)):
            marks = tuple(str(mark_name) for mark_name in value)
        else:
            marks = () if value is None else mark_names(str(value))
        for mark in marks:
            if mark not in self.table.marks:
                raise SpecError(
                    f"{where}: the mark {mark!r} of field {column.mark!r} is not explained in the table's marks"
                    f"{or_known(mark, self.table.marks)}"
                )
        return tuple(dict.fromkeys(marks))

    def _why_empty(self, column: Column, row: int) -> str:
        """Return why a cell is empty: from the column's field, else the table's, else the column's `missing`."""
        default = column.missing or ""
        field = column.reason or self.table.reason
        value = None if field is None else self._value_at(field, row)
        if value is None:
            return default
        columns = set(map(str, self.table.rows.columns))
        reasons = [entry.strip().partition(": ") for entry in str(value).split(";")]
        if all(colon and key in columns for key, colon, _ in reasons):
            return {key: reason.strip() for key, _, reason in reasons}.get(column.field, default)
        return str(value).strip()


def _grouping_field(table: Table, columns: Sequence[Column]) -> str:
    """Return the field whose equal values mark related rows; empty if there is none."""
    if table.space is not None:
        return table.space if isinstance(table.space, str) else ""
    return next((column.field for column in columns if not column.repeat), "")


def _hide_repeats(cells: list[Cell], groups: tuple[str, ...]) -> list[Cell]:
    """Return the cells, with those hidden that repeat the cell above in the same group."""
    result = cells[:1]
    for row in range(1, len(cells)):
        upper_cell, cell = cells[row - 1], cells[row]
        repeats = cell.value is not None and cell.value == upper_cell.value and cell.marks == upper_cell.marks
        result.append(replace(cell, hidden=True) if repeats and groups[row] == groups[row - 1] else cell)
    return result


def _is_empty(value: object) -> bool:
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    return not value.strip() if isinstance(value, str) else isinstance(value, float) and math.isnan(value)


def _as_label(value: object) -> str:
    return "" if value is None else str(value)


def _python_value(value: object) -> object:
    """Return a numpy scalar as a Python value, for JSON and CSV."""
    return value.item() if hasattr(value, "item") else value
