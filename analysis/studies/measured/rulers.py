"""Tabulate RULER scores measured by this project, separately from the published scores."""

import numpy as np
import pandas as pd

from analysis.studies._metrics import METRICS, correlations
from analysis.studies.measured._scored import eligible_models, model_row, own_metrics, reported_metrics
from boundpaper.statistics.estimate import frame, with_note
from keyquery.scores.ruler.effective_length import LENGTHS

BENCHMARK = "RULER"
MEAN = "mean_13"
SUMMARY = ("average", "weighted_longer", "weighted_shorter", "effective_length", "effective_length_unbroken")


def measured_ruler_lengths(measured_ruler: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return measured means over tasks by length, with 95 % intervals.

    `data` is RULER's 13 tasks, or needles in generated noise, which are not a RULER score. If a task is missing, the
    mean has no value, and the note names the task.
    """
    names = dict(zip(models["model"], models["display_name"], strict=True))
    rows = measured_ruler[measured_ruler["slice"] == "mean"]
    tokens = [int(length.removesuffix("k")) * (1024 if length.endswith("k") else 1) for length in rows["length"]]
    table = rows.rename(columns={"value": "score", "n": "samples", "reason": "note"}).fillna({"note": ""})
    table = table.assign(tokens=tokens, display_name=[names.get(model, model) for model in rows["model"]])
    columns = ["model", "display_name", "role", "data", "length", "tokens", "score", "ci_low", "ci_high"]
    table = table[[*columns, "samples", "checkpoint", "note"]]
    return table.sort_values(["model", "data", "tokens"], ignore_index=True)


def measured_ruler_models(
    measured_ruler: pd.DataFrame,
    measured_ruler_lengths: pd.DataFrame,
    model_metrics: pd.DataFrame,
    captured_models: pd.DataFrame,
    models: pd.DataFrame,
) -> pd.DataFrame:
    """Return models with measured scores, one row each, with metrics, and whether they enter correlations.

    Metrics are this project's if it analysed a capture of the model, else the reported ones; `plasticity_origin`
    says which. `checkpoint_match` compares the captured checkpoint with the scored one. `enters` is true for a
    trained model that has a metric and a mean of the 13 tasks at 128k, is in the table of models, and has no
    published score; otherwise `note` gives the reason. Effective lengths are in tokens: the longest length whose score
    is above the threshold, and the longest up to which all tested lengths have such a score.
    """
    facts_by_model = {str(row["model"]): row for row in models.to_dict("records")}
    reported_by_model = {str(row["model"]): row for row in captured_models.to_dict("records")}
    published_models = set(captured_models.loc[captured_models["ruler_128k"].notna(), "model"])
    rows = []
    for model, scores in measured_ruler_lengths.groupby("model", sort=True):
        facts = facts_by_model.get(str(model), {})
        metrics = model_metrics[model_metrics["model"] == model].set_index("metric")
        values = own_metrics(metrics) if len(metrics) else reported_metrics(reported_by_model.get(str(model), {}))
        benchmark = scores[scores["data"] == BENCHMARK]
        longest = benchmark[benchmark["length"] == LENGTHS[-1]]
        score = float(longest["score"].iloc[0]) if len(longest) else np.nan
        first_row = (benchmark if len(benchmark) else scores).iloc[0]
        faults = {
            "needles in noise only, which are no RULER score": benchmark.empty,
            f"no mean of the 13 tasks at {LENGTHS[-1].upper()}": len(benchmark) > 0 and bool(np.isnan(score)),
        }
        summaries = measured_ruler[(measured_ruler["model"] == model) & (measured_ruler["slice"] == "summary")]
        values_by_key = summaries.set_index("key")["value"].to_dict()
        own_scores = {"ruler_128k": score, **{name: float(values_by_key.get(name, np.nan)) for name in SUMMARY}}
        is_published = model in published_models
        row = model_row(first_row, own_scores, values, facts, faults, published=is_published, noted_scores=SUMMARY)
        rows.append(row)
    return pd.DataFrame(rows)


def ruler_correlations_measured(
    measured_ruler_models: pd.DataFrame, captured_models: pd.DataFrame, test_families: pd.DataFrame
) -> pd.DataFrame:
    """Correlate every metric with the score at 128k over published and eligible measured models.

    Correlations over published scores alone (`ruler_correlations`, `ruler_correlations_full_context`) are separate
    results. Without an eligible measured model, the result equals `ruler_correlations`, and the note says so.
    """
    eligible, notes = eligible_models(measured_ruler_models)
    columns = ["model", "display_name", "family", "log_parameters", "captured_context", "checkpoint_match", *METRICS]
    scored = captured_models[captured_models["ruler_128k"].notna()]
    models = scored[[*columns, "ruler_128k", "ruler_origin"]].assign(
        score_origin=scored["ruler_origin"], plasticity_origin="reported"
    )
    if len(eligible):
        measured_models = eligible[[*columns, "ruler_128k", "plasticity_origin"]].assign(
            ruler_origin="measured by this project", score_origin="measured by this project"
        )
        models = pd.concat([models, measured_models], ignore_index=True)
    tests = correlations(
        models.sort_values("ruler_128k", ascending=False), "ruler_128k", "ruler_correlations_measured", test_families
    )
    return frame([with_note(test, *notes) for test in tests])
