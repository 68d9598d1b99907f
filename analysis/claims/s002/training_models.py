"""Document 002: claims that compare SmolLM3 with the other captured models."""

from collections.abc import Iterator

import pandas as pd

from analysis.claims._shared import cell_check, min_to_max, numbers_of, pick_each, printed_text
from analysis.claims._training import stated
from boundpaper.claims import Verdict, claim, compare, judge, pick, untestable
from boundpaper.statistics.rounding import Interval

WINDOW = 65536
MINISTRAL, QWEN = "Ministral 3", "Qwen3"


@claim("002, Connection to Cross-Model Observations")
def c002_qwen_drop_range(stated_002: pd.DataFrame, training_comparison: pd.DataFrame) -> Verdict:
    """The Qwen3 models have an ap_drop of 0.16 to 0.19."""
    reported = stated(stated_002, "cross_qwen_drop")
    drops = training_comparison[training_comparison["family"] == QWEN]["ap_drop"]
    low, high = float(drops.min()), float(drops.max())
    return judge(
        reported.interval.low <= low <= reported.interval.low + 0.01
        and reported.interval.high - 0.01 <= high <= reported.interval.high,
        f"the {len(drops)} Qwen3 models have {low:.3f} to {high:.3f}",
        reported=reported.printed,
        recomputed=f"{low:.3f} to {high:.3f}",
        n=len(drops),
    )


@claim("002, Connection to Cross-Model Observations", failure="control")
def c002_smollm3_like_qwen(training_comparison: pd.DataFrame) -> Verdict:
    """SmolLM3 after its extensions degrades comparably to Qwen3."""
    smollm3 = training_comparison[training_comparison["family"] == "SmolLM3"].iloc[0]
    qwen = training_comparison[training_comparison["family"] == QWEN]
    least_drop, largest_drop = float(qwen["drop_same"].min()), float(qwen["drop_same"].max())
    return judge(
        float(smollm3["drop_same_low"]) <= float(qwen["drop_same_high"].max()),
        f"{smollm3['ap_drop']:.3f} is over {WINDOW:,} tokens, the drops of Qwen3 over 131,072; over the same "
        f"{WINDOW:,} tokens SmolLM3 drops by {smollm3['drop_same_low']:.3f} or more and the {len(qwen)} Qwen3 models "
        f"by {least_drop:.3f} to {largest_drop:.3f} ({qwen['drop_same_high'].max():.3f} at most by rounding), and keep "
        f"{qwen['far_same'].min():.3f} or more at the end where SmolLM3 keeps {smollm3['far_same']:.3f}",
        otherwise="not supported",
        recomputed=f"{smollm3['drop_same']:.3f} against {least_drop:.3f} to {largest_drop:.3f}",
        n=len(qwen) + 1,
    )


@claim("002, Connection to Cross-Model Observations", failure="control")
def c002_same_class(stated_002: pd.DataFrame, training_comparison: pd.DataFrame, models: pd.DataFrame) -> list[Verdict]:
    """SmolLM3 and the Qwen3 models are of the 3B class, with standard fine-tuning for long context."""
    qwen = training_comparison[training_comparison["family"] == QWEN]
    sizes = sorted(float(size) for size in qwen["parameters_nominal_b"])
    recipes = sorted(set(models[models["family"] == QWEN]["position_encoding"]))
    yarn_recipes = [recipe for recipe in recipes if "YaRN" in recipe]
    return [
        judge(
            all(2 <= size < 4 for size in sizes),
            f"the Qwen3 models of that range have {', '.join(f'{size:g}' for size in sizes)} billion parameters: "
            f"{sum(2 <= size < 4 for size in sizes)} of {len(sizes)} at least 2 and below 4",
            reported=printed_text(stated_002, statement="cross_model_class"),
            recomputed=f"{sizes[0]:g} to {sizes[-1]:g} billion",
            n=len(sizes),
            key="size",
            statement="SmolLM3 and the Qwen3 models compared are of the 3B class.",
        ),
        judge(
            not yarn_recipes,
            (
                f"Qwen3 reaches its context by {'; '.join(recipes)}, SmolLM3 by two phases of training",
                f"Qwen3 reaches 128K by another way than SmolLM3's two training phases: {'; '.join(yarn_recipes)}",
            ),
            otherwise="not supported",
            n=len(recipes),
            key="recipe",
            statement="SmolLM3 and Qwen3 reach their context by the same standard fine-tuning.",
        ),
    ]


@claim("002, Connection to Cross-Model Observations")
def c002_training_contexts(reported_training_comparison: pd.DataFrame, models: pd.DataFrame) -> Iterator[Verdict]:
    """The four models of the comparison were trained at the context that the comparison prints."""
    for _, row in reported_training_comparison.drop_duplicates("model").iterrows():
        facts = pick(models, model=row["model"])
        tokens = int(str(row["context_trained"]).removesuffix("K")) * 1024
        is_stretched = "YaRN" in str(facts["position_encoding"])
        yield cell_check(
            tokens == int(facts["claimed_context"]) and not is_stretched,
            f"{facts['display_name']} is made for {int(facts['claimed_context']):,} tokens"
            + (f", but by extrapolation ({facts['position_encoding']}) and not by training" if is_stretched else ""),
            otherwise="not supported" if is_stretched else "contradicted",
            reported=str(row["context_trained"]),
            recomputed=f"{int(facts['claimed_context']) // 1024}K",
            key=str(row["model"]).replace(".", ""),
            statement=f"{facts['display_name']} was trained at a context of {row['context_trained']}.",
        )


