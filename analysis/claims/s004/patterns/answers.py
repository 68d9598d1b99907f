"""Document 004, Experiment 10: claims on the kinds of errors, and on the examples given for them."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import rows_where
from boundpaper.claims import Artifact, Repeats, Verdict, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.relations import Cells, Relation

TRUNCATION = "off_by_one_length"
ERRORS = Artifact("drope_errors", "the table of section 11.5").where(positional="DroPE", metric="share")
SHARES = Artifact("error_shares").where(positional="DroPE")


@claim("004, 11.5 Error Analysis")
def c004_ans_trials(drope_stated: pd.DataFrame, error_shares: pd.DataFrame) -> Iterator[Verdict]:
    """In each condition, the answers of twenty trials were sorted into kinds."""
    drope = error_shares[error_shares["positional"] == "DroPE"]
    for context, rows in drope.groupby("context"):
        yield compare(
            quote(drope_stated, statement="s11_5_trials"),
            float(rows["count"].sum()),
            reason=f"{' + '.join(str(count) for count in rows['count'])}.",
            places=0,
            key=str(context),
            statement=f"The counts at {context} tokens add up to the trials.",
            kind="cell check",
        )


c004_ans_shares = Cells(
    "The percentages are the counts over the trials.",
    "004, 11.5 Error Analysis",
    Relation(
        each=SHARES.rows("context", "category", "count", "trials"),
        cell=ERRORS(context="{context}", category="{category}"),
        follows=SHARES.value("share", context="{context}", category="{category}"),
        because="{count} / {trials}.",
        places=0,
        key="{context}-{category}",
        says="The share of {category!w} at {context} tokens follows from its count.",
    ),
)


@claim("004, 11.5 Error Analysis")
def c004_ans_near_misses(drope_stated: pd.DataFrame, error_shares: pd.DataFrame) -> Verdict:
    """At 2048 tokens only 14 % of DroPE's errors are near-misses."""
    return _judge_error_share(drope_stated, "s11_5_near_miss_share", error_shares, "near_miss")


@claim("004, 11.5 Error Analysis", failure="control")
def c004_ans_truncations(drope_stated: pd.DataFrame, error_shares: pd.DataFrame) -> Verdict:
    """At 2048 tokens 45 % of DroPE's errors are truncations."""
    return _judge_error_share(drope_stated, "s11_5_truncation_share", error_shares, TRUNCATION)


@claim("004, 15 Publication Figures, Figure I", failure="control")
def c004_ans_figure_i_near_misses(drope_captions: pd.DataFrame, error_shares: pd.DataFrame) -> Verdict:
    """Only 10 % of DroPE's errors are near-misses."""
    return _judge_error_share(drope_captions, "fig_i_near_miss_share", error_shares, "near_miss")


@claim("004, 15 Publication Figures, Figure I", failure="control")
def c004_ans_figure_i_truncations(drope_captions: pd.DataFrame, error_shares: pd.DataFrame) -> Verdict:
    """45 % of DroPE's errors are truncations."""
    return _judge_error_share(drope_captions, "fig_i_truncation_share", error_shares, TRUNCATION)


def _judge_error_share(stated: pd.DataFrame, key: str, shares: pd.DataFrame, category: str) -> Verdict:
    row = pick(shares, positional="DroPE", context=2048, category=category)
    reported = quote(stated, statement=key)
    return judge(
        abs(row["share_of_errors"] - reported.number) <= 0.5,
        f"{row['count']} of {row['errors']} errors are {row['share_of_errors']:.1f} %, {row['count']} of "
        f"{row['trials']} trials {row['share']:.0f} %; the source takes near-misses and truncations from different "
        "bases.",
        reported=reported.printed,
        recomputed=float(row["share_of_errors"]),
        n=int(row["errors"]),
        ci=(float(row["errors_ci_low"]), float(row["errors_ci_high"])),
    )


@claim("004, 11.5 Error Analysis")
def c004_ans_dominant(error_shares: pd.DataFrame) -> Verdict:
    """At 2048 tokens an output one digit off in length is the most frequent error."""
    rows = rows_where(error_shares, positional="DroPE", context=2048)
    errors = rows[rows["category"] != "exact"].sort_values("count", ascending=False)
    most_frequent, next_kind = errors.iloc[0], errors.iloc[1]
    return judge(
        most_frequent["category"] == TRUNCATION,
        f"{most_frequent['count']} of {most_frequent['errors']} errors ({most_frequent['errors_ci_low']:.0f} to "
        f"{most_frequent['errors_ci_high']:.0f} %), the next kind {next_kind['count']}.",
        recomputed=float(most_frequent["share_of_errors"]),
        n=int(most_frequent["errors"]),
    )


