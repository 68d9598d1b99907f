"""Join the captured models in one table: facts, metrics and benchmark scores, with ap_drop recomputed."""

import numpy as np
import pandas as pd

from analysis.studies._recomputed import recomputed_difference
from boundpaper.errors import DataError
from boundpaper.statistics.rounding import half_unit, shared_decimals
from boundpaper.store.frames import wide

ROTATION = ["r_k_a", "r_q_a", "plane_var"]
SCORES = ["lbp", "ruler_128k", "total_drop", *ROTATION]


def captured_models(
    models: pd.DataFrame,
    reported_plasticity: pd.DataFrame,
    reported_mechanistic: pd.DataFrame,
    reported_rotation_ruler: pd.DataFrame,
    reported_length_bins: pd.DataFrame,
    published_lbp: pd.DataFrame,
    published_ruler: pd.DataFrame,
) -> pd.DataFrame:
    """Return all captured models: facts, plasticity, bias per token and window, rotation metrics, benchmark scores.

    `bias_window` is the bias per token times the captured context (tokens), comparable across context lengths; it
    assumes that the bias grows linearly with distance. `bias_half` is half a unit of the last digit of a bias,
    ignoring trailing zeros common to all biases of a table; `bias_window_low` and `bias_window_high` are the range it
    allows. `ap_drop` is the printed drop; `ap_drop_recomputed` is ap_first_20 - ap_last_20 of the printed ends,
    `ap_drop_low` and `ap_drop_high` the range allowed by their rounding, `ap_drop_rounded` the recomputed drop to the
    printed digits (halves up), and `ap_drop_agreement` compares the two. `lbp` is the published overall score without
    thinking, `ruler_128k` the published score at 128k tokens and `ruler_origin` who measured it. Models are sorted by
    decreasing plasticity.
    """
    facts = models[models["subject"] == "captured"].drop(columns=["reason", "source", "rope_theta", "subject"])
    metrics = wide(reported_plasticity, by=["model"]).drop(columns=["lbp", "ruler_128k"])
    rotation = pd.concat([wide(reported_mechanistic, by=["model"]), wide(reported_rotation_ruler, by=["model"])])
    lbp = published_lbp[(published_lbp["length"] == "overall") & (published_lbp["mode"] == "nonthinking")]
    ruler = published_ruler[published_ruler["length"] == "128k"]
    totals = reported_length_bins[reported_length_bins["bin"] == "total"]
    table = facts.merge(metrics, on="model", how="left").merge(_drops(reported_plasticity), on="model", how="left")
    for frame, name in ((lbp, "lbp"), (ruler, "ruler_128k"), (totals, "total_drop")):
        table = table.merge(frame[["model", "value"]].rename(columns={"value": name}), on="model", how="left")
    origins = ruler[["model", "origin"]].rename(columns={"origin": "ruler_origin"})
    table = table.merge(origins, on="model", how="left").fillna({"ruler_origin": ""})
    table = table.merge(rotation[["model", *ROTATION]], on="model", how="left")
    if table["ap_overall"].isna().any():
        names = ", ".join(table.loc[table["ap_overall"].isna(), "model"])
        raise DataError(f"captured_models: no plasticity for {names}; add them to sources/reported_plasticity.csv")
    table["bias_window"] = table["bias_strength"] * table["captured_context"].astype(float)
    table["bias_half"] = table["model"].map(_half_last_digits(reported_plasticity, reported_rotation_ruler))
    for name, sign in (("low", -1.0), ("high", 1.0)):
        biases = table["bias_strength"] + sign * table["bias_half"]
        table[f"bias_window_{name}"] = biases * table["captured_context"].astype(float)
    table["log_parameters"] = np.log(table["parameters_nominal_b"])
    longest_context = table["captured_context"].max()
    table["note"] = [_missing_note(row, longest_context) for _, row in table.iterrows()]
    return table.sort_values("ap_overall", ascending=False, kind="stable", ignore_index=True)


def _drops(plasticity: pd.DataFrame) -> pd.DataFrame:
    """Recompute the drop of each model from its printed ends and compare it with the printed drop."""
    cells = plasticity.set_index(["model", "metric"])
    rows = []
    for model in plasticity["model"].unique():
        ends_and_drop = (cells.loc[(model, name)] for name in ("ap_first_20", "ap_last_20", "ap_drop"))
        rows.append({"model": model, **recomputed_difference("ap_drop", *ends_and_drop)})
    return pd.DataFrame(rows)


def _half_last_digits(plasticity: pd.DataFrame, ruler: pd.DataFrame) -> dict[str, float]:
    """Return half a unit of the last digit of each model's bias, by model.

    Biases of the source's first models are rounded in one way, biases of models added for RULER in another.
    """
    biases = plasticity[plasticity["metric"] == "bias_strength"]
    first_biases = biases[~biases["model"].isin(set(ruler["model"]))]
    decimals = shared_decimals(first_biases["value"].astype(float), int(first_biases["decimals"].max()))
    return {
        str(row["model"]): half_unit(decimals if row["model"] in set(first_biases["model"]) else int(row["decimals"]))
        for _, row in biases.iterrows()
    }


def _missing_note(row: pd.Series, longest: int) -> str:
    notes = [f"{name}: not given for this model" for name in SCORES if pd.isna(row[name])]
    if row["captured_context"] < longest:
        notes.append(f"captured over {row['captured_context']} tokens only")
    return "; ".join(notes)


def matched_models(captured_models: pd.DataFrame, reported_mechanistic: pd.DataFrame) -> pd.DataFrame:
    """Return the captured models with a LongBench Pro score; `in_source` marks those that source 002 compares."""
    table = captured_models[captured_models["lbp"].notna()].copy()
    if table.empty:
        raise DataError("matched_models: no captured model has a LongBench Pro score; see sources/published_lbp.csv")
    table["in_source"] = table["model"].isin(set(reported_mechanistic["model"]))
    return table.sort_values("lbp", ascending=False, ignore_index=True)
