"""Claims on document 002 about one training run, on hand-made frames that make each claim true or false."""

import inspect
from itertools import product

import pandas as pd
import pytest

from claims_cases import function, reason, rows, say, says, states, verdict, verdicts

CONTEXTS = inspect.unwrap(function("c002_training_windows")).__globals__["CONTEXTS"]
FIRST, ANNEALED = "stage1-step-40000", "stage3-step-4720000"
ONSET, LAST = "lc-4k-to-32k-step-4000", "lc-32k-to-64k-step-20000"


def run(**values):
    """Return six checkpoints: two of the first stage, one annealed, one of the first extension, two of the last."""
    checkpoints = (FIRST, "stage1-step-2", ANNEALED, ONSET, "lc-32k-to-64k-step-4000", LAST)
    phases = ("Pre-train", "Pre-train", "Anneal", "LC 4K-32K", "LC 32K-64K", "LC 32K-64K")
    frame = rows("checkpoint phase order", *zip(checkpoints, phases, (1, 2, 3, 4, 5, 6), strict=True))
    frame["display_name"] = frame["checkpoint"]
    return frame.assign(**values)


@pytest.mark.parametrize(("text", "expected"), [("ten", "contradicted: 6"), ("six", "holds: 6")])
def test_checkpoints_are_counted(text, expected):
    stated = states(training_checkpoints=(text, {"ten": 10, "six": 6}[text]))
    assert says("c002_training_checkpoints", stated, run()) == expected


@pytest.mark.parametrize(
    ("drops", "expected"),
    [
        ((0.04, 0.05, 0.06, 0.12, 0.15, 0.16), "holds"),
        ((0.04, 0.05, 0.12, 0.12, 0.15, 0.16), "contradicted"),  # the ranges of two phases touch
        ((0.04, 0.05, 0.06, 0.12, 0.16, 0.11), "contradicted"),
    ],
)
def test_phases_are_counted_as_separate_when_their_ranges_are(drops, expected):
    stated = states(interpretation_phases=("three", 3))
    assert says("c002_training_phases", stated, run(ap_drop=drops)) == f"{expected}: 3"
    phrase = "do not overlap: " if expected == "holds" else "ap_drop overlap: "
    assert phrase in reason("c002_training_phases", stated, run(ap_drop=drops))


@pytest.mark.parametrize(
    ("bias", "slope", "expected"),
    [
        (2.0, 1.5, "holds: 1.50 of 2.00"),  # the other factor 1.33
        (2.25, 1.5, "holds: 1.50 of 2.25"),  # both factors alike
        (2.4, 1.5, "contradicted: 1.50 of 2.40"),
    ],
)
def test_factor_that_drives_a_product_must_grow_most(bias, slope, expected):
    changes = rows(
        "span metric fold",
        ("pretraining", "bias_strength", bias),
        ("pretraining", "alpha_k", slope),
        ("pretraining", "mu_q", bias / slope),
        ("onset", "alpha_k", 9.0),
    )
    frame = run(bias_strength=(0.2, 0.5, 0.4, 0.1, 0.1, 0.1), alpha_k=(0.4, 0.5, 0.6, 0.1, 0.1, 0.1))
    assert says("c002_pretraining_driven_by_slope", changes, frame) == expected
    explanation = reason("c002_pretraining_driven_by_slope", changes, frame)
    assert "up to stage1-step-2 the bias grows 2.50-fold and alpha_K 1.25-fold" in explanation


def factors(*cells):
    """Return the change of each metric over each span, from 1 to `fold`; the range of the factor is `fold` ± 0.1."""
    table = [(span, metric, fold, fold - 0.1, fold + 0.1, 1.0, fold) for span, metric, fold in cells]
    return rows("span metric fold fold_low fold_high before after", *table)


