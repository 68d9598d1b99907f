"""Document 002, values that its prose repeats from its tables."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from analysis.claims import Verdict, compare, judge, pick, quote
from analysis.claims._verdicts.cells import cell, restated

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


def c002_restated_bins(stated_002: pd.DataFrame, reported_length_bins: pd.DataFrame) -> list[Verdict]:
    """The notes on Table 2 repeat its values.

    Source: 002, Per-Length-Bin Plasticity Profile, Table 2.
    """
    bins = {"first": "0-8K", "last": "64K-128K", "drop": "total"}
    return restated(
        stated_002,
        {
            f"t2_llama32_3b_{key}": cell(reported_length_bins, "Table 2", model=LLAMA32, bin=name)
            for key, name in bins.items()
        },
    )


def c002_restated_deciles(stated_002: pd.DataFrame, reported_deciles: pd.DataFrame) -> list[Verdict]:
    """The notes on Table 4 repeat its values.

    Source: 002, Decile Plasticity Profile, Table 4.
    """
    places = {
        "t4_llama32_3b_first": (LLAMA32, 0),
        "t4_llama32_3b_last": (LLAMA32, 9),
        "t4_llama31_8b_dip": (LLAMA, 4),
        "t4_llama31_8b_recovery": (LLAMA, 7),
        "t4_llama31_8b_collapse": (LLAMA, 9),
        "t4_mistral_first": (MISTRAL, 0),
        "t4_mistral_last": (MISTRAL, 9),
    }
    cells = {
        key: cell(reported_deciles, "Table 4", model=model, decile=decile) for key, (model, decile) in places.items()
    }
    first, last = (quote(reported_deciles, model=LLAMA32, decile=decile) for decile in (0, 9))
    drop = compare(
        quote(stated_002, statement="t4_llama32_3b_drop"),
        last.number - first.number,
        last.interval - first.interval,
        reason=f"{last.printed} - {first.printed}.",
        places=3,
        key="t4_llama32_3b_drop",
        statement="The last decile of Llama-3.2-3B less its first.",
        kind="cell check",
    )
    return [*restated(stated_002, cells), drop]


def c002_restated_observations(stated_002: pd.DataFrame, reported_mechanistic: pd.DataFrame) -> list[Verdict]:
    """The observations repeat values of Table 1.

    Source: 002, Observations.
    """
    places = {
        "aggregate_ministral3_3b_plasticity": (MINISTRAL, "ap_overall"),
        "aggregate_ministral3_3b_lbp": (MINISTRAL, "lbp"),
        "last_20_llama32_3b": (LLAMA32, "ap_last_20"),
        "drop_ministral3_14b": ("ministral3-14b", "ap_drop"),
        "drop_ministral3_8b": ("ministral3-8b", "ap_drop"),
        "drop_ministral3_3b": (MINISTRAL, "ap_drop"),
        "drop_qwen3_14b": ("qwen3-14b", "ap_drop"),
        "drop_qwen3_8b": ("qwen3-8b", "ap_drop"),
        "drop_qwen3_4b": ("qwen3-4b", "ap_drop"),
        "drop_llama32_3b": (LLAMA32, "ap_drop"),
        "drop_ministral3_3b_exception": (MINISTRAL, "ap_drop"),
        "drop_ministral3_3b_exception_lbp": (MINISTRAL, "lbp"),
    }
    return restated(
        stated_002,
        {
            key: cell(reported_mechanistic, "Table 1", model=model, metric=metric)
            for key, (model, metric) in places.items()
        },
    )


def c002_restated_hypotheses(
    stated_002: pd.DataFrame, reported_plasticity: pd.DataFrame, reported_lbp_lengths: pd.DataFrame
) -> list[Verdict]:
    """The hypotheses repeat values of the tables.

    Source: 002, Hypotheses.
    """
    places = {
        "h2_llama32_3b": (LLAMA32, "ap_last_20"),
        "h2_llama32_3b_lbp": (LLAMA32, "lbp"),
        "h5_drop": (MINISTRAL, "ap_drop"),
        "h5_lbp": (MINISTRAL, "lbp"),
        "h7_mistral_overall": (MISTRAL, "ap_overall"),
        "h7_mistral_drop": (MISTRAL, "ap_drop"),
    }
    label = "the all-models table"
    cells = {
        key: cell(reported_plasticity, label, model=model, metric=metric) for key, (model, metric) in places.items()
    }
    for key, length in (("from", "8k"), ("to", "256k")):
        place = cell(reported_lbp_lengths, "Table 3", model="ministral3-14b", length=length, metric="lbp")
        cells[f"h3_ministral3_14b_lbp_{key}"] = place
    return restated(stated_002, cells)


def c002_restated_mistral(
    stated_002: pd.DataFrame, reported_plasticity: pd.DataFrame, reported_ruler_plasticity: pd.DataFrame
) -> list[Verdict]:
    """The analysis of Mistral-7B-Instruct-v0.2 repeats values of the tables.

    Source: 002, RULER analysis: Mistral-v0.2-7B.
    """
    label = "the all-models table"
    cells = {
        f"ruler_mistral_{key}": cell(reported_plasticity, label, model=MISTRAL, metric=f"ap_{key}")
        for key in ("drop", "overall")
    }
    for length in ("64k", "128k"):
        place = cell(reported_ruler_plasticity, "Table 8", model=MISTRAL, length=length, metric="ruler")
        cells[f"ruler_mistral_{length}"] = place
    return restated(stated_002, cells)


def c002_restated_llama(
    stated_002: pd.DataFrame, reported_ruler_declines: pd.DataFrame, reported_ruler_deciles: pd.DataFrame
) -> list[Verdict]:
    """The analysis of Llama-3.1-8B repeats values of the tables.

    Source: 002, RULER analysis: Llama-3.1-8B.
    """
    places = {
        "from": ("4k", "ruler"),
        "to": ("128k", "ruler"),
        "plasticity_from": ("4k", "plasticity"),
        "plasticity_to": ("128k", "plasticity"),
        "decline": ("128k", "ruler_change"),
        "plasticity_decline": ("128k", "plasticity_change"),
    }
    cells = {
        f"ruler_llama_{key}": cell(
            reported_ruler_declines, "the table of declines", model=LLAMA, length=length, metric=metric
        )
        for key, (length, metric) in places.items()
    }
    for key, decile in (("dip", 4), ("recovery", 7), ("collapse", 9)):
        cells[f"ruler_llama_{key}"] = cell(reported_ruler_deciles, "Table 10", model=LLAMA, decile=decile)
    return restated(stated_002, cells)


def c002_restated_declines(stated_002: pd.DataFrame, reported_ruler_declines: pd.DataFrame) -> list[Verdict]:
    """The text on the declines repeats their table.

    Source: 002, RULER analysis: per-length correlation.
    """
    return restated(
        stated_002,
        {
            f"declines_{key}": cell(
                reported_ruler_declines, "the table of declines", model=LLAMA, length="128k", metric=f"{key}_change"
            )
            for key in ("plasticity", "ruler")
        },
    )


def c002_restated_generations(stated_002: pd.DataFrame, reported_llama_generations: pd.DataFrame) -> list[Verdict]:
    """The text on two Llama generations repeats their table.

    Source: 002, RULER analysis: generational comparison.
    """
    label = "the table of generations"
    return restated(
        stated_002,
        {
            f"generations_{key}_{what}": cell(reported_llama_generations, label, model=model, metric=f"ap_{what}")
            for key, model in (("llama31_8b", LLAMA), ("llama32_3b", LLAMA32))
            for what in ("drop", "last_20")
        },
    )


def c002_restated_predecessor(stated_002: pd.DataFrame, reported_mistral_predecessor: pd.DataFrame) -> list[Verdict]:
    """The text on Mistral and Ministral repeats their table.

    Source: 002, RULER analysis: predecessor comparison.
    """
    places = {
        "mistral_bias": (MISTRAL, "bias_strength"),
        "ministral_bias": (MINISTRAL, "bias_strength"),
        "mistral_plane_var": (MISTRAL, "plane_var"),
    }
    return restated(
        stated_002,
        {
            f"predecessor_{key}": cell(reported_mistral_predecessor, "the table", model=model, metric=metric)
            for key, (model, metric) in places.items()
        },
    )


def c002_restated_contexts(stated_002: pd.DataFrame, models: pd.DataFrame) -> list[Verdict]:
    """The ranges given for the captures are 32K tokens for Mistral-7B-Instruct-v0.2 and 128K for the other models.

    Source: 002, All models with mechanistic data.
    """
    verdicts = []
    for key, model in CONTEXTS.items():
        stated, captured = quote(stated_002, statement=key), int(pick(models, model=model)["captured_context"])
        check = judge(
            round(stated.number / 1000) == captured // 1024,
            f"The capture has {captured:,} tokens, {captured // 1024} x 1,024.",
            reported=stated.printed,
            recomputed=f"{captured:,}",
            key=key,
            statement=f"{pick(stated_002, statement=key)['quantity']}: {stated.printed}.",
        )
        verdicts.append(replace(check, kind="cell check"))
    return verdicts


def c002_restated_counts(stated_002: pd.DataFrame, captured_models: pd.DataFrame) -> list[Verdict]:
    """Thirteen models are compared.

    Source: 002, RULER analysis: Mistral-v0.2-7B.
    """
    return [
        compare(
            quote(stated_002, statement=key),
            len(captured_models),
            reason=f"The table of all models has {len(captured_models)} rows.",
            places=0,
            key=key,
            statement=f"{pick(stated_002, statement=key)['quantity']}: {len(captured_models)}.",
            kind="cell check",
        )
        for key in ("ruler_mistral_models", "h7_models")
    ]
