"""Claims on document 002, on frames made by hand: each with what makes it true and what makes it false."""

import pandas as pd
import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

DECILES = " ".join(f"d{number}" for number in range(10))


def word(text, number=None):
    """A stated word, with the number that it stands for where there is one."""
    return text, number


FAMILIES = rows(
    "model family display_name captured_context claimed_context parameters_nominal_b "
    "position_encoding attention layers",
    ("ministral3-3b", "Ministral 3", "M3", 131072, 262144, 3.0, "RoPE", "full", 26),
    ("ministral3-8b", "Ministral 3", "M8", 131072, 262144, 8.0, "RoPE", "full", 34),
    ("qwen3-4b", "Qwen3", "Q4", 131072, 131072, 4.0, "RoPE, YaRN", "full", 36),
    ("qwen3-14b", "Qwen3", "Q14", 131072, 131072, 14.0, "RoPE, YaRN", "full", 40),
    ("llama3.2-3b", "Llama 3", "L3", 131072, 131072, 3.0, "RoPE", "full", 28),
)


# --- length bins and scores


def bins(**totals):
    held = {"ministral3-3b": "-0.05", "ministral3-8b": "-0.08", "qwen3-4b": "-0.17", "llama3.2-3b": "-0.23"}
    return prints("model bin printed", *[(name, "total", text) for name, text in {**held, **totals}.items()])


def test_the_steepest_total_is_the_lowest():
    assert says("c002_t2_steepest", bins()) == "holds: -0.230"
    assert says("c002_t2_steepest", bins(**{"qwen3-4b": "-0.25"})) == "contradicted: -0.230"


def test_every_flat_model_falls_by_less_than_every_steep_one():
    ends = {"ministral_drop_least": "-0.050", "ministral_drop_most": "-0.080"}
    ends |= {"other_drop_least": "-0.170", "other_drop_most": "-0.230"}
    stated = states(**{f"t2_{key}": text for key, text in ends.items()})
    assert verdict("c002_t2_ministral_flatter", stated, bins(), FAMILIES) == "holds"
    crossing = bins(**{"ministral3-8b": "-0.18"})
    assert verdict("c002_t2_ministral_flatter", stated, crossing, FAMILIES) == "contradicted"
    other = states(**{f"t2_{key}": text for key, text in {**ends, "other_drop_most": "-0.250"}.items()})
    assert verdict("c002_t2_ministral_flatter", other, bins(), FAMILIES) == "contradicted"


def test_a_spread_is_over_the_bound_only_beyond_its_rounding():
    stated = states(t2_qwen_spread="<0.02")

    def two(one, other):
        table = [("qwen3-4b", "0-8K", one), ("qwen3-14b", "0-8K", other), ("llama3.2-3b", "0-8K", "0.1")]
        return prints("model bin printed", *table, ("qwen3-4b", "total", "0.9"))

    assert says("c002_t2_qwen_spread", stated, two("0.710", "0.700"), FAMILIES) == "holds: 0.0100"
    assert says("c002_t2_qwen_spread", stated, two("0.750", "0.700"), FAMILIES) == "contradicted: 0.0500"
    assert verdict("c002_t2_qwen_spread", stated, two("0.72", "0.70"), FAMILIES) == "holds"  # .01 with the rounding


def test_the_mode_of_scores_is_the_one_they_equal():
    cells = [("m", "thinking", "lbp", "8k", "50.1"), ("m", "thinking", "lbp", "128k", "40.2")]
    scores = prints("model mode metric length printed", *cells)
    published = [("m", "thinking", "8k", "50.1"), ("m", "thinking", "128k", "40.2"), ("m", "nonthinking", "8k", "44")]
    overall = prints("model metric printed", ("m", "lbp", "38.5"))
    stated = states(t3_prompt_mode=word("thinking"))
    found = prints("model mode length printed", *published)
    assert says("c002_t3_mode", stated, scores, found, overall) == "holds: thinking"
    other = prints("model mode length printed", *published[:2], ("m", "nonthinking", "8k", "50.1"))
    assert verdict("c002_t3_mode", stated, scores, other, overall) == "contradicted"


def test_a_metric_is_simpler_than_counting_parameters_only_if_it_goes_closer():
    def table(drops):
        found = [
            (drop, score, place, True) for place, (drop, score) in enumerate(zip(drops, (4, 3, 2, 1), strict=True))
        ]
        return rows("ap_drop lbp log_parameters in_source", *found, (9.0, 9.0, 9.0, False))

    assert says("c002_drop_beats_size", table((1, 2, 3, 4))) == "not supported: |r| = 1.00 against 1.00"
    assert verdict("c002_drop_beats_size", table((1, 2, 3, 4)).assign(log_parameters=[0, 2, 1, 3, 9])) == "holds"
    assert verdict("c002_drop_beats_size", table((2, 1, 4, 3))) == "not supported"


@pytest.mark.parametrize(("drop", "expected"), [("-0.2", "holds: 1 of 1 alike"), ("0.2", "contradicted: 0 of 1 alike")])
def test_two_drops_of_a_model_have_one_sign(drop, expected):
    totals = prints("model bin printed", ("a", "total", "-0.1"))
    assert says("c002_drop_signs", totals, prints("model metric printed", ("a", "ap_drop", drop))) == expected


