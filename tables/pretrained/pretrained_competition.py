"""Mean and spread of the score difference along the context, at fixed distances between keys."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed

SHOWN = 5  # distances shown per model, from the smallest to the largest


def table(pretrained_competition: pd.DataFrame) -> Table:
    """Return for each model a row for all pairs, then rows for distances with at least two query bins."""
    parts = []
    for _, rows in pretrained_competition.groupby("display_name", sort=False):
        every, at = rows[rows["distance"] == 0], rows[rows["distance"] > 0]
        places = sorted({round(step * (len(at) - 1) / (SHOWN - 1)) for step in range(SHOWN)}) if len(at) else []
        parts += [every, at.iloc[places]]
    rows = pd.concat(parts, ignore_index=True)
    rows["label"] = [f"{distance:,.0f} apart" if distance else "all pairs" for distance in rows["distance"]]
    both = ("gap", "Mean difference"), ("spread", "Spread")
    return Table(
        rows=rows,
        columns=[
            Column("label", "Keys, tokens"),
            *(
                column
                for key, group in both
                for column in (
                    Column(f"{key}_first", "first bin", fixed(2), group=group),
                    Column(f"{key}_last", "last bin", fixed(2), group=group),
                )
            ),
        ],
        groups="display_name",
        size="footnotesize",
        caption=(
            "The two parts that plasticity divides: the size of the mean score difference of two keys and its spread "
            "over the queries of a bin, in the first bin in which every head has pairs and in the last. Means over "
            "heads and pairs."
        ),
        short="Mean and spread of the score difference",
        note=(
            "Unscaled products. A distance is the middle of a range; of all pairs the first bin has few distances. "
            "The mean difference, that of the mean query, contains the preference for positions and the keys "
            "themselves; the spread contains content, and rotation where a bin is wide."
        ),
    )
