"""The schema: `datapackage.yaml` read, and tables checked against it with frictionless.

Beside what frictionless checks (fields, types, constraints, keys), a table here may hold no NaN or infinity, an empty
cell needs a reason, a printed number must parse, and a metric must lie in its range.
"""

from __future__ import annotations

import copy
import csv
import functools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from artifacts.build.job import Job
from artifacts.build.kinds import SCHEMA
from artifacts.errors import DataError
from artifacts.store.covering import uncovered
from artifacts.store.files import digest
from artifacts.store.manifest import broken
from artifacts.store.table_file import header_of, rows
from artifacts.store.text_file import text_of, yaml_of
from artifacts.typeset.printed import Unreadable, parse

COVERS = ("resource", "key", "when", "field", "values")


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a table; row 1 is the header, row 0 the file as a whole."""

    file: str
    row: int
    field: str
    message: str

    def __str__(self) -> str:
        place = self.file + (f": row {self.row}" if self.row else "") + (f", {self.field}" if self.field else "")
        return f"{place}: {self.message}"


@functools.lru_cache(maxsize=4)
def _descriptor(root: Path, stamp: tuple[int, int]) -> dict[str, Any]:
    descriptor = yaml_of(root, SCHEMA)
    if not isinstance(descriptor, dict) or not isinstance(descriptor.get("resources"), list):
        raise DataError(f"{SCHEMA}: no list of `resources`; describe each table there")
    for number, entry in enumerate(descriptor["resources"], 1):
        _check_resource(entry, number)
    return descriptor


def _check_resource(entry: Any, number: int) -> None:
    """Raise DataError unless a description has what is read from it: nothing in it may point elsewhere."""
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise DataError(f"{SCHEMA}: resource {number} has no `name`")
    where = f"{SCHEMA}: {name}"
    path = entry.get("path")
    if path not in (f"sources/{name}.csv", f"results/{name}.csv", f"measurements/{name}"):
        raise DataError(f"{where}: `path` is {str(path)[:80]!r}; a table lies at sources/{name}.csv or the like")
    schema = entry.get("schema")
    if not isinstance(schema, dict) or not isinstance(schema.get("fields"), list) or not schema["fields"]:
        raise DataError(f"{where}: `schema` holds no list of `fields`")
    for place, field in enumerate(schema["fields"], 1):
        if not isinstance(field, dict) or not isinstance(field.get("name"), str):
            raise DataError(f"{where}: field {place} has no `name`")
        if not isinstance(field.get("type"), str) or not isinstance(field.get("constraints", {}), dict):
            raise DataError(f"{where}, {field['name']}: no `type`, or `constraints` that are no mapping")
    keys = schema.get("foreignKeys", [])
    for key in keys if isinstance(keys, list) else [None]:
        reference = key.get("reference") if isinstance(key, dict) else None
        if not isinstance(reference, dict) or not isinstance(reference.get("resource"), str):
            raise DataError(f"{where}: a foreign key without `reference: {{resource: ..., fields: [...]}}`")
    if not isinstance(entry.get("range", {}), dict):
        raise DataError(f"{where}: `range` is no mapping of metrics to [low, high]")
    if "covers" in entry and (not isinstance(entry["covers"], dict) or set(entry["covers"]) != set(COVERS)):
        raise DataError(f"{where}: `covers` needs {', '.join(COVERS)}")


def package(root: Path) -> dict[str, Any]:
    """The data package's descriptor.

    Raises
    ------
    DataError
        When the file is absent or no data package, with the line.
    """
    path = root / SCHEMA
    try:
        status = path.stat()
    except FileNotFoundError:
        raise DataError(f"{SCHEMA} is missing; restore it (`git checkout {SCHEMA}`)") from None
    return _descriptor(root, (status.st_mtime_ns, status.st_size))


def resource(root: Path, name: str) -> dict[str, Any] | None:
    """The description of the table called `name`, or None."""
    for entry in package(root)["resources"]:
        if entry.get("name") == name:
            return entry  # type: ignore[no-any-return]
    return None


def files(root: Path, name: str) -> list[str]:
    """The CSV files of a source, a result or an experiment's measurements, relative to `root`."""
    single = [f"artifacts/{room}/{name}.csv" for room in ("sources", "results")]
    found = [path for path in single if (root / path).is_file()]
    folder = root / "artifacts/measurements" / name
    return found or sorted(path.relative_to(root).as_posix() for path in folder.glob("*.csv"))


