"""Wording that the claims on Experiments 7 to 10 of document 004 share: p-values, and counts of trials."""

from __future__ import annotations

import pandas as pd

from artifacts.numbers import pvalue


def p(value: float) -> str:
    """A p-value with its relation, for a reason: `p = 0.012`, `p < 0.001`."""
    return f"p {pvalue(relation=True).show(value, 'plain')}"


def of_trials(row: pd.Series) -> str:
    """`4 of 5 (38 to 96 %)` for a row with correct, trials and an interval in percent."""
    return f"{int(row['correct'])} of {int(row['trials'])} ({row['ci_low']:.0f} to {row['ci_high']:.0f} %)"