# --- hypotheses on the score


def better(estimate, low, high, p=0.01):
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
def test_one_metric_is_better_than_another_if_the_difference_is_shown(claim):
    assert says(claim, *better(0.4, 0.1, 0.7)) == "holds: +0.40"
    assert verdict(claim, *better(0.4, -0.1, 0.9, 0.2)) == "not significant"
    assert verdict(claim, *better(-0.4, -0.9, 0.1, 0.2)) == "not supported"
    assert verdict(claim, *better(-0.4, -0.7, -0.1)) == "contradicted"


def test_an_order_within_a_family_is_perfect_or_ambiguous():
    def family(qwen, ministral):
        return rows(
            "comparison test estimate p_value",
            ("Qwen3", "spearman", qwen, 0.33),
            ("Ministral 3", "spearman", ministral, 1),
        )

    assert verdict("c002_h1_within", family(-1.0, 0.5)) == "holds"
    for one, two in ((1.0, 0.5), (-0.5, 0.5), (-1.0, 1.0), (-1.0, -1.0)):
        assert verdict("c002_h1_within", family(one, two)) == "contradicted"


def scored(**changed):
    table = rows(
        "model display_name family lbp ap_drop ap_last_20 ap_overall in_source parameters_nominal_b",
        ("ministral3-8b", "M8", "Ministral 3", 40.0, 0.06, 0.57, 0.70, True, 8.0),
        ("ministral3-3b", "M3", "Ministral 3", 30.0, 0.05, 0.59, 0.72, True, 3.0),
        ("qwen3-14b", "Q14", "Qwen3", 38.0, 0.16, 0.52, 0.65, True, 14.0),
        ("qwen3-4b", "Q4", "Qwen3", 32.0, 0.18, 0.51, 0.64, True, 4.0),
        ("llama3.2-3b", "L3", "Llama 3", 20.0, 0.23, 0.45, 0.60, True, 3.0),
        ("llama3.1-8b", "L8", "Llama 3", 25.0, 0.17, 0.50, 0.62, False, 8.0),
    )
    return table.assign(**changed)


def test_a_range_of_scores_holds_those_of_the_family():
    assert says("c002_h2_ministral_maps", states(h2_ministral_lbp="30–40"), scored()) == "holds: 30.00 to 40.00"
    assert verdict("c002_h2_ministral_maps", states(h2_ministral_lbp="37–40"), scored()) == "contradicted"


def test_an_order_at_each_length_needs_every_test():
    def tests(*values):
        found = [("spearman", str(place), rho, p / 2, p, 7) for place, (rho, p) in enumerate(values)]
        return rows("test comparison estimate p_value p_adjusted n", *found)

    assert verdict("c002_h3_orders", tests((0.9, 0.01), (0.8, 0.04))) == "holds"
    assert verdict("c002_h3_orders", tests((0.9, 0.01), (0.8, 0.06))) == "not supported"
    assert verdict("c002_h3_orders", tests((-0.9, 0.01), (-0.8, 0.01), (0.1, 0.9))) == "contradicted"
    assert verdict("c002_h3_orders", tests((-0.9, 0.01), (0.8, 0.5))) == "not supported"


def test_relative_declines_are_judged_over_all_scored_models():
    def tests(everyone, seven):
        found = []
        for mode in ("nonthinking", "thinking"):
            for n, (estimate, low, high, p) in ((10, everyone), (7, seven)):
                for test in ("pearson", "spearman"):
                    found.append((f"ap_drop, {mode}, {n}", test, n, estimate, low, high, p / 2, p))
        return rows("comparison test n estimate ci_low ci_high p_value p_adjusted", *found)

    sure, unsure = (0.8, 0.4, 0.95, 0.01), (0.3, -0.4, 0.8, 0.4)
    assert say("c002_h3_relative_decline", tests(sure, unsure))["thinking"] == "holds: r = 0.80"
    assert set(verdicts("c002_h3_relative_decline", tests(unsure, sure)).values()) == {"not significant"}


def test_flat_is_less_than_half_of_the_fall_of_the_score():
    def lengths(plasticity, plain):
        found = []
        for mode, score in (("thinking", 70.0), ("nonthinking", plain)):
            found += [("ministral3-14b", mode, "8k", 100.0, 1.0), ("ministral3-14b", mode, "128k", score, plasticity)]
        return rows("model mode length lbp plasticity", *found)

    stated = states(h3_ministral3_14b_lbp_from="51.88", h3_ministral3_14b_lbp_to="37.59")
    assert say("c002_h3_ministral_flat", stated, lengths(0.9, 75.0))["flat"].startswith("holds: -10.0 %")
    assert verdicts("c002_h3_ministral_flat", stated, lengths(0.87, 75.0))["flat"] == "not supported"
    assert verdicts("c002_h3_ministral_flat", stated, lengths(0.9, 85.0))["flat"] == "not supported"


def test_comparable_drops_are_nearer_than_half_of_the_way_to_the_next_family():
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


