"""Tabulate the models that this project measured, with the columns of the tables of reported models."""

import pandas as pd

from analysis.studies.pretrained.other_texts import CODE
from analysis.subjects import subjects_of_role
from boundpaper.errors import DataError

METRICS = (
    *("ap_overall", "ap_first_20", "ap_last_20", "ap_drop", "bias_strength", "bias_window"),
    *("r_q_a", "r_k_a", "plane_var", "separation_strength", "gap_by_bin"),
)
ENDS = {"low": "ci_low", "high": "ci_high"}


def measured_models(model_metrics: pd.DataFrame, models: pd.DataFrame, pretrained_models: pd.DataFrame) -> pd.DataFrame:
    """Return one row per measured model, by decreasing plasticity: metrics as means over heads, with 95 % intervals.

    Models in a table of models get the name given there. `captured_context` is in tokens; `heads` and `key_heads` count
    the heads behind the overall plasticity. No source values are used. The shipped small models, whose contexts are too
    short for comparison, and captures on source code are in other results. Raises DataError if a model's file lacks a
    metric.
    """
    names = _names_by_model(models, pretrained_models)
    metrics_of_models = _without_repeats(model_metrics, pretrained_models)
    rows = [_model_row(str(model), metrics, names) for model, metrics in metrics_of_models.groupby("model", sort=True)]
    table = pd.DataFrame(rows)
    return table.sort_values("ap_overall", ascending=False, kind="stable", ignore_index=True)


def _model_row(model: str, metrics: pd.DataFrame, names: dict[str, str]) -> dict[str, object]:
    by_name = {str(metric["metric"]): metric for metric in metrics.to_dict("records")}
    missing_metrics = [name for name in METRICS if name not in by_name]
    if missing_metrics:
        raise DataError(
            f"artifacts/measurements/model_metrics/{model}: no metric {', '.join(missing_metrics)}; measure the model "
            "again (`python build.py heads CAPTURE`)"
        )
    overall = by_name["ap_overall"]
    row: dict[str, object] = {
        "model": model,
        "display_name": names.get(model, model),
        "captured_context": int(overall["context"]),
        "estimator": overall["estimator"],
        "pairs": overall["pairs"],
        "heads": int(overall["heads"]),
        "key_heads": int(overall["key_heads"]),
    }
    reasons = []
    for name in METRICS:
        cell = by_name[name]
        row[name] = float(cell["value"])
        row |= {f"{name}_{end}": float(cell[column]) for end, column in ENDS.items()}
        if cell["reason"]:
            reasons.append(f"{name}: {str(cell['reason']).replace(';', ',')}")
    return {**row, "reason": "; ".join(reasons)}


def measured_profiles(
    model_metrics: pd.DataFrame, models: pd.DataFrame, pretrained_models: pd.DataFrame
) -> pd.DataFrame:
    """Return plasticity of measured models by query bin: mean over heads with 95 % interval.

    There is one row per model and bin with a value; `position` is the middle of the bin as a share of the captured
    context. Shipped small models are omitted.
    """
    names = _names_by_model(models, pretrained_models)
    metrics = _without_repeats(model_metrics, pretrained_models)
    rows = metrics[metrics["metric"].str.fullmatch(r"ap_bin_\d+") & metrics["value"].notna()]
    bins = rows["metric"].str.removeprefix("ap_bin_").astype(int)
    return pd.DataFrame(
        {
            "model": rows["model"],
            "display_name": [names.get(model, model) for model in rows["model"]],
            "bin": bins,
            "position": (bins + 0.5) / rows["bins"],
            "plasticity": rows["value"],
            "ci_low": rows["ci_low"],
            "ci_high": rows["ci_high"],
            "heads": rows["heads"],
            "captured_context": rows["context"],
        }
    ).sort_values(["model", "bin"], ignore_index=True)


def _names_by_model(*tables: pd.DataFrame) -> dict[str, str]:
    return {model: name for table in tables for model, name in zip(table["model"], table["display_name"], strict=True)}


def _without_repeats(metrics: pd.DataFrame, pretrained_models: pd.DataFrame) -> pd.DataFrame:
    """Return the measurements without those of small models and without second captures of models on source code."""
    small, on_code = subjects_of_role(metrics["model"].unique()), pretrained_models["model"] + CODE
    return metrics[~metrics["model"].isin([*small, *on_code])]
