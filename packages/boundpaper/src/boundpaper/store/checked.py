"""Record the digest, the number of rows and the content hash of each table that was checked or made.

Each step writes a separate record, so that the inventory of all tables does not have to read the tables again.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from boundpaper.store.cached_files import hash_bytes
from boundpaper.store.canonical import content_hash, records_hash
from boundpaper.store.files import digest
from boundpaper.store.table_file import records

RECORD = "out/checked/{name}.json"


def checked_record(root: Path, name: str, paths: Sequence[str]) -> dict[str, str]:
    """Return the record of the tables that a step checked, as {path of the record: its text}."""
    record_by_path = {path: [digest(root / path), *records_hash(records(root / path))] for path in paths}
    return _record_file(name, record_by_path)


def result_record(name: str, path: str, content: bytes) -> dict[str, str]:
    """Return the record of a result that is not yet written, as {path of the record: its text}."""
    return _record_file(name, {path: [hash_bytes(content).decode(), *content_hash(content.decode())]})


def recorded_content(root: Path, name: str, path: str) -> tuple[int, str]:
    """Return the row count and the content hash of a table; an up-to-date record saves reading the table."""
    file = root / RECORD.format(name=name)
    record_by_path = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    recorded_digest, *rows_and_hash = record_by_path.get(path, ("",))
    if recorded_digest != digest(root / path):
        return records_hash(records(root / path))
    rows, table_hash = rows_and_hash
    return int(rows), str(table_hash)


def _record_file(name: str, record_by_path: dict[str, list[object]]) -> dict[str, str]:
    return {RECORD.format(name=name): json.dumps(record_by_path, indent=0, sort_keys=True) + "\n"}
