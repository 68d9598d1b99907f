"""Collect the thesis's main effects in their units, with intervals and the ledger's verdicts."""

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.store.frames import pick

TEST = "estimate"  # column of an effect that has a test and therefore a 95 % interval


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
    """Return the effects that the chapters cite, by scale, each with its interval and the verdict of its claim.

    `shown_effects` names the result of each effect; its `place` has the values of columns that select the row. A
    `factor` of -1 or -100 turns a loss into a change, and `printed_values` counts the values behind a ratio.

    There is one row per effect: correlations, changes in percentage points, differences of mean log-perplexity in
    nats, and ratios, with the ranges allowed by rounding as intervals. Intervals from tests are not clipped to
    possible values. Raises DataError if no row or several rows of a result match an effect, or the ledger lacks its
    claim.
    """
    results = {name: frame for name, frame in locals().items() if isinstance(frame, pd.DataFrame)}
    verdicts = claims.set_index("claim")["verdict"]
    rows = []
    for _, effect in shown_effects.iterrows():
        conditions = dict(pair.split("=", 1) for pair in str(effect["place"]).split(" & "))
        row = pick(results[str(effect["result"])], **conditions)
        claim, column, factor = (effect[name] for name in ("claim", "column", "factor"))
        if claim not in verdicts.index:
            raise DataError(f"effect_overview: the ledger has no claim {claim!r}; correct it in shown_effects")
        is_test = column == TEST
        columns = ("ci_low", "ci_high") if is_test else (f"{column}_low", f"{column}_high")
        low, high = sorted(factor * float(row[name]) for name in columns)
        rows.append(
            {
                **{"scale": effect["scale"], "effect": effect["effect"], "claim": claim},
                **{"verdict": str(verdicts[claim]), "estimate": factor * float(row[column]), "low": low, "high": high},
                "interval": "95 %" if is_test else "rounding",
                "unit": str(row["unit"]) if is_test else "printed value",
                "n": int(row["n"] if is_test else effect["printed_values"]),
            }
        )
    return pd.DataFrame(rows)
