"""Claims on document 002 about length bins, scores and score hypotheses, each made true and false."""

import pytest

from claims_002_cases import FAMILIES, scored, word
from claims_cases import prints, rows, say, says, states, verdict, verdicts

# --- length bins and scores


def bins(**totals):
    values = {"ministral3-3b": "-0.05", "ministral3-8b": "-0.08", "qwen3-4b": "-0.17", "llama3.2-3b": "-0.23"}
    return prints("model bin printed", *[(name, "total", text) for name, text in {**values, **totals}.items()])


def test_steepest_total_is_the_lowest():
    assert says("c002_t2_steepest", bins()) == "holds: -0.230"
    assert says("c002_t2_steepest", bins(**{"qwen3-4b": "-0.25"})) == "contradicted: -0.230"


def test_flatter_claim_needs_every_ministral_below_every_steep_model():
    ends = {"ministral_drop_least": "-0.050", "ministral_drop_most": "-0.080"}
    ends |= {"other_drop_least": "-0.170", "other_drop_most": "-0.230"}
    stated = states(**{f"t2_{key}": text for key, text in ends.items()})
    assert verdict("c002_t2_ministral_flatter", stated, bins(), FAMILIES) == "holds"
    crossing = bins(**{"ministral3-8b": "-0.18"})
    assert verdict("c002_t2_ministral_flatter", stated, crossing, FAMILIES) == "contradicted"
    other_ends = states(**{f"t2_{key}": text for key, text in {**ends, "other_drop_most": "-0.250"}.items()})
    assert verdict("c002_t2_ministral_flatter", other_ends, bins(), FAMILIES) == "contradicted"


def test_spread_exceeds_its_bound_only_beyond_rounding():
    stated = states(t2_qwen_spread="<0.02")

    def bins_of(small, large):
        table = [("qwen3-4b", "0-8K", small), ("qwen3-14b", "0-8K", large), ("llama3.2-3b", "0-8K", "0.1")]
        return prints("model bin printed", *table, ("qwen3-4b", "total", "0.9"))

    assert says("c002_t2_qwen_spread", stated, bins_of("0.710", "0.700"), FAMILIES) == "holds: 0.0100"
    assert says("c002_t2_qwen_spread", stated, bins_of("0.750", "0.700"), FAMILIES) == "contradicted: 0.0500"
    assert verdict("c002_t2_qwen_spread", stated, bins_of("0.72", "0.70"), FAMILIES) == "holds"  # .01 with the rounding


def test_mode_of_scores_is_identified_by_equal_values():
    cells = [("m", "thinking", "lbp", "8k", "50.1"), ("m", "thinking", "lbp", "128k", "40.2")]
    scores = prints("model mode metric length printed", *cells)
    published = [("m", "thinking", "8k", "50.1"), ("m", "thinking", "128k", "40.2"), ("m", "nonthinking", "8k", "44")]
    overall = prints("model metric printed", ("m", "lbp", "38.5"))
    stated = states(t3_prompt_mode=word("thinking"))
    table = prints("model mode length printed", *published)
    assert says("c002_t3_mode", stated, scores, table, overall) == "holds: thinking"
    other_scores = prints("model mode length printed", *published[:2], ("m", "nonthinking", "8k", "50.1"))
    assert verdict("c002_t3_mode", stated, scores, other_scores, overall) == "contradicted"


def test_metric_beats_the_parameter_count_only_with_a_stronger_correlation():
    def table(drops):
        lines = [
            (drop, score, index, True) for index, (drop, score) in enumerate(zip(drops, (4, 3, 2, 1), strict=True))
        ]
        return rows("ap_drop lbp log_parameters in_source", *lines, (9.0, 9.0, 9.0, False))

    assert says("c002_drop_beats_size", table((1, 2, 3, 4))) == "not supported: |r| = 1.00 against 1.00"
    assert verdict("c002_drop_beats_size", table((1, 2, 3, 4)).assign(log_parameters=[0, 2, 1, 3, 9])) == "holds"
    assert verdict("c002_drop_beats_size", table((2, 1, 4, 3))) == "not supported"


@pytest.mark.parametrize(("drop", "expected"), [("-0.2", "holds: 1 of 1 alike"), ("0.2", "contradicted: 0 of 1 alike")])
def test_two_stated_drops_of_a_model_must_have_one_sign(drop, expected):
    totals = prints("model bin printed", ("a", "total", "-0.1"))
    assert says("c002_drop_signs", totals, prints("model metric printed", ("a", "ap_drop", drop))) == expected


# --- hypotheses on the score


def contrasts_of(estimate, low, high, p=0.01):
    contrasts = [
        (f"{first} - ap_overall, n = {n}", "spearman_difference", estimate, low, high, p, n)
        for first in ("ap_drop", "ap_last_20")
        for n in (7, 10)
    ]
    correlations = [(name, "spearman", 0.5) for name in ("ap_drop", "ap_last_20", "ap_overall")]
    return (
        rows("comparison test estimate ci_low ci_high p_value n", *contrasts),
        rows("comparison test estimate", *correlations),
    )


@pytest.mark.parametrize("claim", ["c002_h1_ordering", "c002_h2_tracks"])
def test_better_metric_claim_needs_a_significant_difference(claim):
    assert says(claim, *contrasts_of(0.4, 0.1, 0.7)) == "holds: +0.40"
    assert verdict(claim, *contrasts_of(0.4, -0.1, 0.9, 0.2)) == "not significant"
    assert verdict(claim, *contrasts_of(-0.4, -0.9, 0.1, 0.2)) == "not supported"
    assert verdict(claim, *contrasts_of(-0.4, -0.7, -0.1)) == "contradicted"


