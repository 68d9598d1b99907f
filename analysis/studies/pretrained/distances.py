"""Map plasticity of pretrained models by two distances: between the keys, and from the query to them."""

from typing import Any

import pandas as pd

from analysis.studies.pretrained._named import display_names
from boundpaper.errors import DataError

FEWEST_PAIRS = 100  # least number of pairs per head for a cell
RERUN = "python build.py heads CAPTURE"


def pretrained_map(head_pairs: pd.DataFrame, pretrained_models: pd.DataFrame, subjects: pd.DataFrame) -> pd.DataFrame:
    """Return mean plasticity over heads by the keys' distance and the query's distance from their midpoint, in tokens.

    Cells with fewer than a hundred pairs per head on average are omitted. Raises DataError if no pretrained model has
    a cell left.
    """
    names = display_names(pretrained_models, subjects)
    has_pairs = head_pairs["pairs"] >= FEWEST_PAIRS * head_pairs["heads"]
    cells = head_pairs[head_pairs["model"].isin(list(names)) & has_pairs]
    if cells.empty:
        raise DataError(f"head_pairs has no pretrained model with enough pairs; run: {RERUN}")
    labelled = cells.assign(display_name=cells["model"].map(names))
    columns = ["model", "display_name", "key_distance", "query_distance", "plasticity", "heads", "pairs"]
    return labelled[columns].sort_values(["model", "key_distance", "query_distance"], ignore_index=True)


def pretrained_map_spans(pretrained_map: pd.DataFrame) -> pd.DataFrame:
    """Return plasticity at the smallest and largest value of one distance, with the other distance fixed.

    `held` names the fixed distance, and `at` is its value in tokens: the smallest distance of keys, or the distance of
    the query with the most cells. `first` and `last` are the values at the ends of the other distance, `change` is last
    minus first. There is no interval, since cells do not store a spread.
    """
    rows: list[dict[str, Any]] = []
    for model, cells in pretrained_map.groupby("model"):
        cell_counts = cells.groupby("query_distance").size()
        for constant, axis, tokens in (
            ("key_distance", "query_distance", cells["key_distance"].min()),
            ("query_distance", "key_distance", cell_counts[cell_counts == cell_counts.max()].index.min()),
        ):
            profile = cells[cells[constant] == tokens].sort_values(axis)
            first, last = profile.iloc[0], profile.iloc[-1]
            ends = {"start": first[axis], "end": last[axis], "first": first["plasticity"], "last": last["plasticity"]}
            facts = {"model": model, "display_name": first["display_name"], "held": constant.removesuffix("_distance")}
            rows.append({**facts, "at": tokens, **ends, "change": last["plasticity"] - first["plasticity"]})
    return pd.DataFrame(rows)
