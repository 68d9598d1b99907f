"""Document 002 on RULER: claims on the benchmark, on two models added for it, and on Llama-3.1-8B at each length."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import judge_joint_change, printed_text
from boundpaper.claims import Verdict, candidate, claim, compare, judge, pick, quote, untestable
from boundpaper.claims.words import listed

LLAMA, MISTRAL = "llama3.1-8b", "mistral-v0.2-7b"


@claim("002, Benchmark: RULER")
def c002_ruler_counts(stated_002: pd.DataFrame, published_facts: pd.DataFrame) -> list[Verdict]:
    """RULER has 13 synthetic tasks and evaluates 17 models."""
    return [
        compare(
            quote(stated_002, statement=f"ruler_{key}"),
            quote(published_facts, fact=f"ruler_{key}").number,
            reason=f"RULER's authors count {quote(published_facts, fact=f'ruler_{key}').printed}.",
            places=0,
            key=key,
            statement=f"RULER has {printed_text(stated_002, statement=f'ruler_{key}')} {key}.",
        )
        for key in ("tasks", "models")
    ]


@claim("002, Benchmark: RULER")
def c002_ruler_lengths(stated_002: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """RULER evaluates inputs from 4K to 128K tokens."""
    reported = quote(stated_002, statement="ruler_lengths")
    limits = [quote(published_facts, fact=f"ruler_{end}") for end in ("shortest", "longest")]
    lengths = " to ".join(end.printed for end in limits)
    return judge(
        reported.interval.low == limits[0].interval.low and reported.interval.high == limits[1].interval.high,
        f"RULER's authors give {lengths}.",
        reported=reported.printed,
        recomputed=lengths,
    )


@claim("002, Benchmark: RULER, new models")
def c002_ruler_models_added(stated_002: pd.DataFrame, reported_ruler_models: pd.DataFrame) -> Verdict:
    """Two models were captured to connect with RULER."""
    statement, added_count = pick(stated_002, statement="ruler_models_added"), reported_ruler_models["model"].nunique()
    return judge(
        statement["as_number"] == added_count,
        f"The table of new models has {added_count} rows.",
        reported=statement["printed"],
        recomputed=str(added_count),
    )


@claim("002, Benchmark: RULER, new models")
def c002_ruler_models_window(reported_ruler_models: pd.DataFrame, models: pd.DataFrame) -> Iterator[Verdict]:
    """Llama-3.1-8B attends over all of 128K tokens, Mistral-7B-Instruct-v0.2 through a sliding window of 32K."""
    for model, kind in ((LLAMA, "full"), (MISTRAL, "sliding")):
        row = pick(models, model=model)
        printed = reported_ruler_models.loc[reported_ruler_models["model"] == model, "window"].iloc[0]
        yield judge(
            str(row["attention"]).startswith(kind),
            f"The attention of {row['display_name']} is {row['attention']} over {row['captured_context']:,} captured "
            "tokens.",
            reported=printed,
            recomputed=str(row["attention"]),
            key=model,
            statement=f"The attention window of {row['display_name']} is {printed}.",
        )


@claim("002, Benchmark: RULER, Table 8")
def c002_t8_unreachable(models: pd.DataFrame) -> Verdict:
    """Mistral-7B-Instruct-v0.2 cannot attend further back than 32K: needles at the start of 128K are out of reach."""
    row = pick(models, model=MISTRAL)
    return judge(
        str(row["attention"]).startswith("sliding"),
        f"With {row['attention']} attention every earlier token can be attended to; plasticity ends at "
        f"{row['captured_context']:,} tokens because the capture does.",
        reported="unreachable",
        recomputed=str(row["attention"]),
    )


@claim("002, Benchmark: RULER, Table 8")
def c002_t8_llama_coverage(stated_002: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """The capture of Llama-3.1-8B covers the full 128K tokens."""
    reported = quote(stated_002, statement="t8_llama31_8b_coverage")
    captured = int(pick(models, model=LLAMA)["captured_context"])
    return judge(
        captured == 1024 * reported.number / 1000,
        f"The capture has {captured:,} tokens, which are 128 x 1,024.",
        reported=reported.printed,
        recomputed=f"{captured:,}",
    )


@claim("002, Benchmark: RULER, Table 8")
def c002_t8_bins(reported_ruler_plasticity: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """Plasticity is given at positions that match RULER's lengths."""
    row = pick(decile_profiles, model=MISTRAL)
    second_half = sum(float(row[f"d{number}"]) for number in range(5, 10)) / 5
    printed = quote(reported_ruler_plasticity, model=MISTRAL, length="32k", metric="plasticity")
    return untestable(
        f"Read as the bin from 16K to 32K, the value of Mistral-7B-Instruct-v0.2 at 32K would be {second_half:.4f} by "
        f"its deciles and is {printed.printed}; the edges of the bins, which are not given, would decide what is "
        "compared.",
        reported="positions matching RULER",
    )


