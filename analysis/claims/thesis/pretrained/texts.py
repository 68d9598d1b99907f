"""What the thesis says of pretrained models on other kinds of text: repeated sentences, and source code."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, directed

DOES = {"zero": "Zeroing", "mean": "Levelling"}
PLURAL = {"query": "queries", "key": "keys", "value": "values"}
THRESHOLD = 5.0  # of a massive value, the report's


def thesis_pretrained_repeated(pretrained_repeated: pd.DataFrame) -> list[Verdict]:
    """Massive dimensions filled cost a pretrained model more on repeated sentences than on natural text.

    Source: thesis, Pretrained models at hand.
    """
    return [
        directed(
            float(row["difference"]),
            (float(row["low"]), float(row["high"])),
            1,
            f"in nats a token, {row['repeated']:.2f} on {int(row['repeated_texts'])} texts of one repeated sentence "
            f"and {row['natural']:.2f} on {int(row['natural_texts'])} natural ones; the difference is "
            f"{row['difference']:.2f} [{row['low']:.2f}, {row['high']:.2f}]",
            recomputed=float(row["difference"]),
            n=int(row["natural_texts"] + row["repeated_texts"]),
            key=f"{row['model']}_{row['fill']}",
            statement=(
                f"{DOES[str(row['fill'])]} the massive dimensions of {row['display_name']} costs more on repeated "
                "sentences than on natural text."
            ),
        )
        for _, row in pretrained_repeated[pretrained_repeated["target"] == "massive"].iterrows()
    ]


def thesis_pretrained_kinds(pretrained_kinds: pd.DataFrame) -> list[Verdict]:
    """A pretrained model has other numbers of massive values on source code than on prose.

    Source: thesis, Pretrained models at hand.
    """
    chosen = pretrained_kinds[(pretrained_kinds["where"] == "pre") & (pretrained_kinds["threshold"] == THRESHOLD)]
    return [
        directed(
            float(row["difference"]),
            (float(row["low"]), float(row["high"])),
            0,
            f"{row['code']:.1f} on {int(row['code_texts'])} texts of code, {row['prose']:.1f} on "
            f"{int(row['prose_texts'])} of prose; the difference is {row['difference']:.1f} [{row['low']:.1f}, "
            f"{row['high']:.1f}]",
            recomputed=float(row["difference"]),
            n=int(row["prose_texts"] + row["code_texts"]),
            key=f"{row['model']}_{row['tensor']}",
            statement=(
                f"{row['display_name']} has another number of massive values in its {PLURAL[str(row['tensor'])]} on "
                "source code than on prose."
            ),
        )
        for _, row in chosen.iterrows()
    ]
