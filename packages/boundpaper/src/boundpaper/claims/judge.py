"""Judge claims: select a cell that a source prints, and compare it with a value computed from artifacts."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from boundpaper.claims.verdict import Verdict
from boundpaper.claims.words import number_text
from boundpaper.errors import DataError
from boundpaper.statistics.rounding import Interval, agreement, exact, meets, overlaps
from boundpaper.store.frames import PARSED, parsed, pick

APPROXIMATE_ERROR = 0.15  # the largest relative error of an approximate number


@dataclass(frozen=True)
class QuotedCell:
    """A cell of a table or text as a source prints it.

    Attributes
    ----------
    printed : str
        The printed text.
    value : float or None
        The number; None for words and ranges.
    decimals : int or None
        Digits after the decimal point.
    interval : Interval
        The range of values that round to the printed number; for a printed range, this range.

    Examples
    --------
    >>> import boundpaper as bp
    >>> import pandas as pd
    >>> bp.quote(pd.DataFrame({"day": [7, 14], "printed": ["8.1", "18.4"]}), day=14).number
    18.4
    """

    printed: str
    value: float | None
    decimals: int | None
    interval: Interval

    @property
    def number(self) -> float:
        """Return the number.

        Raises
        ------
        DataError
            When the text is a word or a range.
        """
        if self.value is None:
            raise DataError(f"{self.printed!r} is not a single number; use its interval")
        return self.value


def quote(frame: pd.DataFrame, **where: object) -> QuotedCell:
    """Return the printed cell of the only row that `where` selects.

    Parameters
    ----------
    frame : DataFrame
        Table with a printed cell per row, as text in the column `printed`. Cells that the store has not parsed are
        parsed here.
    where
        Columns, and their values in the row.

    Raises
    ------
    DataError
        When a column is absent, no row or several rows match, or the cell is empty or not text.

    Examples
    --------
    >>> import boundpaper as bp
    >>> import pandas as pd
    >>> heights = pd.DataFrame({"lamp": ["sun", "shade"], "printed": ["18.4", "3.1"]})
    >>> cell = bp.quote(heights, lamp="sun")
    >>> f"{cell.printed} stands for {cell.interval.low:.2f} to {cell.interval.high:.2f}"
    '18.4 stands for 18.35 to 18.45'
    """
    return quote_row(pick(frame, **where), where)


def quote_row(row: pd.Series, where: Mapping[str, object]) -> QuotedCell:
    """Return the printed cell of a row; raise DataError when `quote` does, naming the selection `where`."""
    if not all(name in row for name in PARSED):
        if not isinstance(row.get("printed"), str):
            raise DataError(f"the cell {where} has no text in a column `printed`; read the table with dtype=str")
        row = parsed(row.to_frame().T).iloc[0]
    if pd.isna(row["low"]):
        raise DataError(f"the cell {where} prints {row['printed']!r}, which is not a number; compare it by judge()")
    value = None if pd.isna(row["value"]) else float(row["value"])
    decimals = None if pd.isna(row["decimals"]) else int(row["decimals"])
    return QuotedCell(str(row["printed"]), value, decimals, Interval(float(row["low"]), float(row["high"])))


def compare(
    reported: QuotedCell,
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
    p_adjusted: float | None = None,
) -> Verdict:
    """Return the verdict on a printed number, judged by the recomputed number.

    `holds`: the recomputed number rounds to the printed number, or lies in the printed range. `holds after rounding`:
    it does not, but another number in the range `within` does. `contradicted`, with the failure kind `number`: no
    number in this range does.

    Parameters
    ----------
    reported : QuotedCell
        The printed cell: a number or a range.
    value : float
        The recomputed number, in the unit of the printed number.
    within : Interval or None
        Range of the recomputed number, given its rounded inputs; None if the inputs are exact.
    reason : str
        The verdict's reason: how the number was recomputed.
    places : int or None
        Decimals of the recomputed number in the ledger; by default one more than printed.
    n : int or None
        Number of units behind the number.
    key : str
        Key of the ledger row, if a claim has several rows.
    statement : str
        What this row states; by default the claim's statement.
    kind : {"statement", "cell check"}
        Whether the number is printed in prose or in a table cell.
    ci : pair of float or None
        Confidence interval of the recomputed number.
    p_value, p_adjusted : float or None
        p-value of a test, and p-value corrected for its family of tests.

    Examples
    --------
    >>> import boundpaper as bp
    >>> import pandas as pd
    >>> cell = bp.quote(pd.DataFrame({"lamp": ["sun"], "printed": ["18.4"]}), lamp="sun")
    >>> bp.compare(cell, 18.46, reason="It is the mean of 40 plants.").verdict
    'contradicted'
    """
    if reported.value is None or reported.decimals is None:
        verdict = _agreement_with(reported.interval, value, within)
        decimals = 3 if places is None else places
    else:
        verdict = agreement(value, within, reported.value, reported.decimals)
        decimals = reported.decimals + 1 if places is None else places
    return Verdict(
        verdict=verdict,
        reason=reason,
        reported=reported.printed,
        recomputed=number_text(value, decimals),
        n=n,
        ci_low=ci[0] if ci else None,
        ci_high=ci[1] if ci else None,
        p_value=p_value,
        p_adjusted=p_adjusted,
        key=key,
        statement=statement,
        kind=kind,
        failure="number" if verdict == "contradicted" else "",
    )


def _agreement_with(allowed: Interval, value: float, within: Interval | None) -> str:
    """Return the verdict on a recomputed number, given the range `allowed` of the values that agree with the source."""
    if meets(allowed, exact(value)):
        return "holds"
    return "holds after rounding" if within is not None and overlaps(allowed, within) else "contradicted"


def approximately(number: float, decimals: int) -> Interval:
    """Return the range of values that an approximate number (`~`, about, roughly) allows.

    The value may differ from the number by 1.5 units of its last nonzero digit, but by at most 15 % of the number: 95.5
    to 98.5 for ~97, 3.4 to 4.6 for ~4, 17 to 23 for ~20, 85 to 115 for ~100.
    """
    unit = 10.0**-decimals
    while number and decimals <= 0 and number % (10 * unit) == 0:
        unit *= 10
    tolerance = min(1.5 * unit, APPROXIMATE_ERROR * abs(number)) if number else 1.5 * unit
    return Interval(number - tolerance, number + tolerance)


def about(
    reported: QuotedCell,
    value: float,
    within: Interval | None = None,
    *,
    reason: str,
    n: int | None = None,
    key: str = "",
    statement: str = "",
    kind: str = "statement",
) -> Verdict:
    """Return the verdict on a number that the source calls approximate (`~`, about, roughly).

    `holds`: the value is in the range that `approximately` allows. `holds after rounding`: it is not, but the range
    `within` overlaps the allowed range. `contradicted`: the range `within` does not overlap it either.

    Parameters
    ----------
    reported : QuotedCell
        The printed cell: one number, not a range.
    value : float
        The recomputed number, in the unit of the printed number.
    within : Interval or None
        Range of the recomputed number, given its rounded inputs; None if the inputs are exact.
    reason : str
        How the number was recomputed; the allowed range is added.
    n : int or None
        Number of units behind the number.
    key : str
        Key of the ledger row, if a claim has several rows.
    statement : str
        What this row states; by default the claim's statement.
    kind : {"statement", "cell check"}
        Whether the number is printed in prose or in a table cell.

    Raises
    ------
    DataError
        When the source prints a word or a range.

    Examples
    --------
    >>> import boundpaper as bp
    >>> import pandas as pd
    >>> cell = bp.quote(pd.DataFrame({"lamp": ["sun"], "printed": ["~20"]}), lamp="sun")
    >>> bp.about(cell, 18.46, reason="It is the mean of 40 plants.").reason
    'It is the mean of 40 plants. ~20 is read as 17 to 23.'
    """
    decimals = reported.decimals or 0
    allowed = approximately(reported.number, decimals)
    verdict = _agreement_with(allowed, value, within)
    return Verdict(
        verdict=verdict,
        reason=f"{reason} {reported.printed} is read as {allowed.low:g} to {allowed.high:g}.",
        reported=reported.printed,
        recomputed=number_text(value, max(decimals, 0) + 1),
        n=n,
        key=key,
        statement=statement,
        kind=kind,
        failure="number" if verdict == "contradicted" else "",
    )


def judge(
    true: bool,
    reason: str | tuple[str, str],
    *,
    otherwise: str = "contradicted",
    failure: str = "",
    reported: str = "",
    recomputed: str | float = "",
    n: int | None = None,
    p_value: float | None = None,
    p_adjusted: float | None = None,
    ci: tuple[float, float] | None = None,
    key: str = "",
    statement: str = "",
) -> Verdict:
    """Return a verdict: `holds` if the statement is true of the artifacts, else `otherwise`.

    Parameters
    ----------
    true : bool
        Whether the artifacts confirm the statement.
    reason : str or pair of str
        The reason, or a pair of reasons: the first if the statement is true, the second if it is false.
    otherwise : str
        The verdict if the statement is false. For `not significant` use `directed`, which has the interval.
        `judge(p < ALPHA, ...)` without `otherwise` is an error (`by_p.py`), since a large p contradicts nothing.
    failure : str
        The kind of failure, one of `FAILURES`, if the statement is false; by default the kind that `otherwise` implies.
    reported, recomputed : str
        The value in the source, and the value from the artifacts; numbers are printed with four decimals.
    p_value, p_adjusted : float or None
        p-value of a test, and p-value corrected for its family of tests.
    ci : pair of float or None
        Confidence interval of the recomputed number.
    n : int or None
        Number of units behind the number.
    key : str
        Key of the ledger row, if a claim has several rows.
    statement : str
        What this row states; by default the claim's statement.

    Raises
    ------
    ValueError
        When `otherwise` or `failure` is an unknown word, or a number is invalid (such as a p-value above 1).

    Examples
    --------
    >>> from boundpaper.claims import judge
    >>> judge(18.4 > 3.1, "The bean in the sun is the taller one.").verdict
    'holds'
    """
    return Verdict(
        verdict="holds" if true else otherwise,
        reason=reason if isinstance(reason, str) else reason[0 if true else 1],
        reported=reported,
        recomputed=recomputed if isinstance(recomputed, str) else number_text(recomputed, 4),
        n=n,
        p_value=p_value,
        p_adjusted=p_adjusted,
        ci_low=ci[0] if ci else None,
        ci_high=ci[1] if ci else None,
        key=key,
        statement=statement,
        failure="" if true else failure,
    )


def untestable(reason: str, reported: str = "", key: str = "", statement: str = "") -> Verdict:
    """Return the verdict `not testable`; the reason names what would decide the claim.

    Parameters
    ----------
    reason : str
        What would decide the claim.
    reported : str
        The value in the source.
    key, statement : str
        Key and statement of the ledger row, if a claim has several rows.

    Examples
    --------
    >>> from boundpaper.claims import untestable
    >>> untestable("The heights of the second year were not published.").verdict
    'not testable'
    """
    return Verdict(verdict="not testable", reason=reason, reported=reported, key=key, statement=statement)


def candidate(excluded: bool, reason: tuple[str, str], *, recomputed: str = "", n: int | None = None) -> Verdict:
    """Return the verdict on a possible cause that a source names without asserting it.

    It is `contradicted` if the data exclude the cause, else `not testable`, since the cause may still be false.

    Parameters
    ----------
    excluded : bool
        Whether the artifacts exclude the cause.
    reason : pair of str
        The reason if the cause is excluded, and a reason that names what would decide the claim if it is not.
    recomputed : str
        The value from the artifacts.
    n : int or None
        Number of units behind the value.

    Examples
    --------
    >>> from boundpaper.claims import candidate
    >>> candidate(False, ("All lamps were alike.", "A lamp of another colour would decide it.")).verdict
    'not testable'
    """
    if not excluded:
        return untestable(reason[1])
    return Verdict(verdict="contradicted", reason=reason[0], recomputed=recomputed, n=n)
