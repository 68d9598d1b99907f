"""List the data of a figure as rows, one for each point of each series in each panel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from boundpaper.figures import Figure, Series
from boundpaper.paper.site.grid import join_rows
from boundpaper.typeset.armour import plain

if TYPE_CHECKING:
    import pandas as pd


def plotted_rows(figure: Figure) -> pd.DataFrame:
    """Return the points in a figure's panels; empty if the figure is a drawing without panels.

    The columns `panel`, `kind` and `series` come first if their values differ, then the columns of the kinds of series.
    A matrix has one row for each cell, with `row` and `column` counted from 1.
    """
    rows: list[dict[str, Any]] = []
    for number, panel in enumerate(figure.panels, start=1):
        for series in panel.series:
            origin = {
                "panel": plain(panel.title) or number,
                "kind": type(series).__name__.lower(),
                "series": plain(series.label or series.entity),
            }
            rows += [{**origin, **row} for row in _series_rows(series)]
    frame = join_rows(rows)
    constant = [name for name in ("panel", "kind", "series") if name in frame and frame[name].nunique() == 1]
    return frame.drop(columns=constant)


def _series_rows(series: Series) -> Iterator[dict[str, Any]]:
    columns: dict[str, tuple[Any, ...]] = {}
    for field in fields(series):
        value = getattr(series, field.name)
        if not isinstance(value, tuple) or not value:
            continue
        if isinstance(value[0], tuple):
            for row, cells in enumerate(value, start=1):
                yield from ({"row": row, "column": column, field.name: cell} for column, cell in enumerate(cells, 1))
        else:
            columns[field.name] = value
    if not any(field.type == "Matrix" for field in fields(series)):
        length = max(map(len, columns.values()), default=0)
        full_columns = {name: values for name, values in columns.items() if len(values) == length}
        yield from (dict(zip(full_columns, cells, strict=True)) for cells in zip(*full_columns.values(), strict=True))