def test_base_capability_is_low_at_the_shortest_length_with_the_least_fall():
    def declines(own, *others):
        table = [("ministral3-3b", *own), *[(f"m{place}", *each) for place, each in enumerate(others)]]
        found = [("nonthinking", True, model, model, start, fall) for model, start, fall in table]
        return rows("mode in_source model display_name lbp_8k decline", *found)

    assert verdict("c002_h5_bottleneck", declines((30.0, 0.1), (25.0, 0.2), (40.0, 0.3))) == "holds"
    assert verdict("c002_h5_bottleneck", declines((30.0, 0.25), (25.0, 0.2), (40.0, 0.3))) == "contradicted"
    assert verdict("c002_h5_bottleneck", declines((30.0, 0.1), (25.0, 0.2), (20.0, 0.3))) == "contradicted"


# --- observations


def test_no_relation_is_an_interval_below_the_other_estimate():
    def correlations(high):
        return rows(
            "comparison test estimate ci_low ci_high p_value n",
            ("ap_overall", "pearson", 0.2, -0.5, high, 0.6, 7),
            ("ap_drop", "pearson", -0.6, -0.9, 0.1, 0.1, 7),
        )

    stated = states(aggregate_predicts=word("not"))
    assert verdict("c002_aggregate_predicts", stated, correlations(0.5)) == "holds"
    assert verdict("c002_aggregate_predicts", stated, correlations(0.8)) == "not supported"
    assert "cannot show" in reason("c002_aggregate_predicts", stated, correlations(0.8))
    assert "cannot show" not in reason("c002_aggregate_predicts", stated, correlations(0.5))


def observed(table, metric, values):
    found = []
    for place, (model, value) in enumerate(values.items()):
        found += [(table, model, metric, value), (table, model, "lbp", str(40 - place))]
    return prints("table model metric printed", *found)


def test_the_highest_aggregate_has_the_sixth_score():
    names = {f"m{place}": f"0.{place}" for place in range(1, 6)}
    table = observed("aggregate", "ap_overall", {**names, "ministral3-3b": "0.9", "last": "0.05"})
    everyone = prints("model metric printed", ("a", "ap_overall", "0.95"))
    assert says("c002_aggregate_highest", table, everyone) == "holds: 0.900"
    fifth = observed("aggregate", "ap_overall", {"ministral3-3b": "0.9", **names})
    assert verdict("c002_aggregate_highest", fifth, everyone) == "contradicted"
    lower = observed("aggregate", "ap_overall", {**names, "ministral3-3b": "0.3", "last": "0.05"})
    assert verdict("c002_aggregate_highest", lower, everyone) == "contradicted"


def test_families_are_told_apart_better_by_both_measures_in_both_sets():
    def table(last):
        found = []
        for scope in ("matched", "captured"):
            found += [(scope, "ap_last_20", 0.9, last, 7), (scope, "ap_overall", 0.5, 0.2, 7)]
        return rows("scope metric eta_squared gap_share n", *found)

    assert says("c002_last_20_separates", table(0.3)) == "holds: 0.90 against 0.50"
    assert verdict("c002_last_20_separates", table(0.1)) == "contradicted"


def test_the_last_by_plasticity_is_the_last_by_score():
    last = observed("last_20", "ap_last_20", {"a": "0.6", "llama3.2-3b": "0.4"})
    assert says("c002_last_20_llama_last", last) == "holds: 0.400, 39.00"
    for values in ({"llama3.2-3b": "0.4", "a": "0.6"}, {"a": "0.3", "llama3.2-3b": "0.4"}):
        assert verdict("c002_last_20_llama_last", observed("last_20", "ap_last_20", values)) == "contradicted"


def test_ranges_of_the_far_end_hold_the_values():
    stated = states(last_20_ministral="0.57–0.59", last_20_qwen="0.51–0.52")
    assert set(verdicts("c002_last_20_ranges", stated, scored()).values()) == {"holds"}
    low = scored(ap_last_20=[0.57, 0.60, 0.52, 0.50, 0.45, 0.5])
    assert verdicts("c002_last_20_ranges", stated, low) == {"ministral": "contradicted", "qwen": "contradicted"}


def test_the_most_informative_metric_is_first_and_shown_to_be():
    def tests(overall, low):
        correlations = rows(
            "comparison test estimate n",
            ("ap_drop", "pearson", -0.8, 7),
            ("ap_overall", "pearson", overall, 7),
            ("ap_drop", "spearman", 0.1, 7),
        )
        columns = "comparison test estimate ci_low ci_high p_value"
        gap = ("ap_drop - ap_overall, n = 7", "pearson_difference", 0.4, low, 0.9, 0.04)
        return correlations, rows(columns, gap)

    assert says("c002_drop_most_informative", *tests(0.3, 0.1)) == "holds: rank 1 of 2"
    assert says("c002_drop_most_informative", *tests(0.9, 0.1)) == "not supported: rank 2 of 2"
    assert verdict("c002_drop_most_informative", *tests(0.3, -0.1)) == "not supported"


