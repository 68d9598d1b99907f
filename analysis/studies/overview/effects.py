"""Compare the effects that the thesis rests on: each in its unit, with its interval and the ledger's verdict."""

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.frames import pick

TEST = "estimate"  # the column of an effect that has a test; its interval is that of 95 %


def effect_overview(
    shown_effects: pd.DataFrame,
    claims: pd.DataFrame,
    lbp_correlations: pd.DataFrame,
    correlation_contrasts: pd.DataFrame,
    length_decline_tests: pd.DataFrame,
    lbp_length_tests: pd.DataFrame,
    ruler_tests: pd.DataFrame,
    training_tests: pd.DataFrame,
    training_changes: pd.DataFrame,
    bias_plasticity_tests: pd.DataFrame,
    attention_tests: pd.DataFrame,
    knowledge_tests: pd.DataFrame,
    functional_tests: pd.DataFrame,
    layer1_task_tests: pd.DataFrame,
    layer1_contrasts: pd.DataFrame,
    bos_ablation_contrasts: pd.DataFrame,
    context_tests: pd.DataFrame,
    disruption_tests: pd.DataFrame,
) -> pd.DataFrame:
    """The effects that the chapters cite, by scale, each with its interval and the verdict of its claim.

    `shown_effects` says where each stands: in a result, the row whose columns have the values of `place`. A `factor` of
    -1 or -100 makes a loss a change; `values` counts the printed values behind a ratio.

    One row per effect: correlations, changes in percentage points, differences of mean log-perplexity in nats, and
    ratios, whose intervals are those that rounding leaves open. An interval that a test gives beyond what is possible
    is kept as it is. Raises DataError when no row or several rows of a result are an effect, or the ledger lacks its
    claim.
    """
    results = {name: frame for name, frame in locals().items() if isinstance(frame, pd.DataFrame)}
    verdicts = claims.set_index("claim")["verdict"]
    rows = []
    for _, effect in shown_effects.iterrows():
        where = dict(part.split("=", 1) for part in str(effect["place"]).split(" & "))
        row = pick(results[str(effect["result"])], **where)
        claim, column, factor = (effect[name] for name in ("claim", "column", "factor"))
        if claim not in verdicts.index:
            raise DataError(f"effect_overview: the ledger has no claim {claim!r}; name the claim it decides")
        tested = column == TEST
        ends = ("ci_low", "ci_high") if tested else (f"{column}_low", f"{column}_high")
        low, high = sorted(factor * float(row[name]) for name in ends)
        rows.append(
            {
                **{"scale": effect["scale"], "effect": effect["effect"], "claim": claim},
                **{"verdict": str(verdicts[claim]), "estimate": factor * float(row[column]), "low": low, "high": high},
                "interval": "95 %" if tested else "rounding",
                "unit": str(row["unit"]) if tested else "printed value",
                "n": int(row["n"] if tested else effect["values"]),
            }
        )
    return pd.DataFrame(rows)
