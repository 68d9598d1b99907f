"""Claims on document 001, on hand-made frames that make each claim true or false."""

import pandas as pd
import pytest

from claims_002_cases import DECILES, word
from claims_cases import function, prints, reason, rows, say, says, states, verdict, verdicts

MINISTRAL = "ministral3-14b"


def captured(**drops):
    """Return captured models of several families, with their drops."""
    values = {
        "ministral3-3b": 0.05,
        "qwen3-0.6b": 0.19, "qwen3-4b": 0.18, "qwen3-14b": 0.16,
        "llama3.2-1b": 0.23, "llama3.2-3b": 0.22,
        "llama3.1-8b": 0.17, "mistral-v0.2-7b": 0.10,
    }  # fmt: skip
    families = {"min": "Ministral 3", "qwe": "Qwen3", "lla": "Llama 3", "mis": "Mistral"}
    return rows(
        "model display_name family ap_drop",
        *[(model, model, families[model[:3]], drop) for model, drop in {**values, **drops}.items()],
    )


def deciles(rising=()):
    """Return falling profiles of five models; for those in `rising`, other columns state a rise beyond rounding."""
    names = ("ministral3-3b", "qwen3-4b", "llama3.2-1b", "llama3.2-3b", "llama3.1-8b")
    falling = tuple(0.9 - 0.05 * index for index in range(10))
    families = {"min": "Ministral 3", "qwe": "Qwen3", "lla": "Llama 3"}
    table = [
        (name, name, families[name[:3]], 100_000, *falling, name in rising, 0.1 * (name in rising), 0.001)
        for name in names
    ]
    return rows(f"model display_name family captured_context {DECILES} rise_shown draw_up rounding", *table)


# --- the three analyses


def test_number_of_analyses_is_counted_in_the_overview():
    titles = rows("title", ("one",), ("two",), ("three",))
    stated = states(analyses_count=word("Three"))
    assert says("c001_analyses_count", stated, titles) == "holds: 3"
    assert says("c001_analyses_count", stated, titles.iloc[1:]) == "contradicted: 2"


def axis(first, second):
    """Return three frames: key and query correlations with the drift axis of model a, those of b, and both models."""
    mechanistic = rows("model metric value", ("a", "r_k_a", first[0]), ("a", "r_q_a", first[1]))
    ruler = rows("model metric value", ("b", "r_k_a", second[0]), ("b", "r_q_a", second[1]))
    models = rows("model display_name family", ("a", "A", "Qwen3"), ("b", "B", "Llama 3"))
    return mechanistic, ruler, models


def test_drift_axis_means_are_compared_over_all_models_or_a_family():
    stated = states(pca_rotation_r_k="0.87", pca_rotation_r_q="0.74")
    answers = says("c001_drift_axis_means", stated, *axis((0.9, 0.8), (0.84, 0.68)))
    assert answers == "holds: 0.87 and 0.74"
    assert verdict("c001_drift_axis_means", stated, *axis((0.87, 0.74), (0.5, 0.1))) == "holds"
    assert verdict("c001_drift_axis_means", stated, *axis((0.87, 0.5), (0.5, 0.74))) == "not supported"


def test_claim_that_keys_follow_position_more_is_checked_in_every_model():
    assert says("c001_keys_stronger", *axis((0.9, 0.8), (0.84, 0.68))) == "holds: 2 of 2"
    assert says("c001_keys_stronger", *axis((0.9, 0.8), (0.68, 0.84))) == "contradicted: 1 of 2"
    assert "queries follow" not in reason("c001_keys_stronger", *axis((0.9, 0.8), (0.84, 0.68)))


def test_plasticity_limits_are_zero_for_position_and_one_for_content():
    right_statements = states(complementary_limit_position="0", complementary_limit_content="1")
    assert say("c001_plasticity_limits", right_statements) == {"position": "holds: 0.0", "content": "holds: 1.0"}
    wrong_statements = states(complementary_limit_position="1", complementary_limit_content="0")
    assert set(verdicts("c001_plasticity_limits", wrong_statements).values()) == {"contradicted"}


def test_gap_claim_is_contradicted_by_a_profile_that_does_not_fall():
    table = rows("d0 d9", (0.8, 0.6), (0.5, 0.4))
    assert says("c001_gap_profile", table) == "holds: 20 to 25 %"
    assert verdict("c001_gap_profile", table.assign(d9=[0.6, 0.5])) == "contradicted"


