"""Read artifacts as DataFrames, with column types from the schema."""

import functools
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.descriptor import fields_of, files, resource
from boundpaper.store.files import stamp_of
from boundpaper.store.frames import parsed
from boundpaper.store.header import mismatch
from boundpaper.store.missing import clear_missing, only_empty_is_missing
from boundpaper.store.paths import PARQUET, SCHEMA
from boundpaper.store.table_file import table_text

_TEXT = pd.StringDtype("python", na_value=np.nan)  # faster than Arrow strings for selections from many small tables
_NUMBERS = {"number": "float64", "integer": "Int64", "boolean": "boolean", "year": "Int64"}
_TYPES: dict[str, Any] = {**_NUMBERS, "string": _TEXT}


def read(root: Path, name: str) -> pd.DataFrame:
    """Return an artifact as a DataFrame.

    An empty cell is `""` in a column of texts, NaN among numbers, and `<NA>` among integers. A source with a column
    `printed` gets the parsed columns `value`, `decimals`, `low` and `high`. Measurements are joined from one file per
    model, and the file's name fills the column `model`.
    Raises DataError when the artifact is unknown, or a file does not match the schema.
    """
    paths = files(root, name)
    if not paths:
        raise DataError(f"no artifact called {name!r} under artifacts/; `python build.py list` shows all")
    stamps = tuple((path, stamp_of(root / path)) for path in (*paths, SCHEMA))
    return _read_once(root, name, stamps).copy()


@functools.lru_cache(maxsize=256)
def _read_once(root: Path, name: str, stamps: tuple[tuple[str, tuple[int, int]], ...]) -> pd.DataFrame:
    """Return the frame of an artifact, read once per process, since hundreds of claims read the same few tables."""
    table = resource(root, name)
    frames = [_typed_frame(root, path, table) for path, _ in stamps[:-1]]
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    if "printed" in frame.columns:
        frame = parsed(frame, words=bool(table and table.get("words")))
    return frame


def _described_fields(table: dict[str, Any] | None) -> list[dict[str, Any]]:
    return table["schema"]["fields"] if table else []


def _typed_frame(root: Path, path: str, table: dict[str, Any] | None) -> pd.DataFrame:
    types = {field["name"]: _TYPES.get(field["type"], _TEXT) for field in _described_fields(table)}
    try:
        frame = _typed_file(root / path, types, table)
    except DataError as error:
        raise DataError(f"{path}{str(error).removeprefix(Path(path).name)}") from None
    except (ValueError, OverflowError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise DataError(
            f"{path}: {str(error).strip().splitlines()[0]}; `python build.py check` names the row"
        ) from error
    if table:
        header = [str(name) for name in frame.columns]
        column_names = [field["name"] for field in fields_of(table, path, header)]
        if any(name not in header for name in column_names):
            raise DataError(f"{path}: {mismatch(header, column_names)[1]}")
    for column, dtype in frame.dtypes.items():
        if not pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype) and frame[column].hasnans:
            frame[column] = frame[column].fillna("")
    if path.startswith("artifacts/measurements/") and "model" not in frame.columns:
        frame.insert(0, "model", Path(path).stem)
    return frame


def _typed_file(path: Path, types: dict[str, Any], table: dict[str, Any] | None) -> pd.DataFrame:
    """Return a table with columns of the given types; a Parquet file with these types is read without conversion."""
    if path.suffix == PARQUET and table and only_empty_is_missing(table["schema"]):
        from boundpaper.store.parquet_file import typed_columns

        if columns := typed_columns(path, types):
            return pd.DataFrame(columns)
    text = table_text(path)
    text = clear_missing(text, _described_fields(table), table["schema"]) if table else text
    return pd.read_csv(io.StringIO(text), dtype=types, keep_default_na=False, na_values=[""])
