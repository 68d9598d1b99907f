"""Claims on document 004 about wrong answers and about its introduction, on hand-made frames."""

import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts


def shares(*values):
    """Return shares of answers in 20 trials; each value gives positional, context, category, count, errors."""
    columns = (
        "positional context category count trials share errors share_of_errors "
        "errors_ci_low errors_ci_high ci_low ci_high"
    )
    table = []
    for model, context, category, count, errors in values:
        of_errors = 0.0 if category == "exact" else 100 * count / errors
        share = 5.0 * count
        bounds = (of_errors - 9, of_errors + 9, share - 15, share + 15)
        table.append((model, context, category, count, 20, share, errors, of_errors, *bounds))
    return rows(columns, *table)


SHORT = shares(
    ("DroPE", 2048, "exact", 6, 14),
    ("DroPE", 2048, "near_miss", 2, 14),
    ("DroPE", 2048, "off_by_one_length", 9, 14),
    ("DroPE", 2048, "wrong_length", 3, 14),
)


def test_counts_add_up_to_the_trials():
    assert verdicts("c004_ans_trials", states(s11_5_trials="20"), SHORT) == {"2048": "holds"}
    assert say("c004_ans_trials", states(s11_5_trials="20"), SHORT.iloc[1:]) == {"2048": "contradicted: 14"}


def test_percentages_are_counts_over_trials():
    kinds = {"exact": "30%", "near_miss": "10%", "off_by_one_length": "45%", "wrong_length": "20%"}
    table = prints(
        "positional context category metric printed",
        *[("DroPE", 2048, kind, "share", text) for kind, text in kinds.items()],
    )
    answers = say("c004_ans_shares", table, SHORT)
    assert answers["2048-wrong_length"] == "contradicted: 15"
    assert {answers[f"2048-{kind}"].partition(":")[0] for kind in list(kinds)[:3]} == {"holds"}


@pytest.mark.parametrize(
    ("claim", "key", "texts"),
    [
        # two of fourteen errors are 14.3 %; two of twenty trials are 10 %
        ("c004_ans_near_misses", "s11_5_near_miss_share", ("14%", "10%", "20%")),
        ("c004_ans_figure_i_near_misses", "fig_i_near_miss_share", ("14%", "10%", "20%")),
        # nine of fourteen errors are 64.3 %; nine of twenty trials are 45 %
        ("c004_ans_truncations", "s11_5_truncation_share", ("64%", "45%", "50%")),
        ("c004_ans_figure_i_truncations", "fig_i_truncation_share", ("64%", "45%", "50%")),
    ],
)
def test_share_of_errors_is_distinguished_from_share_of_trials(claim, key, texts):
    answers = [verdict(claim, states(**{key: text}), SHORT) for text in texts]
    assert answers == ["holds", "contradicted", "contradicted"]


def test_dominant_error_is_the_most_frequent_inexact_class():
    assert says("c004_ans_dominant", SHORT) == "holds: 64.2857"
    other_counts = SHORT.assign(count=[15, 4, 2, 3])
    assert verdict("c004_ans_dominant", other_counts) == "contradicted"
    assert verdict("c004_ans_dominant", SHORT.assign(count=[15, 2, 3, 1])) == "holds"


def test_truncation_claim_compares_counts_over_all_lengths():
    columns = "category count errors share"
    most = rows(columns, ("off_by_one_length", 12, 30, 40.0), ("wrong_length", 10, 30, 33.0))
    assert says("c004_ans_drope_truncates", most) == "holds: 40.0000"
    assert says("c004_ans_drope_truncates", most.assign(count=[12, 14])) == "contradicted: 40.0000"
    assert "2048 tokens alone" not in reason("c004_ans_drope_truncates", most)
    assert "2048 tokens alone" in reason("c004_ans_drope_truncates", most.assign(count=[12, 14]))


@pytest.mark.parametrize(("count", "expected"), [(6, "holds: 30.0000"), (7, "contradicted: 35.0000")])
def test_largely_failing_claim_needs_less_than_half_correct(count, expected):
    table = shares(("DroPE", 4096, "exact", count, 14), ("RoPE", 4096, "exact", 20, 0))
    assert says("c004_ans_4096_fails", table) == expected


def test_claim_that_both_fail_needs_zero_in_every_protocol():
    columns = "positional protocol context share correct trials"
    for share, expected in ((0.0, "holds: 0 and 0 %"), (80.0, "contradicted: 0 and 80 %")):
        table = rows(columns, ("DroPE", "errors", 8192, 0.0, 0, 20), ("DroPE", "lengths", 8192, share, 4, 5))
        assert says("c004_ans_8192_both_fail", table) == expected


