"""Make the tidy rows that every experiment writes: one value per row, with its metric and number of units."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

COLUMNS = ("condition", "layer", "head", "unit_id", "seed", "metric", "value", "n", "reason")
Row = dict[str, Any]


def row(
    metric: str,
    value: float | None,
    n: int,
    *,
    condition: str = "",
    layer: int | None = None,
    head: int | None = None,
    unit_id: str = "",
    seed: int | None = None,
    reason: str = "",
) -> Row:
    """Return one measurement as a row.

    Parameters
    ----------
    metric : str
        What is measured.
    value : float or None
        The value; None if there is no value, with a `reason`.
    n : int
        Number of units that the value averages or counts; 0 if there is no value.
    condition, layer, head, unit_id, seed
        What the value belongs to; each is empty if it does not apply.
    reason : str
        Why there is no value; empty if there is one.

    Raises
    ------
    ValueError
        If the value is missing or not finite and has no reason, which is a bug in the experiment.

    Examples
    --------
    >>> from keyquery.measure.rows import row
    >>> row("sink_rate", 0.25, n=8, layer=1)["value"]
    0.25
    """
    missing = value is None or not math.isfinite(value)
    if missing and not reason:
        raise ValueError(f"{metric} {condition} has neither a value nor a reason; give one of them")
    return {
        "condition": condition,
        "layer": layer,
        "head": head,
        "unit_id": unit_id,
        "seed": seed,
        "metric": metric,
        "value": None if missing else float(value),  # type: ignore[arg-type]
        "n": 0 if missing else int(n),
        "reason": reason,
    }


def frame(rows: Iterable[Row], positional: str, precision: str) -> pd.DataFrame:
    """Return a table of the rows, with the model's position encoding and precision in the first columns.

    Examples
    --------
    >>> from keyquery.measure.rows import frame, row
    >>> frame([row("sink_rate", 0.25, n=8, layer=1)], "rope", "fp32")["layer"].tolist()
    ['1']
    """
    table = pd.DataFrame(list(rows), columns=list(COLUMNS))
    for name in ("layer", "head", "seed"):
        table[name] = ["" if pd.isna(cell) else str(int(cell)) for cell in table[name]]  # empty: it does not apply
    table["n"] = table["n"].astype("int64")
    table["value"] = table["value"].astype(float)
    table.insert(0, "precision", precision)
    table.insert(0, "positional", positional)
    return table
