"""Find the units of replication of a measurement (texts, items, seeds or heads), and the value of each unit."""

import io
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from boundpaper.errors import DataError
from keyquery.measure.headlines import Headline
from keyquery.measure.rows import COLUMNS

Kind = Literal["text", "item", "seed", "head", "key head"]


@dataclass(frozen=True, eq=False)
class Units:
    """The values of a quantity, one per unit.

    Heads that read the same keys form one unit, `key head`, if the table names key heads. `values` maps units to their
    values; a missing value is NaN, and `reason` explains it. `right_value` is the value of an item answered right.
    """

    kind: Kind
    values: pd.Series
    right_value: float = 1.0
    reason: str = ""

    @property
    def defined(self) -> pd.Series:
        """The units that have a value."""
        return self.values.dropna()

    @property
    def right(self) -> pd.Series | None:
        """Whether each item was answered right; None if units are not items, or a value is not 0 or `right_value`."""
        values = self.defined
        if self.kind != "item" or not values.isin((0.0, self.right_value)).all():
            return None
        return values == self.right_value


def as_text(table: str) -> pd.DataFrame:
    """Read a table in CSV with every cell as text."""
    return pd.read_csv(io.StringIO(table), dtype=str, keep_default_na=False)


def is_tidy(table: pd.DataFrame) -> bool:
    """Return whether a table has the columns of an experiment's rows."""
    return set(COLUMNS) <= set(table.columns)


def as_tidy(experiment: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return a measurement as an experiment's rows; all columns are text except `value` and `n`.

    `table` is the result of `as_text`. Each metric of `head_metrics` becomes one row per key head: the mean over its
    query heads. Raises DataError if the table of another experiment lacks columns of an experiment's rows.
    """
    if experiment == "head_metrics":
        table = _key_head_means(table)
    if not is_tidy(table):
        raise DataError(f"{experiment}: does not consist of an experiment's rows; use tables from `run` or `heads`")
    return table.assign(value=pd.to_numeric(table["value"]), n=pd.to_numeric(table["n"]))


def _key_head_means(table: pd.DataFrame) -> pd.DataFrame:
    labels = ["layer", "key_head"]
    metrics = [name for name in table.columns if name not in (*labels, "head", "queries", "keys", "pc0_kind", "reason")]
    grouped = table[labels].join(table[metrics].apply(pd.to_numeric)).groupby(labels, sort=False)[metrics]
    means, counts = (
        wide.reset_index().melt(id_vars=labels, var_name="metric", value_name=name).rename(columns={"key_head": "head"})
        for wide, name in ((grouped.mean(), "value"), (grouped.count(), "n"))
    )
    reasons = table.groupby(labels, sort=False)["reason"].first().to_dict()
    keys = zip(means["layer"], means["head"], strict=True)
    means["reason"] = [
        "" if pd.notna(value) else str(reasons[key] or "no head has a value")
        for value, key in zip(means["value"], keys, strict=True)
    ]
    return means.assign(n=counts["n"], condition="", unit_id="", seed="", key_heads="yes")


def units_of(rows: pd.DataFrame, quantity: Headline, by: str | None = None) -> Units | None:
    """Return the units of a quantity: texts or items if rows have them, else seeds, else heads; None without units.

    `rows` are the result of `as_tidy` for one measurement, and `quantity` has one condition. For example,
    `passkey-0003` is an item, because there are rows of the metric `passkey_right`. With `by`, only units of this kind
    count. Raises DataError if a unit occurs twice.
    """
    quantity_rows = rows[(rows["metric"] == quantity.metric) & (rows["condition"] == quantity.condition)]
    has_unit, has_seed = quantity_rows["unit_id"] != "", quantity_rows["seed"] != ""
    has_layer, has_head = quantity_rows["layer"] != "", quantity_rows["head"] != ""
    rows_by_form = {
        "unit": quantity_rows[has_unit & ~has_layer & ~has_head],
        "seed": quantity_rows[~has_unit & has_seed & ~has_layer & ~has_head],
        "head": quantity_rows[~has_unit & has_layer & has_head],
    }
    for form, form_rows in rows_by_form.items():
        if form_rows.empty:
            continue
        kind: Kind = "seed" if form == "seed" else "key head" if "key_heads" in rows.columns else "head"
        names = form_rows["seed"] if form == "seed" else form_rows["layer"] + "." + form_rows["head"]
        if form == "unit":
            tasks = {metric.removesuffix("_right") for metric in rows["metric"].unique() if metric.endswith("_right")}
            is_item = form_rows["unit_id"].iloc[0].rpartition("-")[0] in tasks
            kind = "item" if is_item else "text"
            has_seeds = form_rows["seed"].nunique() > 1
            names = form_rows["unit_id"] + (" of seed " + form_rows["seed"] if has_seeds else "")
        if by is not None and by != kind and not (by == "head" and kind == "key head"):
            continue
        if names.duplicated().any():
            name = names[names.duplicated()].iloc[0]
            raise DataError(f"{quantity.metric} {quantity.condition}: {kind} {name!r} occurs twice; measure again")
        reasons = [reason for reason in dict.fromkeys(form_rows.loc[form_rows["value"].isna(), "reason"]) if reason]
        values = pd.Series(form_rows["value"].to_numpy(dtype=float) * quantity.scale, index=names.to_numpy())
        return Units(kind, values, quantity.scale, "; ".join(reasons[:2]))
    return None
