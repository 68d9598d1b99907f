"""Estimate the width of a table from the character widths of Palatino, and choose a font size at which it fits."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from boundpaper.tables.align import Pieces, widest_tokens
from boundpaper.tables.cells import Grid, is_number
from boundpaper.tables.layout import heading_lines, spanners
from boundpaper.tables.spec import Column, Size, mark_names
from boundpaper.typeset.armour import plain

LINE = 430.0  # text width in pt, slightly below the 152 mm of scrreprt on A4 at 11 pt
LANDSCAPE_LINE = 600.0  # text width of a landscape page in pt
MIN_WIDTH = 250.0  # in pt; a narrower table is stretched to this width, so that its caption and notes have room
TOLERANCE = 5.0  # pt by which the estimated width may exceed the line, for the estimate's error and LaTeX's tolerance
MIN_BROKEN_WIDTH = 6.0  # minimum width in em of a text column that becomes a paragraph, since the table is too wide
ROOMY_SPACE = 4.0  # minimum of half the column space, in pt, for marks that extend into the space between columns
_POINTS: dict[Size, float] = {"small": 10, "footnotesize": 9, "scriptsize": 8}
_SIZES_AND_SPACES: tuple[tuple[Size, float], ...] = (
    ("small", 6), ("footnotesize", 5), ("footnotesize", 3.5), ("scriptsize", 3.5), ("scriptsize", 2.5),
)  # fmt: skip
_NARROW_SIGNS, _WIDE_SIGNS = frozenset("iljftrI.,;:!'|()[]- ^"), frozenset("mwMWAODGHNQUKRVXY%@")
_TOKEN_WIDTHS = {
    "0": 0.5, "-": 0.61, ".": 0.25, ",": 0.25, ";": 0.5, "[": 0.33, "]": 0.33, "e": 1.95, "^0": 0.37, "^-": 0.5,
    "±": 0.95, "%": 0.84, "×": 0.61, " ": 0.25, "<": 0.78, ">": 0.78, "*": 0.36,
}  # fmt: skip


def text_width(text: str) -> float:
    """Return the estimated width of a text in em."""
    text = plain(text)
    return sum(0.3 if char in _NARROW_SIGNS else 0.78 if char in _WIDE_SIGNS else 0.53 for char in text)


@dataclass(frozen=True)
class PageWidths:
    """The widths of a line, of a line on a landscape page, and of the narrowest table, in pt."""

    line: float = LINE
    landscape_line: float = LANDSCAPE_LINE
    narrow: float = MIN_WIDTH


DEFAULT_PAGE = PageWidths()


@dataclass(frozen=True)
class TableFit:
    """The font size of a table and its widths in pt.

    `space` is half the space between columns, and `width` the estimated width of the table; `paragraphs` has the width
    of each paragraph column by its index.
    """

    size: Size
    space: float
    width: float
    paragraphs: Mapping[int, float]


def fit_table(grid: Grid, page: PageWidths = DEFAULT_PAGE) -> TableFit:
    """Return the fit with the largest font size and column space at which the table fits the line.

    A size or column space that the table specifies is kept. Paragraph columns shrink by a common factor until the table
    fits; if they would lose more than an eighth, a smaller font size is used.
    """
    table = grid.table
    has_paragraphs = any(column.width is not None for column in grid.columns)
    choices = [choice for choice in _SIZES_AND_SPACES if table.size in (None, choice[0])]
    if has_paragraphs and table.size is None:
        choices = [choice for choice in choices if choice[0] != "small"]
    for size, space in choices:
        fit, shrinkage = _try_size(grid, size, table.column_space if table.column_space is not None else space, page)
        if fit.width <= _line_width(grid, page) and shrinkage >= 7 / 8:
            return fit
    return _with_broken_text(grid, fit, page)


def _with_broken_text(grid: Grid, fit: TableFit, page: PageWidths) -> TableFit:
    """Return the fit; if the table is too wide, its widest text column becomes a narrower paragraph column."""
    excess = fit.width - _line_width(grid, page)
    font_size = _POINTS[fit.size]
    widths = {
        index: _body_width(grid, index, fit.space) * font_size
        for index, column in enumerate(grid.columns)
        if column.width is None and not is_number(column)
    }
    if excess <= TOLERANCE or not widths:
        return fit
    widest = max(widths, key=lambda index: widths[index])
    width = widths[widest] - excess
    if width < MIN_BROKEN_WIDTH * font_size:
        return fit
    return replace(fit, width=_line_width(grid, page), paragraphs={**fit.paragraphs, widest: width})


def _line_width(grid: Grid, page: PageWidths) -> float:
    return page.landscape_line if grid.table.landscape else page.line


def _try_size(grid: Grid, size: Size, space: float, page: PageWidths) -> tuple[TableFit, float]:
    """Return a table's fit at a font size, and the factor by which its paragraph columns shrink."""
    font_size, headings = _POINTS[size], heading_lines(grid, "html")
    widths = [
        max(_heading_width(lines, column), _body_width(grid, index, space)) * font_size if column.width is None else 0.0
        for index, (lines, column) in enumerate(zip(headings, grid.columns, strict=True))
    ]
    for spanner in spanners(grid, "html"):
        columns = range(spanner.first - 1, spanner.last)
        excess = text_width(_visible_text(spanner.text)) * font_size - sum(widths[index] for index in columns)
        if all(grid.columns[index].width is None for index in columns):
            widths[spanner.last - 1] += max(0.0, excess - 2 * space * (spanner.span - 1))
    fixed_width = sum(widths) + 2 * space * (len(widths) - 1)
    paragraphs = {
        index: _paragraph_width(column.width, _line_width(grid, page), font_size, space)
        for index, column in enumerate(grid.columns)
        if column.width
    }
    total = sum(paragraphs.values())
    factor = min(1.0, max(0.25, (_line_width(grid, page) - fixed_width) / total)) if total else 1.0
    paragraphs = {index: width * factor for index, width in paragraphs.items()}
    return TableFit(size, space, fixed_width + sum(paragraphs.values()), paragraphs), factor