def test_two_answer_kinds_must_cover_all_answers():
    stated = states(s11_5_rope_beyond_no_number="60%", s11_5_rope_beyond_wrong_length="40%")
    table = shares(("RoPE", 8192, "no_number", 12, 20), ("RoPE", 8192, "wrong_length", 8, 20))
    assert says("c004_ans_rope", stated, table) == "holds: 100 %"
    assert verdict("c004_ans_rope", stated, table.assign(count=[12, 7])) == "contradicted"
    smaller_shares = states(s11_5_rope_beyond_no_number="60%", s11_5_rope_beyond_wrong_length="30%")
    assert says("c004_ans_rope", smaller_shares, table) == "contradicted: 90 %"


def test_figure_i_wrong_share_sums_the_error_classes():
    table = shares(("RoPE", 8192, "no_number", 12, 20), ("RoPE", 8192, "wrong_length", 4, 20))

    def drawn(text):
        return prints("figure series x printed", ("I", "Wrong", "RoPE 8192", text), ("J", "Wrong", "RoPE 8192", "1"))

    assert say("c004_ans_figure_i", drawn("80"), table) == {"RoPE-8192-wrong": "holds: 80"}
    assert say("c004_ans_figure_i", drawn("60"), table) == {"RoPE-8192-wrong": "contradicted: 80"}


# --- the opening


def test_evenly_spread_layers_are_below_twice_the_even_share():
    # a uniform share over 32 layers is 3.125 %
    def layers(query, key):
        return rows("tensor share_rope", ("query", 1.0), ("query", query), ("key", key), ("value", 90.0))

    assert verdict("c004_rope_spread", layers(6.2, 6.2)) == "holds"
    assert verdict("c004_rope_spread", layers(6.3, 6.2)) == "contradicted"
    assert verdict("c004_rope_spread", layers(6.2, 6.3)) == "contradicted"


def test_concentrated_layer_needs_more_than_half_of_queries_and_keys():
    for key, expected in ((51.0, "holds: 60.0 % and 51.0 %"), (50.0, "not supported: 60.0 % and 50.0 %")):
        table = rows("tensor layer1_share_drope top_layer_drope", ("query", 60.0, 1), ("key", key, 3))
        assert says("c004_concentrated_layer1", table) == expected
        assert "of those of queries, where layer 1 is the fullest" in reason("c004_concentrated_layer1", table)


def test_vestigial_claim_is_contradicted_by_a_significant_task_loss():
    texts = rows("positional massive_ratio", ("RoPE", 1000.0))
    for p, expected in ((0.2, "holds"), (0.01, "contradicted")):
        columns = "positional task base disrupted p_fisher p_holm n"
        table = rows(columns, ("RoPE", "passkey", 100.0, 0.0, p, p, 20))
        assert verdict("c004_rope_vestigial", table, texts) == expected


def test_passkey_method_is_compared_between_text_and_script():
    def stated(method):
        return prints(
            "statement quantity printed",
            ("paradox_passkey_rope_disrupted", "Passkey with massive values zeroed", "0%"),
            ("s4_1_disrupted_dimensions", method, "1"),
        )

    assert says("c004_passkey_zeroed", stated("dimensions set to zero")) == "holds: zeroed"
    assert says("c004_passkey_zeroed", stated("dimensions set to the mean")) == "contradicted: mean"
    assert "by its mean" not in reason("c004_passkey_zeroed", stated("dimensions set to zero"))


def test_layers_and_heads_are_compared_with_both_models():
    def models(heads):
        pair = (("llama2-7b-rope", 32, 32), ("llama2-7b-drope", 32, heads))
        return rows("model layers query_heads", *pair, ("other", 1, 1))

    stated = states(deeper_layers="32", deeper_heads="32")
    assert verdicts("c004_layers_and_heads", stated, models(32)) == {"layers": "holds", "heads": "holds"}
    assert verdicts("c004_layers_and_heads", stated, models(16)) == {"layers": "holds", "heads": "contradicted"}


def test_long_context_is_open_only_when_not_measured():
    stated = states(meaning_untested_32k=("32768", None), meaning_untested_128k=("131072", None))
    assert says("c004_long_context_open", stated, rows("context", (8192,))) == "holds: 8192"
    assert says("c004_long_context_open", stated, rows("context", (8192,), (32768,))) == "contradicted: 32768"


def test_abstract_falls_are_changes_with_the_opposite_sign():
    counts = prints(
        "tensor metric printed", ("query", "change_from_rope", "-30.0%"), ("key", "change_from_rope", "+11.0%")
    )
    layers = prints("layers metric printed", ("2-31", "change_from_rope", "-60%"))
    stated = states(paradox_query_fall="30%", paradox_key_fall="11%", paradox_later_layers_fall="60%")
    assert list(verdicts("c004_abstract_falls", stated, counts, layers).values()) == ["holds", "contradicted", "holds"]


def test_about_200_means_170_to_230():
    table = prints(
        "positional condition metric printed",
        ("DroPE", "layer1_mlp", "ppl_ratio", "201x"),
        ("DroPE", "layer1_attn", "ppl_ratio", "231x"),
    )
    judged = verdicts("c004_abstract_about_200", states(deeper_drope_either_ablation="~200x"), table)
    assert judged == {"layer1_mlp": "holds", "layer1_attn": "contradicted"}
