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
    """`difference`, `low`, `high`, `least`, `most`, and of exact sign flips `p` and the smallest possible, `p_least`.

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
    return told | {"p": flips.p_value if flips else None, "p_least": 2.0 / 2 ** len(seeds)}


def holm_within(table: pd.DataFrame, by: str | list[str]) -> pd.Series:
    """The column `p` with Holm's correction within the groups of `by`, over the rows that have a p."""
    corrected = pd.Series(np.nan, index=table.index, dtype=float)
    for _, part in table[table["p"].notna()].groupby(by):
        corrected.loc[part.index] = np.array(holm_p(part["p"].astype(float).tolist()), dtype=float)
    return corrected
