"""Read every value of the author's data files as a cell with an address."""

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from boundpaper.adopt.folder import BY_ROW, Folder
from boundpaper.errors import DataError, SpecError
from boundpaper.places import ADOPTED
from boundpaper.suggestions import or_known
from boundpaper.typeset.plural import counted

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?\s*")
_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
_UNSAFE = re.compile(r"[^A-Za-z0-9._+=@*-]+")


class DataCell(NamedTuple):
    """A value of a data file: its address, text and number (None for words), and its file and position in the file."""

    address: str
    text: str
    number: Decimal | None
    file: str
    position: str  # such as `row 3, accuracy`, or a path of keys in a JSON file


@dataclass(frozen=True)
class DataTable:
    """A data file with rows: its columns, its key columns, and its cells by row key and column."""

    name: str
    file: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    rows: Mapping[str, Mapping[str, DataCell]] = field(default_factory=dict)


@dataclass(frozen=True)
class Data:
    """All cells by address, and, by table name, the data files that have rows and the addresses in each data file."""

    cells: Mapping[str, DataCell]
    tables: Mapping[str, DataTable]
    addresses: Mapping[str, tuple[str, ...]]

    def cell(self, address: str) -> DataCell:
        """Return the cell at an address; raise SpecError, with the nearest address, if there is no such cell."""
        if address in self.cells:
            return self.cells[address]
        table_name = address.partition("/")[0]
        if table_name not in self.addresses:
            raise SpecError(f"no table {table_name!r} in the data{or_known(table_name, self.addresses)}")
        raise SpecError(f"no cell {address}{_nearest_address(address, self.addresses[table_name])}")


def _nearest_address(address: str, addresses: Sequence[str]) -> str:
    """Return the end of an error message that suggests the nearest address; addresses are compared part by part."""
    from boundpaper.suggestions import similar_names

    split_addresses = [known_address.split("/") for known_address in addresses]
    nearest: list[str] = []
    for level, part in enumerate(address.split("/")):
        known_parts = {parts[level] for parts in split_addresses if parts[:level] == nearest and len(parts) > level}
        if part not in known_parts:
            similar_parts = similar_names(part, sorted(known_parts)[:2_000], most=1, cutoff=0.3)
            if not similar_parts:
                return f"; {'/'.join(nearest)} has {', '.join(sorted(known_parts)[:6])}" if known_parts else ""
            part = similar_parts[0]
        nearest.append(part)
    return f"; did you mean {'/'.join(nearest)}?"


@cache
def _slug(text: str) -> str:
    """Return a key as part of an address: no accents, codes for non-ASCII letters, hyphens for unsafe signs."""
    ascii_text = "".join(
        f"u{ord(char):04x}" if ord(char) > 127 else char
        for char in unicodedata.normalize("NFKD", text.strip())
        if not unicodedata.combining(char)
    )
    return _UNSAFE.sub("-", ascii_text).strip("-") or "empty"


def data_files(folder: Folder) -> dict[str, str]:
    """Return the data files by table name: the file's stem, or as much of its path as makes the name unique.

    Raises SpecError for a pattern that matches no file, a file of an unknown format, or two equal table names.
    """
    names: dict[str, None] = {}
    for pattern in folder.data:
        is_excluded = pattern.startswith("!")
        try:
            paths = sorted(filter(Path.is_file, folder.root.glob(pattern.removeprefix("!"))))
        except (ValueError, NotImplementedError) as error:
            raise SpecError(f"{ADOPTED}: data: {pattern!r} matches no files here ({error}); correct it") from None
        if not paths:
            raise SpecError(f"{ADOPTED}: data: no file matches {pattern!r}; correct the pattern, or put the file there")
        for path in paths:
            name = path.relative_to(folder.root).as_posix()
            if is_excluded:
                names.pop(name, None)
            elif path.suffix.lower() not in SUFFIXES:
                raise SpecError(f"{ADOPTED}: data: {name} does not end in one of {', '.join(SUFFIXES)}; leave it out")
            else:
                names[name] = None
    files: dict[str, str] = {}
    stem_counts = Counter(_slug(PurePosixPath(name).stem) for name in names)
    path_slugs = [_slug(name.replace("/", "-").replace(".", "-")) for name in names]
    for name in names:
        *folders, file_name = PurePosixPath(name).parts
        table, parts = _slug(PurePosixPath(file_name).stem), [file_name.replace(".", "-")]
        while stem_counts[table] > 1 and folders:
            parts.insert(0, folders.pop())
            path_end = _slug("-".join(parts))
            if not folders or sum(path_slug.endswith(path_end) for path_slug in path_slugs) == 1:
                table = path_end
        if table in files:
            raise SpecError(f"{ADOPTED}: data: {files[table]} and {name} both define table {table}; rename one file")
        files[table] = name
    return files