@claim("002, Connection to Cross-Model Observations")
def c002_ministral_drop(stated_002: pd.DataFrame, training_comparison: pd.DataFrame) -> Verdict:
    """The Ministral 3 family has an ap_drop of about 0.07."""
    drops = training_comparison[training_comparison["family"] == MINISTRAL]["ap_drop"]
    return compare(
        stated(stated_002, "cross_ministral_drop"),
        float(drops.mean()),
        Interval(float(drops.min()), float(drops.max())),
        reason=f"the mean of {len(drops)} models is {drops.mean():.3f}, {min_to_max(drops)}",
        n=len(drops),
    )


@claim("002, Connection to Cross-Model Observations")
def c002_ministral_bias_comparable(stated_002: pd.DataFrame, training_comparison: pd.DataFrame) -> Verdict:
    """Ministral-3-3B has a bias comparable to SmolLM3 after its extensions."""
    ministral = pick(training_comparison, model="ministral3-3b")
    smollm3 = pick(training_comparison, model="smollm3-3b")
    token_ratio = 1 / float(ministral["bias_strength_of_smollm3"])
    window_ratio = 1 / float(ministral["bias_window_of_smollm3"])
    return judge(
        token_ratio < 2,
        f"{smollm3['bias_strength']:.1e} is {token_ratio:.1f} times {ministral['bias_strength']:.1e} per token and "
        f"{window_ratio:.1f} times per captured window ({smollm3['bias_window']:.0f} against "
        f"{ministral['bias_window']:.0f})",
        reported=printed_text(stated_002, statement="cross_bias_comparable"),
        recomputed=f"{token_ratio:.1f} times",
        n=2,
    )


@claim("002, Connection to Cross-Model Observations")
def c002_ministral_flatter(stated_002: pd.DataFrame, training_comparison: pd.DataFrame) -> Verdict:
    """The plasticity of Ministral-3-3B is twice as flat as that of SmolLM3."""
    ministral = pick(training_comparison, model="ministral3-3b")
    ratio, at_same = 1 / float(ministral["ap_drop_of_smollm3"]), 1 / float(ministral["drop_same_of_smollm3"])
    return compare(
        stated(stated_002, "cross_flatter"),
        ratio,
        reason=f"the drops are in a ratio of {ratio:.2f} over their own windows, {at_same:.2f} over {WINDOW:,} tokens",
        n=2,
    )


@claim("002, Connection to Cross-Model Observations")
def c002_ministral_longer(stated_002: pd.DataFrame, training_comparison: pd.DataFrame) -> Verdict:
    """Ministral-3-3B is flatter than SmolLM3 over a context twice as long."""
    ministral, smollm3 = (pick(training_comparison, model=name) for name in ("ministral3-3b", "smollm3-3b"))
    captured_ratio = float(ministral["captured_context"]) / float(smollm3["captured_context"])
    trained_ratio = float(ministral["context_stated"]) / float(smollm3["context_stated"])
    return compare(
        stated(stated_002, "cross_longer"),
        captured_ratio,
        reason=f"the captured windows, over which the drops are taken, are in a ratio of {captured_ratio:.0f}; the "
        f"column of trained contexts beside the statement gives {trained_ratio:.0f}",
        n=2,
    )


@claim("002, Connection to Cross-Model Observations")
def c002_drop_beyond_bias(bias_plasticity_tests: pd.DataFrame, training_comparison: pd.DataFrame) -> Verdict:
    """The low drop of Ministral 3 is not explained by the bias alone, so its training does more than reduce the
    bias.
    """
    comparison = "per token, models over the same window"
    pearson, spearman = pick_each(bias_plasticity_tests, comparison=comparison, test=("pearson", "spearman"))
    other_models = training_comparison[training_comparison["family"] != MINISTRAL]
    within_family = pick(bias_plasticity_tests, comparison=comparison, test="pearson_within_family")
    ministral = training_comparison[training_comparison["family"] == MINISTRAL]
    is_lowest = float(ministral["bias_strength"].max()) < float(other_models["bias_strength"].min())
    fold = float(other_models.loc[other_models["family"] == "SmolLM3", "bias_strength"].iloc[0]) / float(
        ministral["bias_strength"].max()
    )
    return judge(
        not is_lowest,
        f"Ministral 3 has {'the lowest bias of all' if is_lowest else 'no lower bias than others'}, "
        f"{ministral['bias_window'].max():.0f} per captured window against {other_models['bias_window'].min():.0f} and "
        "more" + (", as bias alone would predict" if is_lowest else "") + "; over the same 65,536 "
        f"tokens drop and bias go together at r = {pearson['estimate']:.2f} (p = {pearson['p_value']:.4f}), rho = "
        f"{spearman['estimate']:.2f} (p = {spearman['p_value']:.3f}) over {int(pearson['n'])} models, inside families "
        f"at r = {within_family['estimate']:.2f} (p = {within_family['p_value']:.2f}); the comparison behind the "
        f"statement treats biases that differ by a factor of {fold:.1f} as comparable",
        otherwise="not supported",
        recomputed=float(pearson["estimate"]),
        **numbers_of(pearson, "n", "p_value", "ci"),
    )


@claim("002, Connection to Cross-Model Observations")
def c002_ministral_content(training_comparison: pd.DataFrame) -> Verdict:
    """The heads of Ministral 3 keep their content signal competitive at a distance."""
    ministral = training_comparison[training_comparison["family"] == MINISTRAL]
    return untestable(
        "the content variance of the score difference by distance would decide, and no source gives it for "
        f"{' or '.join(ministral['display_name'])}, whose queries also carry a scale that depends on position"
    )
