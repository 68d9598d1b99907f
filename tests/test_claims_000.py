"""Claims on document 000, on hand-made frames that make each claim true or false."""

import pytest

from claims_002_cases import DECILES
from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

SMALL, BIG = "llama3.1-8b", "llama3.2-11b"


def models(**changed):
    """Return the two models of document 000, and two smaller models of the family."""
    table = rows(
        "model display_name family layers attention position_encoding rope_theta head_dim",
        (SMALL, "Small", "Llama 3", 32, "full", "RoPE", 500000.0, 128),
        (BIG, "Big", "Llama 3", 40, "cross-attention, skipped on text", "RoPE, none in cross", 500000.0, 128),
        ("llama3.2-3b", "Three", "Llama 3", 28, "full", "RoPE", 500000.0, 128),
        ("llama3.2-1b", "One", "Llama 3", 16, "full", "RoPE", 500000.0, 64),
    )
    return table.assign(**changed)


def pair(metric, small, big):
    return [(SMALL, metric, small), (BIG, metric, big)]


def cells(*values):
    return prints("model metric printed", *values)


# --- tables


def test_recovery_is_compared_with_level_minus_dip():
    table = [(SMALL, "dip", "0.50"), (SMALL, "recovery_level", "0.54")]
    assert say("c000_models_recovery", cells(*table, (SMALL, "recovery", "0.04"))) == {SMALL: "holds: 0.040"}
    assert say("c000_models_recovery", cells(*table, (SMALL, "recovery", "0.07"))) == {SMALL: "contradicted: 0.040"}


def test_dip_and_level_are_compared_with_means_of_two_deciles():
    deciles = prints("model decile printed", *[(SMALL, index, f"0.{index}0") for index in range(1, 10)])
    table = cells((SMALL, "dip", "0.45"), (SMALL, "recovery_level", "0.75"))
    answers = say("c000_models_deciles", table, deciles)
    assert answers == {f"{SMALL}-dip": "holds: 0.4500", f"{SMALL}-recovery_level": "contradicted: 0.6500"}


def test_recovery_inherits_the_agreement_with_its_deciles():
    table = cells((SMALL, "recovery", "+0.04"), (BIG, "recovery", "+0.09"))
    actual = rows(
        "model agreement recovery recovery_low recovery_high level dip",
        (SMALL, "holds", 0.04, 0.03, 0.05, 0.54, 0.5),
        (BIG, "contradicted", 0.02, 0.01, 0.03, 0.52, 0.5),
        ("other", "", 0.0, 0.0, 0.0, 0.0, 0.0),
    )
    assert say("c000_recovery_deciles", table, actual) == {SMALL: "holds: +0.0400", BIG: "contradicted: +0.0200"}


def test_copied_recoveries_are_compared():
    copy, original = cells(*pair("recovery", "0.04", "0.02")), cells(*pair("recovery", "0.04", "0.09"))
    judged = verdicts("c000_recovery_copies", copy, original)
    assert judged == {f"{SMALL}-recovery": "holds", f"{BIG}-recovery": "contradicted"}


@pytest.mark.parametrize(
    ("printed", "family", "expected"),
    [("32", "Llama", "holds"), ("40", "Llama", "contradicted"), ("32", "Qwen", "contradicted")],
)
def test_stated_layers_and_family_are_compared_with_the_configuration(printed, family, expected):
    table = prints("model family metric printed", (SMALL, family, "layers", printed))
    configuration = rows("model text_layers", (SMALL, 32))
    assert verdicts("c000_recovery_layers", table, models(), configuration) == {SMALL: expected}


@pytest.mark.parametrize(
    ("layers", "nope_layers", "expected"),
    [
        ("32 (SA) + 8 (CA)", "8", ("holds", "holds")),
        ("23 (SA) + 8 (CA)", "8", ("contradicted", "holds")),
        ("40", "9", ("contradicted", "contradicted")),
    ],
)
def test_stated_layer_kinds_are_compared_with_the_configuration(layers, nope_layers, expected):
    table = cells(*pair("layers", "32", layers), *pair("nope_layers", "0", nope_layers))
    models = rows("model layers text_layers", (SMALL, 32, 32), (BIG, 40, 32))
    judged = verdicts("c000_models_layers", table, models)
    assert (judged[f"{SMALL}-layers"], judged[f"{SMALL}-nope_layers"]) == ("holds", "holds")
    assert (judged[f"{BIG}-layers"], judged[f"{BIG}-nope_layers"]) == expected


