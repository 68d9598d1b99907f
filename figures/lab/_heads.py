"""What the figures of the tiny pair's heads share: which models they show, and how their captions say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from artifacts.errors import DataError
from artifacts.typeset.wording import estimator, tokens

if TYPE_CHECKING:
    import pandas as pd

SEED = 0
"""The training seed whose heads are drawn; tables have all seeds."""
TITLES: Mapping[str, str] = {"rope": "RoPE", "drope": "DroPE"}


def drawn(lab_geometry_seeds: pd.DataFrame) -> Mapping[str, pd.Series]:
    """The row of each side, `rope` before `drope`, of the seed that is drawn.

    Raises
    ------
    DataError
        When a side was not measured, or the two with different numbers of heads.
    """
    rows = lab_geometry_seeds[lab_geometry_seeds["training_seed"] == SEED].set_index("side")
    absent = [side for side in TITLES if side not in rows.index]
    if absent:
        raise DataError(f"lab_geometry_seeds has no {', '.join(absent)} of training seed {SEED}; measure the pair")
    if rows["heads"].nunique() > 1:
        raise DataError("lab_geometry_seeds: unequal numbers of heads in the pair that is drawn; measure both anew")
    return {side: rows[rows.index == side].iloc[0] for side in TITLES}


def of_side(measured: pd.DataFrame, row: pd.Series) -> pd.DataFrame:
    """The rows of one side's model.

    Raises
    ------
    DataError
        When there are none.
    """
    found: pd.DataFrame = measured[measured["model"] == row["model"]]
    if found.empty:
        raise DataError(f"no row of {row['model']}; measure it: python build.py run geometry --model {row['model']}")
    return found


def whose(lab_geometry_seeds: pd.DataFrame, heads: int = 0) -> str:
    """Two sentences for a caption: the models, the unit with its number, the context.

    Parameters
    ----------
    heads : int
        Heads of each model that are shown, where these are not all.
    """
    row = drawn(lab_geometry_seeds)["rope"]
    count = heads or int(row["heads"])
    return (
        f"Two tiny models trained for this thesis, training seed {SEED}: with rotary positions (RoPE), and the same "
        f"weights recalibrated without them (DroPE). Unit: one head, $n = {count}$ of each model, over texts of "
        f"{tokens(row['context'])} tokens of the kind that they were trained on."
    )


def estimated(lab_geometry_seeds: pd.DataFrame) -> str:
    """How plasticity was estimated, in one sentence for a caption."""
    row = drawn(lab_geometry_seeds)["rope"]
    return f"Plasticity: {estimator(row['estimator'], row['pairs'])}; {row['bins']} query bins of equal width."
