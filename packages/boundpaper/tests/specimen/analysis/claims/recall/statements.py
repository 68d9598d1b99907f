"""Statements of the document on recall."""

import pandas as pd

from boundpaper.claims import Verdict, about, claim, compare, directed, judge, pick, quote, untestable

NEAR = 5.0  # points


def _mean(recall_seeds: pd.DataFrame, reader: str) -> float:
    return float(recall_seeds.loc[recall_seeds["reader"] == reader, "value"].mean())


@claim("recall, Conclusion")
def recall_falls(recall_drop: pd.DataFrame) -> Verdict:
    """Recall falls with every doubling of the text."""
    most = recall_drop["most_gained"].max()
    return judge(most < 0, f"The most_gained is {most:+.1f} points.", n=len(recall_drop))


@claim("recall, Conclusion")
def recall_drop_small(recall_stated: pd.DataFrame, recall_drop: pd.DataFrame) -> Verdict:
    """The small reader loses 39.5 points."""
    drop = pick(recall_drop, reader="reader-s")["drop"]
    return compare(quote(recall_stated, key="drop_small"), drop, reason="From the first and last cell of Table 2.")


@claim("recall, Conclusion")
def recall_drop_large(recall_stated: pd.DataFrame, recall_drop: pd.DataFrame) -> Verdict:
    """The large reader loses 17.0 points."""
    drop = pick(recall_drop, reader="reader-l")["drop"]
    return compare(quote(recall_stated, key="drop_large"), drop, reason="From the first and last cell of Table 2.")


@claim("recall, Training seeds")
def recall_mean_small(recall_stated: pd.DataFrame, recall_seeds: pd.DataFrame) -> Verdict:
    """Over its trainings the small reader recalls 71.0 percent."""
    mean = _mean(recall_seeds, "reader-s")
    return compare(quote(recall_stated, key="mean_small"), mean, reason="Mean over the seeds of Table 4.")


@claim("recall, Training seeds")
def recall_mean_large(recall_stated: pd.DataFrame, recall_seeds: pd.DataFrame) -> Verdict:
    """Over its trainings the large reader recalls 88.4 percent."""
    mean = _mean(recall_seeds, "reader-l")
    return compare(quote(recall_stated, key="mean_large"), mean, reason="Mean over the seeds of Table 4.")


@claim("recall, Conclusion")
def recall_large_better(recall_tests: pd.DataFrame) -> Verdict:
    """The large reader recalls more than the small one."""
    row = recall_tests.iloc[0]
    ci = (float(row["ci_low"]), float(row["ci_high"]))
    reason = f"Large minus small: {row['estimate']:.1f} points over {row['n']} trainings, Welch's t."
    return directed(float(row["estimate"]), ci, 1, reason, p_value=float(row["p_value"]), n=int(row["n"]))


@claim("recall, Near and far")
def recall_near_large(recall_shares: pd.DataFrame) -> Verdict:
    """The large reader recalls near words better than far ones."""
    return _judge_near_above_far(recall_shares, "reader-l")


@claim("recall, Near and far")
def recall_near_small(recall_shares: pd.DataFrame) -> Verdict:
    """The small reader recalls near words better than far ones."""
    return _judge_near_above_far(recall_shares, "reader-s")


def _judge_near_above_far(shares: pd.DataFrame, reader: str) -> Verdict:
    near, far = (pick(shares, reader=reader, place=place) for place in ("near", "far"))
    distinct = near["low"] > far["high"]
    reason = f"Near {near['low']:.1f} to {near['high']:.1f}, far {far['low']:.1f} to {far['high']:.1f} percent."
    n = int(near["n"] + far["n"])
    return judge(distinct, reason, otherwise="contradicted" if near["share"] <= far["share"] else "not supported", n=n)


@claim("recall, Conclusion")
def recall_half(recall_stated: pd.DataFrame, recall_drop: pd.DataFrame) -> Verdict:
    """At the longest length the small reader recalls about half of the words."""
    longest = pick(recall_drop, reader="reader-s")["longest"]
    return about(quote(recall_stated, key="longest_small"), longest, reason="The last cell of Table 2.")


@claim("recall, Conclusion")
def recall_third_reader(readers: pd.DataFrame) -> Verdict:
    """A reader four times as large would lose nothing."""
    largest = readers["parameters"].max()
    return untestable(f"The largest reader has {largest:g} billion parameters; a larger one would decide it.")