def test_layer_recovery_is_compared_with_the_difference_of_decile_pairs():
    printed = [(SMALL, 5, "d45", "0.50"), (SMALL, 5, "d67", "0.56")]
    layers = rows("model layer", (SMALL, 5))
    for text, expected in (("0.06", "holds"), ("0.10", "contradicted")):
        table = prints("model layer metric printed", *printed, (SMALL, 5, "recovery", text))
        assert say("c000_layers_recovery", table, layers) == {f"{SMALL}-5": f"{expected}: 0.060"}


def test_layer_order_claim_holds_only_for_decreasing_recovery():
    table = rows("model recovery", ("a", 0.3), ("a", 0.2), ("b", 0.2), ("b", 0.3))
    assert verdicts("c000_layers_order", table) == {"a": "holds", "b": "contradicted"}


def test_adjacency_of_a_layer_is_checked_against_cross_attention_layers():
    kinds = rows("layer kind", (2, "self-attention"), (3, "cross-attention"), (4, "self-attention"))
    table = rows("layer adjacency", (2, "before 3"), (4, "after 3"), (6, "after 5"), (9, ""))
    assert say("c000_layers_adjacency", table, kinds) == {
        "2": "holds: before 3",
        "4": "holds: after 3",
        "6": "contradicted: no",
    }


def test_adjacency_groups_are_compared_with_the_listed_layers():
    groups = rows(
        "layer group listed", (4, "after", "after"), (2, "before", "before"), (0, "far", "far"), (1, "far", "after")
    )
    table = prints("group metric printed", ("after", "layers", "1"), ("before", "layers", "2"), ("far", "layers", "2"))
    answers = say("c000_adjacency_groups", groups, table)
    assert answers == {"after": "contradicted: 1", "before": "contradicted: 1", "far": "contradicted: 2"}
    as_listed = groups.assign(listed=groups["group"])
    assert say("c000_adjacency_groups", as_listed, table)["after"] == "holds: 1"
    assert say("c000_adjacency_groups", as_listed, table)["before"] == "contradicted: 1"


def test_mean_over_adjacency_groups_is_weighted_by_layers():
    sizes = (("after", "1"), ("before", "1"), ("far", "2"))
    table = [(group, "layers", size) for group, size in sizes]
    means = [("after", "mean_recovery", "0.01"), ("before", "mean_recovery", "0.03"), ("far", "mean_recovery", "0.06")]
    adjacency = prints("group metric printed", *table, *means)
    # (.01 + .03 + 2 * .06) / 4 = .04, where the plain mean is .033
    assert says("c000_adjacency_mean", adjacency, cells((BIG, "recovery", "0.040"))) == "holds: 0.0400"
    assert says("c000_adjacency_mean", adjacency, cells((BIG, "recovery", "0.02"))) == "contradicted: 0.0400"


def facts(**changed):
    values = {
        "layers": "5", "self_attention_layers": "4", "cross_attention_layers": "1",
        "self_attention_indices": "0–2, 4",
        "cross_attention_period": "5", "cross_attention_first": "3", "cross_attention_default": "3",
    }  # fmt: skip
    return prints("fact printed", *{**values, **changed}.items())


KINDS = rows("layer kind", *[(layer, "cross-attention" if layer == 3 else "self-attention") for layer in range(5)])


@pytest.mark.parametrize(
    "changed", [{"layers": "6"}, {"self_attention_layers": "3"}, {"self_attention_indices": "0–3"}]
)
def test_total_layers_equal_the_sum_of_both_kinds(changed):
    known = models(layers=5)
    assert says("c000_background_indices", facts(), KINDS, known) == "holds: 5 = 4 + 1"
    assert verdict("c000_background_indices", facts(**changed), KINDS, known) == "contradicted"


