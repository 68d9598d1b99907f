"""Claims of the thesis itself, on hand-made frames that make each claim true or false."""

import pandas as pd
import pytest

from claims_002_cases import DECILES
from claims_cases import prints, reason, rows, says, verdict

SMALL, BIG = "llama3.1-8b", "llama3.2-11b"


# --- across models


def profile(*values):
    return rows(DECILES, values)


def test_the_first_decile_is_the_highest_and_the_last_the_lowest_beyond_rounding():
    inner = (0.7,) * 8
    assert says("thesis_plasticity_falls", profile(0.8, *inner, 0.6)) == "holds: 25 to 25 %"
    assert verdict("thesis_plasticity_falls", profile(0.7005, *inner, 0.6)) == "contradicted"
    assert verdict("thesis_plasticity_falls", profile(0.8, *inner, 0.6995)) == "contradicted"


def test_rising_profiles_are_counted_with_their_family():
    def table(rising, llama, count=13):
        lines = [
            (str(index), "Llama 3" if index < llama else "Qwen3", "rises" if index < rising else "falls", 0.01)
            for index in range(count)
        ]
        return rows("display_name family shape draw_up", *lines)

    assert says("thesis_profiles_that_rise", table(4, 3)) == "holds: 4"
    for other_table in (table(5, 3), table(4, 2), table(4, 3, 12)):
        assert verdict("thesis_profiles_that_rise", other_table) == "contradicted"


def test_crossing_profiles_must_change_order_between_the_ends():
    def table(near, far):
        return rows("family 0-8K 64K-128K", ("Ministral 3", near, far), ("Qwen3", 0.7, 0.5))

    assert verdict("thesis_profiles_cross", table(0.65, 0.6)) == "holds"
    assert verdict("thesis_profiles_cross", table(0.75, 0.6)) == "contradicted"
    assert verdict("thesis_profiles_cross", table(0.65, 0.45)) == "contradicted"


def test_bias_rank_differs_between_token_and_window():
    def table(window, last):
        return rows(
            "model display_name family bias_strength bias_window captured_context",
            ("mistral-v0.2-7b", "Mistral", "Mistral", 0.005, window, 32768),
            ("a", "A", "Ministral 3", 0.001, 130.0, 131072),
            ("b", "B", "Qwen3", last, 400.0, 131072),
        )

    assert says("thesis_bias_rank", table(160.0, 0.003)) == "holds: rank 1 by token, 2 by window"
    assert verdict("thesis_bias_rank", table(500.0, 0.003)) == "contradicted"
    assert verdict("thesis_bias_rank", table(160.0, 0.006)) == "contradicted"


# --- captures and the layer study


def heads(**changed):
    table = rows(
        "model display_name family heads sampled share scaling scaled_by stated captured beyond texts",
        ("a", "A", "Ministral 3", 600, 300, 50.0, "YaRN, 16×", "model", 262144, 131072, 0.0, "x/longbench-pro"),
        ("b", "B", "Qwen3", 1200, 300, 25.0, "YaRN, 4×", "capture", 32768, 131072, 75.0, "x/longbench-pro"),
        ("c", "C", "Llama 3", 900, 300, 33.0, "Llama 3, 8×", "model", 131072, 131072, 0.0, "x/longbench-pro"),
    )
    return table.assign(drawn=300).assign(**changed)


def test_sampled_heads_must_be_fewer_than_all_and_equal_per_kind():
    assert says("thesis_heads_sampled", heads()) == "holds: 25 to 50 %"
    assert verdict("thesis_heads_sampled", heads(drawn=[300, 300, 400])) == "contradicted"
    assert "239" in reason("thesis_heads_sampled", heads(sampled=[300, 239, 300]))
    assert verdict("thesis_heads_sampled", heads(heads=[300, 1200, 900])) == "contradicted"


def test_models_captured_beyond_their_window_are_counted():
    two_beyond = heads(captured=[131072, 131072, 524288], beyond=[0.0, 75.0, 75.0])
    assert says("thesis_captured_beyond", two_beyond) == "holds: 2 models"
    assert says("thesis_captured_beyond", heads()) == "contradicted: 1 models"
    other_windows = two_beyond.assign(stated=[262144, 65536, 131072])
    assert verdict("thesis_captured_beyond", other_windows) == "contradicted"


