"""The tiny pair among the measurements: its rows, and means and differences with training seeds as the unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.statistics.student import student_interval
from artifacts.errors import DataError
from artifacts.store.subjects import pair

SIDES = ("rope", "drope")


def of_pair(measured: pd.DataFrame) -> pd.DataFrame:
    """Rows of the pair whose role is `lab`, with their `side` (rope, drope) and `training_seed`.

    Raises
    ------
    DataError
        When there are none, or two pairs have the role.
    """
    found = pair(measured["model"].unique())
    if not found:
        raise DataError(
            "no measurement of the tiny pair; run: python build.py run --all --model tiny-rope --against tiny-drope"
        )
    rows = measured[measured["model"].isin(list(found))]
    return rows.assign(
        side=[found[name].side for name in rows["model"]],
        training_seed=[int(found[name].seed or 0) for name in rows["model"]],
    )


def over_seeds(measured: pd.DataFrame, by: Sequence[str], value: str = "value") -> pd.DataFrame:
    """Means over training seeds of each side, and the paired difference DroPE minus RoPE.

    Parameters
    ----------
    measured : DataFrame
        From `of_pair`; one row a side, seed and what `by` names.
    by : sequence of str
        What a row of the result is of.
    value : str
        The column that is averaged.

    Returns
    -------
    DataFrame
        `by`, then for `rope`, `drope` and `difference`: the mean, `_low` and `_high` (95 % interval of Student's t
        over seeds), for the sides also `_least` and `_most` over seeds; `seeds`, those with both sides; `note` where
        something is missing. A side that has no value in a seed leaves that seed out of the difference only.

    Raises
    ------
    DataError
        When a side has two rows for one seed.
    """
    keys = [*by, "training_seed"]
    twice = measured.duplicated([*keys, "side"])
    if twice.any():
        raise DataError(f"two measurements of one seed: {measured.loc[twice, [*keys, 'side']].iloc[0].to_dict()}")
    table = measured.pivot(index=keys, columns="side", values=value).reindex(columns=list(SIDES)).reset_index()
    rows = []
    for names, part in table.groupby(list(by), sort=False, dropna=False) if by else [((), table)]:
        row: dict[str, object] = dict(zip(by, names, strict=True))
        notes = []
        for side in SIDES:
            given = part[side].dropna().to_numpy(dtype=float)
            row[side], row[f"{side}_low"], row[f"{side}_high"] = interval(given)
            row[f"{side}_least"] = given.min() if len(given) else None
            row[f"{side}_most"] = given.max() if len(given) else None
            if len(given) < len(part):
                notes.append(f"{side}: a value in {len(given)} of {len(part)} seeds")
        both = part.dropna(subset=list(SIDES))
        given = (both["drope"] - both["rope"]).to_numpy(dtype=float)
        row["difference"], row["difference_low"], row["difference_high"] = interval(given)
        row["seeds"] = len(both)
        if len(both) < 2:
            notes.append(f"{len(both)} seeds with both: no interval")
        rows.append({**row, "note": "; ".join(notes)})
    return pd.DataFrame(rows)


def interval(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float | None, float | None, float | None]:
    """Mean and 95 % interval of Student's t; no interval below two values, no mean of none."""
    if not len(values):
        return None, None, None
    mean = float(values.mean())
    if len(values) > 1 and np.ptp(values) == 0:
        return mean, mean, mean  # seeds that agree exactly, as shares of items do
    return mean, *(student_interval(values) or (None, None))