def test_cross_attention_period_is_compared_with_the_published_list():
    def published(layers):
        return rows("fact printed", ("cross_attention_layers", layers))

    assert says("c000_background_period", facts(), KINDS, published("3")) == "holds: 3"
    for changed in ({"cross_attention_first": "2"}, {"cross_attention_period": "1"}, {"cross_attention_default": "2"}):
        assert verdict("c000_background_period", facts(**changed), KINDS, published("3")) == "contradicted"
    assert says("c000_background_period", facts(), KINDS, published("2, 3")) == "contradicted: 2, 3"


# --- findings


def profile(*values):
    return rows(
        f"model display_name captured_context {DECILES}", *[(model, model, 100_000, *values) for model in (SMALL, BIG)]
    )


def test_dip_and_recovery_are_checked_at_their_stated_places():
    low_at_end = profile(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.5, 0.6, 0.3, 0.2)
    rise = rows("model rise_from rise_to", (SMALL, 5, 7), (BIG, 5, 7))
    stated = states(question_dip_range="50–65K", question_recovery_range="60–80K")
    judged = say("c000_question_profile", stated, low_at_end, rise)
    assert judged[f"{SMALL}-dip"] == "holds: 50-60K"  # 5K off at most
    assert judged[f"{SMALL}-recovery"] == "holds: 60-80K"
    assert judged[f"{BIG}-end"] == "holds: 0.200 at the end"
    off = states(question_dip_range="50–66K", question_recovery_range="54–80K")
    moved = profile(0.1, 0.8, 0.7, 0.6, 0.5, 0.4, 0.5, 0.6, 0.3, 0.2)
    assert set(verdicts("c000_question_profile", off, moved, rise).values()) == {"contradicted"}


def rise(**changed):
    values = {"model": SMALL, "draw_up": 0.04, "shape": "rises", "recovery_low": 0.03}
    return rows(" ".join(values), tuple({**values, **changed}.values()))


def test_nope_layers_are_not_the_cause_when_a_model_without_them_rises():
    without, with_layers = cells((SMALL, "nope_layers", "0")), cells((SMALL, "nope_layers", "8"))
    assert verdict("c000_f1_not_cause", models(), without, rise()) == "holds"
    assert "could not have been the cause" in reason("c000_f1_not_cause", models(), without, rise())
    assert "could not" not in reason("c000_f1_not_cause", models(attention="full"), without, rise())
    for table, risen in ((with_layers, rise()), (without, rise(shape="falls")), (without, rise(recovery_low=-0.01))):
        assert verdict("c000_f1_not_cause", models(), table, risen) == "contradicted"


def test_claim_that_all_layers_are_rotary_follows_the_configuration():
    stated = states(finding_1_layers="32", finding_1_rope_layers=("all", 32))
    assert says("c000_f1_all_rope", models(), stated) == "holds: 32"
    fewer = states(finding_1_layers="32", finding_1_rope_layers=("all", 31))
    assert verdict("c000_f1_all_rope", models(), fewer) == "contradicted"
    assert verdict("c000_f1_all_rope", models(position_encoding="none"), stated) == "contradicted"


def test_definitive_claim_is_not_supported_by_two_captures_of_one_network():
    def origin(model):
        return rows("fact subject printed", ("llama32_vision_text", BIG, model))

    assert says("c000_f1_definitive", origin(SMALL), models()) == "not supported: 1 network"
    assert says("c000_f1_definitive", origin("else"), models()) == "holds: 2 networks"
    assert verdict("c000_f1_definitive", origin(SMALL), models(attention="full")) == "holds"
    assert "one network" not in reason("c000_f1_definitive", origin("else"), models())


def test_identical_is_within_the_printed_precision():
    twins = rows("quantity value low high", ("recovery", 0.006, 0.004, 0.008), ("threshold", 0.005, 0, 0))
    assert verdict("c000_f1_identical", cells(*pair("recovery", "0.029", "0.023")), twins) == "contradicted"
    assert verdict("c000_f1_identical", cells(*pair("recovery", "0.03", "0.026")), twins) == "holds"
    assert "more than" in reason("c000_f1_identical", cells(*pair("recovery", "0.029", "0.023")), twins)
    near = twins.assign(value=[0.001, 0.005])
    assert "no more than" in reason("c000_f1_identical", cells(*pair("recovery", "0.023", "0.023")), near)


