"""LongBench Pro and plasticity over input length: series at matched bins, and the decline of each model."""

from __future__ import annotations

import pandas as pd

from analysis.statistics import correlation
from analysis.statistics.contrast import levels_and_differences
from analysis.statistics.estimate import Estimate, frame
from analysis.statistics.multiplicity import holm

LENGTHS = ("8k", "16k", "32k", "64k", "128k", "256k")
BINS = {"8k": "0-8K", "16k": "8K-16K", "32k": "16K-32K", "64k": "32K-64K", "128k": "64K-128K"}
CAVEAT = "some models were captured as base and scored as instruct checkpoints"


def lbp_lengths(published_lbp: pd.DataFrame, reported_length_bins: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """LongBench Pro score per model, mode and length, with the plasticity of the bin that ends at that length."""
    scores = published_lbp[published_lbp["length"].isin(LENGTHS)]
    scores = scores[["model", "mode", "length", "questions", "value"]].rename(columns={"value": "lbp"})
    bins = reported_length_bins[["model", "bin", "value"]].rename(columns={"value": "plasticity"})
    scores = scores.assign(bin=scores["length"].map(BINS).fillna(""))
    table = scores.merge(bins, on=["model", "bin"], how="left")
    table = table.merge(models[["model", "display_name", "family"]], on="model")
    beyond, unknown = "longer than the captured context", "no length bins are reported for this model"
    table["note"] = [
        "" if pd.notna(p) else beyond if n == "256k" else unknown
        for p, n in zip(table["plasticity"], table["length"], strict=True)
    ]
    order = {length: position for position, length in enumerate(LENGTHS)}
    table["position"] = table["length"].map(order)
    return table.sort_values(["model", "mode", "position"], ignore_index=True)


def length_decline(lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame) -> pd.DataFrame:
    """Relative decline 1 - s(128k)/s(8k) of each matched model in both modes, beside ap_drop and the total drop."""
    ends = lbp_lengths[lbp_lengths["length"].isin(["8k", "128k"])]
    table = ends.pivot(index=["model", "mode"], columns="length", values="lbp").reset_index()
    table.columns.name = None
    table = table.rename(columns={"8k": "lbp_8k", "128k": "lbp_128k"})
    table["decline"] = 1 - table["lbp_128k"] / table["lbp_8k"]
    facts = ["model", "display_name", "family", "lbp", "ap_drop", "total_drop", "in_source"]
    table = matched_models[facts].merge(table, on="model")
    table["note"] = ["" if pd.notna(drop) else "total_drop: not given for this model" for drop in table["total_drop"]]
    return table.sort_values(["mode", "lbp"], ascending=[True, False], ignore_index=True)


def length_decline_tests(length_decline: pd.DataFrame) -> pd.DataFrame:
    """Hypothesis H3: does a steeper plasticity drop go with a steeper relative decline of the score?

    `ap_drop` in both modes over 7 and 8 models, and the total drop (sign turned, so that more is steeper) over the 7
    that have it; Holm over these six for each coefficient.
    """
    tests: list[Estimate] = []
    for method in (correlation.pearson, correlation.spearman, correlation.kendall):
        family = []
        for mode in ("nonthinking", "thinking"):
            rows = length_decline[length_decline["mode"] == mode]
            seven = rows[rows["in_source"]]
            for chosen, metric in ((seven, "ap_drop"), (rows, "ap_drop"), (seven, "total_drop")):
                family.append(
                    method(
                        chosen[metric] * (-1 if metric == "total_drop" else 1),
                        chosen["decline"],
                        study="length_decline_tests",
                        comparison=f"{metric}, {mode}, n = {len(chosen)}",
                        unit="model",
                        note=CAVEAT,
                        names=(metric, "decline"),
                    )
                )
        tests += holm(family, by=("study", "test"))
    return frame(tests)


def lbp_length_tests(lbp_lengths: pd.DataFrame) -> pd.DataFrame:
    """Score against plasticity over the shared lengths of each model: levels, and first differences beside them."""
    tests: list[Estimate] = []
    shared = lbp_lengths[lbp_lengths["plasticity"].notna()]
    for (model, mode), rows in shared.groupby(["model", "mode"], sort=False):
        tests += levels_and_differences(
            rows["plasticity"], rows["lbp"], study="lbp_length_tests", comparison=f"{model}, {mode}", unit="length"
        )
    return frame(tests)
