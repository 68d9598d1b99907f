"""Summarise the ledger: hypotheses with their evidence, and what open gaps need."""

import pandas as pd

from boundpaper.errors import DataError


def hypotheses(reported_hypotheses: pd.DataFrame, claims: pd.DataFrame) -> pd.DataFrame:
    """Return document 002's hypotheses with the ledger's verdicts: one row per claim named `c002_h<number>_...`.

    Raises DataError when a hypothesis has no claim.
    """
    statements = claims[claims["kind"] == "statement"]
    tables = []
    for _, hypothesis in reported_hypotheses.iterrows():
        key = str(hypothesis["hypothesis"])
        evidence = statements[statements["claim"].str.startswith(f"c002_{key.lower()}_")]
        if evidence.empty:
            raise DataError(f"hypotheses: no claim c002_{key.lower()}_... judges {key}; write one in analysis/claims")
        rows = evidence[["claim", "statement", "reported", "recomputed", "verdict", "reason"]]
        rows = rows.rename(columns={"statement": "evidence"})
        tables.append(
            rows.assign(hypothesis=key, status=hypothesis["status"], statement=hypothesis["statement"], n=evidence["n"])
        )
    table = pd.concat(tables, ignore_index=True)
    columns = "hypothesis status statement claim evidence reported recomputed n verdict reason".split()
    return table[columns]


def gaps_status(
    reported_open_gaps: pd.DataFrame,
    reported_lbp_lengths: pd.DataFrame,
    published_lbp: pd.DataFrame,
    inference_memory: pd.DataFrame,
) -> pd.DataFrame:
    """Return what the sources' open gaps still need, and how many of the missing scores are published.

    `missing` and `published` count scores by length without thinking; `memory_gb` is the memory that the largest
    model to be run needs, with key-value cache. They are given only for gaps about these scores.
    """
    scores = reported_lbp_lengths[reported_lbp_lengths["metric"] == "lbp"]
    missing_scores = scores[scores["low"].isna()]
    published_scores = missing_scores.merge(
        published_lbp[published_lbp["mode"] == "nonthinking"], on=["model", "length"]
    )
    table = reported_open_gaps[["gap", "title", "description", "remedy", "source"]].copy()
    on_scores = table["gap"].isin(["per_length_scores", "option_a", "option_b", "option_c"])
    table["missing"] = pd.Series(len(missing_scores), index=table.index, dtype="Int64").where(on_scores)
    table["published"] = pd.Series(len(published_scores), index=table.index, dtype="Int64").where(on_scores)
    memory = float(inference_memory.loc[inference_memory["model"].isin(missing_scores["model"]), "total_gb"].max())
    table["memory_gb"] = pd.Series(memory, index=table.index).where(table["gap"] == "option_b")
    table["note"] = [
        "" if is_on_scores else "missing, published, memory_gb: not about scores" for is_on_scores in on_scores
    ]
    table.loc[on_scores & (table["gap"] != "option_b"), "note"] = "memory_gb: nothing to be run"
    return table
