"""Read the descriptor `datapackage.yaml` and expand its abbreviations.

A resource is described as in a Data Package, or in the shorter notation that the head of the file explains.
`full_package` returns every resource in full, and `standard_package` the package in standard form for other programs.
"""

import functools
import math
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from boundpaper.errors import DataError
from boundpaper.places import package_folders
from boundpaper.store import standard_words
from boundpaper.store.cached_files import hash_bytes
from boundpaper.store.files import stamp_of
from boundpaper.store.paths import CSV, PARQUET, SCHEMA, SUFFIXES, TABLES
from boundpaper.store.rules import require
from boundpaper.store.table_file import header_of
from boundpaper.store.text_file import yaml_of
from boundpaper.suggestions import or_known, suggest

COVERS = ("resource", "key", "when", "field", "values")
PATHS = {"source": "sources/{}.csv", "result": "results/{}.csv", "measurement": "measurements/{}"}
MARKS = ("!", "*", "~")  # marks of a column: required; part of the primary key; empty cells need no reason
CONSTRAINTS = tuple(name for name in standard_words.CONSTRAINTS if name != "required")
FIELD_KEYS = tuple(name for name in standard_words.FIELD if name not in ("name", "type", "constraints", "optional"))
PROPERTIES = ("type", *FIELD_KEYS, "refers", *CONSTRAINTS)
INTEGRITY_KEYS = ("bytes", "hash")
PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
NOTATION_KEYS = ("columns", "shared")  # keys of the short notation, which no Data Package has


def full_package(root: Path) -> dict[str, Any]:
    """Return the content of the descriptor, with every resource in full.

    Raises DataError, with the line, when the file is absent or not a data package.
    """
    description_files = _description_files(root)
    return _descriptor(tuple((str(folder), file, stamp_of(folder / file)) for folder, file in description_files))


def package_hash(root: Path) -> str:
    """Return a hash of all files that `full_package` reads; raise DataError if the descriptor is absent."""
    hashes = [hash_bytes((folder / file).read_bytes()) for folder, file in _description_files(root)]
    return hash_bytes(b"".join(hashes)).decode()


def _description_files(root: Path) -> list[tuple[Path, str]]:
    """Return the files of descriptions as (folder, name): the paper's, then those of installed packages."""
    if not (root / SCHEMA).is_file():
        raise DataError(f"{SCHEMA} is missing; restore it (`git checkout {SCHEMA}`)")
    return [(root, SCHEMA)] + [
        (root / folder, TABLES) for folder in package_folders(root).values() if (root / folder / TABLES).is_file()
    ]


def resource(root: Path, name: str) -> dict[str, Any] | None:
    """Return the description of the table called `name`, or None."""
    return _description_called(name, full_package(root))


def packaged_description(root: Path, name: str) -> dict[str, Any] | None:
    """Return an installed package's description of a table, for use outside a project; None if there is none."""
    for folder in package_folders(root).values():
        if (root / folder / TABLES).is_file():
            package = _read_descriptions(root / folder, TABLES, f"{Path(folder).name}/{TABLES}", {})
            if description := _description_called(name, package):
                return description
    return None


def _description_called(name: str, package: dict[str, Any]) -> dict[str, Any] | None:
    return next((description for description in package["resources"] if description["name"] == name), None)


def files(root: Path, name: str) -> list[str]:
    """Return the paths of the files of a source, a result or an experiment's measurements, relative to `root`.

    Raises DataError when a measurement exists as both CSV and Parquet.
    """
    paths = [f"artifacts/{folder}/{name}.csv" for folder in ("sources", "results")]
    if single_files := [path for path in paths if (root / path).is_file()]:
        return single_files
    folder = root / "artifacts/measurements" / name
    tables = sorted(path for suffix in SUFFIXES for path in folder.glob(f"*{suffix}"))
    for path in tables:
        if path.suffix == CSV and path.with_suffix(PARQUET) in tables:
            raise DataError(
                f"{path.relative_to(root)}: a {PARQUET} file has the same name; to keep the file that "
                f"{path.stem}.json describes, run: python -m boundpaper.store.measurement"
            )
    return [path.relative_to(root).as_posix() for path in tables]