def test_inverse_in_each_family_is_three_of_three():
    def tests(third):
        found = [("a", "pearson", -0.9, 0.3), ("b", "pearson", -0.5, 0.6), ("c", "pearson", third, 0.5)]
        pooled = rows("comparison test estimate p_value n", ("ap_drop", "pearson_within_family", -0.5, 0.1, 7))
        return rows("comparison test estimate p_value", *found), pooled

    assert says("c002_drop_within_family", *tests(-0.2)) == "holds: 3 of 3 families"
    assert says("c002_drop_within_family", *tests(-0.05)) == "contradicted: 2 of 3 families"


def test_an_order_is_that_of_the_printed_values():
    stated = states(drop_ministral3_14b="0.06", drop_ministral3_8b="0.05", drop_ministral3_3b="0.04")
    sizes = ("14b", "8b", "3b")

    def table(*texts):
        found = [("drop", f"ministral3-{size}", "ap_drop", text) for size, text in zip(sizes, texts, strict=True)]
        return prints("table model metric printed", *found)

    assert verdict("c002_drop_ministral_order", stated, table("0.06", "0.05", "0.04")) == "holds"
    found = says("c002_drop_ministral_order", stated, table("0.04", "0.05", "0.06"))
    assert found == "contradicted: 3B (0.06) > 8B (0.05) > 14B (0.04)"


def test_an_anomaly_is_below_its_siblings():
    def table(own):
        drops = {"ministral3-3b": own, "ministral3-8b": "0.06", "ministral3-14b": "0.08", "qwen3-4b": "0.01"}
        found = [("drop", model, "ap_drop", text) for model, text in drops.items()]
        return prints("table model metric printed", *found)

    assert verdict("c002_drop_ministral_anomaly", table("0.05")) == "holds"
    assert says("c002_drop_ministral_anomaly", table("0.07")) == "not supported: 0.070 in 0.060 to 0.080"


def test_larger_models_drop_less_and_score_more():
    assert says("c002_drop_qwen_monotone", scored()) == "holds: 0.180, 0.160"
    assert verdict("c002_drop_qwen_monotone", scored(lbp=[40.0, 30.0, 31.0, 32.0, 20.0, 25.0])) == "contradicted"
    assert verdict("c002_drop_qwen_monotone", scored(ap_drop=[0.06, 0.05, 0.19, 0.18, 0.23, 0.17])) == "contradicted"


def test_the_steepest_of_the_scored_models_scores_least():
    assert says("c002_drop_llama_steepest", scored()) == "holds: 0.230, 20.00"
    assert verdict("c002_drop_llama_steepest", scored(lbp=[40.0, 10.0, 38.0, 32.0, 20.0, 25.0])) == "contradicted"
    assert verdict("c002_drop_llama_steepest", scored(ap_drop=[0.06, 0.05, 0.3, 0.18, 0.23, 0.17])) == "contradicted"
    # one that the document does not score changes nothing
    assert verdict("c002_drop_llama_steepest", scored(ap_drop=[0.06, 0.05, 0.16, 0.18, 0.23, 0.4])) == "holds"


def test_typical_drops_are_means_of_families():
    means = rows(
        "scope family ap_drop n",
        ("source", "Ministral 3", 0.07, 3),
        ("source", "Qwen3", 0.17, 3),
        ("source", "Llama 3", 0.2, 1),
    )
    stated = states(drop_ministral_typical="0.07", drop_qwen_typical="0.17", drop_llama_typical="0.23")
    found = verdicts("c002_drop_typical", stated, means)
    assert found == {"ministral": "holds", "qwen": "holds", "llama": "contradicted"}


def test_an_order_of_families_is_broken_by_a_model_that_drops_less_and_scores_worse():
    means = rows("scope family ap_drop lbp", ("source", "Ministral 3", 0.05, 35.0), ("source", "Qwen3", 0.17, 34.0))
    assert verdict("c002_drop_family_order", means, scored()) == "holds"  # 0.17 is not below every Qwen3
    late = scored(ap_drop=[0.06, 0.05, 0.16, 0.18, 0.23, 0.15])
    assert verdict("c002_drop_family_order", means, late) == "not supported"
    assert verdict("c002_drop_family_order", means.assign(lbp=[33.0, 34.0]), scored()) == "not supported"


# --- the benchmark


def test_samples_tasks_languages_and_lengths_are_those_of_the_data_card():
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
    said = states(overview_format=word("multiple-choice"))
    assert verdict("c002_overview_format", said, facts) == "contradicted"
    choice = facts.assign(printed=facts["printed"].replace("free text", "a choice"))
    assert verdict("c002_overview_format", said, choice) == "holds"


def overlap(**changed):
    table = rows(
        "model benchmark_model match",
        ("ministral3-3b", "M3 (256k)", "exact"),
        ("qwen3-4b", "Q4 (128k)", "exact"),
        ("qwen3-14b", "", ""),
    )
    return table.assign(**changed)


def test_matches_are_counted():
    right = states(overlap_matched="2", overlap_captured="3")
    assert say("c002_overlap_count", right, overlap()) == {"matched": "holds: 2", "captured": "holds: 3"}
    wrong = states(overlap_matched="3", overlap_captured="2")
    assert set(verdicts("c002_overlap_count", wrong, overlap()).values()) == {"contradicted"}