@claim("002, RULER analysis: Mistral-v0.2-7B")
def c002_mistral_positions(stated_002: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """Plasticity of Mistral-7B-Instruct-v0.2 was measured at positions 3.5K to 31.6K."""
    row = pick(models, model=MISTRAL)
    buckets = int(row["captured_context"]) // int(row["bucket_tokens"])
    return untestable(
        f"The range lies within the {row['captured_context']:,} captured tokens, but the capture's {buckets} buckets "
        f"of {row['bucket_tokens']:,} tokens do not give these ends; the positions of its query bins would decide.",
        reported=printed_text(stated_002, statement="ruler_mistral_positions"),
    )


@claim("002, RULER analysis: Llama-3.1-8B")
def c002_llama_effective(
    stated_002: pd.DataFrame, ruler_summary: pd.DataFrame, published_facts: pd.DataFrame
) -> Verdict:
    """By RULER's rule, the effective length of Llama-3.1-8B is about 32K."""
    row, threshold = pick(ruler_summary, model=LLAMA), quote(published_facts, fact="ruler_threshold")
    reported = pick(stated_002, statement="ruler_llama_effective")
    return judge(
        str(reported["printed"]).lstrip("~").lower() == row["effective"] == row["effective_reported"],
        f"{row['32k']:.1f} at 32K is above the threshold of {threshold.printed}, {row['64k']:.1f} at 64K below it; the "
        f"README says {row['effective_reported']}.",
        reported=str(reported["printed"]),
        recomputed=str(row["effective"]),
    )


@claim("002, RULER analysis: Llama-3.1-8B")
def c002_llama_monotone(ruler_lengths: pd.DataFrame) -> Verdict:
    """Score and plasticity of Llama-3.1-8B both fall from each length to the next."""
    rows = ruler_lengths[ruler_lengths["model"] == LLAMA]
    steps = rows[["ruler_step", "plasticity_step"]].dropna()
    fall_counts = (steps < 0).sum()
    return judge(
        bool((steps < 0).all(axis=None)),
        f"RULER falls in {fall_counts['ruler_step']} and plasticity in {fall_counts['plasticity_step']} of "
        f"{len(steps)} steps.",
        reported="monotonically",
        recomputed=f"{fall_counts.min()} of {len(steps)}",
        n=len(steps),
    )


@claim("002, RULER analysis: Llama-3.1-8B", failure="unit")
def c002_llama_tracks(ruler_tests: pd.DataFrame) -> Verdict:
    """RULER and plasticity of Llama-3.1-8B decline alongside each other over length."""
    return judge_joint_change(ruler_tests, LLAMA, what="RULER and plasticity", reported="alongside")


@claim("002, RULER analysis: Llama-3.1-8B")
def c002_llama_11b_dip(stated_002: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """The dip of Llama-3.2-11B-Vision spans 30 to 50 % of the context."""
    row = pick(decile_profiles, model="llama3.2-11b")
    lowest = sorted(range(2, 7), key=lambda number: float(row[f"d{number}"]))[:2]
    span = f"{10 * min(lowest)}-{10 * max(lowest) + 10}%"
    dip_place = printed_text(stated_002, statement="t4_llama32_11b_dip_place")
    reported = printed_text(stated_002, statement="ruler_llama32_11b_dip_place")
    return judge(
        reported.replace("–", "-") == span,
        f"The two lowest deciles before the recovery lie at {span} ({row['d4']:.3f}, {row['d5']:.3f}); at 30-40 % the "
        f"profile is still falling ({row['d3']:.3f}), and Table 4's own reading is {dip_place}.",
        reported=reported,
        recomputed=span,
    )


@claim("002, RULER analysis: Llama-3.1-8B")
def c002_llama_cause(models: pd.DataFrame, decile_profiles: pd.DataFrame, published_facts: pd.DataFrame) -> Verdict:
    """The bump may come from layers without position encoding or from the base frequency of the rotary embedding.

    The source asserts neither cause: the claim fails only if the data exclude both (as `c000_hypotheses_frequency`).
    """
    llama = pick(models, model=LLAMA)
    small_models = models[models["model"].isin(["llama3.2-1b", "llama3.2-3b"])]
    same_base = small_models[small_models["rope_theta"] == llama["rope_theta"]].merge(
        decile_profiles[["model", "recovery"]], on="model"
    )
    factors = {
        model: quote(published_facts, fact=f"rope_factor_{model}").number for model in (LLAMA, *same_base["model"])
    }
    equal_scaling = same_base[[factors[model] == factors[LLAMA] for model in same_base["model"]]]
    base_reason = (
        f"{llama['display_name']} has rotary embedding in all {llama['layers']} layers, so layers without are excluded"
    )
    others_in_words = (
        f"{listed([str(name) for name in same_base['display_name']])} use the same base ({llama['rope_theta']:,.0f}) "
        f"with a recovery of {listed([f'{value:+.3f}' for value in same_base['recovery']])}"
        if len(same_base)
        else "no smaller Llama uses the same base"
    )
    return candidate(
        len(equal_scaling) > 0 and not bool((equal_scaling["recovery"] > 0).any()),
        (
            f"{base_reason}; {others_in_words}, under the same scaling of long wavelengths.",
            f"{base_reason}. {others_in_words[0].upper()}{others_in_words[1:]}, so that the base by itself is not the "
            "reason; but long wavelengths are scaled otherwise in them. A capture of one model with its scaling "
            "changed would decide it."
            if len(same_base) and equal_scaling.empty
            else f"{base_reason}. Of the base: {others_in_words}. A capture of one model with its base changed would "
            "decide it.",
        ),
        recomputed=f"{int((same_base['recovery'] > 0).sum())} of {len(same_base)} models with this base recover",
        n=1 + len(same_base),
    )


@claim("002, RULER analysis: Llama-3.1-8B")
def c002_llama_heatmap(stated_002: pd.DataFrame, reported_landmarks: pd.DataFrame) -> Verdict:
    """In the heatmap of Llama-3.1-8B, the warm band at 49K to 65K from the query is the recovery of its profile."""
    band = printed_text(reported_landmarks, landmark="llama31_8b_warm_band")
    place = printed_text(stated_002, statement="ruler_llama_recovery_place")
    return untestable(
        f"The recovery lies at {place} of the context as a position, the band at {band} as a distance; the map itself, "
        "binned by both distances, would decide whether one causes the other.",
        reported=band,
    )


@claim("002, RULER analysis: per-length correlation")
def c002_declines_only_model(stated_002: pd.DataFrame, published_ruler: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """Llama-3.1-8B is the only model with RULER scores and plasticity over the full range."""
    scored = published_ruler.drop_duplicates("model").merge(models, on="model", suffixes=("", "_facts"))
    full_range_models = scored[scored["captured_context"] >= 131072]
    other_models = full_range_models[full_range_models["model"] != LLAMA]
    return judge(
        other_models.empty,
        f"{listed(list(other_models['display_name']))} have scores at all six lengths too, reported by their makers "
        "and listed in RULER's README, and were captured over 128K.",
        reported=printed_text(stated_002, statement="declines_only_model"),
        recomputed=f"{len(full_range_models)} models",
        n=len(full_range_models),
    )


@claim("002, RULER analysis: per-length correlation")
def c002_declines_faster(reported_ruler_declines: pd.DataFrame) -> Verdict:
    """Plasticity falls faster than the RULER score at every length."""
    table = reported_ruler_declines[reported_ruler_declines["metric"].str.endswith("_change")]
    pairs = table.pivot(index="length", columns="metric", values="value").dropna()
    faster_count = int((pairs["plasticity_change"] < pairs["ruler_change"]).sum())
    at_128k = pairs.loc["128k"]
    return judge(
        faster_count == len(pairs),
        f"In percent of the value at 4K plasticity is lower at {faster_count} of {len(pairs)} lengths, "
        f"{at_128k['plasticity_change']:.1f} against {at_128k['ruler_change']:.1f} % at 128K; a probability index and "
        "a task score share no unit beyond that.",
        reported="faster",
        recomputed=f"{faster_count} of {len(pairs)}",
        n=len(pairs),
    )


@claim("002, RULER analysis: per-length correlation")
def c002_declines_explained(ruler_summary: pd.DataFrame) -> Verdict:
    """RULER scores fall less than plasticity: tasks need less than full plasticity, or redundancy buffers the loss."""
    row = pick(ruler_summary, model=LLAMA)
    return untestable(
        f"One series of scores ({row['4k']:.1f} to {row['128k']:.1f}) cannot tell the two apart; scores by task and "
        "the ablation of heads by plasticity would decide."
    )