def test_approximate_recovery_is_judged_by_the_farther_model():
    stated = states(finding_1_recovery="~0.025")
    assert verdict("c000_f1_about", stated, cells(*pair("recovery", "0.026", "0.024"))) == "holds"
    assert says("c000_f1_about", stated, cells(*pair("recovery", "0.026", "0.035"))) == "contradicted: 0.0350"


def counts(recovering, layers, **stated):
    both = {"finding_2_llama31_recovering": str(recovering), "finding_2_llama31_layers": str(layers)}
    return states(**both, **stated)


def test_claim_on_nearly_every_layer_needs_nine_tenths_of_the_layers():
    nearly_every = {"finding_2_llama31_contributing": ("nearly every", None), "finding_2_threshold": "0.005"}
    low, high = (rows("quantity value", ("recovery", noise)) for noise in (0.004, 0.006))
    assert says("c000_f2_every_layer", counts(29, 32, **nearly_every), low) == "holds: 29 of 32"
    assert says("c000_f2_every_layer", counts(29, 32, **nearly_every), high) == "not supported: 29 of 32"
    assert says("c000_f2_every_layer", counts(28, 32, **nearly_every), low) == "contradicted: 28 of 32"


def test_few_layers_claim_is_tested_without_the_largest_layers():
    top = rows("model recovery", *[(SMALL, 0.1)] * 2, (BIG, 5.0))
    stated = counts(9, 10, finding_2_threshold="0.005")
    # ten layers with a mean of .032: .32 in total, .2 in two layers, .12 / 8 = .015 in each other layer
    assert says("c000_f2_not_few", top, cells((SMALL, "recovery", "0.032")), stated) == "holds: +0.015 without 2"
    assert says("c000_f2_not_few", top, cells((SMALL, "recovery", "0.02")), stated) == "contradicted: +0.000 without 2"


def test_threshold_below_the_capture_noise_is_not_supported():
    stated = states(finding_2_threshold="0.005")

    def twins(noise):
        return rows("quantity value", ("recovery", noise), ("decile_mean", 0.02))

    assert verdict("c000_f2_threshold", stated, twins(0.006)) == "not supported"
    assert verdict("c000_f2_threshold", stated, twins(0.004)) == "holds"
    assert "larger than the threshold" in reason("c000_f2_threshold", stated, twins(0.006))
    assert "larger than the threshold" not in reason("c000_f2_threshold", stated, twins(0.004))


def test_replication_claim_is_not_supported_by_one_network_captured_twice():
    tests = rows(
        "comparison test estimate ci_low ci_high p_value",
        (SMALL, "wilson", 0.9, 0.8, 0.95, None),
        (BIG, "wilson", 0.8, 0.7, 0.9, None),
        ("between models", "fisher", 0, 0, 0, 0.3),
        ("paired", "mcnemar_exact", 0, 0, 0, 0.5),
    )
    origin = rows("fact subject printed", ("llama32_vision_text", BIG, SMALL))
    assert verdict("c000_f2_replication", tests, origin) == "not supported"
    assert verdict("c000_f2_replication", tests, origin.assign(printed="else")) == "holds"
    assert "one network" not in reason("c000_f2_replication", tests, origin.assign(printed="else"))


def test_claim_that_adjacent_layers_recover_less_needs_a_significant_interval():
    def bounds(difference, at_most, p_at_least):
        return rows(
            "comparison difference df statistic_at_most p_at_least n_first n_second",
            ("adjacent - far", difference, 30, at_most, p_at_least, 16, 16),
        )

    assert verdict("c000_f2_adjacent_less", bounds(-0.01, 5.0, 0.001)) == "holds"
    assert verdict("c000_f2_adjacent_less", bounds(-0.01, 1.0, 0.4)) == "not significant"
    assert verdict("c000_f2_adjacent_less", bounds(0.01, 1.0, 0.4)) == "not supported"
    assert verdict("c000_f2_adjacent_less", bounds(0.01, 5.0, 0.001)) == "contradicted"


# --- family and depth


