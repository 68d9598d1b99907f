"""Claims on document 004, on hand-made frames that make each claim true or false."""

import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

# --- structure


def sections(*numbers, kind="section"):
    table = [("004", kind, number, f"heading {index}", index) for index, number in enumerate(numbers)]
    return rows("document kind number heading position", *table, ("000", kind, "1", "other", 0))


def test_section_numbers_must_be_unique():
    assert says("c004_sections_numbered_once", sections("1", "2", "", "")) == "holds: 2 numbers"
    assert says("c004_sections_numbered_once", sections("1", "2", "2")) == "contradicted: 2 numbers"


def test_figures_must_be_in_numerical_order():
    assert says("c004_figures_in_order", sections("1", "2", "3", kind="caption")) == "holds: 1, 2, 3"
    explanation = reason("c004_figures_in_order", sections("1", "3", "2", kind="caption"))
    assert "Figure 2 come after figures with larger numbers, and 1 come before a smaller one" in explanation
    assert verdict("c004_figures_in_order", sections("1", "2", "2", kind="caption")) == "contradicted"


# --- formats of prompts


def cells(*values):
    """Return retrieval rates; each value gives positional, protocol, context, format, share, beyond."""
    table = [(*value[:5], value[5], int(value[4] / 20), 5, value[4] - 20, value[4] + 20, 5) for value in values]
    return rows("positional protocol context format share beyond correct trials ci_low ci_high digits", *table)


FORMAT_CELLS = cells(
    ("DroPE", "formats", 2048, "ruler", 80.0, False), ("DroPE", "formats", 2048, "simple", 40.0, False)
)


@pytest.mark.parametrize(
    ("low", "p", "expected"), [(10.0, 0.01, "holds"), (-10.0, 0.2, "not significant"), (10.0, 0.06, "not supported")]
)
def test_format_effect_needs_a_significant_corrected_test(low, p, expected):
    columns = "study comparison estimate ci_low ci_high p_value p_adjusted n"
    test = rows(columns, ("formats", "both contexts", 40.0, low, 70.0, p / 2, p, 20))
    assert verdict("c004_fmt_matters", test, FORMAT_CELLS) == expected


def test_doubling_claim_needs_a_ratio_of_two_at_every_length():
    def table(simple):
        return prints(
            "context positional format printed",
            (2048, "DroPE", "ruler", "80%"),
            (2048, "DroPE", "simple", "40%"),
            (4096, "DroPE", "ruler", "40%"),
            (4096, "DroPE", "simple", simple),
        )

    stated = states(s12_1_prompt_ratio="2×")
    assert verdict("c004_fmt_doubles", stated, table("20%")) == "holds"
    assert verdict("c004_fmt_doubles", stated, table("0%")) == "not supported"
    assert verdict("c004_fmt_doubles", stated, table("40%")) == "not supported"
    assert "no ratio" not in reason("c004_fmt_doubles", stated, table("20%"))
    assert "no ratio" in reason("c004_fmt_doubles", stated, table("0%"))


def test_invariance_needs_narrow_intervals():
    stated = states(s12_1_prompt_invariance=("invariant", None))
    rope = cells(("RoPE", "formats", 2048, "ruler", 100.0, False))
    assert verdict("c004_fmt_rope_invariant", stated, rope) == "not supported"
    narrow = rope.assign(ci_low=95.0, ci_high=100.0)
    assert verdict("c004_fmt_rope_invariant", stated, narrow) == "holds"


@pytest.mark.parametrize(
    ("claim", "aspect", "beyond"),
    [
        ("c004_fmt_within_drope", "within_training_accuracy_range", False),
        ("c004_fmt_beyond_drope", "beyond_training_accuracy", True),
    ],
)
def test_trade_off_ranges_must_hold_the_cells_of_their_side(claim, aspect, beyond):
    table = prints("aspect positional printed", (aspect, "DroPE", "30–80%"))
    other = ("DroPE", "lengths", 9, "any", 0.0, not beyond)
    inside = cells(("DroPE", "lengths", 1, "any", 40.0, beyond), ("DroPE", "lengths", 2, "any", 80.0, beyond), other)
    assert says(claim, table, inside) == "holds: 40 to 80 %"
    for share in (20.0, 100.0):
        outside = cells(("DroPE", "lengths", 1, "any", share, beyond), ("DroPE", "lengths", 2, "any", 60.0, beyond))
        assert verdict(claim, table, outside) == "contradicted"


