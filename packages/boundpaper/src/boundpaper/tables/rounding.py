"""Round the cells of a column with its format, and find the best cells."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from boundpaper.errors import DataError, SpecError, ThesisError
from boundpaper.tables.align import Pieces, estimate_pieces, missing_pieces, number_pieces, spread_pieces
from boundpaper.tables.cells import Cell
from boundpaper.tables.spec import Column
from boundpaper.typeset.numbers import AsPrinted, Fixed, PValue, Scientific, Significant, Uncertain, Words, stars
from boundpaper.typeset.numbers import text as text_format
from boundpaper.typeset.rounding import half_width


def rounded(
    column: Column, cells: Sequence[Cell], levels: tuple[float, ...], where: Callable[[int | None], str]
) -> list[Cell]:
    """Return the cells with pieces, words and stars filled in.

    `cells` are the unrounded cells of the column, and `levels` the p-value levels of stars; `where` returns the name of
    a row, or for None of the column, for messages. Raises DataError for a value that the format cannot show, and for an
    `uncertain()` column whose uncertainties are all 0.
    """
    places = _column_decimals(column, cells, where)
    rounded_cells = []
    for row, cell in enumerate(cells):
        try:
            rounded_cells.append(_rounded_cell(column, cell, levels, places[row]))
        except ThesisError as error:
            raise type(error)(f"{where(row)}: {error}") from None
    like = next((cell.pieces for cell in rounded_cells if cell.pieces is not None), None)
    if like is None:
        return rounded_cells
    gap = missing_pieces(like)
    return [replace(cell, pieces=gap) if cell.value is None and cell.reason else cell for cell in rounded_cells]


def _column_decimals(column: Column, cells: Sequence[Cell], where: Callable[[int | None], str]) -> list[int]:
    """Return the decimals of an `uncertain()` column: the same for all if they agree within a digit, else per cell."""
    if not isinstance(column.show, Uncertain):
        return [0] * len(cells)
    decimals_by_row: dict[int, int] = {}
    for row, cell in enumerate(cells):
        uncertainty = cell.uncertainty
        if cell.low is not None and cell.high is not None:
            uncertainty = half_width(cell.low, cell.high)
        if uncertainty:
            decimals_by_row[row] = column.show.place(uncertainty)
    if not decimals_by_row:
        raise DataError(f"{where(None)}: all uncertainties are 0, so the precision is unknown: use fixed(digits)")
    finest = max(decimals_by_row.values())
    nearly_equal = finest - min(decimals_by_row.values()) <= 1
    return [finest if nearly_equal else decimals_by_row.get(row, finest) for row in range(len(cells))]


def _rounded_cell(column: Column, cell: Cell, levels: tuple[float, ...], place: int) -> Cell:
    if cell.value is None:
        return cell
    show = column.show
    if isinstance(show, Fixed) and cell.digits is not None:
        show = replace(show, digits=cell.digits)
    if isinstance(show, Words):
        return replace(cell, words=text_format.show(cell.value, "plain"))
    cell = replace(cell, stars=stars(cell.p, levels) if cell.p is not None else 0)
    if isinstance(show, AsPrinted):
        number = show.parts(cell.value)
        return replace(cell, pieces=number_pieces(number) if number else None, words=str(cell.value))
    extras = [extra for extra in (cell.uncertainty, cell.low, cell.high) if extra is not None]
    if isinstance(show, Uncertain):
        parts = show.at(place, cell.value)
        ends = [replace(show, sign=False).at(place, extra) for extra in extras]
    elif isinstance(show, (Fixed, Significant)):
        parts = show.parts(cell.value)
        unsigned_format = show.bare() if isinstance(show, Fixed) else show
        ends = [unsigned_format.parts(extra) for extra in extras]
    elif isinstance(show, (PValue, Scientific)):
        parts, ends = show.parts(cell.value), []
    else:
        raise SpecError(f"{show!r} is not a format for numbers in a table")
    pieces: Pieces = number_pieces(parts)
    if column.ci:
        pieces += estimate_pieces(ends)
    elif column.uncertainty:
        pieces += spread_pieces(ends)
    return replace(cell, pieces=pieces)


def mark_best(column: Column, cells: list[Cell], groups: Sequence[str]) -> list[Cell]:
    """Return the cells, with the best of each group marked if its interval overlaps no other.

    The interval is `ci`, or the value ± 2 uncertainties; a cell without interval overlaps all others.
    """
    if column.best is None:
        return cells
    marked_cells = list(cells)
    for group in dict.fromkeys(groups):
        spans = [
            (*_value_range(cell, 1 if column.best == "max" else -1), row)
            for row, cell in enumerate(cells)
            if groups[row] == group and cell.value is not None
        ]
        if len(spans) < 2:
            continue
        _, floor, _, row = max(spans)
        if floor > max(high for _, _, high, other_row in spans if other_row != row):
            marked_cells[row] = replace(cells[row], best=True)
    return marked_cells


def _value_range(cell: Cell, sign: int) -> tuple[float, float, float]:
    """Return a cell's value and interval, negated if the smallest value is the best."""
    if not isinstance(cell.value, (int, float)):
        raise SpecError(f"{cell.value!r} is not a number, so best cannot judge it")
    low, high = -math.inf, math.inf
    if cell.low is not None and cell.high is not None:
        low, high = cell.low, cell.high
    elif cell.uncertainty is not None:
        low, high = cell.value - 2 * cell.uncertainty, cell.value + 2 * cell.uncertainty
    ends = sorted((sign * low, sign * high))
    return sign * cell.value, ends[0], ends[1]