def test_numbers_that_the_second_study_states_too_are_compared_one_by_one():
    from analysis.claims.s001.restated import RESTATED

    restated = states(**dict.fromkeys(RESTATED, "0.17"))
    second_study = states(**{second: "0.17" for second, _ in RESTATED.values()})
    assert set(verdicts("c001_stated_again", restated, second_study).values()) == {"holds"}
    off = states(**{**dict.fromkeys(RESTATED, "0.17"), "decomposition_excess": "0.27"})
    judged = verdicts("c001_stated_again", off, second_study)
    assert [key for key, answer in judged.items() if answer != "holds"] == ["decomposition_excess"]


def test_longbench_lengths_are_those_with_a_bin():
    lengths = rows(
        "model tokens plasticity",
        (MINISTRAL, 4096, None),
        (MINISTRAL, 8192, 0.5),
        (MINISTRAL, 131072, 0.4),
        ("qwen3-4b", 262144, 0.3),
    )
    stated = states(longbench_ministral3_14b_first_length="8K", longbench_ministral3_14b_last_length="128K")
    assert set(verdicts("c001_longbench_lengths", stated, lengths).values()) == {"holds"}
    wrong_statements = states(longbench_ministral3_14b_first_length="4K", longbench_ministral3_14b_last_length="256K")
    assert set(verdicts("c001_longbench_lengths", wrong_statements, lengths).values()) == {"contradicted"}


# --- models


def test_models_and_families_of_the_section_are_counted():
    # the section does not name llama3.1-8b and mistral
    right_statements = states(profile_models="6", profile_families="3")
    assert say("c001_profile_counts", right_statements, captured()) == {"models": "holds: 6", "families": "holds: 3"}
    wrong_statements = states(profile_models="8", profile_families="4")
    assert set(verdicts("c001_profile_counts", wrong_statements, captured()).values()) == {"contradicted"}


def test_monotone_decline_is_judged_beyond_rounding():
    stated = states(profile_shape=word("monotonic"))
    assert says("c001_profile_monotone", stated, deciles()) == "holds: 4 of 4"
    assert says("c001_profile_monotone", stated, deciles(("qwen3-4b",))) == "contradicted: 3 of 4"
    assert verdict("c001_profile_monotone", stated, deciles(("llama3.1-8b",))) == "holds"


def test_llama_drops_are_checked_against_the_stated_range():
    stated = states(profile_llama_drop="0.22–0.23")
    assert says("c001_profile_llama_drops", stated, captured()) == "holds: 0.220 to 0.230"
    assert verdict("c001_profile_llama_drops", stated, captured(**{"llama3.2-1b": 0.25})) == "contradicted"
    assert verdict("c001_profile_llama_drops", stated, captured(**{"llama3.2-3b": 0.20})) == "contradicted"


def test_scale_claim_needs_intermediate_sizes_to_agree():
    assert says("c001_profile_scale_helps", captured()) == "holds: 0.160 < 0.190"
    assert verdict("c001_profile_scale_helps", captured(**{"qwen3-4b": 0.2})) == "not supported"
    assert verdict("c001_profile_scale_helps", captured(**{"qwen3-14b": 0.2})) == "contradicted"
    assert "do not" not in reason("c001_profile_scale_helps", captured())


def test_steepest_two_models_must_exceed_all_others():
    assert says("c001_profile_llama_steepest", captured()) == "holds: 0.220 > 0.190"
    assert verdict("c001_profile_llama_steepest", captured(**{"qwen3-4b": 0.225})) == "contradicted"


def test_converged_heads_must_average_the_stated_value():
    stated = states(profile_llama_converged="0.46", profile_llama_converged_from="100K")
    low = deciles().assign(d8=0.46, d9=0.45)
    assert says("c001_profile_converged", stated, low) == "holds: 2 of 2 means"
    high = low.assign(d8=[0.46, 0.46, 0.46, 0.50, 0.46])
    assert says("c001_profile_converged", stated, high) == "contradicted: 1 of 2 means"
    assert "it fails for" not in reason("c001_profile_converged", stated, low)
    seventh = low.assign(d7=0.5)  # the decile from 91,750 tokens on does not start beyond 100K
    assert verdict("c001_profile_converged", stated, seventh) == "holds"
    sooner = states(profile_llama_converged="0.46", profile_llama_converged_from="90K")
    assert verdict("c001_profile_converged", sooner, seventh) == "contradicted"


