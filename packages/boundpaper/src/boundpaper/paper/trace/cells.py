"""Read the rows of artifacts and of printed tables, in which a trace searches for numbers."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from boundpaper.build.job import Job
from boundpaper.paper.trace.numeral import SearchedNumber, tokens
from boundpaper.store.table_file import rows, rows_with
from boundpaper.typeset.armour import plain

_NUMBER = re.compile(r"[-+]?[\d.]+(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class TracedRow:
    """A row of an artifact or a table.

    `owner` is the name of the artifact, or `table:NAME`. `place` is `file:row` in an artifact, whose header is row 1,
    and empty in a table. `cells` has the data by column, as text, and `shown` the printed text by column.
    """

    owner: str
    place: str
    cells: Mapping[str, str]
    shown: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> frozenset[str]:
        """Return the texts that may identify the row: no decimal numbers and no sentences."""
        texts = (text for text in self.cells.values() if text and len(text) < 60)
        return frozenset(text for text in texts if not (_NUMBER.fullmatch(text) and not text.isdigit()))

    @property
    def label(self) -> str:
        """Return the row's name: its first text that is not a number, else its first text."""
        texts = [text for text in [*self.shown.values(), *self.cells.values()] if text]
        return next((text for text in texts if tokens(text)[:1] != [text]), texts[0] if texts else "")

    def is_named(self, names: list[str]) -> bool:
        """Return whether each of `names` is a text in the row, or `column=text`."""
        texts = {text.lower() for text in [*self.cells.values(), *self.shown.values()]}
        pairs = {f"{column}={text}".lower() for column, text in self.cells.items()}
        return all(name.lower() in texts | pairs for name in names)


def cell_number(text: str) -> float | None:
    """Return the number in a cell; None if the text is not a finite number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def rows_of_files(
    root: Path, name: str, paths: Iterable[str], numeral: SearchedNumber | None = None
) -> Iterator[TracedRow]:
    """Yield the rows of an artifact's files; with `numeral`, only the rows with a cell that may match it."""
    for file in paths:
        path = root / file
        numbered_rows = rows(path) if numeral is None else rows_with(path, numeral.may_fit, numeral.may_equal)
        for line, cells in numbered_rows:
            texts = {column: text or "" for column, text in cells.items() if column is not None}
            yield TracedRow(name, f"{file}:{line}", texts)


def table_cells(job: Job) -> list[tuple[dict[str, str], dict[str, str]]]:
    """Return `cells` and `shown` of each row of a table, which is made again from the present artifacts."""
    from boundpaper.tables.build import table_of
    from boundpaper.tables.layout import body
    from boundpaper.tables.read import read

    grid = read(table_of(job), job.name)
    printed = body(grid, "markdown")
    data = {str(column): list(map(_cell_text, grid.table.rows[column].tolist())) for column in grid.table.rows.columns}
    table_rows = []
    for index, (texts, row_cells) in enumerate(zip(printed, grid.rows, strict=True)):
        shown = {column.field: " ".join(text.split()) for column, text in zip(grid.columns, texts, strict=True)}
        cells = {column: values[index] for column, values in data.items()}
        cells |= {column.field: _cell_text(cell.value) for column, cell in zip(grid.columns, row_cells, strict=True)}
        table_rows.append((cells, shown))
    return table_rows


def _cell_text(value: object) -> str:
    if value is None or str(value) in ("<NA>", "nan", "NaT"):
        return ""
    return plain(value) if isinstance(value, str) else repr(float(value)) if isinstance(value, float) else str(value)
