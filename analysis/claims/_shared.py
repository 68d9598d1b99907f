"""Constants, verdicts, selections of rows and phrases that several files of claims share."""

from dataclasses import replace
from typing import Any

import pandas as pd

from boundpaper.claims.judge import compare, judge, quote
from boundpaper.claims.verdict import ALPHA, Verdict
from boundpaper.claims.worded_numbers import stated_number
from boundpaper.claims.words import listed
from boundpaper.store.frames import pick

DECILE = 13107.2  # tokens per tenth of 131,072
DECILES = [f"d{decile}" for decile in range(10)]
USABLE = 10.0  # perplexity over its baseline, below which a model is usable


def cell_check(true: bool, reason: str, **arguments: Any) -> Verdict:
    """Return the verdict of `judge` on a printed cell; `arguments` are the keywords of `judge`."""
    return replace(judge(true, reason, **arguments), kind="cell check")


def count_check(prose: pd.DataFrame, statement: str, count: int, reason: str, **arguments: Any) -> Verdict:
    """Return the verdict of `compare` on a count that the prose states, with the statement as key."""
    cell, quantity = quote(prose, statement=statement), pick(prose, statement=statement)["quantity"]
    fields: dict[str, Any] = {"key": statement, "statement": f"{quantity}: {count}.", "kind": "cell check", **arguments}
    return compare(cell, count, reason=reason, places=0, **fields)


def rows_where(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """Return the rows whose columns have the given values; a tuple stands for any of its values."""
    for column, value in values.items():
        frame = frame[frame[column].isin(value) if isinstance(value, tuple) else frame[column] == value]
    return frame


def min_to_max(values: pd.Series, form: str = ".3f") -> str:
    """Return the smallest and the largest value in words, each as `form` formats it: `0.120 to 0.345`."""
    return f"{values.min():{form}} to {values.max():{form}}"


def printed_text(frame: pd.DataFrame, **where: object) -> str:
    """Return the text that a source prints in the only row that `where` selects."""
    return str(pick(frame, **where)["printed"])


def decile_values(row: pd.Series) -> list[float]:
    """Return the ten values of a profile, one per tenth of the context."""
    return [float(value) for value in row[DECILES]]


def value_of(frame: pd.DataFrame, quantity: str, column: str = "value") -> float:
    """Return the number in a column of the only row of a quantity."""
    return float(pick(frame, quantity=quantity)[column])


def pick_each(frame: pd.DataFrame, **where: Any) -> list[pd.Series]:
    """Return the row that `pick` selects for each value of the one keyword that has a tuple."""
    (column,) = (name for name, values in where.items() if isinstance(values, tuple))
    return [pick(frame, **{**where, column: value}) for value in where[column]]


def numbers_of(test: Any, *names: str) -> dict[str, Any]:
    """Return numbers of a test as keywords of `judge`; `ci` means the two ends of its confidence interval."""
    numbers: dict[str, Any] = {name: float(test[name]) for name in names if name.startswith("p_")}
    if "n" in names:
        numbers["n"] = int(test["n"])
    if "ci" in names:
        numbers["ci"] = (float(test["ci_low"]), float(test["ci_high"]))
    return numbers


def judge_joint_change(tests: pd.DataFrame, comparison: str, *, what: str, reported: str = "") -> Verdict:
    """Judge by changes from length to length whether two series move together; any two declining series correlate.

    Parameters
    ----------
    tests : DataFrame
        Rows with the tests `pearson_levels` and `pearson_first_differences`.
    comparison : str
        Name of the compared series in `tests`.
    what : str
        The two quantities, in words, for the reason.
    reported : str
        The source's words for the relation.
    """
    levels = pick(tests, comparison=comparison, test="pearson_levels")
    steps = pick(tests, comparison=comparison, test="pearson_first_differences")
    changes_correlate = bool(steps["estimate"] > 0 and steps["p_value"] < ALPHA)
    return judge(
        changes_correlate,
        f"{what} correlate in levels (r = {levels['estimate']:.2f}, n = {levels['n']}), as two declining series must; "
        f"their changes from length to length {'do too' if changes_correlate else 'do not'} (r = "
        f"{steps['estimate']:.2f}, exact p = {steps['p_value']:.2f}, n = {steps['n']}).",
        otherwise="not supported",
        reported=reported,
        recomputed=f"r of changes {steps['estimate']:.2f}",
        n=int(steps["n"]),
        p_value=float(steps["p_value"]),
    )


def judge_recovery_depth(stated: pd.DataFrame, statement: str, recoveries: pd.DataFrame) -> Verdict:
    """Judge whether the shallowest model that recovers has the stated number of text layers.

    Parameters
    ----------
    stated : DataFrame
        Values stated in prose.
    statement : str
        Key of the statement that gives the depth.
    recoveries : DataFrame
        `nope_recovery_recomputed`: each captured model's recovery, with its rounding range, and number of layers.
    """
    row = pick(stated, statement=statement)
    recovering = recoveries[recoveries["recovery_low"] > 0]
    fewest_layers = int(recovering["text_layers"].min())
    return cell_check(
        stated_number(row) == fewest_layers,
        f"{listed(list(recovering['display_name']))} recover; the shallowest has {fewest_layers} layers of text.",
        reported=str(row["printed"]),
        recomputed=str(fewest_layers),
        n=len(recovering),
    )


def rising_profiles(decile_profiles: pd.DataFrame) -> tuple[int, str]:
    """Return the number of profiles that rise by more than rounding explains, and a list of their models and rises."""
    rows = decile_profiles[decile_profiles["rise_shown"].astype(bool)].sort_values("draw_up", ascending=False)
    return len(rows), listed([f"{row['display_name']} (+{row['draw_up']:.3f})" for _, row in rows.iterrows()])
