"""Claims on settings, repeats and derived cells of document 004, on hand-made frames."""

import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

MODELS = ("RoPE", "DroPE")

# --- reproducibility


def protocols(*values):
    """Return settings of runs; each value gives experiment, section, precision, items, note."""
    return rows("experiment section precision items note", *values)


def test_precision_must_be_equal_in_all_runs():
    nf4 = ("1", "2", "4-bit (NF4)", "10 texts", "")
    stated = states(s13_bits="4")
    assert says("c004_rep_precision", stated, protocols(nf4, nf4)) == "holds: 2 of 2 in NF4"
    for other in ("fp16", "4-bit (FP4)", "4-bit"):
        mixed = protocols(nf4, ("4", "5", other, "10 texts", ""))
        assert says("c004_rep_precision", stated, mixed) == "contradicted: 1 of 2 in NF4"


def test_number_of_texts_must_be_equal_in_all_runs():
    stated = prints("parameter printed", ("text_samples", "10"), ("random_seeds", "10"), ("sequence_length", "512"))
    ten = ("1", "2", "fp16", "10 texts", "")
    assert says("c004_rep_texts", stated, protocols(ten, ("2", "3", "fp16", "seeds 0-9", ""))) == "holds: 10 to 10"
    eight = protocols(ten, ("7", "8", "fp16", "8 short texts", ""))
    assert says("c004_rep_texts", stated, eight) == "contradicted: 8 to 10"


@pytest.mark.parametrize(
    ("seeds", "note", "expected"),
    [("0-9", "", "holds"), ("0-4", "", "not supported"), ("0-9", "unseeded prompts", "not supported")],
)
def test_every_run_must_have_the_stated_seeds(seeds, note, expected):
    stated = prints("parameter printed", ("random_seeds", "10"))
    runs = protocols(("2", "3", "fp16", f"seeds {seeds}", ""), ("10", "11", "fp16", "20 trials", note))
    assert verdict("c004_rep_seeds", stated, runs) == expected


def test_stated_length_must_be_that_of_all_runs():
    stated = prints("parameter printed", ("sequence_length", "512"))
    contexts = rows("context", (2048,), (8192,))
    assert verdict("c004_rep_length", stated, protocols(("1", "2", "fp16", "10 texts", "")), contexts) == "holds"
    short = protocols(("5", "6", "fp16", "one text of 40 tokens", ""))
    assert says("c004_rep_length", stated, short, contexts) == "contradicted: up to 8192"


def test_massive_threshold_is_compared_in_each_section():
    stated = states(s1_1_threshold="5", s2_1_threshold="3", s3_1_threshold="5")
    judged = verdicts("c004_rep_threshold", prints("parameter printed", ("massive_threshold", "5")), stated)
    assert list(judged.values()) == ["holds", "contradicted", "holds"]


# --- repeated values


def test_lengths_in_prose_are_compared_with_the_tables():
    names = ("s11_6_short_context", "s11_6_medium_context", "s11_6_extended_context", "s11_5_rope_beyond_context")
    stated = states(**dict(zip(names, ("2048", "4096", "8192", "8192"), strict=True)))
    lengths = rows("context", (2048,), (8192,), (4096,))
    assert set(verdicts("c004_repeated_lengths", stated, lengths).values()) == {"holds"}
    judged = verdicts("c004_repeated_lengths", stated, lengths.assign(context=[2048, 16384, 4096]))
    assert list(judged.values()) == ["holds", "holds", "contradicted", "contradicted"]


def test_range_beyond_training_runs_from_first_to_last_tested_length():
    models = rows("model claimed_context", ("llama2-7b-rope", 4096))
    contexts = rows("context", (2048,), (8192,), (16384,))
    for text, expected in (("8192-16384", ("holds", "holds")), ("6144-16384", ("contradicted", "holds"))):
        judged = verdicts("c004_lengths_beyond", states(s11_1_beyond_contexts=text), contexts, models)
        assert tuple(judged.values()) == expected


