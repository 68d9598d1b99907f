"""Write common phrases of reasons: lists of names, p-values, counts of trials, and rounded numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from boundpaper.typeset import wording
from boundpaper.typeset.numbers import pvalue

if TYPE_CHECKING:
    import pandas as pd


def listed(names: Sequence[str]) -> str:
    """Return names as a list in prose: `a`, `a and b`, `a, b and c`; `none` if there are no names."""
    return wording.listed(names) if names else "none"


def p(value: float) -> str:
    """Return a p-value as text for a reason: `p = 0.012`, `p < 0.001`."""
    return f"p {pvalue(relation=True).show(value, 'plain')}"


def of_trials(row: pd.Series) -> str:
    """Return how many answers of a row are correct, of how many trials, with the interval: `4 of 5 (38 to 96 %)`."""
    return f"{int(row['correct'])} of {int(row['trials'])} ({row['ci_low']:.0f} to {row['ci_high']:.0f} %)"


def number_text(value: float, decimals: int) -> str:
    """Return a number as text: with `decimals` decimals, or three digits if it is very large or small; never -0."""
    if value != 0 and (decimals > 6 or abs(value) >= 1e6):
        return f"{value:.3g}"
    text = f"{value:.{max(decimals, 0)}f}"
    return text.lstrip("-") if float(text) == 0 else text
