"""The captured models beside SmolLM3 after its context extensions, over their full windows and a common window."""

import pandas as pd

from boundpaper.store.frames import pick
from boundpaper.tables import Column, Table, fixed
from boundpaper.typeset.wording import correlation_phrase, whole

SMOLLM3 = "smollm3-3b"


def table(training_comparison: pd.DataFrame, bias_plasticity_tests: pd.DataFrame) -> Table:
    """Return one row per model; the models that the study compares come first."""
    window = training_comparison.loc[training_comparison["model"] == SMOLLM3, "captured_context"].iloc[0]
    in_source = training_comparison["compared"].astype(bool)
    rows = training_comparison.assign(other=~in_source, bias_token=1e3 * training_comparison["bias_strength"])
    rows = rows.sort_values(["other", "ap_drop"])
    rows = rows.assign(
        rule=rows["other"] & ~rows["other"].shift(fill_value=False),
        empty=["drop_same: captured over a shorter window; far_same: captured over a shorter window"] * len(rows),
    )
    equal_window, within_families = (
        correlation_phrase(pick(bias_plasticity_tests, comparison="per token, models over the same window", test=test))
        for test in ("pearson", "pearson_within_family")
    )
    own_window = correlation_phrase(
        pick(bias_plasticity_tests, comparison="per token, captured models", test="pearson")
    )
    count = int(rows["drop_same"].notna().sum())
    return Table(
        rows=rows,
        columns=[
            Column("display_name", "Model"),
            Column("claimed_context", "stated", group="Context (tokens)"),
            Column("captured_context", "captured", group="Context (tokens)"),
            Column("bias_token", "per token\n($10^{-3}$)", fixed(2), group="Bias"),
            Column("bias_window", "per\nwindow", fixed(0), group="Bias"),
            Column("ap_drop", "own\nwindow", fixed(3), group="Drop"),
            Column("drop_same", f"first\n{window // 1024}K", fixed(3), group="Drop"),
            Column("far_same", f"Plasticity\nbefore {window // 1024}K", fixed(3)),
        ],
        rule_before="rule",
        reason="empty",
        caption=(
            f"SmolLM3-3B after its extensions beside the captured models. Above the rule, the {int(in_source.sum())} "
            f"that the study compares [@shcherb2026], below it the other {int((~in_source).sum())}. Unit: one model, "
            "mean over heads."
        ),
        short="SmolLM3 beside the captured models",
        note=[
            (
                f"First {window // 1024}K: first minus last fifth of the first {whole(window)} tokens. For a capture "
                "of twice that length these fifths are the deciles 0–10 % and 40–50 % of Table 4 of the study; for "
                "SmolLM3 it is the printed drop. Bias per window: per token times the captured context."
            ),
            (
                f"Bias per token against the drop over the first {window // 1024}K, {count} models: {equal_window}; "
                f"inside families: {within_families}. Against the drop over each model's own window, captured models "
                f"without SmolLM3: {own_window}. Permutation $p$, no correction; the equal window was chosen after "
                "seeing the data."
            ),
        ],
    )
