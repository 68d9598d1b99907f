"""Document 002: claims on the seven matched models, and on which metric correlates with LongBench Pro."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import min_to_max, numbers_of, printed_text
from boundpaper.claims import Verdict, claim, compare, judge, pick, quote
from boundpaper.claims.words import listed
from boundpaper.store.frames import wide


@claim("002, Observations: aggregate plasticity")
def c002_aggregate_predicts(stated_002: pd.DataFrame, lbp_correlations: pd.DataFrame) -> Verdict:
    """Aggregate plasticity does not predict the overall score across families."""
    overall, drop = (pick(lbp_correlations, comparison=name, test="pearson") for name in ("ap_overall", "ap_drop"))
    return judge(
        overall["ci_high"] < abs(drop["estimate"]),
        f"r = {overall['estimate']:.2f} [{overall['ci_low']:.2f}, {overall['ci_high']:.2f}], exact p = "
        f"{overall['p_value']:.3f} over {overall['n']} models, where ap_drop has {drop['estimate']:.2f}"
        + (
            ": the interval stays below it."
            if overall["ci_high"] < abs(drop["estimate"])
            else ": so few cannot show the absence of a relation."
        ),
        otherwise="not supported",
        reported=printed_text(stated_002, statement="aggregate_predicts"),
        recomputed=f"r = {overall['estimate']:.2f}",
        **numbers_of(overall, "n", "p_value", "ci"),
    )


@claim("002, Observations: aggregate plasticity")
def c002_aggregate_highest(reported_observations: pd.DataFrame, reported_plasticity: pd.DataFrame) -> Verdict:
    """Ministral-3-3B has the highest aggregate plasticity, yet only the sixth score of the seven."""
    table = wide(reported_observations[reported_observations["table"] == "aggregate"], by=["model"]).set_index("model")
    overall = reported_plasticity[reported_plasticity["metric"] == "ap_overall"].set_index("model")["value"]
    rank = int(table["lbp"].rank(ascending=False)["ministral3-3b"])
    return judge(
        table["ap_overall"].idxmax() == "ministral3-3b" and rank == 6,
        f"Highest of the {len(table)} matched models is {table['ap_overall'].idxmax()} "
        f"({table['ap_overall'].max():.3f}), and Ministral-3-3B has score {rank} of {len(table)}; of all "
        f"{len(overall)} models {overall.idxmax()} is highest ({overall.max():.4f}), over 32K.",
        reported="highest",
        recomputed=f"{table['ap_overall'].max():.3f}",
        n=len(table),
    )


@claim("002, Observations: ap_last_20")
def c002_last_20_separates(family_separation: pd.DataFrame) -> Verdict:
    """The plasticity of the last fifth separates the families better than aggregate plasticity."""
    pairs = [
        tuple(pick(family_separation, scope=scope, metric=metric) for metric in ("ap_last_20", "ap_overall"))
        for scope in ("matched", "captured")
    ]
    is_better = all(last[name] > overall[name] for last, overall in pairs for name in ("eta_squared", "gap_share"))
    (last, overall), (last_all, overall_all) = pairs
    return judge(
        is_better,
        f"Families explain {last['eta_squared']:.2f} of the variance of ap_last_20 and {overall['eta_squared']:.2f} of "
        f"that of ap_overall over {last['n']} models, {last_all['eta_squared']:.2f} and "
        f"{overall_all['eta_squared']:.2f} over {last_all['n']}; of the range there, the gap between families is "
        f"{last_all['gap_share']:.2f} in ap_last_20 and {overall_all['gap_share']:.2f} in ap_overall.",
        reported="better",
        recomputed=f"{last['eta_squared']:.2f} against {overall['eta_squared']:.2f}",
        n=int(last["n"]),
    )


@claim("002, Observations: ap_last_20")
def c002_last_20_llama_last(reported_observations: pd.DataFrame) -> Verdict:
    """Llama-3.2-3B is last both by the plasticity of the last fifth and by score."""
    table = wide(reported_observations[reported_observations["table"] == "last_20"], by=["model"]).set_index("model")
    last_models = table["ap_last_20"].idxmin(), table["lbp"].idxmin()
    return judge(
        last_models == ("llama3.2-3b", "llama3.2-3b"),
        f"Lowest of {len(table)} are {last_models[0]} ({table['ap_last_20'].min():.3f}) and {last_models[1]} "
        f"({table['lbp'].min():.2f}).",
        reported="last",
        recomputed=f"{table['ap_last_20'].min():.3f}, {table['lbp'].min():.2f}",
        n=len(table),
    )


@claim("002, Observations: ap_last_20")
def c002_last_20_ranges(stated_002: pd.DataFrame, matched_models: pd.DataFrame) -> Iterator[Verdict]:
    """In the last fifth, Ministral 3 keeps a plasticity of 0.57 to 0.59, and that of Qwen3 falls to 0.51 to 0.52."""
    source = matched_models[matched_models["in_source"]]
    for key, family in (("ministral", "Ministral 3"), ("qwen", "Qwen3")):
        values = source.loc[source["family"] == family, "ap_last_20"]
        reported = quote(stated_002, statement=f"last_20_{key}")
        is_within_range = reported.interval.low <= values.min() and values.max() <= reported.interval.high
        yield judge(
            bool(is_within_range),
            f"The {len(values)} values run from {min_to_max(values, '.4f')}.",
            reported=reported.printed,
            recomputed=min_to_max(values, ".4f"),
            n=len(values),
            key=key,
            statement=f"ap_last_20 of {family} is {reported.printed}.",
        )


@claim("002, Observations: ap_drop")
def c002_drop_most_informative(lbp_correlations: pd.DataFrame, correlation_contrasts: pd.DataFrame) -> Verdict:
    """The drop of plasticity is the most informative signal for the score."""
    strengths = lbp_correlations[lbp_correlations["test"] == "pearson"].set_index("comparison")["estimate"].abs()
    ranked = strengths.sort_values(ascending=False)
    drop = pick(lbp_correlations, comparison="ap_drop", test="pearson")
    n = int(drop["n"])
    gap = pick(correlation_contrasts, comparison=f"ap_drop - ap_overall, n = {n}", test="pearson_difference")
    larger_metrics = [f"{name} ({value:.2f})" for name, value in ranked.items() if value > strengths["ap_drop"]]
    return judge(
        ranked.index[0] == "ap_drop" and gap["ci_low"] > 0,
        f"|r| is {strengths['ap_drop']:.2f}, and larger for {listed(larger_metrics)}; against aggregate plasticity the "
        f"difference is {gap['estimate']:+.2f} [{gap['ci_low']:.2f}, {gap['ci_high']:.2f}], p = {gap['p_value']:.2f}.",
        otherwise="not supported",
        reported="most informative",
        recomputed=f"rank {list(ranked.index).index('ap_drop') + 1} of {len(ranked)}",
        n=n,
        **numbers_of(gap, "p_value", "ci"),
    )


@claim("002, Observations: ap_drop")
def c002_drop_within_family(family_correlations: pd.DataFrame, lbp_correlations: pd.DataFrame) -> Verdict:
    """Within each family, ap_drop correlates inversely with the score."""
    pearson = family_correlations[family_correlations["test"] == "pearson"]
    pooled = pick(lbp_correlations, comparison="ap_drop", test="pearson_within_family")
    phrases = [f"{row['comparison']} {row['estimate']:+.2f}" for _, row in pearson.iterrows()]
    inverse_count = int((pearson["estimate"] < -0.1).sum())
    return judge(
        inverse_count == 3,
        f"r is {listed(phrases)} (three models each, smallest p {pearson['p_value'].min():.2f}), and Llama has one "
        f"model; pooled within families r = {pooled['estimate']:.2f}, p = {pooled['p_value']:.2f}.",
        reported="inversely",
        recomputed=f"{inverse_count} of 3 families",
        **numbers_of(pooled, "n", "p_value"),
    )


@claim("002, Observations: ap_drop")
def c002_drop_ministral_order(stated_002: pd.DataFrame, reported_observations: pd.DataFrame) -> Verdict:
    """Among Ministral 3, the models in order of their score are 14B, 8B and 3B, with the drops as printed.

    The source's signs `>` order models by score: in its line on Qwen3, the drops increase from each sign to the next.
    """
    size_names = {"ministral3-14b": "14B", "ministral3-8b": "8B", "ministral3-3b": "3B"}
    cells = {
        name: [quote(reported_observations, table="drop", model=name, metric=metric) for metric in ("lbp", "ap_drop")]
        for name in size_names
    }
    order = sorted(size_names, key=lambda name: -cells[name][0].number)
    ranking = " > ".join(f"{size_names[name]} ({cells[name][1].printed})" for name in order)
    printed = " > ".join(
        f"{size} ({pick(stated_002, statement='drop_' + name.replace('-', '_'))['printed']})"
        for name, size in size_names.items()
    )
    listing = ", ".join(f"{size_names[name]} {cells[name][0].printed}" for name in order)
    return judge(
        ranking == printed,
        f"By score the order is {ranking} ({listing}); by the drop itself it would be another.",
        reported=printed,
        recomputed=ranking,
        n=len(size_names),
    )


@claim("002, Observations: ap_drop")
def c002_drop_ministral_anomaly(reported_observations: pd.DataFrame) -> Verdict:
    """Ministral-3-3B has an anomalously low drop in a nearly flat family."""
    drops = wide(reported_observations[reported_observations["table"] == "drop"], by=["model"]).set_index("model")
    family_drops = drops[drops.index.str.startswith("ministral3")]["ap_drop"]
    drop, other_drops = family_drops["ministral3-3b"], family_drops.drop("ministral3-3b")
    return judge(
        bool(drop < other_drops.min()),
        f"Its drop is {drop:.3f}, those of its siblings are {other_drops.min():.3f} and {other_drops.max():.3f}.",
        otherwise="not supported",
        reported="anomalously low",
        recomputed=f"{drop:.3f} in {min_to_max(other_drops)}",
        n=len(family_drops),
    )


@claim("002, Observations: ap_drop")
def c002_drop_qwen_monotone(matched_models: pd.DataFrame) -> Verdict:
    """Among the three scored Qwen3 models, larger ones drop less and score more."""
    qwen = matched_models[matched_models["in_source"] & (matched_models["family"] == "Qwen3")]
    qwen = qwen.sort_values("parameters_nominal_b")
    drops = [f"{value:.3f}" for value in qwen["ap_drop"]]
    return judge(
        bool(qwen["ap_drop"].is_monotonic_decreasing and qwen["lbp"].is_monotonic_increasing),
        f"From small to large, the drops are {listed(drops)} and the scores "
        f"{listed([f'{value:.2f}' for value in qwen['lbp']])}, over the scored models only.",
        reported="monotone",
        recomputed=", ".join(drops),
        n=len(qwen),
    )


@claim("002, Observations: ap_drop")
def c002_drop_llama_steepest(matched_models: pd.DataFrame) -> Verdict:
    """Llama-3.2-3B has the steepest drop and the worst score."""
    source = matched_models[matched_models["in_source"]].set_index("model")
    extreme_models = source["ap_drop"].idxmax(), source["lbp"].idxmin()
    return judge(
        extreme_models == ("llama3.2-3b", "llama3.2-3b"),
        f"Of {len(source)} models, {extreme_models[0]} drops most ({source['ap_drop'].max():.3f}) and "
        f"{extreme_models[1]} scores least ({source['lbp'].min():.2f}).",
        reported="steepest, worst",
        recomputed=f"{source['ap_drop'].max():.3f}, {source['lbp'].min():.2f}",
        n=len(source),
    )


@claim("002, Observations: ap_drop")
def c002_drop_typical(stated_002: pd.DataFrame, family_means: pd.DataFrame) -> Iterator[Verdict]:
    """Typical drops are 0.07 for Ministral 3, 0.17 for Qwen3 and 0.23 for Llama."""
    for key, family in (("ministral", "Ministral 3"), ("qwen", "Qwen3"), ("llama", "Llama 3")):
        row = pick(family_means, scope="source", family=family)
        yield compare(
            quote(stated_002, statement=f"drop_{key}_typical"),
            float(row["ap_drop"]),
            reason=f"The mean over the family's scored models (n = {row['n']}) is {row['ap_drop']:.3f}.",
            n=int(row["n"]),
            key=key,
            statement=f"The typical ap_drop of {family}.",
        )


@claim("002, Observations: ap_drop", failure="unit")
def c002_drop_family_order(family_means: pd.DataFrame, matched_models: pd.DataFrame) -> Verdict:
    """Across families, ap_drop orders Ministral 3, Qwen3 and Llama as LongBench Pro does, but for Ministral-3-3B."""
    mean_rows = family_means[family_means["scope"] == "source"].sort_values("ap_drop")
    qwen = matched_models[matched_models["family"] == "Qwen3"]
    llama = pick(matched_models, model="llama3.1-8b")
    scores_follow = bool(mean_rows["lbp"].is_monotonic_decreasing)
    llama_breaks_order = llama["ap_drop"] < qwen["ap_drop"].min() and llama["lbp"] < qwen["lbp"].min()
    return judge(
        scores_follow and not llama_breaks_order,
        f"By mean drops the order is {', '.join(mean_rows['family'])}, and the mean scores "
        f"{'follow it, as one order in six would by chance' if scores_follow else 'do not follow it'}; "
        f"{llama['display_name']}, whose score of {llama['lbp']:.2f} the source lacks, drops by "
        f"{llama['ap_drop']:.3f}, scored Qwen3 by {qwen['ap_drop'].min():.3f} or more with scores of "
        f"{qwen['lbp'].min():.2f} or more.",
        otherwise="not supported",
        reported="matching",
        recomputed=f"{len(mean_rows)} family means agree",
        n=len(mean_rows),
    )
