"""Plasticity by position bin, one column per bin, for the tables of SmolLM3's training phases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def position_rows(positions: pd.DataFrame) -> tuple[pd.DataFrame, Mapping[str, str]]:
    """Return one row per checkpoint with the bins as columns, and the headings of the bins.

    Returns
    -------
    rows : DataFrame
        One row per checkpoint in order; the column `reason` explains its empty cells.
    bins : mapping of str to str
        Heading by column name of each bin, in order of position.
    """
    cells = positions.sort_values(["order", "start"])
    bins = {f"bin_{int(row['start'])}": str(row["bin"]) for _, row in cells.drop_duplicates("bin").iterrows()}
    cells = cells.assign(field="bin_" + cells["start"].astype(int).astype(str))
    rows = cells.pivot(index=["order", "display_name"], columns="field", values="plasticity")[list(bins)]
    rows = rows.reset_index()
    rows.columns.name = None
    empty_cells = cells[cells["plasticity"].isna()]
    reasons = (empty_cells["field"] + ": " + empty_cells["note"]).groupby(empty_cells["display_name"]).agg("; ".join)
    rows["reason"] = [reasons.get(name, "") for name in rows["display_name"]]
    return rows, {field: title.replace("-", "–") for field, title in bins.items()}
