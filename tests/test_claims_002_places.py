"""Claims on document 002 about positions in profiles, on hand-made frames that make each claim true or false."""

import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

NAMES = "model display_name family layers " + " ".join(f"d{number}" for number in range(10))
# dip in the fifth decile, peak in the eighth, low in the tenth
BUMP = (0.90, 0.80, 0.70, 0.60, 0.50, 0.52, 0.54, 0.56, 0.48, 0.30)


def profiles(small=BUMP, vision=BUMP):
    return rows(NAMES, ("llama3.1-8b", "L8", "Llama 3", 32, *small), ("llama3.2-11b", "L11", "Llama 3", 40, *vision))


def swapped(first, second):
    """Return the profile `BUMP` with two deciles exchanged."""
    values = list(BUMP)
    values[first], values[second] = values[second], values[first]
    return values


# --- read off pictures


def landmarks(**printed):
    return prints("landmark printed", *printed.items())


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("50K-65K", "holds: 52K-66K"),  # the middle of the fifth decile is 59.0K
        ("58.9K-65K", "holds: 52K-66K"),
        ("59.1K-65K", "contradicted: 52K-66K"),
        ("50K-58.8K", "contradicted: 52K-66K"),
    ],
)
def test_dip_is_placed_by_the_middle_of_its_decile(stated, expected):
    assert says("c002_profile_11b_dip", landmarks(llama32_11b_dip=stated), profiles()) == expected


def test_the_dip_is_the_lowest_of_the_first_eight_deciles():
    first = [*BUMP[:3], 0.4, *BUMP[4:]]
    assert says("c002_profile_11b_dip", landmarks(llama32_11b_dip="40K-50K"), profiles(vision=first)).endswith(
        "39K-52K"
    )
    late_dip = [*BUMP[:7], 0.4, *BUMP[8:]]
    answers = says("c002_profile_11b_dip", landmarks(llama32_11b_dip="92K-105K"), profiles(vision=late_dip))
    assert answers == "holds: 92K-105K"


@pytest.mark.parametrize(
    ("level", "expected"), [("0.54", "holds: 0.540"), ("0.52", "contradicted: 0.540"), ("0.56", "contradicted: 0.540")]
)
def test_recovery_level_is_the_mean_of_the_named_deciles(level, expected):
    # the middles of deciles six to eight are 72.1K, 85.2K and 98.3K: .52, .54 and .56
    stated = landmarks(llama32_11b_recovery_level=level, llama32_11b_recovery="70K-100K")
    assert says("c002_profile_11b_recovery", stated, profiles()) == expected


def test_recovery_must_exceed_the_dip():
    stated = landmarks(llama32_11b_recovery_level="0.54", llama32_11b_recovery="70K-100K")
    higher_dip = [*BUMP[:4], 0.53, *BUMP[5:]]
    assert verdict("c002_profile_11b_recovery", stated, profiles(vision=higher_dip)) == "contradicted"
    assert "not all above the dip of 0.530" in reason("c002_profile_11b_recovery", stated, profiles(vision=higher_dip))
    narrow = landmarks(llama32_11b_recovery_level="0.54", llama32_11b_recovery="80K-90K")
    assert reason("c002_profile_11b_recovery", narrow, profiles()).startswith(
        "The deciles whose middle lies there (0.540)"
    )


def test_a_collapse_is_the_lowest_value_after_the_largest_step():
    stated = landmarks(llama32_11b_collapse="120K+")
    assert says("c002_profile_11b_collapse", stated, profiles()) == "holds: 0.300"
    late_collapse = [*BUMP[:8], 0.29, 0.30]
    assert verdict("c002_profile_11b_collapse", stated, profiles(vision=late_collapse)) == "contradicted"
    early_collapse = [0.90, 0.70, *BUMP[2:9], 0.29]  # -.20 first, -.19 last
    assert verdict("c002_profile_11b_collapse", stated, profiles(vision=early_collapse)) == "contradicted"


def test_dimensions_named_by_a_cluster_must_exist_in_every_model():
    stated = landmarks(weights_second_cluster="100-128", weights_models="all models")

    def models(head_dim):
        return rows(
            "model display_name subject head_dim",
            ("a", "A", "captured", 128),
            ("b", "B", "captured", head_dim),
            ("c", "C", "lab", 16),
        )

    assert says("c002_weights_models", stated, models(128)) == "holds: 2 of 2 can"
    assert says("c002_weights_models", stated, models(64)) == "contradicted: 1 of 2 can"
    assert "B (64 dimensions)" in reason("c002_weights_models", stated, models(64))


