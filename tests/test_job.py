"""What a step's function is told about columns that are not there."""

from pathlib import Path

import pandas as pd
import pytest

from boundpaper.build.job import Job

FRAMES = {
    "engel": pd.DataFrame({"income": [1.0], "foodexp": [2.0]}),
    "firms": pd.DataFrame({"year": [1], "invest": [2]}),
}


class Given(Job):
    """A job whose function and frames are given."""

    def __init__(self, function, frames=None) -> None:
        super().__init__(Path("."), "figure", "food", "figures/food.py", "figure")
        object.__setattr__(self, "_given", (function, frames or FRAMES))

    def load(self):
        return self._given[0]

    def frames(self):
        return self._given[1]


def told(function, frames=None) -> str:
    with pytest.raises(KeyError) as caught:
        Given(function, frames).call()
    return "".join(caught.value.__notes__)


READS = {
    "one column": lambda engel, firms: engel["incom"],
    "several": lambda engel, firms: engel[["foodexp", "incom"]],
    "sorted by": lambda engel, firms: engel.sort_values("incom"),
    "grouped by": lambda engel, firms: engel.groupby("incom"),
    "set as index": lambda engel, firms: engel.set_index("incom"),
}


@pytest.mark.parametrize("way", READS)
def test_an_absent_column_is_told_with_the_nearest(way: str) -> None:
    assert told(READS[way]) == "; engel has the columns income, foodexp; did you mean 'income'?"


def test_where_no_name_is_near_the_columns_of_the_one_frame_are_told() -> None:
    frames = {"engel": FRAMES["engel"]}
    assert told(lambda engel: engel["zzz"], frames) == "; engel has the columns income, foodexp"
    assert told(lambda engel, firms: engel["zzz"]) == ""
