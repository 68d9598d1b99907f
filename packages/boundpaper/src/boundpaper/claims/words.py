"""Write common parts of reasons in words: lists of names, p-values and counts of trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from boundpaper.typeset.numbers import pvalue

if TYPE_CHECKING:
    import pandas as pd


def listed(names: Sequence[str]) -> str:
    """Join names: `a`, `a and b`, `a, b and c`; `none` if there are none."""
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def p(value: float) -> str:
    """Return a p-value as text for a reason: `p = 0.012`, `p < 0.001`."""
    return f"p {pvalue(relation=True).show(value, 'plain')}"


def of_trials(row: pd.Series) -> str:
    """Return `4 of 5 (38 to 96 %)` for a row with correct answers, trials and an interval in percent."""
    return f"{int(row['correct'])} of {int(row['trials'])} ({row['ci_low']:.0f} to {row['ci_high']:.0f} %)"


def number_text(value: float, decimals: int) -> str:
    """Return a number with the given decimals, or if very large or small with three significant digits; never -0."""
    if value != 0 and (decimals > 6 or abs(value) >= 1e6):
        return f"{value:.3g}"
    text = f"{value:.{max(decimals, 0)}f}"
    return text.lstrip("-") if float(text) == 0 else text
