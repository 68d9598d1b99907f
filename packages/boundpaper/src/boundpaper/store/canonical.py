"""Make numbers canonical, so that they are written, compared and hashed alike on every processor.

BLAS kernels sum in different orders, so the last digits of a result, and every digit of what should be zero, differ
from one processor to the next. A column is therefore rounded to `DIGITS` significant digits, and what is smaller than
`FLOOR` of its largest number is zero. P-values have no such floor: their smallness is the message.
"""

from __future__ import annotations

import csv
import hashlib
import io
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd  # where it is needed: who asks for digits only does without it

DIGITS = 8
FLOOR = 1e-13
TOLERANCE = 1e-6
HASHED_DIGITS = 6  # a last digit that flips between two processors must not change a hash

Floats = npt.NDArray[np.float64]


def is_probability(column: str) -> bool:
    """Return whether a column holds p-values, judged by its name: `p`, `p_value`, `p_adjusted`, `p_...`."""
    return column == "p" or column.startswith("p_")


def scale(values: Floats) -> float:
    """Return the largest finite magnitude in a column, 0 if it has no finite number."""
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if len(finite) else 0.0


def round_column(column: str, values: Floats, digits: int = DIGITS, floor: float = FLOOR) -> Floats:
    """Round a column's numbers to `digits` significant digits; rounding noise and -0 become 0; NaN stays.

    A column of probabilities, told by its name, keeps the smallest numbers. `floor` is the share of the column's scale
    below which a number is zero.
    """
    noise = 0.0 if is_probability(column) else floor * scale(values)
    kept = [0.0 if abs(value) <= noise else float(f"{value:.{digits}g}") for value in values.tolist()]
    return np.array(kept, dtype=float) + 0.0


def canonical_frame(frame: pd.DataFrame, digits: int = DIGITS) -> pd.DataFrame:
    """Return a frame in which every column of floats is `rounded`."""
    import pandas as pd

    changed = {
        name: round_column(str(name), frame[name].to_numpy(dtype=float), digits)
        for name in frame.columns
        if pd.api.types.is_float_dtype(frame[name])
    }
    return frame.assign(**changed) if changed else frame.copy()


def equal_numbers(column: str, left: Floats, right: Floats, tolerance: float = TOLERANCE) -> npt.NDArray[np.bool_]:
    """Return a mask of equal numbers in two columns: within `tolerance` of the larger, or both within its noise.

    The noise is ten times `FLOOR` of the scale of both columns, and none for p-values. Two missing numbers are the
    same, a missing one and a number are not.
    """
    noise = 0.0 if is_probability(column) else 10 * FLOOR * max(scale(left), scale(right))
    with np.errstate(invalid="ignore"):
        near = np.abs(left - right) <= np.maximum(tolerance * np.maximum(np.abs(left), np.abs(right)), noise)
    return np.asarray(near | (np.isnan(left) & np.isnan(right)) | (left == right))


def same_cells(column: str, left: pd.Series, right: pd.Series, tolerance: float = TOLERANCE) -> npt.NDArray[np.bool_]:
    """Return a mask of cells in two text columns of equal length that are equal, as text or as `equal_numbers`."""
    equal = np.asarray(left.to_numpy() == right.to_numpy(), dtype=np.bool_)
    if equal.all():
        return equal
    one, two = (_as_numbers(part) for part in (left, right))
    both = np.isfinite(one) & np.isfinite(two)
    return np.asarray(equal | (both & equal_numbers(column, one, two, tolerance)))


def agree(old: bytes, new: bytes, tolerance: float = TOLERANCE) -> bool:
    """Return whether two CSV texts have the same columns and rows, with cells that are the same by `same_cells`."""
    import pandas as pd

    try:
        one, two = (pd.read_csv(io.BytesIO(part), dtype=str, keep_default_na=False) for part in (old, new))
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError):
        return False
    if list(one.columns) != list(two.columns) or len(one) != len(two):
        return False
    return all(same_cells(str(name), one[name], two[name], tolerance).all() for name in one.columns)


def content_hash(text: str) -> tuple[int, str]:
    """Return the number of rows in a CSV, without its header, and the hash of its content, 32 hexadecimal digits.

    The content is its cells, with fractions to `HASHED_DIGITS` digits: equal for two processors' versions of one
    result, for other line ends and for other quoting.
    """
    rows = list(csv.reader(io.StringIO(text, newline="")))
    made = hashlib.blake2b(digest_size=16)
    if rows and all(len(row) == len(rows[0]) for row in rows):
        columns = zip(*rows, strict=True)
        rows = [list(row) for row in zip(*(_hashed_cells(column) for column in columns), strict=True)]
    for row in rows:
        made.update("\x1f".join(row).encode() + b"\x1e")
    return sum(map(bool, rows[1:])), made.hexdigest()


def _hashed_cells(column: tuple[str, ...]) -> list[str]:
    import pandas as pd

    name, *cells = column
    marked = ["." in cell or "e" in cell or "E" in cell for cell in cells]
    if not any(marked):
        return [name, *cells]
    numbers = _as_numbers(pd.Series(cells, dtype=object))
    floats = np.array(marked, dtype=bool) & np.isfinite(numbers)
    noise = 0.0 if is_probability(name) else 10 * FLOOR * scale(numbers)
    return [
        name,
        *(
            cell if not is_float else "0" if abs(number) <= noise else f"{number:.{HASHED_DIGITS}g}"
            for cell, number, is_float in zip(cells, numbers.tolist(), floats.tolist(), strict=True)
        ),
    ]


def _as_numbers(cells: pd.Series) -> Floats:
    import pandas as pd

    return pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float)