def matched(**scores):
    values = {"m": ("Ministral 3", 60.0), "n": ("Ministral 3", 50.0), "q": ("Qwen3", 40.0), "l": ("Llama 3", 30.0)}
    table = [(name, name, family, scores.get(name, score), True) for name, (family, score) in values.items()]
    return rows("model display_name family lbp in_source", *table)


def test_family_order_is_compared_with_the_scores():
    means = rows("scope family ap_drop", ("source", "Qwen3", 0.17), ("source", "Ministral 3", 0.05), ("all", "x", 0))
    stated = states(profile_family_order=word("Ministral < Qwen < Llama"))
    assert verdict("c001_family_order", stated, matched(), means) == "holds"
    assert verdict("c001_family_order", stated, matched(n=35.0), means) == "contradicted"
    assert "below" in reason("c001_family_order", stated, matched(n=35.0), means)


def test_a_second_factor_needs_every_corrected_test():
    def tests(*p):
        table = [
            ("pearson", f"ap_drop, mode {index}", 0.8, adjusted / 2, adjusted, 7) for index, adjusted in enumerate(p)
        ]
        spearman = ("spearman", "ap_drop, mode 0", 0.1, 0.9, 0.9, 7)
        return rows("test comparison estimate p_value p_adjusted n", *table, spearman)

    assert verdict("c001_second_factor", tests(0.01, 0.04)) == "holds"
    assert verdict("c001_second_factor", tests(0.01, 0.06)) == "not supported"


def test_recovery_deciles_are_checked_to_exceed_the_dip():
    landmarks = prints("landmark printed", ("narrative_llama_recovery", "60K–100K"))
    # context of 100,000 tokens: the last four deciles have their middles in 60-100K
    with_higher_dip = deciles().iloc[[4]].assign(d4=0.3)
    assert says("c001_heads_recovery", landmarks, with_higher_dip) == "holds: 4 of 4"
    assert says("c001_heads_recovery", landmarks, with_higher_dip.assign(d9=0.2)) == "contradicted: 3 of 4"


# --- benchmarks


def test_matched_models_are_counted_in_the_table():
    keys = ("longbench_models", "profile_matched", "open_gaps_matched")
    table = rows("model", ("a",), ("a",), ("b",))
    assert set(say("c001_longbench_models", states(**dict.fromkeys(keys, "2")), table).values()) == {"holds: 2"}
    assert set(verdicts("c001_longbench_models", states(**dict.fromkeys(keys, "3")), table).values()) == {
        "contradicted"
    }


def test_claim_of_the_only_scored_model_needs_exactly_one():
    stated = states(longbench_only_model=word("only"))
    lengths = [(model, length, "thinking") for model in ("a", "b") for length in ("8k", "128k", "overall")]
    table = rows("model length mode", *lengths)
    assert says("c001_longbench_only", stated, table[table["model"] == "a"]) == "holds: 1 models"
    assert says("c001_longbench_only", stated, table) == "contradicted: 2 models"


def test_declines_are_recomputed_from_their_end_values():
    table = prints(
        "model length metric printed",
        (MINISTRAL, "8k", "plasticity", "0.80"),
        (MINISTRAL, "128k", "plasticity", "0.60"),
        (MINISTRAL, "8k", "lbp", "50.0"),
        (MINISTRAL, "128k", "lbp", "40.0"),
    )
    keys = [f"longbench_ministral3_14b_{metric}_decline" for metric in ("plasticity", "lbp")]
    correct = states(**dict(zip(keys, ("25%", "20%"), strict=True)))
    assert say("c001_longbench_declines", correct, table) == {"plasticity": "holds: 25.0", "lbp": "holds: 20.0"}
    incorrect = states(**dict(zip(keys, ("33%", "25%"), strict=True)))  # divided by the later value
    assert set(verdicts("c001_longbench_declines", incorrect, table).values()) == {"contradicted"}


