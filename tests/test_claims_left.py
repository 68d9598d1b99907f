"""Claims of all documents on repeated values, counts and open questions, each made true and false."""

import inspect

import pytest

from claims_cases import function, prints, reason, rows, say, says, states, verdict, verdicts

# --- document 000


def counts(**other):
    table = {"llama31_recovering": "29", "llama31_layers": "32", "llama31_monotone": "3"}
    table |= {"llama32_recovering": "26", "llama32_layers": "32"}
    return states(**{f"finding_2_{key}": text for key, text in {**table, **other}.items()})


def test_layer_counts_are_checked_for_joint_possibility():
    assert verdict("c000_f2_counts", counts()) == "not testable"
    assert "are possible together (29 + 3 of 32)" in reason("c000_f2_counts", counts())
    assert verdict("c000_f2_counts", counts(llama31_monotone="4")) == "contradicted"
    assert "are not possible together" in reason("c000_f2_counts", counts(llama31_monotone="4"))


@pytest.mark.parametrize(("p", "expected"), [(0.051, "holds: p >= 0.05"), (0.05, "not supported: p >= 0.05")])
def test_no_effect_needs_an_interval(p, expected):
    bounds = rows(
        "comparison statistic_at_most p_at_least difference n_first n_second",
        ("after, before, far", 1.5, p, 0.0, 0, 0),
        ("adjacent - far", 1.0, 0.3, -0.005, 14, 18),
    )
    models = prints("model metric printed", ("llama3.2-11b", "recovery", "0.020"))
    assert verdict("c000_f2_no_effect", bounds, models) == "not supported"
    actual = reason("c000_f2_no_effect", bounds, models)
    assert "differ by 0.005, 25 % of the model's recovery" in actual
    with_interval = bounds.assign(ci_low=-0.01, ci_high=0.01)
    assert says("c000_f2_no_effect", with_interval, models) == expected
    assert function("c000_f2_no_effect")(bounds, models).n == 32


def test_range_of_a_layer_is_not_testable_but_compared_with_models():
    deciles = "model display_name " + " ".join(f"d{number}" for number in range(10))
    profile = rows(
        deciles,
        ("llama3.2-11b", "Eleven", *[0.5] * 9, 0.2),
        ("flat", "Flat", *[0.5] * 9, 0.4119),  # .0881 is allowed: half a unit of rounding, and one unit more
        ("steep", "Steep", *[0.5] * 9, 0.4113),
    )
    stated = states(extremes_range="0.087", extremes_range_layer="16")
    assert verdict("c000_extremes_range", stated, profile) == "not testable"
    actual = reason("c000_extremes_range", stated, profile)
    assert actual.startswith("The deciles of layer 16 are not printed")
    assert "0.087 would be 29 % of the range of the whole model (0.300)" in actual
    assert actual.endswith("as much as the mean profile of Flat ranges.")


def test_routing_by_pure_layers_is_left_untestable():
    extremes = rows("layer metric value", (16, "ap_overall", 0.841), (17, "ap_overall", 0.832), (16, "drop", 0.1))
    actual = reason("c000_extremes_pure", extremes, states(extremes_outlier_layers=("16, 17", None)))
    assert actual.startswith("Plasticities of 0.841 and 0.832 let position influence")


def recovered(third=-0.001):
    return rows(
        "display_name recovery_low text_layers", ("L8", 0.01, 32), ("L11", 0.02, 32), ("L3", third, 28), ("Q", -0.1, 36)
    )


def test_positive_depth_is_that_of_the_recovering_models():
    stated = states(finding_3_positive_depth="32")
    assert says("c000_f3_positive_depth", stated, recovered()) == "holds: 32"
    assert says("c000_f3_positive_depth", stated, recovered(0.001)) == "contradicted: 28 and 32"
    assert says("c000_f3_positive_depth", stated, recovered(0.0)) == "holds: 32"
    assert says("c000_f3_positive_depth", states(finding_3_positive_depth="23"), recovered()) == "contradicted: 32"


@pytest.mark.parametrize(
    ("text", "third", "expected"),
    [("32+", -0.001, "holds: 32"), ("28+", -0.001, "contradicted: 32"), ("32+", 0.001, "contradicted: 28")],
)
def test_pattern_depth_is_that_of_the_shallowest_recovering_model(text, third, expected):
    stated = states(heads_layers_from=text, h8_layers_from=text, h8_layers_least=text)
    assert says("c001_heads_depth", stated, recovered(third)) == expected
    assert say("c002_h8_depth", stated, recovered(third)) == dict.fromkeys(
        ("h8_layers_from", "h8_layers_least"), expected
    )


# --- document 001