def recovery(*changes):
    """Return recoveries of two 32-layer Llamas that share a network, two smaller Llamas, and two other models."""
    names = ("model", "family", "text_layers", "network", "recovers", "recovery")
    entries = [
        dict(zip(names, values, strict=True))
        for values in (
            (SMALL, "Llama 3", 32, "a", True, 0.03), (BIG, "Llama 3", 32, "a", True, 0.02),
            ("llama3.2-3b", "Llama 3", 28, "b", False, -0.1), ("llama3.2-1b", "Llama 3", 16, "c", False, -0.2),
            ("qwen3-14b", "Qwen3", 40, "d", False, -0.3), ("ministral3-14b", "Ministral 3", 40, "e", False, -0.1),
        )
    ]  # fmt: skip
    for row in entries:
        row |= {"display_name": row["model"], "layers": row["text_layers"], "draw_up": 0.0, "agreement": "holds"}
        row |= {"shape": "rises" if row["recovers"] else "falls", "rise_from": 5, "rise_to": 7}
        row |= {"draw_up_low": 0.0, "draw_up_high": 0.01}
    for model, changed in changes:
        next(row for row in entries if row["model"] == model).update(changed)
    for row in entries:
        row |= {"recovery_low": row["recovery"] - 0.01, "recovery_high": row["recovery"] + 0.01}
    return rows(" ".join(entries[0]), *[tuple(row.values()) for row in entries])


def test_claim_that_only_two_llamas_recover_is_counted():
    stated = states(finding_3_positive_models=("only two", 2))
    assert says("c000_f3_only_two", stated, recovery()) == "holds: 2 of 6"
    third_recovers = recovery(("llama3.2-3b", {"recovery": 0.5}))
    assert says("c000_f3_only_two", stated, third_recovers) == "contradicted: 3 of 6"
    assert "none of the" not in reason("c000_f3_only_two", stated, third_recovers)
    assert (
        says("c000_f3_only_two", states(finding_3_positive_models=("only three", 3)), recovery())
        == "contradicted: 2 of 6"
    )


def test_rise_beyond_rounding_contradicts_a_monotone_profile():
    stated = states(finding_3_monotone_models=("all", 4))
    assert says("c000_f3_monotone", stated, recovery()) == "holds: 4 monotone"
    assert says("c000_f3_monotone", stated, recovery(("llama3.2-1b", {"shape": "rises"}))) == "contradicted: 3 monotone"


@pytest.mark.parametrize(
    ("claim", "model", "stated"),
    [
        ("c000_f3_not_depth", "qwen3-14b", {"finding_3_ministral_layers": "40", "finding_3_qwen_layers": "40"}),
        (
            "c000_f3_smaller_llama",
            "llama3.2-3b",
            {"finding_3_llama_1b_layers": "16", "finding_3_llama_3b_layers": "28"},
        ),
    ],
)
def test_models_of_stated_depth_are_checked_for_no_recovery(claim, model, stated):
    assert verdict(claim, nope_stated=states(**stated), nope_recovery_recomputed=recovery()) == "holds"
    risen = recovery((model, {"recovery": 0.1}))
    assert verdict(claim, nope_stated=states(**stated), nope_recovery_recomputed=risen) == "contradicted"
    at_36_layers = dict.fromkeys(stated, "36")
    assert verdict(claim, nope_stated=states(**at_36_layers), nope_recovery_recomputed=recovery()) == "contradicted"


def test_depth_is_excluded_only_by_a_shallow_model_that_recovers():
    tests = rows("comparison p_value", ("depth within Llama, all captured", 0.33))
    # the Llama models share three networks, each counted once
    assert says("c000_f3_depth_excluded", recovery(), tests) == "not supported: 0 Llama deeper than 32"
    shallow_recovers = recovery(("llama3.2-3b", {"recovers": True}))
    assert verdict("c000_f3_depth_excluded", shallow_recovers, tests) == "holds"
    assert "not that it plays no part" not in reason("c000_f3_depth_excluded", shallow_recovers, tests)


