"""Store a table as Parquet, with the same cells as in CSV, but with types and checksums, and in a much smaller file.

Checks, seals and hashes use the CSV text of a table, whatever the file format, so that they do not depend on the
library that wrote the file or its version. The library is loaded when a file is read or written.
"""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.errors import DataError
from boundpaper.store.canonical import DIGITS
from boundpaper.store.file_kind import foreign_kind
from boundpaper.store.files import stamp_of
from boundpaper.typeset.plural import counted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

BEGINNING = b"PAR1"  # the first bytes of every Parquet file
LEVEL = 19  # zstd level: high, since a table is written once
_BOOLEANS = {"True": True, "False": False}
_PARSERS: dict[str, Callable[[str], object]] = {"number": float, "integer": int, "boolean": _BOOLEANS.__getitem__}


def pack_table(text: str, types: Mapping[str, str]) -> bytes:
    """Return a CSV text as Parquet, from which `unpack_table` restores every cell exactly.

    `types` maps columns to types of Table Schema. A column is stored as text if it has no type, or if its cells would
    be written differently after conversion. Raises DataError when a column appears twice, or a row has more or fewer
    cells than the header.
    """
    import pyarrow as pa
    from pyarrow import parquet

    header, *rows = csv.reader(io.StringIO(text, newline=""))
    if len(set(header)) != len(header):
        raise DataError(f"a column appears twice in {', '.join(header)}; keep one")
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise DataError(f"row {number}: {counted(len(row), 'cell')} for {counted(len(header), 'column')}")
    cells = zip(*rows, strict=True) if rows else ([] for _ in header)
    columns = [_typed_column(list(texts), types.get(name, "string")) for name, texts in zip(header, cells, strict=True)]
    floats = [name for name, column in zip(header, columns, strict=True) if pa.types.is_floating(column.type)]
    stream = pa.BufferOutputStream()
    parquet.write_table(
        pa.Table.from_arrays(columns, names=header),
        stream,
        compression="zstd",
        compression_level=LEVEL,
        use_byte_stream_split=floats,  # makes the file a sixth smaller, since the first bytes of floats are similar
        use_dictionary=[name for name in header if name not in floats],
        write_statistics=False,
        write_page_checksum=True,
        store_schema=False,
    )
    return bytes(stream.getvalue().to_pybytes())


def unpack_table(path: Path) -> tuple[list[Sequence[str]], str]:
    """Return a Parquet file's header and rows as texts, and its CSV text; the caller must not change the rows.

    Raises DataError when the file is not Parquet, is truncated or damaged, or has values that no table can have;
    FileNotFoundError when there is no such file.
    """
    return _unpack_once(path, stamp_of(path))


def typed_columns(path: Path, types: Mapping[str, Any]) -> dict[str, pd.Series] | None:
    """Return a file's columns with the pandas `types`; None if a column has no type, or is stored as another type.

    Raises DataError or FileNotFoundError as `unpack_table` does.
    """
    import pandas as pd
    import pyarrow as pa

    columns = {}
    with _as_data_errors(path):
        for name, column in _columns(path, _table(path)):
            dtype = types.get(name, "")
            checks = {"float64": pa.types.is_floating, "Int64": pa.types.is_integer, "boolean": pa.types.is_boolean}
            if not checks.get(str(dtype), pa.types.is_string)(column.type) or not dtype:
                return None
            columns[name] = pd.Series(column.to_numpy() if dtype == "float64" else column.to_pylist(), dtype=dtype)
    return columns