@pytest.mark.parametrize(("text", "expected"), [("1", "holds: 1"), ("2", "contradicted: 1")])
def test_models_without_scores_by_length_are_counted(text, expected):
    cells = [("a", "lbp", ""), ("a", "lbp", ""), ("b", "lbp", "30"), ("c", "other", "")]
    table = prints("model metric printed", *cells)
    assert says("c001_gap_missing", states(open_gaps_missing=text), table) == expected


NARRATIVE = inspect.unwrap(function("c001_training_repeated")).__globals__


def narrative(**other):
    """Return frames in which the narrative states every value of the table, except for the statements in `other`."""
    cells: dict[tuple[str, str], str] = {}
    spans: dict[tuple[str, str], float] = {}
    windows = {}
    stated = {}
    for index, (statement, (checkpoint, metric)) in enumerate(NARRATIVE["REPEATED"].items()):
        cells.setdefault((checkpoint, metric), f"0.{100 + index}")
        stated[statement] = cells[checkpoint, metric]
    for index, (statement, (span, metric)) in enumerate(NARRATIVE["FACTORS"].items()):
        spans.setdefault((span, metric), 2.0 + index)
        stated[statement] = f"{spans[span, metric]:.1f}"
    for index, (statement, checkpoint) in enumerate(NARRATIVE["CONTEXTS"].items()):
        windows[checkpoint] = 4096 * (1 + index)
        stated[statement] = f"{4 * (1 + index)}K"
    changes = [(*key, value, value - 0.04, value + 0.04, 1.0, value) for key, value in spans.items()]
    return (
        states(**{**stated, **other}),
        prints("checkpoint metric printed", *[(*key, text) for key, text in cells.items()]),
        rows("span metric fold fold_low fold_high before after", *changes),
        rows("checkpoint captured_context", *windows.items()),
    )


def test_narrative_numbers_are_compared_with_the_checkpoint_table():
    keys = [*NARRATIVE["REPEATED"], *NARRATIVE["FACTORS"], *NARRATIVE["CONTEXTS"]]
    judged = verdicts("c001_training_repeated", *narrative())
    assert list(judged) == keys
    assert set(judged.values()) == {"holds"}
    for key in keys:
        misstated = verdicts("c001_training_repeated", *narrative(**{key: "77K"}))
        assert [name for name, answer in misstated.items() if answer != "holds"] == [key]


# --- document 003


def troughs(**ends):
    """Return layers of the trough and of the degraded range, for both models."""
    places = {"trough": (8, 12), "degraded": (8, 15), **ends}
    table = [
        (model, "question", name, f"layer_{end}", str(layer))
        for model in ("llama3.2-1b", "llama3.2-3b")
        for name, layers in places.items()
        for end, layer in zip(("low", "high"), layers, strict=True)
    ]
    return prints("model anchoring landmark metric printed", *table)


@pytest.mark.parametrize(
    ("trough", "expected"),
    [((8, 12), "holds"), ((8, 15), "holds"), ((7, 12), "contradicted"), ((8, 16), "contradicted")],
)
def test_degraded_layers_contain_the_trough(trough, expected):
    answers = say("c003_trough_places", troughs(trough=trough))
    assert set(answers.values()) == {f"{expected}: {trough[0]} to {trough[1]}"}
    distances = f"they begin {abs(8 - trough[0])} and end {abs(15 - trough[1])} layers apart"
    assert distances in function("c003_trough_places")(troughs(trough=trough))[0].reason


# --- document 004


def tasks(low, high, share=60.0, tested=True):
    columns = "positional condition task share chance lost n_low n_high items printed_text"
    shares = [
        ("RoPE", condition, task, value, 50.0, lost, fewest, 20, 20, f"{value:.0f}%")
        for task in ("cities", "sports")
        for condition, value, lost, fewest in (("baseline", 60.0, 0.0, 20), ("layer1_attn", share, -3.0, 18))
    ]
    tests = [
        (f"RoPE, {task}, layer1_attn against baseline", low / 100, high / 100, 0.3, 0.6, 40)
        for task in ("cities", "sports")
        if tested
    ]
    return rows(columns, *shares), rows("comparison ci_low ci_high p_value p_adjusted n", *tests)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-10.0, 10.0, "holds"), (-10.1, 5.0, "not supported"), (-5.0, 10.1, "not supported"),
        (10.5, 20.0, "contradicted"), (-20.0, -10.5, "contradicted"),
    ],
)  # fmt: skip
def test_preserved_task_must_change_within_the_margin(low, high, expected):
    judged = verdicts("c004_attention_preserves_parametric", *tasks(low, high))
    assert judged == {"cities": expected, "sports": expected}
    explanation = function("c004_attention_preserves_parametric")(*tasks(low, high))[0].reason
    assert "20 of 20 before and 18 to 20 of 20 after" in explanation
    assert "0% of what lay above chance is lost" in explanation
    assert f"between {low:.0f} and {high:+.0f} points" in explanation


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (70.0, "not supported: +10 points"), (50.0, "not supported: -10 points"),
        (71.0, "contradicted: +11 points"), (49.0, "contradicted: -11 points"),
    ],
)  # fmt: skip
def test_preserved_task_without_number_of_answers_has_no_test(share, expected):
    answers = say("c004_attention_preserves_parametric", *tasks(0, 0, share, tested=False))
    assert set(answers.values()) == {expected}