def test_intersection_claim_is_not_supported_by_one_network():
    tests = rows("comparison unit p_value", ("Llama against others, all captured", "network", 0.5))
    stated = states(finding_3_depth_condition="≥32")
    assert says("c000_f3_intersection", stated, recovery(), tests) == "not supported: 1 network"
    other_network = recovery((BIG, {"network": "f", "text_layers": 48}))
    assert verdict("c000_f3_intersection", stated, other_network, tests) == "holds"
    assert "none deeper" not in reason("c000_f3_intersection", stated, other_network, tests)
    deeper_condition = states(finding_3_depth_condition="≥52")
    assert verdict("c000_f3_intersection", deeper_condition, recovery(), tests) == "contradicted"
    assert "fewer than 52 layers that recover: " in reason("c000_f3_intersection", deeper_condition, recovery(), tests)
    assert verdict("c000_f3_intersection", stated, recovery((BIG, {"network": "f"})), tests) == "not supported"


def test_claim_on_deep_models_needs_most_networks_of_two_depths():
    stated = states(conclusion_depth="≥32")
    assert says("c000_conclusion_deep", stated, recovery()) == "not supported: 1 of 3 networks"
    most_recover = recovery(("llama3.2-3b", {"recovers": True}))
    assert says("c000_conclusion_deep", stated, most_recover) == "holds: 2 of 3 networks"


# --- hypotheses


def test_rope_base_is_compared_for_all_models():
    assert says("c000_hypotheses_base", states(hypotheses_rope_base="500,000"), models()) == "holds: 500000"
    assert verdict("c000_hypotheses_base", states(hypotheses_rope_base="10,000"), models()) == "contradicted"
    mixed_bases = models(rope_theta=[500000.0, 500000.0, 500000.0, 10000.0])
    assert "3 of 4" in reason("c000_hypotheses_base", states(hypotheses_rope_base="500,000"), mixed_bases)


def test_frequency_hypothesis_is_contradicted_by_an_equal_base_without_recovery():
    factors = prints("fact printed", *[(f"rope_factor_{model}", "8") for model in models()["model"]])
    answers = says("c000_hypotheses_frequency", models(), recovery(), factors)
    assert answers == "contradicted: 1 model with the same frequencies falls"
    other_base = models(rope_theta=[500000.0, 500000.0, 10000.0, 10000.0])
    assert verdict("c000_hypotheses_frequency", other_base, recovery(), factors) == "not testable"
    scaled = prints(
        "fact printed",
        *[
            (f"rope_factor_{model}", "8" if model in ("llama3.1-8b", "llama3.2-11b") else "32")
            for model in models()["model"]
        ],
    )
    assert verdict("c000_hypotheses_frequency", models(), recovery(), scaled) == "not testable"
    assert "scaled differently" in reason("c000_hypotheses_frequency", models(), recovery(), scaled)


def test_wavelengths_in_a_range_are_counted_before_and_after_scaling():
    # base 10,000 and 2 pairs: wavelengths 2 pi (6.28) and 2 pi 100 (628)
    small_model = models(rope_theta=10_000.0, head_dim=4)

    def answer(stated, factor):
        scaling = prints("fact printed", (f"rope_factor_{SMALL}", factor))
        stated_range = states(hypotheses_interference_range=(stated, None))
        return says("c000_hypotheses_cycles", stated_range, small_model, scaling)

    assert answer("0–1K", "1") == "holds: 2 and 2 of 2"
    assert answer("0–1K", "4") == "holds: 2 and 1 of 2"
    assert answer("1–2K", "2") == "contradicted: 0 and 1 of 2"
    assert answer("1–2K", "1") == "contradicted: 0 and 0 of 2"


def test_uniform_claim_holds_only_when_all_layers_recover():
    top = rows("model recovery", (BIG, 0.07))

    def stated(count):
        return states(
            finding_2_llama32_recovering=count,
            finding_2_llama32_layers="32",
            finding_2_threshold="0.005",
            conclusion_uniform=("uniformly", None),
        )

    assert says("c000_conclusion_uniform", stated("26"), top) == "contradicted: 26 of 32"
    assert says("c000_conclusion_uniform", stated("32"), top) == "holds: 32 of 32"


# --- single layers


