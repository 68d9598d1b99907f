"""Write the results of studies as CSV files that only change when their numbers change."""

from pathlib import Path

import numpy as np
import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.canonical import DIGITS, agree, canonical_frame

_REASONS = ["reason", "note"]


def text(frame: pd.DataFrame, name: str) -> str:
    """Return a frame as CSV, with canonical numbers and lines that end with line feeds.

    Raises DataError when the frame is empty, a number is infinite, or a cell is missing in a row without `reason` or
    `note`.
    """
    if frame.empty:
        raise DataError(f"result {name}: no rows; a study must return at least one row")
    if frame.columns.duplicated().any():
        raise DataError(f"result {name}: column {frame.columns[frame.columns.duplicated()][0]!r} appears twice")
    has_reason = pd.Series(False, index=frame.index)
    for column in frame.columns.intersection(_REASONS):
        has_reason |= frame[column].fillna("").astype(str).str.len() > 0
    for column in frame.columns.difference(_REASONS, sort=False):
        if pd.api.types.is_float_dtype(frame[column]) and np.isinf(frame[column].to_numpy(dtype=float)).any():
            raise DataError(f"result {name}: column {column!r} has an infinity; leave the cell empty and give a note")
        lacks_reason = frame[column].isna() & ~has_reason
        if lacks_reason.any():
            row = int(np.flatnonzero(lacks_reason.to_numpy())[0]) + 2
            raise DataError(f"result {name}: row {row}, {column}: missing without a reason; fill `note` or `reason`")
    return canonical_frame(frame).to_csv(index=False, float_format=f"%.{DIGITS}g", lineterminator="\n")


def bytes_to_keep(path: Path, new: bytes) -> bytes:
    """Return what to write to `path`: its old bytes if their numbers `agree` with those in `new`, else `new`."""
    if not path.is_file():
        return new
    old = path.read_bytes()
    return old if old == new or agree(old, new) else new
