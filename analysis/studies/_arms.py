"""Read the stored shares of right answers to the four tasks, and the numbers of answers that each share allows.

The tasks cities and sports ask for yes or no and count no other answers, so a share determines only a range for the
number of counted answers. IMDB and passkey count every item.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from boundpaper.errors import DataError
from boundpaper.statistics.denominators import PossibleCounts, Unread, possible_counts

CATEGORIES = {"cities": "parametric", "sports": "parametric", "imdb": "contextual", "passkey": "contextual"}
YES_NO = ("cities", "sports")
# by the way a share is stored: how sure it is that a share of 0 means that no answer was counted
UNREAD: Mapping[str, Unread] = {"integer": "certain", "cast": "possible"}
# for the script that stores its shares as constants with three decimals
HALF_UNIT = 0.0005

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Arm:
    """One model's answers to one task under one condition.

    Attributes
    ----------
    share : float or None
        Right answers in percent of those counted; None if possibly no answer was counted.
    answered : PossibleCounts
        Every pair (right answers, counted answers) compatible with the share.
    """

    share: float | None
    answered: PossibleCounts

    @property
    def why_empty(self) -> str:
        """Return why the share or the count is missing; an empty string if both exist."""
        if self.share is None:
            certain = self.answered.pairs == ((0, 0),)
            return "no answer could be read" if certain else "it may be that no answer could be read"
        return "" if self.answered.known else "answers without yes or no are left out, and how many is not stored"


def arms(drope_script_rates: pd.DataFrame, experiment: str, items: Mapping[str, int]) -> dict[Key, Arm]:
    """Return an experiment's arms by condition, model and task; `items` are the numbers of items by task.

    Raises DataError if a stored share is not a possible share of the task's items.
    """
    by_key: dict[Key, Arm] = {}
    for row in drope_script_rates[drope_script_rates["experiment"].astype(str) == experiment].to_dict("records"):
        task, share, stored = str(row["task"]), float(row["value"]), str(row["stored"])
        n = items[task]
        key = (str(row["condition"]), str(row["positional"]), task)
        try:
            if task in YES_NO:
                unread = UNREAD.get(stored, "no") if share == 0 else "no"
                counts = possible_counts(share, n, half_unit=HALF_UNIT if stored == "typed" else 0.0, unread=unread)
            else:
                counts = PossibleCounts(n, (_right_and_counted(share, n),))
        except ValueError as error:
            raise DataError(f"drope_script_rates, experiment {experiment}, {', '.join(key)}: {error}") from error
        by_key[key] = Arm(None if counts.unread else 100 * share, counts)
    if not by_key:
        raise DataError(f"drope_script_rates has no row of experiment {experiment!r}; add its rates")
    return by_key


def rounds_to_share(arm: Arm, printed: pd.Series) -> bool:
    """Return whether the printed percentage is the rounded stored share."""
    share = 0.0 if arm.share is None else arm.share
    return bool(printed["low"] - 1e-9 <= share <= printed["high"] + 1e-9)


def _right_and_counted(share: float, n: int) -> tuple[int, int]:
    right = round(share * n)
    if abs(right / n - share) > HALF_UNIT:
        raise ValueError(f"a share of {share} is not a whole number of items out of {n}; check the number of items")
    return right, n
