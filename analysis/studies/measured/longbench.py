"""Tabulate LongBench Pro scores measured by this project, separately from the published scores."""

import numpy as np
import pandas as pd

from analysis.studies._metrics import METRICS, correlations
from analysis.studies.benchmarks.lengths import LENGTHS
from analysis.studies.measured._scored import eligible_models, model_row, own_metrics, reported_metrics
from boundpaper.statistics.estimate import frame, with_note

BENCHMARK = "caskcsg/LongBench-Pro"
OVERALL = "overall"
MODE = "nonthinking"  # the mode of the scores that the sources correlate


def measured_lbp_lengths(measured_lbp: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return measured scores by prompt mode and length (including `overall`), with 95 % intervals.

    `metric` says whether summaries were scored as in the benchmark or by ROUGE-L alone; `data` names the data set,
    which need not be the benchmark's.
    """
    names = dict(zip(models["model"], models["display_name"], strict=True))
    rows = measured_lbp[measured_lbp["slice"].isin(["overall", "length"])]
    table = rows.rename(columns={"key": "length", "value": "lbp", "n": "predictions", "reason": "note"})
    table["display_name"] = [names.get(model, model) for model in table["model"]]
    columns = ["model", "display_name", "role", "mode", "length", "metric", "lbp", "ci_low", "ci_high"]
    table = table[[*columns, "predictions", "samples", "data", "checkpoint", "note"]]
    order = {length: index for index, length in enumerate((*LENGTHS, OVERALL))}
    return table.sort_values(
        ["model", "mode", "length"], key=lambda column: column.map(order) if column.name == "length" else column
    ).reset_index(drop=True)


def measured_lbp_models(
    measured_lbp_lengths: pd.DataFrame,
    model_metrics: pd.DataFrame,
    captured_models: pd.DataFrame,
    matched_models: pd.DataFrame,
    models: pd.DataFrame,
) -> pd.DataFrame:
    """Return models with a measured score, one row each, with metrics, and whether they enter correlations.

    Metrics are this project's if it analysed a capture of the model, else the reported ones; `plasticity_origin`
    says which. `checkpoint_match` compares the captured checkpoint with the scored one. `enters` is true for a
    trained model that has a metric and a score without thinking on the benchmark's questions, is in the table of
    models, and has no published score; otherwise `note` gives the reason.
    """
    facts_by_model = {str(row["model"]): row for row in models.to_dict("records")}
    reported_by_model = {str(row["model"]): row for row in captured_models.to_dict("records")}
    published_models = set(matched_models["model"])
    rows = []
    for model, scores in measured_lbp_lengths.groupby("model", sort=True):
        facts = facts_by_model.get(str(model), {})
        metrics = model_metrics[model_metrics["model"] == model].set_index("metric")
        values = own_metrics(metrics) if len(metrics) else reported_metrics(reported_by_model.get(str(model), {}))
        overall = scores[(scores["length"] == OVERALL) & (scores["mode"] == MODE)]
        first_row = (overall if len(overall) else scores).iloc[0]
        score = float(overall["lbp"].iloc[0]) if len(overall) else np.nan
        faults = {
            f"scored on {first_row['data']}, not on the benchmark's questions": first_row["data"] != BENCHMARK,
            "no overall score without thinking": bool(np.isnan(score)),
        }
        own_scores = {
            "data": first_row["data"],
            "score_metric": overall["metric"].iloc[0] if len(overall) else "",
            "lbp": score,
        }
        rows.append(model_row(first_row, own_scores, values, facts, faults, published=model in published_models))
    return pd.DataFrame(rows)


def measured_decline(measured_lbp_lengths: pd.DataFrame, measured_lbp_models: pd.DataFrame) -> pd.DataFrame:
    """Return the score's relative decline, 1 - s(128k)/s(8k), by measured model and mode, with the plasticity drop."""
    extremes = measured_lbp_lengths[measured_lbp_lengths["length"].isin(["8k", "128k"])]
    table = extremes.pivot(index=["model", "mode"], columns="length", values="lbp").reset_index()
    table.columns.name = None
    table = table.rename(columns={"8k": "lbp_8k", "128k": "lbp_128k"})
    for name in ("lbp_8k", "lbp_128k"):
        table[name] = table[name] if name in table.columns else np.nan
    start = table["lbp_8k"].where(table["lbp_8k"] > 0)
    table["decline"] = 1 - table["lbp_128k"] / start
    facts = ["model", "display_name", "role", "data", "checkpoint_match", "captured_context", "plasticity_origin"]
    table = measured_lbp_models[[*facts, "ap_drop"]].merge(table, on="model")
    table["note"] = [_why_empty(row) for _, row in table.iterrows()]
    return table[[*facts, "ap_drop", "mode", "lbp_8k", "lbp_128k", "decline", "note"]]


def _why_empty(row: pd.Series) -> str:
    notes = [f"{name}: no score at this length" for name in ("lbp_8k", "lbp_128k") if pd.isna(row[name])]
    if pd.isna(row["decline"]):
        notes.append("decline: " + ("one end is missing" if notes else "the score at 8k is zero"))
    if pd.isna(row["ap_drop"]):
        notes.append("ap_drop, captured_context: no capture of it was analysed")
    return "; ".join(notes)


def lbp_correlations_measured(
    measured_lbp_models: pd.DataFrame, matched_models: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Correlate every metric with the score over published and eligible measured models; notes name the measured ones.

    Correlations over published scores alone (`lbp_correlations`, `lbp_correlations_extended`) are separate results.
    Without an eligible measured model, the result equals `lbp_correlations_extended`, and the note says so.
    """
    eligible, notes = eligible_models(measured_lbp_models)
    columns = ["model", "display_name", "family", "log_parameters", "captured_context", "checkpoint_match", *METRICS]
    scored = matched_models[[*columns, "lbp"]].assign(score_origin="published", plasticity_origin="reported")
    if len(eligible):
        measured_models = eligible[[*columns, "lbp", "plasticity_origin"]].assign(
            score_origin=[f"measured ({metric})" for metric in eligible["score_metric"]]
        )
        scored = pd.concat([scored, measured_models], ignore_index=True)
    tests = correlations(scored, "lbp", "lbp_correlations_measured", test_families)
    return frame([with_note(test, *notes) for test in tests])