def test_flat_family_must_be_the_one_scaled_to_the_longest_context():
    def drops(qwen):
        return rows("family ap_drop", ("Ministral 3", 0.07), ("Qwen3", qwen), ("Llama 3", 0.2), ("Mistral", 0.04))

    assert says("thesis_flat_family_scaled", heads(), drops(0.17)) == "holds: 0.070"
    assert verdict("thesis_flat_family_scaled", heads(), drops(0.06)) == "contradicted"
    assert verdict("thesis_flat_family_scaled", heads(scaled_by="model"), drops(0.17)) == "contradicted"
    assert verdict("thesis_flat_family_scaled", heads(stated=[131072, 32768, 262144]), drops(0.17)) == "contradicted"


def test_shared_texts_must_all_come_from_the_benchmark():
    assert says("thesis_shared_texts", heads()) == "holds: 1 of 1"
    mixed_texts = heads(texts=["x/longbench-pro", "x/longbench-pro", "books"])
    assert says("thesis_shared_texts", mixed_texts) == "contradicted: 1 of 2"


def test_noise_is_larger_than_the_spread_of_the_scored_models():
    def twins(difference):
        return rows("quantity value", ("decile_mean", difference))

    # the standard deviation of .5, .6 and .7 is .1; the model without a score is ignored
    models = rows("in_source ap_overall", (True, 0.5), (True, 0.6), (True, 0.7), (False, 9.0))
    assert says("thesis_capture_noise", twins(0.11), models) == "holds: 0.110 against 0.100"
    assert verdict("thesis_capture_noise", twins(0.09), models) == "contradicted"
    assert "between models is no larger than between two" in reason("thesis_capture_noise", twins(0.11), models)
    assert "between models is larger than between two" in reason("thesis_capture_noise", twins(0.09), models)


def test_two_layer_lists_are_compared_for_common_layers():
    cells = rows("model", *[(SMALL,)] * 5, *[(BIG,)] * 4)

    def tests(shared):
        return rows("comparison estimate statistic p_value", ("layers in both fives", shared, 0.8, 0.4))

    assert says("thesis_nope_same_layers", tests(0), cells) == "holds: 0 of 5"
    assert says("thesis_nope_same_layers", tests(1), cells) == "contradicted: 1 of 5"


def test_layer_noise_must_exceed_profile_noise():
    pairs = rows("gap recovery", (0.05, 0.01), (0.09, 0.02))
    assert (
        says("thesis_nope_layer_noise", pairs, rows("quantity value", ("decile_mean", 0.03))) == "holds: 0.050 to 0.090"
    )
    assert verdict("thesis_nope_layer_noise", pairs, rows("quantity value", ("decile_mean", 0.06))) == "contradicted"


@pytest.mark.parametrize(
    ("drop", "low", "expected"),
    [(0.1, 0.08, "holds"), (0.1, -0.01, "contradicted"), (0.3, 0.2, "contradicted"), (0.01, 0.005, "contradicted")],
)
def test_fall_of_random_weights_is_compared_with_the_reported_range(drop, low, expected):
    columns = "model ap_drop ap_drop_low ap_drop_high captured_context heads"
    random_rows = rows(columns, ("random-llama", drop, low, drop + 0.02, 1024, 64))
    assert verdict("thesis_null_falls", random_rows, rows("ap_drop", (0.05,), (0.2,))) == expected


# --- rotary positions dropped


def test_baseline_difference_must_be_significant_after_correction():
    def table(p):
        values = [("RoPE", "imdb", 50.0, 80.0, p / 2, p), ("DroPE", "imdb", 1.0, 2.0, None, None)]
        return rows("positional task base_3 base_4 p_base p_base_holm", *values)

    assert says("thesis_knowledge_baselines", table(0.04)) == "holds: 1 of 1 differ"
    assert says("thesis_knowledge_baselines", table(0.06)) == "contradicted: 0 of 1 differ"


@pytest.mark.parametrize(("p", "expected"), [(0.04, "holds: 20.0%"), (0.06, "not supported: 20.0%")])
def test_accuracy_below_chance_is_tested_one_sided(p, expected):
    columns = "positional task p_below_chance base_right n base_low base_high chance base"
    table = rows(columns, ("DroPE", "imdb", p, 4, 20, 8, 42, 50, 20.0))
    assert says("thesis_imdb_below_chance", table) == expected
    assert ("guessing does not fall so low" in reason("thesis_imdb_below_chance", table)) == (p < 0.05)


def test_even_attention_must_lie_within_the_range_of_the_prompts():
    null = rows("bos tokens", (5.0, 20), (10.0, 10))

    def layer(rope, drope):
        return rows("layer bos_rope bos_drope", (1, rope, drope), (2, 99.0, 99.0))

    assert says("thesis_layer1_attends_evenly", layer(5.0, 10.0), null) == "holds: 5.0 and 10.0 %"
    assert verdict("thesis_layer1_attends_evenly", layer(4.9, 10.0), null) == "not supported"
    assert verdict("thesis_layer1_attends_evenly", layer(5.0, 10.1), null) == "not supported"


