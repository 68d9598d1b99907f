"""List the data of a figure as rows: every point of every series in every panel."""

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
    """Return the points in a figure's panels; empty if the figure supplies a finished drawing.

    Columns `panel`, `kind` and `series` come first if their values differ, then the columns of each kind of series. A
    matrix has one row per cell, with `row` and `column` counted from 1.
    """
    rows: list[dict[str, Any]] = []
    for number, panel in enumerate(figure.panels, start=1):
        for series in panel.series:
            head = {
                "panel": plain(panel.title) or number,
                "kind": type(series).__name__.lower(),
                "series": plain(series.label or series.entity),
            }
            rows += [{**head, **row} for row in _series_rows(series)]
    frame = join_rows(rows)
    same = [name for name in ("panel", "kind", "series") if name in frame and frame[name].nunique() == 1]
    return frame.drop(columns=same)


def _series_rows(series: Series) -> Iterator[dict[str, Any]]:
    columns: dict[str, tuple[Any, ...]] = {}
    for field in fields(series):
        value = getattr(series, field.name)
        if not isinstance(value, tuple) or not value:
            continue
        if isinstance(value[0], tuple):
            for row, cells in enumerate(value, start=1):
                yield from (
                    {"row": row, "column": place, field.name: cell} for place, cell in enumerate(cells, start=1)
                )
        else:
            columns[field.name] = value
    length = max((len(value) for value in columns.values()), default=0)
    matrix = any(field.type == "Matrix" for field in fields(series))
    if not matrix:
        whole = {name: value for name, value in columns.items() if len(value) == length}
        yield from (dict(zip(whole, cells, strict=True)) for cells in zip(*whole.values(), strict=True))
