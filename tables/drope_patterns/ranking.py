"""Rank of the exact number among near-misses, compared with chance and between models."""

import re

import pandas as pd

from boundpaper.store.frames import pick
from boundpaper.tables import Column, Table, fixed, pvalue


def table(ranking_cells: pd.DataFrame, ranking_tests: pd.DataFrame) -> Table:
    """Return one row per context with both models, and one row for all contexts."""
    rows = []
    for context in dict.fromkeys(ranking_cells["context"]):
        row: dict[str, object] = {"context": f"{context:,}"}
        for name, model in (("rope", "RoPE"), ("drope", "DroPE")):
            row |= _chance_columns(pick(ranking_tests, study="against_chance", comparison=f"{model}, {context}"), name)
        models = pick(ranking_tests, study="models", comparison=str(context))
        row |= {"p": models["p_value"], "holm": models["p_adjusted"]}
        rows.append(row)
    all_contexts: dict[str, object] = {"context": "all"}
    for name, model in (("rope", "RoPE"), ("drope", "DroPE")):
        all_contexts |= _chance_columns(pick(ranking_tests, study="pooled", comparison=f"{model}, all contexts"), name)
    rows.append(all_contexts)
    trained = ranking_tests[ranking_tests["study"] == "models_within"].iloc[0]
    lengths = re.sub(r"\d+", lambda match: f"{int(match[0]):,}", trained["comparison"])
    chance, trials = ranking_cells["chance"].iloc[0], ranking_cells["trials"].iloc[0]
    untested = "Not tested over all contexts."
    return Table(
        rows=pd.DataFrame(rows).assign(last=[False] * (len(rows) - 1) + [True]),
        columns=[
            Column("context", "Context", align="right"),
            Column("rope", "first, %", fixed(0), ci=("rope_low", "rope_high"), group="RoPE"),
            Column("rope_holm", "$p$", pvalue(), group="RoPE"),
            Column("drope", "first, %", fixed(0), ci=("drope_low", "drope_high"), group="DroPE"),
            Column("drope_holm", "$p$", pvalue(), group="DroPE"),
            Column("p", "Fisher $p$", pvalue(), group="RoPE against DroPE", missing=untested),
            Column("holm", "Holm $p$", pvalue(), group="RoPE against DroPE", missing=untested),
        ],
        rule_before="last",
        caption=(
            "Ranking of the exact number above three near-misses by P(yes), Section 11.4 of the report [@africa2026]: "
            f"share of trials with the exact number first, with exact 95 % interval; chance is {chance:.0f} %. Unit: "
            f"trial, {trials} per cell."
        ),
        short="Ranking of the exact number above near-misses",
        note=(
            "$p$ against chance: exact binomial, two-sided, Holm over the six cells and the two sums. Fisher's "
            f"exact test, Holm over the three lengths and, chosen afterwards, {lengths} tokens "
            f"together, where the difference is {100 * trained['estimate']:.0f} points, corrected "
            f"$p = {trained['p_adjusted']:.4f}$. Two models from one set of pretrained weights."
        ),
    )


def _chance_columns(test: pd.Series, name: str) -> dict[str, object]:
    return {
        name: 100 * test["estimate"],
        f"{name}_low": 100 * test["ci_low"],
        f"{name}_high": 100 * test["ci_high"],
        f"{name}_holm": test["p_adjusted"],
    }