def test_spike_layer_must_write_five_times_its_neighbours():
    def table(second):
        lines = [
            ("BOS", model, layer, norm)
            for model in ("RoPE", "DroPE")
            for layer, norm in ((0, 1), (1, 100), (2, second))
        ]
        return rows("scope positional layer mlp_norm", *lines, ("all tokens", "RoPE", 0, 999))

    assert says("thesis_spike_written_in_layer1", table(19.0)) == "holds: 100 against 19.0"
    assert verdict("thesis_spike_written_in_layer1", table(21.0)) == "contradicted"


@pytest.mark.parametrize(
    ("hit", "p", "expected"), [(5, 0.01, "holds"), (4, 0.01, "not supported"), (5, 0.06, "not supported")]
)
def test_deleted_digits_in_runs_are_tested_against_chance(hit, p, expected):
    assert (
        verdict("thesis_digits_lost_in_runs", rows("in_run examples p_value chance_in_run", (hit, 5, p, 40.0)))
        == expected
    )


@pytest.mark.parametrize(("share", "expected"), [(81.0, "holds"), (79.0, "contradicted")])
def test_a_share_is_of_content_tokens(share, expected):
    table = [(1, "DroPE", "content tokens", share), (1, "DroPE", "BOS", 9.0), (1, "DroPE", "all tokens", 50.0)]
    assert verdict("thesis_share_is_of_content", rows("layer positional scope share", *table)) == expected


def test_repeating_pattern_must_hold_for_every_later_coordinate():
    def drawn(last):
        return rows("layer repeats", (7, False), (8, True), (9, True), (10, last))

    assert says("thesis_figure_g_repeats", drawn(True)) == "holds: 3 of 3"
    assert says("thesis_figure_g_repeats", drawn(False)) == "contradicted: 2 of 3"
    assert "layers 8 to 10" in reason("thesis_figure_g_repeats", drawn(True))


# --- scripts


def test_unknown_answers_are_counted_over_experimental_arms():
    def shares(high):
        return rows("task n_low n_high", ("cities", 10, high), ("passkey", 1, 9))

    def tasks(high):
        columns = "category base_n_low base_n_high disrupted_n_low disrupted_n_high"
        return rows(columns, ("parametric", 10, high, 10, high), ("contextual", 1, 9, 1, 9))

    assert says("thesis_answers_unknown", shares(12), shares(12), tasks(12)) == "holds: 4 of 4"
    assert says("thesis_answers_unknown", shares(12), shares(12), tasks(10)) == "contradicted: 2 of 4"


def test_sink_rates_of_the_first_run_must_differ_by_ten_points():
    shown = rows("layer rope", (0, 50.0), (1, 60.0))
    assert says("thesis_sinks_first_run", rows("layer value", (1, 0.6), (0, 0.61)), shown) == "holds: 60.5 %"
    assert verdict("thesis_sinks_first_run", rows("layer value", (1, 0.6), (0, 0.59)), shown) == "contradicted"


def test_stored_factor_must_differ_from_the_printed_one():
    columns = "experiment positional ratio_low ratio_high baseline_printed ablated_printed ratio_printed"
    printed = rows(
        columns, (4, "RoPE", 1200.0, 1300.0, "1.3", "1,600", "1,249×"), (5, "RoPE", 1.0, 2.0, "1", "2", "2×")
    )

    def stored(ablated):
        return rows("positional condition value", ("RoPE", "baseline", 2.0), ("RoPE", "bos_mlp_ablation", ablated))

    assert says("thesis_factor_not_stored", stored(1000.0), printed) == "holds: 500×"
    assert verdict("thesis_factor_not_stored", stored(2500.0), printed) == "contradicted"


def test_removal_must_reduce_massive_values_less_than_recalibration():
    def table(bare_query, bare_key=5.0, query=-30.0, key=-10.0):
        return rows(
            "recalibrated tensor change",
            ("no", "query", bare_query),
            ("no", "key", bare_key),
            ("yes", "query", query),
            ("yes", "key", key),
        )

    assert says("thesis_removal_alone", table(-5.0)) == "holds: -5.0 % and +5.0 %"
    for other_table in (table(-40.0), table(5.0), table(-5.0, -1.0), table(-5.0, key=1.0)):
        assert verdict("thesis_removal_alone", other_table) == "contradicted"


@pytest.mark.parametrize(("fewest", "expected"), [(1.1, "holds: 1.1 billion"), (0.9, "contradicted: 0.9 billion")])
def test_recalibration_counts_as_training_above_a_billion_tokens(fewest, expected):
    assert says("thesis_recalibration_is_training", rows("model tokens_billion", ("a", 9.0), ("b", fewest))) == expected


