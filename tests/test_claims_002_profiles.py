"""Claims on document 002 about the benchmark, profiles and Mistral generations, each made true and false."""

import pandas as pd
import pytest

from claims_002_cases import DECILES, FAMILIES, word
from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

# --- the benchmark


def test_benchmark_counts_are_compared_with_the_data_card():
    facts = prints(
        "fact printed",
        ("lbp_samples", "1,500"),
        ("lbp_tasks", "25"),
        ("lbp_languages", "2"),
        ("lbp_shortest", "8K"),
        ("lbp_longest", "256K"),
        ("lbp_answer", "free text"),
    )
    stated = states(overview_samples="1,500", overview_tasks="29")
    assert verdicts("c002_overview_counts", stated, facts) == {"samples": "holds", "tasks": "contradicted"}
    for number, expected in ((2, "holds"), (3, "contradicted")):
        assert (
            verdict("c002_overview_languages", states(overview_languages=word("bilingual", number)), facts) == expected
        )
    for text, expected in (("8K–256K", "holds"), ("8K–128K", "contradicted"), ("4K–256K", "contradicted")):
        assert verdict("c002_overview_lengths", states(overview_lengths=text), facts) == expected
    stated_words = states(overview_format=word("multiple-choice"))
    assert verdict("c002_overview_format", stated_words, facts) == "contradicted"
    choice = facts.assign(printed=facts["printed"].replace("free text", "a choice"))
    assert verdict("c002_overview_format", stated_words, choice) == "holds"


def overlap(**changed):
    table = rows(
        "model benchmark_model match",
        ("ministral3-3b", "M3 (256k)", "exact"),
        ("qwen3-4b", "Q4 (128k)", "exact"),
        ("qwen3-14b", "", ""),
    )
    return table.assign(**changed)


def test_matches_are_counted():
    right_statements = states(overlap_matched="2", overlap_captured="3")
    assert say("c002_overlap_count", right_statements, overlap()) == {"matched": "holds: 2", "captured": "holds: 3"}
    wrong_statements = states(overlap_matched="3", overlap_captured="2")
    assert set(verdicts("c002_overlap_count", wrong_statements, overlap()).values()) == {"contradicted"}


def test_a_match_is_exact_if_the_scored_checkpoint_was_captured():
    models = FAMILIES.assign(
        captured_checkpoint="org/" + FAMILIES["display_name"], scored_checkpoint=FAMILIES["display_name"]
    )
    assert says("c002_overlap_exact", overlap(), models) == "holds: 2 of 2"
    base = models.assign(scored_checkpoint=["M3-it", *models["scored_checkpoint"][1:]])
    assert says("c002_overlap_exact", overlap(), base) == "contradicted: 1 of 2"
    assert "the two checkpoints differ" not in reason("c002_overlap_exact", overlap(), models)


def test_context_windows_are_compared_with_the_claims_of_the_makers():
    assert says("c002_overlap_windows", overlap(), FAMILIES) == "holds: 2 of 2"
    wrong_windows = overlap(benchmark_model=["M3 (128k)", "Q4 (128k)", ""])
    assert says("c002_overlap_windows", wrong_windows, FAMILIES) == "contradicted: 1 of 2"


def test_models_said_to_have_no_match_must_lack_a_score():
    assert says("c002_overlap_absent", overlap(), rows("model", ("qwen3-4b",))) == "holds: 1 of 1"
    assert says("c002_overlap_absent", overlap(), rows("model", ("qwen3-14b",))) == "contradicted: 0 of 1"


# --- profiles


def shapes(**changed):
    table = rows(
        "model display_name family r_squared first_step whole first_half second_half late early",
        ("ministral3-3b", "M3", "Ministral 3", 0.97, 0.3, 0.1, 0.05, 0.05, 0.02, 0.02),
        ("qwen3-4b", "Q4", "Qwen3", 0.95, 0.3, 0.25, 0.1, 0.12, 0.03, 0.02),
        ("mistral", "M", "Mistral", 0.9, 0.3, 0.05, 0.02, 0.02, 0.02, 0.02),
        ("llama3.2-3b", "L3", "Llama 3", 0.9, 0.3, 0.3, 0.1, 0.1, 0.02, 0.02),
    )
    return table.assign(**changed)