def test_zero_position_claim_is_not_supported_when_dimensions_rotate():
    stated = landmarks(weights_first_dead_zone="1-33", weights_dead_share="0")

    def models(window, dim=128, theta=10_000.0):
        return rows(
            "model display_name subject head_dim rope_theta captured_context",
            ("a", "A", "captured", dim, theta, window),
            ("b", "B", "captured", 128, None, 10**6),
            ("c", "C", "lab", 128, 1.0, 10**6),
        )

    # the 33rd dimension turns once in 2 pi x 10,000^(64/128) = 628 tokens
    assert says("c002_weights_zero", stated, models(6283)) == "not supported: 10 turns"
    assert says("c002_weights_zero", stated, models(302)) == "holds: 0 turns"
    assert says("c002_weights_zero", stated, models(327)) == "not supported: 1 turns"


# --- positions stated in prose


def test_dip_recovery_and_collapse_are_checked_in_the_named_deciles():
    texts = {"dip": "40-50%", "recovery": "70-80%", "collapse": "90-100%"}
    keys = [f"{start}_{feature}" for start in ("t4_llama31_8b", "h8") for feature in texts]
    keys += [f"{start}_llama32_11b_{feature}" for start in ("t4", "ruler") for feature in ("recovery", "collapse")]
    places = {f"{key}_place": texts[key.rpartition("_")[2]] for key in (*keys, "ruler_llama_collapse")}
    assert set(verdicts("c002_profile_places", states(**places), profiles()).values()) == {"holds"}
    moved = profiles(small=swapped(4, 3), vision=swapped(7, 6))
    judged = say("c002_profile_places", states(**places), moved)
    assert judged["t4_llama31_8b_dip_place"] == judged["h8_dip_place"] == "contradicted: 30 to 40 %"
    assert judged["t4_llama32_11b_recovery_place"] == "contradicted: 60 to 70 %"
    assert judged["ruler_llama_collapse_place"] == "holds: 90 to 100 %"
    wide = states(**{**places, "h8_recovery_place": "60-100%", "h8_dip_place": "45-50%"})
    judged = verdicts("c002_profile_places", wide, profiles())
    assert (judged["h8_recovery_place"], judged["h8_dip_place"]) == ("holds", "contradicted")


FAILING = {
    "h7_failing_length_first": "64K",
    "h7_failing_length_last": "128K",
    "ruler_mistral_64k_length": "64K",
    "ruler_mistral_128k_length": "128K",
}


def test_failing_lengths_are_those_of_scores_below_a_half():
    def scores(at_64k, at_32k="90.0"):
        values = [("4k", "93.6"), ("32k", at_32k), ("64k", at_64k), ("128k", "13.8")]
        table = [("mistral-v0.2-7b", length, text) for length, text in values]
        return prints("model length printed", *table, ("other", "4k", "1.0"))

    stated = states(**FAILING)
    assert set(verdicts("c002_failing_lengths", stated, scores("49.9")).values()) == {"holds"}
    judged = say("c002_failing_lengths", stated, scores("50.0"))
    assert judged["h7_failing_length_first"] == "contradicted: 128000"
    assert judged["h7_failing_length_last"] == "holds: 128000"
    assert say("c002_failing_lengths", stated, scores("49.9", "12.0"))["ruler_mistral_64k_length"] == (
        "contradicted: 32000"
    )


@pytest.mark.parametrize(("text", "expected"), [("10", "holds: 10"), ("11", "contradicted: 10")])
def test_stated_bins_are_compared_with_the_numbered_columns(text, expected):
    table = profiles().assign(drop=0.1, d=0.2, d_mean=0.3)
    assert says("c002_bins_again", states(t4_bins=text), table) == expected


STATED = {
    "t4_llama32_3b_first": "0.900", "t4_llama32_3b_last": "0.300", "t4_llama31_8b_dip": "0.500",
    "t4_llama31_8b_recovery": "0.560", "t4_llama31_8b_collapse": "0.300", "t4_mistral_first": "0.900",
    "t4_mistral_last": "0.300", "t4_llama32_3b_drop": "-0.600",
}  # fmt: skip


def test_notes_on_deciles_are_compared_with_their_cells():
    cells = [
        (model, decile, f"{value:.3f}")
        for model in ("llama3.2-3b", "llama3.1-8b", "mistral-v0.2-7b")
        for decile, value in enumerate(BUMP)
    ]
    table = prints("model decile printed", *cells)
    assert set(verdicts("c002_restated_deciles", states(**STATED), table).values()) == {"holds"}
    for key, text in STATED.items():
        off_by_a_hundredth = states(**{**STATED, key: f"{float(text) + 0.01:.3f}"})
        judged = verdicts("c002_restated_deciles", off_by_a_hundredth, table)
        assert {name for name, answer in judged.items() if answer != "holds"} == {key}
    near = say("c002_restated_deciles", states(**{**STATED, "t4_llama32_3b_drop": "-0.601"}), table)
    assert near["t4_llama32_3b_drop"].startswith("holds after rounding")


