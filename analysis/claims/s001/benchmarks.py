"""Document 001 on LongBench Pro: claims on the scores, and on values that its prose repeats from the second study."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import cell_check, count_check, judge_joint_change, printed_text
from boundpaper.claims import Artifact, Cells, Repeats, Verdict, claim, compare, judge, pick, quote
from boundpaper.claims.repeats import mark_repeat
from boundpaper.statistics.rounding import percent_change

LLAMA, LLAMA32, MISTRAL = "llama3.1-8b", "llama3.2-3b", "mistral-v0.2-7b"
MINISTRAL, MINISTRAL_14B = "ministral3-3b", "ministral3-14b"
ALL_MODELS = Artifact("reported_plasticity", "the all-models table")
TABLE3 = Artifact("reported_lbp_lengths", "Table 3").where(model=MINISTRAL_14B)
TABLE8 = Artifact("reported_ruler_plasticity", "Table 8")


@claim("001, Connecting to Benchmarks: LongBench Pro")
def c001_longbench_models(stated_001: pd.DataFrame, reported_mechanistic: pd.DataFrame) -> list[Verdict]:
    """Seven captured models are matched with LongBench Pro."""
    model_count = reported_mechanistic["model"].nunique()
    return [
        count_check(stated_001, statement, model_count, f"Table 1 of the second study has {model_count} rows.")
        for statement in ("longbench_models", "profile_matched", "open_gaps_matched")
    ]


@claim("001, Connecting to Benchmarks: LongBench Pro")
def c001_longbench_only(stated_001: pd.DataFrame, published_lbp: pd.DataFrame) -> Verdict:
    """Ministral-3-14B is the only model with scores by length."""
    rows = published_lbp[published_lbp["length"] != "overall"]
    lengths_by_model = rows.groupby("model")["length"].nunique()
    return judge(
        len(lengths_by_model) == 1,
        f"The benchmark's own summaries give {lengths_by_model.min()} lengths or more for {len(lengths_by_model)} "
        f"captured models, in {rows['mode'].nunique()} prompt modes.",
        reported=printed_text(stated_001, statement="longbench_only_model"),
        recomputed=f"{len(lengths_by_model)} models",
        n=len(lengths_by_model),
    )


@claim("001, Connecting to Benchmarks: LongBench Pro", failure="unit")
def c001_longbench_correlates(stated_001: pd.DataFrame, lbp_length_tests: pd.DataFrame) -> Verdict:
    """In Ministral-3-14B, plasticity at a length correlates with the score at that length."""
    return judge_joint_change(
        lbp_length_tests,
        f"{MINISTRAL_14B}, thinking",
        what="Score with thinking and plasticity",
        reported=printed_text(stated_001, statement="longbench_ministral3_14b_correlated"),
    )


@claim("001, Connecting to Benchmarks: LongBench Pro")
def c001_longbench_declines(stated_001: pd.DataFrame, reported_lbp_lengths: pd.DataFrame) -> Iterator[Verdict]:
    """From 8K to 128K, plasticity of Ministral-3-14B declines by about 13 % and its score by about 18 %."""
    for metric in ("plasticity", "lbp"):
        first, last = (
            quote(reported_lbp_lengths, model=MINISTRAL_14B, length=length, metric=metric) for length in ("8k", "128k")
        )
        change = -percent_change(first.interval, last.interval)
        yield compare(
            quote(stated_001, statement=f"longbench_{MINISTRAL_14B.replace('-', '_')}_{metric}_decline"),
            100 * (1 - last.number / first.number),
            change,
            reason=f"From {first.printed} to {last.printed}.",
            places=1,
            key=metric,
            statement=f"The relative decline of {'the score' if metric == 'lbp' else metric} from 8K to 128K.",
        )


@claim("001, Connecting to Benchmarks: LongBench Pro", failure="control")
def c001_longbench_shallower(lbp_lengths: pd.DataFrame) -> Verdict:
    """Plasticity of Ministral-3-14B falls less than its score: difficulty beyond length adds to the score's fall."""
    falls = {}
    for mode in ("thinking", "nonthinking"):
        first, last = (pick(lbp_lengths, model=MINISTRAL_14B, mode=mode, length=length) for length in ("8k", "128k"))
        falls[mode] = [100 * (1 - float(last[name]) / float(first[name])) for name in ("lbp", "plasticity")]
    (score, plasticity), (score_without_thinking, _) = falls["thinking"], falls["nonthinking"]
    return judge(
        bool(plasticity < min(score, score_without_thinking)),
        f"Plasticity falls by {plasticity:.1f} %, the score by {score:.1f} % with thinking, but by "
        f"{score_without_thinking:.1f} % without, the mode of the overall scores.",
        otherwise="not supported",
        reported="shallower",
        recomputed=f"{plasticity:.1f} against {score:.1f} and {score_without_thinking:.1f} %",
        n=2,
    )