def test_trade_off_rows_are_compared_with_the_cells_of_a_model():
    table = prints(
        "aspect positional printed as_number",
        ("within_training_accuracy", "RoPE", "100%", None),
        ("beyond_training_accuracy", "RoPE", "fails", 0.0),
    )
    right_cells = cells(("RoPE", "lengths", 1, "any", 100.0, False), ("RoPE", "lengths", 9, "any", 0.0, True))
    assert verdicts("c004_fmt_rope_rows", table, right_cells) == {"within": "holds", "beyond": "holds"}
    wrong_cells = cells(("RoPE", "lengths", 1, "any", 80.0, False), ("RoPE", "lengths", 9, "any", 20.0, True))
    assert verdicts("c004_fmt_rope_rows", table, wrong_cells) == {"within": "contradicted", "beyond": "contradicted"}


def test_ranking_ends_are_limited_to_the_training_length():
    # RoPE is tested up to 4096 tokens, DroPE up to 8192
    ranking = rows(
        "positional context share",
        ("RoPE", 2048, 60.0),
        ("RoPE", 4096, 90.0),
        ("RoPE", 8192, 0.0),
        ("DroPE", 4096, 30.0),
        ("DroPE", 8192, 50.0),
    )
    table = prints(
        "aspect positional printed", ("verification_range", "RoPE", "60–90%"), ("verification_range", "DroPE", "30–50%")
    )
    answers = say("c004_fmt_ranges", table, ranking)
    assert answers == {
        "RoPE-low": "holds: 60",
        "RoPE-high": "holds: 90",
        "DroPE-low": "holds: 30",
        "DroPE-high": "holds: 50",
    }
    long_contexts = ranking.assign(context=[2048, 4096, 4096, 4096, 16384])
    answers = say("c004_fmt_ranges", table, long_contexts)
    assert answers["RoPE-low"] == "contradicted: 0"
    assert answers["DroPE-high"] == "holds: 30"  # within the printed range


# --- digits of wrong answers


def test_off_by_one_claim_is_judged_by_the_number_of_digits():
    stated = states(s11_4_passkey_digits="5")

    def examples(*outputs):
        return rows("example output", *[(f"generic_{index}", text) for index, text in enumerate(outputs)])

    assert says("c004_ans_off_by_one", examples("12345", "123"), stated) == "holds"
    assert says("c004_ans_off_by_one", examples("12345", "1234"), stated) == "not supported: 1234"
    assert verdict("c004_ans_off_by_one", examples("123456"), stated) == "not supported"
    assert "has 0 digits" not in reason("c004_ans_off_by_one", examples("12345"), stated)


def test_cut_off_numbers_are_counted_as_prefixes():
    columns = "examples prefixes last_kept in_run chance_in_run"
    frame = rows("example", ("a",))
    assert says("c004_ans_cut_off", rows(columns, (5, 5, 0, 3, 40)), frame) == "holds: 5 of 5"
    assert says("c004_ans_cut_off", rows(columns, (5, 1, 4, 3, 40)), frame) == "contradicted: 1 of 5"


def test_missing_digits_are_compared_with_the_output():
    errors = rows(
        "example shorter_by_one target output stated deleted position",
        ("a", True, "12345", "1235", "4", "4", "4"),
        ("b", True, "12345", "1235", "5", "4", "4"),
        ("c", False, "1", "2", "1", "", ""),
    )
    table = say("c004_ans_missing_digit", rows("example", ("a",)), errors)
    assert table == {"a": "holds: 4", "b": "contradicted: 4"}


def test_near_miss_example_has_the_stated_number_of_wrong_digits():
    errors = rows("example substituted runs_alike", ("near_miss_1", 1, True))
    for stated, expected in ((1, "holds: 1"), (2, "contradicted: 1")):
        assert (
            says("c004_ans_near_miss_example", rows("example wrong_digits", ("near_miss_1", stated)), errors)
            == expected
        )


# --- sinks


def test_a_threshold_is_the_same_in_prose_formula_and_code():
    keys = ("s5_1_sink_threshold_formula", "s5_2_sink_threshold_comment", "s5_2_sink_threshold_code")

    def stated(*qualifiers):
        places = ("s5_1_sink_threshold", *keys)
        table = [(key, "0.3", qualifier) for key, qualifier in zip(places, qualifiers, strict=True)]
        return prints("statement printed qualifier", *table)

    above, at_least = "more_than", "at_least"
    assert says("c004_sink_threshold_strict", stated(above, above, above, above)) == "holds: more than 0.3"
    answer = says("c004_sink_threshold_strict", stated(above, at_least, at_least, at_least))
    assert answer == "contradicted: at least 0.3"
    assert verdict("c004_sink_threshold_strict", stated(above, above, above, at_least)) == "contradicted"


