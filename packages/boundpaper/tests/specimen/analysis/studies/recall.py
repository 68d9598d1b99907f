"""Recall by length, position and training seed."""

import pandas as pd

from boundpaper.statistics import frame, welch_t, wilson_interval


def recall_drop(recall_by_length: pd.DataFrame, readers: pd.DataFrame) -> pd.DataFrame:
    """Return recall at the shortest and longest length, the drop between them, and the largest rise."""
    rows = []
    for reader, reader_rows in recall_by_length.groupby("reader", sort=False):
        values = reader_rows.sort_values("length")["value"]
        rows.append(
            {
                "reader": reader,
                "shortest": values.iloc[0],
                "longest": values.iloc[-1],
                "drop": values.iloc[0] - values.iloc[-1],
                "most_gained": values.diff().max(),
            }
        )
    names = readers[["reader", "name"]]
    return names.merge(pd.DataFrame(rows), on="reader", how="right")


def recall_shares(recall_places: pd.DataFrame, readers: pd.DataFrame) -> pd.DataFrame:
    """Return the percentage of words recalled by position, with Wilson's interval."""
    rows = []
    for _, row in recall_places.iterrows():
        low, high = wilson_interval(int(row["recalled"]), int(row["asked"]))
        share = 100 * row["recalled"] / row["asked"]
        rows.append(
            {
                **{name: row[name] for name in ("reader", "place")},
                **{"n": int(row["asked"]), "share": share, "low": 100 * low, "high": 100 * high},
            }
        )
    return readers[["reader", "name"]].merge(pd.DataFrame(rows), on="reader", how="right")


def recall_tests(recall_seeds: pd.DataFrame) -> pd.DataFrame:
    """Compare the large with the small reader over training seeds by Welch's t."""
    large, small = (recall_seeds.loc[recall_seeds["reader"] == name, "value"] for name in ("reader-l", "reader-s"))
    test = welch_t(
        large,
        small,
        study="recall_tests",
        comparison="large - small",
        unit="training seed",
        names=("large", "small"),
    )
    return frame([test])