@pytest.mark.parametrize(("first", "expected"), [(1.0, "holds: 1"), (2.0, "contradicted: 2")])
def test_spike_layer_is_the_first_ratio_above_the_bound(first, expected):
    quantities = [("spike_first_above", first, 2.0), ("spike_largest_ratio", 3.0, 3.0)]
    quantities += [(f"ratio_layer_{layer}", 1.0 + layer, 1.0) for layer in range(3)]
    table = rows("quantity rope drope", *quantities)
    stated = states(s5_4_spike_ratio="2", s5_4_rope_spike_layer="1", s5_4_drope_spike_layer="2")
    assert say("c004_spike_layers", table, stated) == {"rope": expected, "drope": "holds: 2"}
    explanation = function("c004_spike_layers")(table, stated)[0].reason
    assert explanation.startswith("The published ratios of layers 0 to 2 are 1.0, 2.0, 3.0: the first above 2 is layer")


@pytest.mark.parametrize(("less", "expected"), [(0, "holds: 32 of 32 layers"), (1, "contradicted: 31 of 32 layers")])
def test_higher_entropy_throughout_needs_every_layer(less, expected):
    table = rows(
        "quantity rope drope",
        ("layers_with_more_entropy", less, 32 - less),
        ("entropy_layer_0", 5.0, 4.0 + 2 * (less == 0)),
    )
    assert says("c004_fig15_higher_throughout", table, states(fig_15_all_layers=("all layers", None))) == expected


@pytest.mark.parametrize(
    ("low", "high", "adjusted", "expected"),
    [
        (0.1, 0.5, 0.049, "holds"), (0.1, 0.5, 0.05, "not supported"), (-0.1, 0.5, 0.2, "not significant"),
        (-0.5, -0.1, 0.01, "contradicted"),
    ],
)  # fmt: skip
def test_better_ranking_model_is_judged_by_the_pooled_test(low, high, adjusted, expected):
    tests = rows(
        "study comparison estimate ci_low ci_high p_value p_adjusted n",
        ("models", "2048", 0.9, 0.8, 1.0, 0.001, 0.3, 20),
        ("models", "4096", 0.9, 0.8, 1.0, 0.001, 0.4, 20),
        ("models", "8192", 0.9, 0.8, 1.0, 0.001, 0.001, 20),
        ("models_within", "2048 and 4096", (low + high) / 2, low, high, 0.01, adjusted, 40),
    )
    assert verdict("c004_rank_models", tests) == expected
    assert "over 2048 and 4096 tokens together" in reason("c004_rank_models", tests)
    assert "put together after no single length told them apart (Holm p = 0.300)" in reason("c004_rank_models", tests)


def test_pooled_test_reason_mentions_significant_single_lengths():
    tests = rows(
        "study comparison estimate ci_low ci_high p_value p_adjusted n",
        ("models", "2048", 0.9, 0.8, 1.0, 0.001, 0.04, 20),
        ("models_within", "2048 and 4096", 0.3, 0.1, 0.5, 0.01, 0.01, 40),
    )
    assert "of which single ones do too (Holm p = 0.040)" in reason("c004_rank_models", tests)


@pytest.mark.parametrize(("ratio", "expected"), [("2.0", "holds: 1 of 2"), ("2.1", "contradicted: 2 of 2")])
def test_claim_that_only_one_model_depends_is_contradicted_by_the_other(ratio, expected):
    table = prints("positional metric printed", ("RoPE", "ppl_ratio", "1249"), ("DroPE", "ppl_ratio", ratio))
    assert says("c004_sum_only_rope_depends", states(s12_1_dependent_models=("only", None)), table) == expected


def test_model_that_depends_must_be_rope():
    table = prints("positional metric printed", ("RoPE", "ppl_ratio", "1.0"), ("DroPE", "ppl_ratio", "9"))
    assert verdict("c004_sum_only_rope_depends", states(s12_1_dependent_models=("only", None)), table) == "contradicted"
    table = prints("positional metric printed", ("RoPE", "ppl_ratio", "9"), ("DroPE", "ppl_ratio", "1"))
    assert verdict("c004_sum_only_rope_depends", states(s12_1_dependent_models=("two", None)), table) == "contradicted"


