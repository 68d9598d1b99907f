"""Parse stated words as numbers, and judge changes over a span and ranges in a phase, for claims on SmolLM3."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from boundpaper.claims import QuotedCell, Verdict, compare, judge, pick, quote
from boundpaper.statistics.rounding import Interval

FIRST = "stage1-step-40000"
ANNEALED = "stage3-step-4720000"
ONSET = "lc-4k-to-32k-step-4000"
LAST = "lc-32k-to-64k-step-20000"
PRETRAINING = ("Pre-train", "Anneal")
EXTENSIONS = ("LC 4K-32K", "LC 32K-64K")


def stated(frame: pd.DataFrame, statement: str) -> QuotedCell:
    """Return a value stated in prose: a printed number, or a whole number in words, plus or minus one half."""
    row = pick(frame, statement=statement)
    if pd.notna(row["low"]):
        return quote(frame, statement=statement)
    number = float(row["as_number"])
    return QuotedCell(str(row["printed"]), number, 0, Interval(number - 0.5, number + 0.5))


def change(
    reported: QuotedCell, changes: pd.DataFrame, span: str, metric: str, words: str, column: str = "fold", **about: str
) -> Verdict:
    """Compare a stated factor with the change of a metric over a span; `column` is fold, ratio or difference."""
    row = pick(changes, span=span, metric=metric)
    within = Interval(float(row[f"{column}_low"]), float(row[f"{column}_high"]))
    reason = (
        f"{words} from {row['before']:.4g} to {row['after']:.4g}, "
        f"a factor of {row[column]:.2f} ({within.low:.2f} to {within.high:.2f} given the rounding of the two)"
    )
    return compare(reported, float(row[column]), within, reason=reason, places=2, key=about.get("key", ""))


def phase(trajectory: pd.DataFrame, phases: Iterable[str]) -> pd.DataFrame:
    """Return the checkpoints of some phases, in order."""
    return trajectory[trajectory["phase"].isin(list(phases))].sort_values("order")


def spanned(reported: QuotedCell, values: pd.Series, decimals: int, words: str) -> Verdict:
    """Judge whether the smallest and largest value round to the ends of a printed range."""
    least, most = float(values.min()), float(values.max())
    half = 0.5 * 10.0**-decimals
    slack = 1e-9
    low, high = reported.interval.low + half, reported.interval.high - half
    meets = abs(least - low) <= half + slack and abs(most - high) <= half + slack
    return judge(
        meets,
        f"{words}: the {len(values)} values run from {least:.3f} to {most:.3f}",
        reported=reported.printed,
        recomputed=f"{least:.3f} to {most:.3f}",
        n=len(values),
    )


def value(trajectory: pd.DataFrame, checkpoint: str, metric: str) -> float:
    """Return one value of a checkpoint."""
    return float(pick(trajectory, checkpoint=checkpoint)[metric])


def word(frame: pd.DataFrame, statement: str) -> str:
    """Return the words in which the prose states a value."""
    return str(pick(frame, statement=statement)["printed"])


def keyed(verdict: Verdict, key: str, statement: str = "", kind: str = "statement") -> Verdict:
    """Return a copy of the verdict with another key, statement and kind."""
    return replace(verdict, key=key, statement=statement or verdict.statement, kind=kind)
