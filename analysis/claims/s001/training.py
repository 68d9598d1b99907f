"""Document 001 on SmolLM3: claims on its training, on the decomposition of ap_drop, and on the fall of alpha_K."""

import math

import pandas as pd

from analysis.claims._checkpoints import ANNEALED, EXTENSIONS, FIRST, LAST, PRETRAINING
from analysis.claims._shared import min_to_max, printed_text
from analysis.claims._training import in_phases, stated, value_at
from boundpaper.claims import Verdict, claim, compare, judge, pick, untestable
from boundpaper.statistics.rounding import Interval

QWEN = "Qwen3"


@claim("001, PCA as Exploratory Precursor to Rotation")
def c001_alpha_collapses(stated_001: pd.DataFrame, training_changes: pd.DataFrame) -> Verdict:
    """The key slope alpha_K falls by 93 percent in long-context training."""
    row = pick(training_changes, span="extensions", metric="alpha_k")
    drift = pick(training_changes, span="extensions", metric="key_drift")
    return compare(
        stated(stated_001, "pca_alpha_k_change"),
        100 * (1 - float(row["ratio"])),
        Interval(100 * (1 - float(row["ratio_high"])), 100 * (1 - float(row["ratio_low"]))),
        reason=f"alpha_K goes from {row['before']:.2e} to {row['after']:.2e} per token; over the window, which grows "
        f"16-fold, keys drift by {drift['before']:.1f} before and {drift['after']:.1f} after",
        n=2,
    )


@claim("001, PCA as Exploratory Precursor to Rotation")
def c001_correlation_kept(stated_001: pd.DataFrame, training_trajectory: pd.DataFrame) -> Verdict:
    """While alpha_K falls, the correlation of keys with position stays at 0.90 or more."""
    correlations = in_phases(training_trajectory, EXTENSIONS)["r_k_a"]
    threshold = float(pick(stated_001, statement="pca_r_k_kept")["as_number"])
    return judge(
        bool((correlations >= threshold).all()),
        f"r_k_a of the {len(correlations)} checkpoints of the extensions is {min_to_max(correlations)}, in "
        f"{int((correlations >= threshold).sum())} of them {threshold:g} or more",
        reported=printed_text(stated_001, statement="pca_r_k_kept"),
        recomputed=min_to_max(correlations),
        n=len(correlations),
    )


@claim("001, What Plasticity Reveals: SmolLM3 Training Dynamics")
def c001_short_window_drop(stated_001: pd.DataFrame, training_trajectory: pd.DataFrame) -> Verdict:
    """Within the short window ap_drop is about 0.06."""
    drops = in_phases(training_trajectory, PRETRAINING)["ap_drop"]
    reported = stated(stated_001, "training_drop_short")
    equal_count = int(drops.between(reported.interval.low, reported.interval.high).sum())
    return compare(
        reported,
        float(drops.mean()),
        Interval(float(drops.min()), float(drops.max())),
        reason=f"the mean is {drops.mean():.3f}; {equal_count} of {len(drops)} checkpoints round to it, the first has "
        f"{drops.iloc[0]:.3f}",
        n=len(drops),
    )


@claim("001, What Plasticity Reveals: SmolLM3 Training Dynamics", failure="control")
def c001_first_fifth_early_level(training_trajectory: pd.DataFrame, training_equal_positions: pd.DataFrame) -> Verdict:
    """After the extensions, plasticity in the first fifth of the window is back at early-training levels.

    Fifths of windows of different lengths have different positions, so levels are compared at common positions.
    """
    stage_levels = training_trajectory[training_trajectory["checkpoint"].str.startswith("stage1")]["ap_first_20"]
    after = value_at(training_trajectory, LAST, "ap_first_20")
    early_rows = training_equal_positions[training_equal_positions["phase"].isin(PRETRAINING)]
    last_row = pick(training_equal_positions, checkpoint=LAST)
    column = next(name for name in ("at_0_1k", "at_1k_2k", "at_2k_4k") if pd.notna(last_row[name]))
    is_inside = float(stage_levels.min()) <= after <= float(stage_levels.max())
    is_equal = float(early_rows[column].min()) <= float(last_row[column]) <= float(early_rows[column].max())
    return judge(
        is_inside and is_equal,
        f"{after:.3f} lies {'within' if is_inside else 'outside'} the {min_to_max(stage_levels)} of the first stage, "
        f"but over {value_at(training_trajectory, LAST, 'first_fifth_ends'):,.0f} tokens instead of "
        f"{value_at(training_trajectory, FIRST, 'first_fifth_ends'):,.0f}; over the same tokens it is "
        f"{float(last_row[column]):.3f} where checkpoints before have {min_to_max(early_rows[column])}.",
        otherwise="not supported" if is_inside else "contradicted",
        recomputed=after,
        n=len(stage_levels),
    )


@claim("001, What Plasticity Reveals: SmolLM3 Training Dynamics")
def c001_bias_near_zero(stated_001: pd.DataFrame, training_trajectory: pd.DataFrame, models: pd.DataFrame) -> Verdict:
    """After the extensions the bias term is near zero."""
    after, before = (value_at(training_trajectory, name, "bias_window") for name in (LAST, ANNEALED))
    largest_bias = float(training_trajectory["bias_window"].max())
    logits = after / math.sqrt(float(pick(models, model="smollm3-3b")["head_dim"]))
    return judge(
        logits < 1,
        f"between the ends of the window it shifts the score by {after:.0f}, or {logits:.1f} once scaled by the root "
        f"of the head's width; at annealing it was {before:.0f}, and no checkpoint exceeds {largest_bias:.0f}",
        reported=printed_text(stated_001, statement="training_bias_left"),
        recomputed=f"{after:.0f} per window",
        n=len(training_trajectory),
    )


