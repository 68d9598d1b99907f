"""Compute values of the second run by model, and parse the amendment's items into comparisons."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.studies.population._outcomes import EXACT, FAR, TRAINED, records
from boundpaper.errors import DataError

ALIGNED = "aligned_full"
POOLED = "bucket_full"
QUARTERS = 4  # training lengths per text
WIDTH = 16  # default width of a bin in words, and distance between bins
SINGLE = 1  # width of a bin with a single position
ALL, COST, COST_LONG = "all", "cost", "cost_4x"  # weights for averaging a model's heads
COSTS = {COST: "nats_1x", COST_LONG: "nats_4x"}
PLASTICITY = "plasticity"
EXCHANGED = tuple("sway probability_change nearer_wins position_part content_part gap spread linear_share".split())
"""Quantities that are measured by exchanging positions."""

KEYS_FAR = "keys_far"
OWN = "own"
YARN_POWER = 2  # YaRN's temperature multiplies scores by 1 + 0.1 ln s to this power
HEAD_KEY = ["model", "layer", "head"]
CELL = ["quantity", "estimator", "width", "texts", "low", "high", "apart_low", "apart_high", "away_low", "away_high"]


@dataclass(frozen=True)
class Side:
    """One side of a comparison: an arm at a quarter, width or extension, or a number that is equal for all seeds."""

    arm: str = ""
    number: float | None = None
    quarter: int | None = None
    width: int | None = None
    encoding: str = OWN
    temperature: int = 0


_SIDES: dict[str, dict[str, Any]] = {
    r"(?P<arm>[A-E])": {},
    r"(?P<arm>[A-E]) (?P<quarter>first|last) quarter": {},
    r"(?P<arm>[A-E]) in bins of (?P<width>\d+)": {},
    r"(?P<arm>[A-E]) under YaRN": {"encoding": "yarn", "temperature": YARN_POWER},
    r"(?P<arm>[A-E]) under YaRN without its temperature": {"encoding": "yarn"},
    r"(?P<arm>[A-E]) with YaRN's temperature": {"temperature": YARN_POWER},
}


def parse_side(words: str, item: str) -> Side:
    """Return the side of a comparison that an item's words name.

    Raises
    ------
    DataError
        If the words are not among those defined for amendments.
    """
    if re.fullmatch(r"\d+(\.\d+)?", words):
        return Side(number=float(words))
    for pattern, settings in _SIDES.items():
        if match := re.fullmatch(pattern, words):
            names = match.groupdict()
            quarter = {"first": 1, "last": QUARTERS}.get(names.get("quarter") or "")
            width = int(names["width"]) if names.get("width") else None
            return Side(arm=names["arm"], quarter=quarter, width=width, **settings)
    raise DataError(f"population_amendment, item {item}: {words!r} names no arm, quarter, width or extension; fix it")


def head_values(aligned: pd.DataFrame, exchange: pd.DataFrame) -> pd.DataFrame:
    """Return one row per head, quantity and cell: `model, layer, head`, the columns of `CELL`, and `value`.

    The limits of distance in rows of plasticity include all pairs. Heads without a value have no row.
    """
    text_length = QUARTERS * TRAINED
    all_pairs = {"apart_low": 0, "apart_high": text_length, "away_low": 0, "away_high": text_length}
    profile = aligned.assign(quantity=PLASTICITY, texts="one", value=aligned[PLASTICITY].astype(float), **all_pairs)
    tables = [profile[[*HEAD_KEY, *CELL, "value"]]]
    for quantity in EXCHANGED:
        rows = exchange.assign(quantity=quantity, estimator=ALIGNED, value=exchange[quantity].astype(float))
        tables.append(rows[[*HEAD_KEY, *CELL, "value"]])
    return pd.concat(tables, ignore_index=True).dropna(subset="value")


def head_costs(ablation: pd.DataFrame) -> pd.DataFrame:
    """Return the increase of the loss on keys without a head (0 for a decrease), one column per kind of cost."""
    heads = ablation[ablation["layer"] >= 0].copy()
    for kind, column in COSTS.items():
        intact = ablation[ablation["layer"] < 0].set_index("model")[column].astype(float)
        heads[kind] = (heads[column].astype(float) - heads["model"].map(intact)).clip(lower=0.0)
    return heads[[*HEAD_KEY, *COSTS]]


def model_values(heads: pd.DataFrame, costs: pd.DataFrame, weights: str) -> pd.DataFrame:
    """Return means over the heads of a model: `model`, the columns of `CELL`, and `value`.

    Parameters
    ----------
    heads, costs : DataFrame
        Results of `head_values` and `head_costs`.
    weights : str
        `ALL` weights heads equally; a kind of cost weights them by the cost of removal. If all costs are 0, there is
        no weighted mean.
    """
    if weights == ALL:
        return heads.groupby(["model", *CELL])[["value"]].mean().reset_index()
    weighted = heads.merge(costs[[*HEAD_KEY, weights]], on=HEAD_KEY)
    weighted["value"] *= weighted[weights]
    sums = weighted.groupby(["model", *CELL], as_index=False)[["value", weights]].sum()
    sums = sums[sums[weights] > 0].reset_index(drop=True)
    return sums.assign(value=sums["value"] / sums[weights]).drop(columns=weights)


def quarters(values: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that span one training length and all distances; `quarter` numbers the lengths from 1."""
    text_length = QUARTERS * TRAINED
    is_whole = (values["high"] - values["low"] == TRAINED) & (values["apart_low"] == 0) & (values["away_low"] == 0)
    is_whole &= (values["apart_high"] == text_length) & (values["away_high"] == text_length)
    return values[is_whole].assign(quarter=values["low"] // TRAINED + 1).reset_index(drop=True)


def share_of_far_keys(extensions: pd.DataFrame, prompts: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """Return the share of far keys found, with columns `model, encoding, temperature, multiple, value`.

    Raises
    ------
    DataError
        If a model has more letters than its seed has prompts.
    """
    seeds = dict(zip(models["model"], models["seed"], strict=True))
    distances = {name: group.sort_values("item")["distance"] for name, group in prompts.groupby(["seed", "multiple"])}
    rows = []
    for row in records(extensions):
        distance = distances[seeds[row.model], row.multiple].to_numpy(dtype=float)
        if len(row.letters) > len(distance):
            raise DataError(f"{row.model}, {row.encoding} at {row.multiple:g}x: more answers than prompts of its seed")
        is_far = distance[: len(row.letters)] > FAR * TRAINED
        if is_far.any():
            right = np.array([letter == EXACT for letter in row.letters])
            rows.append((row.model, row.encoding, row.temperature, row.multiple, float(right[is_far].mean())))
    return pd.DataFrame(rows, columns=["model", "encoding", "temperature", "multiple", "value"])
