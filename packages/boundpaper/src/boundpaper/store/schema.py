"""Check tables against their descriptions in the schema.

A table must satisfy Table Schema (fields, types, constraints, keys). In addition, no number is NaN or infinite, every
empty cell has a reason, every printed number parses, and every metric is within its range.
"""

import csv
import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.store.covering import missing_rows
from boundpaper.store.descriptor import INTEGRITY_KEYS, as_list, fields_of, files, resource
from boundpaper.store.documents import documents
from boundpaper.store.header import mismatch
from boundpaper.store.manifest import contradiction
from boundpaper.store.missing import missing_markers
from boundpaper.store.paths import PLACES, SCHEMA
from boundpaper.store.table_file import header_of, records, table_text
from boundpaper.store.validation import cells_of, faults, short
from boundpaper.typeset.printed import Unreadable, parse


@dataclass(frozen=True)
class Fault:
    """A fault in a table; row 1 is the header, row 0 means the whole file.

    Checks of a paper also report faults outside tables as a `Fault`, whose message then names the place.
    """

    file: str
    row: int
    field: str
    message: str

    def __str__(self) -> str:
        place = self.file + (f": row {self.row}" if self.row else "") + (f", {self.field}" if self.field else "")
        return f"{place}: {self.message}" if place else self.message


def check(root: Path, name: str) -> list[Fault]:
    """Return all faults of the artifact `name`, in file order."""
    description = resource(root, name)
    try:
        paths = files(root, name)
    except DataError as error:
        file, _, message = str(error).partition(": ")
        return [Fault(file, 0, "", message)]
    if description is None:
        first_path = paths[0] if paths else name
        return [Fault(first_path, 0, "", f"no resource {name!r} in {SCHEMA}; add one with its fields, keys and origin")]
    if not paths:
        fault = Fault(f"artifacts/{description['path']}", 0, "", "the file is missing; restore it from version control")
        return [] if description.get("awaits") else [fault]
    table_faults = [fault for path in paths for fault in _check_file(root, description, path)]
    return table_faults or [
        Fault(path, 0, "", message) for path in paths for message in missing_rows(root, description, path)
    ]


def _check_file(root: Path, description: dict[str, Any], path: str) -> list[Fault]:
    if fault := _file_damage(root, description, path):
        return [Fault(path, 0, "", fault)]
    header = header_of(root / path)
    fields = fields_of(description, path, header)
    column_names = [field["name"] for field in fields]
    column, fault = mismatch(header, column_names)
    if fault:
        return [Fault(path, 1, column, f"{fault}; correct the header, or the schema in {SCHEMA}")]
    try:
        foreign, table_faults = _foreign_cells(root, description)
        if table_faults:
            return [Fault(path, 0, field, message) for field, message in table_faults.items()]
        cell_faults = [Fault(path, *fault) for fault in faults(root / path, fields, description["schema"], foreign)]
    except DataError as error:
        return [Fault(SCHEMA, 0, description["name"], str(error))]
    except csv.Error as error:
        return [Fault(path, 0, "", f"is not a table ({error}); restore it from version control")]
    return cell_faults or sorted(_additional_checks(root, description, path), key=lambda fault: fault.row)


def _file_damage(root: Path, description: dict[str, Any], path: str) -> str:
    """Return how a file is damaged or contradicts its manifest; empty if neither. Faults of cells are not checked."""
    try:
        text = table_text(root / path)
        if not text.strip():
            return "the file is empty; restore it from version control"
        is_measurement = path.startswith("artifacts/measurements/")
        if fault := _sign_of_damage(text, description.get("awaits", "")) or _wrong_size_or_hash(
            root / path, description
        ):
            return fault
        if is_measurement and (fault := contradiction(root, path)):
            return fault
        header_of(root / path)
    except (DataError, csv.Error) as error:
        message = str(error).removeprefix(f"{Path(path).name}:")
        return f"line {message}" if message[:1].isdigit() else message.strip()
    return ""


def _wrong_size_or_hash(path: Path, description: dict[str, Any]) -> str:
    """Return how the file's size or hash differs from `bytes` and `hash` of its description; empty if they agree."""
    if not any(key in description for key in INTEGRITY_KEYS):
        return ""
    content = path.read_bytes()
    size = description.get("bytes", len(content))
    if size != len(content):
        return f"{len(content)} bytes, but `bytes` in {SCHEMA} is {size}; restore it, or correct `bytes`"
    kind, _, digits = str(description.get("hash", "")).rpartition(":")
    if digits and hashlib.new(kind or "md5", content, usedforsecurity=False).hexdigest() != digits.lower():
        return f"the {kind or 'md5'} differs from `hash` in {SCHEMA}; restore the file, or correct `hash`"
    return ""


