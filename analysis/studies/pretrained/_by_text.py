"""Read the values of a quantity by text from the tables of experiments."""

from typing import NamedTuple

import pandas as pd


class TextQuantity(NamedTuple):
    """A quantity with one value per text in a table; values are multiplied by `scale`."""

    name: str
    table: str
    metric: str
    condition: str
    scale: float


def values_by_text(table: pd.DataFrame, model: str, read: TextQuantity) -> pd.Series:
    """Return the values of a model by text, in percent if the quantity is a share."""
    rows = table[(table["model"] == model) & (table["metric"] == read.metric) & (table["condition"] == read.condition)]
    rows = rows[(rows["unit_id"] != "") & rows["layer"].isna()]
    return rows.set_index("unit_id")["value"].astype(float).sort_index() * read.scale
