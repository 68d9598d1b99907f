"""Correlate the drop of plasticity with the loss of score, as a share and in points, up to each end length."""

from typing import Any

import pandas as pd

from analysis.studies.benchmarks._variants import (
    END,
    MODES,
    joint_median,
    score_loss,
    scores_by_length,
    source_models_first,
    variants,
)
from boundpaper.errors import DataError
from boundpaper.statistics.correlations import correlation

START = "8k"
ENDS = ("64k", "128k", "256k")
UNITS = ("share", "points")


def decline_units(lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame) -> pd.DataFrame:
    """Return Pearson's r between plasticity drop and loss of score since 8k, by unit, end length, mode and models.

    The loss of a score s over length is 1 - s(end) / s(8k) as a `share`, and s(8k) - s(end) in `points`. `p` is exact,
    over relabellings of the models, and uncorrected. Rows with mode `both` and n of all models are the joint test: the
    median over modes, sets of models, drops and coefficients from 8k to 128k, with p from permuting the source models'
    drops in all variants at once. Raises DataError if a length has no score.
    """
    models, source_count = source_models_first(matched_models)
    scores = scores_by_length(lbp_lengths)
    if missing_lengths := {START, *ENDS} - set(scores.columns):
        raise DataError(f"lbp_lengths has no scores at {', '.join(sorted(missing_lengths))}; add them to published_lbp")
    rows: list[dict[str, Any]] = []
    for unit in UNITS:
        for end in ENDS:
            for mode in MODES:
                loss = score_loss(scores, models, START, end, mode, unit)
                for n in sorted({source_count, len(models)}):
                    labels: dict[str, Any] = {"study": "decline_units", "unit": "model", "names": ("drop", "loss")}
                    name = f"{unit}, {mode}, {end}, n = {n}"
                    test = correlation.pearson(models["ap_drop"][:n], pd.Series(loss[:n]), comparison=name, **labels)
                    variant = {"unit": unit, "end": end, "mode": mode, "n": n}
                    rows.append({**variant, "estimate": test.estimate, "p": test.p_value})
        median, outcome = joint_median(
            variants(scores, models, source_count, (START,), unit), len(models), source_count
        )
        rows.append(
            {"unit": unit, "end": END, "mode": "both", "n": len(models), "estimate": median, "p": outcome.p_value}
        )
    return pd.DataFrame(rows)
