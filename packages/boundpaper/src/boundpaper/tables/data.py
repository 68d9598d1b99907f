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

    Each shown field is followed by `FIELD_uncertainty`, `FIELD_low`, `FIELD_high`, `FIELD_p` and `FIELD_marks`, if the
    column has them, and by `FIELD_reason` if any cell is empty. Repeated cells that are not printed are included.
    """
    header: list[str] = []
    columns: list[list[str]] = []
    if grid.table.groups is not None and grid.table.groups not in [column.field for column in grid.columns]:
        header.append(grid.table.groups)
        columns.append(list(grid.groups))
    for index, column in enumerate(grid.columns):
        cells = [row[index] for row in grid.rows]
        for key in _cell_keys(column, cells):
            header.append(f"{column.field}_{key}" if key != "value" else column.field)
            columns.append([_csv_text(getattr(cell, key)) for cell in cells])
    output = io.StringIO()
    writer = csv_module.writer(output, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(zip(*columns, strict=True))
    return output.getvalue()


def json(grid: Grid) -> str:
    """Return a table as JSON: name, caption, columns, rows (one object for each field), groups, notes and marks."""
    columns = [
        {"field": column.field} | {key: _author_text(getattr(column, key)) for key in ("title", "unit", "group")}
        for column in grid.columns
    ]
    rows = []
    for row in grid.rows:
        fields = {}
        for column, cell in zip(grid.columns, row, strict=True):
            values = {key: getattr(cell, key) for key in _cell_keys(column, [cell])}
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


def _cell_keys(column: Column, cells: list[Cell]) -> list[str]:
    """Return the names of the attributes that the cells of a column may have."""
    fields = {
        "uncertainty": column.uncertainty,
        "low": column.ci,
        "high": column.ci,
        "p": column.p,
        "marks": column.mark,
    }
    keys = ["value", *(key for key, name in fields.items() if name is not None)]
    return [*keys, "reason"] if any(cell.reason for cell in cells) else keys


def _author_text(value: object) -> object:
    """Return a text with a backslash before each armoured character, or any other value unchanged."""
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