def test_a_match_is_exact_if_the_scored_checkpoint_was_captured():
    known = FAMILIES.assign(
        captured_checkpoint="org/" + FAMILIES["display_name"], scored_checkpoint=FAMILIES["display_name"]
    )
    assert says("c002_overlap_exact", overlap(), known) == "holds: 2 of 2"
    base = known.assign(scored_checkpoint=["M3-it", *known["scored_checkpoint"][1:]])
    assert says("c002_overlap_exact", overlap(), base) == "contradicted: 1 of 2"
    assert "another one" not in reason("c002_overlap_exact", overlap(), known)


def test_windows_are_what_the_makers_claim():
    assert says("c002_overlap_windows", overlap(), FAMILIES) == "holds: 2 of 2"
    wrong = overlap(benchmark_model=["M3 (128k)", "Q4 (128k)", ""])
    assert says("c002_overlap_windows", wrong, FAMILIES) == "contradicted: 1 of 2"


def test_models_without_a_match_have_no_score():
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


def test_near_linear_is_at_least_as_linear_as_another_family():
    assert says("c002_t4_ministral_linear", shapes()) == "holds: R2 0.97 to 0.97"
    assert verdict("c002_t4_ministral_linear", shapes(r_squared=[0.94, 0.95, 0.9, 0.9])) == "not supported"


def test_the_flattest_family_is_below_every_other_over_the_whole_context():
    assert says("c002_t4_ministral_flattest", shapes()) == "holds: 0.100 < 0.250"
    assert verdict("c002_t4_ministral_flattest", shapes(whole=[0.26, 0.25, 0.05, 0.3])) == "contradicted"


def test_the_steepest_family_has_the_largest_mean():
    assert says("c002_t4_llama32_steepest", shapes()) == "holds: 0.300"
    assert verdict("c002_t4_llama32_steepest", shapes(whole=[0.1, 0.31, 0.05, 0.3])) == "contradicted"


def test_larger_models_are_flatter_by_drop_and_by_profile():
    known = rows("model family parameters_nominal_b ap_drop", ("qwen3-4b", "Qwen3", 4, 0.18), ("b", "Qwen3", 8, 0.16))
    two = rows("model whole", ("qwen3-4b", 0.25), ("b", 0.2))
    assert says("c002_t4_qwen_scale", two, known) == "holds: 4B 0.180; 8B 0.160"
    assert verdict("c002_t4_qwen_scale", two, known.assign(ap_drop=[0.18, 0.19])) == "contradicted"
    assert verdict("c002_t4_qwen_scale", two.assign(whole=[0.25, 0.3]), known) == "contradicted"


def bump(*values, shown=True):
    columns = f"model display_name family {DECILES} rise_shown draw_up rounding recovery"
    return rows(
        columns,
        *[(model, model, "Llama 3", *values, shown, 0.1, 0.001, 0.1) for model in ("llama3.1-8b", "llama3.2-11b")],
    )


@pytest.mark.parametrize("claim", ["c002_t4_llama31_8b_rises", "c002_t4_llama32_11b_rises"])
def test_a_profile_falls_rises_at_its_place_and_ends_lowest(claim):
    right = (0.9, 0.8, 0.7, 0.6, 0.5, 0.51, 0.55, 0.6, 0.4, 0.3)
    assert says(claim, bump(*right)) == "holds: draw-up 0.100"
    assert verdict(claim, bump(*right, shown=False)) == "contradicted"
    assert verdict(claim, bump(*right[:9], 0.45)) == "contradicted"  # the last is not the lowest
    assert verdict(claim, bump(0.9, 0.8, 0.7, 0.4, 0.5, 0.51, 0.55, 0.6, 0.4, 0.3)) == "contradicted"  # an earlier dip
    assert verdict(claim, bump(0.9, 0.8, 0.7, 0.6, 0.5, 0.61, 0.55, 0.6, 0.4, 0.3)) == "contradicted"  # an earlier top


def test_a_bump_without_such_layers_speaks_against_them():
    table = rows("model draw_up", ("llama3.2-11b", 0.02), ("llama3.1-8b", 0.03))
    plain = rows("model display_name attention layers", ("llama3.1-8b", "L", "full", 32))
    assert verdict("c002_t4_nope_cause", table, plain) == "contradicted"
    assert verdict("c002_t4_nope_cause", table.assign(draw_up=[0.04, 0.03]), plain) == "holds"
    assert verdict("c002_t4_nope_cause", table, plain.assign(attention="full, cross-attention")) == "holds"


def test_a_trait_of_a_family_is_had_by_its_other_models():
    origin = rows("fact subject printed", ("llama32_vision_text", "llama3.2-11b", "llama3.1-8b"))
    two = bump(*[0.5] * 10)
    other = two.iloc[:1].assign(model="llama3.2-1b", recovery=-0.1)

    def family(recovery):
        return pd.concat([two, other.assign(recovery=recovery)], ignore_index=True)

    assert says("c002_t4_llama_family", family(-0.1), origin) == "not supported: 0 of 1 others"
    assert says("c002_t4_llama_family", family(0.1), origin) == "holds: 1 of 1 others"


