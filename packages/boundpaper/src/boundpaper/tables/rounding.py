"""Round the cells of a column with its format, and find the best cells."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from boundpaper.errors import DataError, SpecError, ThesisError
from boundpaper.tables.align import Pieces, interval_pieces, missing_pieces, number_pieces, spread_pieces
from boundpaper.tables.cells import Cell
from boundpaper.tables.spec import Column
from boundpaper.typeset.numbers import AsPrinted, Fixed, PValue, Scientific, Significant, Uncertain, Words, stars
from boundpaper.typeset.numbers import text as text_format
from boundpaper.typeset.rounding import half_width


def rounded_cells(
    column: Column, cells: Sequence[Cell], levels: tuple[float, ...], location_of: Callable[[int | None], str]
) -> list[Cell]:
    """Return the cells of a column with pieces, words and stars filled in.

    `levels` are the significance levels of the stars. `location_of` returns the location of a row for messages, or,
    given None, that of the column. Raises DataError for a value that the format cannot show, and for an `uncertain()`
    column whose uncertainties are all 0.
    """
    decimals = _column_decimals(column, cells, location_of)
    result = []
    for row, cell in enumerate(cells):
        try:
            result.append(_rounded_cell(column, cell, levels, decimals[row]))
        except ThesisError as error:
            raise type(error)(f"{location_of(row)}: {error}") from None
    pieces = next((cell.pieces for cell in result if cell.pieces is not None), None)
    if pieces is None:
        return result
    dash = missing_pieces(pieces)
    return [replace(cell, pieces=dash) if cell.value is None and cell.reason else cell for cell in result]


def _column_decimals(column: Column, cells: Sequence[Cell], location_of: Callable[[int | None], str]) -> list[int]:
    """Return each cell's number of decimals in an `uncertain()` column: the largest if all differ by at most 1."""
    if not isinstance(column.show, Uncertain):
        return [0] * len(cells)
    decimals_by_row: dict[int, int] = {}
    for row, cell in enumerate(cells):
        uncertainty = cell.uncertainty
        if cell.low is not None and cell.high is not None:
            uncertainty = half_width(cell.low, cell.high)
        if uncertainty:
            decimals_by_row[row] = column.show.decimals(uncertainty)
    if not decimals_by_row:
        raise DataError(f"{location_of(None)}: all uncertainties are 0, so the precision is unknown: use fixed(digits)")
    finest = max(decimals_by_row.values())
    nearly_equal = finest - min(decimals_by_row.values()) <= 1
    return [finest if nearly_equal else decimals_by_row.get(row, finest) for row in range(len(cells))]


def _rounded_cell(column: Column, cell: Cell, levels: tuple[float, ...], decimals: int) -> Cell:
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
    spread = [number for number in (cell.uncertainty, cell.low, cell.high) if number is not None]
    if isinstance(show, Uncertain):
        parts = show.parts_at(decimals, cell.value)
        spread_parts = [replace(show, sign=False).parts_at(decimals, number) for number in spread]
    elif isinstance(show, (Fixed, Significant)):
        parts = show.parts(cell.value)
        unsigned_format = show.bare() if isinstance(show, Fixed) else show
        spread_parts = [unsigned_format.parts(number) for number in spread]
    elif isinstance(show, (PValue, Scientific)):
        parts, spread_parts = show.parts(cell.value), []
    else:
        raise SpecError(f"{show!r} is not a format for numbers in a table")
    pieces: Pieces = number_pieces(parts)
    if column.ci:
        pieces += interval_pieces(spread_parts)
    elif column.uncertainty:
        pieces += spread_pieces(spread_parts)
    return replace(cell, pieces=pieces)


def mark_best(column: Column, cells: list[Cell], groups: Sequence[str]) -> list[Cell]:
    """Return a column's cells, with `is_best` set for the best cell of each group if its interval overlaps no other.

    The interval is `ci`, or the value ± 2 uncertainties; a cell without either has an infinite interval.
    """
    if column.best is None:
        return cells
    marked_cells = list(cells)
    for group in dict.fromkeys(groups):
        ranges = [
            (*_value_range(cell, 1 if column.best == "max" else -1), row)
            for row, cell in enumerate(cells)
            if groups[row] == group and cell.value is not None
        ]
        if len(ranges) < 2:
            continue
        _, best_low, _, best_row = max(ranges)
        if best_low > max(high for _, _, high, row in ranges if row != best_row):
            marked_cells[best_row] = replace(cells[best_row], is_best=True)
    return marked_cells


def _value_range(cell: Cell, sign: int) -> tuple[float, float, float]:
    """Return a cell's value and the ends of its interval, all multiplied by `sign`."""
    if not isinstance(cell.value, (int, float)):
        raise SpecError(f"{cell.value!r} is not a number, so it cannot be the best: leave out best=")
    low, high = -math.inf, math.inf
    if cell.low is not None and cell.high is not None:
        low, high = cell.low, cell.high
    elif cell.uncertainty is not None:
        low, high = cell.value - 2 * cell.uncertainty, cell.value + 2 * cell.uncertainty
    ends = sorted((sign * low, sign * high))
    return sign * cell.value, ends[0], ends[1]