def test_error_bars_must_be_one_standard_deviation():
    drawn = prints("figure metric series x printed", *[("A", "count_sd", model, "Query", "6") for model in MODELS])
    for deviation, expected in (("6.0", "holds: 1.00"), ("3.0", "contradicted: 2.00")):
        counts = prints(
            "tensor positional metric printed", *[("query", model, "count_sd", deviation) for model in MODELS]
        )
        assert says("c004_error_bars", states(fig_1_error_bars="1"), drawn, counts) == expected


def test_claim_of_no_errors_needs_a_count_of_zero():
    stated = states(s11_5_rope_within_errors=("no", 0), s11_5_rope_within_context="4096")
    for wrong, expected in ((0, "holds: 0"), (1, "contradicted: 1")):
        table = rows(
            "positional context category count trials",
            ("RoPE", 4096, "exact", 20 - wrong, 20),
            ("RoPE", 4096, "near_miss", wrong, 20),
            ("RoPE", 8192, "no_number", 20, 20),
            ("DroPE", 4096, "near_miss", 9, 20),
        )
        assert says("c004_rope_within_errors", stated, table) == expected


def test_advised_lengths_are_compared_with_the_ends_of_the_table():
    multiples = rows("context", (4096,), (8192,))
    judged = verdicts(
        "c004_advised_lengths", states(s12_2_rope_context="4,000", s12_2_drope_context="16000"), multiples
    )
    assert list(judged.values()) == ["holds", "contradicted"]


# --- disruption, cells


def test_disruption_cells_are_compared_with_the_trials():
    names = {
        "baseline_ppl": "baseline_ppl",
        "massive_zeroed_ppl": "massive_ppl",
        "random_zeroed_ppl": "random_ppl",
        "massive_increase": "massive_increase",
        "random_increase_mean": "random_increase",
        "random_increase_sd": "random_sd_n",
        "mr_difference": "mr_difference",
    }
    table = prints("positional metric printed", *[(model, name, "3.0") for model in MODELS for name in names])
    columns = " ".join(["positional", "seeds", "random_sd_n1", *names.values()])
    trials = rows(columns, ("RoPE", 10, 3.2, *[3.04] * 7), ("DroPE", 10, 3.2, *[3.06] * 7))
    judged = verdicts("c004_disruption_cells", table, trials)
    assert {judged[f"RoPE-{name}"] for name in names} == {"holds"}
    assert {judged[f"DroPE-{name}"] for name in names} == {"contradicted"}


def test_a_difference_follows_from_both_columns():
    def table(difference):
        cells = {"massive_increase": "90.5%", "random_increase_mean": "0.5%", "mr_difference": difference}
        return prints("positional metric printed", *[(model, *cell) for model in MODELS for cell in cells.items()])

    assert set(verdicts("c004_difference_cells", table("90.0%")).values()) == {"holds"}
    assert set(verdicts("c004_difference_cells", table("90.1%")).values()) == {"holds after rounding"}
    assert set(verdicts("c004_difference_cells", table("91.0%")).values()) == {"contradicted"}


def test_increase_cells_are_recomputed_from_perplexities():
    def table(massive):
        cells = {"baseline_ppl": "2.00", "massive_zeroed_ppl": massive, "random_zeroed_ppl": "2.01"}
        cells |= {"massive_increase": "+900%", "random_increase_mean": "+0.6%"}
        return prints("positional metric printed", *[(model, *cell) for model in MODELS for cell in cells.items()])

    # from 2.00 to 20 is +900 %; rounding of 2.00 and 20.0 allows 899.5 to about 904.9
    for text, expected in (("20.0", "holds"), ("20.02", "holds after rounding"), ("20.5", "contradicted")):
        judged = verdicts("c004_increase_cells", table(text))
        assert {judged[f"{model}-massive"] for model in MODELS} == {expected}
        assert {judged[f"{model}-random"] for model in MODELS} == {"holds after rounding"}


