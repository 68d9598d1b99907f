"""Document 002 on SmolLM3: claims on what grew or fell in each of three phases of training, and by how much."""

from collections.abc import Iterator
from itertools import pairwise

import pandas as pd

from analysis.claims._checkpoints import ANNEALED, EXTENSIONS, FIRST, LAST, ONSET, PRETRAINING
from analysis.claims._shared import min_to_max, numbers_of, printed_text
from analysis.claims._training import in_phases, judge_change, judge_span, stated, value_at
from boundpaper.claims import Verdict, claim, compare, judge, pick, untestable
from boundpaper.statistics.rounding import Interval


@claim("002, SmolLM3-3B Training Dynamics")
def c002_training_checkpoints(stated_002: pd.DataFrame, checkpoints: pd.DataFrame) -> Verdict:
    """Ten checkpoints of one run are studied, from pre-training through both extensions of the context."""
    return compare(
        stated(stated_002, "training_checkpoints"),
        len(checkpoints),
        reason=f"the table has {len(checkpoints)} checkpoints in {checkpoints['phase'].nunique()} phases by name",
        places=0,
        n=len(checkpoints),
    )


@claim("002, Interpretation of Tables 5 to 7")
def c002_training_phases(stated_002: pd.DataFrame, training_trajectory: pd.DataFrame) -> Verdict:
    """Training has three phases, each with its own signature of plasticity."""
    phase_rows = [in_phases(training_trajectory, names) for names in (PRETRAINING, EXTENSIONS[:1], EXTENSIONS[1:])]
    ranges = [(float(rows["ap_drop"].min()), float(rows["ap_drop"].max())) for rows in phase_rows]
    are_disjoint = all(first[1] < second[0] for first, second in pairwise(ranges))
    listing = ", ".join(
        f"{low:.3f} to {high:.3f} (n = {len(rows)})" for (low, high), rows in zip(ranges, phase_rows, strict=True)
    )
    phase_count = training_trajectory["phase"].nunique()
    return judge(
        are_disjoint,
        f"the ranges of ap_drop {'do not overlap' if are_disjoint else 'overlap'}: {listing}; the table itself names "
        f"{phase_count} phases, annealing being one",
        reported=stated(stated_002, "interpretation_phases").printed,
        recomputed=str(len(phase_rows)),
        n=len(training_trajectory),
    )


@claim("002, Interpretation of Tables 5 to 7")
def c002_pretraining_bias_doubles(stated_002: pd.DataFrame, training_changes: pd.DataFrame) -> Verdict:
    """The bias per token doubles over pre-training."""
    return judge_change(stated_002, "phase1_bias_ratio", training_changes, "pretraining", "bias_strength")


@claim("002, Interpretation of Tables 5 to 7")
def c002_pretraining_driven_by_slope(training_changes: pd.DataFrame, training_trajectory: pd.DataFrame) -> Verdict:
    """The growth of the bias in pre-training comes from the growth of the key slope alpha_K."""
    bias_growth, slope_growth, query_growth = (
        float(pick(training_changes, span="pretraining", metric=name)["fold"])
        for name in ("bias_strength", "alpha_k", "mu_q")
    )
    second_checkpoint = training_trajectory.sort_values("order").iloc[1]
    early_bias = float(second_checkpoint["bias_strength"]) / value_at(training_trajectory, FIRST, "bias_strength")
    early_slope = float(second_checkpoint["alpha_k"]) / value_at(training_trajectory, FIRST, "alpha_k")
    return judge(
        slope_growth >= bias_growth / slope_growth,
        f"bias_strength is the product of the mean query projection and alpha_K; it grows {bias_growth:.2f}-fold, "
        f"alpha_K {slope_growth:.2f}-fold, so the other factor grows {query_growth:.2f}-fold; up to "
        f"{second_checkpoint['display_name']} the bias grows {early_bias:.2f}-fold and alpha_K {early_slope:.2f}-fold "
        "(of means over heads)",
        recomputed=f"{slope_growth:.2f} of {bias_growth:.2f}",
        n=2,
    )