def _foreign_cells(
    root: Path, description: dict[str, Any]
) -> tuple[dict[tuple[str, ...], tuple[str, set[tuple[str, ...]]]], dict[str, str]]:
    """Return the name and key cells of each table that a foreign key refers to, and the faults of unreadable tables.

    The keys of both mappings are the fields of the foreign key. A fault is thus reported once per key, not per row.
    """
    cells_by_fields, problems = {}, {}
    for key in description["schema"].get("foreignKeys", []):
        name = key["reference"].get("resource", "")  # for the same table, "" in version 1, absent in version 2
        target = resource(root, name) if name else description
        if target is None:
            raise DataError(f"a foreign key names {name!r}, which is no resource; add a resource or correct the name")
        file, names = f"artifacts/{target['path']}", tuple(as_list(key["fields"]))
        try:
            if fault := _file_damage(root, target, file):
                raise DataError(fault)
            cells_by_fields[names] = (target["name"], cells_of(root / file, as_list(key["reference"]["fields"])))
        except FileNotFoundError:
            problems[", ".join(names)] = f"names rows of {file}, which is missing; restore it first"
        except DataError as error:
            words = str(error).removeprefix(f"{Path(file).name}: ")
            problems[", ".join(names)] = f"names rows of {file}, which cannot be read ({words}); correct it first"
    return cells_by_fields, problems


def _sign_of_damage(text: str, awaits: str) -> str:
    """Return how a table's text shows that the table was truncated, emptied or damaged; empty if it does not.

    A table without rows counts as emptied, unless its description says what it `awaits`.
    """
    if "\0" in text:
        return "contains NUL characters; restore it from version control"
    if "\r" in text.replace("\r\n", ""):
        return "lines end with a lone carriage return; save it with line feeds"
    if not text.endswith("\n"):
        return "ends in the middle of a line; restore it from version control, or end the last line"
    if text.count("\n") < 2 and not awaits:
        return "has a header but no rows; restore it from version control"
    return ""


def _additional_checks(root: Path, description: dict[str, Any], path: str) -> Iterator[Fault]:
    schema = description["schema"]
    markers = {field["name"]: missing_markers(field, schema) for field in schema["fields"]}
    columns_without_reason = {name for name, cells in markers.items() if "" not in cells} | {"reason", "note"}
    columns_without_reason |= {field["name"] for field in schema["fields"] if field.get("optional")}
    document_keys = {document.key for document in documents(root)} if path == PLACES else set()
    header, *rows = records(root / path)
    positions = [position for position, name in enumerate(header) if name not in columns_without_reason]
    must_check_every_row = not {"printed", "source"}.isdisjoint(header)
    for number, cells in enumerate(rows, 2):
        if not must_check_every_row and "" not in map(cells.__getitem__, positions):
            continue
        row = dict(zip(header, cells, strict=True))
        empty_columns = [header[position] for position in positions if not cells[position]]
        if empty_columns and not (row.get("reason") or row.get("note")):
            yield Fault(path, number, empty_columns[0], "empty without a reason; fill it, or say why in `reason`")
        code = row.get("source", "").partition(" ")[0]
        if code in document_keys and row.get("document") != code:
            words = f"{short(row.get('document'))}, where the place begins with the key of the document {code!r}"
            yield Fault(path, number, "document", f"{words}; name that document, or rename the place")
        printed = row.get("printed")
        if not printed or printed in markers["printed"]:
            continue
        try:
            value = parse(printed).value
        except DataError as error:
            if not description.get("words") or isinstance(error, Unreadable):
                yield Fault(path, number, "printed", str(error))
            continue
        if value is not None and (fault := range_fault(description, row.get("metric") or "printed", value)):
            yield Fault(path, number, "printed", f"{printed} {fault}")


def range_fault(description: dict[str, Any], metric: str, value: float) -> str:
    """Return how a number is outside the range that a description gives for its metric; empty if it is inside."""
    low, high = description.get("range", {}).get(metric, (-math.inf, math.inf))
    return "" if low <= value <= high else f"is outside {low} to {high}"


def require(root: Path, names: Sequence[str]) -> None:
    """Raise DataError with the faults of the artifacts called `names`, one per line, at most 20."""
    lines = [str(fault) for name in names for fault in check(root, name)]
    if len(lines) > 20:
        lines[20:] = [f"... and {len(lines) - 20} more"]
    if lines:
        raise DataError("\n".join(lines))
