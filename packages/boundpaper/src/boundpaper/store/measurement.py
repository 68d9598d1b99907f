"""Store a measurement as CSV if it is small enough to be read by people, else as Parquet.

`python -m boundpaper.store.measurement` converts tables below `artifacts/measurements` that have the wrong format for
their size, such as a large CSV that was written by hand or by another version.
"""

import csv
import io
import sys
from pathlib import Path

from boundpaper.errors import DataError
from boundpaper.store.descriptor import packaged_description, resource
from boundpaper.store.files import write
from boundpaper.store.manifest import SEAL, manifest, manifest_text
from boundpaper.store.paths import CSV, PARQUET, SCHEMA, SUFFIXES
from boundpaper.store.table_file import table_hash, table_text

MOST_ROWS = 150  # most rows of a CSV
FOLDER = "artifacts/measurements"


def path_of(root: Path, name: str, model: str) -> Path:
    """Return the path of a model's measurement, or the path for a new CSV if there is no file yet."""
    paths = [root / FOLDER / name / f"{model}{suffix}" for suffix in SUFFIXES]
    return next((path for path in paths if path.is_file()), paths[0])


def put(root: Path, name: str, model: str, text: str) -> Path:
    """Write a measurement atomically, as CSV or Parquet by its size; return the path of the file.

    `text` is the table as CSV: a header and at least one row, lines ended by line feeds. Raises DataError when the rows
    have more or fewer cells than the header; ThesisError when the file cannot be written.
    """
    from boundpaper.store.parquet_file import pack_table

    is_large = sum(1 for _ in csv.reader(io.StringIO(text, newline=""))) > MOST_ROWS + 1
    path = root / FOLDER / name / f"{model}{PARQUET if is_large else CSV}"
    types = _column_types(root, name) if is_large else {}
    try:
        content = pack_table(text, types) if is_large else text.encode()
    except DataError as error:
        raise DataError(f"{path.relative_to(root)}: {error}") from None
    write(path, content, lasting=True)
    path.with_suffix(CSV if is_large else PARQUET).unlink(missing_ok=True)
    return path


def _column_types(root: Path, name: str) -> dict[str, str]:
    table = resource(root, name) if (root / SCHEMA).is_file() else packaged_description(root, name)
    return {field["name"]: field["type"] for field in table["schema"]["fields"]} if table else {}


def convert_all(root: Path) -> list[Path]:
    """Convert every measurement to the format for its size, and lay out every manifest anew; return the changed files.

    If a CSV and a Parquet have the same name, the file that the manifest seals is kept. Raises DataError when the
    manifest seals neither.
    """
    changed_files = []
    for stem in sorted({path.with_suffix("") for suffix in SUFFIXES for path in root.glob(f"{FOLDER}/*/*{suffix}")}):
        tables = [path for suffix in SUFFIXES if (path := stem.with_name(stem.name + suffix)).is_file()]
        if len(tables) > 1:
            sealed_hash = manifest(root, tables[0].relative_to(root).as_posix()).get(SEAL, {}).get("blake2")
            tables = [path for path in tables if table_hash(path) == sealed_hash][:1]
            if not tables:
                name = stem.relative_to(root).as_posix()
                raise DataError(f"{name}: {name}.json has the hash of neither the CSV nor the Parquet file; remove one")
        (old_file,) = tables
        old_content = old_file.read_bytes()
        file = put(root, stem.parent.name, stem.name, table_text(old_file))
        if file != old_file or file.read_bytes() != old_content:
            changed_files.append(old_file)
        manifest_file = file.with_suffix(".json")
        content = manifest(root, file.relative_to(root).as_posix())
        if content and (text := manifest_text(content)) != manifest_file.read_bytes():
            write(manifest_file, text, lasting=True)
            changed_files.append(manifest_file)
    return changed_files


if __name__ == "__main__":
    try:
        for file in convert_all(Path.cwd()):
            print(file.relative_to(Path.cwd()))
    except DataError as error:
        sys.exit(f"error: {error}")