@pytest.mark.parametrize(
    ("claim", "statement", "text", "span", "metric", "key"),
    [
        ("c002_pretraining_bias_doubles", "phase1_bias_ratio", "doubles", "pretraining", "bias_strength", ""),
        ("c002_onset_drop_triples", "phase2_drop_ratio", "triples", "onset", "ap_drop", ""),
        ("c002_second_extension_halves", "phase3_bias_ratio", "halves", "second", "bias_strength", ""),
        ("c002_onset_bias_falls", "phase2_bias_ratio", "6-fold", "onset", "bias_strength", "bias_strength"),
        ("c002_onset_bias_falls", "phase2_alpha_k_ratio", "8-fold", "onset", "alpha_k", "alpha_k"),
    ],
)
def test_stated_factor_is_compared_with_the_ratio_over_its_span(claim, statement, text, span, metric, key):
    """A factor of 4 in words means 3.5 to 4.5; a ratio of 3.45 may still be 3.5, since its two numbers are rounded."""
    five_fold = {"phase2_bias_ratio": ("five", 5), "phase2_alpha_k_ratio": ("five", 5)}
    stated = states(**{**five_fold, statement: (text, 4)})
    for fold, expected in ((4.0, "holds"), (3.45, "holds after rounding"), (3.35, "contradicted")):
        cells = dict.fromkeys(product(("pretraining", "onset", "second"), ("ap_drop", "bias_strength")), 9.0)
        cells |= {("onset", "alpha_k"): 9.0, (span, metric): fold}
        changes = factors(*[(*place, value) for place, value in cells.items()])
        assert say(claim, stated, changes)[key] == f"{expected}: {fold:.2f}"


def test_uniform_decline_is_checked_in_time_and_over_positions():
    def decline(overall, *late):
        positions = [(FIRST, index, value) for index, value in enumerate((0.90, 0.80, 0.70))]
        positions += [(ANNEALED, index, value) for index, value in enumerate(late)]
        return (
            states(phase1_overall_shape=("uniform", None)),
            run(ap_overall=(*overall, 0.1, 0.2, 0.3)),
            rows("checkpoint bin plasticity", *positions),
        )

    even = decline((0.90, 0.85, 0.80), 0.85, 0.75, 0.65)
    assert says("c002_pretraining_uniform_decline", *even) == "holds: 0 of 2 steps rise"
    nearly = decline((0.90, 0.85, 0.80), 0.8481, 0.75, 0.65)
    assert verdict("c002_pretraining_uniform_decline", *nearly) == "holds"
    uneven = decline((0.90, 0.85, 0.80), 0.85, 0.75, 0.653)
    assert says("c002_pretraining_uniform_decline", *uneven) == "contradicted: 0 of 2 steps rise"
    rising = decline((0.90, 0.91, 0.80), 0.85, 0.75, 0.65)
    assert says("c002_pretraining_uniform_decline", *rising) == "contradicted: 1 of 2 steps rise"
    level = decline((0.90, 0.90, 0.80), 0.85, 0.75, 0.65)
    assert verdict("c002_pretraining_uniform_decline", *level) == "holds"
    explanation = reason("c002_pretraining_uniform_decline", *rising)
    assert "falls by -0.010 first and 0.110 last" in explanation
    assert "the fall is even over positions, 0.050 in the first bin and 0.050 in the last" in explanation
    assert "the fall is not even over positions" in reason("c002_pretraining_uniform_decline", *uneven)


@pytest.mark.parametrize(
    ("text", "expected"), [("0.04-0.06", "holds"), ("0.04-0.07", "contradicted"), ("0.05-0.06", "contradicted")]
)
def test_a_range_has_the_least_and_the_largest_at_its_ends(text, expected):
    frame = run(ap_drop=(0.044, 0.05, 0.056, 0.2, 0.3, 0.4))
    assert says("c002_pretraining_drop_mild", states(phase1_drop=text), frame) == f"{expected}: 0.044 to 0.056"


def bias_tests(comparison, level, ranks, low=-0.99, high=-0.1):
    return rows(
        "comparison test estimate ci_low ci_high p_value n",
        (comparison, "pearson", -0.9, low, high, level, 6),
        (comparison, "spearman", -0.8, -1.0, 0.2, ranks, 6),
        ("another", "pearson", 0.1, 0.0, 0.2, 0.9, 6),
    )


