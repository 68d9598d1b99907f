"""Write records of a run as JSON lines, each saved at once, and read them; a truncated last line is removed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.store.cached_files import SEAL, hash_fault, with_hash
from boundpaper.store.files import unwritable_message, write
from boundpaper.store.json_lines import line_values
from boundpaper.store.text_file import json_of


def saved_records(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the records of a file, each with its file and line; empty if there is no file.

    Raises DataError if a line other than the last is damaged, or a record does not match its hash.
    """
    if not path.is_file():
        return []
    complete_lines, _, fragment = path.read_bytes().rpartition(b"\n")
    if fragment:
        write(path, complete_lines + b"\n" if complete_lines else b"")
    records = list(line_values(path))
    for where, record in records:
        if not isinstance(record, dict) or not isinstance(record.get("id"), str):
            raise DataError(f"{where}: no record with an id; mend or remove the line")
        if fault := hash_fault(record):
            raise DataError(f"{where}: the record {fault}; remove the line, and run again for a new answer")
    return records


def append(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Append whole lines to a file, each record with a hash of its content."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as stream:
            stream.write("".join(json.dumps(with_hash(record), ensure_ascii=False) + "\n" for record in records))
            stream.flush()
    except OSError as error:
        raise DataError(unwritable_message(path, error, "rerun the command to resume")) from error


def model_settings(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a loaded model that determine its answers; a model in a folder has the folder's name."""
    settings = {name: facts.get(name) for name in ("revision", "fingerprint", "dtype", "quantization")}
    return {**settings, "model": Path(facts["model"]).name if facts.get("fingerprint") else facts["model"]}


def write_or_match_settings(path: Path, settings: Mapping[str, Any], *, may_differ: Sequence[str] = ()) -> None:
    """Write settings beside the file of records `path`, or check that existing records have the same settings.

    `settings` has everything that determines the records, as JSON values; settings named in `may_differ` need not be
    the same. Raises DataError if settings of existing records differ, are missing or are damaged.
    """
    settings_path = path.with_suffix(".settings.json")
    if path.is_file() and not settings_path.is_file():
        raise DataError(f"{path}: its settings are unknown, since {settings_path.name} is missing; remove {path.name}")
    if path.is_file():
        old = settings_beside(path)
        names = [name for name in settings if name not in may_differ and old.get(name) != settings[name]]
        if names:
            changes = ", ".join(f"{name} {old.get(name)} (now {settings[name]})" for name in names)
            raise DataError(
                f"{path}: has answers made with other settings: {changes}; give another --name, the old settings, or "
                "remove the file"
            )
    write(settings_path, (json.dumps(with_hash(settings), indent=1, sort_keys=True) + "\n").encode())


def settings_beside(path: Path) -> dict[str, Any]:
    """Return the settings of records, as `write_or_match_settings` wrote them.

    Raises DataError if the settings are damaged or were changed, and FileNotFoundError if there are none.
    """
    settings_path = path.with_suffix(".settings.json")
    settings = json_of(path.parent, settings_path.name)
    if fault := hash_fault(settings):
        raise DataError(f"{settings_path}: {fault}; restore it, or remove both it and {path.name}")
    return {name: value for name, value in settings.items() if name != SEAL}
