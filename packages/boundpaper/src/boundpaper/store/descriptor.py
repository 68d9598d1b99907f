"""Read the descriptor `datapackage.yaml` and expand its abbreviations.

A resource is as in a Data Package or abbreviated; the head of the file explains the notation. `full_package` returns
every resource in full; `standard_package` returns the package in standard form for other programs.
"""

import functools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from boundpaper.errors import DataError
from boundpaper.places import package_folders
from boundpaper.store import standard_words
from boundpaper.store.cached_files import hash_bytes
from boundpaper.store.paths import CSV, PARQUET, SCHEMA, SUFFIXES, TABLES
from boundpaper.store.rules import require
from boundpaper.store.table_file import header_of
from boundpaper.store.text_file import yaml_of
from boundpaper.suggestions import or_known, suggest

COVERS = ("resource", "key", "when", "field", "values")
ROOMS = {"source": "sources/{}.csv", "result": "results/{}.csv", "measurement": "measurements/{}"}
MARKS = ("!", "*", "~")  # marks of a column: required; part of the primary key; empty cells need no reason
CONSTRAINTS = tuple(name for name in standard_words.CONSTRAINTS if name != "required")
TOLD = tuple(name for name in standard_words.FIELD if name not in ("name", "type", "constraints", "optional"))
PROPERTIES = ("type", *TOLD, "refers", *CONSTRAINTS)
SUMS = ("bytes", "hash")
PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
OWN = ("columns", "shared")  # keys of this file's notation, which are not in a Data Package


def full_package(root: Path) -> dict[str, Any]:
    """Return the data package's descriptor, with every resource in full.

    Raises DataError, with the line, when the file is absent or not a data package.
    """
    description_files = _description_files(root)
    return _descriptor(tuple((str(folder), file, _file_stamp(folder / file)) for folder, file in description_files))


def package_hash(root: Path) -> str:
    """Return a hash of the content of every file from which `full_package` reads; raise DataError if it is absent."""
    hashes = [hash_bytes((folder / file).read_bytes()) for folder, file in _description_files(root)]
    return hash_bytes(b"".join(hashes)).decode()


def _description_files(root: Path) -> list[tuple[Path, str]]:
    """Return the descriptor's file, then those of installed packages, each as folder and name."""
    if not (root / SCHEMA).is_file():
        raise DataError(f"{SCHEMA} is missing; restore it (`git checkout {SCHEMA}`)")
    return [(root, SCHEMA)] + [
        (root / folder, TABLES) for folder in package_folders(root).values() if (root / folder / TABLES).is_file()
    ]


def _file_stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def resource(root: Path, name: str) -> dict[str, Any] | None:
    """Return the description of the table called `name`, or None."""
    for entry in full_package(root)["resources"]:
        if entry.get("name") == name:
            return entry  # type: ignore[no-any-return]
    return None


def packaged_description(root: Path, name: str) -> dict[str, Any] | None:
    """Return an installed package's description of a table, for use outside a project; None if there is none."""
    for folder in package_folders(root).values():
        if (root / folder / TABLES).is_file():
            for entry in _read_descriptions(root / folder, TABLES, f"{Path(folder).name}/{TABLES}", {})["resources"]:
                if entry["name"] == name:
                    return entry  # type: ignore[no-any-return]
    return None


def files(root: Path, name: str) -> list[str]:
    """Return the files of a source, a result or an experiment's measurements, relative to `root`.

    Raises DataError when a measurement exists as both CSV and Parquet.
    """
    single = [f"artifacts/{room}/{name}.csv" for room in ("sources", "results")]
    present = [path for path in single if (root / path).is_file()]
    if present:
        return present
    folder = root / "artifacts/measurements" / name
    tables = sorted(path for suffix in SUFFIXES for path in folder.glob(f"*{suffix}"))
    for path in tables:
        if path.suffix == CSV and path.with_suffix(PARQUET) in tables:
            raise DataError(
                f"{path.relative_to(root)}: a {PARQUET} is beside it; to keep the file that {path.stem}.json seals, "
                "run: python -m boundpaper.store.measurement"
            )
    return [path.relative_to(root).as_posix() for path in tables]