def test_a_printed_increase_is_rounded_to_its_last_digit_that_is_not_zero():
    columns = "positional text massive_increase massive_ratio baseline_ppl massive_ppl"
    texts = rows(columns, ("RoPE", "news", 116_400.0, 1165, 5.0, 5825.0))
    for text, expected in (("+116,000%", "holds"), ("+116,300%", "contradicted"), ("+120,000%", "holds")):
        printed = prints("text positional printed", ("news", "RoPE", text))
        assert verdicts("c004_text_cells", printed, texts) == {"RoPE-news": expected}


# --- balance, cells


def balance(share="40.0%", difference="+10.0"):
    """Return shares for three bands of layers: RoPE 30 %, DroPE 40 %."""
    cells = []
    for band in ("0", "1", "2-31"):
        cells += [("RoPE", band, "attention_contribution", "30.0%"), ("DroPE", band, "attention_contribution", share)]
        cells.append(("DroPE", band, "difference_from_rope", difference))
    return prints("positional layers metric printed", *cells)


def test_balance_shares_and_differences_are_compared_with_the_layers():
    summary = rows(
        "layers mean_rope mean_drope n mean_difference",
        *[(band, 30.02, 40.02, n, 10.0) for band, n in (("0", 1), ("1", 1), ("2-31", 30))],
    )
    assert set(verdicts("c004_bal_shares", balance(), summary).values()) == {"holds"}
    judged = verdicts("c004_bal_shares", balance(share="41.0%"), summary)
    assert {key for key, answer in judged.items() if answer != "holds"} == {"DroPE-0", "DroPE-1", "DroPE-2-31"}
    assert set(verdicts("c004_bal_differences", balance()).values()) == {"holds"}
    assert set(verdicts("c004_bal_differences", balance(difference="-10.0")).values()) == {"contradicted"}
    columns = "comparison test ci_low ci_high p_value p_adjusted"
    tests = rows(columns, ("layers 2-31", "paired_t", 8.0, 12.0, 0.01, 0.02))
    layers = rows("layer share_rope share_drope", (0, 30.02, 40.02), (1, 30.0, 40.0), (2, 9.0, 9.0))
    claim = "c004_bal_later_difference"
    assert says(claim, balance(), layers, summary, tests) == "holds: 10.00"
    assert verdict(claim, balance(difference="+9.0"), layers, summary, tests) == "contradicted"
    assert "layers 0 and 1 of the same series agree with" in reason(claim, balance(), layers, summary, tests)
    other = layers.assign(share_drope=[40.02, 40.06, 9.0])
    assert "layers 0 and 1 of the same series do not agree" in reason(claim, balance(), other, summary, tests)


def test_figure_g_mean_is_compared_with_the_table_band():
    def drawn(last):
        return rows(
            "layer positional drawn",
            *[(layer, model, 90.0) for layer in (0, 1) for model in MODELS],
            ("2", "RoPE", 30.0),
            ("3", "DroPE", last),
        ).astype({"layer": int})

    assert set(verdicts("c004_bal_figure_g_mean", balance(), drawn(40.0)).values()) == {"holds"}
    assert say("c004_bal_figure_g_mean", balance(), drawn(44.0))["DroPE"] == "contradicted: 44.00"


# --- ranking at chance


def ranking(low, high):
    note = "a true share of 0.4 reaches with probability 0.8 significance"
    return rows(
        "study comparison estimate ci_low ci_high p_value p_adjusted n note",
        ("pooled", "DroPE, all contexts", 0.25, low, high, 0.9, 0.9, 60, note),
        ("against_chance", "DroPE, 2048", 0.25, 0.1, 0.5, 0.9, 0.9, 20, ""),
    )


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.20, 0.29, ("holds", "holds")), (0.16, 0.34, ("holds", "not supported")),
        (0.10, 0.40, ("not supported", "not supported")), (0.40, 0.60, ("contradicted", "not supported")),
    ],
)  # fmt: skip
def test_at_chance_means_within_ten_points_of_a_quarter(low, high, expected):
    assert tuple(verdicts("c004_rank_drope", ranking(low, high), states(s11_4_chance="25%")).values()) == expected