@pytest.mark.parametrize(
    ("level", "ranks", "expected"),
    [(0.05, 0.05, "holds"), (0.051, 0.01, "not supported"), (0.01, 0.051, "not supported")],
)
def test_claim_that_bias_lowers_plasticity_needs_both_coefficients(level, ranks, expected):
    tests = bias_tests("ap_overall against bias, checkpoints of the short context", level, ranks)
    # of a growth of .8, the first step makes .5 and annealing .1; later phases do not count
    frame = run(bias_strength=(0.1, 0.6, 0.9, 0.1, 0.1, 0.1))
    longer = pd.concat([frame, frame.iloc[[1]].assign(order=2.5, bias_strength=0.8)])
    assert says("c002_pretraining_bias_lowers_plasticity", tests, longer) == f"{expected}: -0.9000"
    assert "make 75 % of the growth of the bias" in reason("c002_pretraining_bias_lowers_plasticity", tests, longer)


@pytest.mark.parametrize(
    ("low", "high", "p", "expected"),
    [
        (0.2, 0.99, 0.01, "holds"), (-0.1, 0.99, 0.07, "not significant"), (-0.9, -0.1, 0.01, "contradicted"),
        (0.2, 0.99, 0.06, "not supported"),
    ],
)  # fmt: skip
def test_bias_driven_drop_needs_a_significant_interval(low, high, p, expected):
    comparison = "ap_drop against bias, checkpoints of the short context"
    tests = bias_tests(comparison, p, 0.5, low, high)
    tests.loc[tests["test"] == "pearson", "estimate"] = (low + high) / 2
    frame = run(bias_strength=(0.2, 0.3, 0.1, 9.0, 9.0, 9.0), ap_drop=(0.05, 0.04, 0.06, 0.9, 0.9, 0.9))
    assert verdict("c002_h6_pretraining_driven", tests, frame) == expected
    explanation = reason("c002_h6_pretraining_driven", tests, frame)
    assert "the largest bias (0.3000) goes with 0.040, the largest drop (0.060) with 0.1000" in explanation


@pytest.mark.parametrize(
    ("after", "expected"), [(0.895, "holds: 0.8950"), (0.715, "holds: 0.7150"), (0.7, "contradicted: 0.7000")]
)
def test_a_correlation_is_kept_if_it_moves_by_less_than_in_pretraining(after, expected):
    frame = run(r_k_a=(0.7, 0.75, 0.8, after, 0.1, 0.2))  # pre-training spans .1
    assert says("c002_onset_correlation_kept", states(phase2_r_k_a=("preserved", None)), frame) == expected


def near_positions(**values):
    frame = rows("checkpoint phase", (FIRST, "Pre-train"), (ANNEALED, "Anneal"), (ONSET, "LC 4K-32K"))
    return frame.assign(**values)


@pytest.mark.parametrize(
    ("after", "expected"),
    [(0.8, "holds"), (0.9, "holds"), (0.85, "holds"), (0.79, "contradicted"), (0.91, "contradicted")],
)
def test_first_fifth_recovery_is_compared_with_the_first_stage(after, expected):
    frame = run(
        ap_first_20=(0.9, 0.8, 0.95, after, 0.1, 0.1), first_fifth_ends=(819.0, 819.0, 819.0, 6554.0, 13107.0, 13107.0)
    )
    stated = states(phase2_first_20_level=("stage 1 level", None))
    equal = near_positions(at_0_1k=(0.9, 0.8, 0.85))
    assert verdict("c002_onset_first_fifth_recovers", stated, frame, equal) == expected
    above_stage = near_positions(at_0_1k=(0.9, 0.8, 0.95))  # only the fifths differ
    unlike = "not supported" if expected == "holds" else "contradicted"
    assert verdict("c002_onset_first_fifth_recovers", stated, frame, above_stage) == unlike
    explanation = reason("c002_onset_first_fifth_recovers", stated, frame, above_stage)
    assert "819 tokens there and 6,554 here" in explanation
    assert "it is 0.9500 against 0.9000, above 2 of 2 checkpoints before" in explanation
    assert ("lies within the 0.800 to 0.900 of the first stage" in explanation) == (expected == "holds")
    assert "above 1 of 2 checkpoints" in reason("c002_onset_first_fifth_recovers", stated, frame, equal)


