"""Compute an effect over seeds: mean, Student's interval, extremes, exact test, and Holm's correction in families."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from boundpaper.statistics import holm_p
from boundpaper.statistics.locations.permutation import sign_flip_p
from boundpaper.statistics.locations.student import student_interval

FloatArray = npt.NDArray[np.float64]
LEVEL = 0.05  # significance level of the plan, after correction within a family


def seed_interval(effects: FloatArray) -> tuple[float | None, float | None]:
    """Return Student's interval of the mean over seeds: (mean, mean) if all are equal, (None, None) for one seed."""
    if len(effects) < 2:
        return None, None
    mean = float(effects.mean())
    return student_interval(effects) or (mean, mean)


def seed_summary(values: FloatArray) -> dict[str, float | int | str | None]:
    """Return the mean over seeds, Student's interval, the extremes, the number of seeds, and a note if only one."""
    low, high = seed_interval(values)
    return {
        **{"value": float(values.mean()), "ci_low": low, "ci_high": high},
        **{"least": float(values.min()), "most": float(values.max()), "seeds": len(values)},
        "note": "" if low is not None else "one seed has no interval",
    }


def effect_columns(effects: FloatArray) -> dict[str, float | None]:
    """Return `difference`, `low`, `high`, `least`, `most`, the p of exact sign flips, and the smallest possible p.

    `p_least` assumes a difference in every seed. A seed without a difference has no sign to flip, but this indicates a
    small effect, not too few seeds.

    Parameters
    ----------
    effects : ndarray, shape (seeds,)
        An effect by seed; if empty, every value is None.
    """
    if not len(effects):
        return dict.fromkeys(("difference", "low", "high", "least", "most", "p", "p_least"))
    low, high = seed_interval(effects)
    test = sign_flip_p(effects)
    columns: dict[str, float | None] = {"difference": float(effects.mean()), "low": low, "high": high}
    columns |= {"least": float(effects.min()), "most": float(effects.max())}
    return columns | {"p": test.p_value, "p_least": 2.0 / 2 ** len(effects)}


def equivalence_p(effects: FloatArray, margin: float) -> tuple[float | None, float | None]:
    """Return the p of exact one-sided sign-flip tests against both ends of a margin, and the smallest possible p.

    The returned p is the larger of the two, since both tests must be significant to conclude that a difference is
    within the margin (Schuirmann 1987). Without seeds, both returned values are None.
    """
    if not len(effects):
        return None, None
    upper_p = sign_flip_p(effects + margin, alternative="greater").p_value
    lower_p = sign_flip_p(effects - margin, alternative="less").p_value
    return max(upper_p, lower_p), 1.0 / 2 ** len(effects)


def corrected_as_planned(p: pd.Series, family: pd.Series) -> pd.Series:
    """Return Holm's p within families of planned size, in which a test without a p counts with p = 1.

    Returns
    -------
    Series
        Corrected p with the index of `p`; empty where p is empty.
    """
    adjusted_p = pd.Series(np.nan, index=p.index, dtype=float)
    for _, group in p.groupby(family):
        adjusted = pd.Series(holm_p(group.fillna(1.0).tolist()), index=group.index)
        adjusted_p.loc[group.index] = adjusted.where(group.notna())
    return adjusted_p


def corrected(table: pd.DataFrame, by: str | list[str]) -> pd.DataFrame:
    """Return the table with `p_holm`, corrected within groups of `by`, and `p_holm_least`, its smallest possible value.

    The smallest value is the first Holm step applied to `p_least`. Rows without a p have neither.
    """
    adjusted = table.assign(p=table["p"].astype(float), p_least=table["p_least"].astype(float), p_holm=np.nan)
    adjusted["p_holm_least"] = np.nan
    for _, group in adjusted[adjusted["p"].notna()].groupby(by):
        adjusted.loc[group.index, "p_holm"] = np.array(holm_p(group["p"].tolist()), dtype=float)
        adjusted.loc[group.index, "p_holm_least"] = np.minimum(1.0, len(group) * group["p_least"])
    return adjusted