# --- RULER and Mistral


def test_two_generations_differ_in_both_metrics():
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
    # first less last fifth: the near end differs by the drop's difference and the last fifth's
    said = reason("c002_generations_lower", table("0.16", "0.47"))
    assert "of the difference of -0.070 in drop the near end makes -0.050" in said
    assert verdict("c002_generations_lower", table("0.24", "0.47")) == "contradicted"
    assert verdict("c002_generations_lower", table("0.16", "0.44")) == "contradicted"


def test_a_generation_keeps_more_than_every_newer_model():
    table = rows(
        "model display_name ap_last_20",
        ("llama3.1-8b", "L", 0.5),
        ("llama3.2-1b", "A", 0.4),
        ("llama3.2-3b", "B", 0.45),
    )
    assert says("c002_generations_distance", table) == "holds: 2 of 2 below"
    assert says("c002_generations_distance", table.assign(ap_last_20=[0.5, 0.6, 0.45])) == "contradicted: 1 of 2 below"


def test_a_ratio_of_biases_follows_from_both():
    table = prints(
        "model metric printed",
        ("mistral-v0.2-7b", "bias_strength", "0.0050"),
        ("ministral3-3b", "bias_strength", "0.0010"),
    )
    assert verdict("c002_predecessor_bias", states(predecessor_bias_ratio="5×"), table) == "holds"
    assert verdict("c002_predecessor_bias", states(predecessor_bias_ratio="9×"), table) == "contradicted"


@pytest.mark.parametrize(("ratio", "expected"), [(0.9, "holds"), (1.2, "contradicted")])
def test_a_bias_over_the_window_is_not_larger(ratio, expected):
    known = rows("model captured_context", ("mistral-v0.2-7b", 32768))
    assert verdict("c002_predecessor_window", rows("window_ratio", (0.8,), (ratio,)), known) == expected


def test_a_share_is_the_mean_of_the_newer_models():
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
def test_a_bias_is_kept_over_the_window_that_was_captured(window, expected):
    assert verdict("c002_predecessor_achievement", states(predecessor_ministral_window=window), FAMILIES) == expected


# --- SmolLM3

LAST, ANNEALED, FIRST = "lc-32k-to-64k-step-20000", "stage3-step-4720000", "stage1-step-40000"


def changes(**after):
    """Changes over the extensions, from 10 to what is given."""
    held = {"key_drift": 12.0, "alpha_k": 1.0, "bias_window": 15.0, "bias_strength": 1.0, "ap_drop": 20.0, **after}
    columns = "span metric before after fold fold_low fold_high ratio ratio_low ratio_high"
    columns += " difference difference_low difference_high"
    found = []
    for metric, end in held.items():
        fold, ratio = 10 / end, end / 10
        found.append(
            ("extensions", metric, 10.0, end, fold, fold, fold, ratio, ratio, ratio, end - 10, end - 10, end - 10)
        )
    return rows(columns, *found)


def test_a_bias_collapses_if_it_or_the_drift_of_keys_shrinks_over_the_window():
    run = rows("checkpoint context", (LAST, 65536), (ANNEALED, 4096))
    assert says("c002_bias_collapse", changes(), run) == "not supported: 1.50-fold per window"
    assert verdict("c002_bias_collapse", changes(bias_window=9.0), run) == "holds"
    assert verdict("c002_bias_collapse", changes(key_drift=9.0), run) == "holds"


def test_a_factor_is_that_of_the_extensions():
    assert says("c002_bias_falls_tenfold", states(finding_bias_ratio="10×"), changes()) == "holds: 10.00"
    assert verdict("c002_bias_falls_tenfold", states(finding_bias_ratio="7×"), changes()) == "contradicted"


BINS = rows(
    "checkpoint bin extension start gap gathered_bias",
    (LAST, "48K-64K", True, 49152, None, 100.0),
    (LAST, "8K-16K", True, 8192, -0.02, 50.0),
    (LAST, "0-1K", True, 0, 0.5, 5.0),
)


def test_plasticity_comes_back_near_only_if_the_bias_is_reduced():
    claim = "c002_bias_collapse_recovers_near"
    assert verdict(claim, changes(), BINS) == "not supported"
    assert verdict(claim, changes(bias_window=9.0), BINS) == "holds"
    assert "within 0.020" in reason(claim, changes(), BINS)
    assert "was not reduced" not in reason(claim, changes(bias_window=9.0), BINS)


def test_near_positions_are_as_in_early_training_within_rounding():
    def table(low, known=0.7):
        return rows(
            "checkpoint phase order at_0_1k at_1k_2k at_1k_2k_low at_1k_2k_high",
            (FIRST, "Pre-train", 1, 0.7, 0.62, 0.61, 0.63),
            (LAST, "LC 32K-64K", 2, known, low, low, low),
        )

    run = rows("checkpoint first_fifth_ends", (LAST, 13107))
    stated = states(finding_near_level=word("as in early training"))
    assert verdict("c002_near_as_flexible", stated, table(0.63), run) == "holds"
    assert verdict("c002_near_as_flexible", stated, table(0.70), run) == "not supported"
    assert verdict("c002_near_as_flexible", stated, table(0.60), run) == "not supported"
    assert verdict("c002_near_as_flexible", stated, table(0.63, None), run) == "not supported"