def layer_cells(**changed):
    table = rows(
        "model layer text_layer d01 d45 d67 d89 below_dip",
        (SMALL, 1, 1, 0.8, 0.5, 0.6, 0.4, True),
        (BIG, 2, 2, 0.8, 0.5, 0.6, 0.4, True),
    )
    return table.assign(**changed)


@pytest.mark.parametrize("changed", [{"d01": 0.55}, {"d67": 0.45}, {"d89": 0.65}, {"d45": 0.7}])
def test_collapse_claim_needs_layers_that_fall_dip_recover_and_fall(changed):
    assert says("c000_anatomy_collapse", layer_cells()) == "holds: 2 of 2"
    assert verdict("c000_anatomy_collapse", layer_cells(**changed)) == "contradicted"


def test_no_depth_pattern_claim_needs_a_test_over_half_of_the_layers():
    def tests(n, p):
        return rows("comparison n p_value", (SMALL, n, p), (BIG, n, p))

    assert verdict("c000_anatomy_no_depth", tests(32, 0.5), layer_cells()) == "not supported"
    assert verdict("c000_anatomy_no_depth", tests(2, 0.5), layer_cells()) == "holds"
    assert verdict("c000_anatomy_no_depth", tests(2, 0.01), layer_cells()) == "not supported"
    assert "so few" not in reason("c000_anatomy_no_depth", tests(2, 0.5), layer_cells())


def extremes(*values):
    """Return a frame with plasticity, slope and R2 of position for each layer."""
    table = []
    for layer, category, *texts in values:
        table += [
            (layer, category, name, text)
            for name, text in zip(("ap_overall", "beta_norm", "r2_pos"), texts, strict=True)
        ]
    return prints("layer category metric printed", *table)


MOST, LEAST = "most plastic", "least plastic, after cross-attention"
EXTREMES = extremes(
    (16, MOST, "0.9", "0.001", "0.02"), (17, MOST, "0.8", "0.002", "0.04"), (4, LEAST, "0.2", "0.009", "0.5")
)


def test_least_plastic_layer_must_be_the_most_sensitive():
    assert says("c000_extremes_sensitivity", EXTREMES) == "holds: R2 0.500, 0.020"
    other_layer = extremes(
        (16, MOST, "0.9", "0.001", "0.02"), (17, MOST, "0.8", "0.010", "0.03"), (4, LEAST, "0.2", "0.009", "0.5")
    )
    assert verdict("c000_extremes_sensitivity", other_layer) == "contradicted"


def test_outlier_claim_needs_two_layers_apart_in_three_measures():
    assert says("c000_extremes_outliers", EXTREMES) == "holds: 3 of 3 measures"
    shared = extremes(
        (16, MOST, "0.9", "0.001", "0.02"), (17, MOST, "0.8", "0.002", "0.03"), (4, LEAST, "0.2", "0.009", "0.03")
    )
    assert says("c000_extremes_outliers", shared) == "not supported: 2 of 3 measures"
    assert "not in R2" in reason("c000_extremes_outliers", shared)
    assert "not in" not in reason("c000_extremes_outliers", EXTREMES)


def test_extreme_layer_values_are_compared_after_rounding():
    stated = states(extremes_r2_pos="0.02")
    assert say("c000_extremes_r2", stated, EXTREMES) == {"16": "holds: 0.02", "17": "contradicted: 0.04"}


def test_flat_layer_claim_is_judged_by_the_gap_to_the_other_capture():
    values = (17, 15, 0.1, 0.05, 0.4, 0.5, 0.3)
    columns = "layer text_layer least_range recovery overall_low overall_high ap_overall gap"
    assert verdict("c000_extremes_flat_pair", rows(columns, (*values, 0.1))) == "not supported"
    assert verdict("c000_extremes_flat_pair", rows(columns, (*values, 0.0))) == "holds"


def test_layer_said_to_follow_cross_attention_is_checked():
    groups = rows("layer group", (4, "after"), (16, "far"), (17, "far"))
    assert says("c000_extremes_after", EXTREMES, groups) == "holds: after"
    before = groups.assign(group=["before", "far", "far"])
    assert says("c000_extremes_after", EXTREMES, before) == "contradicted: before"
    assert "It does" not in reason("c000_extremes_after", EXTREMES, before)