def fields_of(described: dict[str, Any], path: str, header: list[str]) -> list[dict[str, Any]]:
    """Return the fields of a table's file; a measurement's file may omit `model`, which is in the file name."""
    fields: list[dict[str, Any]] = described["schema"]["fields"]
    if path.startswith("artifacts/measurements/") and "model" not in header:
        return [field for field in fields if field["name"] != "model"]
    return fields


def standard_package(root: Path) -> dict[str, Any]:
    """Return the package in the form that any reader of Data Packages accepts; its paths start in `artifacts/`.

    Every resource has a full schema, and every path is a CSV, since `publish` writes every table as CSV. Each file of
    an experiment's measurements is a separate resource, since files of one resource would form one table, without the
    model. Tables without rows are omitted. The package declares version 2 of the standard.
    """
    package = {"$schema": PROFILE, **full_package(root)}
    resources = [resource for entry in package["resources"] for resource in _standard_resources(root, entry)]
    return {**{key: value for key, value in package.items() if key not in OWN}, "resources": resources}


def _standard_resources(root: Path, entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in files(root, entry["name"]):
        fields = fields_of(entry, path, header_of(root / path))
        schema, names = {**entry["schema"], "fields": fields}, [field["name"] for field in fields]
        if key := [name for name in as_list(schema.get("primaryKey")) if name in names]:
            schema["primaryKey"] = key
        is_measurement = entry["path"].startswith("measurements/")
        name = f"{entry['name']}-{Path(path).stem}".lower() if is_measurement else entry["name"]
        file = Path(path).with_suffix(CSV).as_posix().removeprefix("artifacts/")
        resource = {**entry, "name": name, "path": file, "schema": schema}
        resource.pop("awaits", None)  # a table with rows does not await data
        if "range" in entry:  # JSON has no infinity: an open end is null
            resource["range"] = {key: [_finite_or_none(end) for end in ends] for key, ends in entry["range"].items()}
        yield resource


def _finite_or_none(number: float) -> float | None:
    return number if math.isfinite(number) else None


@functools.lru_cache(maxsize=4)
def _descriptor(stamps: tuple[tuple[str, str, tuple[int, int]], ...]) -> dict[str, Any]:
    """Return the paper's descriptor (the first file), with the tables that other packages describe."""
    (root, file, _), *other_stamps = stamps
    folders = [(Path(folder), name) for folder, name, _ in other_stamps]
    packaged = [_read_descriptions(folder, name, f"{folder.name}/{name}", {}) for folder, name in folders]
    shared = {name: schema for package in packaged for name, schema in package["shared"].items()}
    descriptor = _read_descriptions(Path(root), file, SCHEMA, shared)
    names = {entry["name"] for entry in descriptor["resources"]}
    descriptor["resources"] += [
        {"awaits": "its first row", **entry}
        for package in packaged
        for entry in package["resources"]
        if entry["name"] not in names
    ]
    return descriptor


def _read_descriptions(root: Path, file: str, source: str, shared: dict[str, Any]) -> dict[str, Any]:
    """Return a file of descriptions with every resource in full; it may also use the schemas `shared`."""
    descriptor = yaml_of(root, file)
    if isinstance(descriptor, dict) and descriptor.get("resources", ()) is None:
        descriptor["resources"] = []  # an empty `resources:`
    if not isinstance(descriptor, dict) or not isinstance(descriptor.get("resources"), list):
        raise DataError(f"{source}: no list of `resources`; describe each table there")
    columns = descriptor.get("columns", {})
    if not isinstance(columns, dict) or not all(isinstance(column, dict) for column in columns.values()):
        raise DataError(f"{source}: `columns` is not a mapping of a column's name to {{type: ..., description: ...}}")
    require(descriptor, standard_words.package, source)
    schemas = {name: _schema(item, columns, f"{source}: {name}") for name, item in descriptor.get("shared", {}).items()}
    all_schemas = {**shared, **schemas}
    entries = enumerate(descriptor["resources"], 1)
    resources = [_full_resource(entry, number, columns, all_schemas, source) for number, entry in entries]
    return {**descriptor, "shared": all_schemas, "resources": resources}


def _full_resource(
    entry: Any, number: int, columns: dict[str, dict[str, Any]], shared: dict[str, Any], source: str
) -> dict[str, Any]:
    """Return a resource in full; raise DataError if a needed property is missing or wrong."""
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise DataError(f"{source}: resource {number} has no `name`")
    where = f"{source}: {name}"
    require(entry, standard_words.resource, where)
    kind = entry.get("kind", "source" if "origin" in entry else "result")
    if "path" not in entry and kind not in ROOMS:
        raise DataError(f"{where}: `kind` is {str(kind)[:80]!r}; a table is a {', a '.join(ROOMS)}")
    described = {"path": ROOMS[kind].format(name) if "path" not in entry else entry["path"], **entry}
    if "path" not in entry:
        described["kind"] = kind
    if described["path"] not in [room.format(name) for room in ROOMS.values()]:
        several = "is a list of files; put their rows into one" if isinstance(described["path"], list) else ""
        problem = several or f"is {str(described['path'])[:80]!r}"
        raise DataError(f"{where}: `path` {problem}; write sources/{name}.csv or similar")
    if described["path"].startswith("measurements/") and (sums := [key for key in SUMS if key in described]):
        raise DataError(f"{where}: leave out `{sums[0]}`; the manifests beside measurements have it for each file")
    described.setdefault("kind", next(kind for kind, path in ROOMS.items() if path.format(name) == described["path"]))
    short = {key: described.pop(key) for key in ("fields", "key", "refers") if key in described}
    schema = described.get("schema", short)
    described["schema"] = _shared(schema, shared, where) if isinstance(schema, str) else _schema(schema, columns, where)
    if not isinstance(described.get("range", {}), dict):
        raise DataError(f"{where}: `range` must map metrics to [low, high]")
    require(described.get("range", {}), standard_words.RANGE, f"{where}.range")
    if "covers" in described and (not isinstance(described["covers"], dict) or set(described["covers"]) != set(COVERS)):
        raise DataError(f"{where}: `covers` needs {', '.join(COVERS)}")
    return described


def _shared(name: str, shared: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a shared schema by name."""
    if name not in shared:
        raise DataError(
            f"{where}: `schema` is {name!r}, which is not in `shared`; {suggest(name, shared)}"
            "write the schema here, or the name of a shared schema (files are not supported)"
        )
    return dict(shared[name])


def _schema(raw: Any, columns: dict[str, dict[str, Any]], where: str) -> dict[str, Any]:
    if not isinstance(raw, dict) or not isinstance(raw.get("fields"), list) or not raw["fields"]:
        raise DataError(f"{where}: `schema` has no list of `fields`")
    require(raw, standard_words.schema, f"{where}.schema")
    schema = {key: value for key, value in raw.items() if key not in ("key", "refers")}
    items = [item for entry in raw["fields"] for item in (entry if isinstance(entry, list) else [entry])]
    columns_here = [_full_field(item, place, columns, where) for place, item in enumerate(items, 1)]
    schema["fields"] = [column.field for column in columns_here]
    key = raw.get("key", [column.field["name"] for column in columns_here if column.mark == "*"])
    if key:
        schema["primaryKey"] = key
    refers = raw.get("refers", {})
    if not isinstance(refers, dict):
        raise DataError(f"{where}: `refers` must map a column to the table, or table.column, that it names")
    refers = {**refers, **{column.field["name"]: column.refers for column in columns_here if column.refers}}
    if refers:
        schema["foreignKeys"] = [_foreign_key(column, str(target)) for column, target in refers.items()]
    names = [field["name"] for field in schema["fields"]]
    keys = schema.get("foreignKeys", [])
    for key in keys:
        key_fields, target_fields = as_list(key["fields"]), as_list(key["reference"]["fields"])
        if len(key_fields) != len(target_fields) or not key_fields:
            raise DataError(f"{where}: a foreign key and its `reference` need the same number of `fields`")
    key_columns = [
        as_list(schema.get("primaryKey")),
        *schema.get("uniqueKeys", []),
        *(as_list(key["fields"]) for key in keys),
    ]
    for column in (column for group in key_columns for column in group):
        if column not in names:
            raise DataError(
                f"{where}: a key names the column {column!r}, which is not a field; "
                f"{suggest(str(column), names)}name a field"
            )
    return schema


def as_list(value: Any) -> list[Any]:
    """Return a name or a list of names, both allowed by Table Schema, as a list."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _foreign_key(column: str, target: str) -> dict[str, Any]:
    resource, _, field = target.partition(".")
    return {"fields": [column], "reference": {"resource": resource, "fields": [field or column]}}


class DescribedField(NamedTuple):
    """A field with all its properties, its mark (as in `key*`), and the table that its cells refer to."""

    field: dict[str, Any]
    mark: str = ""
    refers: str = ""


def _full_field(item: Any, place: int, columns: dict[str, dict[str, Any]], where: str) -> DescribedField:
    """Return a column in full, given its name, its name with changes, or a full field."""
    if isinstance(item, str):
        name, mark = _split_mark(item)
        if name not in columns:
            suggestion = suggest(name, list(columns))
            raise DataError(
                f"{where}: no {name!r} among `columns`; {suggestion}or describe it: {{{item}: words, type: ...}}"
            )
        return _build_column(name, columns[name], mark, where)
    if isinstance(item, dict) and item and "name" not in item and "constraints" not in item:
        (marked_name, words), *changes = item.items()
        name, mark = _split_mark(str(marked_name))
        unknown_key = next((str(key) for key, _ in changes if key not in PROPERTIES), None)
        if unknown_key is not None:
            raise DataError(f"{where}, {name}: unknown key {unknown_key!r}{or_known(unknown_key, PROPERTIES)}")
        if not isinstance(words, str | None):
            raise DataError(f"{where}, {name}: {str(words)!r} is not a text; describe the column")
        description = columns.get(name, {}) | dict(changes) | ({"description": words} if words else {})
        return _build_column(name, description, mark, where)
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise DataError(f"{where}: field {place} has no `name`")
    if not isinstance(item.get("type"), str) or not isinstance(item.get("constraints", {}), dict):
        raise DataError(f"{where}, {item['name']}: no `type`, or `constraints` that are not a mapping")
    require(item, standard_words.field, f"{where}, {item['name']}")
    if item["type"] in ("integer", "number"):
        require(item.get("constraints", {}), standard_words.LIMITS, f"{where}, {item['name']}")
    return DescribedField(item)


def _split_mark(word: str) -> tuple[str, str]:
    return (word[:-1], word[-1]) if word.endswith(MARKS) else (word, "")


def _build_column(name: str, description: dict[str, Any], mark: str, where: str) -> DescribedField:
    """Return a column built from its description; a null property removes the property of the column dictionary."""
    limits = {"required": True} if mark in ("!", "*") else {}
    limits |= {key: description[key] for key in CONSTRAINTS if description.get(key) is not None}
    properties = {key: description[key] for key in TOLD if description.get(key) is not None}
    field = {"name": name, "type": description.get("type") or "string", **properties}
    field |= {"constraints": limits} if limits else {}
    field |= {"optional": True} if mark == "~" else {}
    require(field, standard_words.field, f"{where}, {name}")
    if field["type"] in ("integer", "number"):
        require(limits, standard_words.LIMITS, f"{where}, {name}")
    return DescribedField(field, mark, str(description.get("refers") or ""))