def test_the_same_bias_is_within_its_rounding():
    def table(late):
        return prints("checkpoint metric printed", (FIRST, "bias_strength", "0.010"), (LAST, "bias_strength", late))

    stated = states(finding_bias_level=word("that bias"))
    assert says("c002_same_bias_level", stated, table("0.010")) == "holds: 1.0 times"
    assert says("c002_same_bias_level", stated, table("0.002")) == "contradicted: 5.0 times"


def test_values_of_the_tables_are_repeated():
    cells = prints(
        "checkpoint bin printed",
        (LAST, "48K-64K", "0.43"),
        ("lc-32k-to-64k-step-4000", "48K-64K", "0.44"),
        (FIRST, "3.5K-4K", "0.57"),
        (ANNEALED, "3.5K-4K", "0.50"),
    )
    assert verdict("c002_far_plasticity", states(finding_far_plasticity="0.43"), cells) == "holds"
    assert verdict("c002_far_plasticity", states(finding_far_plasticity="0.48"), cells) == "contradicted"
    assert verdict("c002_pretraining_level", states(finding_pretraining_plasticity="0.57"), cells) == "holds"
    assert verdict("c002_pretraining_level", states(finding_pretraining_plasticity="0.5"), cells) == "contradicted"


def test_two_candidates_are_two_if_the_bias_orders_no_better():
    def tests(gathered):
        name = "plasticity against {}, bins of all checkpoints"
        return rows(
            "comparison estimate n", (name.format("position"), -0.5, 30), (name.format("gathered bias"), gathered, 30)
        )

    stated = states(finding_candidates=word("two"))
    assert verdict("c002_gap_two_candidates", stated, tests(-0.4)) == "holds"
    assert verdict("c002_gap_two_candidates", stated, tests(-0.9)) == "not supported"


def flat(**changed):
    table = rows(
        "family kind ap_drop bias_strength",
        ("Ministral 3", "model", 0.07, 0.001),
        ("Qwen3", "model", 0.17, 0.002),
        ("SmolLM3", "checkpoint", 0.06, 0.02),
    )
    return table.assign(**changed)


def test_a_small_bias_is_necessary_if_no_other_profile_is_as_flat():
    assert says("c002_h4_necessary", flat()) == "not supported: 1 flat profiles with a large bias"
    assert says("c002_h4_necessary", flat(ap_drop=[0.07, 0.17, 0.08])) == "holds: 0 flat profiles with a large bias"
    assert "1 checkpoints and 0 captured models" in reason("c002_h4_necessary", flat())


def test_a_smaller_bias_is_not_sufficient_only_if_it_is_smaller():
    assert says("c002_h4_not_sufficient", changes()) == "not supported: 1.50-fold per window"
    assert verdict("c002_h4_not_sufficient", changes(bias_window=9.0)) == "holds"
    assert "move together" not in reason("c002_h4_not_sufficient", changes(bias_window=9.0))


def against(token):
    return rows(
        "model family bias_strength_of_smollm3 bias_window_of_smollm3 bias_strength bias_window",
        ("ministral3-3b", "Ministral 3", 1 / token, 0.5, 0.001, 60.0),
        ("smollm3-3b", "SmolLM3", 1.0, 1.0, 0.002, 120.0),
    )


@pytest.mark.parametrize(
    ("claim", "stated"),
    [("c002_h4_comparable", "h4_bias_comparable"), ("c002_ministral_bias_comparable", "cross_bias_comparable")],
)
def test_comparable_is_less_than_twice_as_much(claim, stated):
    said = states(**{stated: word("comparable")})
    assert says(claim, said, against(1.9)) == "holds: 1.9 times"
    assert says(claim, said, against(2.1)) == "contradicted: 2.1 times"


def test_an_excess_is_the_difference_of_two_drops():
    assert verdict("c002_h6_excess", states(h6_excess="10"), changes()) == "holds"
    assert verdict("c002_h6_excess", states(h6_excess="20"), changes()) == "contradicted"


def test_numbers_of_a_hypothesis_follow_from_the_changes():
    drops = rows("family ap_drop", ("Ministral 3", 0.06), ("Ministral 3", 0.08))
    right = states(h4_bias_ratio="10×", h4_drop_ratio="0.5", h6_bias_ratio="10×", h4_ministral_drop="0.07")
    assert set(verdicts("c002_h4_numbers", right, changes(), drops).values()) == {"holds"}
    wrong = states(h4_bias_ratio="7×", h4_drop_ratio="0.9", h6_bias_ratio="7×", h4_ministral_drop="0.17")
    assert set(verdicts("c002_h4_numbers", wrong, changes(), drops).values()) == {"contradicted"}


