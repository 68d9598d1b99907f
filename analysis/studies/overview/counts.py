"""Count models, checkpoints, benchmarks and verdicts for the prose."""

import pandas as pd


def counts(
    captured_models: pd.DataFrame,
    matched_models: pd.DataFrame,
    checkpoints: pd.DataFrame,
    published_lbp: pd.DataFrame,
    published_ruler: pd.DataFrame,
    population_record: pd.DataFrame,
    retrained_models: pd.DataFrame,
) -> pd.DataFrame:
    """Return the numbers of models, families, checkpoints, questions and lengths in the thesis, one per row."""
    lengths = published_lbp[published_lbp["length"] != "overall"]
    overall = published_lbp[published_lbp["length"] == "overall"]
    numbers = {
        "captured_models": len(captured_models),
        "families": captured_models["family"].nunique(),
        "lbp_models": len(matched_models),
        "lbp_models_in_source": int(matched_models["in_source"].sum()),
        "lbp_same_checkpoint": int((matched_models["checkpoint_match"] == "same checkpoint").sum()),
        "ruler_models": published_ruler["model"].nunique(),
        "ruler_lengths": published_ruler["length"].nunique(),
        "checkpoints": len(checkpoints),
        "lbp_questions": int(overall["questions"].max()),
        "lbp_questions_per_length": int(lengths["questions"].max()),
        "lbp_lengths": lengths["length"].nunique(),
        "planned_models": len(population_record),
        "retrained_models": len(retrained_models),
    }
    return pd.DataFrame({"quantity": list(numbers), "value": list(numbers.values())})


def ledger_counts(claims: pd.DataFrame) -> pd.DataFrame:
    """Return counts of the ledger's verdicts by kind and source, one row per verdict.

    `sources` counts documents 000 to 004 together, `all` also the thesis's own claims.
    """
    documents = claims[claims["source"] != "thesis"].assign(source="sources")
    combined = pd.concat([claims.assign(source="all"), documents])
    counts = pd.concat([combined, claims]).groupby(["kind", "source", "verdict"], sort=True).size()
    totals = pd.concat([combined, claims]).groupby(["kind", "source"], sort=True).size()
    table = counts.rename("count").reset_index()
    table["total"] = [int(totals[(kind, source)]) for kind, source in zip(table["kind"], table["source"], strict=True)]
    table["share"] = 100 * table["count"] / table["total"]
    return table
