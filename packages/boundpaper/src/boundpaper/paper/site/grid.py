"""Prepare a flat table for a page: cells as in the data, in sortable columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from boundpaper.typeset.armour import plain

if TYPE_CHECKING:
    import pandas as pd

ROWS = 100
"""Most rows on a page; the file beside it has all rows."""


@dataclass(frozen=True)
class PageTable:
    """A table on a page: header, rows as text, flags of numeric columns, the total number of rows, and cell ids."""

    header: tuple[str, ...]
    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    total: int
    ids: Mapping[tuple[int, int], str] = field(default_factory=dict)

    @property
    def cut(self) -> bool:
        """Return whether the page omits rows."""
        return len(self.rows) < self.total


def cell_id(row: int, column: str) -> str:
    """Return the id of a cell on its artifact's page; `row` counts from 0, the row in the id from 1."""
    return f"row{row + 1}.{re.sub(r'[^A-Za-z0-9_-]', '-', column)}"


def table_of_frame(
    frame: pd.DataFrame,
    titles: Mapping[str, str] | None = None,
    most: int = ROWS,
    marked: Collection[tuple[int, str]] = (),
) -> PageTable:
    """Return the first rows of a frame, and the rows of marked cells, as a page table.

    There are at most `most` rows besides those of `marked` cells (row, counted from 0, and column); `titles` describes
    columns by name.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    columns = [str(name) for name in frame.columns]
    numeric = tuple(is_numeric_dtype(frame[name]) and not is_bool_dtype(frame[name]) for name in frame.columns)
    places = sorted({*range(min(most, len(frame))), *(row for row, _ in marked)})
    chosen = frame.head(most) if len(places) <= most else frame.iloc[places]
    rows = tuple(tuple(_cell_text(cell) for cell in row) for row in chosen.itertuples(index=False, name=None))
    at = {row: place for place, row in enumerate(places)}
    ids = {(at[row], columns.index(name)): cell_id(row, name) for row, name in marked}
    means = tuple((titles or {}).get(name, "") for name in columns)
    return PageTable(tuple(columns), means, rows, numeric, len(frame), ids)


def table_of_csv(text: str, most: int = ROWS) -> PageTable:
    """Return a CSV text as a page table; a column is numeric if all nonempty cells are numbers."""
    import csv
    import io

    header, *rows = csv.reader(io.StringIO(text))
    numeric = tuple(all(_is_number(row[place]) for row in rows if row[place]) for place in range(len(header)))
    return PageTable(tuple(header), ("",) * len(header), tuple(map(tuple, rows[:most])), numeric, len(rows))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _cell_text(cell: Any) -> str:
    import pandas as pd

    if cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell):
        return ""
    if isinstance(cell, float):
        return f"{cell:.8g}"
    return plain(str(cell))


def join_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one frame of rows with different fields, with fields in order of appearance."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(dict.fromkeys(name for row in rows for name in row)))
