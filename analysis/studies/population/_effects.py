"""Compute an effect over seeds: mean, Student's interval, extremes, exact test, and Holm's correction in families."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from boundpaper.statistics import holm_p
from boundpaper.statistics.locations.permutation import sign_flip_p
from boundpaper.statistics.locations.student import student_interval

FloatArray = npt.NDArray[np.float64]
LEVEL = 0.05  # of the plan, after the correction of a family


def over_seeds(seeds: FloatArray) -> tuple[float | None, float | None]:
    """Student's interval of the mean over seeds; the value itself if the seeds are equal, no interval for one seed."""
    if len(seeds) < 2:
        return None, None
    mean = float(seeds.mean())
    return student_interval(seeds) or (mean, mean)


def effect_columns(seeds: FloatArray) -> dict[str, float | None]:
    """Return `difference`, `low`, `high`, `least`, `most`, the p of exact sign flips, and the smallest possible p.

    `p_least` is of seeds that all differ: one without a difference has no sign to flip, which tells of a small effect
    and not of too few seeds.

    Parameters
    ----------
    seeds : ndarray, shape (seeds,)
        An effect by seed; without a seed every value is None.
    """
    if not len(seeds):
        return dict.fromkeys(("difference", "low", "high", "least", "most", "p", "p_least"))
    low, high = over_seeds(seeds)
    flips = sign_flip_p(seeds)
    result: dict[str, float | None] = {"difference": float(seeds.mean()), "low": low, "high": high}
    result |= {"least": float(seeds.min()), "most": float(seeds.max())}
    return result | {"p": flips.p_value, "p_least": 2.0 / 2 ** len(seeds)}


def equivalence_p(seeds: FloatArray, margin: float) -> tuple[float | None, float | None]:
    """Return the p of exact one-sided sign flips against either end of a margin, and the smallest possible p.

    Seeds are compared with both -margin and margin, and the larger p counts: both must be rejected before a difference
    is said to be less than the margin (Schuirmann 1987). Without a seed both are None.
    """
    if not len(seeds):
        return None, None
    above = sign_flip_p(seeds + margin, alternative="greater").p_value
    below = sign_flip_p(seeds - margin, alternative="less").p_value
    return max(above, below), 1.0 / 2 ** len(seeds)


def corrected_as_planned(p: pd.Series, family: pd.Series) -> pd.Series:
    """Return Holm's p within families of their planned size: a test that has no p yet counts with p = 1.

    Returns
    -------
    Series
        Of the index of `p`; empty where p is.
    """
    made = pd.Series(np.nan, index=p.index, dtype=float)
    for _, part in p.groupby(family):
        adjusted = pd.Series(holm_p(part.fillna(1.0).tolist()), index=part.index)
        made.loc[part.index] = adjusted.where(part.notna())
    return made


def corrected(table: pd.DataFrame, by: str | list[str]) -> pd.DataFrame:
    """Return the table with `p_holm`, corrected within the groups of `by`, and `p_holm_least`, its smallest value.

    The smallest is what the first step of Holm makes of `p_least`. Rows without a p have neither.
    """
    made = table.assign(p=table["p"].astype(float), p_least=table["p_least"].astype(float), p_holm=np.nan)
    made["p_holm_least"] = np.nan
    for _, part in made[made["p"].notna()].groupby(by):
        made.loc[part.index, "p_holm"] = np.array(holm_p(part["p"].tolist()), dtype=float)
        made.loc[part.index, "p_holm_least"] = np.minimum(1.0, len(part) * part["p_least"])
    return made
