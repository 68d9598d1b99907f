"""Document 002, hypotheses H1, H2, H3 and H5: claims on plasticity and LongBench Pro scores."""

from typing import Any

import pandas as pd

from analysis.claims._intervals import by_interval
from analysis.claims._shared import min_to_max, numbers_of, printed_text, rows_where
from boundpaper.claims import ALPHA, Verdict, claim, judge, pick, quote, untestable
from boundpaper.claims.words import listed

LOSS_LIMIT = 5  # largest loss of score, in percent, that counts as no loss


@claim("002, Hypothesis H1")
def c002_h1_ordering(correlation_contrasts: pd.DataFrame, lbp_correlations: pd.DataFrame) -> Verdict:
    """The drop predicts the order of the scores better than aggregate plasticity does."""
    return _compare_predictors("ap_drop", "ap_overall", correlation_contrasts, lbp_correlations)


@claim("002, Hypothesis H2")
def c002_h2_tracks(correlation_contrasts: pd.DataFrame, lbp_correlations: pd.DataFrame) -> Verdict:
    """The plasticity of the last fifth follows the scores more closely than aggregate plasticity does."""
    return _compare_predictors("ap_last_20", "ap_overall", correlation_contrasts, lbp_correlations)


def _compare_predictors(first: str, second: str, contrasts: pd.DataFrame, correlations: pd.DataFrame) -> Verdict:
    rho = [pick(correlations, comparison=name, test="spearman")["estimate"] for name in (first, second)]
    counts = sorted({int(text.rpartition("= ")[2]) for text in contrasts["comparison"]})
    tests = [pick(contrasts, comparison=f"{first} - {second}, n = {n}", test="spearman_difference") for n in counts]
    source_test, wider_test = tests
    return by_interval(
        source_test,
        1,
        f"|rho| is {abs(rho[0]):.2f} for {first} and {abs(rho[1]):.2f} for {second}; the difference of "
        f"{source_test['estimate']:+.2f} [{source_test['ci_low']:.2f}, {source_test['ci_high']:.2f}] has p = "
        f"{source_test['p_value']:.2f}, and with all {counts[-1]} scored models it is {wider_test['estimate']:+.2f}.",
        p=("p_value",),
        recomputed=f"{source_test['estimate']:+.2f}",
    )


@claim("002, Hypothesis H1")
def c002_h1_within(family_correlations: pd.DataFrame) -> Verdict:
    """Within families, the order by drop is the order by score in Qwen3 and is ambiguous in Ministral 3."""
    rho = {
        family: float(pick(family_correlations, comparison=family, test="spearman")["estimate"])
        for family in ("Qwen3", "Ministral 3")
    }
    p = pick(family_correlations, comparison="Qwen3", test="spearman")["p_value"]
    return judge(
        rho["Qwen3"] == -1 and abs(rho["Ministral 3"]) < 1,
        f"rho is {rho['Qwen3']:+.1f} in Qwen3 and {rho['Ministral 3']:+.1f} in Ministral 3; with three models the "
        f"first has p = {p:.2f}, where 0.33 is the smallest that three can give.",
        reported="holds, ambiguous",
        recomputed=f"{rho['Qwen3']:+.1f}, {rho['Ministral 3']:+.1f}",
        n=3,
    )


@claim("002, Hypothesis H2")
def c002_h2_ministral_maps(stated_002: pd.DataFrame, matched_models: pd.DataFrame) -> Verdict:
    """The last-fifth plasticity of 0.57 to 0.59 in Ministral 3 goes with scores of 37 to 40."""
    reported = quote(stated_002, statement="h2_ministral_lbp")
    ministral = matched_models[matched_models["family"] == "Ministral 3"].sort_values("ap_last_20", ascending=False)
    top_row = ministral.iloc[0]
    is_in_range = ministral["lbp"].between(reported.interval.low, reported.interval.high)
    return judge(
        bool(is_in_range.all()),
        f"The scores run from {min_to_max(ministral['lbp'], '.2f')}: {top_row['display_name']} has the highest "
        f"last-fifth plasticity ({top_row['ap_last_20']:.3f}) and scores {top_row['lbp']:.2f}.",
        reported=reported.printed,
        recomputed=min_to_max(ministral["lbp"], ".2f"),
        n=len(ministral),
    )


