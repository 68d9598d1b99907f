"""An effect over seeds: mean, Student's interval, extremes, the exact test, and Holm's correction within families."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.statistics import holm_p
from analysis.statistics.locations.permutation import sign_flip_p
from analysis.statistics.locations.student import student_interval

FloatArray = npt.NDArray[np.float64]


def over_seeds(seeds: FloatArray) -> tuple[float | None, float | None]:
    """Student's interval of the mean over seeds; of seeds that do not differ the value itself, of one seed none."""
    if len(seeds) < 2:
        return None, None
    mean = float(seeds.mean())
    return student_interval(seeds) or (mean, mean)


def effect(seeds: FloatArray) -> dict[str, float | None]:
    """`difference`, `low`, `high`, `least`, `most`, of exact sign flips `p`, and the least that so many seeds can give.

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
    told: dict[str, float | None] = {"difference": float(seeds.mean()), "low": low, "high": high}
    told |= {"least": float(seeds.min()), "most": float(seeds.max())}
    return told | {"p": flips.p_value, "p_least": 2.0 / 2 ** len(seeds)}


def corrected(table: pd.DataFrame, by: str | list[str]) -> pd.DataFrame:
    """The table with `p_holm`, corrected within the groups of `by`, and `p_holm_least`, the smallest that it can be.

    The smallest is what the first step of Holm makes of `p_least`. Rows without a p have neither.
    """
    made = table.assign(p=table["p"].astype(float), p_least=table["p_least"].astype(float), p_holm=np.nan)
    made["p_holm_least"] = np.nan
    for _, part in made[made["p"].notna()].groupby(by):
        made.loc[part.index, "p_holm"] = np.array(holm_p(part["p"].tolist()), dtype=float)
        made.loc[part.index, "p_holm_least"] = np.minimum(1.0, len(part) * part["p_least"])
    return made