def test_shallower_plasticity_decline_is_compared_with_both_modes():
    def lengths(thinking, plain):
        table = []
        for mode, score in (("thinking", thinking), ("nonthinking", plain)):
            table += [(MINISTRAL, mode, "8k", 100.0, 1.0), (MINISTRAL, mode, "128k", score, 0.9)]
        return rows("model mode length lbp plasticity", *table)

    assert says("c001_longbench_shallower", lengths(80.0, 70.0)) == "holds: 10.0 against 20.0 and 30.0 %"
    assert verdict("c001_longbench_shallower", lengths(80.0, 95.0)) == "not supported"
    assert verdict("c001_longbench_shallower", lengths(95.0, 80.0)) == "not supported"


def test_places_are_compared_with_those_of_the_second_study():
    pairs = {
        "ruler_llama31_8b_dip_place": "ruler_llama_dip_place",
        "ruler_llama31_8b_recovery_place": "ruler_llama_recovery_place",
        "ruler_lengths": "ruler_lengths",
        "ruler_llama31_8b_context": "t8_llama31_8b_coverage",
        "ruler_mistral_window": "h7_window",
    }
    places = states(**dict.fromkeys(pairs.values(), "40–50%"))
    assert set(verdicts("c001_restated_places", states(**dict.fromkeys(pairs, "40–50%")), places).values()) == {"holds"}
    judged = verdicts("c001_restated_places", states(**dict.fromkeys(pairs, "50–60%")), places)
    assert set(judged.values()) == {"contradicted"}
    assert set(judged) == set(pairs)


# --- RULER


def test_ruler_models_lengths_and_rows_are_counted():
    frames = (rows("model", ("a",), ("b",)), rows("length", ("4k",), ("8k",), ("8k",)), rows("model", ("a",)))
    right_statements = states(ruler_models="2", ruler_bins="2", ruler_all_models="1")
    assert set(verdicts("c001_ruler_counts", right_statements, *frames).values()) == {"holds"}
    wrong_statements = states(ruler_models="3", ruler_bins="3", ruler_all_models="3")
    assert set(verdicts("c001_ruler_counts", wrong_statements, *frames).values()) == {"contradicted"}


@pytest.mark.parametrize(("drop", "expected"), [(0.17, "holds"), (0.15, "contradicted"), (0.21, "contradicted")])
def test_drop_is_checked_against_the_range_of_another_family(drop, expected):
    stated = states(profile_qwen_drop="0.16–0.19")
    table = captured(**{"llama3.1-8b": drop})
    assert verdict("c001_ruler_qwen_range", stated, table) == expected
    place = {0.17: "in", 0.15: "below", 0.21: "above"}[drop]
    assert f"lies {place} the range as stated" in reason("c001_ruler_qwen_range", stated, table)


def test_degradation_claim_needs_steep_profiles_to_lose_more_in_every_mode():
    def declines(flat, inside=(0.1, 0.2, 0.3)):
        values = [("thinking", "Llama 3", 0.25, 0.2), ("thinking", "Ministral 3", 0.05, 0.1)]
        values += [("thinking", "Qwen3", drop, 0.3 + drop / 10) for drop in inside]
        values += [("plain", "Qwen3", 0.2, 0.3), ("plain", "Ministral 3", 0.05, flat)]
        return rows("mode family ap_drop decline in_source", *[(*value, True) for value in values])

    assert verdict("c001_ruler_degradation", declines(0.2)) == "holds"
    assert verdict("c001_ruler_degradation", declines(0.2, inside=())) == "not supported"
    assert verdict("c001_ruler_degradation", declines(0.4)) == "contradicted"
    against = declines(0.2)
    qwen = (against["mode"] == "thinking") & (against["family"] == "Qwen3")
    against.loc[qwen, "decline"] = [0.5, 0.4, 0.3]
    assert verdict("c001_ruler_degradation", against) == "not supported"


# --- training of SmolLM3

LAST, ANNEALED, FIRST = "lc-32k-to-64k-step-20000", "stage3-step-4720000", "stage1-step-40000"