@claim("002, Hypothesis H3")
def c002_h3_orders(length_ordering_tests: pd.DataFrame) -> Verdict:
    """At each input length, the order of the models by plasticity there matches their order by score."""
    tests = length_ordering_tests[length_ordering_tests["test"] == "spearman"]
    significant_count = int(((tests["estimate"] > 0) & (tests["p_adjusted"] < ALPHA)).sum())
    negative_count = int((tests["estimate"] < 0).sum())
    top_row = tests.sort_values("p_value").iloc[0]
    return judge(
        significant_count == len(tests),
        f"rho over models runs from {min_to_max(tests['estimate'], '+.2f')} over {len(tests)} lengths and modes, is "
        f"negative in {negative_count}, and is significant after Holm in {significant_count} (smallest p "
        f"{top_row['p_value']:.2f}, at {top_row['comparison']}).",
        otherwise="contradicted" if not significant_count and negative_count > len(tests) / 2 else "not supported",
        recomputed=f"rho {min_to_max(tests['estimate'], '+.2f')}",
        n=int(tests["n"].max()),
        **numbers_of(top_row, "p_value", "p_adjusted"),
    )


@claim("002, Hypothesis H3")
def c002_h3_relative_decline(length_decline_tests: pd.DataFrame) -> list[Verdict]:
    """Models with a steeper decline of plasticity show a steeper relative decline of the score."""
    words = {"nonthinking": "without thinking", "thinking": "with thinking"}
    return [_relative_decline(length_decline_tests, mode, mode_in_words) for mode, mode_in_words in words.items()]


def _relative_decline(length_decline_tests: pd.DataFrame, mode: str, mode_in_words: str) -> Verdict:
    tests = length_decline_tests[length_decline_tests["comparison"].str.startswith(f"ap_drop, {mode},")]
    source_tests, all_tests = (tests[tests["n"] == n].set_index("test") for n in sorted(set(tests["n"])))
    pearson, spearman = all_tests.loc["pearson"], all_tests.loc["spearman"]
    return by_interval(
        pearson,
        1,
        f"ap_drop and the fall of the score from 8K to 128K correlate with r = {pearson['estimate']:.2f} (Holm p "
        f"{pearson['p_adjusted']:.3f}) over all {pearson['n']} scored models and "
        f"{source_tests.loc['pearson', 'estimate']:.2f} ({source_tests.loc['pearson', 'p_adjusted']:.3f}) over the "
        f"source's {source_tests.loc['pearson', 'n']}; by ranks {spearman['estimate']:.2f} "
        f"({spearman['p_adjusted']:.3f}).",
        p=("p_value", "p_adjusted"),
        recomputed=f"r = {pearson['estimate']:.2f}",
        key=mode,
        statement="Models with a steeper decline of plasticity show a steeper relative decline of the score "
        f"{mode_in_words}.",
    )