def load_data(folder: Folder) -> Data:
    """Return the values of all data files of a paper.

    Raises DataError for a file whose content does not match its ending, and for a key that names no column or does not
    identify the rows. Raises SpecError for a key of an unknown table, and for the faults that `data_files` finds.
    """
    contents = {name: (file, read_content(folder.root / file, file)) for name, file in data_files(folder).items()}
    for name in folder.keys:
        if name not in contents:
            raise SpecError(f"{ADOPTED}: tables: no table {name!r} in the data{or_known(name, contents)}")
    return cells_in_texts(contents, folder.keys)


def cells_in_texts(contents: Mapping[str, tuple[str, bytes]], keys: Mapping[str, Sequence[str]]) -> Data:
    """Return the values of files in memory; `contents` has the name and the content of each file, by table name."""
    cells: dict[str, DataCell] = {}
    tables: dict[str, DataTable] = {}
    addresses: dict[str, tuple[str, ...]] = {}
    for name, (file, raw) in contents.items():
        parsed = parse_content(file, raw)
        if isinstance(parsed, tuple):
            header, rows = parsed
            tables[name] = _table_of_rows(name, file, header, rows, keys.get(name))
            cells_of_table = {cell.address: cell for row in tables[name].rows.values() for cell in row.values()}
        else:
            cells_of_table = _leaf_cells(name, file, parsed)
        addresses[name] = tuple(cells_of_table)
        cells |= cells_of_table
    return Data(cells, tables, addresses)


def read_content(path: Path, file: str) -> bytes:
    """Return the content of a data file; raise DataError if a text file cannot be read as UTF-8."""
    from boundpaper.store.text_file import text_of

    if path.suffix.lower() == ".parquet":
        return path.read_bytes()
    try:
        return text_of(path.parent, path.name).encode()
    except DataError as error:
        raise DataError(f"{file}{str(error).removeprefix(path.name)}") from None


def parse_content(file: str, raw: bytes) -> tuple[list[str], list[list[Any]]] | Any:
    """Return the header and the rows of a data file, or a JSON document that has no rows.

    JSON has rows if it is a list of flat objects. Raises DataError when the content does not match the file's ending,
    or a row has more or fewer cells than the header.
    """
    suffix = PurePosixPath(file).suffix.lower()
    if suffix == ".parquet":
        return _read_parquet(file, raw)
    text = raw.decode("utf-8")
    if suffix in (".csv", ".tsv"):
        return _read_separated(file, text)
    from boundpaper.store.json_text import parsed

    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    try:
        values = [parsed(line, Decimal) for _, line in lines] if suffix == ".jsonl" else parsed(text, Decimal)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file}: not valid JSON ({error}); correct the file, or leave it out of data") from None
    if not isinstance(values, list) or not values or not all(isinstance(record, dict) and record for record in values):
        return values
    if any(isinstance(value, (dict, list)) for record in values for value in record.values()):
        return values
    header = list(dict.fromkeys(name for record in values for name in record))
    return header, [[record.get(name) for name in header] for record in values]


def _read_separated(file: str, text: str) -> tuple[list[str], list[list[Any]]]:
    first_line = text.partition("\n")[0]
    delimiter = "\t" if file.lower().endswith(".tsv") else max(",;\t", key=first_line.count)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        header, *rows = [row for row in reader if row]
    except (ValueError, csv.Error) as error:
        problem = "is empty" if not text.strip() else f"is not a table ({error})"
        raise DataError(f"{file}: {problem}; correct the file, or leave it out of data") from None
    header = [name.strip() for name in header]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise DataError(
                f"{file}: row {number} has {counted(len(row), 'cell')}, but the header has {len(header)}; correct "
                "the file, or leave it out of data"
            )
        if delimiter == ";":  # files with semicolons may have decimal commas
            row[:] = [cell.replace(",", ".") if _COMMA.fullmatch(cell) else cell for cell in row]
    return header, rows


