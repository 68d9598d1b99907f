"""Training seeds as the unit: means, intervals and paired differences of the tiny pair."""

import numpy as np
import pandas as pd
import pytest

from analysis.studies.lab._pair import interval, of_pair, over_seeds
from artifacts.errors import DataError


def rows(values):
    return pd.DataFrame([{"model": model, "metric": "x", "value": value} for model, value in values.items()])


def test_seeds_are_paired():
    measured = rows(
        {
            "tiny-rope": 1.0,
            "tiny-drope": 2.0,
            "tiny-rope-s1": 2.0,
            "tiny-drope-s1": 3.5,
            "tiny-rope-s2": 3.0,
            "tiny-drope-s2": 5.0,
            "random-llama": 9.0,
            "tiny-rope-nf4": 7.0,
        }
    )
    [row] = over_seeds(of_pair(measured), ["metric"]).to_dict("records")
    assert row["rope"] == 2.0
    assert row["drope"] == 3.5
    assert row["seeds"] == 3
    assert row["difference"] == pytest.approx(1.5)
    # differences 1, 1.5, 2: sd .5, t(2) = 4.302653, so 4.302653 * .5 / sqrt(3) on either side
    assert row["difference_high"] - row["difference"] == pytest.approx(4.302653 * 0.5 / np.sqrt(3), abs=1e-6)
    assert (row["rope_least"], row["rope_most"], row["note"]) == (1.0, 3.0, "")


def test_a_seed_without_a_value_is_said():
    measured = rows({"tiny-rope": 1.0, "tiny-drope": np.nan, "tiny-rope-s1": 2.0, "tiny-drope-s1": 3.0})
    [row] = over_seeds(of_pair(measured), ["metric"]).to_dict("records")
    assert row["seeds"] == 1
    assert row["difference"] == 1.0
    assert row["difference_low"] is None
    assert row["note"] == "drope: a value in 1 of 2 seeds; 1 seeds with both: no interval"


def test_what_cannot_be_paired():
    with pytest.raises(DataError, match="no measurement of the tiny pair"):
        of_pair(rows({"llama-2-7b-hf": 1.0}))
    twice = pd.concat([rows({"tiny-rope": 1.0})] * 2)
    with pytest.raises(DataError, match="two measurements of one seed"):
        over_seeds(of_pair(twice), ["metric"])


def test_no_interval_of_one_value():
    assert interval(np.array([])) == (None, None, None)
    assert interval(np.array([4.0])) == (4.0, None, None)
