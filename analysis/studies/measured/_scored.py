"""Build rows of models that this project scored: metrics, their origin, and whether the model enters correlations."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.studies._metrics import METRICS

NULL = "null reference"


def own_metrics(metrics: pd.DataFrame) -> dict[str, Any]:
    """Return metrics from this project's analysis of a capture; correlations with position are absolute values."""
    values = metrics["value"].astype(float)
    cells: dict[str, Any] = {name: float(values.get(name, np.nan)) for name in METRICS}
    cells |= {name: abs(float(values.get(name, np.nan))) for name in ("r_k_a", "r_q_a")}
    row = metrics.iloc[0]
    return {**cells, "captured_context": int(row["context"]), "checkpoint": row["name"], "origin": "measured"}


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
    first, second = (str(name).rpartition("/")[2].lower() for name in (captured, scored))
    return "same checkpoint" if first == second else f"{captured} captured, {scored} scored"


def model_row(
    scored: pd.Series,
    scores: Mapping[str, Any],
    values: Mapping[str, Any],
    facts: Mapping[Hashable, Any],
    faults: Mapping[str, bool],
    *,
    published: bool,
    noted_scores: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the row of a model that this project scored: its scores and metrics, and whether it enters correlations.

    `scored` is one of its rows of scores, `values` are its metrics and `facts` its row in the table of models; both may
    be empty. `faults` are reasons not to enter that depend on the benchmark, and whether each holds. The note names
    metrics and `noted_scores` without a value.
    """
    size = float(facts.get("parameters_nominal_b", np.nan))
    faults = {
        NULL: scored["role"] == NULL,
        **faults,
        "no capture of it was analysed": not values,
        "has no metric": bool(values) and all(np.isnan(values[name]) for name in METRICS),
        "its family and size are not in the table of models": not facts or bool(np.isnan(size)),
        "its published score is among the reported ones": published,
    }
    metrics = {name: values.get(name, np.nan) for name in METRICS}
    reasons = [reason for reason, applies in faults.items() if applies]
    numbers = {**metrics, **{name: scores[name] for name in noted_scores}}
    return {
        "model": scored["model"],
        "display_name": scored["display_name"],
        "family": facts.get("family", ""),
        "log_parameters": float(np.log(size)),
        "role": scored["role"],
        **scores,
        "captured_context": values.get("captured_context", np.nan),
        "checkpoint_match": checkpoint_match(values.get("checkpoint", ""), str(scored["checkpoint"])),
        "plasticity_origin": values.get("origin", ""),
        **metrics,
        "enters": not reasons,
        "note": "; ".join([*reasons, *(f"{name}: no value" for name, value in numbers.items() if np.isnan(value))]),
    }


def eligible_models(models: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the models that enter correlations, and notes that name these models and the ones left out."""
    enters = models["enters"].astype(bool)
    notes = [f"measured: {', '.join(models.loc[enters, 'display_name']) or 'none'}"]
    if not enters.all():
        reasons = [
            f"{row['display_name']} ({str(row['note']).split('; ')[0]})" for _, row in models[~enters].iterrows()
        ]
        notes.append(f"measured and left out: {', '.join(reasons)}")
    return models[enters], notes
