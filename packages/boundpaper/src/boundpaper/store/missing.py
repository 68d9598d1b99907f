"""Find and clear the cells that mean a missing value, as listed by `missingValues` of a schema or of a field.

Without a list, only the empty cell means a missing value, as in the standard. If a list omits `""`, an empty cell is an
empty text, or an error in a column of numbers. An empty cell needs a `reason`; a listed marker such as `n/a` does not.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from boundpaper.errors import DataError

KEY = "missingValues"
EMPTY = frozenset([""])


def missing_markers(field: Mapping[str, Any], schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the cells that mean a missing value in a field: the field's list, else the schema's, else the empty cell.

    A list has texts, or mappings `{value: ..., label: ...}`.
    """
    markers = field.get(KEY, schema.get(KEY))
    if markers is None:
        return EMPTY
    return frozenset(marker if isinstance(marker, str) else marker["value"] for marker in markers)


def only_empty_is_missing(schema: Mapping[str, Any]) -> bool:
    """Return whether in every field of a schema only the empty cell means a missing value."""
    return all(missing_markers(field, schema) == EMPTY for field in schema["fields"])


def clear_missing(text: str, fields: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> str:
    """Return a table's CSV text with cells that mean a missing value replaced by empty cells.

    Columns without a field are unchanged. Raises DataError for an empty cell in a column of numbers or booleans whose
    list of missing values lacks the empty cell.
    """
    fields_by_name = {str(field["name"]): field for field in fields}
    markers = {name: missing_markers(field, schema) for name, field in fields_by_name.items()}
    if all(cells == EMPTY for cells in markers.values()):
        return text
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    for number, row in enumerate(rows, 2):
        for name, cell in zip(header, row, strict=False):
            if not cell and "" not in markers.get(name, EMPTY) and fields_by_name[name]["type"] != "string":
                raise DataError(f"row {number}, {name}: empty, but {KEY} does not list ''; fill the cell, or list ''")
        writer.writerow("" if cell in markers.get(name, ()) else cell for name, cell in zip(header, row, strict=False))
    return buffer.getvalue()
