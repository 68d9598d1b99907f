"""Document 001, cross-model results: profiles and aggregates."""

from __future__ import annotations

import pandas as pd

from analysis.claims import Verdict, compare, judge, pick, quote
from analysis.claims._shared import rising
from analysis.claims._words import listed
from analysis.claims.s002_hypotheses import c002_h2_ministral_maps
from analysis.claims.s002_observations import c002_aggregate_predicts
from analysis.claims.s002_profiles import c002_t4_ministral_linear, c002_t4_qwen_accelerating

NARRATED = ("Ministral 3", "Qwen3", "Llama 3.2")


def _narrated(frame: pd.DataFrame) -> pd.DataFrame:
    """The models of the three families that the section counts: without Llama-3.1-8B and Mistral-7B-Instruct-v0.2."""
    return frame[frame["family"].isin(NARRATED[:2]) | frame["model"].str.startswith("llama3.2")]


def c001_profile_counts(stated_001: pd.DataFrame, captured_models: pd.DataFrame) -> list[Verdict]:
    """Eleven models of three families are compared.

    Source: 001, Cross-Model Results: positional profile.
    """
    counts = {"models": len(_narrated(captured_models)), "families": len(NARRATED)}
    return [
        compare(
            quote(stated_001, statement=f"profile_{key}"),
            count,
            reason=f"The captures of {listed(list(NARRATED))} are {counts['models']}.",
            places=0,
            key=key,
            statement=f"{count} {key} are compared.",
        )
        for key, count in counts.items()
    ]


