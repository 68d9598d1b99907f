"""A table file: rows of a CSV as text, with their place."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from artifacts.store.text_file import text_of


def header_of(path: Path) -> list[str]:
    """The column names of a CSV file; none for an empty file."""
    return next(csv.reader(_stream(path)), [])


def records(path: Path) -> Iterator[list[str]]:
    """Every record of a CSV file as its cells, the header first, blank lines as records without cells."""
    yield from csv.reader(_stream(path))


def rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Every row of a CSV file as (line number of the row, counted in records with the header as 1; cells by field)."""
    yield from enumerate(csv.DictReader(_stream(path)), start=2)


def _stream(path: Path) -> io.StringIO:
    return io.StringIO(text_of(path.parent, path.name), newline="")
