"""The captured models in one table: their facts, metrics and benchmark scores, with ap_drop recomputed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from artifacts import wide
from artifacts.errors import DataError

ROTATION = ["r_k_a", "r_q_a", "plane_var"]


def captured_models(
    models: pd.DataFrame,
    reported_plasticity: pd.DataFrame,
    reported_mechanistic: pd.DataFrame,
    reported_rotation_ruler: pd.DataFrame,
    reported_length_bins: pd.DataFrame,
    published_lbp: pd.DataFrame,
    published_ruler: pd.DataFrame,
) -> pd.DataFrame:
    """All captured models: facts, plasticity, bias per token and per window, rotation metrics, and both benchmarks.

    `bias_window` is the bias per token times the captured context (tokens), comparable across context lengths.
    `ap_drop_recomputed` is ap_first_20 - ap_last_20 from the printed values, `ap_drop_low` and `ap_drop_high` what
    their rounding leaves open. `lbp` is the published non-thinking overall score, `ruler_128k` the published one.
    """
    facts = models[models["subject"] == "captured"].drop(columns=["reason", "source"])
    metrics = wide(reported_plasticity, by=["model"]).drop(columns=["lbp", "ruler_128k"])
    rotation = pd.concat([wide(reported_mechanistic, by=["model"]), wide(reported_rotation_ruler, by=["model"])])
    overall = published_lbp[(published_lbp["length"] == "overall") & (published_lbp["mode"] == "nonthinking")]
    longest = published_ruler[published_ruler["length"] == "128k"]
    total = reported_length_bins[reported_length_bins["bin"] == "total"]
    table = facts.merge(metrics, on="model", how="left").merge(_drop_interval(reported_plasticity), on="model")
    for frame, name in ((overall, "lbp"), (longest, "ruler_128k"), (total, "total_drop")):
        table = table.merge(frame[["model", "value"]].rename(columns={"value": name}), on="model", how="left")
    table = table.merge(rotation[["model", *ROTATION]], on="model", how="left")
    table["bias_window"] = table["bias_strength"] * table["captured_context"].astype(float)
    table["log_parameters"] = np.log(table["parameters_nominal_b"])
    table["note"] = [_note(row) for _, row in table.iterrows()]
    return table.drop(columns=["rope_theta", "subject"])


def _drop_interval(plasticity: pd.DataFrame) -> pd.DataFrame:
    ends = [plasticity[plasticity["metric"] == name].set_index("model") for name in ("ap_first_20", "ap_last_20")]
    first, last = ends
    return pd.DataFrame(
        {
            "ap_drop_recomputed": first["value"] - last["value"],
            "ap_drop_low": first["low"] - last["high"],
            "ap_drop_high": first["high"] - last["low"],
        }
    ).reset_index()


def _note(row: pd.Series) -> str:
    missing = [name for name in ("lbp", "ruler_128k", "total_drop", *ROTATION) if pd.isna(row[name])]
    notes = [f"{name}: not given for this model" for name in missing]
    if row["captured_context"] < 131072:
        notes.append(f"captured over {row['captured_context']} tokens only")
    return "; ".join(notes)


def matched_models(captured_models: pd.DataFrame, reported_mechanistic: pd.DataFrame) -> pd.DataFrame:
    """The captured models that LongBench Pro scored; `in_source` marks the ones that source 002 compares."""
    table = captured_models[captured_models["lbp"].notna()].copy()
    if table.empty:
        raise DataError("matched_models: no captured model has a LongBench Pro score; see sources/published_lbp.csv")
    table["in_source"] = table["model"].isin(set(reported_mechanistic["model"]))
    return table.sort_values("lbp", ascending=False, ignore_index=True)
