"""Read texts from a file: plain text, JSON, JSON lines or a table, possibly gzipped, recognised by suffix or content.

Data that were read as plain text would give braces, quotes and field names as words, without an error. So a file that
looks like data is read as data, with errors that name the row; binary files are rejected.
"""

import codecs
import csv
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from boundpaper.errors import DataError
from boundpaper.store.json_lines import line_values, open_unpacked, value_of_line
from boundpaper.store.validation import cut_to_line, short

JSON_LINES, JSON, TABLES = (".jsonl", ".ndjson"), (".json",), {".csv": ",", ".tsv": "\t"}  # suffixes; delimiters
HEAD_BYTES = 1 << 16  # bytes that are read to recognise a file's kind
BINARY_KINDS = {  # first bytes of rejected files, and what the files are
    b"PK\x03\x04": "an archive or a document of an office program",
    b"%PDF": "a PDF",
    b"PAR1": "a Parquet file",
    b"\x28\xb5\x2f\xfd": "packed by zstd",
    b"BZh": "packed by bzip2",
    b"\xfd7zXZ": "packed by xz",
    b"GGUF": "a model",
    b"ARROW1": "an Arrow file",
    b"SQLite": "a database",
}
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MARKUP = {
    re.compile(r"\A\s*+(<!doctype\s+html|<html)\b", re.I): "an HTML page",
    re.compile(r"\A\s*+<\?xml\b", re.I): "XML",
    re.compile(r"^[^\S\n]*+\\document(class|style)\b", re.M): "LaTeX",
}
ADVICE = 'give its text as .txt, or as JSON lines of {"text": ...}'


def texts_of_file(path: Path, field: str) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each text in a file, in order.

    Raises DataError if the file is not a text file, or if a value in it is not a text; the error names the file's kind,
    or the line, item or row of the value.

    Parameters
    ----------
    path : Path
        Plain text (one text, named after the file); JSON lines or a JSON list, of strings or of objects with `field`;
        or a table with a header and cells separated by commas or tabs. Any of these may be gzipped.
    field : str
        The field or column with the text. A text's name is in the field `id` or `_id`, or else is its index, from 0.
    """
    kind = kind_of_file(path, field)
    if kind == "lines":
        for place, row in line_values(path):
            yield text_of_row(row, field, place, int(place.rpartition(":")[2]) - 1)
    elif kind == "list":
        for number, row in enumerate(_json_list(path)):
            yield text_of_row(row, field, f"{path}: item {number + 1}", number)
    elif kind == "table":
        yield from _table(path, field)
    else:
        yield _unpacked(path).stem, _whole_text(path)


def kind_of_file(path: Path, field: str) -> str:
    """Return the kind of a file: "text", "lines" (of JSON), "list" (in JSON) or "table".

    The suffix decides for JSON lines and tables, the content for other files. Raises DataError for a file of another
    kind.
    """
    suffix = _unpacked(path).suffix.lower()
    head = _content(path, HEAD_BYTES)
    for beginning, kind in BINARY_KINDS.items():
        if head.startswith(beginning):
            raise DataError(f"{path}: this is {kind}, but a text file is needed; {ADVICE}")
    if head.startswith(UTF16):
        raise DataError(f"{path}: this file is in UTF-16; save it as UTF-8")
    if b"\0" in head:
        raise DataError(f"{path}: this is not a text file (it contains NUL bytes); {ADVICE}")
    start = head.removeprefix(codecs.BOM_UTF8).decode("utf-8", errors="replace")
    if suffix in JSON_LINES:
        return "lines"
    first_line, first_character = start.strip().partition("\n")[0], start.lstrip()[:1]
    if suffix not in TABLES:
        if first_character in ("{", '"') and _is_json(first_line):
            return "lines"
        if first_character in ("[", "{") and (suffix in JSON or _is_json(_whole_text(path))):
            return "list"
    if suffix in JSON:
        return "lines"  # reading the lines raises an error that names the first that is not JSON
    if suffix in TABLES or _is_table(start, field):
        return "table"
    for pattern, kind in MARKUP.items():
        if pattern.search(start):
            raise DataError(f"{path}: this is {kind}, and its markup would be read as text; {ADVICE}")
    return "text"


def text_of_row(row: Any, field: str, place: str, number: int) -> tuple[str, str]:
    """Return the name and text of a row, which is a string or an object with the text in `field`.

    The name is the object's `id` or `_id`, or else `number`. Raises DataError if the row is neither, or if the field's
    value is not a string; the error begins with `place`.
    """
    if isinstance(row, str):
        return str(number), row
    if not isinstance(row, dict) or field not in row:
        fields = ", ".join(map(str, row)) if isinstance(row, dict) else type(row).__name__
        raise DataError(f"{place}: no text field {field!r} (it has: {cut_to_line(fields)}); give `capture --field`")
    if not isinstance(row[field], str):
        value = "null" if row[field] is None else short(row[field])
        raise DataError(f"{place}: {field!r} is {value}, not a text; mend or remove the line")
    return str(row.get("id", row.get("_id", number))), row[field]


def _unpacked(path: Path) -> Path:
    """Return the path without its last suffix, if that is `.gz`."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def _content(path: Path, size: int = -1) -> bytes:
    """Return the first `size` bytes of a file after unpacking; with -1, all bytes."""
    try:
        with open_unpacked(path) as stream:
            return stream.read(size)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _whole_text(path: Path) -> str:
    try:
        return _content(path).removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start}; convert it") from None


