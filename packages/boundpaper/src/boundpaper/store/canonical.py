"""Make numbers canonical, so that they are written, compared and hashed equally on every processor.

BLAS kernels sum in different orders. The last digits of a result therefore differ between processors, as do all digits
of a number that should be zero. So every number is rounded to `DIGITS` significant digits, and becomes zero if it is
smaller than `FLOOR` times the largest number in its column. P-values may be tiny and never become zero.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd  # imported in functions, since its import is slow

DIGITS = 8
FLOOR = 1e-13
TOLERANCE = 1e-6
HASHED_DIGITS = 6  # fewer digits, since the last digit may differ between processors

Floats = npt.NDArray[np.float64]


def is_probability(column: str) -> bool:
    """Return whether a column has p-values, according to its name: `p`, `p_value`, `p_adjusted`, `p_...`."""
    return column == "p" or column.startswith("p_")


def largest_magnitude(values: Floats) -> float:
    """Return the largest finite magnitude in a column, 0 if it has no finite number."""
    magnitudes = np.abs(values[np.isfinite(values)])
    return float(magnitudes.max()) if len(magnitudes) else 0.0


def round_column(column: str, values: Floats, digits: int = DIGITS, floor: float = FLOOR) -> Floats:
    """Return a column's numbers rounded to `digits` significant digits; noise and -0 become 0, and NaN stays.

    Noise is up to `floor` times the largest magnitude in the column, or 0 for p-values (`is_probability`).
    """
    noise = 0.0 if is_probability(column) else floor * largest_magnitude(values)
    rounded = [0.0 if abs(value) <= noise else float(f"{value:.{digits}g}") for value in values.tolist()]
    return np.array(rounded, dtype=float) + 0.0


def canonical_frame(frame: pd.DataFrame, digits: int = DIGITS) -> pd.DataFrame:
    """Return a frame with every float column rounded by `round_column`."""
    import pandas as pd

    rounded_columns = {
        name: round_column(str(name), frame[name].to_numpy(dtype=float), digits)
        for name in frame.columns
        if pd.api.types.is_float_dtype(frame[name])
    }
    return frame.assign(**rounded_columns) if rounded_columns else frame.copy()


def equal_numbers(column: str, left: Floats, right: Floats, tolerance: float = TOLERANCE) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows in which two columns differ by at most `tolerance` of the larger number, or by noise.

    Noise is up to 10 `FLOOR` times the largest magnitude in the columns, or 0 for p-values. NaN only equals NaN.
    """
    noise = 0.0 if is_probability(column) else 10 * FLOOR * max(largest_magnitude(left), largest_magnitude(right))
    with np.errstate(invalid="ignore"):
        are_close = np.abs(left - right) <= np.maximum(tolerance * np.maximum(np.abs(left), np.abs(right)), noise)
    return np.asarray(are_close | (np.isnan(left) & np.isnan(right)) | (left == right))


def same_cells(column: str, left: pd.Series, right: pd.Series, tolerance: float = TOLERANCE) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows in which two text columns are equal as text or by `equal_numbers`."""
    are_equal = np.asarray(left.to_numpy() == right.to_numpy(), dtype=np.bool_)
    if are_equal.all():
        return are_equal
    left_numbers, right_numbers = (_as_numbers(cells) for cells in (left, right))
    are_finite = np.isfinite(left_numbers) & np.isfinite(right_numbers)
    return np.asarray(are_equal | (are_finite & equal_numbers(column, left_numbers, right_numbers, tolerance)))


def agree(old: bytes, new: bytes, tolerance: float = TOLERANCE) -> bool:
    """Return whether two CSV texts have the same columns, as many rows, and cells that are equal by `same_cells`."""
    import pandas as pd

    try:
        before, after = (pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False) for content in (old, new))
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError):
        return False
    if list(before.columns) != list(after.columns) or len(before) != len(after):
        return False
    return all(same_cells(str(name), before[name], after[name], tolerance).all() for name in before.columns)


def content_hash(text: str) -> tuple[int, str]:
    """Return the number of rows in a CSV, without header, and the hash of its content, 32 hexadecimal digits.

    Floats are rounded to `HASHED_DIGITS` digits before hashing. Line ends and quoting do not change the hash.
    """
    return records_hash(csv.reader(io.StringIO(text, newline="")))


def records_hash(records: Iterable[Sequence[str]]) -> tuple[int, str]:
    """Return the number of rows and the content hash of a table, given its header and rows as sequences of cells."""
    rows = list(records)
    hasher = hashlib.blake2b(digest_size=16)
    if rows and all(len(row) == len(rows[0]) for row in rows):
        columns = zip(*rows, strict=True)
        rows = list(zip(*(_hashed_cells(column) for column in columns), strict=True))
    hasher.update("".join("\x1f".join(row) + "\x1e" for row in rows).encode())
    return sum(map(bool, rows[1:])), hasher.hexdigest()


def _hashed_cells(column: tuple[str, ...]) -> list[str]:
    import pandas as pd

    name, *cells = column
    have_point = ["." in cell or "e" in cell or "E" in cell for cell in cells]
    if not any(have_point):
        return [name, *cells]
    numbers = _as_numbers(pd.Series(cells, dtype=object))
    are_floats = np.array(have_point, dtype=bool) & np.isfinite(numbers)
    noise = 0.0 if is_probability(name) else 10 * FLOOR * largest_magnitude(numbers)
    denoised = np.where(np.abs(numbers) <= noise, 0.0, numbers)
    rounded = (f"%.{HASHED_DIGITS}g\n" * len(cells) % tuple(denoised.tolist())).splitlines()  # faster than cell by cell
    cells_with_numbers = zip(cells, rounded, are_floats.tolist(), strict=True)
    return [name, *(number if is_float else cell for cell, number, is_float in cells_with_numbers)]


def _as_numbers(cells: pd.Series) -> Floats:
    import pandas as pd

    return pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float)
