"""Judging: picking what a source prints, and comparing it with what follows from the artifacts."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from analysis.claims._verdict import Verdict
from analysis.statistics.rounding import Interval, agreement
from artifacts.errors import DataError


@dataclass(frozen=True)
class Quoted:
    """A printed cell: its text, its number (None for words and ranges), decimals, and rounding interval."""

    printed: str
    value: float | None
    decimals: int | None
    interval: Interval

    @property
    def number(self) -> float:
        """The number.

        Raises
        ------
        DataError
            When the text is a word or a range.
        """
        if self.value is None:
            raise DataError(f"{self.printed!r} is no single number; use its interval")
        return self.value


def quote(frame: pd.DataFrame, **where: object) -> Quoted:
    """The one row of a long source that `where` picks.

    Raises
    ------
    DataError
        When a column is absent, no row or several rows match, or the cell is empty.
    """
    row = pick(frame, **where)
    if pd.isna(row["low"]):
        raise DataError(f"the cell {where} prints {row['printed']!r}, which is no number")
    value = None if pd.isna(row["value"]) else float(row["value"])
    decimals = None if pd.isna(row["decimals"]) else int(row["decimals"])
    return Quoted(str(row["printed"]), value, decimals, Interval(float(row["low"]), float(row["high"])))


def pick(frame: pd.DataFrame, **where: object) -> pd.Series:
    """The one row of a frame whose columns equal `where`.

    Raises
    ------
    DataError
        When a column is absent, or no row or several rows match.
    """
    absent = [name for name in where if name not in frame.columns]
    if absent:
        raise DataError(f"no column {', '.join(absent)}; the artifact has {', '.join(frame.columns)}")
    rows = frame
    for name, value in where.items():
        rows = rows[rows[name] == value]
    if len(rows) != 1:
        words = ", ".join(f"{name}={value!r}" for name, value in where.items())
        raise DataError(f"{len(rows)} rows have {words}; exactly one is needed")
    return rows.iloc[0]


def compare(
    reported: Quoted,
    value: float,
    within: Interval | None = None,
    *,
    reason: str,
    places: int | None = None,
    n: int | None = None,
    key: str = "",
    statement: str = "",
    kind: str = "statement",
    ci: tuple[float, float] | None = None,
    p_value: float | None = None,
) -> Verdict:
    """The verdict on a printed number, given the recomputed one.

    Parameters
    ----------
    reported : Quoted
        What the source prints; for a printed range the value must lie in it (widened by half a printed unit).
    value : float
        The recomputed number, in the unit of the printed one.
    within : Interval or None
        What the rounding of its inputs leaves open; None when they are exact.
    reason : str
        How it was recomputed; the verdict's reason.
    places : int or None
        Decimals of the recomputed number in the ledger; one more than printed by default.
    """
    if reported.value is None or reported.decimals is None:
        inside = reported.interval.low <= value <= reported.interval.high
        near = within is not None and within.low <= reported.interval.high and reported.interval.low <= within.high
        verdict = "holds" if inside else "holds after rounding" if near else "contradicted"
        decimals = 3 if places is None else places
    else:
        verdict = agreement(value, within, reported.value, reported.decimals)
        decimals = reported.decimals + 1 if places is None else places
    return Verdict(
        verdict=verdict,
        reason=reason,
        reported=reported.printed,
        recomputed=_number(value, decimals),
        n=n,
        ci_low=ci[0] if ci else None,
        ci_high=ci[1] if ci else None,
        p_value=p_value,
        key=key,
        statement=statement,
        kind=kind,
    )


def about(
    reported: Quoted,
    value: float,
    *,
    reason: str,
    n: int | None = None,
    key: str = "",
    statement: str = "",
    kind: str = "statement",
) -> Verdict:
    """The verdict on a number that the source itself calls approximate (`~`, about, roughly).

    Such a number is read at its last digit that is not zero. It holds where the value rounds to it there (144.7 for
    ~100, 35.4 for ~35), and holds after rounding where the value rounds to a neighbour and lies within a quarter of the
    number: a unit more or less is little of ~97 and much of ~20, for which 26.8 is no approximation. Anything further
    off contradicts it.

    Parameters
    ----------
    reported : Quoted
        What the source prints: one number, no range.
    value : float
        The recomputed number, in the unit of the printed one.
    reason : str
        How it was recomputed; the precision that the number is read to is added.
    """
    number, decimals = reported.number, reported.decimals or 0
    unit = 10.0**-decimals
    while number and decimals <= 0 and number % (10 * unit) == 0:
        unit *= 10
    off = abs(value - number)
    rounds = off <= unit / 2 * (1 + 1e-9)
    near = off <= min(1.5 * unit, abs(number) / 4) * (1 + 1e-9)
    return Verdict(
        verdict="holds" if rounds else "holds after rounding" if near else "contradicted",
        reason=f"{reason} {reported.printed} is read to the nearest {unit:g}.",
        reported=reported.printed,
        recomputed=_number(value, max(decimals, 0) + 1),
        n=n,
        key=key,
        statement=statement,
        kind=kind,
    )


def judge(
    true: bool,
    reason: str,
    *,
    otherwise: str = "contradicted",
    reported: str = "",
    recomputed: str | float = "",
    n: int | None = None,
    p_value: float | None = None,
    ci: tuple[float, float] | None = None,
    key: str = "",
    statement: str = "",
) -> Verdict:
    """The verdict on a statement that the artifacts make true (`holds`) or not (`otherwise`)."""
    return Verdict(
        verdict="holds" if true else otherwise,
        reason=reason,
        reported=reported,
        recomputed=recomputed if isinstance(recomputed, str) else _number(recomputed, 4),
        n=n,
        p_value=p_value,
        ci_low=ci[0] if ci else None,
        ci_high=ci[1] if ci else None,
        key=key,
        statement=statement,
    )


def untestable(reason: str, reported: str = "", key: str = "", statement: str = "") -> Verdict:
    """The verdict `not testable`; the reason names what would decide the claim."""
    return Verdict(verdict="not testable", reason=reason, reported=reported, key=key, statement=statement)


def _number(value: float, decimals: int) -> str:
    if value != 0 and (decimals > 6 or abs(value) >= 1e6):
        return f"{value:.3g}"
    text = f"{value:.{max(decimals, 0)}f}"
    return text.lstrip("-") if float(text) == 0 else text
