"""Claims of the thesis on SmolLM3's training."""

import numpy as np
import pandas as pd

from analysis.claims._checkpoints import EXTENSIONS, PRETRAINING
from analysis.claims._shared import min_to_max, numbers_of, pick_each
from analysis.claims._training import in_phases
from analysis.claims.thesis._open import left_open
from boundpaper.claims import Verdict, claim, judge, pick
from boundpaper.claims.words import listed


@claim("thesis, SmolLM3 in training")
def thesis_key_drift_kept(training_changes: pd.DataFrame) -> Verdict:
    """The drift of the keys over the whole window is about the same before and after the extensions."""
    drift, slope = (pick(training_changes, span="extensions", metric=name) for name in ("key_drift", "alpha_k"))
    return judge(
        0.9 <= float(drift["ratio"]) <= 1.1,
        f"alpha_K times the window goes from {drift['before']:.1f} to {drift['after']:.1f} (ratio "
        f"{drift['ratio']:.2f}), while alpha_K falls {slope['fold']:.1f}-fold",
        recomputed=float(drift["ratio"]),
        n=2,
    )


@claim("thesis, SmolLM3 in training")
def thesis_bias_window_grows(training_trajectory: pd.DataFrame, training_changes: pd.DataFrame) -> Verdict:
    """The bias per window grows from each phase to the next."""
    rows = training_trajectory.sort_values("order")
    highs = [rows[rows["phase"] == name]["bias_window_high"].max() for name in dict.fromkeys(rows["phase"])]
    lows = [rows[rows["phase"] == name]["bias_window_low"].min() for name in dict.fromkeys(rows["phase"])]
    row = pick(training_changes, span="extensions", metric="bias_window")
    return judge(
        all(earlier < later for earlier, later in zip(highs, lows[1:], strict=False)),
        f"from {rows['bias_window'].iloc[0]:.0f} at the first checkpoint to {row['before']:.0f} at annealing and "
        f"{row['after']:.0f} at the last; given the rounding of the bias the phases reach from "
        f"{', '.join(f'{low:.0f} to {high:.0f}' for low, high in zip(lows, highs, strict=True))}",
        recomputed=float(row["ratio"]),
        n=len(rows),
    )


@claim("thesis, SmolLM3 in training")
def thesis_unit_turns_the_sign(training_tests: pd.DataFrame) -> Verdict:
    """Over the checkpoints, ap_drop correlates negatively with bias per token and positively with bias per window."""
    token, window = (
        pick(training_tests, comparison=f"ap_drop against bias per {unit}, all checkpoints", test="pearson")
        for unit in ("token", "window")
    )
    return judge(
        float(token["ci_high"]) < 0 < float(window["ci_low"]),
        f"r = {token['estimate']:.2f} [{token['ci_low']:.2f}, {token['ci_high']:.2f}] per token and "
        f"{window['estimate']:.2f} [{window['ci_low']:.2f}, {window['ci_high']:.2f}] per window; intervals as if the "
        f"{int(token['n'])} checkpoints of the one run were independent",
        recomputed=f"{token['estimate']:.2f} and {window['estimate']:.2f}",
        n=int(token["n"]),
    )


@claim("thesis, SmolLM3 in training")
def thesis_equal_positions_rise(training_equal_positions: pd.DataFrame) -> Verdict:
    """At positions measured in both stages, each extension checkpoint is more plastic than any pre-training one."""
    early_rows, late_rows = (in_phases(training_equal_positions, names) for names in (PRETRAINING, EXTENSIONS))
    margins = {
        name: float(late_rows[f"{name}_low"].min() - early_rows[f"{name}_high"].max())
        for name in ("at_0_1k", "at_1k_2k", "at_2k_4k")
    }
    listing = ", ".join(f"{margin:.3f}" for margin in margins.values())
    verdict = judge(
        min(margins.values()) > 0,
        f"the least value of the extensions exceeds the largest of pre-training by {listing} at 0-1K, 1K-2K and 2K-4K, "
        "even if rounding works against it",
        recomputed=min(margins.values()),
        n=len(training_equal_positions),
    )
    return left_open(verdict)


@claim("thesis, SmolLM3 in training")
def thesis_equal_positions_drop(training_equal_positions: pd.DataFrame) -> Verdict:
    """Over the first 4,096 tokens, the drop after the first extension exceeds the drop before it by at most a fifth."""
    defined_rows = training_equal_positions[training_equal_positions["drop"].notna()]
    anneal = defined_rows[defined_rows["phase"] == "Anneal"].iloc[0]
    extensions = in_phases(defined_rows, EXTENSIONS)
    measured_phases = [extension for extension in EXTENSIONS if extension in set(extensions["phase"])]
    unmeasured_phases = [extension for extension in EXTENSIONS if extension not in measured_phases]
    ratio, window_ratio = (float(extensions[column].max() / anneal[column]) for column in ("drop", "ap_drop"))
    return judge(
        ratio <= 1.2,
        f"from 0-1K to 2K-4K it is {anneal['drop']:.4f} at annealing and {min_to_max(extensions['drop'], '.4f')} in "
        f"{listed(measured_phases)}, a factor of {ratio:.2f} at most, where ap_drop over the own window grows by "
        f"{window_ratio:.2f}" + (f"; {listed(unmeasured_phases)} has no value at 0-1K" if unmeasured_phases else ""),
        recomputed=ratio,
        n=len(extensions) + 1,
    )