def trajectory(**changed):
    table = rows(
        "checkpoint phase order r_k_a ap_drop ap_first_20 bias_window first_fifth_ends",
        (FIRST, "Pre-train", 1, 0.5, 0.04, 0.70, 10.0, 800),
        ("stage1-step-2", "Pre-train", 2, 0.6, 0.06, 0.60, 20.0, 800),
        (ANNEALED, "Anneal", 3, 0.7, 0.08, 0.50, 30.0, 800),
        ("lc-1", "LC 4K-32K", 4, 0.91, 0.10, 0.60, 40.0, 6400),
        (LAST, "LC 32K-64K", 5, 0.93, 0.20, 0.65, 50.0, 12800),
    )
    return table.assign(**changed)


def test_correlation_must_hold_at_every_extension_checkpoint():
    stated = states(pca_r_k_kept=word(">0.90", 0.9))
    assert says("c001_correlation_kept", stated, trajectory()) == "holds: 0.910 to 0.930"
    low = trajectory(r_k_a=[0.5, 0.6, 0.7, 0.89, 0.93])
    assert verdict("c001_correlation_kept", stated, low) == "contradicted"


def test_short_window_drop_is_the_mean_before_the_extensions():
    assert verdict("c001_short_window_drop", states(training_drop_short="0.06"), trajectory()) == "holds"
    assert verdict("c001_short_window_drop", states(training_drop_short="0.08"), trajectory()) == "holds after rounding"
    assert verdict("c001_short_window_drop", states(training_drop_short="0.10"), trajectory()) == "contradicted"


@pytest.mark.parametrize(("after", "expected"), [(0.65, "holds"), (0.59, "contradicted"), (0.71, "contradicted")])
def test_early_level_is_compared_with_the_first_stage(after, expected):
    table = trajectory(ap_first_20=[0.70, 0.60, 0.50, 0.60, after])
    columns = "checkpoint phase at_0_1k at_1k_2k at_2k_4k"
    before = [(FIRST, "Pre-train", 0.7, 0.7, 0.7), (ANNEALED, "Anneal", 0.6, 0.6, 0.6)]
    positions = rows(columns, *before, (LAST, "LC 32K-64K", None, 0.65, 0.65))
    assert verdict("c001_first_fifth_early_level", table, positions) == expected
    above = rows(columns, *before, (LAST, "LC 32K-64K", None, 0.75, 0.65))
    unlike = "not supported" if expected == "holds" else expected
    assert verdict("c001_first_fifth_early_level", table, above) == unlike


def test_bias_near_zero_must_be_below_one_logit():
    stated = states(training_bias_left=word("≈0", 0))
    models = rows("model head_dim", ("smollm3-3b", 100))
    assert verdict("c001_bias_near_zero", stated, trajectory(), models) == "contradicted"  # 50 / 10 = 5
    biases = trajectory(bias_window=[1.0, 2.0, 3.0, 4.0, 9.0])
    assert verdict("c001_bias_near_zero", stated, biases, models) == "holds"  # .9
    assert verdict("c001_bias_near_zero", stated, biases, models.assign(head_dim=64)) == "contradicted"  # 9 / 8


def test_residual_claim_needs_a_reduced_bias():
    bins = rows("extension start gap", (True, 8192, 0.01), (True, 100, 0.5), (False, 9000, 0.9), (True, 9000, None))

    def changes(after):
        return rows("span metric before after ratio", ("extensions", "bias_window", 10.0, after, after / 10))

    # a bias that does not fall says nothing about content
    assert {verdict("c001_residual_is_content", changes(after), bins) for after in (15.0, 5.0)} == {"not testable"}
    assert "at most 0.010 (1 bins)" in reason("c001_residual_is_content", changes(15.0), bins)
    assert "not removed" not in reason("c001_residual_is_content", changes(5.0), bins)


def comparison(**changed):
    table = rows(
        "model family drop_same drop_same_low parameters_nominal_b captured_context claimed_context",
        ("smollm3-3b", "SmolLM3", 0.161, 0.160, 3.0, 65536, 65536),
        ("qwen3-4b", "Qwen3", 0.128, 0.127, 4.0, 131072, 32768),
        ("qwen3-8b", "Qwen3", 0.117, 0.116, 8.0, 131072, 32768),
        ("ministral3-3b", "Ministral 3", None, None, 3.0, 131072, 262144),
    )
    return table.assign(**changed)


