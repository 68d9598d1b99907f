"""Claims of the thesis on plasticity by two distances in pretrained models."""

from collections.abc import Iterator

import pandas as pd

from boundpaper.claims import Verdict, claim, judge


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_distances(pretrained_map_spans: pd.DataFrame) -> Iterator[Verdict]:
    """Plasticity of a pretrained model falls more with the distance between keys than with the query's from close keys.

    Post hoc and descriptive, over one map: cells store no spread, so sizes are compared without a test.
    """
    for model, rows in pretrained_map_spans.groupby("model"):
        spans = {str(row["held"]): row for _, row in rows.iterrows()}
        keys, query = spans["query"], spans["key"]  # the other distance varies
        phrase = ", ".join(
            f"{row['first']:.2f} to {row['last']:.2f} as {what} from {row['start']:,.0f} to {row['end']:,.0f} tokens"
            for what, row in (("the keys' distance goes", keys), ("the query's does", query))
        )
        yield judge(
            float(keys["change"]) < min(0.0, float(query["change"])),
            f"{phrase}, the other held at {keys['at']:,.0f} and {query['at']:,.0f}.",
            otherwise="contradicted" if float(query["change"]) < min(0.0, float(keys["change"])) else "not supported",
            recomputed=f"{keys['change']:+.2f} against {query['change']:+.2f}",
            key=str(model),
            statement=(
                f"Plasticity of {keys['display_name']} falls more with the distance between keys than with that of the "
                "query from close keys."
            ),
        )
