"""Read the stored rates of the knowledge tasks, and sum estimates with their intervals."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.studies._arms import CATEGORIES, Arm, arms, rounds_to_share
from boundpaper.errors import DataError
from boundpaper.statistics import Estimate, wilson_interval

TASKS = tuple(CATEGORIES)
LEFT_OUT = "answers without yes or no are left out, and how many is not stored"

EstimateRange = tuple[float, float, float]  # estimate, low, high


def values_by_key(source: pd.DataFrame, keys: Sequence[str]) -> Mapping[tuple[str, ...], float]:
    """Return the values of a long-format source by key."""
    return {tuple(str(row[key]) for key in keys): float(row["value"]) for row in source.to_dict("records")}


def stored_arms(
    knowledge: pd.DataFrame, rates: pd.DataFrame, items: Mapping[str, int]
) -> Mapping[tuple[str, str, str], Arm]:
    """Return the arms of Experiment 3; raises DataError if a printed rate is not the rounded stored rate."""
    by_key = arms(rates, "3", items)
    for row in knowledge.to_dict("records"):
        key = (str(row["metric"]), str(row["positional"]), str(row["task"]))
        if key[0] != "degradation" and not rounds_to_share(by_key[key], pd.Series(row)):
            raise DataError(f"{', '.join(key)}: {row['printed']} is printed, {by_key[key].share} % is stored; fix one")
    return by_key


def percent_right(arm: Arm) -> float:
    """Return an arm's share of right answers in percent; raises DataError if no answer could be parsed."""
    if arm.share is None:
        raise DataError("an arm of the knowledge tasks has no answer that could be parsed; check drope_script_rates")
    return arm.share


def rate_columns(name: str, arm: Arm) -> dict[str, Any]:
    """Return an arm's rate, Wilson's interval if the number of answers is known, and the range of that number."""
    counts = arm.answered.known
    low, high = wilson_interval(*counts) if counts else (None, None)
    fewest, most = arm.answered.answered
    return {
        f"{name}_right": counts[0] if counts else None,
        name: percent_right(arm),
        f"{name}_low": None if low is None else 100 * low,
        f"{name}_high": None if high is None else 100 * high,
        f"{name}_n_low": fewest,
        f"{name}_n_high": most,
    }


def estimate_range(test: Estimate) -> EstimateRange:
    """Return estimate and interval of a test; raises DataError if either is missing."""
    if test.estimate is None or test.ci_low is None or test.ci_high is None:
        raise DataError(f"{test.study}, {test.comparison}: no estimate or no interval; check the counts")
    return test.estimate, test.ci_low, test.ci_high


def sum_with_interval(terms: Iterable[EstimateRange]) -> EstimateRange:
    """Return the sum of independent estimates, with an interval by MOVER (Zou & Donner 2008)."""
    estimates = list(terms)
    total = sum(estimate for estimate, _, _ in estimates)
    down = math.hypot(*(estimate - low for estimate, low, _ in estimates))
    return total, total - down, total + math.hypot(*(high - estimate for estimate, _, high in estimates))