# --- training


def change(metric, ratio):
    return ("extensions", metric, 10.0, 10.0 * ratio, ratio, 1 / ratio)


@pytest.mark.parametrize(
    ("ratio", "expected"), [(1.09, "holds"), (1.11, "contradicted"), (0.91, "holds"), (0.89, "contradicted")]
)
def test_key_drift_is_kept_within_a_tenth(ratio, expected):
    table = rows("span metric before after ratio fold", change("key_drift", ratio), change("alpha_k", 0.07))
    assert verdict("thesis_key_drift_kept", table) == expected


def test_bias_over_the_window_must_never_fall_between_phases():
    def run(*values):
        phases = ("Pre-train", "Pre-train", "Anneal", "LC 4K-32K")
        table = [
            (index, phase, value, value - 1, value + 1)
            for index, (phase, value) in enumerate(zip(phases, values, strict=True))
        ]
        return rows("order phase bias_window bias_window_low bias_window_high", *table)

    table = rows("span metric before after ratio fold", change("bias_window", 1.5))
    assert verdict("thesis_bias_window_grows", run(10, 9, 20, 30), table) == "holds"
    assert verdict("thesis_bias_window_grows", run(10, 19, 20, 30), table) == "contradicted"
    assert verdict("thesis_bias_window_grows", run(10, 9, 20, 15), table) == "contradicted"


@pytest.mark.parametrize(
    ("token", "window", "expected"), [(-0.1, 0.1, "holds"), (0.1, 0.1, "contradicted"), (-0.1, -0.1, "contradicted")]
)
def test_sign_change_by_unit_needs_both_intervals(token, window, expected):
    name = "ap_drop against bias per {}, all checkpoints"
    table = [
        (name.format("token"), "pearson", -0.6, -0.9, token, 9),
        (name.format("window"), "pearson", 0.6, window, 0.9, 9),
    ]
    assert verdict("thesis_unit_turns_the_sign", rows("comparison test estimate ci_low ci_high n", *table)) == expected


def test_extensions_must_be_more_plastic_at_every_equal_position():
    def table(far):
        columns = "phase order at_0_1k_low at_0_1k_high at_1k_2k_low at_1k_2k_high at_2k_4k_low at_2k_4k_high"
        early_row = ("Anneal", 1, 0.5, 0.6, 0.5, 0.6, 0.5, 0.6)
        return rows(columns, early_row, ("LC 4K-32K", 2, 0.7, 0.8, 0.7, 0.8, far, 0.9))

    assert verdict("thesis_equal_positions_rise", table(0.65)) == "holds"
    assert verdict("thesis_equal_positions_rise", table(0.59)) == "contradicted"


@pytest.mark.parametrize(("drop", "expected"), [(0.119, "holds"), (0.121, "contradicted")])
def test_drop_over_equal_positions_grows_by_at_most_a_fifth(drop, expected):
    table = rows(
        "phase order drop ap_drop", ("Anneal", 1, 0.1, 0.06), ("LC 4K-32K", 2, drop, 0.2), ("LC 4K-32K", 3, None, 0.3)
    )
    assert verdict("thesis_equal_positions_drop", table) == expected
    explanation = reason("thesis_equal_positions_drop", table)
    assert "in LC 4K-32K, a factor" in explanation
    assert explanation.endswith("LC 32K-64K has no value at 0-1K")
    later_row = rows("phase order drop ap_drop", ("LC 32K-64K", 4, 0.11, 0.3))
    from_both = reason("thesis_equal_positions_drop", pd.concat([table, later_row]))
    assert "in LC 4K-32K and LC 32K-64K, a factor" in from_both
    assert "no value" not in from_both


def test_steeper_drop_must_exceed_every_other_beyond_rounding():
    def table(own):
        return rows(
            "model display_name drop_same drop_same_low drop_same_high",
            ("smollm3-3b", "S", own, own - 0.001, own + 0.001),
            ("a", "A", 0.150, 0.149, 0.151),
            ("b", "B", None, None, None),
        )

    assert verdict("thesis_steeper_than_qwen", table(0.16)) == "holds"
    assert verdict("thesis_steeper_than_qwen", table(0.1515)) == "contradicted"


def test_reasons_name_the_experiments_found():
    assert "Experiment 1" in reason(
        "thesis_texts_repeat",
        rows("experiment repeats", (1, 4), (2, 6)),
        rows("baseline_ppl", (1.5,)),
        prints("condition metric printed", ("baseline", "ppl", "9.0")),
    )