@claim("002, Interpretation of Tables 5 to 7")
def c002_pretraining_uniform_decline(
    stated_002: pd.DataFrame, training_trajectory: pd.DataFrame, training_positions: pd.DataFrame
) -> Verdict:
    """Mean plasticity declines uniformly over pre-training."""
    rows = in_phases(training_trajectory, PRETRAINING)
    values = [float(number) for number in rows["ap_overall"]]
    steps = [late - early for early, late in pairwise(values)]
    rises = [step for step in steps if step > 0]
    first_bins, last_bins = (
        training_positions.loc[training_positions["checkpoint"] == name, "plasticity"].to_numpy()
        for name in (FIRST, ANNEALED)
    )
    falls = [float(fall) for fall in first_bins - last_bins]
    is_even = max(falls) - min(falls) <= 0.002  # rounding of four values lets equal falls differ by 0.002
    return judge(
        not rises and is_even,
        f"ap_overall runs {', '.join(f'{number:.3f}' for number in values)}: it falls by {-steps[0]:.3f} first and "
        f"{-steps[-1]:.3f} last, and between them rises by {sum(steps[1:-1]):.3f}; the fall is "
        f"{'even' if is_even else 'not even'} over positions, {falls[0]:.3f} in the first bin and {falls[-1]:.3f} in "
        "the last",
        reported=printed_text(stated_002, statement="phase1_overall_shape"),
        recomputed=f"{len(rises)} of {len(steps)} steps rise",
        n=len(values),
    )


@claim("002, Interpretation of Tables 5 to 7")
def c002_pretraining_drop_mild(stated_002: pd.DataFrame, training_trajectory: pd.DataFrame) -> Verdict:
    """Within the short window ap_drop stays at about 0.04 to 0.06."""
    drops = in_phases(training_trajectory, PRETRAINING)["ap_drop"]
    return judge_span(stated(stated_002, "phase1_drop"), drops, 2, "ap_drop of the checkpoints of the short window")


@claim("002, Interpretation of Tables 5 to 7", failure="unit")
def c002_pretraining_bias_lowers_plasticity(training_tests: pd.DataFrame, training_trajectory: pd.DataFrame) -> Verdict:
    """In pre-training a growing positional bias lowers plasticity as a whole."""
    comparison = "ap_overall against bias, checkpoints of the short context"
    pearson, spearman = (pick(training_tests, comparison=comparison, test=name) for name in ("pearson", "spearman"))
    n = int(pearson["n"])
    bias = in_phases(training_trajectory, PRETRAINING)["bias_strength"].to_numpy(dtype=float)
    share = (bias[1] - bias[0] + bias[-1] - bias[-2]) / (bias[-1] - bias[0])
    return judge(
        float(pearson["p_value"]) <= 0.05 and float(spearman["p_value"]) <= 0.05,
        f"r = {pearson['estimate']:.2f} (exact p = {pearson['p_value']:.3f}) but rho = {spearman['estimate']:.2f} (p = "
        f"{spearman['p_value']:.2f}) over {n} checkpoints of one run: the first step and annealing make "
        f"{100 * share:.0f} % of the growth of the bias, and other things change in them too",
        otherwise="not supported",
        recomputed=float(pearson["estimate"]),
        n=n,
        **numbers_of(pearson, "p_value", "ci"),
    )


@claim("002, Interpretation of Tables 5 to 7")
def c002_pretraining_short_window(training_equal_positions: pd.DataFrame) -> Verdict:
    """The short context is what keeps the gradient of plasticity from steepening in pre-training."""
    early_drops = training_equal_positions[training_equal_positions["phase"].isin(PRETRAINING)]["drop"]
    defined_rows = training_equal_positions[training_equal_positions["drop"].notna()]
    late_drops = defined_rows[defined_rows["phase"].isin(EXTENSIONS)]["drop"]
    return untestable(
        "a capture of the pre-training checkpoints over a longer window, or of the extended ones over 4,096 tokens, "
        f"would decide; over equal positions the drop is {min_to_max(early_drops, '.4f')} before and "
        f"{min_to_max(late_drops, '.4f')} after the first extension, which agrees with it"
    )