def test_decomposition_claim_compares_drops_over_the_same_window():
    assert says("c001_decomposition_orders_models", comparison()) == "not supported: 0.161 against 0.117 to 0.128"
    low = comparison(drop_same_low=[0.12, 0.127, 0.116, None])
    assert verdict("c001_decomposition_orders_models", low) == "holds"
    assert "rank 1 of 3" in reason("c001_decomposition_orders_models", comparison())


def test_similar_scale_is_within_a_factor_of_two():
    stated = states(decomposition_size=word("similar scale"))
    assert says("c001_similar_scale", stated, comparison()) == "contradicted: 4 to 8 billion"
    near = comparison(parameters_nominal_b=[4.0, 2.0, 8.0, 3.0])
    assert verdict("c001_similar_scale", stated, near) == "holds"
    assert (
        verdict("c001_similar_scale", stated, comparison(parameters_nominal_b=[4.0, 1.9, 8.0, 3.0])) == "contradicted"
    )


def test_a_longer_context_is_judged_by_the_captured_window():
    stated = states(decomposition_longer="4×")
    threefold = states(cross_longer="3×")
    assert says("c001_ministral_longer", stated, threefold, comparison()) == "not supported: 2 times"
    assert "source 002 says 3× of the same pair" in reason("c001_ministral_longer", stated, threefold, comparison())
    longer = comparison(claimed_context=[65536, 131072, 131072, 196608])
    assert "the makers state are in a ratio of 3, but" in reason("c001_ministral_longer", stated, threefold, longer)
    four = comparison(captured_context=[65536, 131072, 131072, 262144])
    assert says("c001_ministral_longer", stated, threefold, four) == "holds: 4 times"


@pytest.mark.parametrize(
    ("r", "p", "expected"), [(0.9, 0.04, "holds"), (0.9, 0.05, "not supported"), (-0.9, 0.04, "not supported")]
)
def test_correlation_of_two_series_is_judged_by_their_changes(r, p, expected):
    tests = rows(
        "comparison test estimate p_value n",
        ("ministral3-14b, thinking", "pearson_levels", 0.99, 0.001, 6),
        ("ministral3-14b, thinking", "pearson_first_differences", r, p, 5),
        ("ministral3-14b, nonthinking", "pearson_first_differences", -0.5, 0.9, 5),
    )
    stated = states(longbench_ministral3_14b_correlated=("tracks", None))
    assert says("c001_longbench_correlates", stated, tests) == f"{expected}: r of changes {r:.2f}"


def test_alpha_change_is_the_fall_as_a_share_of_its_start():
    changes = rows(
        "span metric ratio ratio_low ratio_high before after",
        ("extensions", "alpha_k", 0.07, 0.069, 0.071, 1e-3, 7e-5),
        ("extensions", "key_drift", 1.1, 1.0, 1.2, 4.1, 4.6),
    )
    assert verdict("c001_alpha_collapses", states(pca_alpha_k_change="93%"), changes) == "holds"
    assert verdict("c001_alpha_collapses", states(pca_alpha_k_change="90%"), changes) == "contradicted"
    # a change is computed from two values
    assert function("c001_alpha_collapses")(states(pca_alpha_k_change="93%"), changes).n == 2


# --- pictures


@pytest.mark.parametrize("claim", ["c001_visual_same", "c001_heads_same", "c001_weights_same"])
def test_values_read_from_figures_are_compared_between_two_documents(claim):
    from analysis.claims.s001 import visual as s001_visual

    constant_by_claim = {"c001_visual_same": "MAPS", "c001_heads_same": "BUNDLES", "c001_weights_same": "WEIGHTS"}
    names = getattr(s001_visual, constant_by_claim[claim])

    def table(text):
        lines = [(key, text, "", "", "what", None) for key in names] + [
            (name, "33–70", "", "", "what", None) for name in names.values()
        ]
        return prints("landmark printed model family quantity as_number", *lines)

    assert set(verdicts(claim, table("33–70")).values()) == {"holds"}
    assert set(verdicts(claim, table("33–80")).values()) == {"contradicted"}
    typed = table("33–70").assign(as_number=lambda frame: pd.Series([1.0] + [float("nan")] * (len(frame) - 1)))
    assert sorted(verdicts(claim, typed).values()) == ["contradicted"] + ["holds"] * (len(names) - 1)
