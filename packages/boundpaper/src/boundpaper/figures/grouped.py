"""Make series from a DataFrame, one per group of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundpaper.errors import DataError
from boundpaper.figures.series import Line
from boundpaper.suggestions import or_known

if TYPE_CHECKING:
    import pandas as pd


def lines(
    frame: pd.DataFrame, x: str, y: str, by: str | None = None, low: str | None = None, high: str | None = None
) -> list[Line]:
    """Return one line for each value of a column, in the order in which the values first appear.

    Parameters
    ----------
    frame : DataFrame
    x, y : str
        The columns to draw; points are in the order of the rows.
    by : str, optional
        The column whose values separate and label the lines; if None, all rows are one line.
    low, high : str, optional
        Columns with the ends of each point's uncertainty.

    Raises
    ------
    DataError
        When a column is absent, or `by` is empty in a row.

    Examples
    --------
    >>> import boundpaper as bp
    >>> import pandas as pd
    >>> lamps = ["sun", "sun", "shade", "shade"]
    >>> heights = pd.DataFrame({"lamp": lamps, "day": [1, 7, 1, 7], "height": [0.5, 8.1, 0.4, 2.2]})
    >>> [(line.label, line.y) for line in bp.lines(heights, x="day", y="height", by="lamp")]
    [('sun', (0.5, 8.1)), ('shade', (0.4, 2.2))]
    """
    for name in (column for column in (x, y, by, low, high) if column is not None):
        if name not in frame.columns:
            raise DataError(f"no column {name!r} to draw{or_known(name, frame.columns)}")
    if by is not None and frame[by].isna().any():
        raise DataError(f"column {by!r} is empty in {int(frame[by].isna().sum())} rows; name the group of each row")
    groups = [("", frame)] if by is None else [(str(key), rows) for key, rows in frame.groupby(by, sort=False)]
    return [
        Line(x=rows[x], y=rows[y], low=rows[low] if low else None, high=rows[high] if high else None, label=label)
        for label, rows in groups
    ]