def test_stated_contexts_are_compared_with_the_captures():
    keys = ("all_models_mistral_window", "t4_mistral_window_note", "t4_mistral_window", "predecessor_window")
    stated = dict.fromkeys((*keys, "t8_mistral_last_position"), "32K")
    stated |= {"all_models_other_range": "128K", "t4_other_range": "128K"}
    models = rows("model captured_context", ("mistral-v0.2-7b", 32768), ("llama3.1-8b", 131072))
    assert set(verdicts("c002_restated_contexts", states(**stated), models).values()) == {"holds"}
    judged = verdicts("c002_restated_contexts", states(**{**stated, "t4_other_range": "64K"}), models)
    assert [key for key, answer in judged.items() if answer == "contradicted"] == ["t4_other_range"]


# --- the hypotheses on Mistral and on the bump

MISTRAL = "mistral-v0.2-7b"


def test_best_profile_must_also_be_best_over_equal_positions():
    def captured(overall, drop):
        return rows("model ap_overall ap_drop", (MISTRAL, 0.8, 0.02), ("a", overall, drop))

    def equal(ranked, dropped):
        columns = "model display_name ranked dropped mean_32k drop_32k"
        return rows(columns, (MISTRAL, "M", ranked, dropped, 0.8, 0.02), ("a", "A", 2, 2, 0.7, 0.1))

    stated = states(h7_mistral_rank=("best", 1))
    expected = {
        (0.7, 0.1, 1, 1): "holds: rank 1 of 2 over 32K",
        (0.7, 0.1, 2, 1): "not supported: rank 2 of 2 over 32K",
        (0.7, 0.1, 1, 2): "not supported: rank 1 of 2 over 32K",
        (0.9, 0.1, 1, 1): "contradicted: rank 1 of 2 over 32K",
        (0.7, 0.01, 1, 1): "contradicted: rank 1 of 2 over 32K",
    }
    for (overall, drop, ranked, dropped), answer in expected.items():
        assert says("c002_h7_best", stated, captured(overall, drop), equal(ranked, dropped)) == answer


@pytest.mark.parametrize(("attention", "expected"), [("sliding, 32K", "holds"), ("full", "contradicted")])
def test_sliding_window_cause_needs_a_model_with_a_window(attention, expected):
    columns = "model display_name attention claimed_context captured_context bucket_tokens"
    models = rows(columns, (MISTRAL, "M", attention, 32768, 32768, 1024))
    stated = states(h7_cause=("sliding window", None))
    assert says("c002_h7_cause", stated, models) == f"{expected}: {attention}"
    assert says("c002_t8_unreachable", models) == f"{expected}: {attention}"


@pytest.mark.parametrize(
    ("at_32k", "expected"),
    [
        (96.0, "holds: --4 % within 32K"),
        (95.0, "contradicted: -5 % within 32K"),
        (75.0, "contradicted: -25 % within 32K"),
    ],
)
def test_cut_off_must_lose_next_to_nothing_before_it(at_32k, expected):
    summary = rows(
        "model display_name 4k 32k 128k effective",
        (MISTRAL, "M", 100.0, at_32k, 10.0, "16k"),
        ("llama3.1-8b", "L", 90.0, 80.0, 45.0, "32k"),
    )
    lengths = rows("model length plasticity_change", (MISTRAL, "32k", -21.0), (MISTRAL, "4k", 0.0))
    assert says("c002_h7_gradual", summary, lengths) == expected.replace("--", "-")
    explanation = reason("c002_h7_gradual", summary, lengths)
    assert f"{100 - at_32k:.0f} %) within 32K" in explanation
    assert "to 128K (50 %)" in explanation
    assert "plasticity falls by 21 %" in explanation


@pytest.mark.parametrize(("text", "expected"), [("zero", "holds: 0"), ("two", "contradicted: 0")])
def test_nope_layers_are_compared_with_the_counted_ones(text, expected):
    counted = prints("model metric printed", ("llama3.1-8b", "nope_layers", "0"))
    assert says("c002_h8_nope_layers", states(h8_nope_layers=(text, None)), counted) == expected


