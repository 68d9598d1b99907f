"""Turn a test over seeds into a verdict."""

import pandas as pd

from analysis.claims.thesis._open import left_open
from boundpaper.claims import ALPHA, Verdict, directed, untestable

POOLED = frozenset({"plasticity_drops", "h1_plasticity", "drop_decline", "head_damage", "head_damage_late"})
"""Items of the plan whose quantity is a plasticity of queries pooled in bins."""


def judge_both(row: pd.Series, value: str, sign: int, key: str, statement: str, units: str) -> Verdict:
    """Judge a difference both ways by the plan's corrected exact test; an open verdict says what would decide it.

    Student's interval over seeds is reported, but does not affect the decision.

    An item about plasticity is judged by the measured values, and the reason says that it remains open.
    """
    verdict = _judge_over_seeds(row, value, sign, key, statement, units)
    return left_open(verdict) if row.get("item") in POOLED else verdict


def judge_equal(row: pd.Series, key: str, statement: str, units: str) -> Verdict:
    """Judge that a difference is within a row's margin, by the exact test against that margin, corrected.

    It holds if the test says so, is contradicted if every seed lies beyond the margin on one side, and is not supported
    if larger differences remain possible.
    """
    if pd.isna(row["value"]):
        return untestable(f"Not measured yet: {row['note']}.", key=key, statement=statement)
    size, margin, least = float(row["value"]), float(row["margin"]), float(row["p_same_holm_least"])
    measured = f"value {size:+.3g} over {units}, margin {margin:g}"
    if least >= ALPHA or pd.isna(row["low"]):
        return untestable(
            f"Open: {measured}; so few seeds give no corrected p below {least:.3g}, and the other seeds of the "
            "plan would decide it.",
            key=key,
            statement=statement,
        )
    low, high = float(row["low"]), float(row["high"])
    within = bool(row["p_same_holm"] < ALPHA)
    beyond = row["least"] > margin or row["most"] < -margin
    return Verdict(
        verdict="holds" if within else "contradicted" if beyond else "not supported",
        reason=f"{measured} [{low:+.3g}, {high:+.3g}]; against it the Holm-corrected p is {row['p_same_holm']:.3g}.",
        recomputed=f"{size:+.3g}",
        n=int(row["seeds"]),
        p_value=float(row["p_same"]),
        p_adjusted=float(row["p_same_holm"]),
        key=key,
        statement=statement,
    )


def _judge_over_seeds(row: pd.Series, value: str, sign: int, key: str, statement: str, units: str) -> Verdict:
    if pd.isna(row[value]):
        return untestable(
            f"Not measured yet: {row['note']}; the models of the plan would decide it.", key=key, statement=statement
        )
    size, least = float(row[value]), float(row["p_holm_least"])
    measured = f"{value} {size:+.3g} over {units}"
    if least >= ALPHA or pd.isna(row["low"]):
        return untestable(
            f"Open: {measured}; so few seeds give no corrected p below {least:.3g}, whatever they show, and the other "
            "seeds of the plan would decide it.",
            key=key,
            statement=statement,
        )
    low, high = float(row["low"]), float(row["high"])
    measured = (
        f"{measured} [{low:+.3g}, {high:+.3g}], Holm-corrected p {row['p_holm']:.3g}, the least attainable {least:.3g}."
    )
    decided, includes, against = row["p_holm"] < ALPHA, low <= 0 <= high, max(sign * low, sign * high) < 0
    if (decided and includes) or (against and not decided):
        where = "includes zero" if includes else "lies on the other side"
        does = "decides" if decided else "decides nothing"
        return Verdict(
            verdict="not supported" if not decided else "holds" if sign * size > 0 else "contradicted",
            reason=f"{measured} The exact test of the plan {does}; Student's interval, given beside it, {where}.",
            recomputed=f"{size:+.3g}",
            n=int(row["seeds"]),
            p_value=float(row["p"]),
            p_adjusted=float(row["p_holm"]),
            key=key,
            statement=statement,
        )
    return directed(
        size,
        (low, high),
        sign,
        measured,
        recomputed=f"{size:+.3g}",
        n=int(row["seeds"]),
        p_value=float(row["p"]),
        p_adjusted=float(row["p_holm"]),
        key=key,
        statement=statement,
    )


def models(row: pd.Series) -> str:
    """Return the units of a relation, in words."""
    return f"{int(row['models'])} models of {int(row['seeds'])} seeds"