def test_what_is_left_is_independent_if_no_relation_is_shown():
    run = rows("checkpoint bias_window", (LAST, 120.0))

    def tests(p):
        return rows(
            "comparison test estimate p_value ci_low ci_high n",
            ("per window, checkpoints", "pearson", 0.5, p, -0.1, 0.9, 9),
        )

    assert verdict("c002_h6_independent", run, tests(0.2)) == "holds"
    assert verdict("c002_h6_independent", run, tests(0.01)) == "not supported"


def test_a_range_of_drops_has_its_ends_among_the_models():
    def drops(low, high):
        return rows("family ap_drop", ("Qwen3", low), ("Qwen3", high), ("Llama 3", 0.9))

    stated = states(cross_qwen_drop="0.16–0.19")
    assert says("c002_qwen_drop_range", stated, drops(0.161, 0.186)) == "holds: 0.161 to 0.186"
    for ends in ((0.15, 0.186), (0.17, 0.186), (0.161, 0.2), (0.161, 0.17)):
        assert verdict("c002_qwen_drop_range", stated, drops(*ends)) == "contradicted"


def test_degradation_is_compared_over_the_same_window():
    def table(own):
        return rows(
            "family ap_drop drop_same drop_same_low drop_same_high far_same",
            ("SmolLM3", 0.17, own, own, own, 0.43),
            ("Qwen3", 0.17, 0.12, 0.119, 0.121, 0.58),
        )

    assert verdict("c002_smollm3_like_qwen", table(0.12)) == "holds"
    assert says("c002_smollm3_like_qwen", table(0.16)) == "not supported: 0.160 against 0.120 to 0.120"


def test_a_class_has_two_to_four_billion_parameters_and_one_recipe():
    stated = states(cross_model_class=word("3B class"))

    def sizes(*values):
        return rows("family parameters_nominal_b", *[("Qwen3", value) for value in values])

    found = say("c002_same_class", stated, sizes(2.0, 3.9), FAMILIES)
    assert found == {"size": "holds: 2 to 3.9 billion", "recipe": "not supported"}
    assert verdicts("c002_same_class", stated, sizes(2.0, 4.0), FAMILIES)["size"] == "contradicted"
    assert verdicts("c002_same_class", stated, sizes(1.7), FAMILIES)["size"] == "contradicted"
    assert (
        verdicts("c002_same_class", stated, sizes(3.0), FAMILIES.assign(position_encoding="RoPE"))["recipe"] == "holds"
    )


def test_a_context_is_trained_if_it_is_claimed_and_not_stretched():
    table = rows("model context_trained", ("ministral3-3b", "256K"), ("llama3.2-3b", "64K"), ("qwen3-4b", "128K"))
    found = verdicts("c002_training_contexts", table, FAMILIES)
    assert found == {"ministral3-3b": "holds", "llama32-3b": "contradicted", "qwen3-4b": "not supported"}


# --- tables


def test_drops_are_the_first_fifth_less_the_last():
    table = [("a", "ap_first_20", "0.80"), ("a", "ap_last_20", "0.60")]
    for claim in ("c002_t1_drop", "c002_all_models_drop"):
        assert say(claim, prints("model metric printed", *table, ("a", "ap_drop", "0.20"))) == {"a": "holds: 0.2000"}
        assert say(claim, prints("model metric printed", *table, ("a", "ap_drop", "0.14"))) == {
            "a": "contradicted: 0.2000"
        }


def test_totals_are_the_last_bin_less_the_first():
    table = [("a", "0-8K", "0.80"), ("a", "64K-128K", "0.60")]
    assert say("c002_t2_total", prints("model bin printed", *table, ("a", "total", "-0.20"))) == {"a": "holds: -0.2000"}
    found = say("c002_t2_total", prints("model bin printed", *table, ("a", "total", "0.20")))
    assert found == {"a": "contradicted: -0.2000"}


def test_a_sorted_table_never_rises():
    table = prints("model metric printed", ("a", "ap_overall", "0.8"), ("b", "ap_overall", "0.7"), ("a", "lbp", "90"))
    assert verdict("c002_all_models_sorted", table) == "holds"
    assert verdict("c002_all_models_sorted", table.iloc[::-1]) == "contradicted"


def test_fifths_are_means_of_two_deciles():
    deciles = prints("model decile printed", *[("a", place, f"0.{place}0") for place in range(10)])
    table = prints("model metric printed", ("a", "ap_first_20", "0.05"), ("a", "ap_last_20", "0.80"))
    found = say("c002_t4_ends", deciles, table)
    assert found == {"a-ap_first_20": "holds: 0.0500", "a-ap_last_20": "contradicted: 0.8500"}


def test_declines_are_changes_from_the_first_length():
    table = [("a", "4k", "ruler", "80"), ("a", "8k", "ruler", "60")]
    original = prints("model length metric printed", *table)

    def found(change):
        copy = prints("model length metric printed", *table, ("a", "8k", "ruler_change", change))
        return verdicts("c002_declines_cells", copy, original)

    assert found("-25%") == {"a-4k-ruler": "holds", "a-8k-ruler": "holds", "a-8k-ruler_change": "holds"}
    assert found("-33%")["a-8k-ruler_change"] == "contradicted"
