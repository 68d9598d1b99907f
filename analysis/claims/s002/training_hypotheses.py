"""Document 002 on SmolLM3: claims on hypotheses H4 and H6."""

import pandas as pd

from analysis.claims._checkpoints import ANNEALED, LAST, PRETRAINING
from analysis.claims._intervals import by_interval
from analysis.claims._shared import min_to_max, numbers_of, pick_each, printed_text
from analysis.claims._training import in_phases, judge_change, stated, value_at
from boundpaper.claims import Verdict, claim, compare, judge, pick, untestable
from boundpaper.statistics.rounding import Interval

MINISTRAL = "Ministral 3"


@claim("002, Hypothesis H4")
def c002_h4_numbers(
    stated_002: pd.DataFrame, training_changes: pd.DataFrame, training_comparison: pd.DataFrame
) -> list[Verdict]:
    """The numbers of hypothesis H4 follow from the tables: the factors of bias and drop, the drop of Ministral 3."""
    drops = training_comparison[training_comparison["family"] == MINISTRAL]["ap_drop"]
    return [
        judge_change(
            stated_002,
            statement,
            training_changes,
            "extensions",
            metric,
            key=statement,
            statement=sentence,
            kind="cell check",
        )
        for statement, metric, sentence in (
            ("h4_bias_ratio", "bias_strength", "The bias per token falls 10-fold."),
            ("h4_drop_ratio", "ap_drop", "From annealing to the last checkpoint ap_drop triples."),
            ("h6_bias_ratio", "bias_strength", "The bias per token is 10-fold lower, as H6 repeats."),
        )
    ] + [
        compare(
            stated(stated_002, "h4_ministral_drop"),
            float(drops.mean()),
            Interval(float(drops.min()), float(drops.max())),
            reason=f"the mean of {len(drops)} models is {drops.mean():.3f}",
            n=len(drops),
            key="h4_ministral_drop",
            statement="Ministral 3 reaches an ap_drop of 0.07.",
            kind="cell check",
        )
    ]


@claim("002, Hypothesis H4")
def c002_h4_necessary(bias_plasticity: pd.DataFrame) -> Verdict:
    """A smaller bias is necessary for a flat profile.

    Drops are compared over windows of one length, the longest that was captured: over a shorter window any model is
    flatter.
    """
    window = bias_plasticity["context"].max()
    models = bias_plasticity[bias_plasticity["context"] == window]
    is_ministral = models["family"] == MINISTRAL
    flat_models = models[(models["ap_drop"] <= models[is_ministral]["ap_drop"].max()) & ~is_ministral]
    least_bias = float(models[~is_ministral]["bias_strength"].min())
    if flat_models.empty:
        return untestable(
            f"Over {int(window):,} tokens the {int(is_ministral.sum())} models of Ministral 3 are flat and the "
            f"{int((~is_ministral).sum())} others are not, with biases per token of {least_bias:.1e} and more: one "
            "family does not show necessity, and flat checkpoints were captured over shorter windows. A run in which "
            "the bias is held while the window grows would decide it"
        )
    largest_bias = float(flat_models["bias_strength"].max())
    return judge(
        largest_bias <= float(models[is_ministral]["bias_strength"].max()),
        f"Over {int(window):,} tokens a drop no larger than Ministral's is had by {len(flat_models)} models besides, "
        f"with biases per token of up to {largest_bias:.1e}",
        recomputed=f"{len(flat_models)} flat profiles besides",
        n=len(models),
    )


@claim("002, Hypothesis H4", failure="control")
def c002_h4_not_sufficient(training_changes: pd.DataFrame) -> Verdict:
    """A smaller bias is not sufficient for a flat profile: ap_drop rises while the bias falls."""
    per_token, per_window, drop = pick_each(
        training_changes, span="extensions", metric=("bias_strength", "bias_window", "ap_drop")
    )
    is_reduced = float(per_window["after"]) < float(per_window["before"])
    return judge(
        is_reduced,
        f"ap_drop goes from {drop['before']:.3f} to {drop['after']:.3f} while the bias per token falls "
        f"{per_token['fold']:.1f}-fold, and the window of both grows: the bias per window goes from "
        f"{per_window['before']:.0f} to {per_window['after']:.0f}"
        + ("" if is_reduced else ", so that bias and drop move together in the unit of the drop"),
        otherwise="not supported",
        recomputed=f"{per_window['ratio']:.2f}-fold per window",
        n=2,
    )


@claim("002, Hypothesis H4")
def c002_h4_comparable(stated_002: pd.DataFrame, training_comparison: pd.DataFrame) -> Verdict:
    """Ministral 3 as a family has a bias comparable to SmolLM3 after its extensions."""
    rows = training_comparison[training_comparison["family"] == MINISTRAL]
    token_ratios, window_ratios = 1 / rows["bias_strength_of_smollm3"], 1 / rows["bias_window_of_smollm3"]
    return judge(
        float(token_ratios.max()) < 2,
        f"SmolLM3's is {token_ratios.min():.1f} times that of all {len(rows)} models per token and "
        f"{window_ratios.min():.1f} times per captured window",
        reported=printed_text(stated_002, statement="h4_bias_comparable"),
        recomputed=f"{token_ratios.max():.1f} times",
        n=len(rows) + 1,
    )