c001_restated = Cells(
    "The narrative repeats values of the second study's tables.",
    "001, Cross-Model Results",
    Repeats(
        Artifact("stated_001"),
        {
            "aggregate_ministral3_3b": ALL_MODELS(model=MINISTRAL, metric="ap_overall"),
            "aggregate_ministral3_3b_lbp": ALL_MODELS(model=MINISTRAL, metric="lbp"),
            "aggregate_qwen3_14b": ALL_MODELS(model="qwen3-14b", metric="ap_overall"),
            "aggregate_qwen3_14b_lbp": ALL_MODELS(model="qwen3-14b", metric="lbp"),
            "aggregate_llama32_3b_last_20": ALL_MODELS(model=LLAMA32, metric="ap_last_20"),
            "aggregate_llama32_3b_lbp": ALL_MODELS(model=LLAMA32, metric="lbp"),
            "longbench_qwen3_14b_drop": ALL_MODELS(model="qwen3-14b", metric="ap_drop"),
            "longbench_qwen3_4b_drop": ALL_MODELS(model="qwen3-4b", metric="ap_drop"),
            "longbench_qwen3_14b_lbp": ALL_MODELS(model="qwen3-14b", metric="lbp"),
            "longbench_qwen3_4b_lbp": ALL_MODELS(model="qwen3-4b", metric="lbp"),
            "ruler_llama31_8b_drop": ALL_MODELS(model=LLAMA, metric="ap_drop"),
            "ruler_llama32_3b_drop": ALL_MODELS(model=LLAMA32, metric="ap_drop"),
            "ruler_mistral_drop": ALL_MODELS(model=MISTRAL, metric="ap_drop"),
            "longbench_ministral3_14b_plasticity_first": TABLE3(length="8k", metric="plasticity"),
            "longbench_ministral3_14b_plasticity_last": TABLE3(length="128k", metric="plasticity"),
            "longbench_ministral3_14b_lbp_first": TABLE3(length="8k", metric="lbp"),
            "longbench_ministral3_14b_lbp_last": TABLE3(length="128k", metric="lbp"),
            "ruler_llama31_8b_from": TABLE8(model=LLAMA, length="4k", metric="ruler"),
            "ruler_llama31_8b_to": TABLE8(model=LLAMA, length="128k", metric="ruler"),
            "ruler_llama31_8b_plasticity_from": TABLE8(model=LLAMA, length="4k", metric="plasticity"),
            "ruler_llama31_8b_plasticity_to": TABLE8(model=LLAMA, length="128k", metric="plasticity"),
            "ruler_mistral_from": TABLE8(model=MISTRAL, length="4k", metric="ruler"),
            "ruler_mistral_to": TABLE8(model=MISTRAL, length="128k", metric="ruler"),
            "ruler_mistral_64k": TABLE8(model=MISTRAL, length="64k", metric="ruler"),
            "ruler_mistral_128k": TABLE8(model=MISTRAL, length="128k", metric="ruler"),
        },
    ),
)


@claim("001, Connecting to Benchmarks: RULER")
def c001_restated_places(stated_001: pd.DataFrame, stated_002: pd.DataFrame) -> Iterator[Verdict]:
    """The narrative states dip and recovery places of Llama-3.1-8B, lengths and windows as the second study does."""
    statements = {
        "ruler_llama31_8b_dip_place": "ruler_llama_dip_place",
        "ruler_llama31_8b_recovery_place": "ruler_llama_recovery_place",
        "ruler_lengths": "ruler_lengths",
        "ruler_llama31_8b_context": "t8_llama31_8b_coverage",
        "ruler_mistral_window": "h7_window",
    }
    judged_by = {"ruler_mistral_window": ("c002_ruler_models_window.mistral-v0.2-7b",)}
    for key, original in statements.items():
        row, original_row = pick(stated_001, statement=key), pick(stated_002, statement=original)
        verdict = cell_check(
            row["printed"] == original_row["printed"],
            f"The second study prints {original_row['printed']}.",
            reported=str(row["printed"]),
            recomputed=str(original_row["printed"]),
            key=key,
            statement=f"{row['quantity']}: {row['printed']}.",
        )
        yield mark_repeat(verdict, *judged_by.get(key, ()))
