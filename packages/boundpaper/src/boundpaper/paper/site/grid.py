"""Prepare a table of data for a page, with cells as in the data and columns that readers can sort."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from boundpaper.typeset.armour import plain

if TYPE_CHECKING:
    import pandas as pd

ROWS = 50
"""Most rows of a table on a page; the file that the page links has all rows."""


@dataclass(frozen=True)
class PageTable:
    """A table on a page; `total` is the number of rows in the data, `ids` has HTML ids by (row, column) on the page."""

    header: tuple[str, ...]
    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    total: int
    ids: Mapping[tuple[int, int], str] = field(default_factory=dict)

    @property
    def is_cut(self) -> bool:
        """Return whether the page omits rows."""
        return len(self.rows) < self.total


def cell_id(row: int, column: str) -> str:
    """Return the HTML id of a cell on its artifact's page; rows count from 0 in `row`, and from 1 in the id."""
    return f"row{row + 1}.{re.sub(r'[^A-Za-z0-9_-]', '-', column)}"


def table_of_frame(
    frame: pd.DataFrame,
    titles: Mapping[str, str] | None = None,
    most: int = ROWS,
    marked: Collection[tuple[int, str]] = (),
) -> PageTable:
    """Return the first `most` rows of a frame, and the rows of all `marked` cells, as a table for a page.

    `marked` cells, given as (row, column) with rows counted from 0, get an id. `titles` describes columns by name.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    columns = [str(name) for name in frame.columns]
    numeric = tuple(is_numeric_dtype(frame[name]) and not is_bool_dtype(frame[name]) for name in frame.columns)
    positions = sorted({*range(min(most, len(frame))), *(row for row, _ in marked)})
    selected = frame.iloc[positions].itertuples(index=False, name=None)
    rows = tuple(tuple(map(_cell_text, row)) for row in selected)
    ids = {(positions.index(row), columns.index(name)): cell_id(row, name) for row, name in marked}
    column_titles = tuple((titles or {}).get(name, "") for name in columns)
    return PageTable(tuple(columns), column_titles, rows, numeric, len(frame), ids)


def table_of_csv(text: str, most: int = ROWS) -> PageTable:
    """Return a CSV text as a table for a page; a column is numeric if all its cells are numbers or empty."""
    import csv
    import io

    header, *rows = csv.reader(io.StringIO(text))
    numeric = tuple(all(_is_number(row[index]) for row in rows if row[index]) for index in range(len(header)))
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
    """Return rows with different fields as one frame, with the fields in order of appearance."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(dict.fromkeys(name for row in rows for name in row)))