@claim("002, Hypothesis H4")
def c002_h4_something_beyond(training_comparison: pd.DataFrame) -> Verdict:
    """Something beyond a smaller bias is required for the flatness of Ministral 3."""
    smollm3 = pick(training_comparison, model="smollm3-3b")
    return untestable(
        "a model with Ministral's bias over the same window and another training would decide; the nearest here, "
        f"SmolLM3, has {smollm3['bias_window']:.0f} per window against "
        f"{training_comparison[training_comparison['family'] == MINISTRAL]['bias_window'].max():.0f}"
    )


@claim("002, Hypothesis H6")
def c002_h6_pretraining_driven(training_tests: pd.DataFrame, training_trajectory: pd.DataFrame) -> Verdict:
    """The drop in pre-training is driven by the growing bias."""
    comparison = "ap_drop against bias, checkpoints of the short context"
    pearson, spearman = (pick(training_tests, comparison=comparison, test=name) for name in ("pearson", "spearman"))
    rows = in_phases(training_trajectory, PRETRAINING)
    most_biased, steepest = (rows.sort_values(name).iloc[-1] for name in ("bias_strength", "ap_drop"))
    return by_interval(
        pearson,
        1,
        f"r = {pearson['estimate']:.2f} (exact p = {pearson['p_value']:.2f}), rho = {spearman['estimate']:.2f} over "
        f"{int(pearson['n'])} checkpoints of one run; the largest bias ({most_biased['bias_strength']:.4f}) goes with "
        f"{most_biased['ap_drop']:.3f}, the largest drop ({steepest['ap_drop']:.3f}) with "
        f"{steepest['bias_strength']:.4f}",
        p=("p_value",),
        failure="unit",
    )


@claim("002, Hypothesis H6")
def c002_h6_excess(stated_002: pd.DataFrame, training_changes: pd.DataFrame) -> Verdict:
    """The drop after the extensions exceeds that of pre-training by 0.10."""
    row = pick(training_changes, span="extensions", metric="ap_drop")
    return compare(
        stated(stated_002, "h6_excess"),
        float(row["difference"]),
        Interval(float(row["difference_low"]), float(row["difference_high"])),
        reason=f"{row['after']:.3f} - {row['before']:.3f} = {row['difference']:.3f}",
        n=2,
    )


@claim("002, Hypothesis H6")
def c002_h6_decomposition(training_changes: pd.DataFrame, training_equal_positions: pd.DataFrame) -> Verdict:
    """The drop is a bias component, as large as the drop of pre-training, plus a content-decay component."""
    token, window, drop = pick_each(
        training_changes, span="extensions", metric=("bias_strength", "bias_window", "ap_drop")
    )
    by_token, by_window = (float(row["ratio"]) * float(drop["before"]) for row in (token, window))
    early_drop = float(pick(training_equal_positions, checkpoint=ANNEALED)["drop"])
    defined_rows = training_equal_positions[training_equal_positions["drop"].notna()]
    late_drops = defined_rows[~defined_rows["phase"].isin(PRETRAINING)]["drop"]
    return judge(
        by_token >= float(drop["before"]),
        f"the bias part is taken at its full {drop['before']:.3f} although the bias is said to be 10-fold smaller: in "
        f"proportion it would be {by_token:.3f} per token or {by_window:.3f} per window, leaving "
        f"{drop['after'] - by_token:.3f} or {drop['after'] - by_window:.3f}; and the two drops span different windows: "
        f"from 0-1K to 2K-4K it is {early_drop:.4f} at annealing and {min_to_max(late_drops, '.4f')} in the extension",
        otherwise="not supported",
        recomputed=f"{drop['after'] - by_window:.3f} to {drop['after'] - by_token:.3f}",
        n=2,
    )


@claim("002, Hypothesis H6")
def c002_h6_content_decay(training_positions: pd.DataFrame) -> Verdict:
    """The excess over the pre-training drop reflects content that loses variance with distance, whatever the bias."""
    rows = training_positions[training_positions["extension"].astype(bool)]
    gaps = rows[rows["gap"].notna() & (rows["start"] >= 8192)]["gap"]
    last = pick(rows, checkpoint=LAST, bin="48K-64K")
    return untestable(
        "the mean and the spread of the score difference by distance would decide, and no source gives them; from "
        f"8,192 tokens on, plasticity is within {gaps.abs().max():.3f} of pre-training at equal bias times position "
        f"({len(gaps)} bins), and beyond that range, at {last['gathered_bias']:.0f}, nothing can be compared"
    )


@claim("002, Hypothesis H6")
def c002_h6_ministral_kept(training_comparison: pd.DataFrame) -> Verdict:
    """Models of low drop have kept their content signal at a distance."""
    least_drops = training_comparison.sort_values("ap_drop").head(4)
    return untestable(
        "the content variance by distance of models with low and high drop would decide; of "
        f"{', '.join(least_drops['display_name'])} only the sum of both sides is known, as plasticity"
    )


@claim("002, Hypothesis H6", failure="unit")
def c002_h6_independent(training_trajectory: pd.DataFrame, bias_plasticity_tests: pd.DataFrame) -> Verdict:
    """The drop that is left after the extensions is independent of the positional bias."""
    row = pick(bias_plasticity_tests, comparison="per window, checkpoints", test="pearson")
    return judge(
        float(row["p_value"]) > 0.05,
        f"over the {int(row['n'])} checkpoints ap_drop and the bias per window have r = {row['estimate']:.2f} (p = "
        f"{row['p_value']:.4f} if they were independent, which checkpoints of one run are not); the last one has "
        f"{value_at(training_trajectory, LAST, 'bias_window'):.0f}",
        otherwise="not supported",
        recomputed=float(row["estimate"]),
        **numbers_of(row, "n", "p_value", "ci"),
    )
