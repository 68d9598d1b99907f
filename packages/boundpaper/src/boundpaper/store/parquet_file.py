"""A table as Parquet: the same cells as its CSV, typed, sealed page by page, and much smaller.

What a table says is its CSV text, whatever file holds it: checks, seals and hashes go by that text, so that they depend
neither on the library that wrote the file nor on its version. The library is loaded when a file is read or written.
"""

from __future__ import annotations

import csv
import functools
import io
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.errors import DataError
from boundpaper.store.canonical import DIGITS
from boundpaper.store.file_kind import foreign
from boundpaper.typeset.plural import counted

if TYPE_CHECKING:
    import pyarrow as pa

BEGINNING = b"PAR1"  # of every Parquet file
LEVEL = 19  # of zstd: a table is written once
_BOOLEANS = {"True": True, "False": False}


def packed(text: str, types: Mapping[str, str]) -> bytes:
    """A CSV text as Parquet, from which `unpacked` gives back every cell as it stands.

    Parameters
    ----------
    text : str
        A header and rows of as many cells.
    types : mapping of str to str
        Table Schema's type by column. A column whose cells its type would not give back letter by letter is kept as
        text, and so is one without a type.

    Raises
    ------
    DataError
        When a column appears twice, or a row has more or fewer cells than the header.
    """
    import pyarrow as pa
    from pyarrow import parquet

    header, *rows = csv.reader(io.StringIO(text, newline=""))
    if len(set(header)) != len(header):
        raise DataError(f"a column appears twice in {', '.join(header)}; a table has each once")
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise DataError(f"row {number}: {counted(len(row), 'cell')} for {counted(len(header), 'column')}")
    cells = zip(*rows, strict=True) if rows else ([] for _ in header)
    columns = [_column(list(each), types.get(name, "string")) for name, each in zip(header, cells, strict=True)]
    split = [name for name, column in zip(header, columns, strict=True) if pa.types.is_floating(column.type)]
    stream = pa.BufferOutputStream()
    parquet.write_table(
        pa.Table.from_arrays(columns, names=header),
        stream,
        compression="zstd",
        compression_level=LEVEL,
        use_byte_stream_split=split,  # a sixth smaller: the first bytes of floats are alike, the last are noise
        use_dictionary=[name for name in header if name not in split],
        write_statistics=False,
        write_page_checksum=True,
        store_schema=False,
    )
    return bytes(stream.getvalue().to_pybytes())


def unpacked(path: Path) -> str:
    """The CSV text of a Parquet file.

    Raises
    ------
    DataError
        The file is no Parquet, was cut or damaged, or holds what no cell of a table is.
    FileNotFoundError
        There is no such file.
    """
    status = path.stat()
    return _unpacked(path, (status.st_mtime_ns, status.st_size))


@functools.lru_cache(maxsize=8)
def _unpacked(path: Path, stamp: tuple[int, int]) -> str:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        content = path.read_bytes()
        if not content.startswith(BEGINNING):
            if fault := foreign(content):
                raise DataError(f"{path.name}: {fault}")
            if content.strip() and content[:400].isascii() and b"\0" not in content[:400]:
                raise DataError(f"{path.name}: holds text and no Parquet; give it the ending .csv, or restore it")
        # threads of Arrow may outlive the process that ends and abort it
        table = parquet.ParquetFile(pa.BufferReader(content), page_checksum_verification=True).read(use_threads=False)
        table.validate(full=True)
        columns = [_words(path, name, table.column(place)) for place, name in enumerate(table.column_names)]
    except OSError as error:
        if error.errno:
            raise DataError(f"{path.name}: cannot be read ({error.strerror})") from None
        raise _damaged(path, error) from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise _damaged(path, error) from None
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def _damaged(path: Path, error: Exception) -> DataError:
    said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:120]
    return DataError(f"{path.name}: not valid Parquet ({said}); restore it from version control")


def _column(cells: list[str], kind: str) -> pa.Array:
    """Cells as a column of their type, an empty one as null; as text where the type would write them otherwise."""
    import pyarrow as pa

    try:
        values: Sequence[Any] = [_value(cell, kind) if cell else None for cell in cells]
        if kind != "string" and [_word(value) for value in values] == cells:
            typed = {"number": pa.float64(), "integer": pa.int64(), "boolean": pa.bool_()}[kind]
            return pa.array(values, typed)
    except (ValueError, KeyError, OverflowError, pa.ArrowException):
        pass
    return pa.array([cell or None for cell in cells], pa.string())


def _value(cell: str, kind: str) -> object:
    reading: dict[str, Callable[[str], object]] = {"number": float, "integer": int, "boolean": _BOOLEANS.__getitem__}
    return reading[kind](cell) if kind in reading else cell


def _words(path: Path, name: str, column: pa.ChunkedArray) -> list[str]:
    """A column's cells as text."""
    import pyarrow as pa

    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    plain = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    if not any(each(kind) for each in plain):
        raise DataError(f"{path.name}: column {name} is of type {kind}; a table has text, numbers and booleans")
    return [_word(value) for value in itertools.chain.from_iterable(part.to_pylist() for part in column.chunks)]


def _word(value: object) -> str:
    """A cell as a CSV has it: numbers in the digits that the store writes, in all where those would lose some."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    short = f"{value:.{DIGITS}g}"
    return short if float(short) == value or value != value else repr(value)