@claim("002, Interpretation of Tables 5 to 7")
def c002_onset_bias_falls(stated_002: pd.DataFrame, training_changes: pd.DataFrame) -> list[Verdict]:
    """At the onset of the extension the bias per token falls 6-fold and alpha_K 8-fold."""
    metrics = {
        "bias_strength": ("phase2_bias_ratio", "At the onset of the extension the bias per token falls 6-fold."),
        "alpha_k": ("phase2_alpha_k_ratio", "At the onset of the extension the key slope alpha_K falls 8-fold."),
    }
    return [
        judge_change(stated_002, statement, training_changes, "onset", metric, key=metric, statement=sentence)
        for metric, (statement, sentence) in metrics.items()
    ]


@claim("002, Interpretation of Tables 5 to 7")
def c002_onset_correlation_kept(stated_002: pd.DataFrame, training_trajectory: pd.DataFrame) -> Verdict:
    """At the onset of the extension the correlation of keys with position is preserved."""
    before, after = (value_at(training_trajectory, name, "r_k_a") for name in (ANNEALED, ONSET))
    correlations = in_phases(training_trajectory, PRETRAINING)["r_k_a"]
    spread = float(correlations.max() - correlations.min())
    return judge(
        abs(after - before) < spread,
        f"r_k_a goes from {before:.3f} to {after:.3f}, a change of {abs(after - before):.3f} where pre-training alone "
        f"spans {spread:.3f}",
        reported=printed_text(stated_002, statement="phase2_r_k_a"),
        recomputed=after,
    )


@claim("002, Interpretation of Tables 5 to 7", failure="control")
def c002_onset_first_fifth_recovers(
    stated_002: pd.DataFrame, training_trajectory: pd.DataFrame, training_equal_positions: pd.DataFrame
) -> Verdict:
    """At the onset of the extension the plasticity of the first fifth comes back to the level of the first stage.

    Fifths of windows of different lengths have different positions, so levels are compared at common positions.
    """
    stage_levels = training_trajectory[training_trajectory["checkpoint"].str.startswith("stage1")]["ap_first_20"]
    after = value_at(training_trajectory, ONSET, "ap_first_20")
    first_value, onset_value = (
        float(pick(training_equal_positions, checkpoint=name)["at_0_1k"]) for name in (FIRST, ONSET)
    )
    fifth_lengths = [value_at(training_trajectory, name, "first_fifth_ends") for name in (FIRST, ONSET)]
    early_levels = training_equal_positions.loc[training_equal_positions["phase"].isin(PRETRAINING), "at_0_1k"]
    is_inside = float(stage_levels.min()) <= after <= float(stage_levels.max())
    return judge(
        is_inside and float(early_levels.min()) <= onset_value <= float(early_levels.max()),
        f"{after:.3f} lies {'within' if is_inside else 'outside'} the {min_to_max(stage_levels)} of the first stage, "
        f"but a fifth is {fifth_lengths[0]:,.0f} tokens there and {fifth_lengths[1]:,.0f} here; over the same first "
        f"1,024 tokens it is {onset_value:.4f} against {first_value:.4f}, above "
        f"{int((early_levels < onset_value).sum())} of {len(early_levels)} checkpoints before",
        otherwise="not supported" if is_inside else "contradicted",
        reported=printed_text(stated_002, statement="phase2_first_20_level"),
        recomputed=after,
        n=len(stage_levels),
    )


