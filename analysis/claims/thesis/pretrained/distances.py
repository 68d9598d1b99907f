"""Claims on how plasticity in pretrained models depends on the distances between keys and to the query."""

from collections.abc import Iterator

import pandas as pd

from boundpaper.claims import Verdict, claim, judge


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_distances(pretrained_map_spans: pd.DataFrame) -> Iterator[Verdict]:
    """Plasticity of a pretrained model falls more with the distance between keys than with the distance of the query.

    Post hoc and descriptive, over one map: cells store no spread, so sizes are compared without a test.
    """
    for model, rows in pretrained_map_spans.groupby("model"):
        spans = {str(row["held"]): row for _, row in rows.iterrows()}
        key_row, query_row = spans["query"], spans["key"]  # in each, the other distance varies
        phrase = ", ".join(
            f"{row['first']:.2f} to {row['last']:.2f} as {words} from {row['start']:,.0f} to {row['end']:,.0f} tokens"
            for words, row in (
                ("the keys' distance goes", key_row),
                ("the query's does", query_row),
            )
        )
        yield judge(
            float(key_row["change"]) < min(0.0, float(query_row["change"])),
            f"{phrase}, the other held at {key_row['at']:,.0f} and {query_row['at']:,.0f}.",
            otherwise="contradicted"
            if float(query_row["change"]) < min(0.0, float(key_row["change"]))
            else "not supported",
            recomputed=f"{key_row['change']:+.2f} against {query_row['change']:+.2f}",
            key=str(model),
            statement=(
                f"Plasticity of {key_row['display_name']} falls more with the distance between keys than with that of "
                "the query from close keys."
            ),
        )
