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
    """A value of a data file: its address, its text, its number (None for words), and its place in the file."""

    address: str
    text: str
    number: Decimal | None
    file: str
    place: str


@dataclass(frozen=True)
class DataTable:
    """A table: its columns, its key columns, the key of each row, and the cells by row and column."""

    name: str
    file: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    rows: Mapping[str, Mapping[str, DataCell]] = field(default_factory=dict)


@dataclass(frozen=True)
class Data:
    """All cells by address, the tables of rows by name, and the addresses of each table."""

    cells: Mapping[str, DataCell]
    grids: Mapping[str, DataTable]
    tables: Mapping[str, tuple[str, ...]]

    def cell(self, address: str) -> DataCell:
        """Return the cell at an address; raise SpecError that names the nearest address if there is none."""
        if address in self.cells:
            return self.cells[address]
        table = address.partition("/")[0]
        if table not in self.tables:
            raise SpecError(f"no table {table!r} in the data{or_known(table, self.tables)}")
        raise SpecError(f"no cell {address}{_nearest_address(address, self.tables[table])}")


def _nearest_address(address: str, addresses: Sequence[str]) -> str:
    """Suggest the nearest address; compare part by part, since comparing thousands of whole addresses takes seconds."""
    head: list[str] = []
    for part in address.split("/"):
        level = len(head)
        split_addresses = [name.split("/") for name in addresses]
        present = {parts[level] for parts in split_addresses if parts[:level] == head and len(parts) > level}
        if part not in present:
            from boundpaper.suggestions import similar_names

            close = similar_names(part, sorted(present)[:2_000], most=1, cutoff=0.3)
            if not close:
                return f"; {'/'.join(head)} has {', '.join(sorted(present)[:6])}" if present else ""
            part = close[0]
        head.append(part)
    return f"; did you mean {'/'.join(head)}?"


def slug(text: str) -> str:
    """Turn a key into a part of an address: letters, digits and `._+=@*-` stay, and every other character becomes a
    hyphen.
    """
    ascii_text = unicodedata.normalize("NFKD", text.strip())
    ascii_text = "".join(
        f"u{ord(char):04x}" if ord(char) > 127 else char for char in ascii_text if not unicodedata.combining(char)
    )
    return _UNSAFE.sub("-", ascii_text).strip("-") or "empty"


_slug = cache(slug)


def data_files(folder: Folder) -> dict[str, str]:
    """Return the data files by table name: the file's stem, or as much of its path as makes the name unique.

    Raises SpecError for a pattern that matches no file, or a file of an unknown format.
    """
    names: dict[str, None] = {}
    for pattern in folder.data:
        is_excluded = pattern.startswith("!")
        try:
            paths = sorted(filter(Path.is_file, folder.root.glob(pattern.removeprefix("!"))))
        except (ValueError, NotImplementedError) as error:
            raise SpecError(f"{ADOPTED}: data: {pattern!r} matches no files here ({error})") from None
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
    stems = Counter(_slug(PurePosixPath(name).stem) for name in names)
    slugs = [_slug(name.replace("/", "-").replace(".", "-")) for name in names]
    for name in names:
        *folders, file_name = PurePosixPath(name).parts
        table, parts = _slug(PurePosixPath(file_name).stem), [file_name.replace(".", "-")]
        while stems[table] > 1 and folders:
            parts.insert(0, folders.pop())
            longer = _slug("-".join(parts))
            alike = sum(slug.endswith(longer) for slug in slugs)
            table = longer if alike == 1 or not folders else table
        if table in files:
            raise SpecError(f"{ADOPTED}: data: {files[table]} and {name} both name the table {table}; rename one")
        files[table] = name
    return files


def load_data(folder: Folder) -> Data:
    """Read all data files.

    Raises DataError for a file that its ending does not describe, or a key that names no column or does not identify
    the rows.
    """
    texts = {}
    for name, file in data_files(folder).items():
        texts[name] = file, read_content(folder.root / file, file)
    for name in folder.keys:
        if name not in texts:
            raise SpecError(f"{ADOPTED}: tables: no table {name!r} in the data{or_known(name, texts)}")
    return cells_in_texts(texts, folder.keys)


def cells_in_texts(texts: Mapping[str, tuple[str, bytes]], keys: Mapping[str, Sequence[str]]) -> Data:
    """Return the cells of files already in memory; `texts` maps a table's name to (file, content)."""
    cells: dict[str, DataCell] = {}
    grids: dict[str, DataTable] = {}
    tables: dict[str, tuple[str, ...]] = {}
    for name, (file, raw) in texts.items():
        records = rows_of(file, raw)
        if isinstance(records, tuple):
            header, rows = records
            grid = _table_of_rows(name, file, header, rows, keys.get(name))
            grids[name] = grid
            cells_of_table = {cell.address: cell for row in grid.rows.values() for cell in row.values()}
        else:
            cells_of_table = _leaf_cells(name, file, records)
        tables[name] = tuple(cells_of_table)
        cells.update(cells_of_table)
    return Data(cells, grids, tables)


def read_content(path: Path, file: str) -> bytes:
    """Return the content of a data file; raise DataError if it cannot be read or its ending does not match its type."""
    from boundpaper.store.text_file import text_of

    if path.suffix.lower() == ".parquet":
        return path.read_bytes()
    try:
        return text_of(path.parent, path.name).encode()
    except DataError as error:
        raise DataError(f"{file}{str(error).removeprefix(path.name)}") from None


