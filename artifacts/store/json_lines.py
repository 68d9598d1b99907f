"""JSON lines: one value a line, whoever wrote them; every fault names the file and the line."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from artifacts.errors import DataError


def values(path: Path) -> Iterator[tuple[str, Any]]:
    """Each value of a file with its place, `FILE:LINE`; blank lines are passed over.

    Raises
    ------
    DataError
        The file cannot be read, or a line is no JSON in UTF-8.
    """
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                content = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if content.strip():
                    where = f"{path}:{number}"
                    yield where, value(content, where)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def value(line: bytes, where: str) -> Any:
    """What one line holds; `where` is its place in messages.

    Raises
    ------
    DataError
        No UTF-8, no JSON, JSON nested too deeply to be read, or half of a character, which no file can keep.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 (byte {error.start} of it); save the file in that encoding") from None
    try:
        parsed = json.loads(text)
        if "\\u" in text:
            json.dumps(parsed, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = str(error.object)[error.start]
        raise DataError(
            f"{where}: holds half of a character ({half!a}); the program that wrote it cut a text in two"
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON ({getattr(error, 'msg', error)})") from None
    return parsed
