"""Find the units that a measurement is repeated over (texts, items, seeds or heads), with a value each."""

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

    Heads that read the same keys are one unit, `key head`, where a table tells them. `values` are by the name of the
    unit, NaN where it has none, and `reason` says why; `whole` is the value of an item that was answered right.
    """

    kind: Kind
    values: pd.Series
    whole: float = 1.0
    reason: str = ""

    @property
    def defined(self) -> pd.Series:
        """The units that have a value."""
        return self.values.dropna()

    @property
    def right(self) -> pd.Series | None:
        """Whether each item was answered right; None if units are not items, or if an answer counts in part."""
        values = self.defined
        return values == self.whole if self.kind == "item" and values.isin((0.0, self.whole)).all() else None


def as_text(table: str) -> pd.DataFrame:
    """Read a table in CSV with every cell as text."""
    return pd.read_csv(io.StringIO(table), dtype=str, keep_default_na=False)


def is_tidy(table: pd.DataFrame) -> bool:
    """Tell whether each row of a table is one number of an experiment."""
    return set(COLUMNS) <= set(table.columns)


def as_tidy(experiment: str, table: pd.DataFrame) -> pd.DataFrame:
    """Bring a measurement into one form: the columns of an experiment's rows, all text but `value` and `n`.

    Each metric of `head_metrics` becomes one row per key head: the mean over the query heads that read it. `table` is
    as `plain` gives it. Raises DataError when the table is of another form.
    """
    if experiment == "head_metrics":
        table = _key_head_means(table)
    if not is_tidy(table):
        raise DataError(f"{experiment}: is not made of rows of an experiment; compare what `run` or `heads` measured")
    return table.assign(value=pd.to_numeric(table["value"]), n=pd.to_numeric(table["n"]))


def _key_head_means(table: pd.DataFrame) -> pd.DataFrame:
    place = ["layer", "key_head"]
    names = [name for name in table.columns if name not in (*place, "head", "queries", "keys", "pc0_kind", "reason")]
    numbers = table[place].join(table[names].apply(pd.to_numeric))
    grouped = numbers.groupby(place, sort=False)[names]
    held, counts = (
        each.reset_index().melt(id_vars=place, var_name="metric", value_name=name).rename(columns={"key_head": "head"})
        for each, name in ((grouped.mean(), "value"), (grouped.count(), "n"))
    )
    reasons = table.groupby(place, sort=False)["reason"].first().to_dict()
    keys = zip(held["layer"], held["head"], strict=True)
    held["reason"] = [
        "" if pd.notna(value) else str(reasons[key] or "no head has a value")
        for value, key in zip(held["value"], keys, strict=True)
    ]
    return held.assign(n=counts["n"], condition="", unit_id="", seed="", key_heads="yes")


def units_of(rows: pd.DataFrame, quantity: Headline, by: str | None = None) -> Units | None:
    """Return the units of a quantity: texts or items if rows have them, else seeds, else heads; None if none is there.

    `rows` are of one measurement, as `tidy` gives it, and `quantity` is of one condition: `passkey-0003` is an item
    where a metric is `passkey_right`. With `by`, take units of this kind only. Raises DataError when a unit stands
    twice.
    """
    own = rows[(rows["metric"] == quantity.metric) & (rows["condition"] == quantity.condition)]
    single, layered, headed = own["unit_id"] != "", own["layer"] != "", own["head"] != ""
    seeded = own["seed"] != ""
    forms = {
        "unit": own[single & ~layered & ~headed],
        "seed": own[~single & seeded & ~layered & ~headed],
        "head": own[~single & layered & headed],
    }
    for form, found in forms.items():
        if found.empty:
            continue
        kind: Kind = "seed" if form == "seed" else "key head" if "key_heads" in rows.columns else "head"
        names = found["seed"] if form == "seed" else found["layer"] + "." + found["head"]
        if form == "unit":
            tasks = {metric.removesuffix("_right") for metric in rows["metric"].unique() if metric.endswith("_right")}
            asked = found["unit_id"].iloc[0].rpartition("-")[0] in tasks
            kind = "item" if asked else "text"
            several = found["seed"].nunique() > 1
            names = found["unit_id"] + (" of seed " + found["seed"] if several else "")
        if by is not None and by != kind and not (by == "head" and kind == "key head"):
            continue
        if names.duplicated().any():
            twice = names[names.duplicated()].iloc[0]
            raise DataError(f"{quantity.metric} {quantity.condition}: {kind} {twice!r} is there twice; measure again")
        reasons = [reason for reason in dict.fromkeys(found.loc[found["value"].isna(), "reason"]) if reason]
        values = pd.Series(found["value"].to_numpy(dtype=float) * quantity.scale, index=names.to_numpy())
        return Units(kind, values, quantity.scale, "; ".join(reasons[:2]))
    return None
