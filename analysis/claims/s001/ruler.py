"""Document 001 on RULER: claims on its scores, and the document's open gaps."""

import pandas as pd

from analysis.claims._shared import count_check, min_to_max, printed_text
from boundpaper.claims import Verdict, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.words import listed

LLAMA = "llama3.1-8b"


@claim("001, Connecting to Benchmarks: RULER")
def c001_ruler_counts(
    stated_001: pd.DataFrame,
    reported_ruler_models: pd.DataFrame,
    published_ruler: pd.DataFrame,
    captured_models: pd.DataFrame,
) -> list[Verdict]:
    """RULER has scores at six lengths, two models were captured for it, and thirteen are compared."""
    counts = {
        "ruler_models": (reported_ruler_models["model"].nunique(), "models captured for RULER"),
        "ruler_bins": (published_ruler["length"].nunique(), "lengths with a published score"),
        "ruler_all_models": (len(captured_models), "rows in the table of all models"),
    }
    return [count_check(stated_001, key, count, f"There are {count} {what}.") for key, (count, what) in counts.items()]


@claim("001, Connecting to Benchmarks: RULER")
def c001_ruler_qwen_range(stated_001: pd.DataFrame, captured_models: pd.DataFrame) -> Verdict:
    """The drop of Llama-3.1-8B lies in the range of Qwen3."""
    llama_drop = float(pick(captured_models, model=LLAMA)["ap_drop"])
    qwen_drops = captured_models.loc[captured_models["family"] == "Qwen3", "ap_drop"]
    reported = quote(stated_001, statement="profile_qwen_drop")
    places = [
        "below" if llama_drop < low else "above" if llama_drop > high else "in"
        for low, high in ((reported.interval.low, reported.interval.high), (qwen_drops.min(), qwen_drops.max()))
    ]
    return judge(
        places[0] == "in",
        f"{llama_drop:.3f} lies {places[0]} the range as stated, {reported.printed.lstrip('≈ ')} to two decimals, and "
        f"{places[1]} that of the values themselves, {min_to_max(qwen_drops)}.",
        reported="matching",
        recomputed=f"{llama_drop:.3f}",
        n=1 + len(qwen_drops),
    )


@claim("001, Connecting to Benchmarks: RULER", failure="overreach")
def c001_ruler_degradation(length_decline: pd.DataFrame) -> Verdict:
    """Degradation with length, in Llama-3.2-3B and the Qwen3 models, is what plasticity detects.

    Differences between families in both quantities are not enough: the relation must also exist within families.
    """
    phrases, is_apart = [], True
    source_rows = length_decline[length_decline["in_source"]]
    for mode, rows in source_rows.groupby("mode", sort=False):
        steep = 100 * rows.loc[rows["family"] != "Ministral 3", "decline"]
        flat = 100 * rows.loc[rows["family"] == "Ministral 3", "decline"]
        is_apart &= bool(steep.min() > flat.max())
        phrases.append(f"{min_to_max(steep, '.0f')} % against {min_to_max(flat, '.0f')} % ({mode})")
    correlations = [
        float(rows["ap_drop"].corr(rows["decline"], method="spearman"))
        for _, rows in source_rows.groupby(["mode", "family"])
        if len(rows) > 2
    ]
    is_ordered = bool(correlations) and min(correlations) > 0
    return judge(
        is_apart and is_ordered,
        f"From 8K to 128K their scores fall by {' and '.join(phrases)} for the flat Ministral 3 profiles: families "
        f"{'differ' if is_apart else 'do not differ'} in both. Inside families of three models the rank correlation of "
        f"drop and loss is {min(correlations, default=0):+.1f} to {max(correlations, default=0):+.1f}, and nothing "
        "else that separates families is held constant.",
        otherwise="not supported" if is_apart else "contradicted",
        recomputed=phrases[0],
        n=int(length_decline["in_source"].sum() // len(phrases)),
    )


@claim("001, Open Gaps")
def c001_gap_missing(stated_001: pd.DataFrame, reported_lbp_lengths: pd.DataFrame) -> Verdict:
    """Six of the matched models have no scores by length."""
    scores = reported_lbp_lengths[reported_lbp_lengths["metric"] == "lbp"]
    absent_count = scores.loc[scores["low"].isna(), "model"].nunique()
    return compare(
        quote(stated_001, statement="open_gaps_missing"),
        absent_count,
        reason=f"The table of scores by length lacks the scores of {absent_count} of {scores['model'].nunique()} "
        "models.",
        places=0,
        n=scores["model"].nunique(),
    )


@claim("001, Open Gaps")
def c001_gap_documents(stated_001: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """All values come from documents of LongBench Pro of 128K tokens and more."""
    captured_models = models[models["subject"] == "captured"]
    short_captures = captured_models[captured_models["captured_context"] < 131072]
    return untestable(
        f"The captures span {captured_models['captured_context'].max():,} tokens "
        f"({listed(list(short_captures['display_name']))} {short_captures['captured_context'].max():,}); the list of "
        "captured documents, which is not printed, would decide.",
        reported=printed_text(stated_001, statement="open_gaps_context"),
    )
