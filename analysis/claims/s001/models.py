"""Document 001, results across models: claims on profiles, aggregates and the recovery of two Llama profiles."""

import pandas as pd

from analysis.claims._shared import DECILE, min_to_max, numbers_of, printed_text, rising_profiles
from boundpaper.claims import Verdict, claim, compare, judge, quote
from boundpaper.claims.words import listed

FAMILIES = ("Ministral 3", "Qwen3", "Llama 3.2")


def _models_of_section(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the section's three families, without Llama-3.1-8B and Mistral-7B-Instruct-v0.2."""
    return frame[frame["family"].isin(FAMILIES[:2]) | frame["model"].str.startswith("llama3.2")]


@claim("001, Cross-Model Results: positional profile")
def c001_profile_counts(stated_001: pd.DataFrame, captured_models: pd.DataFrame) -> list[Verdict]:
    """Eleven models of three families are compared."""
    printed_counts = {"models": len(_models_of_section(captured_models)), "families": len(FAMILIES)}
    return [
        compare(
            quote(stated_001, statement=f"profile_{key}"),
            count,
            reason=f"The captures of {listed(list(FAMILIES))} are {printed_counts['models']}.",
            places=0,
            key=key,
            statement=f"{count} {key} are compared.",
        )
        for key, count in printed_counts.items()
    ]


@claim("001, Cross-Model Results: positional profile")
def c001_profile_monotone(stated_001: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """In all eleven models plasticity declines monotonically with position."""
    rows = _models_of_section(decile_profiles)
    count, listing = rising_profiles(rows)
    return judge(
        count == 0,
        f"By their deciles, {count} of {len(rows)} rise somewhere by more than the {rows['rounding'].max():.3f} that "
        f"rounding explains: {listing}.",
        reported=printed_text(stated_001, statement="profile_shape"),
        recomputed=f"{len(rows) - count} of {len(rows)}",
        n=len(rows),
    )


@claim("001, Cross-Model Results: positional profile")
def c001_profile_llama_drops(stated_001: pd.DataFrame, captured_models: pd.DataFrame) -> Verdict:
    """The drops of Llama 3.2 1B and 3B are about 0.22 to 0.23."""
    drops = captured_models.loc[captured_models["model"].isin(["llama3.2-1b", "llama3.2-3b"]), "ap_drop"]
    reported = quote(stated_001, statement="profile_llama_drop")
    drop_range = min_to_max(drops)
    return judge(
        bool(reported.interval.low <= drops.min() and drops.max() <= reported.interval.high),
        f"The {len(drops)} drops run from {drop_range} with a mean of {drops.mean():.3f}.",
        reported=reported.printed,
        recomputed=drop_range,
        n=len(drops),
    )


@claim("001, Cross-Model Results: positional profile")
def c001_profile_scale_helps(captured_models: pd.DataFrame) -> Verdict:
    """Scale helps: Qwen3-14B has a flatter profile than Qwen3-0.6B."""
    qwen_drops = captured_models[captured_models["family"] == "Qwen3"].set_index("model")["ap_drop"]
    middle_drops = qwen_drops.drop(["qwen3-14b", "qwen3-0.6b"])
    larger_drops = middle_drops[middle_drops > qwen_drops["qwen3-0.6b"]]
    return judge(
        bool(qwen_drops["qwen3-14b"] < qwen_drops["qwen3-0.6b"] and larger_drops.empty),
        f"The larger end drops by {qwen_drops['qwen3-14b']:.3f}, the smaller by {qwen_drops['qwen3-0.6b']:.3f}, and "
        f"the sizes between them by {listed([f'{name} {value:.3f}' for name, value in middle_drops.items()])}: "
        f"{len(larger_drops)} of {len(middle_drops)} by more than the smaller end.",
        otherwise="not supported" if qwen_drops["qwen3-14b"] < qwen_drops["qwen3-0.6b"] else "contradicted",
        reported="flatter",
        recomputed=f"{qwen_drops['qwen3-14b']:.3f} < {qwen_drops['qwen3-0.6b']:.3f}",
        n=len(qwen_drops),
    )


@claim("001, Cross-Model Results: positional profile")
def c001_profile_llama_steepest(captured_models: pd.DataFrame) -> Verdict:
    """Llama 3.2 1B and 3B have the steepest declines."""
    drops = captured_models.set_index("model")["ap_drop"]
    llama_drops, other_drops = drops[["llama3.2-1b", "llama3.2-3b"]], drops.drop(["llama3.2-1b", "llama3.2-3b"])
    return judge(
        bool(llama_drops.min() > other_drops.max()),
        f"They drop by {llama_drops.min():.3f} and {llama_drops.max():.3f}; the next of {len(drops)} models, "
        f"{other_drops.idxmax()}, by {other_drops.max():.3f}.",
        reported="steepest",
        recomputed=f"{llama_drops.min():.3f} > {other_drops.max():.3f}",
        n=len(drops),
    )


@claim("001, Cross-Model Results: positional profile")
def c001_profile_converged(stated_001: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """Past 100K tokens, all heads of Llama 3.2 1B and 3B have come together at about 0.45."""
    level = quote(stated_001, statement="profile_llama_converged")
    first_position = quote(stated_001, statement="profile_llama_converged_from").number
    deciles = [f"d{decile}" for decile in range(10) if decile * DECILE >= first_position]
    means = {
        str(row["display_name"]): [float(row[name]) for name in deciles]
        for _, row in decile_profiles[decile_profiles["model"].isin(["llama3.2-1b", "llama3.2-3b"])].iterrows()
    }
    # "about 0.45" allows one unit of the last digit
    exceptions = [
        name for name, values in means.items() if max(abs(value - level.number) for value in values) > 0.01 + 1e-9
    ]
    phrases = [f"{name} {listed([f'{value:.3f}' for value in values])}" for name, values in means.items()]
    return judge(
        not exceptions,
        f"The mean over heads is, in the deciles past {first_position:,.0f} tokens, {'; '.join(phrases)}"
        + (
            f": heads that meet at {level.printed} cannot average that, so it fails for {listed(exceptions)}; values "
            "per head are not printed."
            if exceptions
            else f", within 0.01 of {level.printed}; values per head are not printed."
        ),
        reported=level.printed,
        recomputed=f"{len(means) - len(exceptions)} of {len(means)} means",
        n=len(means),
    )


@claim("001, Cross-Model Results: positional profile")
def c001_family_order(stated_001: pd.DataFrame, matched_models: pd.DataFrame, family_means: pd.DataFrame) -> Verdict:
    """The order of the drops, Ministral below Qwen below Llama, matches the LongBench Pro ranking of the seven
    models.
    """
    source = matched_models[matched_models["in_source"]]
    means = family_means[family_means["scope"] == "source"].sort_values("ap_drop")
    order = {"Ministral 3": 0, "Qwen3": 1, "Llama 3": 2}
    ranks = source.sort_values("lbp", ascending=False)["family"].map(order)
    displaced = source[
        (source["family"] == "Ministral 3") & (source["lbp"] < source.loc[source["family"] == "Qwen3", "lbp"].max())
    ]
    displaced_in_words = [
        f"{row['display_name']} ({row['lbp']:.2f})" for _, row in displaced.sort_values("lbp").iterrows()
    ]
    return judge(
        bool(ranks.is_monotonic_increasing),
        f"Ordered by mean drop, the families are {listed(list(means['family']))}, and the ranking of the {len(source)} "
        "models by score "
        + (
            "keeps the families apart in this order."
            if ranks.is_monotonic_increasing
            else f"mixes them; of Ministral 3 {listed(displaced_in_words)} is below the best Qwen3."
        ),
        reported=printed_text(stated_001, statement="profile_family_order"),
        recomputed=f"{len(displaced_in_words)} of Ministral 3 below the best Qwen3",
        n=len(source),
    )


@claim("001, Cross-Model Results: aggregate plasticity", failure="unit")
def c001_second_factor(length_decline_tests: pd.DataFrame) -> Verdict:
    """Benchmark performance is base capability times context preservation, and plasticity measures the second."""
    tests = length_decline_tests[
        (length_decline_tests["test"] == "pearson") & length_decline_tests["comparison"].str.startswith("ap_drop")
    ]
    phrases = [
        f"{row['comparison'].partition(', ')[2]}: {row['estimate']:.2f} (Holm p {row['p_adjusted']:.3f})"
        for _, row in tests.iterrows()
    ]
    weakest = tests.sort_values("p_adjusted").iloc[-1]
    return judge(
        bool((tests["p_adjusted"] < 0.05).all()),
        "Taking the factor as score at 128K over score at 8K, the correlation of ap_drop with its loss is "
        f"{'; '.join(phrases)}.",
        otherwise="not supported",
        recomputed=f"r = {min_to_max(tests['estimate'], '.2f')}",
        **numbers_of(weakest, "n", "p_value", "p_adjusted"),
    )


@claim("001, Cross-Model Results: head heterogeneity")
def c001_heads_recovery(reported_landmarks: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """Llama-3.2-11B-Vision and Llama-3.1-8B recover in the middle of the context, at 60K to 100K tokens."""
    place = quote(reported_landmarks, landmark="narrative_llama_recovery")
    rows = decile_profiles[decile_profiles["model"].isin(["llama3.1-8b", "llama3.2-11b"])]
    width = rows["captured_context"].iloc[0] / 10
    deciles = [decile for decile in range(10) if place.interval.low <= (decile + 0.5) * width <= place.interval.high]
    is_above_d4 = [bool(row[f"d{decile}"] > row["d4"]) for _, row in rows.iterrows() for decile in deciles]
    return judge(
        all(is_above_d4),
        f"Deciles whose middle lies there ({10 * deciles[0]}-{10 * deciles[-1] + 10} %) lie above the dip at 40-50 % "
        f"in {sum(is_above_d4)} of {len(is_above_d4)} cases.",
        reported=place.printed,
        recomputed=f"{sum(is_above_d4)} of {len(is_above_d4)}",
        n=len(rows),
    )