def rows_of(file: str, raw: bytes) -> tuple[list[str], list[list[Any]]] | Any:
    """Return the header and rows of a table; return other JSON than a list of flat objects as parsed.

    Raises DataError when the file's ending does not describe the content, or a row has more or fewer cells than the
    header.
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
    if isinstance(values, list) and values and all(isinstance(record, dict) and _is_flat(record) for record in values):
        header = list(dict.fromkeys(name for record in values for name in record))
        return header, [[record.get(name) for name in header] for record in values]
    return values


def _is_flat(record: Mapping[str, Any]) -> bool:
    return bool(record) and not any(isinstance(value, (dict, list)) for value in record.values())


def _read_separated(file: str, text: str) -> tuple[list[str], list[list[Any]]]:
    first_line = text.partition("\n")[0]
    sign = "\t" if file.lower().endswith(".tsv") else max(",;\t", key=first_line.count)
    try:
        header, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True) if row]
    except (ValueError, csv.Error) as error:
        problem = "is empty" if not text.strip() else f"is not a table ({error})"
        raise DataError(f"{file}: {problem}; correct the file, or leave it out of data") from None
    header = [name.strip() for name in header]
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise DataError(
                f"{file}: row {number} has {counted(len(row), 'cell')}, but the header has {len(header)}; correct "
                "the file, or leave it out"
            )
        if sign == ";":
            row[:] = [cell.replace(",", ".") if _COMMA.fullmatch(cell) else cell for cell in row]
    return header, rows


def _read_parquet(file: str, raw: bytes) -> tuple[list[str], list[list[Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # threads of Arrow may still run when the process ends, and abort it
        table = pq.ParquetFile(pa.BufferReader(raw), pre_buffer=False).read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file}: not valid Parquet ({str(error).splitlines()[0]})") from None
    columns = [column.to_pylist() for column in table.columns]
    return list(map(str, table.column_names)), [list(row) for row in zip(*columns, strict=True)]


def _table_of_rows(
    name: str, file: str, header: Sequence[str], rows: Sequence[Sequence[Any]], key: Sequence[str] | None
) -> DataTable:
    """Make a table whose cells have addresses; guess the key columns if `key` is None."""
    repeats = [column for column, count in Counter(map(_slug, header)).items() if count > 1]
    if repeats:
        raise DataError(f"{file}: two columns would be called {repeats[0]}; rename one, or leave the file out of data")
    key_columns = guess_key(header, rows) if key is None else tuple(key)
    at = {column: index for index, column in enumerate(header)}
    for column in key_columns if key_columns != (BY_ROW,) else ():
        if column not in at:
            raise DataError(f"{file}: no column {column!r}, which {ADOPTED} names as a key{or_known(column, at)}")
    places = [at[column] for column in key_columns] if key_columns != (BY_ROW,) else []
    slugs = [_slug(column) for column in header]
    grid: dict[str, dict[str, DataCell]] = {}
    for number, row in enumerate(rows, 2):
        mark = ",".join(_slug(_cell_text(row[place])) for place in places) if places else str(number - 1)
        if mark in grid:
            raise DataError(
                f"{file}: {', '.join(key_columns)} do not identify each row ({mark} again in row {number}); "
                f'add a column to key of [tables.{name}] in {ADOPTED}, or set key = "{BY_ROW}"'
            )
        prefix = f"{name}/{mark}/" if key_columns else f"{name}/"
        place = f"row {number}"
        grid[mark] = {
            column: DataCell(
                prefix + short, text := _cell_text(value), _number(text, value), file, f"{place}, {column}"
            )
            for column, short, value in zip(header, slugs, row, strict=True)
        }
    return DataTable(name, file, tuple(header), key_columns, grid)


def guess_key(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """Return the fewest columns that identify each row, text columns first; if none do, the row number."""
    from itertools import combinations, islice

    if len(rows) == 1:
        return ()
    words, counts = [], []
    for index, column in enumerate(header):
        texts = [_cell_text(row[index]) for row in rows]
        if all(texts) and not any(map(_NUMBER.fullmatch, texts)):
            words.append(column)
        elif all(texts) and all(re.fullmatch(r"\d{1,6}", text) for text in texts):
            counts.append(column)
    choices = [*words, *counts]
    marks = {column: [_slug(_cell_text(row[header.index(column)])) for row in rows] for column in choices}
    choices = [column for column in choices if len(set(marks[column])) > 1]
    for size in range(1, 5):
        for columns in islice(combinations(choices, size), 200):
            if columns[0] in counts and words:
                continue
            if _all_differ(zip(*(marks[name] for name in columns), strict=True)):
                return columns
    return (BY_ROW,)


def _all_differ(marks: Iterable[tuple[str, ...]]) -> bool:
    """Return whether all marks differ; stop reading at the first repeated mark."""
    seen: set[tuple[str, ...]] = set()
    for mark in marks:
        if mark in seen:
            return False
        seen.add(mark)
    return True


def _leaf_cells(name: str, file: str, content: Any) -> dict[str, DataCell]:
    """Return the leaf values in the content of a JSON file by path."""
    cells: dict[str, DataCell] = {}
    for path, value in _walk_leaves(content, ()):
        text = _cell_text(value)
        address = "/".join((name, *map(_slug, path)))
        place = ".".join(path)
        if address in cells:
            raise DataError(
                f"{file}: {cells[address].place!r} and {place!r} would share an address; rename one, or leave the file "
                f"out of data in {ADOPTED}"
            )
        cells[address] = DataCell(address, text, _number(text, value), file, place)
    return cells


def _walk_leaves(content: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(content, (dict, list)):
        pairs: Iterable[tuple[Any, Any]] = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in pairs:
            yield from _walk_leaves(value, (*path, str(key)))
    else:
        yield path, content


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
