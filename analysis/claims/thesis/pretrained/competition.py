"""Claims of the thesis on position against content at a fixed distance of the keys, in pretrained models."""

from collections.abc import Iterator

import pandas as pd

from boundpaper.claims import Verdict, claim, judge, untestable

MARGIN = 0.1  # of the value at the first bin
FAR = 1024  # tokens between keys: from here on the mean difference is asked to shrink
NULL = "random-llama"


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_competition(pretrained_competition: pd.DataFrame) -> Iterator[Verdict]:
    """At a fixed distance of two keys neither the content's part nor the mean difference explains the fall.

    Post hoc and descriptive: means over heads by query bin, without intervals.
    """
    for model, rows in pretrained_competition[pretrained_competition["model"] != NULL].groupby("model", sort=False):
        name = str(rows["display_name"].iloc[0])
        every, fixed = rows[rows["distance"] == 0], rows[rows["distance"] > 0]
        spread = f"At no fixed distance of the keys does the spread of {name} fall by a tenth along the context."
        gap = (
            f"At each fixed distance of a thousand tokens and more the mean difference of {name} shrinks along the "
            "context, while over all pairs it grows."
        )
        far = fixed[fixed["distance"] > FAR]
        if fixed.empty or far.empty or every.empty:
            why = "No distance of the keys has two bins of queries; a longer capture would decide it."
            yield from [
                untestable(why, key=f"{model}_{key}", statement=s) for key, s in (("spread", spread), ("gap", gap))
            ]
            continue
        yield judge(
            bool((fixed["spread_change"] > -MARGIN).all()),
            f"The spread changes by {fixed['spread_change'].min():+.0%} to {fixed['spread_change'].max():+.0%} "
            f"from the first bin to the last over {len(fixed)} distances, over all pairs by "
            f"{every['spread_change'].iloc[0]:+.0%}. Rotation turns the queries of one bin by different angles, "
            "which adds to the spread.",
            recomputed=f"{fixed['spread_change'].min():+.0%} to {fixed['spread_change'].max():+.0%}",
            n=len(fixed),
            key=f"{model}_spread",
            statement=spread,
        )
        yield judge(
            bool((far["gap_change"] < 0).all() and (every["gap_change"] > 0).all()),
            f"The mean difference changes by {far['gap_change'].min():+.0%} to {far['gap_change'].max():+.0%} over "
            f"{len(far)} distances, over all pairs by {every['gap_change'].iloc[0]:+.0%}.",
            recomputed=f"{far['gap_change'].min():+.0%} to {far['gap_change'].max():+.0%}",
            n=len(far),
            key=f"{model}_gap",
            statement=gap,
        )
