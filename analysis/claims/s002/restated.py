"""Document 002: claims on values that its prose repeats from its tables."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import cell_check, count_check
from boundpaper.claims import Artifact, Cells, Relation, Repeats, Verdict, claim, pick, quote

LLAMA, LLAMA32, MISTRAL, MINISTRAL = "llama3.1-8b", "llama3.2-3b", "mistral-v0.2-7b", "ministral3-3b"
CONTEXTS = {
    "all_models_mistral_window": MISTRAL,
    "all_models_other_range": LLAMA,
    "t4_mistral_window_note": MISTRAL,
    "t4_mistral_window": MISTRAL,
    "t4_other_range": LLAMA,
    "predecessor_window": MISTRAL,
    "t8_mistral_last_position": MISTRAL,
}
STATED = Artifact("stated_002")
TABLE1 = Artifact("reported_mechanistic", "Table 1")
BINS = Artifact("reported_length_bins", "Table 2")
TABLE3 = Artifact("reported_lbp_lengths", "Table 3")
DECILES = Artifact("reported_deciles", "Table 4")
TABLE8 = Artifact("reported_ruler_plasticity", "Table 8")
TABLE10 = Artifact("reported_ruler_deciles", "Table 10")
ALL_MODELS = Artifact("reported_plasticity", "the all-models table")
DECLINES = Artifact("reported_ruler_declines", "the table of declines").where(model=LLAMA)
GENERATIONS = Artifact("reported_llama_generations", "the table of generations")
PREDECESSOR = Artifact("reported_mistral_predecessor", "the table")


c002_restated_bins = Cells(
    "The notes on Table 2 repeat its values.",
    "002, Per-Length-Bin Plasticity Profile, Table 2",
    Repeats(
        STATED,
        {
            "t2_llama32_3b_first": BINS(model=LLAMA32, bin="0-8K"),
            "t2_llama32_3b_last": BINS(model=LLAMA32, bin="64K-128K"),
            "t2_llama32_3b_drop": BINS(model=LLAMA32, bin="total"),
        },
    ),
)


c002_restated_deciles = Cells(
    "The notes on Table 4 repeat its values.",
    "002, Decile Plasticity Profile, Table 4",
    Repeats(
        STATED,
        {
            "t4_llama32_3b_first": DECILES(model=LLAMA32, decile=0),
            "t4_llama32_3b_last": DECILES(model=LLAMA32, decile=9),
            "t4_llama31_8b_dip": DECILES(model=LLAMA, decile=4),
            "t4_llama31_8b_recovery": DECILES(model=LLAMA, decile=7),
            "t4_llama31_8b_collapse": DECILES(model=LLAMA, decile=9),
            "t4_mistral_first": DECILES(model=MISTRAL, decile=0),
            "t4_mistral_last": DECILES(model=MISTRAL, decile=9),
        },
    ),
    Relation(
        cell=STATED(statement="t4_llama32_3b_drop"),
        follows=DECILES(model=LLAMA32, decile=9) - DECILES(model=LLAMA32, decile=0),
        because="{0} - {1}.",
        places=3,
        key="t4_llama32_3b_drop",
        says="The last decile of Llama-3.2-3B minus its first.",
    ),
)


c002_restated_observations = Cells(
    "The observations repeat values of Table 1.",
    "002, Observations",
    Repeats(
        STATED,
        {
            "aggregate_ministral3_3b_plasticity": TABLE1(model=MINISTRAL, metric="ap_overall"),
            "aggregate_ministral3_3b_lbp": TABLE1(model=MINISTRAL, metric="lbp"),
            "last_20_llama32_3b": TABLE1(model=LLAMA32, metric="ap_last_20"),
            "drop_ministral3_14b": TABLE1(model="ministral3-14b", metric="ap_drop"),
            "drop_ministral3_8b": TABLE1(model="ministral3-8b", metric="ap_drop"),
            "drop_ministral3_3b": TABLE1(model=MINISTRAL, metric="ap_drop"),
            "drop_qwen3_14b": TABLE1(model="qwen3-14b", metric="ap_drop"),
            "drop_qwen3_8b": TABLE1(model="qwen3-8b", metric="ap_drop"),
            "drop_qwen3_4b": TABLE1(model="qwen3-4b", metric="ap_drop"),
            "drop_llama32_3b": TABLE1(model=LLAMA32, metric="ap_drop"),
            "drop_ministral3_3b_exception": TABLE1(model=MINISTRAL, metric="ap_drop"),
            "drop_ministral3_3b_exception_lbp": TABLE1(model=MINISTRAL, metric="lbp"),
        },
    ),
)


c002_restated_hypotheses = Cells(
    "The hypotheses repeat values of the tables.",
    "002, Hypotheses",
    Repeats(
        STATED,
        {
            "h2_llama32_3b": ALL_MODELS(model=LLAMA32, metric="ap_last_20"),
            "h2_llama32_3b_lbp": ALL_MODELS(model=LLAMA32, metric="lbp"),
            "h5_drop": ALL_MODELS(model=MINISTRAL, metric="ap_drop"),
            "h5_lbp": ALL_MODELS(model=MINISTRAL, metric="lbp"),
            "h7_mistral_overall": ALL_MODELS(model=MISTRAL, metric="ap_overall"),
            "h7_mistral_drop": ALL_MODELS(model=MISTRAL, metric="ap_drop"),
            "h3_ministral3_14b_lbp_from": TABLE3(model="ministral3-14b", length="8k", metric="lbp"),
            "h3_ministral3_14b_lbp_to": TABLE3(model="ministral3-14b", length="256k", metric="lbp"),
        },
    ),
)


c002_restated_mistral = Cells(
    "The analysis of Mistral-7B-Instruct-v0.2 repeats values of the tables.",
    "002, RULER analysis: Mistral-v0.2-7B",
    Repeats(
        STATED,
        {
            "ruler_mistral_drop": ALL_MODELS(model=MISTRAL, metric="ap_drop"),
            "ruler_mistral_overall": ALL_MODELS(model=MISTRAL, metric="ap_overall"),
            "ruler_mistral_64k": TABLE8(model=MISTRAL, length="64k", metric="ruler"),
            "ruler_mistral_128k": TABLE8(model=MISTRAL, length="128k", metric="ruler"),
        },
    ),
)


c002_restated_llama = Cells(
    "The analysis of Llama-3.1-8B repeats values of the tables.",
    "002, RULER analysis: Llama-3.1-8B",
    Repeats(
        STATED,
        {
            "ruler_llama_from": DECLINES(length="4k", metric="ruler"),
            "ruler_llama_to": DECLINES(length="128k", metric="ruler"),
            "ruler_llama_plasticity_from": DECLINES(length="4k", metric="plasticity"),
            "ruler_llama_plasticity_to": DECLINES(length="128k", metric="plasticity"),
            "ruler_llama_decline": DECLINES(length="128k", metric="ruler_change"),
            "ruler_llama_plasticity_decline": DECLINES(length="128k", metric="plasticity_change"),
            "ruler_llama_dip": TABLE10(model=LLAMA, decile=4),
            "ruler_llama_recovery": TABLE10(model=LLAMA, decile=7),
            "ruler_llama_collapse": TABLE10(model=LLAMA, decile=9),
        },
    ),
)


c002_restated_declines = Cells(
    "The text on the declines repeats their table.",
    "002, RULER analysis: per-length correlation",
    Repeats(
        STATED,
        {
            "declines_plasticity": DECLINES(length="128k", metric="plasticity_change"),
            "declines_ruler": DECLINES(length="128k", metric="ruler_change"),
        },
    ),
)


c002_restated_generations = Cells(
    "The text on two Llama generations repeats their table.",
    "002, RULER analysis: generational comparison",
    Repeats(
        STATED,
        {
            "generations_llama31_8b_drop": GENERATIONS(model=LLAMA, metric="ap_drop"),
            "generations_llama31_8b_last_20": GENERATIONS(model=LLAMA, metric="ap_last_20"),
            "generations_llama32_3b_drop": GENERATIONS(model=LLAMA32, metric="ap_drop"),
            "generations_llama32_3b_last_20": GENERATIONS(model=LLAMA32, metric="ap_last_20"),
        },
    ),
)


c002_restated_predecessor = Cells(
    "The text on Mistral and Ministral repeats their table.",
    "002, RULER analysis: predecessor comparison",
    Repeats(
        STATED,
        {
            "predecessor_mistral_bias": PREDECESSOR(model=MISTRAL, metric="bias_strength"),
            "predecessor_ministral_bias": PREDECESSOR(model=MINISTRAL, metric="bias_strength"),
            "predecessor_mistral_plane_var": PREDECESSOR(model=MISTRAL, metric="plane_var"),
        },
    ),
)


@claim("002, All models with mechanistic data")
def c002_restated_contexts(stated_002: pd.DataFrame, models: pd.DataFrame) -> Iterator[Verdict]:
    """The ranges given for the captures are 32K tokens for Mistral-7B-Instruct-v0.2 and 128K for the other models."""
    for key, model in CONTEXTS.items():
        statement, captured = quote(stated_002, statement=key), int(pick(models, model=model)["captured_context"])
        yield cell_check(
            round(statement.number / 1000) == captured // 1024,
            f"The capture has {captured:,} tokens, {captured // 1024} x 1,024.",
            reported=statement.printed,
            recomputed=f"{captured:,}",
            key=key,
            statement=f"{pick(stated_002, statement=key)['quantity']}: {statement.printed}.",
        )


@claim("002, RULER analysis: Mistral-v0.2-7B")
def c002_restated_counts(stated_002: pd.DataFrame, captured_models: pd.DataFrame) -> list[Verdict]:
    """Thirteen models are compared."""
    return [
        count_check(stated_002, key, len(captured_models), f"The table of all models has {len(captured_models)} rows.")
        for key in ("ruler_mistral_models", "h7_models")
    ]