def _is_json(text: str) -> bool:
    try:
        value_of_line(text.encode(errors="replace"), "")
    except DataError:
        return False
    return True


def _json_list(path: Path) -> list[Any]:
    value = value_of_line(_whole_text(path).encode(), str(path))
    if not isinstance(value, list):
        keys = cut_to_line(", ".join(map(str, value))) if isinstance(value, dict) else short(value)
        raise DataError(f"{path}: one JSON object ({keys}) in place of a list of texts or objects; {ADVICE}")
    return value


def _is_table(start: str, field: str) -> bool:
    """Return whether a text begins like a table: with a header that has the field, and a row with as many cells."""
    for delimiter in TABLES.values():
        try:
            rows = list(csv.reader(io.StringIO(start), delimiter=delimiter, strict=False))[:2]
        except csv.Error:
            continue
        if len(rows) == 2 and len(rows[0]) > 1 and field in rows[0] and len(rows[0]) == len(rows[1]):
            return all(re.fullmatch(r"\w[\w .-]{0,40}", name) for name in rows[0])
    return False


def _table(path: Path, field: str) -> Iterator[tuple[str, str]]:
    text = _whole_text(path)
    delimiter = TABLES.get(_unpacked(path).suffix.lower()) or ("\t" if "\t" in text.partition("\n")[0] else ",")
    csv.field_size_limit(1 << 30)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = filter(None, reader)
    try:
        names = next(rows, [])
        if names and names.count(field) != 1:
            fault = "no column" if field not in names else "more than one column"
            raise DataError(
                f"{path}: {fault} {field!r} (it has: {cut_to_line(', '.join(names))}); give `capture` the name "
                f"by --field, and separate the cells by {'tabs' if delimiter == chr(9) else 'commas'}"
            )
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise DataError(f"{path}: more than one column {repeated[0]!r}; rename one")
        for number, cells in enumerate(rows):
            place = f"{path}: row {number + 1} (line {reader.line_num})"
            if len(cells) != len(names):
                raise DataError(f"{place}: {len(cells)} cells, but the header has {len(names)}; mend the row")
            yield text_of_row(dict(zip(names, cells, strict=True)), field, place, number)
    except csv.Error as error:
        raise DataError(f"{path}: line {reader.line_num}: not a table ({error}); correct it") from None
