"""Document 002: claims on the benchmark, and on which captured models it scored."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import printed_text, rows_where
from boundpaper.claims import Verdict, claim, compare, judge, pick, quote

WINDOWS = {"128k": 131072, "256k": 262144}


@claim("002, Benchmark: LongBench Pro")
def c002_overview_counts(stated_002: pd.DataFrame, published_facts: pd.DataFrame) -> Iterator[Verdict]:
    """LongBench Pro has 1,500 samples in 25 tasks."""
    for what in ("samples", "tasks"):
        fact = quote(published_facts, fact=f"lbp_{what}")
        reported = quote(stated_002, statement=f"overview_{what}")
        yield compare(
            reported,
            fact.number,
            reason=f"The authors' data card counts {fact.printed} {what}.",
            places=0,
            key=what,
            statement=f"LongBench Pro has {reported.printed} {what}.",
        )


@claim("002, Benchmark: LongBench Pro")
def c002_overview_languages(stated_002: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """LongBench Pro is bilingual."""
    statement, fact = pick(stated_002, statement="overview_languages"), quote(published_facts, fact="lbp_languages")
    return judge(
        statement["as_number"] == fact.number,
        f"The data card counts {fact.printed} languages, English and Chinese.",
        reported=statement["printed"],
        recomputed=fact.printed,
    )


@claim("002, Benchmark: LongBench Pro")
def c002_overview_lengths(stated_002: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """The inputs of LongBench Pro run from 8K to 256K tokens."""
    reported = quote(stated_002, statement="overview_lengths")
    limits = [quote(published_facts, fact=f"lbp_{end}") for end in ("shortest", "longest")]
    agrees = reported.interval.low == limits[0].interval.low and reported.interval.high == limits[1].interval.high
    lengths = " to ".join(end.printed for end in limits)
    return judge(
        agrees, f"The data card gives lengths of {lengths} tokens.", reported=reported.printed, recomputed=lengths
    )


@claim("002, Benchmark: LongBench Pro")
def c002_overview_format(stated_002: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """LongBench Pro asks multiple-choice questions."""
    statement, fact = pick(stated_002, statement="overview_format"), pick(published_facts, fact="lbp_answer")
    return judge(
        "choice" in str(fact["printed"]),
        f"The benchmark scores {fact['printed']} with a metric for each task.",
        reported=statement["printed"],
        recomputed=str(fact["printed"]),
    )


@claim("002, Model Overlap")
def c002_overlap_count(stated_002: pd.DataFrame, reported_overlap: pd.DataFrame) -> list[Verdict]:
    """Seven of eleven captured models are matched with a model of LongBench Pro."""
    matched_count = int((reported_overlap["benchmark_model"] != "").sum())
    reason = f"The overlap table names a scored model in {matched_count} of {len(reported_overlap)} rows."
    return [
        compare(
            quote(stated_002, statement=f"overlap_{key}"),
            count,
            reason=reason,
            places=0,
            key=key,
            statement=f"The overlap table holds {count} {what}.",
        )
        for key, count, what in (
            ("matched", matched_count, "models with a match"),
            ("captured", len(reported_overlap), "captured models"),
        )
    ]


@claim("002, Model Overlap")
def c002_overlap_exact(reported_overlap: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """The seven matches are exact: the captured model is the scored one."""
    matches = reported_overlap[reported_overlap["match"] == "exact"].merge(models, on="model")
    is_scored = matches["captured_checkpoint"].str.partition("/")[2] == matches["scored_checkpoint"]
    mismatches = matches[~is_scored]
    return judge(
        mismatches.empty,
        f"{int(is_scored.sum())} of {len(matches)} matches capture the scored checkpoint"
        + (f"; the two checkpoints differ for {', '.join(mismatches['display_name'])}." if len(mismatches) else "."),
        reported="exact",
        recomputed=f"{int(is_scored.sum())} of {len(matches)}",
        n=len(matches),
    )


@claim("002, Model Overlap")
def c002_overlap_windows(reported_overlap: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """The matched models have the context windows that the overlap table gives them, 128K or 256K."""
    rows = reported_overlap[reported_overlap["benchmark_model"] != ""].merge(models, on="model")
    windows = rows["benchmark_model"].str.extract(r"(?<!\d)(\d+k)\)$")[0].map(WINDOWS)
    mismatches = rows[windows.to_numpy() != rows["claimed_context"].to_numpy(dtype=float)]
    return judge(
        mismatches.empty,
        f"The window given equals the maker's claim for {len(rows) - len(mismatches)} of {len(rows)} models.",
        recomputed=f"{len(rows) - len(mismatches)} of {len(rows)}",
        n=len(rows),
    )


@claim("002, Model Overlap")
def c002_overlap_absent(reported_overlap: pd.DataFrame, published_lbp: pd.DataFrame) -> Verdict:
    """The other four captured models were not scored by LongBench Pro."""
    absent_models = reported_overlap[reported_overlap["benchmark_model"] == ""]
    scored_models = sorted(set(absent_models["model"]) & set(published_lbp["model"]))
    return judge(
        not scored_models,
        f"None of the {len(absent_models)} models has a row in the published scores by length."
        if not scored_models
        else f"The published scores hold {', '.join(scored_models)}.",
        recomputed=f"{len(absent_models) - len(scored_models)} of {len(absent_models)}",
        n=len(absent_models),
    )


@claim("002, All models with mechanistic data")
def c002_all_models_lbp_absent(
    reported_plasticity: pd.DataFrame, published_lbp: pd.DataFrame, models: pd.DataFrame
) -> Verdict:
    """Six of the thirteen models with mechanistic data have no LongBench Pro score, Llama-3.1-8B among them."""
    column = reported_plasticity[reported_plasticity["metric"] == "lbp"]
    empty_cells = column[column["low"].isna()]
    overall = rows_where(published_lbp, length="overall", mode="nonthinking")
    scores = empty_cells.merge(overall, on="model", suffixes=("", "_published")).merge(models, on="model")
    listing = ", ".join(
        f"{name} ({score})" for name, score in zip(scores["display_name"], scores["printed_published"], strict=True)
    )
    return judge(
        scores.empty,
        f"Of the {len(empty_cells)} models without a score in the table, the benchmark's own summaries score {listing}."
        if len(scores)
        else f"The benchmark's own summaries score none of the {len(empty_cells)} models.",
        reported="—",
        recomputed=f"{len(empty_cells) - len(scores)} without score",
        n=len(column),
    )


@claim("002, Aggregate Scores and Mechanistic Metrics, Table 1")
def c002_t1_prompt_mode(
    stated_002: pd.DataFrame, reported_mechanistic: pd.DataFrame, published_lbp: pd.DataFrame
) -> Verdict:
    """The overall scores of Table 1 are those without thinking."""
    scores = reported_mechanistic[reported_mechanistic["metric"] == "lbp"]
    overall = published_lbp[published_lbp["length"] == "overall"]
    matched = scores.merge(overall, on="model", suffixes=("", "_published"))
    equal_scores = matched[matched["value"] == matched["value_published"]]
    modes = sorted(set(equal_scores["mode"]))
    return judge(
        len(equal_scores) == len(scores) and modes == ["nonthinking"],
        f"{len(equal_scores)} of {len(scores)} scores equal the published overall score of the mode "
        f"{', '.join(modes)}.",
        reported=printed_text(stated_002, statement="t1_prompt_mode"),
        recomputed=", ".join(modes),
        n=len(scores),
    )