@claim("001, What Plasticity Reveals: SmolLM3 Training Dynamics")
def c001_distant_keys_lose() -> Verdict:
    """Distant keys still lose the competition to nearby ones."""
    return untestable(
        "the sign of the mean score difference would decide, by distance of the two keys; plasticity is the same "
        "whichever of the two wins"
    )


@claim("001, What Plasticity Reveals: SmolLM3 Training Dynamics")
def c001_residual_is_content(training_changes: pd.DataFrame, training_positions: pd.DataFrame) -> Verdict:
    """With the bias removed, the gradient of plasticity that remains is the decay of content with distance.

    Judged like `c002_h6_content_decay` in document 002; `c001_bias_near_zero` judges whether the bias is removed.
    """
    window = pick(training_changes, span="extensions", metric="bias_window")
    rows = training_positions[training_positions["extension"].astype(bool) & training_positions["gap"].notna()]
    gaps = rows[rows["start"] >= 8192]["gap"]
    is_reduced = float(window["after"]) < float(window["before"])
    return untestable(
        "the mean and the spread of the score difference by distance would decide, and no content variance was "
        f"measured; the bias is {'reduced' if is_reduced else 'not removed'}: over the window it goes from "
        f"{window['before']:.4g} at annealing to {window['after']:.4g}, {window['ratio']:.2f} times as much, and from "
        f"8,192 tokens on it leaves a residue of at most {gaps.abs().max():.3f} ({len(gaps)} bins) against "
        "pre-training at equal bias times position"
    )


@claim("001, ap_drop decomposes into bias and content-decay components", failure="control")
def c001_decomposition_orders_models(training_comparison: pd.DataFrame) -> Verdict:
    """The decomposition explains the order of the models: SmolLM3's drop after its extensions matches Qwen3's."""
    smollm3 = pick(training_comparison, model="smollm3-3b")
    qwen_drops = training_comparison[training_comparison["family"] == QWEN]["drop_same"]
    compared_models = training_comparison[training_comparison["drop_same"].notna()]
    rank = int((compared_models["drop_same"] >= smollm3["drop_same"]).sum())
    is_match = float(smollm3["drop_same_low"]) <= float(qwen_drops.max())
    return judge(
        is_match,
        f"over the same 65,536 tokens SmolLM3 drops by {smollm3['drop_same']:.3f}, rank {rank} of "
        f"{len(compared_models)}, and Qwen3 by {min_to_max(qwen_drops)}; SmolLM3 may drop by "
        f"{smollm3['drop_same_low']:.3f}" + ("" if is_match else ", and the match is of different windows"),
        otherwise="not supported",
        recomputed=f"{smollm3['drop_same']:.3f} against {min_to_max(qwen_drops)}",
        n=len(compared_models),
    )


@claim("001, ap_drop decomposes into bias and content-decay components")
def c001_similar_scale(stated_001: pd.DataFrame, training_comparison: pd.DataFrame) -> Verdict:
    """SmolLM3 and Qwen3 are of similar scale."""
    sizes = sorted(
        float(size) for size in training_comparison[training_comparison["family"] == QWEN]["parameters_nominal_b"]
    )
    smollm3_size = float(pick(training_comparison, model="smollm3-3b")["parameters_nominal_b"])
    close_sizes = [size for size in sizes if smollm3_size / 2 <= size <= 2 * smollm3_size]
    return judge(
        len(close_sizes) == len(sizes),
        f"SmolLM3 has {smollm3_size:g} billion parameters, the Qwen3 models of that range of drops "
        f"{', '.join(f'{size:g}' for size in sizes)}: {len(close_sizes)} of {len(sizes)} within a factor of 2",
        reported=printed_text(stated_001, statement="decomposition_size"),
        recomputed=f"{sizes[0]:g} to {sizes[-1]:g} billion",
        n=len(sizes),
    )


@claim("001, ap_drop decomposes into bias and content-decay components", failure="control")
def c001_ministral_longer(
    stated_001: pd.DataFrame, stated_002: pd.DataFrame, training_comparison: pd.DataFrame
) -> Verdict:
    """Ministral 3 reaches its low drop over a context four times as long as that of SmolLM3."""
    ministral, smollm3 = (pick(training_comparison, model=name) for name in ("ministral3-3b", "smollm3-3b"))
    captured_ratio = float(ministral["captured_context"]) / float(smollm3["captured_context"])
    trained_ratio = float(ministral["claimed_context"]) / float(smollm3["claimed_context"])
    reported = stated(stated_001, "decomposition_longer")
    return judge(
        captured_ratio >= reported.interval.low,
        f"the contexts that the makers state are in a ratio of {trained_ratio:.0f}, but the drops were taken over "
        f"captured windows in a ratio of {captured_ratio:.0f}; source 002 says "
        f"{printed_text(stated_002, statement='cross_longer')} of the same pair",
        otherwise="not supported",
        reported=reported.printed,
        recomputed=f"{captured_ratio:.0f} times",
        n=2,
    )
