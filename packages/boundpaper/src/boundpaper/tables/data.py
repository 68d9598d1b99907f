"""Write tables as data: CSV and JSON with unrounded numbers, their uncertainties, marks and reasons."""

import csv as csv_module
import io
import json as json_module

from boundpaper.errors import DataError
from boundpaper.tables.cells import Cell, Grid
from boundpaper.tables.notes import collect_notes
from boundpaper.tables.spec import Column, mark_names
from boundpaper.typeset.armour import quoted
from boundpaper.typeset.printed import parse
from boundpaper.typeset.rounding import shortest_text


def csv(grid: Grid) -> str:
    """Return a table as CSV.

    Each shown field is followed, if the column has them, by `FIELD_uncertainty`, `FIELD_low`, `FIELD_high`, `FIELD_p`,
    `FIELD_marks` and, if any cell is empty, `FIELD_reason`. Repeated cells that the typeset table hides are included.
    """
    header: list[str] = []
    columns: list[list[str]] = []
    if grid.table.groups is not None and grid.table.groups not in [column.field for column in grid.columns]:
        header.append(grid.table.groups)
        columns.append(list(grid.groups))
    for index, column in enumerate(grid.columns):
        cells = [row[index] for row in grid.rows]
        for key in _field_names(column, cells):
            header.append(f"{column.field}_{key}" if key != "value" else column.field)
            columns.append([_csv_text(getattr(cell, key)) for cell in cells])
    output = io.StringIO()
    writer = csv_module.writer(output, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(zip(*columns, strict=True))
    return output.getvalue()


def json(grid: Grid) -> str:
    """Return a table as JSON: name, caption, columns, rows (per field an object with its value), groups and notes."""
    columns = [
        {"field": column.field} | {key: _author_text(getattr(column, key)) for key in ("title", "unit", "group")}
        for column in grid.columns
    ]
    rows = []
    for row in grid.rows:
        fields = {}
        for column, cell in zip(grid.columns, row, strict=True):
            values = {key: getattr(cell, key) for key in _field_names(column, [cell])}
            fields[column.field] = {
                key: list(value) if isinstance(value, tuple) else _author_text(value)
                for key, value in values.items()
                if key == "value" or (value is not None and value not in ("", ()))
            }
        rows.append(fields)
    caption = quoted(grid.table.caption)
    document: dict[str, object] = {"name": grid.name, "caption": caption, "columns": columns, "rows": rows}
    if grid.table.groups is not None:
        document["groups"] = list(grid.groups)
    document["notes"] = [{"label": note.label, "text": quoted(note.text)} for note in collect_notes(grid).notes]
    used_marks = {mark for row in grid.rows for cell in row for mark in cell.marks}
    used_marks |= {mark for column in grid.columns for mark in mark_names(column.title_mark or "")}
    document["marks"] = {mark: quoted(text) for mark, text in grid.table.marks.items() if mark in used_marks}
    return json_module.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _field_names(column: Column, cells: list[Cell]) -> list[str]:
    keys = ["value"]
    if column.uncertainty is not None:
        keys.append("uncertainty")
    if column.ci is not None:
        keys += ["low", "high"]
    if column.p is not None:
        keys.append("p")
    if column.mark is not None:
        keys.append("marks")
    if any(cell.reason for cell in cells):
        keys.append("reason")
    return keys


def _author_text(value: object) -> object:
    """Return an author's text with a backslash before each character from data, or any other value unchanged."""
    return quoted(value) if isinstance(value, str) else value


def _csv_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return _without_formula(quoted(value))
    return shortest_text(value) if isinstance(value, (int, float)) else str(value)


def _without_formula(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet could run it as a formula."""
    if not text.startswith(("=", "+", "-", "@", "\t", "\r")):
        return text
    try:
        parse(text)
    except DataError:
        return f"'{text}"
    return text