@claim("thesis, SmolLM3 in training")
def thesis_outer_drop_grows(training_equal_positions: pd.DataFrame) -> Verdict:
    """The drop from 1K-2K to 2K-4K grows with the extensions, though less than ap_drop does."""
    anneal, extensions = (in_phases(training_equal_positions, names) for names in (("Anneal",), EXTENSIONS[1:]))
    ratio = float(extensions["drop_outer"].max() / anneal["drop_outer"].iloc[0])
    growth = float(extensions["ap_drop"].max() / anneal["ap_drop"].iloc[0])
    return judge(
        float(extensions["drop_outer_low"].min()) > float(anneal["drop_outer_high"].iloc[0]) and ratio < growth,
        f"{anneal['drop_outer'].iloc[0]:.4f} at annealing and {min_to_max(extensions['drop_outer'], '.4f')} in the "
        f"second extension, {ratio:.2f}-fold at most against {growth:.2f}-fold",
        recomputed=ratio,
        n=len(extensions) + 1,
    )


@claim("thesis, SmolLM3 in training")
def thesis_gathered_bias(training_tests: pd.DataFrame, training_positions: pd.DataFrame) -> Verdict:
    """Over all bins plasticity falls more regularly with bias times position than with the position."""
    position, share, gathered = (
        pick(training_tests, comparison=f"plasticity against {name}, bins of all checkpoints")
        for name in ("position", "share of the context", "gathered bias")
    )
    share_later = pick(
        training_tests, comparison="plasticity against share of the context, bins of extension checkpoints"
    )
    gathered_later = pick(training_tests, comparison="plasticity against gathered bias, bins of extension checkpoints")
    gap = abs(float(share_later["estimate"])) - abs(float(gathered_later["estimate"]))
    comparison = "as well" if abs(gap) < 0.02 else "better" if gap > 0 else "less well"
    return judge(
        float(gathered["estimate"]) < min(float(position["estimate"]), 0.0),
        f"rho = {gathered['estimate']:.2f} against {position['estimate']:.2f} for the position and "
        f"{share['estimate']:.2f} for its share of the context ({int(gathered['n'])} bins of "
        f"{training_positions['checkpoint'].nunique()} checkpoints, not independent); within the extensions the share "
        f"does {comparison} ({share_later['estimate']:.2f} against {gathered_later['estimate']:.2f})",
        recomputed=float(gathered["estimate"]),
        n=int(gathered["n"]),
    )


@claim("thesis, SmolLM3 in training")
def thesis_gathered_bias_transfers(training_positions: pd.DataFrame) -> Verdict:
    """From 8K on, extended checkpoints are as plastic as pre-training ones at an equal product of bias and position."""
    rows = training_positions[training_positions["extension"].astype(bool) & training_positions["gap"].notna()]
    far_gaps, near_gaps = rows[rows["start"] >= 8192]["gap"], rows[rows["start"] < 8192]["gap"]
    early_gaps = training_positions[~training_positions["extension"].astype(bool)]["gap"].abs()
    return judge(
        float(far_gaps.abs().max()) <= float(early_gaps.quantile(0.9)),
        f"the {len(far_gaps)} bins lie within {far_gaps.abs().max():.3f} of it, the pre-training bins themselves "
        f"within {early_gaps.quantile(0.9):.3f} in nine of ten cases; nearer than that the extensions are up to "
        f"{near_gaps.max():.3f} above",
        recomputed=float(far_gaps.abs().max()),
        n=len(far_gaps),
    )


@claim("thesis, SmolLM3 in training")
def thesis_steeper_than_qwen(training_comparison: pd.DataFrame) -> Verdict:
    """Over the same 65,536 tokens, the extended SmolLM3 has a larger drop than every other captured model."""
    smollm3 = pick(training_comparison, model="smollm3-3b")
    other_models = training_comparison[
        (training_comparison["model"] != "smollm3-3b") & training_comparison["drop_same"].notna()
    ]
    steepest = other_models.sort_values("drop_same").iloc[-1]
    return judge(
        float(smollm3["drop_same_low"]) > float(other_models["drop_same_high"].max()),
        f"{smollm3['drop_same']:.3f} against {other_models['drop_same'].min():.3f} to {steepest['drop_same']:.3f} "
        f"({steepest['display_name']}) of {len(other_models)} models",
        recomputed=float(smollm3["drop_same"]),
        n=len(other_models) + 1,
    )


