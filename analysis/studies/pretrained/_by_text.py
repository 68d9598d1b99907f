"""Read the values of a quantity by text from the tables of experiments."""

from typing import NamedTuple

import pandas as pd

TENSORS = {"q": "query", "k": "key", "v": "value"}


class TextQuantity(NamedTuple):
    """A quantity with one value per text in a table; values are multiplied by `scale`."""

    name: str
    table: str
    metric: str
    condition: str
    scale: float


def values_by_text(table: pd.DataFrame, model: str, quantity: TextQuantity) -> pd.Series:
    """Return the values of a model by text, in percent if the quantity is a share."""
    rows = table[(table["model"] == model) & (table["metric"] == quantity.metric)]
    rows = rows[(rows["condition"] == quantity.condition) & (rows["unit_id"] != "") & rows["layer"].isna()]
    return rows.set_index("unit_id")["value"].astype(float).sort_index() * quantity.scale


def massive_totals(massive_values: pd.DataFrame) -> pd.DataFrame:
    """Return massive values by text, with `where` (before or after rotation), `threshold` and `tensor` as columns."""
    by_text = massive_values[massive_values["unit_id"] != ""]
    columns = by_text["condition"].str.extract(r"^(?P<where>pre|post) lambda=(?P<threshold>[\d.]+)$")
    tensors = by_text["metric"].str.extract(r"^massive_total_([qkv])$")[0].map(TENSORS)
    return by_text.assign(**columns, tensor=tensors).dropna(subset=["where", "tensor"])
