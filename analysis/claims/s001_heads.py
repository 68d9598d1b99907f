"""Document 001, cross-model results: heads and the bump of the Llama profiles."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, judge, pick, quote
from analysis.claims.s002_hypotheses_ruler import c002_h8_absent, c002_h8_specific, c002_h8_spread


def c001_heads_nope(decile_profiles: pd.DataFrame, nope_models: pd.DataFrame) -> Verdict:
    """Cross-attention layers are not the cause of the bump: Llama-3.1-8B has none and shows it.

    Source: 001, Cross-Model Results: head heterogeneity.
    """
    layers = quote(nope_models, model="llama3.1-8b", metric="nope_layers")
    row = pick(decile_profiles, model="llama3.1-8b")
    return judge(
        layers.number == 0 and bool(row["rise_shown"]),
        f"Llama-3.1-8B has {layers.printed} such layers and rises by {row['draw_up']:.3f}; on text the other model "
        "skips them as well.",
        recomputed=f"{row['draw_up']:.3f}",
    )


def c001_heads_recovery(reported_landmarks: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """Llama-3.2-11B-Vision and Llama-3.1-8B recover in the middle of the context, at 60K to 100K tokens.

    Source: 001, Cross-Model Results: head heterogeneity.
    """
    place = quote(reported_landmarks, landmark="narrative_llama_recovery")
    rows = decile_profiles[decile_profiles["model"].isin(["llama3.1-8b", "llama3.2-11b"])]
    width = rows["captured_context"].iloc[0] / 10
    inside = [number for number in range(10) if place.interval.low <= (number + 0.5) * width <= place.interval.high]
    above = [bool(row[f"d{number}"] > row["d4"]) for _, row in rows.iterrows() for number in inside]
    return judge(
        all(above),
        f"All deciles with their middle there ({10 * inside[0]}-{10 * inside[-1] + 10} %) lie above the dip at 40-50 "
        f"% in {sum(above)} of {len(above)} cases.",
        reported=place.printed,
        recomputed=f"{sum(above)} of {len(above)}",
        n=len(rows),
    )


def c001_heads_spread(stated_002: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """The recovery is spread over nearly all self-attention layers.

    Source: 001, Cross-Model Results: head heterogeneity.
    """
    return c002_h8_spread(stated_002, published_facts)


def c001_heads_absent(decile_profiles: pd.DataFrame) -> Verdict:
    """The pattern is absent from Llama-3.2 1B and 3B and from all Ministral and Qwen models.

    Source: 001, Cross-Model Results: head heterogeneity.
    """
    return c002_h8_absent(decile_profiles)


def c001_heads_depth(decile_profiles: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """The recovery is a trait of Llama models of 32 layers and more.

    Source: 001, Cross-Model Results: head heterogeneity.
    """
    return c002_h8_specific(decile_profiles, published_facts)