def check(root: Path, name: str) -> list[Fault]:
    """Everything that is wrong with the artifact `name`, in file order."""
    described = resource(root, name)
    paths = files(root, name)
    if described is None:
        where = paths[0] if paths else name
        return [Fault(where, 0, "", f"no resource {name!r} in {SCHEMA}; add one with its fields, keys and origin")]
    if not paths and described.get("awaits"):
        return []
    if not paths:
        return [Fault(f"artifacts/{described['path']}", 0, "", "the file is missing; restore it from version control")]
    faults = [fault for path in paths for fault in _check_file(root, described, path)]
    if not faults:
        faults = [Fault(path, 0, "", lack) for path in paths for lack in uncovered(root, described, path)]
    return faults


def _check_file(root: Path, described: dict[str, Any], path: str) -> list[Fault]:
    import frictionless

    try:
        text = text_of(root, path)
        if not text.strip():
            return [Fault(path, 0, "", "the file is empty; restore it from version control")]
        measured = path.startswith("artifacts/measurements/")
        if fault := _cut(text, described.get("awaits", "")) or (broken(root, path) if measured else ""):
            return [Fault(path, 0, "", fault)]
        header = header_of(root / path)
    except (DataError, csv.Error) as error:
        message = str(error).removeprefix(f"{path}:").removeprefix(path)
        return [Fault(path, 0, "", message)]
    fields = described["schema"]["fields"]
    if path.startswith("artifacts/measurements/") and "model" not in header:
        fields = [field for field in fields if field["name"] != "model"]
    wanted = [field["name"] for field in fields]
    if header != wanted:
        absent, extra = [x for x in wanted if x not in header], [x for x in header if x not in wanted]
        parts = [f"no column {', '.join(absent)}"] * bool(absent) + [f"unknown column {', '.join(extra)}"] * bool(extra)
        message = "; ".join(parts) or f"the columns stand in another order than {', '.join(wanted)}"
        message = message if len(message) < 300 else f"{message[:300]}..."
        return [Fault(path, 1, (absent or extra or [""])[0], f"{message}; mend the header, or the schema in {SCHEMA}")]
    try:
        bundle = frictionless.Package.from_descriptor(
            {"name": "artifacts", "resources": _resources(root, described, path, fields)},
            basepath=str(root / "artifacts"),
        )
        report = bundle.get_resource(described["name"]).validate()
    except frictionless.FrictionlessException as error:
        reasons = error.reasons or [error.error]
        return [Fault(SCHEMA, 0, described["name"], reason.note or reason.message) for reason in reasons]
    faults = []
    for task in report.tasks:
        for found in task.errors:
            row = getattr(found, "row_number", None) or 0
            field = getattr(found, "field_name", "") or getattr(found, "label", "") or ""
            faults.append(Fault(path, row, field, _words(found)))
    if not faults:
        faults = list(_own_checks(root, described, path))
    return sorted(faults, key=lambda fault: fault.row)


