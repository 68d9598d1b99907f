"""Kinds of answers to the retrieval prompts, as shares of the trials and of the errors."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, integer

NAMES = {
    "exact": "exact",
    "off_by_one_length": "one digit off in length",
    "near_miss": "near-miss",
    "wrong_digits": "wrong digits",
    "wrong_length": "wrong length",
    "no_number": "no number",
}


def table(error_shares: pd.DataFrame, error_totals: pd.DataFrame, run_deletions: pd.DataFrame) -> Table:
    """Return one row per model, context and kind of answer."""
    rows = error_shares.assign(
        name=error_shares["category"].map(NAMES),
        group=[f"{row['positional']}, {row['context']:,} tokens" for _, row in error_shares.iterrows()],
    )
    total = error_totals.set_index("category")
    runs = run_deletions.iloc[0]
    return Table(
        rows=rows,
        columns=[
            Column("name", "Answer"),
            Column("count", "Count", integer()),
            Column("share", "of the trials, %", fixed(0), ci=("ci_low", "ci_high")),
            Column(
                "share_of_errors",
                "of the errors, %",
                fixed(0),
                ci=("errors_ci_low", "errors_ci_high"),
                missing="An exact answer is no error.",
            ),
        ],
        groups="group",
        space=0,
        caption=(
            f"Answers by kind, Section 11.5 of the report [@africa2026]: {rows['trials'].iloc[0]} trials per "
            "condition, shares with 95 % Wilson intervals. Unit: trial, unseeded."
        ),
        short="Answers by kind",
        note=(
            f"Over the three lengths {total['share']['off_by_one_length']:.0f} % of DroPE's {total['errors'].iloc[0]} "
            f"errors are one digit off in length and {total['share']['wrong_length']:.0f} % of another wrong length. "
            f"Of {runs['examples']} quoted deletions {runs['in_run']} took a digit out of a run of equal ones and "
            f"{runs['prefixes']} left the number's beginning."
        ),
    )
