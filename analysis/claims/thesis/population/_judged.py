"""Judge tests over seeds of the population."""

from typing import Any

import pandas as pd

from analysis.claims.thesis._open import left_open
from boundpaper.claims import ALPHA, Verdict, directed, untestable

POOLED = frozenset({"plasticity_drops", "h1_plasticity", "drop_decline", "head_damage", "head_damage_late"})
"""Items of the plan on plasticity that was measured with queries pooled in bins."""


def judge_both(row: pd.Series, column: str, sign: int, key: str, statement: str, units: str) -> Verdict:
    """Judge a signed difference by the plan's corrected exact test; an open verdict says what would decide it.

    The reason gives Student's interval over seeds, which does not affect the verdict. For an item in `POOLED` it also
    says that the item remains open.
    """
    verdict = _judge_over_seeds(row, column, sign, key, statement, units)
    return left_open(verdict) if row.get("item") in POOLED else verdict


def judge_equal(row: pd.Series, key: str, statement: str, units: str) -> Verdict:
    """Judge whether a row's difference is within its margin, by the corrected exact test against this margin.

    The claim holds if the test says so, is contradicted if every seed lies beyond the margin on one side, and is not
    supported if larger differences remain possible.
    """
    if pd.isna(row["value"]):
        return untestable(f"Not measured yet: {row['note']}.", key=key, statement=statement)
    size, margin, least_p = float(row["value"]), float(row["margin"]), float(row["p_same_holm_least"])
    result = f"value {size:+.3g} over {units}, margin {margin:g}"
    if least_p >= ALPHA or pd.isna(row["low"]):
        return untestable(
            f"Open: {result}; so few seeds give no corrected p below {least_p:.3g}, and the other seeds of the plan "
            "would decide it.",
            key=key,
            statement=statement,
        )
    low, high = float(row["low"]), float(row["high"])
    is_equal = bool(row["p_same_holm"] < ALPHA)
    beyond = row["least"] > margin or row["most"] < -margin
    return Verdict(
        verdict="holds" if is_equal else "contradicted" if beyond else "not supported",
        reason=f"{result} [{low:+.3g}, {high:+.3g}]; against it the Holm-corrected p is {row['p_same_holm']:.3g}.",
        recomputed=f"{size:+.3g}",
        n=int(row["seeds"]),
        p_value=float(row["p_same"]),
        p_adjusted=float(row["p_same_holm"]),
        key=key,
        statement=statement,
    )


def _judge_over_seeds(row: pd.Series, column: str, sign: int, key: str, statement: str, units: str) -> Verdict:
    if pd.isna(row[column]):
        return untestable(
            f"Not measured yet: {row['note']}; the models of the plan would decide it.", key=key, statement=statement
        )
    size, least_p = float(row[column]), float(row["p_holm_least"])
    result = f"{column} {size:+.3g} over {units}"
    if least_p >= ALPHA or pd.isna(row["low"]):
        return untestable(
            f"Open: {result}; so few seeds give no corrected p below {least_p:.3g}, whatever they show, and the other "
            "seeds of the plan would decide it.",
            key=key,
            statement=statement,
        )
    low, high = float(row["low"]), float(row["high"])
    result = (
        f"{result} [{low:+.3g}, {high:+.3g}], Holm-corrected p {row['p_holm']:.3g}, the least attainable {least_p:.3g}."
    )
    fields: dict[str, Any] = {"recomputed": f"{size:+.3g}", "n": int(row["seeds"]), "key": key, "statement": statement}
    fields |= {"p_value": float(row["p"]), "p_adjusted": float(row["p_holm"])}
    is_decided, includes_zero, is_opposite = row["p_holm"] < ALPHA, low <= 0 <= high, max(sign * low, sign * high) < 0
    if (is_decided and includes_zero) or (is_opposite and not is_decided):
        interval_in_words = "includes zero" if includes_zero else "lies on the other side"
        test_in_words = "decides" if is_decided else "decides nothing"
        return Verdict(
            verdict="not supported" if not is_decided else "holds" if sign * size > 0 else "contradicted",
            reason=f"{result} The exact test of the plan {test_in_words}; Student's interval, given beside it, "
            f"{interval_in_words}.",
            **fields,
        )
    return directed(size, (low, high), sign, result, **fields)


def models_in_words(row: pd.Series) -> str:
    """Return the numbers of models and seeds behind a row, in words."""
    return f"{int(row['models'])} models of {int(row['seeds'])} seeds"


def seeds_in_words(row: pd.Series) -> str:
    """Return the number of seeds behind a row, in words."""
    return f"{int(row['seeds'])} seeds"