@claim("thesis, SmolLM3 in training")
def thesis_equal_window_bias(bias_plasticity_tests: pd.DataFrame) -> Verdict:
    """Over the same 65,536 tokens, plasticity drops more in models of more bias per token, but not inside families."""
    comparison = "per token, models over the same window"
    same_window, within_family, left_out = pick_each(
        bias_plasticity_tests, comparison=comparison, test=("pearson", "pearson_within_family", "pearson_leave_one_out")
    )
    own_window = pick(bias_plasticity_tests, comparison="per token, captured models", test="pearson")
    return judge(
        float(same_window["ci_low"]) > 0 and float(within_family["p_value"]) > 0.05,
        f"r = {same_window['estimate']:.2f} (p = {same_window['p_value']:.4f}, at most {left_out['p_value']:.3f} with "
        f"one model left out) over {int(same_window['n'])} models, where the drops over each model's own window gave "
        f"{own_window['estimate']:.2f}; inside families r = {within_family['estimate']:.2f} (p = "
        f"{within_family['p_value']:.2f})",
        recomputed=float(same_window["estimate"]),
        **numbers_of(same_window, "n", "p_value", "ci"),
    )


@claim("thesis, Methods")
def thesis_buckets_by_phase(checkpoints: pd.DataFrame) -> Verdict:
    """The checkpoints of SmolLM3 were captured in buckets that widen with each phase of a longer context."""
    widths = checkpoints.groupby("captured_context")["bucket_tokens"].agg(["min", "max"]).sort_index()
    is_rising = bool((widths["min"] == widths["max"]).all() and widths["min"].is_monotonic_increasing)
    listing = ", ".join(f"{low:,} at {context:,}" for low, context in zip(widths["min"], widths.index, strict=True))
    return judge(
        is_rising and len(widths) > 1 and widths["min"].is_unique,
        f"Tokens of a bucket by those of the window: {listing}.",
        recomputed=", ".join(f"{int(low):,}" for low in widths["min"]),
        n=len(checkpoints),
    )


@claim("thesis, One model in training")
def thesis_bins_finer_than_buckets(training_positions: pd.DataFrame, checkpoints: pd.DataFrame) -> Verdict:
    """Each extended checkpoint has printed bins that are narrower than the buckets in which it was captured."""
    buckets = dict(zip(checkpoints["checkpoint"], checkpoints["bucket_tokens"], strict=True))
    rows = training_positions[training_positions["extension"].astype(bool)]
    narrow_bins = rows[(rows["end"] - rows["start"]) < rows["checkpoint"].map(buckets)]
    narrow_checkpoints = sorted(set(narrow_bins["checkpoint"]))
    return judge(
        set(narrow_checkpoints) == set(rows["checkpoint"]),
        f"{len(narrow_bins)} of {len(rows)} bins of {len(narrow_checkpoints)} of {rows['checkpoint'].nunique()} "
        "extended checkpoints are narrower than their buckets, up to token "
        f"{int(narrow_bins['end'].max()) if len(narrow_bins) else 0:,}.",
        recomputed=f"{len(narrow_bins)} of {len(rows)}",
        n=len(rows),
    )


@claim("thesis, One model in training")
def thesis_drop_follows_window(training_trajectory: pd.DataFrame) -> Verdict:
    """Over the checkpoints the drop correlates with the logarithm of the window more than with the bias per window.

    Any quantity multiplied by the window correlates with the window.
    """
    drops = training_trajectory["ap_drop"].astype(float)
    tokens = training_trajectory["context"].astype(float)
    window = pd.Series(np.log2(tokens), index=tokens.index)
    bias = training_trajectory["bias_window"].astype(float)
    by_window, by_bias = float(drops.corr(window)), float(drops.corr(bias))
    partial = {
        name: _partial_correlation(drops, bias, control) for name, control in (("log", window), ("plain", tokens))
    }
    return judge(
        by_window > by_bias,
        f"r is {by_window:.3f} with the binary logarithm of the window and {by_bias:.3f} with the bias per window; "
        f"with the logarithm taken off, the latter is {partial['log']:.2f}, with the window itself "
        f"{partial['plain']:.2f}.",
        recomputed=f"{by_window:.3f} against {by_bias:.3f}",
        n=len(training_trajectory),
    )


def _partial_correlation(first: pd.Series, second: pd.Series, control: pd.Series) -> float:
    """Return the partial correlation of two series, given the series `control`."""
    a, b, c = first.corr(second), first.corr(control), second.corr(control)
    return float((a - b * c) / np.sqrt((1 - b**2) * (1 - c**2)))