def c001_profile_monotone(stated_001: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """In all eleven models plasticity declines monotonically with position.

    Source: 001, Cross-Model Results: positional profile.
    """
    rows = _narrated(decile_profiles)
    count, words = rising(rows)
    return judge(
        count == 0,
        f"By their deciles, {count} of {len(rows)} rise somewhere by more than the {rows['rounding'].max():.3f} that "
        f"rounding explains: {words}.",
        reported=str(pick(stated_001, statement="profile_shape")["printed"]),
        recomputed=f"{len(rows) - count} of {len(rows)}",
        n=len(rows),
    )


def c001_profile_drops(stated_001: pd.DataFrame, captured_models: pd.DataFrame) -> list[Verdict]:
    """The drops are about 0.07 in Ministral 3, 0.16 to 0.19 in Qwen3 and 0.22 to 0.23 in Llama 3.2 1B and 3B.

    Source: 001, Cross-Model Results: positional profile.
    """
    table = captured_models
    groups = {
        "ministral": table[table["family"] == "Ministral 3"],
        "qwen": table[table["family"] == "Qwen3"],
        "llama": table[table["model"].isin(["llama3.2-1b", "llama3.2-3b"])],
    }
    verdicts = []
    for key, rows in groups.items():
        reported, drops = quote(stated_001, statement=f"profile_{key}_drop"), rows["ap_drop"]
        found = f"{drops.min():.3f} to {drops.max():.3f}"
        if reported.value is None:
            inside = reported.interval.low <= drops.min() and drops.max() <= reported.interval.high
        else:
            inside = reported.interval.low <= drops.mean() <= reported.interval.high
        verdicts.append(
            judge(
                bool(inside),
                f"The {len(drops)} drops run from {found} with a mean of {drops.mean():.3f}.",
                reported=reported.printed,
                recomputed=found,
                n=len(drops),
                key=key,
                statement=f"{pick(stated_001, statement=f'profile_{key}_drop')['quantity']}: {reported.printed}.",
            )
        )
    return verdicts


def c001_profile_ministral_linear(profile_shapes: pd.DataFrame) -> Verdict:
    """The Ministral 3 profiles decline near-linearly.

    Source: 001, Cross-Model Results: positional profile.
    """
    return c002_t4_ministral_linear(profile_shapes)


def c001_profile_qwen_accelerating(profile_shapes: pd.DataFrame) -> Verdict:
    """The Qwen3 profiles accelerate in the second half of the context.

    Source: 001, Cross-Model Results: positional profile.
    """
    return c002_t4_qwen_accelerating(profile_shapes)


def c001_profile_scale_helps(captured_models: pd.DataFrame) -> Verdict:
    """Scale helps: Qwen3-14B has a flatter profile than Qwen3-0.6B.

    Source: 001, Cross-Model Results: positional profile.
    """
    qwen = captured_models[captured_models["family"] == "Qwen3"].set_index("model")["ap_drop"]
    between = qwen.drop(["qwen3-14b", "qwen3-0.6b"])
    worse = between[between > qwen["qwen3-0.6b"]]
    return judge(
        bool(qwen["qwen3-14b"] < qwen["qwen3-0.6b"] and worse.empty),
        f"The two ends agree ({qwen['qwen3-14b']:.3f} < {qwen['qwen3-0.6b']:.3f}), but the sizes between them do not: "
        f"{listed([f'{name} {value:.3f}' for name, value in between.items()])}.",
        otherwise="not supported" if qwen["qwen3-14b"] < qwen["qwen3-0.6b"] else "contradicted",
        reported="flatter",
        recomputed=f"{qwen['qwen3-14b']:.3f} < {qwen['qwen3-0.6b']:.3f}",
        n=len(qwen),
    )


def c001_profile_llama_steepest(captured_models: pd.DataFrame) -> Verdict:
    """Llama 3.2 1B and 3B have the steepest declines.

    Source: 001, Cross-Model Results: positional profile.
    """
    table = captured_models.set_index("model")["ap_drop"]
    own, others = table[["llama3.2-1b", "llama3.2-3b"]], table.drop(["llama3.2-1b", "llama3.2-3b"])
    return judge(
        bool(own.min() > others.max()),
        f"They drop by {own.min():.3f} and {own.max():.3f}; the next of {len(table)} models, {others.idxmax()}, by "
        f"{others.max():.3f}.",
        reported="steepest",
        recomputed=f"{own.min():.3f} > {others.max():.3f}",
        n=len(table),
    )


def c001_profile_converged(stated_001: pd.DataFrame, decile_profiles: pd.DataFrame) -> Verdict:
    """Past 100K tokens, all heads of Llama 3.2 1B and 3B have come together at about 0.45.

    Source: 001, Cross-Model Results: positional profile.
    """
    level = quote(stated_001, statement="profile_llama_converged")
    means = {
        str(row["display_name"]): (float(row["d8"]), float(row["d9"]))
        for _, row in decile_profiles[decile_profiles["model"].isin(["llama3.2-1b", "llama3.2-3b"])].iterrows()
    }
    # "about" 0.45: a unit of the last digit either way
    off = [name for name, pair in means.items() if max(abs(value - level.number) for value in pair) > 0.01 + 1e-9]
    words = [f"{name} {one:.3f} and {two:.3f}" for name, (one, two) in means.items()]
    return judge(
        not off,
        f"The mean over heads is, in the last two deciles, {'; '.join(words)}: heads that meet at {level.printed} "
        f"cannot average more, so it fails for {listed(off)}, and for the other model values per head are not printed.",
        reported=level.printed,
        recomputed=f"{len(means) - len(off)} of {len(means)} means",
        n=len(means),
    )


def c001_family_order(stated_001: pd.DataFrame, matched_models: pd.DataFrame, family_means: pd.DataFrame) -> Verdict:
    """The order of the drops, Ministral below Qwen below Llama, matches the LongBench Pro ranking of the seven models.

    Source: 001, Cross-Model Results: positional profile.
    """
    source = matched_models[matched_models["in_source"]]
    means = family_means[family_means["scope"] == "source"].sort_values("ap_drop")
    best = {"Ministral 3": 0, "Qwen3": 1, "Llama 3": 2}
    ranks = source.sort_values("lbp", ascending=False)["family"].map(best)
    out = source[
        (source["family"] == "Ministral 3") & (source["lbp"] < source.loc[source["family"] == "Qwen3", "lbp"].max())
    ]
    low = out.sort_values("lbp").iloc[0]
    return judge(
        bool(ranks.is_monotonic_increasing),
        f"Family means agree ({listed(list(means['family']))}), but the ranking of the {len(source)} models mixes the "
        f"families: {low['display_name']} ({low['lbp']:.2f}) is below every Qwen3.",
        reported=str(pick(stated_001, statement="profile_family_order")["printed"]),
        recomputed=f"{len(means)} means agree, {len(source)} models do not",
        n=len(source),
    )


def c001_aggregate_highest(captured_models: pd.DataFrame) -> Verdict:
    """Ministral-3-3B has the highest aggregate plasticity and scores below Qwen3-14B.

    Source: 001, Cross-Model Results: aggregate plasticity.
    """
    everyone = captured_models.sort_values("ap_overall", ascending=False)
    table = _narrated(everyone)
    first, top = table.iloc[0], everyone.iloc[0]
    score, other = (float(pick(table, model=model)["lbp"]) for model in ("ministral3-3b", "qwen3-14b"))
    return judge(
        first["model"] == "ministral3-3b" and score < other,
        f"Highest of the {len(table)} models of the section is {first['display_name']} ({first['ap_overall']:.4f}), "
        f"with a score of {score:.2f} against {other:.2f}; highest of all {len(everyone)} is {top['display_name']} "
        f"({top['ap_overall']:.4f}), captured over {top['captured_context']:,} tokens.",
        reported="highest",
        recomputed=f"{table['ap_overall'].max():.4f}",
        n=len(table),
    )


def c001_aggregate_predicts(stated_002: pd.DataFrame, lbp_correlations: pd.DataFrame) -> Verdict:
    """Aggregate plasticity does not predict benchmark performance.

    Source: 001, Cross-Model Results: aggregate plasticity.
    """
    return c002_aggregate_predicts(stated_002, lbp_correlations)


def c001_aggregate_maps(stated_002: pd.DataFrame, matched_models: pd.DataFrame) -> Verdict:
    """The last-fifth plasticity of 0.57 to 0.59 in Ministral 3 goes with scores of 37 to 40.

    Source: 001, Cross-Model Results: aggregate plasticity.
    """
    return c002_h2_ministral_maps(stated_002, matched_models)


def c001_second_factor(length_decline_tests: pd.DataFrame) -> Verdict:
    """Benchmark performance is base capability times context preservation, and plasticity measures the second.

    Source: 001, Cross-Model Results: aggregate plasticity.
    """
    tests = length_decline_tests[
        (length_decline_tests["test"] == "pearson") & length_decline_tests["comparison"].str.startswith("ap_drop")
    ]
    words = [
        f"{row['comparison'].partition(', ')[2]}: {row['estimate']:.2f} (Holm p {row['p_adjusted']:.3f})"
        for _, row in tests.iterrows()
    ]
    weakest = tests.sort_values("p_adjusted").iloc[-1]
    return judge(
        bool((tests["p_adjusted"] < 0.05).all()),
        "Taking the factor as score at 128K over score at 8K, the correlation of ap_drop with its loss is "
        f"{'; '.join(words)}.",
        otherwise="not significant",
        recomputed=f"r = {tests['estimate'].min():.2f} to {tests['estimate'].max():.2f}",
        n=int(weakest["n"]),
        p_value=float(weakest["p_adjusted"]),
    )