@pytest.mark.parametrize(("far", "expected"), [(0.70, "holds"), (0.71, "not supported"), (0.75, "not supported")])
def test_fall_of_distant_positions_is_compared_where_both_were_measured(far, expected):
    frame = run(
        ap_last_20=(0.9, 0.8, 0.7, 0.5, 0.4, 0.4), last_fifth_starts=(3277.0, 3277.0, 3277.0, 26214.0, 52429.0, 52429.0)
    )
    near = near_positions(at_2k_4k=(0.9, 0.71, far))
    answer = says("c002_onset_last_fifth_plummets", frame, near)
    assert answer == f"{expected}: -0.200 against {far - 0.71:+.3f}"
    assert ("plasticity rises from" in reason("c002_onset_last_fifth_plummets", frame, near)) == (far > 0.71)


def test_jumps_of_two_metrics_are_compared_with_stated_percentages():
    def jumps(ratio, low, high):
        return rows(
            "span metric ratio ratio_low ratio_high before after",
            ("onset", "separation_strength", ratio, low, high, 1.0, ratio),
            ("onset", "plane_var", 1.1, 1.09, 1.11, 1.0, 1.1),
        )

    stated = states(phase2_separation_change="12%", phase2_plane_var_change="10%")
    answers = say("c002_onset_separation_jumps", stated, jumps(1.12, 1.11, 1.13))
    assert answers == {"separation_strength": "holds: 12.0", "plane_var": "holds: 10.0"}
    answers = say("c002_onset_separation_jumps", stated, jumps(1.13, 1.12, 1.14))
    assert answers["separation_strength"] == "holds after rounding: 13.0"
    answers = say("c002_onset_separation_jumps", stated, jumps(1.14, 1.13, 1.15))
    assert answers["separation_strength"] == "contradicted: 14.0"
    first, _ = function("c002_onset_separation_jumps")(stated, jumps(1.14, 1.13, 1.15))
    assert "13.0 to 15.0 percent" in first.reason


def test_ranges_of_the_last_phase_are_compared_with_its_checkpoints():
    values = (0.1, 0.1, 0.1, 0.1, 0.701, 0.702)
    frame = run(ap_first_20=values, ap_last_20=values, ap_drop=values)
    texts = {"phase3_first_20": "0.701-0.702", "phase3_last_20": "0.701-0.703", "phase3_drop": "0.700-0.702"}
    judged = verdicts("c002_second_extension_ranges", states(**texts), frame)
    assert judged == {"ap_first_20": "holds", "ap_last_20": "contradicted", "ap_drop": "contradicted"}


@pytest.mark.parametrize(("largest", "expected"), [(0.49, "holds: -0.0100"), (0.5, "contradicted: 0.0000")])
def test_further_fall_of_the_last_fifth_needs_all_values_lower(largest, expected):
    frame = run(ap_last_20=(0.9, 0.9, 0.9, 0.5, 0.4, largest), last_fifth_starts=1000.0)
    assert says("c002_second_extension_falls_further", frame) == expected


# --- beside other families


@pytest.mark.parametrize(
    ("text", "expected"), [("~0.07", "holds"), ("0.10", "contradicted"), ("0.08", "holds after rounding")]
)
def test_family_drop_is_the_mean_of_its_models(text, expected):
    table = rows("family ap_drop", ("Ministral 3", 0.062), ("Ministral 3", 0.078), ("SmolLM3", 0.3))
    assert verdict("c002_ministral_drop", states(cross_ministral_drop=text), table) == expected


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, "holds: 2.00"), (0.8, "contradicted: 1.25"), (0.3, "contradicted: 3.33")]
)
def test_twice_as_flat_means_half_the_drop(share, expected):
    table = rows("model ap_drop_of_smollm3 drop_same_of_smollm3", ("ministral3-3b", share, 0.25))
    answer = says("c002_ministral_flatter", states(cross_flatter="2x"), table)
    assert answer.startswith(expected[:-1])
    assert ", 4.00 over" in reason("c002_ministral_flatter", states(cross_flatter="2x"), table)


@pytest.mark.parametrize(("captured", "expected"), [(131072, "holds"), (65536, "contradicted")])
def test_twice_as_long_is_judged_by_the_captured_windows(captured, expected):
    columns = "model captured_context context_stated"
    table = rows(columns, ("ministral3-3b", captured, 262144), ("smollm3-3b", 65536, 65536))
    assert verdict("c002_ministral_longer", states(cross_longer="2x"), table) == expected
    assert "beside the statement gives 4" in reason("c002_ministral_longer", states(cross_longer="2x"), table)