def test_identical_patterns_share_the_deciles_of_dip_peak_and_low():
    assert says("c002_h8_identical", profiles()) == "holds: same deciles"
    assert says("c002_h8_identical", profiles(vision=swapped(4, 5))) == "contradicted: other deciles"
    assert "into other deciles (40, 70, 90 % on against 50, 70, 90 %)" in reason(
        "c002_h8_identical", profiles(vision=swapped(4, 5))
    )
    assert says("c002_h8_identical", profiles(vision=swapped(7, 6))) == "contradicted: other deciles"
    assert says("c002_h8_identical", profiles(vision=swapped(8, 9))) == "contradicted: other deciles"
    shifted = swapped(4, 5)
    assert says("c002_h8_identical", profiles(shifted, shifted)) == "contradicted: same deciles"
    lower_end = [value - 0.01 for value in BUMP[:9]] + [0.27]
    assert "differ by up to 0.030" in reason("c002_h8_identical", profiles(vision=lower_end))
    late_decrease = [*BUMP[:7], 0.49, 0.48, 0.30]  # a decrease after the seventh decile is not a dip
    assert says("c002_h8_identical", profiles(late_decrease, late_decrease)) == "contradicted: same deciles"


def spread(llama31, llama32, layers="32"):
    return states(
        h8_llama31_8b_recovering=llama31,
        h8_llama31_8b_layers=layers,
        h8_llama32_11b_recovering=llama32,
        h8_llama32_11b_layers=layers,
        h8_recovery_spread=("nearly all", None),
    )


def test_layer_counts_are_compared_with_the_layer_study():
    keys = ("llama31_recovering", "llama31_layers", "llama32_recovering", "llama32_layers")
    study = states(**{f"finding_2_{key}": text for key, text in zip(keys, ("29", "32", "26", "32"), strict=True)})
    judged = verdicts("c002_h8_layer_counts", spread("29", "26"), study)
    assert set(judged.values()) == {"holds"}
    judged = say("c002_h8_layer_counts", spread("29", "27"), study)
    assert judged["h8_llama32_11b_recovering"] == "contradicted: 26"


@pytest.mark.parametrize(
    ("one", "two", "text", "expected"),
    [
        ("18", "19", "another", "holds: 18 and 19 of 20"),
        ("18", "17", "another", "not supported: 18 and 17 of 20"),
        ("20", "20", "llama3.1-8b", "not supported: 20 and 20 of 20"),
    ],
)
def test_spread_claim_needs_nine_tenths_of_layers_in_two_networks(one, two, text, expected):
    fact = rows("fact printed", ("llama32_vision_text", text))
    assert says("c002_h8_spread", spread(one, two, "20"), fact) == expected
    explanation = reason("c002_h8_spread", spread(one, two, "20"), fact)
    assert f"({5 * int(one)} and {5 * int(two)} %" in explanation
    if two == "17":
        assert "[64, 95]" in explanation  # Wilson's interval for 17 of 20
    assert ("so 0 layers change sides" in explanation) == (text == "llama3.1-8b")


def profiles_with_rises(recovery, rise):
    return rows(
        "model display_name family recovery rise_shown draw_up",
        ("llama3.1-8b", "L8", "Llama 3", 0.02, True, 0.06),
        ("llama3.2-11b", "L11", "Llama 3", 0.02, True, 0.06),
        (MISTRAL, "M", "Mistral", 0.01, True, 0.01),
        ("qwen3-4b", "Q", "Qwen3", recovery, rise, 0.007),
    )


@pytest.mark.parametrize(
    ("recovery", "rise", "expected"),
    [
        (0.0, False, "holds: 0 of 1 rise"),
        (0.001, False, "contradicted: 0 of 1 rise"),
        (-0.1, True, "not supported: 1 of 1 rise"),
    ],
)
def test_absent_pattern_claim_is_contradicted_by_a_rise(recovery, rise, expected):
    assert says("c002_h8_absent", profiles_with_rises(recovery, rise)) == expected


@pytest.mark.parametrize(
    ("printed", "recovery", "expected"),
    [
        ("another", 0.01, "holds: 2 network"),
        ("llama3.1-8b", 0.01, "not supported: 1 network"),
        ("another", 0.0, "not supported: 2 network"),
    ],
)
def test_pattern_specific_to_deep_models_needs_two_networks(printed, recovery, expected):
    profile = rows(
        "model family layers recovery",
        ("llama3.1-8b", "Llama 3", 32, recovery),
        ("llama3.2-11b", "Llama 3", 40, 0.02),
        ("llama3.2-3b", "Llama 3", 28, -0.1),
        ("qwen3-14b", "Qwen3", 40, -0.1),
    )
    fact = rows("fact subject printed", ("llama32_vision_text", "llama3.2-11b", printed))
    stated = states(h8_layers_least="≥32")
    assert says("c002_h8_specific", stated, profile, fact) == expected
    assert "from the 1 smaller ones" in reason("c002_h8_specific", stated, profile, fact)
    stated_deeper = says("c002_h8_specific", states(h8_layers_least="≥33"), profile, fact)
    assert stated_deeper == "not supported: 1 network"
