"""Document 002, Tables 2 and 3: claims on plasticity by length bin and on scores by length."""

import pandas as pd

from analysis.claims._shared import printed_text
from boundpaper.claims import Verdict, claim, judge, quote


@claim("002, Per-Length-Bin Plasticity Profile, Table 2")
def c002_t2_steepest(reported_length_bins: pd.DataFrame) -> Verdict:
    """Llama-3.2-3B has the steepest decline over the length bins."""
    totals = reported_length_bins[reported_length_bins["bin"] == "total"].set_index("model")["value"]
    next_steepest = totals.drop("llama3.2-3b").min()
    return judge(
        totals.idxmin() == "llama3.2-3b",
        f"Its total drop is {totals['llama3.2-3b']:.3f}; the next steepest of {len(totals)} is {next_steepest:.3f}.",
        reported="steepest",
        recomputed=f"{totals['llama3.2-3b']:.3f}",
        n=len(totals),
    )


@claim("002, Per-Length-Bin Plasticity Profile, Table 2")
def c002_t2_ministral_flatter(
    stated_002: pd.DataFrame, reported_length_bins: pd.DataFrame, models: pd.DataFrame
) -> Verdict:
    """Every Ministral 3 falls by less than every Qwen3 and Llama over the length bins."""
    totals = reported_length_bins[reported_length_bins["bin"] == "total"].merge(models, on="model")
    is_ministral = totals["family"] == "Ministral 3"
    ministral_falls, other_falls = -totals.loc[is_ministral, "value"], -totals.loc[~is_ministral, "value"]
    printed_ranges = " against ".join(
        " to ".join(printed_text(stated_002, statement=f"t2_{group}_drop_{end}") for end in ("least", "most"))
        for group in ("ministral", "other")
    )
    fall_ranges = " against ".join(
        f"{-falls.min():.3f} to {-falls.max():.3f}" for falls in (ministral_falls, other_falls)
    )
    return judge(
        bool(ministral_falls.max() < other_falls.min()) and fall_ranges == printed_ranges,
        f"The largest fall of {len(ministral_falls)} Ministral models is {ministral_falls.max():.3f}, the smallest of "
        f"the {len(other_falls)} others {other_falls.min():.3f}.",
        reported=printed_ranges,
        recomputed=fall_ranges,
        n=len(totals),
    )


@claim("002, Per-Length-Bin Plasticity Profile, Table 2")
def c002_t2_qwen_spread(stated_002: pd.DataFrame, reported_length_bins: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """In every length bin, the plasticities of the three Qwen3 sizes differ by less than 0.02."""
    bound = quote(stated_002, statement="t2_qwen_spread")
    rows = reported_length_bins.merge(models, on="model")
    rows = rows[(rows["family"] == "Qwen3") & (rows["bin"] != "total")]
    groups = rows.groupby("bin", sort=False)
    # the smallest spread that the rounding of both cells allows
    smallest_spread = groups["low"].max() - groups["high"].min()
    spread = groups["value"].max() - groups["value"].min()
    wide_bins = spread[(spread >= bound.number) & (smallest_spread >= bound.number)]
    return judge(
        wide_bins.empty,
        f"The spread is {spread.max():.4f} in the bin {spread.idxmax()} (at least {smallest_spread.max():.4f} whatever "
        f"the rounding) and stays below {bound.number} in {len(spread) - len(wide_bins)} of {len(spread)} bins.",
        reported=bound.printed,
        recomputed=f"{spread.max():.4f}",
        n=len(spread),
    )


@claim("002, Per-Length LongBench Pro Scores, Table 3")
def c002_t3_mode(
    stated_002: pd.DataFrame,
    reported_lbp_lengths: pd.DataFrame,
    published_lbp: pd.DataFrame,
    reported_mechanistic: pd.DataFrame,
) -> Verdict:
    """The scores by length of Ministral-3-14B were made with thinking; the document sets them beside overall
    scores made without it.
    """
    scores = reported_lbp_lengths[(reported_lbp_lengths["metric"] == "lbp") & reported_lbp_lengths["low"].notna()]
    model = scores["model"].iloc[0]
    matched = scores.merge(published_lbp, on=["model", "length"], suffixes=("", "_published"))
    modes = sorted(set(matched.loc[matched["value"] == matched["value_published"], "mode_published"]))
    mean_score = scores["value"].mean()
    overall = quote(reported_mechanistic, model=model, metric="lbp")
    return judge(
        modes == ["thinking"],
        f"Scores of the {len(scores)} equal the published ones of the mode {', '.join(modes) or 'none'}; their mean is "
        f"{mean_score:.2f}, where Table 1 gives this model the overall score of {overall.printed} without thinking.",
        reported=printed_text(stated_002, statement="t3_prompt_mode"),
        recomputed=", ".join(modes),
        n=len(scores),
    )
