"""Read files of JSON lines, which have one value per line; every error names the file and the line."""

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from boundpaper.errors import DataError
from boundpaper.store.file_kind import START, foreign_kind
from boundpaper.store.json_text import parsed

GZIP = b"\x1f\x8b"


def open_unpacked(path: Path) -> IO[bytes]:
    """Open a file for reading bytes, decompressed if its content is gzip, whatever its name."""
    stream = path.open("rb")
    is_gzip = stream.read(len(GZIP)) == GZIP
    stream.seek(0)
    return cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if is_gzip else stream


def line_values(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the place `FILE:LINE` and the value of each line; skip blank lines, and decompress gzip.

    Raises DataError when the file cannot be read or has another format, or a line is not JSON in UTF-8.
    """
    try:
        with open_unpacked(path) as stream:
            if fault := foreign_kind(stream.read(START)):
                raise DataError(f"{path}: {fault}")
            stream.seek(0)
            for number, line in enumerate(stream, 1):
                content = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if content.strip():
                    place = f"{path}:{number}"
                    yield place, value_of_line(content, place)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def value_of_line(line: bytes, place: str) -> Any:
    """Return the value of one line; `place` names the line in messages.

    Raises DataError when the line is not UTF-8 or not JSON, is nested too deeply, or has a lone surrogate, which is
    half of a character.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: not UTF-8 (byte {error.start} of the line); save the file in UTF-8") from None
    try:
        value = parsed(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        surrogate = str(error.object)[error.start]
        raise DataError(
            f"{place}: contains half of a character ({surrogate!a}); write the file again, without cutting texts"
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: not JSON ({getattr(error, 'msg', error)})") from None
    return value
