"""Parse the printed numbers of a source, pivot a source to one column per metric, and pick a row."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from boundpaper.errors import DataError
from boundpaper.typeset.printed import Unreadable, parse

PARSED = ("value", "decimals", "low", "high")
_NOT_KEYS = {"printed", "reason", "source", "as_number", *PARSED}


def parsed(frame: pd.DataFrame, words: bool = False) -> pd.DataFrame:
    """Return a frame with columns `value`, `decimals`, `low` and `high`, parsed from its column `printed`.

    With `words`, `printed` may have texts that are not numbers; these have no value.
    """
    rows: list[tuple[float | None, ...]] = []
    for text in frame["printed"]:
        try:
            number = parse(text) if text else None
        except DataError as error:
            if not words or isinstance(error, Unreadable):
                raise
            number = None
        rows.append((None,) * 4 if number is None else (number.value, number.decimals, number.low, number.high))
    numbers = pd.DataFrame(rows, columns=list(PARSED), index=frame.index, dtype=float)
    return frame.assign(**{name: numbers[name] for name in PARSED})


def wide(frame: pd.DataFrame, metric: str = "metric", value: str = "value", by: Sequence[str] = ()) -> pd.DataFrame:
    """Return a long source pivoted to one row per key and one column per metric.

    Each value of the column `metric` becomes a column, whose cells are from the column `value`. `by` lists the key
    columns; by default, these are all other columns except `printed`, `reason`, `source` and the parsed numbers. Rows
    are in order of first appearance. Raises DataError when a key has a metric twice, or a column is missing.
    """
    absent_columns = [name for name in (metric, value, *by) if name not in frame.columns]
    if absent_columns:
        raise DataError(f"no column {', '.join(absent_columns)} to pivot on; the frame has {', '.join(frame.columns)}")
    keys = list(by) or [name for name in frame.columns if name not in _NOT_KEYS | {metric, value}]
    duplicates = frame[frame.duplicated([*keys, metric], keep=False)][[*keys, metric]]
    if len(duplicates):
        duplicate = duplicates.iloc[0]
        cells = ", ".join(f"{name}={cell}" for name, cell in duplicate.items())
        count = int((duplicates == duplicate).all(axis=1).sum())
        raise DataError(f"{cells} occurs {count} times; filter the frame before wide()")
    metrics = list(dict.fromkeys(frame[metric]))
    table = frame.pivot(index=keys, columns=metric, values=value)[metrics].reset_index()
    table.columns.name = None
    keys_in_order = frame[keys].drop_duplicates()
    return keys_in_order.merge(table, on=keys, how="left").reset_index(drop=True)


def pick(frame: pd.DataFrame, **where: object) -> pd.Series:
    """Return the only row of a frame in which the columns named in `where` have the given values.

    Parameters
    ----------
    frame : DataFrame
        Any table.
    where
        Columns, and their values in the row.

    Raises
    ------
    DataError
        When a column is absent, or no row or several rows match.

    Examples
    --------
    >>> import pandas as pd
    >>> from boundpaper.claims import pick
    >>> float(pick(pd.DataFrame({"lamp": ["sun", "shade"], "height": [18.4, 3.1]}), lamp="sun")["height"])
    18.4
    """
    absent_columns = [name for name in where if name not in frame.columns]
    if absent_columns:
        raise DataError(f"no column {', '.join(absent_columns)}; the artifact has {', '.join(frame.columns)}")
    mask = np.ones(len(frame), dtype=bool)
    for name, value in where.items():
        cells = frame[name]
        if isinstance(value, str) and getattr(cells.dtype, "na_value", None) is np.nan:
            mask &= cells.to_numpy() == value  # four times as fast for texts that the store has read
        else:
            mask &= (cells == value).to_numpy(dtype=bool, na_value=False)
    positions = np.flatnonzero(mask)
    if len(positions) != 1:
        condition = ", ".join(f"{name}={value!r}" for name, value in where.items())
        raise DataError(f"{len(positions)} rows have {condition}; exactly one is needed, so change the conditions")
    row: pd.Series = frame.iloc[positions[0]]
    return row
