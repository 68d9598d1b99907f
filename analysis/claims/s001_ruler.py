"""Document 001, connecting to RULER, and its open gaps."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, compare, judge, pick, quote, untestable
from analysis.claims._shared import tracks
from analysis.claims._words import listed
from analysis.claims.s002_hypotheses_ruler import c002_h7_best, c002_h7_blind, c002_h7_cause, c002_h7_modes
from analysis.claims.s002_instructions import c002_gap_published
from analysis.claims.s002_ruler_models import c002_generations_distance

LLAMA = "llama3.1-8b"


def c001_ruler_counts(
    stated_001: pd.DataFrame,
    reported_ruler_models: pd.DataFrame,
    published_ruler: pd.DataFrame,
    captured_models: pd.DataFrame,
) -> list[Verdict]:
    """RULER has scores at six lengths, two models were captured for it, and thirteen are compared.

    Source: 001, Connecting to Benchmarks: RULER.
    """
    counts = {
        "ruler_models": (reported_ruler_models["model"].nunique(), "models captured for RULER"),
        "ruler_bins": (published_ruler["length"].nunique(), "lengths with a published score"),
        "ruler_all_models": (len(captured_models), "rows in the table of all models"),
    }
    return [
        compare(
            quote(stated_001, statement=key),
            count,
            reason=f"There are {count} {what}.",
            places=0,
            key=key,
            statement=f"{pick(stated_001, statement=key)['quantity']}: {count}.",
            kind="cell check",
        )
        for key, (count, what) in counts.items()
    ]


def c001_ruler_qwen_range(stated_001: pd.DataFrame, captured_models: pd.DataFrame) -> Verdict:
    """The drop of Llama-3.1-8B lies in the range of Qwen3.

    Source: 001, Connecting to Benchmarks: RULER.
    """
    own = float(pick(captured_models, model=LLAMA)["ap_drop"])
    qwen = captured_models.loc[captured_models["family"] == "Qwen3", "ap_drop"]
    reported = quote(stated_001, statement="profile_qwen_drop")
    return judge(
        reported.interval.low <= own <= reported.interval.high,
        f"{own:.3f} lies in the range as stated, {reported.printed.lstrip('≈ ')} to two decimals, and just below the "
        f"values themselves, {qwen.min():.3f} to {qwen.max():.3f}.",
        reported="matching",
        recomputed=f"{own:.3f}",
        n=1 + len(qwen),
    )


def c001_ruler_monotone(ruler_lengths: pd.DataFrame) -> Verdict:
    """Over RULER's lengths, plasticity of Llama-3.1-8B falls at every step.

    Source: 001, Connecting to Benchmarks: RULER.
    """
    steps = ruler_lengths.loc[ruler_lengths["model"] == LLAMA, "plasticity_step"].dropna()
    falls = int((steps < 0).sum())
    return judge(
        falls == len(steps),
        f"It falls in {falls} of {len(steps)} steps.",
        reported="monotonically",
        recomputed=f"{falls} of {len(steps)}",
        n=len(steps),
    )


def c001_ruler_tracks(ruler_tests: pd.DataFrame) -> Verdict:
    """Plasticity of Llama-3.1-8B tracks its RULER decline.

    Source: 001, Connecting to Benchmarks: RULER.
    """
    return tracks(ruler_tests, LLAMA, what="RULER and plasticity", reported="tracking")


def c001_ruler_family_trait(decile_profiles: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """The bump of Llama-3.1-8B, like that of Llama-3.2-11B-Vision, confirms a trait of the Llama family.

    Source: 001, Connecting to Benchmarks: RULER.
    """
    fact = pick(published_facts, fact="llama32_vision_text")
    llama = decile_profiles[decile_profiles["family"] == "Llama 3"].set_index("model")
    others = llama.drop([fact["subject"], fact["printed"]])
    return judge(
        bool((others["recovery"] > 0).all()),
        f"The two share their text weights; {listed(list(others['display_name']))} of the same family recover by "
        f"{listed([f'{value:+.3f}' for value in others['recovery']])}.",
        otherwise="not supported",
        reported="confirming",
        recomputed=f"{int((others['recovery'] > 0).sum())} of {len(others)} others",
        n=len(llama),
    )


def c001_ruler_generations(captured_models: pd.DataFrame) -> Verdict:
    """The 3.1 generation of Llama retains more plasticity at distance than the 3.2 generation.

    Source: 001, Connecting to Benchmarks: RULER.
    """
    return c002_generations_distance(captured_models)


def c001_ruler_mistral_lowest(
    stated_002: pd.DataFrame, captured_models: pd.DataFrame, equal_positions: pd.DataFrame
) -> Verdict:
    """The drop of Mistral-7B-Instruct-v0.2 is the lowest of all 13 models: within its window attention is flexible.

    Source: 001, Connecting to Benchmarks: RULER.
    """
    return c002_h7_best(stated_002, captured_models, equal_positions)


def c001_ruler_mistral_cause(stated_002: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """Mistral-7B-Instruct-v0.2 fails because tokens beyond a sliding window of 32K cannot be reached.

    Source: 001, Connecting to Benchmarks: RULER.
    """
    return c002_h7_cause(stated_002, models)


def c001_ruler_modes(stated_002: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """There are two distinct ways to fail, degradation and truncation.

    Source: 001, Connecting to Benchmarks: RULER.
    """
    return c002_h7_modes(stated_002, models)


def c001_ruler_degradation(length_decline: pd.DataFrame) -> Verdict:
    """Degradation with length, in Llama-3.2-3B and the Qwen3 models, is what plasticity detects.

    Source: 001, Connecting to Benchmarks: RULER.
    """
    words, holds = [], True
    for mode, rows in length_decline[length_decline["in_source"]].groupby("mode", sort=False):
        steep = 100 * rows.loc[rows["family"] != "Ministral 3", "decline"]
        flat = 100 * rows.loc[rows["family"] == "Ministral 3", "decline"]
        holds &= bool(steep.min() > flat.max())
        words.append(
            f"{steep.min():.0f} to {steep.max():.0f} % against {flat.min():.0f} to {flat.max():.0f} % ({mode})"
        )
    return judge(
        holds,
        f"From 8K to 128K their scores fall by {' and '.join(words)} for the flat Ministral 3 profiles.",
        recomputed=words[0],
        n=int(length_decline["in_source"].sum() // len(words)),
    )


def c001_gap_missing(reported_lbp_lengths: pd.DataFrame, published_lbp: pd.DataFrame) -> Verdict:
    """Scores by length are missing for six of the seven matched models.

    Source: 001, Open Gaps.
    """
    return c002_gap_published(reported_lbp_lengths, published_lbp)


def c001_gap_documents(stated_001: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """All values come from documents of LongBench Pro of 128K tokens and more.

    Source: 001, Open Gaps.
    """
    captured = models[models["subject"] == "captured"]
    short = captured[captured["captured_context"] < 131072]
    return untestable(
        f"The captures span {captured['captured_context'].max():,} tokens ({listed(list(short['display_name']))} "
        f"{short['captured_context'].max():,}); the list of captured documents, which is not printed, would decide.",
        reported=str(pick(stated_001, statement="open_gaps_context")["printed"]),
    )


def c001_gap_blind_spot(models: pd.DataFrame) -> Verdict:
    """Plasticity cannot detect limits of range, as Mistral-7B-Instruct-v0.2 demonstrates.

    Source: 001, Open Gaps.
    """
    return c002_h7_blind(models)