@pytest.mark.parametrize(
    ("own", "expected"), [(0.001, "not supported"), (0.0019, "not supported"), (0.002, "holds"), (0.003, "holds")]
)
def test_drop_beyond_bias_is_contradicted_when_the_bias_is_lowest(own, expected):
    comparison = "per token, models over the same window"
    tests = rows(
        "comparison test estimate ci_low ci_high p_value n",
        (comparison, "pearson", 0.9, 0.5, 0.99, 0.001, 9),
        (comparison, "spearman", 0.8, 0.4, 0.99, 0.01, 9),
        (comparison, "pearson_within_family", 0.7, 0.1, 0.9, 0.04, 9),
    )
    table = rows(
        "family bias_strength bias_window",
        ("Ministral 3", own, 100.0),
        ("Ministral 3", 0.0005, 50.0),
        ("SmolLM3", 0.002, 200.0),
        ("Qwen3", 0.004, 400.0),
    )
    assert says("c002_drop_beyond_bias", tests, table) == f"{expected}: 0.9000"
    explanation = reason("c002_drop_beyond_bias", tests, table)
    assert "100 per captured window against 200 and more" in explanation
    assert f"biases that differ by a factor of {0.002 / own:.1f} as comparable" in explanation


@pytest.mark.parametrize(
    ("ratio", "expected"), [(1.0, "holds: -0.010 to 0.090"), (0.1, "not supported: -0.010 to 0.135")]
)
def test_bias_part_of_a_drop_is_proportional_to_the_bias(ratio, expected):
    changes = rows(
        "span metric ratio before after",
        ("extensions", "bias_strength", ratio, 1.0, ratio),
        ("extensions", "bias_window", 3.0, 1.0, 3.0),
        ("extensions", "ap_drop", 2.8, 0.05, 0.14),
    )
    equal = rows(
        "checkpoint phase drop", (ANNEALED, "Anneal", 0.03), (ONSET, "LC 4K-32K", 0.05), (LAST, "LC 32K-64K", None)
    )
    assert says("c002_h6_decomposition", changes, equal) == expected
    assert "0.0300 at annealing and 0.0500 to 0.0500" in reason("c002_h6_decomposition", changes, equal)


def test_training_windows_are_compared_with_the_checkpoints():
    tokens = {checkpoint: 4096 * (1 + index) for index, checkpoint in enumerate(dict.fromkeys(CONTEXTS.values()))}
    frame = rows("checkpoint captured_context", *tokens.items())
    stated = {key: f"{tokens[checkpoint] // 1024}K" for key, checkpoint in CONTEXTS.items()}
    assert set(verdicts("c002_training_windows", states(**stated), frame).values()) == {"holds"}
    for key in CONTEXTS:
        judged = verdicts("c002_training_windows", states(**{**stated, key: "3K"}), frame)
        assert [name for name, answer in judged.items() if answer != "holds"] == [key]


POSITIONS = {
    "finding_near_positions": "0–2K",
    "finding_pretraining_positions": "2K–4K",
    "finding_far_positions": "48K–64K",
    "candidate_content_positions": "48K–64K",
}


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("finding_near_positions", "0–512", "holds"), ("finding_near_positions", "512–2K", "contradicted"),
        ("finding_near_positions", "0–3K", "contradicted"), ("finding_pretraining_positions", "512–2K", "contradicted"),
        ("finding_far_positions", "32K–48K", "contradicted"),
        ("candidate_content_positions", "84K–64K", "contradicted"),
    ],
)  # fmt: skip
def test_stated_positions_are_compared_with_the_first_or_last_bins(key, text, expected):
    table = rows(
        "checkpoint bin",
        *[(FIRST, name) for name in ("0-512", "512-2K", "2K-4K")],
        *[(LAST, name) for name in ("32K-48K", "48K-64K")],
    )
    assert set(verdicts("c002_training_positions", states(**POSITIONS), table).values()) == {"holds"}
    judged = verdicts("c002_training_positions", states(**{**POSITIONS, key: text}), table)
    assert judged == {**dict.fromkeys(POSITIONS, "holds"), key: expected}
