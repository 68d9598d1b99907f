"""Estimate the width of a table from the character widths of Palatino, to choose a font size at which it fits."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from boundpaper.tables.align import widest_tokens
from boundpaper.tables.cells import Grid, is_number
from boundpaper.tables.layout import heading_lines, spanners
from boundpaper.tables.spec import Column, Size, mark_names
from boundpaper.typeset.armour import plain

LINE = 430.0  # pt, slightly below the 152 mm text width of scrreprt on A4 at 11 pt
TURNED = 600.0  # pt, text width of a landscape page
NARROW = 250.0  # pt: narrower tables are stretched to this width, so that caption and notes have room
OVER = 5.0  # pt by which the estimated width may exceed the line: the estimate's error, and LaTeX's tolerance
BROKEN = 6.0  # em: least width to which a text column is narrowed, with broken lines, if the table is too wide
ROOMY = 4.0  # pt of half column space: with less, marks must not extend into the column gap
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
    """Return the estimated width of a text in em."""
    text = plain(text)
    return sum(0.3 if char in _NARROW_SIGNS else 0.78 if char in _WIDE_SIGNS else 0.53 for char in text)


@dataclass(frozen=True)
class PageWidths:
    """Widths in pt: of a line, of a line on a landscape page, and the least width of a table."""

    line: float = LINE
    turned: float = TURNED
    narrow: float = NARROW


HOUSE = PageWidths()


@dataclass(frozen=True)
class TableFit:
    """The size and layout of a table.

    `space` is half the space between columns and `width` the estimated width of the table, in pt; `paragraphs` has the
    widths of paragraph columns in pt, by index.
    """

    size: Size
    space: float
    width: float
    paragraphs: Mapping[int, float]


def fit_table(grid: Grid, page: PageWidths = HOUSE) -> TableFit:
    """Return the font size and column space that the table specifies, or else the largest that fit the line.

    Paragraph columns shrink by a common factor until the table fits; if they would lose more than an eighth, a smaller
    font size is used.
    """
    table = grid.table
    paragraphs = any(column.width is not None for column in grid.columns)
    choices = [choice for choice in _CHOICES if table.size in (None, choice[0])]
    if paragraphs and table.size is None:
        choices = [choice for choice in choices if choice[0] != "small"]
    for size, space in choices:
        fit, shrunk = _try_size(grid, size, table.column_space if table.column_space is not None else space, page)
        if fit.width <= _line_width(grid, page) and shrunk >= 7 / 8:
            return fit
    return _with_broken_text(grid, fit, page)


def _with_broken_text(grid: Grid, fit: TableFit, page: PageWidths) -> TableFit:
    """Return the fit; if the table is wider than its line, make its widest text column a narrower paragraph column."""
    lacking = fit.width - _line_width(grid, page)
    texts = [index for index, column in enumerate(grid.columns) if column.width is None and not is_number(column)]
    if lacking <= OVER or not texts:
        return fit
    point = _POINTS[fit.size]
    widths = {index: _body_width(grid, index, fit.space) * point for index in texts}
    widest = max(texts, key=lambda index: widths[index])
    remaining = widths[widest] - lacking
    if remaining < BROKEN * point:
        return fit
    return replace(fit, width=_line_width(grid, page), paragraphs={**fit.paragraphs, widest: remaining})


def _line_width(grid: Grid, page: PageWidths) -> float:
    return page.turned if grid.table.landscape else page.line


def _try_size(grid: Grid, size: Size, space: float, page: PageWidths) -> tuple[TableFit, float]:
    """Return a table's fit at a font size, and the factor by which its paragraph columns shrink."""
    point, heads = _POINTS[size], heading_lines(grid, "html")
    widths = [
        max(_heading_width(head, column), _body_width(grid, index, space)) * point if column.width is None else 0.0
        for index, (head, column) in enumerate(zip(heads, grid.columns, strict=True))
    ]
    for spanner in spanners(grid, "html"):
        inside = range(spanner.first - 1, spanner.last)
        lacking = text_width(_visible_text(spanner.text)) * point - sum(widths[index] for index in inside)
        if all(grid.columns[index].width is None for index in inside):
            widths[spanner.last - 1] += max(0.0, lacking - 2 * space * (spanner.span - 1))
    used = sum(widths) + 2 * space * (len(widths) - 1)
    requested = {
        index: _paragraph_width(column.width, _line_width(grid, page), point, space)
        for index, column in enumerate(grid.columns)
        if column.width
    }
    total = sum(requested.values())
    shrunk = min(1.0, max(0.25, (_line_width(grid, page) - used) / total)) if total else 1.0
    final = {index: width * shrunk for index, width in requested.items()}
    return TableFit(size, space, used + sum(final.values()), final), shrunk


def _paragraph_width(width: str | float, line: float, point: float, space: float) -> float:
    """Return the width in pt that a paragraph column specifies."""
    if not isinstance(width, str):
        return max(10.0, width * line - 2 * space)
    number, unit = width[:-2], width[-2:]
    return float(number) * {"mm": 2.845, "cm": 28.45, "in": 72.27, "pt": 1.0, "em": point}[unit]


def _heading_width(lines: list[str], column: Column) -> float:
    """Return the estimated width of a heading's widest line; marks are on the last line."""
    marks = 0.6 * len(mark_names(column.title_mark or ""))
    return max(text_width(_visible_text(line)) + (marks if line is lines[-1] else 0.0) for line in lines)


def _body_width(grid: Grid, index: int, space: float) -> float:
    """Return the estimated width of a column's widest cell, including padding and marks."""
    cells = [row[index] for row in grid.rows if not row[index].hidden]
    marks = max((0.35 * cell.stars + 0.6 * (len(cell.marks) + bool(cell.reason)) for cell in cells), default=0.0)
    numbers = max(
        sum(_TOKENS.get(token, 0.6) for token in widest_tokens([cell.pieces for cell in alike]))
        for unit in set(grid.units)
        if (alike := [row[index] for row, row_unit in zip(grid.rows, grid.units, strict=True) if row_unit == unit])
    )
    words = max((text_width(cell.words) for cell in cells if cell.pieces is None), default=0.0)
    indent = 1.0 if index == 0 and grid.table.groups is not None and grid.table.group_style == "row" else 0.0
    hanging = is_number(grid.columns[index]) and index < len(grid.columns) - 1 and marks <= 0.7 and space >= ROOMY
    mark_space = 0.0 if hanging else marks
    return max(numbers, words) + mark_space + indent


def _visible_text(heading: str) -> str:
    return re.sub(r"<[^<>]*>|\\[a-zA-Z]+|[\\{}_^$]|&[a-z]+;", "", heading)