def _read_parquet(file: str, raw: bytes) -> tuple[list[str], list[list[Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Without threads: Arrow's threads may still run when the process ends, and abort it.
        table = pq.ParquetFile(pa.BufferReader(raw), pre_buffer=False).read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{file}: not valid Parquet ({reason}); write it again, or leave it out of data") from None
    columns = [column.to_pylist() for column in table.columns]
    return list(map(str, table.column_names)), [list(row) for row in zip(*columns, strict=True)]


def _table_of_rows(
    name: str, file: str, header: Sequence[str], rows: Sequence[Sequence[Any]], key: Sequence[str] | None
) -> DataTable:
    """Return a table of rows whose cells have addresses; if `key` is None, the key columns are guessed."""
    repeats = [column for column, count in Counter(map(_slug, header)).items() if count > 1]
    if repeats:
        raise DataError(f"{file}: two columns would be called {repeats[0]}; rename one, or leave the file out of data")
    key_columns = guess_key(header, rows) if key is None else tuple(key)
    column_indices = {column: index for index, column in enumerate(header)}
    for column in key_columns if key_columns != (BY_ROW,) else ():
        if column not in column_indices:
            hint = or_known(column, column_indices)
            raise DataError(f"{file}: no column {column!r}, which {ADOPTED} names as a key{hint}")
    key_indices = [column_indices[column] for column in key_columns] if key_columns != (BY_ROW,) else []
    slugs = [_slug(column) for column in header]
    cells_by_row: dict[str, dict[str, DataCell]] = {}
    for number, row in enumerate(rows, 2):
        row_key = ",".join(_slug(_cell_text(row[index])) for index in key_indices) if key_indices else str(number - 1)
        if row_key in cells_by_row:
            raise DataError(
                f"{file}: {', '.join(key_columns)} do not identify each row ({row_key} again in row {number}); "
                f'add a column to key of [tables.{name}] in {ADOPTED}, or set key = "{BY_ROW}"'
            )
        prefix = f"{name}/{row_key}/" if key_columns else f"{name}/"
        cells_by_row[row_key] = {
            column: DataCell(
                prefix + slug, text := _cell_text(value), _number(text, value), file, f"row {number}, {column}"
            )
            for column, slug, value in zip(header, slugs, row, strict=True)
        }
    return DataTable(name, file, tuple(header), key_columns, cells_by_row)


def guess_key(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """Return the fewest columns that identify each row, text columns first; `(BY_ROW,)` if no columns do."""
    from itertools import combinations, islice

    if len(rows) == 1:
        return ()
    text_columns, integer_columns = [], []
    for index, column in enumerate(header):
        texts = [_cell_text(row[index]) for row in rows]
        if all(texts) and not any(map(_NUMBER.fullmatch, texts)):
            text_columns.append(column)
        elif all(texts) and all(re.fullmatch(r"\d{1,6}", text) for text in texts):
            integer_columns.append(column)
    slugs = {
        column: [_slug(_cell_text(row[header.index(column)])) for row in rows]
        for column in [*text_columns, *integer_columns]
    }
    varying_columns = [column for column in slugs if len(set(slugs[column])) > 1]
    for size in range(1, 5):
        for columns in islice(combinations(varying_columns, size), 200):
            if columns[0] in integer_columns and text_columns:
                continue
            if _all_differ(zip(*(slugs[name] for name in columns), strict=True)):
                return columns
    return (BY_ROW,)


def _all_differ(keys: Iterable[tuple[str, ...]]) -> bool:
    """Return whether all keys differ; stop reading at the first repeated key."""
    seen: set[tuple[str, ...]] = set()
    for key in keys:
        if key in seen:
            return False
        seen.add(key)
    return True


def _leaf_cells(name: str, file: str, document: Any) -> dict[str, DataCell]:
    """Return the cells of a parsed JSON document by address, one cell per leaf value."""
    cells: dict[str, DataCell] = {}
    for path, value in _walk_leaves(document, ()):
        text = _cell_text(value)
        address = "/".join((name, *map(_slug, path)))
        position = ".".join(path)
        if address in cells:
            raise DataError(
                f"{file}: {cells[address].position!r} and {position!r} would share an address; rename one, or leave "
                f"the file out of data in {ADOPTED}"
            )
        cells[address] = DataCell(address, text, _number(text, value), file, position)
    return cells


def _walk_leaves(document: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each leaf value of a JSON document below `path`, with its path."""
    if isinstance(document, (dict, list)):
        pairs: Iterable[tuple[Any, Any]] = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in pairs:
            yield from _walk_leaves(value, (*path, str(key)))
    else:
        yield path, document


def _cell_text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if value is None or value != value:
        return ""
    return str(value)


def _number(text: str, value: Any) -> Decimal | None:
    """Return the number in a cell; None for words, booleans, and numbers with a percent sign."""
    if isinstance(value, bool) or not _NUMBER.fullmatch(text):
        return None
    return Decimal(text)