def test_near_linear_profile_must_be_as_linear_as_another_family():
    assert says("c002_t4_ministral_linear", shapes()) == "holds: R2 0.97 to 0.97"
    assert verdict("c002_t4_ministral_linear", shapes(r_squared=[0.94, 0.95, 0.9, 0.9])) == "not supported"


def test_flattest_family_is_below_all_others_and_the_steepest_has_the_largest_mean():
    assert says("c002_t4_ministral_flattest", shapes()) == "holds: 0.100 < 0.250"
    assert verdict("c002_t4_ministral_flattest", shapes(whole=[0.26, 0.25, 0.05, 0.3])) == "contradicted"
    assert says("c002_t4_llama32_steepest", shapes()) == "holds: 0.300"
    assert verdict("c002_t4_llama32_steepest", shapes(whole=[0.1, 0.31, 0.05, 0.3])) == "contradicted"


def test_claim_that_larger_models_are_flatter_is_checked_by_drop_and_profile():
    known = rows("model family parameters_nominal_b ap_drop", ("qwen3-4b", "Qwen3", 4, 0.18), ("b", "Qwen3", 8, 0.16))
    shapes = rows("model whole", ("qwen3-4b", 0.25), ("b", 0.2))
    assert says("c002_t4_qwen_scale", shapes, known) == "holds: 4B 0.180; 8B 0.160"
    assert verdict("c002_t4_qwen_scale", shapes, known.assign(ap_drop=[0.18, 0.19])) == "contradicted"
    assert verdict("c002_t4_qwen_scale", shapes.assign(whole=[0.25, 0.3]), known) == "contradicted"


def bump(*values, shown=True):
    columns = f"model display_name family {DECILES} rise_shown draw_up rounding recovery"
    return rows(
        columns,
        *[(model, model, "Llama 3", *values, shown, 0.1, 0.001, 0.1) for model in ("llama3.1-8b", "llama3.2-11b")],
    )


@pytest.mark.parametrize("claim", ["c002_t4_llama31_8b_rises", "c002_t4_llama32_11b_rises"])
def test_bump_claim_needs_fall_rise_at_its_place_and_lowest_end(claim):
    with_bump = (0.9, 0.8, 0.7, 0.6, 0.5, 0.51, 0.55, 0.6, 0.4, 0.3)
    assert says(claim, bump(*with_bump)) == "holds: draw-up 0.100"
    assert verdict(claim, bump(*with_bump, shown=False)) == "contradicted"
    assert verdict(claim, bump(*with_bump[:9], 0.45)) == "contradicted"  # the last value is not the lowest
    assert verdict(claim, bump(0.9, 0.8, 0.7, 0.4, 0.5, 0.51, 0.55, 0.6, 0.4, 0.3)) == "contradicted"  # an earlier dip
    assert verdict(claim, bump(0.9, 0.8, 0.7, 0.6, 0.5, 0.61, 0.55, 0.6, 0.4, 0.3)) == "contradicted"  # an earlier top


def test_nope_cause_is_contradicted_by_a_bump_without_such_layers():
    table = rows("model draw_up", ("llama3.2-11b", 0.02), ("llama3.1-8b", 0.03))
    plain = rows("model display_name attention layers", ("llama3.1-8b", "L", "full", 32))
    assert verdict("c002_t4_nope_cause", table, plain) == "contradicted"
    assert verdict("c002_t4_nope_cause", table.assign(draw_up=[0.04, 0.03]), plain) == "holds"
    assert verdict("c002_t4_nope_cause", table, plain.assign(attention="full, cross-attention")) == "holds"


def test_family_trait_is_not_supported_when_other_models_lack_it():
    origin = rows("fact subject printed", ("llama32_vision_text", "llama3.2-11b", "llama3.1-8b"))
    profiles = bump(*[0.5] * 10)
    other_model = profiles.iloc[:1].assign(model="llama3.2-1b", recovery=-0.1)

    def family(recovery):
        return pd.concat([profiles, other_model.assign(recovery=recovery)], ignore_index=True)

    assert says("c002_t4_llama_family", family(-0.1), origin) == "not supported: 0 of 1 others"
    assert says("c002_t4_llama_family", family(0.1), origin) == "holds: 1 of 1 others"


