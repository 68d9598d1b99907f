"""How wide a table will be: estimated from the widths of a Palatino, to choose the size at which it fits."""

from __future__ import annotations

import re

from tables._align import widest_tokens
from tables._cells import Grid, is_number
from tables._layout import spanners, titles
from tables._spec import Size

LINE = 430.0  # pt, a little below the 152 mm that scrreprt sets on A4 at 11 pt
TURNED = 600.0  # pt, the line of a landscape page
NARROW = 250.0  # pt: narrower tables are stretched to it, for the sake of caption and notes
_POINTS: dict[Size, float] = {"small": 10, "footnotesize": 9, "scriptsize": 8}
_CHOICES: tuple[tuple[Size, float], ...] = (
    ("small", 6), ("footnotesize", 5), ("footnotesize", 3.5), ("scriptsize", 3.5), ("scriptsize", 2.5),
)  # fmt: skip
_NARROW_SIGNS, _WIDE_SIGNS = frozenset("iljftrI.,;:!'|()[]- ^"), frozenset("mwMWAODGHNQUKRVXY%@")
_TOKENS = {
    "0": 0.5, "-": 0.61, ".": 0.25, ",": 0.25, ";": 0.5, "[": 0.33, "]": 0.33, "e": 1.95, "^0": 0.37, "^-": 0.5,
    "±": 0.95, "%": 0.84, "×": 0.61, " ": 0.25, "<": 0.78, ">": 0.78, "*": 0.36,
}  # fmt: skip


def text_width(text: str) -> float:
    """Estimate the width of a text in em."""
    return sum(0.3 if char in _NARROW_SIGNS else 0.78 if char in _WIDE_SIGNS else 0.53 for char in text)


def natural(grid: Grid, size: Size, column_space: float) -> float:
    """Estimate the width in pt of a table without paragraph columns."""
    heads = titles(grid, "html")
    widths = [max(_heading(head), _body(grid, index)) for index, head in enumerate(heads)]
    for each in spanners(grid, "html"):
        lacking = text_width(_visible(each.text)) - sum(widths[each.first - 1 : each.last])
        widths[each.last - 1] += max(0.0, lacking - 2 * column_space * (each.span - 1) / _POINTS[size])
    return sum(widths) * _POINTS[size] + 2 * column_space * (len(heads) - 1)


def _heading(lines: list[str]) -> float:
    return max(text_width(_visible(line)) for line in lines)


def _body(grid: Grid, index: int) -> float:
    """Estimate a column's widest cell, its pads and marks included."""
    cells = [row[index] for row in grid.rows if not row[index].hidden]
    marks = max((0.35 * cell.stars + 0.6 * (len(cell.marks) + bool(cell.reason)) for cell in cells), default=0.0)
    numbers = sum(_TOKENS.get(token, 0.6) for token in widest_tokens([cell.pieces for cell in cells]))
    words = max((text_width(cell.words) for cell in cells if cell.pieces is None), default=0.0)
    indent = 1.0 if index == 0 and grid.table.groups is not None and grid.table.group_style == "row" else 0.0
    last = index == len(grid.columns) - 1
    reserved = marks if not is_number(grid.columns[index]) or last or marks > 0.7 else 0.0
    return max(numbers, words) + reserved + indent


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


def _visible(heading: str) -> str:
    return re.sub(r"<[^>]*>|\\[a-zA-Z]+|[\\{}_^$]|&[a-z]+;", "", heading)
