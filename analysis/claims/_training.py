"""Read numbers that the prose on SmolLM3 states; judge changes between checkpoints, and printed ranges."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from analysis.claims._shared import cell_check
from boundpaper.claims import QuotedCell, Verdict, compare, judge, pick, quote
from boundpaper.statistics.rounding import Interval


def stated(frame: pd.DataFrame, statement: str) -> QuotedCell:
    """Return a number that the prose states; a number written as a word may be off by one half."""
    row = pick(frame, statement=statement)
    if pd.notna(row["low"]):
        return quote(frame, statement=statement)
    number = float(row["as_number"])
    return QuotedCell(str(row["printed"]), number, 0, Interval(number - 0.5, number + 0.5))


def judge_change(
    prose: pd.DataFrame, factor_key: str, changes: pd.DataFrame, span: str, metric: str, **arguments: Any
) -> Verdict:
    """Compare a stated factor with the factor by which a metric changes over a span; `arguments` go to `compare`."""
    row = pick(changes, span=span, metric=metric)
    interval = Interval(float(row["fold_low"]), float(row["fold_high"]))
    reason = (
        f"{metric} goes from {row['before']:.4g} to {row['after']:.4g}, a factor of {row['fold']:.2f} "
        f"({interval.low:.2f} to {interval.high:.2f} given the rounding of the two)"
    )
    return compare(stated(prose, factor_key), float(row["fold"]), interval, reason=reason, places=2, **arguments)


def in_phases(trajectory: pd.DataFrame, phases: Iterable[str]) -> pd.DataFrame:
    """Return the rows of the checkpoints in the given phases, in order of training."""
    return trajectory[trajectory["phase"].isin(list(phases))].sort_values("order")


def captured_windows(prose: pd.DataFrame, checkpoints: pd.DataFrame, statements: dict[str, str]) -> Iterator[Verdict]:
    """Judge whether each checkpoint was captured over the window that its statement gives."""
    contexts = checkpoints.set_index("checkpoint")["captured_context"]
    for statement, checkpoint in statements.items():
        reported, tokens = stated(prose, statement), int(contexts[checkpoint])
        yield cell_check(
            round(reported.number / 1000) * 1024 == tokens,
            f"{checkpoint} was captured over {tokens:,} tokens",
            reported=reported.printed,
            recomputed=f"{tokens / 1024:g}K",
            key=statement,
            statement=f"The window given as {statement.replace('_', ' ')} is that of {checkpoint}.",
        )


def judge_span(reported: QuotedCell, values: pd.Series, decimals: int, subject: str, **arguments: Any) -> Verdict:
    """Judge whether the smallest and the largest of some values round to the ends of a printed range."""
    smallest, largest = float(values.min()), float(values.max())
    half_unit = 0.5 * 10.0**-decimals
    slack = 1e-9
    low, high = reported.interval.low + half_unit, reported.interval.high - half_unit
    return judge(
        abs(smallest - low) <= half_unit + slack and abs(largest - high) <= half_unit + slack,
        f"{subject}: the {len(values)} values run from {smallest:.3f} to {largest:.3f}",
        reported=reported.printed,
        recomputed=f"{smallest:.3f} to {largest:.3f}",
        n=len(values),
        **arguments,
    )


def value_at(trajectory: pd.DataFrame, checkpoint: str, metric: str) -> float:
    """Return the value of a metric at a checkpoint."""
    return float(pick(trajectory, checkpoint=checkpoint)[metric])