def rows_that_fit(
    path: Path, fits: Callable[[str], bool], fits_number: Callable[[Any], Any]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield rows, numbered from 2, with a cell whose text satisfies `fits` or whose number satisfies `fits_number`.

    Raises DataError or FileNotFoundError as `unpack_table` does.
    """
    import numpy as np
    import pyarrow as pa

    with _as_data_errors(path):
        table = _table(path)
        mask = np.zeros(table.num_rows, dtype=bool)
        for _, column in _columns(path, table):
            if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
                with np.errstate(over="ignore"):
                    mask |= fits_number(_numbers_of(column).astype(float))
            elif not pa.types.is_boolean(column.type):
                texts = column.combine_chunks().dictionary_encode("encode")
                are_fitting = [bool(text) and fits(text) for text in texts.dictionary.to_pylist()]
                if any(are_fitting):
                    mask |= np.array(are_fitting)[_numbers_of(pa.chunked_array([texts.indices]))]
        indices = np.flatnonzero(mask).tolist()
        matching_rows = [[_csv_cell(column[index].as_py()) for column in table.columns] for index in indices]
    for index, row in zip(indices, matching_rows, strict=True):
        yield index + 2, dict(zip(table.column_names, row, strict=True))


def numbers_in(path: Path, number_of: Callable[[str], float]) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the numbers of each column; `number_of` parses the distinct cells of a column of texts.

    Raises DataError or FileNotFoundError as `unpack_table` does.
    """
    import numpy as np
    import pyarrow as pa

    with _as_data_errors(path):
        for _, column in _columns(path, _table(path)):
            if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
                yield _numbers_of(column).astype(float)
            elif not pa.types.is_boolean(column.type):
                yield np.array([number_of(text) for text in column.unique().to_pylist() if text], float)


def _numbers_of(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Return a column's numbers, with arbitrary numbers for empty cells; pyarrow's own function would import pandas."""
    import numpy as np

    dtype = np.dtype(column.type.to_pandas_dtype())
    arrays = [
        np.frombuffer(chunk.buffers()[1], dtype, len(chunk), chunk.offset * dtype.itemsize)
        for chunk in column.chunks
        if len(chunk)
    ]
    return np.concatenate([*arrays, np.empty(0, dtype)])


@functools.lru_cache(maxsize=2)
def _unpack_once(path: Path, stamp: tuple[int, int]) -> tuple[list[Sequence[str]], str]:
    with _as_data_errors(path):
        table = _table(path)
        records = [table.column_names, *zip(*_text_cells(path, table), strict=True)]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(records)
    return records, text.getvalue()


def _table(path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    content = path.read_bytes()
    if not content.startswith(BEGINNING):
        if fault := foreign_kind(content):
            raise DataError(f"{path.name}: {fault}")
        if content.strip() and content[:400].isascii() and b"\0" not in content[:400]:
            raise DataError(f"{path.name}: is text, not Parquet; give the file the ending .csv, or replace it")
    # threads of Arrow that still run when the process ends would abort it
    table = parquet.ParquetFile(pa.BufferReader(content), page_checksum_verification=True).read(use_threads=False)
    table.validate(full=True)
    return table


@contextmanager
def _as_data_errors(path: Path) -> Iterator[None]:
    """Raise DataError instead of the block's errors on an unreadable, truncated or damaged file."""
    import pyarrow as pa

    try:
        yield
    except OSError as error:
        if error.errno:
            raise DataError(f"{path.name}: cannot be read ({error.strerror})") from None
        raise _damage_error(path, error) from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise _damage_error(path, error) from None


def _damage_error(path: Path, error: Exception) -> DataError:
    message = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:120]
    return DataError(f"{path.name}: not valid Parquet ({message}); restore it from version control")


def _typed_column(cells: list[str], kind: str) -> pa.Array:
    """Return cells as a typed column, or as text if conversion would change their spelling; empty cells are null."""
    import pyarrow as pa

    try:
        parse = _PARSERS.get(kind, str)
        values: Sequence[Any] = [parse(cell) if cell else None for cell in cells]
        if kind != "string" and [_csv_cell(value) for value in values] == cells:
            arrow_type = {"number": pa.float64(), "integer": pa.int64(), "boolean": pa.bool_()}[kind]
            return pa.array(values, arrow_type)
    except (ValueError, KeyError, OverflowError, pa.ArrowException):
        pass
    return pa.array([cell or None for cell in cells], pa.string())


def _columns(path: Path, table: pa.Table) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """Yield the name and the cells of each column; raise DataError if they are not texts, numbers or booleans."""
    import pyarrow as pa

    types = pa.types
    supported = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        if not any(is_supported(kind) for is_supported in supported):
            raise DataError(
                f"{path.name}: column {name} is of type {kind}; a table has only text, numbers and booleans"
            )
        yield name, column.cast(kind)


def _text_cells(path: Path, table: pa.Table) -> list[list[str]]:
    """Return the cells of each column as texts."""
    cells = []
    for _, column in _columns(path, table):
        encoded = column.combine_chunks().dictionary_encode("encode")
        texts = [_csv_cell(value) for value in encoded.dictionary.to_pylist()]  # once for each distinct value
        cells.append([texts[code] for code in encoded.indices.to_pylist()])
    return cells


def _csv_cell(value: object) -> str:
    """Return the text of a cell in CSV."""
    if not isinstance(value, float):
        return "" if value is None else str(value)
    rounded = f"{value:.{DIGITS}g}"  # as the store writes numbers
    return rounded if float(rounded) == value or value != value else repr(value)
