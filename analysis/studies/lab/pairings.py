"""One model of the tiny pair against its twin: text by text, item by item, head by head."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.statistics import frame, mcnemar, paired_t, pearson
from analysis.studies._families import corrected
from analysis.studies.lab._pair import of_pair
from artifacts.errors import DataError

CONCENTRATION = ("gini_q", "gini_k", "gini_v", "largest_ratio_q", "largest_ratio_k", "largest_ratio_v")
PATTERNS = ("first_attention", "local_attention", "entropy_share")
TASKS = ("cities", "sports", "sentiment", "passkey")


def lab_text_pairs(massive_values: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Text by text: how concentrated queries, keys and values are in DroPE less in RoPE, by training seed.

    Paired t over the same texts, Holm over all rows. `gini_T` is over the norms of the dimensions of a tensor,
    `largest_ratio_T` the largest of them over their mean, before rotation. The unit is a text; a test speaks of one
    pair of models, not of training runs.
    """
    rows = of_pair(massive_values)
    rows = rows[rows["metric"].isin(CONCENTRATION) & rows["unit_id"].fillna("").ne("") & rows["layer"].isna()]
    tests = []
    for metric in CONCENTRATION:
        for seed, part in rows[rows["metric"] == metric].groupby("training_seed", sort=True):
            table = _twins(part, ["unit_id", "seed"], f"massive_values, {metric}, seed {seed}")
            tests.append(
                paired_t(
                    table["drope"],
                    table["rope"],
                    study="lab_text_pairs",
                    comparison=f"{metric}, seed {seed}, drope - rope",
                    unit="text",
                    names=("drope", "rope"),
                )
            )
    return frame(corrected(tests, test_families, "lab_text_pairs"))


def lab_knowledge_tests(knowledge: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Item by item: answers without the largest dimension of each head against those with all, by task and model.

    McNemar's test, exact, Holm over all rows. The unit is an item.
    """
    rows = of_pair(knowledge)
    tests = []
    for task in TASKS:
        given = rows[(rows["metric"] == f"{task}_right") & rows["condition"].isin(["baseline", "top1"])]
        for (side, seed), part in given.groupby(["side", "training_seed"], sort=True):
            table = part.pivot(index=["unit_id", "seed"], columns="condition", values="value").dropna()
            tests.append(
                mcnemar(
                    table["top1"].astype(bool).to_numpy(),
                    table["baseline"].astype(bool).to_numpy(),
                    study="lab_knowledge_tests",
                    comparison=f"{task}, {side}, seed {seed}, without - with",
                    unit="item",
                )
            )
    return frame(corrected(tests, test_families, "lab_knowledge_tests"))


def lab_head_agreement(attention_patterns: pd.DataFrame, test_families: pd.DataFrame) -> pd.DataFrame:
    """Head by head: does a head attend as it did before the positions were dropped?

    Pearson's correlation over heads of what RoPE and DroPE models of a training seed measure: attention to the first
    token, to the five tokens before, and entropy over that of even attention; over all heads, Holm over all rows. Of a
    layer `lab_layer_agreement` says how near its heads are; four heads are too few for a coefficient.
    """
    rows = _heads(attention_patterns)
    tests = []
    for metric in PATTERNS:
        for seed, part in rows[rows["metric"] == metric].groupby("training_seed", sort=True):
            table = _twins(part, ["layer", "head"], f"attention_patterns, {metric}, seed {seed}")
            tests.append(
                pearson(
                    table["rope"],
                    table["drope"],
                    study="lab_head_agreement",
                    comparison=f"{metric}, seed {seed}, rope and drope",
                    unit="head",
                    names=("rope", "drope"),
                )
            )
    return frame(corrected(tests, test_families, "lab_head_agreement"))


def lab_layer_agreement(attention_patterns: pd.DataFrame) -> pd.DataFrame:
    """Layer by layer: correlation of the twins' heads over all training seeds, each seed's mean taken off.

    `n` heads of a layer over all seeds; `difference` is the mean of DroPE less RoPE, `rope` and `drope` the means.
    """
    found = []
    rows = _heads(attention_patterns)
    for metric in PATTERNS:
        mine = rows[rows["metric"] == metric]
        for layer in sorted(mine["layer"].astype(int).unique()):
            part = mine[mine["layer"] == layer]
            by = ["training_seed", "head"]
            table = _twins(part, by, f"attention_patterns, {metric}, layer {layer}")
            level = table.groupby("training_seed").transform("mean")
            left, right = ((table - level)[side].to_numpy(dtype=float) for side in ("rope", "drope"))
            size = float(np.sqrt((left**2).sum() * (right**2).sum()))
            found.append(
                {
                    "metric": metric,
                    "layer": layer,
                    "n": len(table),
                    "seeds": int(part["training_seed"].nunique()),
                    "rope": float(table["rope"].mean()),
                    "drope": float(table["drope"].mean()),
                    "difference": float((table["drope"] - table["rope"]).mean()),
                    "correlation": float((left * right).sum()) / size if size > 0 else None,
                    "note": "" if size > 0 else "heads of a model do not differ",
                }
            )
    return pd.DataFrame(found)


def _heads(attention_patterns: pd.DataFrame) -> pd.DataFrame:
    rows = of_pair(attention_patterns)
    return rows[rows["metric"].isin(PATTERNS) & rows["head"].notna() & rows["unit_id"].fillna("").eq("")]


def _twins(part: pd.DataFrame, by: list[str], what: str) -> pd.DataFrame:
    """A column for each model, a row for each unit that both measured; these must be the same units."""
    table = part.pivot(index=by, columns="side", values="value")
    if set(table.columns) != {"rope", "drope"} or table.isna().any(axis=None):
        raise DataError(f"{what}: the two models were not measured on the same units; run both with the same options")
    return table