def _paragraph_width(width: str | float, line: float, font_size: float, space: float) -> float:
    """Return the width of a paragraph column in pt, given `Column.width`, on a line of `line` pt."""
    if not isinstance(width, str):
        return max(10.0, width * line - 2 * space)
    number, unit = width[:-2], width[-2:]
    return float(number) * {"mm": 2.845, "cm": 28.45, "in": 72.27, "pt": 1.0, "em": font_size}[unit]


def _heading_width(lines: list[str], column: Column) -> float:
    """Return the estimated width of a heading's widest line in em; the last line includes its marks."""
    mark_width = 0.6 * len(mark_names(column.title_mark or ""))
    return max(text_width(_visible_text(line)) + (mark_width if line is lines[-1] else 0.0) for line in lines)


def _body_width(grid: Grid, index: int, space: float) -> float:
    """Return the estimated width of a column's widest cell in em, including padding and marks."""
    cells = [row[index] for row in grid.rows if not row[index].is_hidden]
    mark_width = max((0.35 * cell.stars + 0.6 * (len(cell.marks) + bool(cell.reason)) for cell in cells), default=0.0)
    pieces_by_unit: dict[str, list[Pieces | None]] = {}
    for row, unit in zip(grid.rows, grid.units, strict=True):
        pieces_by_unit.setdefault(unit, []).append(row[index].pieces)
    number_width = max(
        sum(_TOKEN_WIDTHS.get(token, 0.6) for token in widest_tokens(pieces)) for pieces in pieces_by_unit.values()
    )
    words_width = max((text_width(cell.words) for cell in cells if cell.pieces is None), default=0.0)
    indent = 1.0 if index == 0 and grid.table.groups is not None and grid.table.group_style == "row" else 0.0
    is_last = index == len(grid.columns) - 1
    marks_hang = is_number(grid.columns[index]) and not is_last and mark_width <= 0.7 and space >= ROOMY_SPACE
    return max(number_width, words_width) + (0.0 if marks_hang else mark_width) + indent


def _visible_text(heading: str) -> str:
    return re.sub(r"<[^<>]*>|\\[a-zA-Z]+|[\\{}_^$]|&[a-z]+;", "", heading)