def _resources(root: Path, described: dict[str, Any], path: str, fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What frictionless is told: names, local paths, fields and keys; whatever else it would follow stays behind."""
    wanted = {described["name"]} | {key["reference"]["resource"] for key in _foreign(described)} - {""}
    told: list[dict[str, Any]] = []
    for entry in package(root)["resources"]:
        name = entry["name"]
        if name in wanted and name not in [other["name"] for other in told]:
            own = name == described["name"]
            schema = {
                key: entry["schema"][key] for key in ("primaryKey", "foreignKeys") if own and key in entry["schema"]
            }
            schema["fields"] = [
                {key: field[key] for key in ("name", "type", "format", "constraints") if key in field}
                for field in (fields if own else entry["schema"]["fields"])
            ]
            file = path.removeprefix("artifacts/") if own else entry["path"]
            told.append(copy.deepcopy({"name": name, "path": file, "schema": schema}))
    return told


def _cut(text: str, awaits: str) -> str:
    """What tells that a table was cut, emptied or damaged, whatever its fields are; empty when nothing does.

    A table without rows is one that somebody emptied, unless its resource says what it `awaits`.
    """
    if "\0" in text:
        return "holds NUL characters; restore it from version control"
    if "\r" in text.replace("\r\n", ""):
        return "lines end with a lone carriage return; save it with line feeds"
    if not text.endswith("\n"):
        return "ends in the middle of a line; restore it from version control, or end the last line"
    if text.count("\n") < 2 and not awaits:
        return "holds a header and no row; restore it from version control"
    return ""


def _foreign(described: dict[str, Any]) -> list[dict[str, Any]]:
    return described["schema"].get("foreignKeys", [])  # type: ignore[no-any-return]


def _words(error: Any) -> str:
    cell = getattr(error, "cell", "")
    match error.type:
        case "type-error":
            kind = error.note.partition("type is ")[2].partition("/")[0].strip(chr(34))
            return f"{_short(cell)} is no {kind or 'such value'}"
        case "foreign-key":
            values = ", ".join(str(value) for value in getattr(error, "field_cells", []))
            target = getattr(error, "reference_name", "")
            return f"{_short(values)} is not in the table {target!r}; add it there or correct the name"
        case "primary-key":
            return f"the key stands twice ({error.note})"
        case _:
            return str(error.note or error.message)


def _short(cell: object) -> str:
    shown = repr(cell)
    return shown if len(shown) < 100 else f"{shown[:100]}..."


def _own_checks(root: Path, described: dict[str, Any], path: str) -> Iterator[Fault]:
    fields = {field["name"]: field for field in described["schema"]["fields"]}
    ranges = described.get("range", {})
    for number, row in rows(root / path):
        empty = [
            name
            for name, cell in row.items()
            if not cell and name not in ("reason", "note") and not fields[name].get("optional")
        ]
        if empty and not (row.get("reason") or row.get("note")):
            yield Fault(path, number, empty[0], "empty without a reason; fill it, or say why in `reason`")
        for name, cell in row.items():
            if fields[name]["type"] in ("number", "integer") and cell and not math.isfinite(float(cell)):
                yield Fault(path, number, name, f"{cell} is no number; leave it empty and give a reason")
        printed = row.get("printed")
        if not printed:
            continue
        try:
            value = parse(printed).value
        except DataError as error:
            if not described.get("words") or isinstance(error, Unreadable):
                yield Fault(path, number, "printed", str(error))
            continue
        low, high = ranges.get(row.get("metric") or "printed", (-math.inf, math.inf))
        if value is not None and not low <= value <= high:
            yield Fault(path, number, "printed", f"{printed} lies outside {low} to {high}")


def require(root: Path, names: Sequence[str]) -> None:
    """Raise DataError with all faults of the artifacts called `names`, one a line."""
    faults = [str(fault) for name in names for fault in check(root, name)]
    if faults:
        shown = faults[:20] + ([f"... and {len(faults) - 20} more"] if len(faults) > 20 else [])
        raise DataError("\n".join(shown))


def build(job: Job) -> dict[str, str]:
    """Builder of a source or an experiment's measurements: check it, and record what was checked."""
    require(job.root, [job.name])
    hashes = {path: digest(job.root / path) for path in files(job.root, job.name)}
    return {f"out/checked/{job.name}.json": json.dumps(hashes, indent=0, sort_keys=True) + "\n"}
