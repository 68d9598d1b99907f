"""Correlate each metric of the models with a benchmark score, and note what limits the comparison."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from boundpaper.statistics import guards
from boundpaper.statistics.correlations import correlation, covariate
from boundpaper.statistics.estimate import SEPARATOR, Estimate, with_note
from boundpaper.statistics.families import corrected

METRICS = tuple("ap_drop ap_last_20 ap_first_20 ap_overall bias_strength bias_window r_k_a r_q_a plane_var".split())
METHODS = (correlation.pearson, correlation.spearman, correlation.kendall)


def correlations(models: pd.DataFrame, score: str, study: str, test_families: pd.DataFrame) -> list[Estimate]:
    """Correlate every metric with a score over models.

    Parameters
    ----------
    models : DataFrame
        One row per model: the metrics, the score, `display_name`, `family`, `log_parameters`, `captured_context`,
        `checkpoint_match`.
    score : str
        The column with the benchmark's score.
    study : str
        The result's name.
    test_families : DataFrame
        The artifact that says which tests are corrected together.

    Returns
    -------
    list of Estimate
        Per metric: Pearson, Spearman, Kendall (Holm over all metrics and coefficients), the leave-one-out range of
        Pearson's r, the partial correlation given log parameters, and the correlation within families (Holm over the
        metrics for each). All are over the models that have the metric; the note names the models without it. The
        bias per window is left out if all contexts are equal, since it is then the bias per token in another unit.
    """
    metrics = compared_metrics(models)
    samples = {name: models[models[name].notna()] for name in metrics}
    tests: list[Estimate] = []
    labels: dict[str, dict[str, Any]] = {
        name: {
            "study": study,
            "comparison": name,
            "unit": "model",
            "note": caveat(rows, score, _missing_note(models, name)),
        }
        for name, rows in samples.items()
    }
    for method in METHODS:
        tests += [
            method(rows[name], rows[score], names=(name, score), **labels[name]) for name, rows in samples.items()
        ]
    for name, rows in samples.items():
        metric, scores, sizes = (rows[column].to_numpy(dtype=float) for column in (name, score, "log_parameters"))
        tests += [
            correlation.leave_one_out(metric, scores, units=list(rows["display_name"]), **labels[name]),
            covariate.partial(metric, scores, sizes, covariate_name="log parameters", **labels[name]),
            covariate.within_family(metric, scores, list(rows["family"]), **labels[name]),
        ]
    estimates = corrected(tests, test_families, study)
    family_sizes = Counter(row.adjustment for row in estimates if row.p_value is not None)
    coefficient_names = {method.__name__ for method in METHODS}
    return [guarded(row, family_sizes[row.adjustment]) if row.test in coefficient_names else row for row in estimates]


def _missing_note(models: pd.DataFrame, metric: str) -> tuple[str, ...]:
    missing_models = models.loc[models[metric].isna(), "display_name"]
    return (f"no value for {', '.join(missing_models)}",) if len(missing_models) else ()


def compared_metrics(models: pd.DataFrame) -> Sequence[str]:
    """Return the metrics to correlate, without the bias per window if it is the bias per token in another unit."""
    one_context = models["captured_context"].nunique() == 1
    return tuple(name for name in METRICS if name != "bias_window" or not one_context)


def caveat(models: pd.DataFrame, score: str, further: Sequence[str] = ()) -> str:
    """Return the caveat on differences between models: families, checkpoints, captured context, and scorer."""
    settings = {"checkpoint": "checkpoint_match", "captured tokens": "captured_context"}
    if score == "ruler_128k":
        settings["scores"] = "ruler_origin"
    origins = {"scores": "score_origin", "plasticity": "plasticity_origin"}  # if models of this project are included
    settings |= {setting: column for setting, column in origins.items() if column in models.columns}
    notes = [f"{len(models)} models of {models['family'].nunique()} families", *further]
    protocols = {
        str(row["model"]): {setting: str(row[column]) for setting, column in settings.items()}
        for _, row in models.iterrows()
    }
    return SEPARATOR.join([*notes, *guards.mixed_protocol(protocols)])


def guarded(row: Estimate, family_size: int) -> Estimate:
    """Add a note on the least possible p if no outcome can be significant after Holm over `family_size` tests.

    Of the n! relabelings, at least one reaches the largest |r|, and two (the order of ranks and its reverse) the
    largest |rho| or |tau|.
    """
    if row.p_value is None:
        return row
    relabelings = math.factorial(row.n)
    extreme = 1 if row.test == "pearson" else min(2, relabelings)
    return with_note(row, *guards.smallest_p(extreme / relabelings, family=family_size))
