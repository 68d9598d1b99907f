"""A table file: rows of a CSV as text, with their place."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path


def header_of(path: Path) -> list[str]:
    """The column names of a CSV file; none for an empty file."""
    with path.open(encoding="utf-8", newline="") as stream:
        return next(csv.reader(stream), [])


def rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Every row of a CSV file as (line number of the row, counted in records with the header as 1; cells by field)."""
    with path.open(encoding="utf-8", newline="") as stream:
        yield from enumerate(csv.DictReader(stream), start=2)