def test_order_within_families_must_be_perfect_in_one_and_ambiguous_in_the_other():
    def family(qwen, ministral):
        return rows(
            "comparison test estimate p_value",
            ("Qwen3", "spearman", qwen, 0.33),
            ("Ministral 3", "spearman", ministral, 1),
        )

    assert verdict("c002_h1_within", family(-1.0, 0.5)) == "holds"
    for one, two in ((1.0, 0.5), (-0.5, 0.5), (-1.0, 1.0), (-1.0, -1.0)):
        assert verdict("c002_h1_within", family(one, two)) == "contradicted"


def test_score_range_must_hold_the_scores_of_the_family():
    assert says("c002_h2_ministral_maps", states(h2_ministral_lbp="30–40"), scored()) == "holds: 30.00 to 40.00"
    assert verdict("c002_h2_ministral_maps", states(h2_ministral_lbp="37–40"), scored()) == "contradicted"


def test_an_order_at_each_length_needs_every_test():
    def tests(*values):
        table = [("spearman", str(index), rho, p / 2, p, 7) for index, (rho, p) in enumerate(values)]
        return rows("test comparison estimate p_value p_adjusted n", *table)

    assert verdict("c002_h3_orders", tests((0.9, 0.01), (0.8, 0.04))) == "holds"
    assert verdict("c002_h3_orders", tests((0.9, 0.01), (0.8, 0.06))) == "not supported"
    assert verdict("c002_h3_orders", tests((-0.9, 0.01), (-0.8, 0.01), (0.1, 0.9))) == "contradicted"
    assert verdict("c002_h3_orders", tests((-0.9, 0.01), (0.8, 0.5))) == "not supported"


def test_relative_declines_are_judged_over_all_scored_models():
    def tests(everyone, seven):
        table = []
        for mode in ("nonthinking", "thinking"):
            for n, (estimate, low, high, p) in ((10, everyone), (7, seven)):
                for test in ("pearson", "spearman"):
                    table.append((f"ap_drop, {mode}, {n}", test, n, estimate, low, high, p / 2, p))
        return rows("comparison test n estimate ci_low ci_high p_value p_adjusted", *table)

    sure, unsure = (0.8, 0.4, 0.95, 0.01), (0.3, -0.4, 0.8, 0.4)
    assert say("c002_h3_relative_decline", tests(sure, unsure))["thinking"] == "holds: r = 0.80"
    assert set(verdicts("c002_h3_relative_decline", tests(unsure, sure)).values()) == {"not significant"}


def test_flat_profile_must_fall_by_less_than_half_of_the_score():
    def lengths(plasticity, plain):
        table = []
        for mode, score in (("thinking", 70.0), ("nonthinking", plain)):
            table += [("ministral3-14b", mode, "8k", 100.0, 1.0), ("ministral3-14b", mode, "128k", score, plasticity)]
        return rows("model mode length lbp plasticity", *table)

    stated = states(h3_ministral3_14b_lbp_from="51.88", h3_ministral3_14b_lbp_to="37.59")
    assert say("c002_h3_ministral_flat", stated, lengths(0.9, 75.0))["flat"].startswith("holds: -10.0 %")
    assert verdicts("c002_h3_ministral_flat", stated, lengths(0.87, 75.0))["flat"] == "not supported"
    assert verdicts("c002_h3_ministral_flat", stated, lengths(0.9, 85.0))["flat"] == "not supported"


def test_comparable_drops_must_be_nearer_than_half_way_to_the_next_family():
    def drops(large):
        return rows(
            "model family ap_drop",
            ("ministral3-3b", "Ministral 3", 0.05),
            ("ministral3-14b", "Ministral 3", large),
            ("q", "Qwen3", 0.15),
            ("m", "Mistral", 0.06),
        )

    assert says("c002_h5_flat", drops(0.09)) == "holds: 0.050 and 0.090"
    assert verdict("c002_h5_flat", drops(0.11)) == "contradicted"


def test_base_capability_claim_needs_low_short_score_and_least_fall():
    def declines(ministral, *others):
        table = [("ministral3-3b", *ministral), *[(f"m{index}", *other) for index, other in enumerate(others)]]
        lines = [("nonthinking", True, model, model, start, fall) for model, start, fall in table]
        return rows("mode in_source model display_name lbp_8k decline", *lines)

    def scores(*values):
        lengths = ("8k", "64k", "128k", "overall")
        return rows(
            "model mode length value",
            *[
                ("ministral3-3b", "nonthinking", length, score)
                for length, score in zip(lengths, (30.0, *values, 1.0), strict=True)
            ],
        )

    low = declines((30.0, 0.04), (25.0, 0.2), (40.0, 0.3))
    assert verdict("c002_h5_bottleneck", low, scores(29.0, 28.8)) == "holds"
    assert verdict("c002_h5_bottleneck", low, scores(25.0, 28.8)) == "not supported"  # one length has too large a loss
    high = declines((30.0, 0.04), (25.0, 0.2), (20.0, 0.3))
    assert verdict("c002_h5_bottleneck", high, scores(29.0, 28.8)) == "contradicted"
