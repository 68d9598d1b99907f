"""Find where the metrics of a model that this project scored come from, and which checkpoint they belong to."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.studies._metrics import METRICS

NULL = "null reference"


def own_metrics(metrics: pd.DataFrame) -> dict[str, Any]:
    """Return metrics from this project's analysis of a capture, with absolute values of correlations with position."""
    values = metrics["value"].astype(float)
    cells: dict[str, Any] = {name: float(values.get(name, np.nan)) for name in METRICS}
    cells |= {name: abs(float(values.get(name, np.nan))) for name in ("r_k_a", "r_q_a")}
    first = metrics.iloc[0]
    return {**cells, "captured_context": int(first["context"]), "checkpoint": first["name"], "origin": "measured"}


def reported_metrics(row: Mapping[Hashable, Any]) -> dict[str, Any]:
    """Return metrics as reported by a source; empty for a model missing from the source."""
    if not row:
        return {}
    return {
        **{name: float(row[name]) for name in METRICS},
        "captured_context": int(row["captured_context"]),
        "checkpoint": row["captured_checkpoint"],
        "origin": "reported",
    }


def checkpoint_match(captured: object, scored: str) -> str:
    """Return a text that says whether the captured checkpoint is the scored one."""
    if not captured:
        return "not captured"
    one, two = (str(name).rpartition("/")[2].lower() for name in (captured, scored))
    return "same checkpoint" if one == two else f"{captured} captured, {scored} scored"
