"""How wide a table will be: estimated from the widths of a Palatino, to choose the size at which it fits."""

from __future__ import annotations

import re

from tables._cells import Cell, Grid
from tables._layout import titles
from tables._spec import Size

LINE = 430.0  # pt, a little below the 152 mm that scrreprt sets on A4 at 11 pt
TURNED = 600.0  # pt, the line of a landscape page
NARROW = 250.0  # pt: narrower tables are stretched to it, for the sake of caption and notes
_POINTS: dict[Size, float] = {"small": 10, "footnotesize": 9, "scriptsize": 8}
_CHOICES: tuple[tuple[Size, float], ...] = (
    ("small", 6), ("footnotesize", 5), ("footnotesize", 3.5), ("scriptsize", 3.5), ("scriptsize", 2.5),
)  # fmt: skip
_NARROW_SIGNS, _WIDE_SIGNS = frozenset("iljftrI.,;:!'|()[]- ^"), frozenset("mwMWAODGHNQUKRVXY%@")


def text_width(text: str) -> float:
    """Estimate the width of a text in em."""
    return sum(0.3 if char in _NARROW_SIGNS else 0.78 if char in _WIDE_SIGNS else 0.52 for char in text)


def natural(grid: Grid, size: Size, column_space: float) -> float:
    """Estimate the width in pt of a table without paragraph columns."""
    heads = titles(grid, "html")
    total = 0.0
    for index, lines in enumerate(heads):
        widths = [text_width(_visible(line)) for line in lines] + [_width(row[index]) for row in grid.rows]
        total += max(widths)
    return total * _POINTS[size] + 2 * column_space * (len(heads) - 1)


def fitting(grid: Grid) -> tuple[Size, float]:
    """Return the size and half the column space (pt) that the table asks for, or the largest with which it fits."""
    table = grid.table
    line = TURNED if table.landscape else LINE
    choices = [choice for choice in _CHOICES if table.size in (None, choice[0])]
    if any(column.width is not None for column in grid.columns):
        size = table.size or "footnotesize"
        return size, table.column_space if table.column_space is not None else 5
    for size, space in choices:
        kept = table.column_space if table.column_space is not None else space
        if natural(grid, size, kept) <= line:
            return size, kept
    size, space = choices[-1]
    return size, table.column_space if table.column_space is not None else space


def _width(cell: Cell) -> float:
    if cell.hidden:
        return 0.0
    if cell.pieces is None:
        return text_width(cell.words)
    shown = "".join(token if len(token) == 1 else "." for piece in cell.pieces for token in piece.tokens)
    return text_width(shown) + 0.35 * (cell.stars + len(cell.marks))


def _visible(heading: str) -> str:
    return re.sub(r"<[^>]*>|\\[a-zA-Z]+|[\\{}_^$]|&[a-z]+;", "", heading)
