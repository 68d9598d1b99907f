"""A table file: its rows as text, with their place; CSV, or Parquet where a measurement is large.

`python -m boundpaper.store.table_file FILE` prints one, which makes `git diff` readable (`.gitattributes`).
"""

from __future__ import annotations

import csv
import hashlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path

from boundpaper.errors import DataError
from boundpaper.store.paths import PARQUET
from boundpaper.store.text_file import text_of


def words(path: Path) -> str:
    """A table as CSV text, whatever file holds it.

    Raises
    ------
    DataError
        The file cannot be read as what its name says, or a cell does not end where its quotation mark does.
    FileNotFoundError
        There is no such file.
    """
    if path.suffix == PARQUET:
        from boundpaper.store.parquet_file import unpacked

        return unpacked(path)
    text = text_of(path.parent, path.name)
    if '"' in text:
        read = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            for _ in read:
                pass
        except csv.Error as error:
            raise DataError(
                f"{path.name}:{read.line_num}: a cell in quotation marks does not end where they do ({error}); write"
                " one that is of the cell twice"
            ) from None
    return text


def identity(path: Path) -> str:
    """Hash of what a table says, 32 hexadecimal digits: that of its CSV text, whatever file holds it."""
    return hashlib.blake2b(words(path).encode(), digest_size=16).hexdigest()


def header_of(path: Path) -> list[str]:
    """The column names of a table; none for an empty file."""
    return next(csv.reader(_stream(path)), [])


def records(path: Path) -> Iterator[list[str]]:
    """Every record of a table as its cells, the header first, blank lines as records without cells."""
    yield from csv.reader(_stream(path))


def rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Every row of a table as (number of the row, counted in records with the header as 1; cells by field)."""
    yield from enumerate(csv.DictReader(_stream(path)), start=2)


def _stream(path: Path) -> io.StringIO:
    return io.StringIO(words(path), newline="")


if __name__ == "__main__":
    for file in sys.argv[1:]:
        sys.stdout.write(words(Path(file)))