@claim("002, Interpretation of Tables 5 to 7", failure="control")
def c002_onset_last_fifth_plummets(
    training_trajectory: pd.DataFrame, training_equal_positions: pd.DataFrame
) -> Verdict:
    """At the onset of the extension the plasticity of distant positions plummets."""
    before, after = (value_at(training_trajectory, name, "ap_last_20") for name in (ANNEALED, ONSET))
    starts = [value_at(training_trajectory, name, "last_fifth_starts") for name in (ANNEALED, ONSET)]
    level_before, level_after = (
        float(pick(training_equal_positions, checkpoint=name)["at_2k_4k"]) for name in (ANNEALED, ONSET)
    )
    return judge(
        level_after < level_before,
        f"ap_last_20 goes from {before:.3f} to {after:.3f}, but the last fifth starts at {starts[0]:,.0f} before and "
        f"at {starts[1]:,.0f} after; between 2,048 and 4,096 tokens, where both were measured, plasticity "
        f"{'rises' if level_after > level_before else 'falls'} from {level_before:.4f} to {level_after:.4f}",
        otherwise="not supported",
        recomputed=f"{after - before:+.3f} against {level_after - level_before:+.3f}",
    )


@claim("002, Interpretation of Tables 5 to 7")
def c002_onset_drop_triples(stated_002: pd.DataFrame, training_changes: pd.DataFrame) -> Verdict:
    """At the onset of the extension ap_drop triples."""
    return judge_change(stated_002, "phase2_drop_ratio", training_changes, "onset", "ap_drop")


@claim("002, Interpretation of Tables 5 to 7")
def c002_onset_separation_jumps(stated_002: pd.DataFrame, training_changes: pd.DataFrame) -> Iterator[Verdict]:
    """At the onset the separation strength and the variance in the plane grow by a tenth each."""
    statements = {"separation_strength": "phase2_separation_change", "plane_var": "phase2_plane_var_change"}
    for metric, statement in statements.items():
        row = pick(training_changes, span="onset", metric=metric)
        low, high = (100 * (float(row[name]) - 1) for name in ("ratio_low", "ratio_high"))
        yield compare(
            stated(stated_002, statement),
            100 * (float(row["ratio"]) - 1),
            Interval(low, high),
            reason=f"{metric} goes from {row['before']:.3f} to {row['after']:.3f}: {low:.1f} to {high:.1f} percent",
            key=metric,
            statement=f"At the onset of the extension {metric} grows by the percentage given.",
        )


@claim("002, Interpretation of Tables 5 to 7")
def c002_second_extension_halves(stated_002: pd.DataFrame, training_changes: pd.DataFrame) -> Verdict:
    """The second extension halves the bias per token again."""
    return judge_change(stated_002, "phase3_bias_ratio", training_changes, "second", "bias_strength")


@claim("002, Interpretation of Tables 5 to 7")
def c002_second_extension_ranges(stated_002: pd.DataFrame, training_trajectory: pd.DataFrame) -> list[Verdict]:
    """In the second extension, ap_drop and plasticity in the first and last fifths span the ranges given."""
    rows = in_phases(training_trajectory, EXTENSIONS[1:])
    metrics = {"ap_first_20": "phase3_first_20", "ap_last_20": "phase3_last_20", "ap_drop": "phase3_drop"}
    return [
        judge_span(
            stated(stated_002, statement),
            rows[metric],
            3,
            f"{metric} of the last phase",
            key=metric,
            statement=f"In the second extension {metric} spans the range given.",
        )
        for metric, statement in metrics.items()
    ]


@claim("002, Interpretation of Tables 5 to 7")
def c002_second_extension_falls_further(training_trajectory: pd.DataFrame) -> Verdict:
    """In the second extension the plasticity of the last fifth falls further."""
    first_levels, second_levels = (in_phases(training_trajectory, [name])["ap_last_20"] for name in EXTENSIONS)
    starts = [value_at(training_trajectory, name, "last_fifth_starts") for name in (ONSET, LAST)]
    return judge(
        float(second_levels.max()) < float(first_levels.min()),
        f"{min_to_max(second_levels)} after {min_to_max(first_levels)}, while the last fifth moves out from "
        f"{starts[0]:,.0f} to {starts[1]:,.0f} tokens",
        recomputed=float(second_levels.max() - first_levels.min()),
        n=len(first_levels) + len(second_levels),
    )