@claim("004, 12.1 Summary of Findings")
def c004_ans_drope_truncates(error_totals: pd.DataFrame) -> Verdict:
    """DroPE's errors are truncations."""
    row = pick(error_totals, category=TRUNCATION)
    top_row = error_totals.sort_values("count", ascending=False).iloc[0]
    return judge(
        top_row["category"] == TRUNCATION,
        f"Over the three lengths {row['count']} of {row['errors']} errors ({row['share']:.0f} %) are one digit off, "
        f"{top_row['count']} ({top_row['share']:.0f} %) of {str(top_row['category']).replace('_', ' ')}"
        f"{'' if top_row['category'] == TRUNCATION else '; the statement is that of 2048 tokens alone'}.",
        recomputed=float(row["share"]),
        n=int(row["errors"]),
    )


@claim("004, 11.5 Error Analysis")
def c004_ans_4096_fails(error_shares: pd.DataFrame) -> Verdict:
    """At 4096 tokens DroPE largely fails."""
    row = pick(error_shares, positional="DroPE", context=4096, category="exact")
    return judge(
        row["ci_high"] < 50,
        f"{row['count']} of {row['trials']} exact, interval up to {row['ci_high']:.0f} %.",
        recomputed=float(row["share"]),
        n=int(row["trials"]),
    )


@claim("004, 11.6 Revised Interpretation")
def c004_ans_4096_defaults(error_shares: pd.DataFrame) -> Verdict:
    """At 4096 tokens DroPE mostly gives default patterns in place of the number."""
    row = pick(error_shares, positional="DroPE", context=4096, category="wrong_length")
    return untestable(
        f"{row['count']} of {row['trials']} answers have a wrong length, but only two are quoted; the answers would "
        "decide it."
    )


@claim("004, 11.6 Revised Interpretation")
def c004_ans_8192_both_fail(context_cells: pd.DataFrame) -> Verdict:
    """At 8192 tokens both models fail completely."""
    rows = rows_where(context_cells, context=8192, positional="DroPE")
    errors, lengths = (pick(rows, protocol=protocol) for protocol in ("errors", "lengths"))
    return judge(
        bool((rows["share"] == 0).all()),
        f"Section 11.5 has {int(errors['correct'])} of {errors['trials']} right for DroPE, section 11.2 "
        f"{int(lengths['correct'])} of {lengths['trials']} at the same length.",
        recomputed=f"{errors['share']:.0f} and {lengths['share']:.0f} %",
        n=int(rows["trials"].sum()),
    )


@claim("004, 11.5 Error Analysis")
def c004_ans_rope(drope_stated: pd.DataFrame, error_shares: pd.DataFrame) -> Verdict:
    """At 8192 tokens RoPE's answers have no number or the wrong length, and none is exact."""
    rows = rows_where(error_shares, positional="RoPE", context=8192)
    kinds = ("no_number", "wrong_length")
    total = sum(quote(drope_stated, statement=f"s11_5_rope_beyond_{kind}").number for kind in kinds)
    return judge(
        total == 100 and rows["count"].sum() == rows["trials"].iloc[0],
        f"{' and '.join(str(count) for count in rows['count'])} of {rows['trials'].iloc[0]} answers have no number or "
        "the wrong length.",
        reported=" and ".join(quote(drope_stated, statement=f"s11_5_rope_beyond_{kind}").printed for kind in kinds),
        recomputed=f"{total:.0f} %",
        n=int(rows["trials"].iloc[0]),
    )


@claim("004, 15 Publication Figures, Figure I")
def c004_ans_figure_i(drope_figures: pd.DataFrame, error_shares: pd.DataFrame) -> Iterator[Verdict]:
    """Figure I draws the shares of the error tables; its kind Wrong holds answers of wrong length or without number."""
    kinds = {
        "Exact": ("exact",),
        "Near-miss": ("near_miss",),
        "Truncation": (TRUNCATION,),
        "Wrong": ("wrong_length", "no_number"),
    }
    for _, point in drope_figures[drope_figures["figure"] == "I"].iterrows():
        model, context = str(point["x"]).split()
        kind = str(point["series"]).lower()
        rows = rows_where(error_shares, positional=model, context=int(context))
        cells = rows[rows["category"].isin(kinds[str(point["series"])])]
        yield compare(
            quote(drope_figures, figure="I", series=point["series"], x=point["x"]),
            float(cells["share"].sum()),
            reason=f"{int(cells['count'].sum())} of {rows['trials'].iloc[0]} answers.",
            places=0,
            key=f"{model}-{context}-{kind}",
            statement=f"Figure I draws the share of {kind} answers of {model} at {context} tokens.",
            kind="cell check",
        )


c004_ans_restated = Cells(
    "The prose of sections 11.5 and 11.6 repeats shares of the tables.",
    "004, 11.6 Revised Interpretation",
    Repeats(
        Artifact("drope_stated"),
        {
            "s11_6_short_exact": ERRORS(context=2048, category="exact"),
            "s11_6_short_truncation": ERRORS(context=2048, category=TRUNCATION),
        },
    ),
)
