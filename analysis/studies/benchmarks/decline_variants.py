"""Correlate the drop of plasticity with the loss of score: all variants in one joint test, and means of families."""

from typing import Any

import pandas as pd

from analysis.studies.benchmarks._variants import (
    END,
    MODES,
    joint_median,
    scores_by_length,
    source_models_first,
    variants,
)
from boundpaper.statistics.correlations import correlation
from boundpaper.statistics.estimate import Estimate, frame, join_notes, no
from boundpaper.statistics.families import corrected

STARTS = ("8k", "16k", "32k")
STUDY = "decline_joint"


def decline_joint(lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Return a joint test over all variants of drop and loss, and correlations with families as units.

    `median_coefficient` is the median over variants, from 8k alone and from all starting lengths. Its p is exact: the
    models of source 002 exchange their drops in all variants at once, which accounts for the dependence of variants
    (Simonsohn, Simmons & Nelson 2020); the additional model keeps its drop. `pearson` and `spearman` correlate means
    of model families, which are too few for any p below 0.05.
    """
    models, source_count = source_models_first(matched_models)
    scores = scores_by_length(lbp_lengths)
    tests = []
    for name, starts in (("from 8k", ("8k",)), ("from every start", STARTS)):
        subset = variants(scores, models, source_count, starts)
        observed, outcome = joint_median(subset, len(models), source_count)
        tests.append(
            Estimate(
                study=STUDY,
                comparison=f"drop and loss, variants {name}",
                test="median_coefficient",
                unit="model",
                n=len(models),
                estimate=observed,
                p_value=outcome.p_value,
                note=join_notes(
                    f"{len(subset)} variants",
                    f"{outcome.note} of the {source_count} models of the source, in all variants at once",
                    no("interval", "statistic", "df", "effect", because="a median of dependent coefficients"),
                ),
            )
        )
    loss = 1 - scores[END] / scores["8k"]
    for mode in MODES:
        rows = models.assign(loss=models["model"].map(loss.xs(mode)))
        means = rows.groupby("family")[["ap_drop", "loss"]].mean()
        name = f"drop and loss from 8k, means of families, {mode}"
        labels: dict[str, Any] = {"study": STUDY, "comparison": name, "unit": "family", "names": ("drop", "loss")}
        for method in (correlation.pearson, correlation.spearman):
            tests.append(method(means["ap_drop"], means["loss"], **labels))
    return frame(corrected(tests, test_families, STUDY))