# --- RULER and Mistral


def test_generations_claim_compares_both_metrics():
    def table(drop, late):
        old = [
            ("llama3.1-8b", "ap_drop", drop),
            ("llama3.1-8b", "ap_last_20", late),
            ("llama3.1-8b", "ap_overall", "0.6"),
        ]
        new = [
            ("llama3.2-3b", "ap_drop", "0.23"),
            ("llama3.2-3b", "ap_last_20", "0.45"),
            ("llama3.2-3b", "ap_overall", "0.6"),
        ]
        return prints("model metric printed", *old, *new)

    assert says("c002_generations_lower", table("0.16", "0.47")) == "holds: -0.070, +0.020"
    # first minus last fifth: the early value differs by the differences of the drop and of the last fifth
    explanation = reason("c002_generations_lower", table("0.16", "0.47"))
    assert "of the difference of -0.070 in drop, the near end contributes -0.050" in explanation
    assert verdict("c002_generations_lower", table("0.24", "0.47")) == "contradicted"
    assert verdict("c002_generations_lower", table("0.16", "0.44")) == "contradicted"


def test_older_generation_must_keep_more_than_every_newer_model():
    table = rows(
        "model display_name ap_last_20",
        ("llama3.1-8b", "L", 0.5),
        ("llama3.2-1b", "A", 0.4),
        ("llama3.2-3b", "B", 0.45),
    )
    assert says("c002_generations_distance", table) == "holds: 2 of 2 below"
    assert says("c002_generations_distance", table.assign(ap_last_20=[0.5, 0.6, 0.45])) == "contradicted: 1 of 2 below"


def test_bias_ratio_is_recomputed_from_both_biases():
    table = prints(
        "model metric printed",
        ("mistral-v0.2-7b", "bias_strength", "0.0050"),
        ("ministral3-3b", "bias_strength", "0.0010"),
    )
    known = rows("model bias_half", ("mistral-v0.2-7b", 0.00005), ("ministral3-3b", 0.00005))
    assert verdict("c002_predecessor_bias", states(predecessor_bias_ratio="5×"), table, known) == "holds"
    assert verdict("c002_predecessor_bias", states(predecessor_bias_ratio="9×"), table, known) == "contradicted"
    coarse = known.assign(bias_half=[0.00005, 0.0005])  # a bias of .0005 to .0015 gives a ratio of 3.3 to 10.1
    assert (
        verdict("c002_predecessor_bias", states(predecessor_bias_ratio="9×"), table, coarse) == "holds after rounding"
    )


@pytest.mark.parametrize(("ratio", "expected"), [(0.9, "holds"), (1.2, "contradicted")])
def test_predecessor_bias_must_not_be_larger_over_the_window(ratio, expected):
    known = rows("model captured_context", ("mistral-v0.2-7b", 32768))
    assert verdict("c002_predecessor_window", rows("window_ratio", (0.8,), (ratio,)), known) == expected


def test_plane_share_is_the_mean_of_the_newer_models():
    old = ("mistral-v0.2-7b", "plane_var", "0.410")
    table = prints("model metric printed", old, ("a", "plane_var", "0.35"), ("b", "plane_var", "0.37"))
    assert says("c002_predecessor_plane", states(predecessor_ministral_plane_var="0.36"), table) == "holds: 0.360"
    assert verdict("c002_predecessor_plane", states(predecessor_ministral_plane_var="0.38"), table) == "contradicted"


def test_plasticity_is_compared_over_the_same_window():
    captured = rows("family ap_overall", ("Ministral 3", 0.66))

    def equal(own):
        return rows(
            "model family ap_overall mean_32k",
            ("mistral-v0.2-7b", "Mistral", 0.7, own),
            ("a", "Ministral 3", 0.6, 0.68),
        )

    assert verdict("c002_predecessor_plasticity", captured, equal(0.69)) == "holds"
    assert verdict("c002_predecessor_plasticity", captured, equal(0.65)) == "not supported"


@pytest.mark.parametrize(("window", "expected"), [("128K", "holds"), ("256K", "not supported")])
def test_kept_bias_is_claimed_for_the_captured_window_only(window, expected):
    assert verdict("c002_predecessor_achievement", states(predecessor_ministral_window=window), FAMILIES) == expected
