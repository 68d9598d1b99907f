"""Recompute a printed difference from the two printed numbers."""

import pandas as pd

from boundpaper.statistics.rounding import Interval, agreement, difference
from boundpaper.typeset.numbers import finite, round_half_up


def recomputed_difference(name: str, minuend: pd.Series, subtrahend: pd.Series, drop: pd.Series) -> dict[str, object]:
    """Return columns of a difference: its value, the range that rounding allows, and whether the printed one agrees.

    Parameters
    ----------
    name : str
        Prefix of the columns `NAME_recomputed`, `NAME_low`, `NAME_high`, `NAME_rounded` and `NAME_agreement`.
    minuend, subtrahend, drop : Series
        Rows of a source (`value`, `low`, `high`, `decimals`) with the two numbers and their printed difference.
    """
    interval = difference(*(Interval(row["low"], row["high"]) for row in (minuend, subtrahend)))
    # subtract as decimals: floats would turn halves into near-halves
    exact, digits = finite(minuend["value"]) - finite(subtrahend["value"]), int(drop["decimals"])
    return {
        f"{name}_recomputed": float(exact),
        f"{name}_low": interval.low,
        f"{name}_high": interval.high,
        f"{name}_rounded": float(round_half_up(exact, digits)),
        f"{name}_agreement": agreement(float(exact), interval, drop["value"], digits),
    }
