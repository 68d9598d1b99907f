"""Records of a run: a line of JSON each, on disk before the next is made; what a kill cut short is taken off."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from artifacts.errors import DataError
from artifacts.store.files import write


def kept(path: Path) -> list[dict[str, Any]]:
    """The records of a file; none when there is no file.

    Raises
    ------
    DataError
        When a line other than the last is damaged.
    """
    if not path.is_file():
        return []
    content = path.read_bytes()
    whole, _, torn = content.rpartition(b"\n")
    if torn:
        write(path, whole + b"\n" if whole else b"")
    found = []
    for number, line in enumerate(whole.decode("utf-8", errors="replace").split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise DataError(f"{path}:{number}: no JSON ({error}); mend or remove the line") from error
        if not isinstance(record, dict) or not isinstance(record.get("id"), str):
            raise DataError(f"{path}:{number}: no record with an id; mend or remove the line")
        found.append(record)
    return found


def append(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Put whole lines at the end of a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as stream:
            stream.write("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
            stream.flush()
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror}); free space and run the command again"
        ) from error


def agree(path: Path, plan: Mapping[str, Any]) -> None:
    """Put down how records are made, beside them; refuse to add to records that were made in another way.

    Raises
    ------
    DataError
        When the settings beside the file are others, or absent.
    """
    note = path.with_suffix(".settings.json")
    if path.is_file() and not note.is_file():
        raise DataError(f"{path}: {note.name} is missing beside it, so nobody knows how it was made; remove the file")
    if path.is_file():
        before = json.loads(note.read_text(encoding="utf-8"))
        changed = [name for name in plan if before.get(name) != plan[name]]
        if changed:
            was = ", ".join(f"{name} {before.get(name)} (now {plan[name]})" for name in changed)
            raise DataError(
                f"{path}: holds answers made with other settings: {was}; give another --name, the settings of then, or "
                "remove the file"
            )
    write(note, (json.dumps(plan, indent=1, sort_keys=True) + "\n").encode())