def fields_of(description: dict[str, Any], path: str, header: list[str]) -> list[dict[str, Any]]:
    """Return the fields of a file; a measurement may omit the column `model`, since the file's name is the model."""
    fields: list[dict[str, Any]] = description["schema"]["fields"]
    if path.startswith("artifacts/measurements/") and "model" not in header:
        return [field for field in fields if field["name"] != "model"]
    return fields


def standard_package(root: Path) -> dict[str, Any]:
    """Return the package in the form of Data Package version 2, with paths relative to `artifacts/`.

    Every resource has a full schema, and every path is a CSV, since `publish` writes every table as CSV. Each file of
    an experiment's measurements is a separate resource, since readers would join the files of one resource to a table
    that does not say from which file a row is. Tables without files are omitted.
    """
    package = {"$schema": PROFILE, **full_package(root)}
    resources = [resource for full in package["resources"] for resource in _standard_resources(root, full)]
    return {**{key: value for key, value in package.items() if key not in NOTATION_KEYS}, "resources": resources}


def _standard_resources(root: Path, description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in files(root, description["name"]):
        fields = fields_of(description, path, header_of(root / path))
        schema, names = {**description["schema"], "fields": fields}, [field["name"] for field in fields]
        if key := [name for name in as_list(schema.get("primaryKey")) if name in names]:
            schema["primaryKey"] = key
        is_measurement = description["path"].startswith("measurements/")
        name = f"{description['name']}-{Path(path).stem}".lower() if is_measurement else description["name"]
        file = Path(path).with_suffix(CSV).as_posix().removeprefix("artifacts/")
        resource = {**description, "name": name, "path": file, "schema": schema}
        resource.pop("awaits", None)  # which says what a table without rows awaits
        if "range" in description:  # JSON has no infinity: an open end is null
            resource["range"] = {
                metric: [end if math.isfinite(end) else None for end in ends]
                for metric, ends in description["range"].items()
            }
        yield resource


@functools.lru_cache(maxsize=4)
def _descriptor(stamps: tuple[tuple[str, str, tuple[int, int]], ...]) -> dict[str, Any]:
    """Return the paper's descriptor, from the first file, with the tables that installed packages describe."""
    (root, file, _), *package_stamps = stamps
    packages = [
        _read_descriptions(Path(folder), name, f"{Path(folder).name}/{name}", {}) for folder, name, _ in package_stamps
    ]
    shared = {name: schema for package in packages for name, schema in package["shared"].items()}
    descriptor = _read_descriptions(Path(root), file, SCHEMA, shared)
    names = {description["name"] for description in descriptor["resources"]}
    descriptor["resources"] += [
        {"awaits": "its first row", **description}
        for package in packages
        for description in package["resources"]
        if description["name"] not in names
    ]
    return descriptor


def _read_descriptions(root: Path, file: str, source: str, shared: dict[str, Any]) -> dict[str, Any]:
    """Return a file of descriptions with every resource in full; `shared` maps names to the schemas of other files."""
    descriptor = yaml_of(root, file)
    if isinstance(descriptor, dict) and descriptor.get("resources", ()) is None:
        descriptor["resources"] = []  # an empty `resources:`
    if not isinstance(descriptor, dict) or not isinstance(descriptor.get("resources"), list):
        raise DataError(f"{source}: no list of `resources`; describe each table there")
    columns = descriptor.get("columns", {})
    if not isinstance(columns, dict) or not all(isinstance(column, dict) for column in columns.values()):
        raise DataError(f"{source}: `columns` is not a mapping of a column's name to {{type: ..., description: ...}}")
    require(descriptor, standard_words.package, source)
    shared_here = descriptor.get("shared", {}).items()
    schemas = shared | {name: _schema(schema, columns, f"{source}: {name}") for name, schema in shared_here}
    entries = enumerate(descriptor["resources"], 1)
    resources = [_full_resource(entry, number, columns, schemas, source) for number, entry in entries]
    return {**descriptor, "shared": schemas, "resources": resources}


def _full_resource(
    entry: Any, number: int, columns: dict[str, dict[str, Any]], shared: dict[str, Any], source: str
) -> dict[str, Any]:
    """Return the resource `entry` in full; raise DataError if a required property is missing or wrong."""
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise DataError(f"{source}: resource {number} has no `name`")
    place = f"{source}: {name}"
    require(entry, standard_words.resource, place)
    kind = entry.get("kind", "source" if "origin" in entry else "result")
    if "path" not in entry and kind not in PATHS:
        raise DataError(f"{place}: `kind` is {str(kind)[:80]!r}; a table is a {', a '.join(PATHS)}")
    description = {"path": entry["path"] if "path" in entry else PATHS[kind].format(name), **entry}
    if "path" not in entry:
        description["kind"] = kind
    kind_by_path = {path.format(name): kind for kind, path in PATHS.items()}
    path = description["path"]
    if not isinstance(path, str) or path not in kind_by_path:
        problem = "is a list of files; put their rows into one" if isinstance(path, list) else f"is {str(path)[:80]!r}"
        raise DataError(f"{place}: `path` {problem}; write sources/{name}.csv or similar")
    if path.startswith("measurements/") and (excess := [key for key in INTEGRITY_KEYS if key in description]):
        raise DataError(f"{place}: leave out `{excess[0]}`; the manifests beside measurements have it for each file")
    description.setdefault("kind", kind_by_path[path])
    short_schema = {key: description.pop(key) for key in ("fields", "key", "refers") if key in description}
    schema = description.get("schema", short_schema)
    is_name = isinstance(schema, str)
    description["schema"] = _shared_schema(schema, shared, place) if is_name else _schema(schema, columns, place)
    if not isinstance(description.get("range", {}), dict):
        raise DataError(f"{place}: `range` must map metrics to [low, high]")
    require(description.get("range", {}), standard_words.RANGE, f"{place}.range")
    covers = description.get("covers", dict.fromkeys(COVERS))
    if not isinstance(covers, dict) or set(covers) != set(COVERS):
        raise DataError(f"{place}: `covers` needs exactly the keys {', '.join(COVERS)}")
    return description


def _shared_schema(name: str, shared: dict[str, Any], place: str) -> dict[str, Any]:
    if name not in shared:
        raise DataError(
            f"{place}: `schema` is {name!r}, which is not in `shared`; {suggest(name, shared)}"
            "write the schema here, or the name of a shared schema (files are not supported)"
        )
    return dict(shared[name])


def _schema(raw: Any, columns: dict[str, dict[str, Any]], place: str) -> dict[str, Any]:
    if not isinstance(raw, dict) or not isinstance(raw.get("fields"), list) or not raw["fields"]:
        raise DataError(f"{place}: `schema` has no list of `fields`")
    require(raw, standard_words.schema, f"{place}.schema")
    schema = {key: value for key, value in raw.items() if key not in ("key", "refers")}
    entries = [entry for member in raw["fields"] for entry in (member if isinstance(member, list) else [member])]
    described_fields = [_full_field(entry, number, columns, place) for number, entry in enumerate(entries, 1)]
    schema["fields"] = [column.field for column in described_fields]
    key = raw.get("key", [column.field["name"] for column in described_fields if column.mark == "*"])
    if key:
        schema["primaryKey"] = key
    refers = raw.get("refers", {})
    if not isinstance(refers, dict):
        raise DataError(f"{place}: `refers` must map a column to the table, or table.column, that its cells refer to")
    refers = {**refers, **{column.field["name"]: column.refers for column in described_fields if column.refers}}
    if refers:
        schema["foreignKeys"] = [_foreign_key(column, str(target)) for column, target in refers.items()]
    names = [field["name"] for field in schema["fields"]]
    keys = schema.get("foreignKeys", [])
    for key in keys:
        key_fields, target_fields = as_list(key["fields"]), as_list(key["reference"]["fields"])
        if len(key_fields) != len(target_fields) or not key_fields:
            raise DataError(f"{place}: a foreign key and its `reference` need the same number of `fields`")
    key_columns = [
        as_list(schema.get("primaryKey")),
        *schema.get("uniqueKeys", []),
        *(as_list(key["fields"]) for key in keys),
    ]
    for column in chain.from_iterable(key_columns):
        if column not in names:
            raise DataError(
                f"{place}: a key names the column {column!r}, which is not a field; "
                f"{suggest(str(column), names)}name a field"
            )
    return schema


def as_list(value: Any) -> list[Any]:
    """Return the list of names in a property of Table Schema, which may be a name, a list or absent (None)."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _foreign_key(column: str, target: str) -> dict[str, Any]:
    resource, _, field = target.partition(".")
    return {"fields": [column], "reference": {"resource": resource, "fields": [field or column]}}


class DescribedField(NamedTuple):
    """A field with all its properties, its mark (such as `*` in `key*`), and the table that its cells refer to."""

    field: dict[str, Any]
    mark: str = ""
    refers: str = ""


def _full_field(entry: Any, number: int, columns: dict[str, dict[str, Any]], place: str) -> DescribedField:
    """Return a field in full; `entry` is a column's name, a column with changes (`{height: text}`), or a field."""
    if isinstance(entry, str):
        name, mark = _split_mark(entry)
        if name not in columns:
            suggestion = suggest(name, list(columns))
            raise DataError(
                f"{place}: no {name!r} among `columns`; {suggestion}or describe it: {{{entry}: words, type: ...}}"
            )
        return _build_column(name, columns[name], mark, place)
    if isinstance(entry, dict) and entry and "name" not in entry and "constraints" not in entry:
        (marked_name, text), *changes = entry.items()
        name, mark = _split_mark(str(marked_name))
        unknown_key = next((str(key) for key, _ in changes if key not in PROPERTIES), None)
        if unknown_key is not None:
            raise DataError(f"{place}, {name}: unknown key {unknown_key!r}{or_known(unknown_key, PROPERTIES)}")
        if not isinstance(text, str | None):
            raise DataError(f"{place}, {name}: {str(text)!r} is not a text; describe the column")
        description = columns.get(name, {}) | dict(changes) | ({"description": text} if text else {})
        return _build_column(name, description, mark, place)
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise DataError(f"{place}: field {number} has no `name`")
    if not isinstance(entry.get("type"), str) or not isinstance(entry.get("constraints", {}), dict):
        raise DataError(f"{place}, {entry['name']}: the field has no `type`, or its `constraints` are not a mapping")
    require(entry, standard_words.field, f"{place}, {entry['name']}")
    if entry["type"] in ("integer", "number"):
        require(entry.get("constraints", {}), standard_words.LIMITS, f"{place}, {entry['name']}")
    return DescribedField(entry)


def _split_mark(marked_name: str) -> tuple[str, str]:
    return (marked_name[:-1], marked_name[-1]) if marked_name.endswith(MARKS) else (marked_name, "")


def _build_column(name: str, description: dict[str, Any], mark: str, place: str) -> DescribedField:
    """Return a field built from the description of its column, without properties that are null."""
    constraints = {"required": True} if mark in ("!", "*") else {}
    constraints |= {key: description[key] for key in CONSTRAINTS if description.get(key) is not None}
    properties = {key: description[key] for key in FIELD_KEYS if description.get(key) is not None}
    field = {"name": name, "type": description.get("type") or "string", **properties}
    field |= {"constraints": constraints} if constraints else {}
    field |= {"optional": True} if mark == "~" else {}
    require(field, standard_words.field, f"{place}, {name}")
    if field["type"] in ("integer", "number"):
        require(constraints, standard_words.LIMITS, f"{place}, {name}")
    return DescribedField(field, mark, str(description.get("refers") or ""))
