"""The manifest beside a measurement: what made it, and the seal that tells a whole table from a cut one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from artifacts.errors import DataError
from artifacts.store.files import digest, write
from artifacts.store.table_file import rows
from artifacts.store.text_file import json_of

SEAL = "table"


def manifest(root: Path, table: str) -> dict[str, Any]:
    """The manifest of a table file, which is relative to `root`; empty where there is none.

    Raises
    ------
    DataError
        It holds no JSON object, or its versions are none.
    """
    file = Path(table).with_suffix(".json").as_posix()
    try:
        content = json_of(root, file)
    except FileNotFoundError:
        return {}
    if not isinstance(content.get("versions", {}), dict) or not isinstance(content.get("command", ""), str):
        raise DataError(f"{file}: `versions` is no object, or `command` no text; restore the file")
    return content


def sealed(content: dict[str, Any], path: Path) -> bytes:
    """A manifest's text, with the number of rows and the content hash of its table at `path`."""
    seal = {"blake2": digest(path), "rows": sum(1 for _ in rows(path))}
    return (json.dumps({**content, SEAL: seal}, indent=1, sort_keys=True) + "\n").encode()


def broken(root: Path, table: str) -> str:
    """What the manifest says against its table; empty when they agree, or there is no manifest."""
    file = Path(table).with_suffix(".json").as_posix()
    content = manifest(root, table)
    if not content and not (root / file).is_file():
        return ""
    seal = content.get(SEAL)
    if not isinstance(seal, dict):
        return f"{file} has no seal; when the table is whole, run: python -m artifacts.store.manifest {table}"
    if seal.get("blake2") != digest(root / table):
        count, sealed_count = sum(1 for _ in rows(root / table)), seal.get("rows")
        said = f"{count} rows of {sealed_count}" if count != sealed_count else f"cells of its {count} rows were changed"
        return (
            f"not the table that was measured ({said}, by the seal in {file}); restore it from version control, or "
            "measure again"
        )
    return ""


def main(tables: list[str]) -> None:
    """Seal the tables given, or all that have a manifest without a seal."""
    root = Path.cwd()
    chosen = tables or sorted(path.relative_to(root).as_posix() for path in root.glob("artifacts/measurements/*/*.csv"))
    for table in chosen:
        content = manifest(root, table)
        if content and (tables or SEAL not in content):
            write((root / table).with_suffix(".json"), sealed(content, root / table))
            print(table)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
