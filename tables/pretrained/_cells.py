"""Format cells as text, for tables whose columns have numbers of several units."""

import pandas as pd

from boundpaper.typeset.numbers import Fixed


def with_interval(row: pd.Series, number: Fixed) -> str:
    """Return a row's value as text, followed by its interval if there is one; without a value, return empty text."""

    def text(value: float) -> str:
        return number.show(value, "plain").replace("-", "\N{MINUS SIGN}")

    if pd.isna(row["value"]):
        return ""
    return text(row["value"]) + ("" if pd.isna(row["low"]) else f" [{text(row['low'])}, {text(row['high'])}]")


def why_empty(row: pd.Series) -> str:
    """Return the reason why a row has no value, as a sentence; if the row has a value, return empty text."""
    note = str(row["note"]) if pd.isna(row["value"]) else ""
    return note[:1].upper() + note[1:]
