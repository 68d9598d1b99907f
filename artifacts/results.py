"""Results: what a study returns, written as a stable CSV that only changes when its numbers do."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd

from artifacts.errors import DataError, SpecError
from artifacts.job import Job

TOLERANCE = 1e-6
_REASONS = ("reason", "note")


def build(job: Job) -> dict[str, bytes]:
    """Builder of a study's result: `artifacts/results/NAME.csv`."""
    frame = job.call()
    if not isinstance(frame, pd.DataFrame):
        raise SpecError(f"{job.file}: {job.function}() returned a {type(frame).__name__}; return a DataFrame")
    path = f"artifacts/results/{job.name}.csv"
    return {path: settled(job.root / path, text(frame, job.name).encode())}


def text(frame: pd.DataFrame, name: str) -> str:
    """A frame as CSV: 8 significant digits, stable line ends.

    Raises
    ------
    DataError
        When the frame is empty, a number is infinite, or a cell is missing in a row without `reason` or `note`.
    """
    if frame.empty:
        raise DataError(f"result {name}: no rows; a study must say something of its inputs")
    if frame.columns.duplicated().any():
        raise DataError(f"result {name}: column {frame.columns[frame.columns.duplicated()][0]!r} stands twice")
    explained = pd.Series(False, index=frame.index)
    for column in (column for column in _REASONS if column in frame.columns):
        explained |= frame[column].fillna("").astype(str).str.len() > 0
    for column in frame.columns:
        if column in _REASONS:
            continue
        if pd.api.types.is_float_dtype(frame[column]) and np.isinf(frame[column].to_numpy(dtype=float)).any():
            raise DataError(f"result {name}: column {column!r} holds an infinity; leave it empty and give a note")
        bare = frame[column].isna() & ~explained
        if bare.any():
            row = int(np.flatnonzero(bare.to_numpy())[0]) + 2
            raise DataError(f"result {name}: row {row}, {column}: missing without a reason; fill `note` or `reason`")
    rounded = frame.copy()
    for column in rounded.columns:
        if pd.api.types.is_float_dtype(rounded[column]):
            rounded[column] = rounded[column].where(rounded[column] != 0, 0.0)  # no -0
    return rounded.to_csv(index=False, float_format="%.8g", lineterminator="\n")


def settled(path: Path, new: bytes) -> bytes:
    """The bytes to keep at `path`: the old ones when numbers agree within `TOLERANCE` and all else is equal."""
    if not path.is_file():
        return new
    old = path.read_bytes()
    return old if old == new or agree(old, new) else new


def agree(old: bytes, new: bytes, tolerance: float = TOLERANCE) -> bool:
    """Whether two CSV texts hold the same cells, numbers within a relative tolerance."""
    try:
        one, two = (pd.read_csv(io.BytesIO(part), dtype=str, keep_default_na=False) for part in (old, new))
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError):
        return False
    if list(one.columns) != list(two.columns) or len(one) != len(two):
        return False
    for column in one.columns:
        differ = (one[column] != two[column]).to_numpy()
        if not differ.any():
            continue
        left, right = (pd.to_numeric(frame[column][differ], errors="coerce") for frame in (one, two))
        if left.isna().any() or right.isna().any():
            return False
        scale = np.maximum(left.abs().to_numpy(), right.abs().to_numpy())
        if (np.abs(left.to_numpy() - right.to_numpy()) > tolerance * scale).any():
            return False
    return True