@pytest.mark.parametrize(("right", "expected"), [(0, "holds: 2"), (1, "contradicted: 1")])
def test_failing_all_tasks_needs_no_right_answer_in_any(right, expected):
    table = rows(
        "positional condition task count n",
        ("RoPE", "bos_mlp_ablation", "passkey", 0, 20),
        ("RoPE", "bos_mlp_ablation", "imdb", right, 30),
        ("RoPE", "baseline", "cities", 0, 20),
        ("DroPE", "bos_mlp_ablation", "cities", 0, 20),
    )
    stated = states(s12_1_rope_tasks=("two", None), s12_1_rope_accuracy="0%")
    stated["qualifier"] = ""
    assert says("c004_sum_all_tasks", stated, table).startswith(expected)


@pytest.mark.parametrize(("first", "expected"), [("neither", "holds"), ("one", "contradicted")])
def test_summary_must_name_the_models_of_its_section(first, expected):
    stated = states(s12_1_verifying_models=("neither", None), s11_4_verifying_models=(first, None))
    assert verdict("c004_sum_neither_verifies", stated) == expected


@pytest.mark.parametrize(("disrupted", "expected"), [("0", "holds"), ("5", "not supported")])
def test_passkey_must_fall_to_zero_in_both_models(disrupted, expected):
    summary = prints(
        "metric positional printed", *[("qk_disruption_passkey", model, "0%") for model in ("RoPE", "DroPE")]
    )
    table = [("RoPE", "passkey", metric, text) for metric, text in (("baseline", "100"), ("disrupted", "0"))]
    table += [("DroPE", "passkey", metric, text) for metric, text in (("baseline", "60"), ("disrupted", disrupted))]
    answers = says("c004_dis_passkey", summary, prints("positional task metric printed", *table))
    assert answers == f"{expected}: 0 and {disrupted} %"


def test_origin_of_remaining_massive_values_is_not_shown_by_their_share():
    table = rows("tensor change rope_sd", ("query", -39.0, 1.0), ("key", -10.0, 1.0), ("value", 5.0, None))
    actual = reason("c004_massive_from_rope", table)
    assert "61 % of the massive query values and 90 % of the massive key values remain" in actual


@pytest.mark.parametrize(
    ("precision", "gap", "expected", "phrase"),
    [
        ("RoPE 4-bit; DroPE 4-bit", 47.0, "holds", "47.0% lower in runs of one kind"),
        ("RoPE 4-bit; DroPE 4-bit", -47.0, "not supported", "47.0% higher in runs of one kind"),
        ("RoPE 4-bit; DroPE 8-bit", -47.0, "not supported", "47.0% higher, but the models ran differently"),
    ],
)
def test_peak_reason_states_whether_the_runs_are_comparable(precision, gap, expected, phrase):
    summary = rows("quantity value", ("peak_gap_percent", gap))
    protocols = rows("section precision", ("5 (phase metrics)", precision))
    assert verdict("c004_peak_less_extreme", summary, protocols) == expected
    assert phrase in reason("c004_peak_less_extreme", summary, protocols)


# --- wording that depends on the outcome


@pytest.mark.parametrize(
    ("nats", "matched", "phrase"),
    [
        (0.5, True, "0.500 nats, and the layers match"),
        (-0.5, False, "so that a multiple of it means nothing, and the layers differ"),
    ],
)
def test_multiple_of_an_effect_below_zero_is_called_meaningless(nats, matched, phrase):
    contrasts = rows(
        "ablation matched drope_nats rope_nats rope_layers drope_layers ratio",
        ("bos_mlp_spike_layer", matched, nats, 7.0, "1", "1", 2.0),
        ("layer1_bos_only", True, 5.0, 7.0, "1", "1", 8.0),
    )
    actual = reason("c004_bos_mlp_gap", contrasts, states(s6_3_bos_mlp_gap="1249×"))
    assert phrase in actual


def test_default_patterns_at_one_length_are_not_testable():
    shares = rows(
        "positional context category count trials",
        ("DroPE", 4096, "wrong_length", 15, 20),
        ("DroPE", 4096, "exact", 5, 20),
        ("DroPE", 2048, "wrong_length", 1, 20),
    )
    assert reason("c004_ans_4096_defaults", shares).startswith("15 of 20 answers have a wrong length")
    assert verdict("c004_ans_4096_defaults", shares) == "not testable"
