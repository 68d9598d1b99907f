"""Claims of the thesis on pretrained models on other kinds of text: repeated sentences, and source code."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._intervals import by_interval
from analysis.claims._shared import rows_where
from boundpaper.claims import Verdict, claim, judge, untestable

VERBS = {"zero": "Zeroing", "mean": "Levelling"}
PLURALS = {"query": "queries", "key": "keys", "value": "values"}
METRICS = {"ap_overall": "overall plasticity", "ap_drop": "drop of plasticity"}
MARGIN = 0.1  # a difference of less than this share of the value on prose counts as none
THRESHOLD = 5.0  # the report's threshold of a massive value


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_repeated(pretrained_repeated: pd.DataFrame) -> list[Verdict]:
    """Zeroing or levelling massive dimensions costs a model more on repeated sentences than on natural text."""
    return [
        by_interval(
            row,
            1,
            f"in nats per token, {row['repeated']:.2f} on {int(row['repeated_texts'])} texts of one repeated sentence "
            f"and {row['natural']:.2f} on {int(row['natural_texts'])} natural ones; the difference is "
            f"{row['difference']:.2f} [{row['low']:.2f}, {row['high']:.2f}]",
            columns=("difference", "low", "high"),
            n=int(row["natural_texts"] + row["repeated_texts"]),
            key=f"{row['model']}_{row['fill']}",
            statement=f"{VERBS[str(row['fill'])]} the massive dimensions of {row['display_name']} costs more on "
            "repeated sentences than on natural text.",
        )
        for _, row in pretrained_repeated[pretrained_repeated["target"] == "massive"].iterrows()
    ]


@claim("thesis, Pretrained models at hand")
def thesis_pretrained_kinds(pretrained_kinds: pd.DataFrame) -> list[Verdict]:
    """The number of massive values of a pretrained model differs between source code and prose."""
    rows = rows_where(pretrained_kinds, where="pre", threshold=THRESHOLD)
    return [
        by_interval(
            row,
            0,
            f"{row['code']:.1f} on {int(row['code_texts'])} texts of code, {row['prose']:.1f} on "
            f"{int(row['prose_texts'])} of prose; the difference is {row['difference']:.1f} [{row['low']:.1f}, "
            f"{row['high']:.1f}]",
            columns=("difference", "low", "high"),
            n=int(row["prose_texts"] + row["code_texts"]),
            key=f"{row['model']}_{row['tensor']}",
            statement=f"{row['display_name']} has another number of massive values in its "
            f"{PLURALS[str(row['tensor'])]} on source code than on prose.",
        )
        for _, row in rows.iterrows()
    ]


@claim("thesis, Pretrained models at hand")
def thesis_plasticity_kinds(pretrained_plasticity_kinds: pd.DataFrame) -> Iterator[Verdict]:
    """The heads of a pretrained model are as plastic on source code as on prose, overall and in their drop.

    The two count as equal if the whole interval of the difference is within a tenth of the value on prose.
    """
    for _, row in pretrained_plasticity_kinds[pretrained_plasticity_kinds["metric"].isin(list(METRICS))].iterrows():
        margin = MARGIN * abs(float(row["prose"]))
        phrase = f"{row['code']:.3f} on source code and {row['prose']:.3f} on prose over {int(row['heads'])} heads"
        key = f"{row['model']}_{row['metric']}"
        statement = (
            f"The {METRICS[str(row['metric'])]} of {row['display_name']} is on source code what it is on prose, to "
            f"within {100 * MARGIN:.0f} %."
        )
        if pd.isna(row["low"]):
            yield untestable(f"{phrase}, without an interval; more heads give one.", key=key, statement=statement)
            continue
        low, high = float(row["low"]), float(row["high"])
        is_outside = low > margin or high < -margin
        yield judge(
            -margin < low and high < margin,
            f"{phrase}; the difference is {row['difference']:.3f} [{low:.3f}, {high:.3f}], a tenth of the value on "
            f"prose {margin:.3f}; over heads the two correlate with rho = {row['r']:.2f}",
            otherwise="contradicted" if is_outside else "not supported",
            recomputed=float(row["difference"]),
            n=int(row["key_heads"]),
            key=key,
            statement=statement,
        )