@claim("002, Hypothesis H3")
def c002_h3_ministral_flat(stated_002: pd.DataFrame, lbp_lengths: pd.DataFrame) -> list[Verdict]:
    """Ministral-3-14B has flat plasticity, yet its score falls from 51.88 to 37.59, in part for another reason."""
    rows = lbp_lengths[lbp_lengths["model"] == "ministral3-14b"].set_index(["mode", "length"])
    ends_by_mode = {mode: rows.loc[[(mode, "8k"), (mode, "128k")]] for mode in ("thinking", "nonthinking")}
    falls = {mode: 100 * (1 - ends["lbp"].iloc[1] / ends["lbp"].iloc[0]) for mode, ends in ends_by_mode.items()}
    plasticity = ends_by_mode["thinking"]["plasticity"]
    plasticity_fall = 100 * (1 - plasticity.iloc[1] / plasticity.iloc[0])
    printed_scores = [printed_text(stated_002, statement=f"h3_ministral3_14b_lbp_{end}") for end in ("from", "to")]
    fields: dict[str, Any] = {
        "reported": f"flat; {printed_scores[0]} to {printed_scores[1]}",
        "recomputed": f"-{plasticity_fall:.1f} % against -{falls['thinking']:.1f} and -{falls['nonthinking']:.1f} %",
        "n": len(plasticity),
    }
    reason = (
        f"Up to 128K, plasticity falls by {plasticity_fall:.1f} % and the score by {falls['thinking']:.1f} % with "
        f"thinking and {falls['nonthinking']:.1f} % without; {printed_scores[1]} is the score at 256K, beyond the "
        "captured context."
    )
    return [
        judge(
            plasticity_fall < min(falls.values()) / 2,
            reason,
            otherwise="not supported",
            key="flat",
            statement="The plasticity of Ministral-3-14B is flat while its score falls.",
            **fields,
        ),
        untestable(
            "Two falls of one model have no scale in common, so that neither is a part of the other; scores by length "
            "of models with equal plasticity profiles would decide it.",
            reported=f"{printed_scores[0]} to {printed_scores[1]}",
            key="cause",
            statement="A part of the fall of Ministral-3-14B's score comes from difficulty that does not depend on "
            "length.",
        ),
    ]


@claim("002, Hypothesis H5")
def c002_h5_flat(captured_models: pd.DataFrame) -> Verdict:
    """The drop of Ministral-3-3B is comparable to that of Ministral-3-14B."""
    drops = captured_models.set_index("model")["ap_drop"]
    gap = abs(drops["ministral3-3b"] - drops["ministral3-14b"])
    other_drops = captured_models.loc[~captured_models["family"].isin(["Ministral 3", "Mistral"]), "ap_drop"]
    return judge(
        bool(gap < (other_drops.min() - drops["ministral3-3b"]) / 2),
        f"They differ by {gap:.3f}; the next family begins at {other_drops.min():.3f}.",
        reported="comparable",
        recomputed=f"{drops['ministral3-3b']:.3f} and {drops['ministral3-14b']:.3f}",
        n=2,
    )


@claim("002, Hypothesis H5", failure="overreach")
def c002_h5_bottleneck(length_decline: pd.DataFrame, published_lbp: pd.DataFrame) -> Verdict:
    """Ministral-3-3B scores low for want of base capability, not for loss of context.

    The loss must stay within a margin at every scored length, because the score at one length depends on the questions
    drawn.
    """
    rows = length_decline[(length_decline["mode"] == "nonthinking") & length_decline["in_source"]].set_index("model")
    ministral, other_models = rows.loc["ministral3-3b"], rows.drop("ministral3-3b")
    lower_models = other_models[other_models["lbp_8k"] < ministral["lbp_8k"]]
    scores = rows_where(published_lbp, model="ministral3-3b", mode="nonthinking").set_index("length")["value"]
    falls = 100 * (1 - scores.drop(["overall", "8k"], errors="ignore").astype(float) / ministral["lbp_8k"])
    is_kept = bool((falls <= LOSS_LIMIT).all())
    is_low = len(lower_models) <= 1
    return judge(
        is_low and is_kept,
        f"Published scores have it at {ministral['lbp_8k']:.2f} at 8K (lower: "
        f"{listed(list(lower_models['display_name']))}) and falling by "
        f"{listed([f'{fall:.0f} % at {length}' for length, fall in falls.items()])}, the others by "
        f"{min_to_max(100 * other_models['decline'], '.0f')} % to 128K. It counts as retained only if no fall exceeds "
        f"{LOSS_LIMIT} %. The cause of the level was not varied.",
        otherwise="not supported" if is_low else "contradicted",
        recomputed=f"{ministral['lbp_8k']:.2f} at 8K, -{falls.max():.0f} % at most",
        n=len(rows),
    )
