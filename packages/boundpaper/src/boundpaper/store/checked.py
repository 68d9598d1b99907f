"""What is kept of each table that was checked or made: its digest, its rows, and the hash of its content.

Each step writes down its own, beside others, so that the inventory of all of them reads no table again.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from boundpaper.store.cached_files import hashed
from boundpaper.store.canonical import content_hash
from boundpaper.store.files import digest
from boundpaper.store.table_file import words

PLACE = "out/checked/{name}.json"


def note(root: Path, name: str, paths: Sequence[str]) -> dict[str, str]:
    """The note that a step writes on the tables that it checked: the note's text by its path."""
    kept = {path: [digest(root / path), *content_hash(words(root / path))] for path in paths}
    return _note(name, kept)


def note_of_result(name: str, path: str, made: bytes) -> dict[str, str]:
    """The note on a result that is not yet written: the note's text by its path."""
    return _note(name, {path: [hashed(made).decode(), *content_hash(made.decode())]})


def content(root: Path, name: str, path: str) -> tuple[int, str]:
    """Rows and content hash of a table, as its step noted them; computed anew if the table has changed since."""
    place = root / PLACE.format(name=name)
    kept = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
    known, *found = kept.get(path, ("",))
    if known != digest(root / path):
        return content_hash(words(root / path))
    rows, of_content = found
    return int(rows), str(of_content)


def _note(name: str, kept: dict[str, list[object]]) -> dict[str, str]:
    return {PLACE.format(name=name): json.dumps(kept, indent=0, sort_keys=True) + "\n"}