@pytest.mark.parametrize(("shortest", "expected"), [(0.29, "holds"), (0.31, "not supported")])
def test_uniform_attention_must_stay_below_the_sink_threshold(shortest, expected):
    table = rows(
        "quantity value",
        ("even_score_shortest", shortest),
        ("even_score_longest", 0.1),
        ("shortest_prompt", 10),
        ("longest_prompt", 40),
        ("longest_even_sink", 12),
    )
    assert verdict("c004_sink_threshold_disproportionate", table, states(s5_1_sink_threshold="0.3")) == expected


# --- ranking


def verification(**cells):
    table = [
        (model, context, text)
        for model, texts in cells.items()
        for context, text in zip((2048, 4096), texts, strict=True)
    ]
    return prints("positional context printed", *table)


def ranking(rope, drope):
    table = [
        (model, context, share, int(share / 5), 20, 0, 100)
        for model, shares in (("RoPE", rope), ("DroPE", drope))
        for context, share in zip((2048, 4096), shares, strict=True)
    ]
    return rows("positional context share correct trials ci_low ci_high", *table)


def chance(p, study="against_chance"):
    return rows(
        "study comparison p_value p_adjusted", *[(study, f"RoPE, {context}", p / 2, p) for context in (2048, 4096)]
    )


def test_number_of_passkey_digits_is_compared_with_the_script():
    row = rows("section passkey_digits", ("11.4", 7))
    assert says("c004_rank_digits", states(s11_4_passkey_digits="7"), row) == "holds: 7"
    assert says("c004_rank_digits", states(s11_4_passkey_digits="5"), row) == "contradicted: 7"


def test_negligible_differences_are_judged_with_and_without_rounding():
    stated = states(s11_4_discrimination="1-2%")
    assert verdict("c004_rank_negligible", stated, verification(RoPE=("0.01", "0.02"))) == "holds"
    assert verdict("c004_rank_negligible", stated, verification(RoPE=("0.01", "0.03"))) == "holds after rounding"
    assert verdict("c004_rank_negligible", stated, verification(RoPE=("0.01", "0.05"))) == "contradicted"


def test_claim_that_neither_can_verify_needs_ranks_at_chance():
    stated = states(s11_4_verifying_models=("neither", 0))
    assert verdict("c004_rank_neither", stated, chance(0.06)) == "holds"
    assert says("c004_rank_neither", stated, chance(0.04)) == "contradicted: RoPE"
    assert verdict("c004_rank_neither", stated, chance(0.04, study="pooled")) == "holds"


def test_larger_yes_difference_must_go_with_better_ranking():
    table = verification(RoPE=("0.01", "0.01"), DroPE=("0.02", "0.00"))
    for ranks, expected in (((85, 30), "holds"), ((30, 30), "not supported")):
        frame = ranking((80, 90), ranks)
        assert verdict("c004_rank_difference_measures", table, frame) == expected
        assert ("opposite" in reason("c004_rank_difference_measures", table, frame)) == (expected != "holds")


def test_ranking_must_lie_in_the_stated_range_and_above_chance():
    stated = states(s11_4_rope_ranking="80-90%")
    assert says("c004_rank_rope", stated, ranking((80, 90), (0, 0)), chance(0.04)) == "holds: 80 to 90 %"
    assert verdict("c004_rank_rope", stated, ranking((70, 90), (0, 0)), chance(0.04)) == "contradicted"
    assert verdict("c004_rank_rope", stated, ranking((80, 90), (0, 0)), chance(0.06)) == "contradicted"


def test_ranking_chance_is_one_among_all_candidates():
    axes = prints("figure element printed", ("J", "reference_line", "33%"))
    stated = states(s11_4_distractors="3", s11_4_chance="25%")
    assert say("c004_rank_chance", stated, axes) == {"text": "holds: 25", "figure": "contradicted: 25"}


def test_alignment_needs_a_larger_difference_at_every_length():
    assert verdict("c004_rank_alignment", verification(RoPE=("0.02", "0.03"), DroPE=("0.01", "0.01"))) == "holds"
    table = verification(RoPE=("0.02", "0.01"), DroPE=("0.01", "0.01"))
    assert verdict("c004_rank_alignment", table) == "not supported"
    assert "larger at 1 of 2 lengths" in reason("c004_rank_alignment", table)


def test_puzzle_claim_needs_both_protocols_to_copy():
    stated = states(s11_4_drope_copy_context="8192", s11_4_drope_copy="80%")

    def table(other):
        return cells(("DroPE", "lengths", 8192, "any", 80.0, True), ("DroPE", "errors", 8192, "any", other, True))

    assert verdict("c004_rank_puzzle", stated, table(20.0)) == "holds"
    assert says("c004_rank_puzzle", stated, table(0.0)) == "not supported: 80 and 0 %"
    assert "no puzzle" not in reason("c004_rank_puzzle", stated, table(20.0))
