"""Claims on document 002 about its observations of models and families, each made true and false."""

from claims_002_cases import scored, word
from claims_cases import prints, reason, rows, says, states, verdict, verdicts


def test_claim_of_no_relation_needs_an_interval_below_the_other_estimate():
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
    lines = []
    for index, (model, value) in enumerate(values.items()):
        lines += [(table, model, metric, value), (table, model, "lbp", str(40 - index))]
    return prints("table model metric printed", *lines)


def test_highest_aggregate_must_have_the_sixth_score():
    names = {f"m{index}": f"0.{index}" for index in range(1, 6)}
    table = observed("aggregate", "ap_overall", {**names, "ministral3-3b": "0.9", "last": "0.05"})
    everyone = prints("model metric printed", ("a", "ap_overall", "0.95"))
    assert says("c002_aggregate_highest", table, everyone) == "holds: 0.900"
    fifth = observed("aggregate", "ap_overall", {"ministral3-3b": "0.9", **names})
    assert verdict("c002_aggregate_highest", fifth, everyone) == "contradicted"
    lower = observed("aggregate", "ap_overall", {**names, "ministral3-3b": "0.3", "last": "0.05"})
    assert verdict("c002_aggregate_highest", lower, everyone) == "contradicted"


def test_separation_of_families_is_compared_for_both_measures_and_sets():
    def table(last):
        lines = []
        for scope in ("matched", "captured"):
            lines += [(scope, "ap_last_20", 0.9, last, 7), (scope, "ap_overall", 0.5, 0.2, 7)]
        return rows("scope metric eta_squared gap_share n", *lines)

    assert says("c002_last_20_separates", table(0.3)) == "holds: 0.90 against 0.50"
    assert verdict("c002_last_20_separates", table(0.1)) == "contradicted"


def test_last_model_by_plasticity_must_be_last_by_score():
    last = observed("last_20", "ap_last_20", {"a": "0.6", "llama3.2-3b": "0.4"})
    assert says("c002_last_20_llama_last", last) == "holds: 0.400, 39.00"
    for values in ({"llama3.2-3b": "0.4", "a": "0.6"}, {"a": "0.3", "llama3.2-3b": "0.4"}):
        assert verdict("c002_last_20_llama_last", observed("last_20", "ap_last_20", values)) == "contradicted"


def test_last_fifth_ranges_must_hold_the_values():
    stated = states(last_20_ministral="0.57–0.59", last_20_qwen="0.51–0.52")
    assert set(verdicts("c002_last_20_ranges", stated, scored()).values()) == {"holds"}
    low = scored(ap_last_20=[0.57, 0.60, 0.52, 0.50, 0.45, 0.5])
    assert verdicts("c002_last_20_ranges", stated, low) == {"ministral": "contradicted", "qwen": "contradicted"}


def test_most_informative_metric_must_rank_first_significantly():
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


def test_inverse_relation_is_counted_within_families():
    def tests(third):
        table = [("a", "pearson", -0.9, 0.3), ("b", "pearson", -0.5, 0.6), ("c", "pearson", third, 0.5)]
        pooled = rows("comparison test estimate p_value n", ("ap_drop", "pearson_within_family", -0.5, 0.1, 7))
        return rows("comparison test estimate p_value", *table), pooled

    assert says("c002_drop_within_family", *tests(-0.2)) == "holds: 3 of 3 families"
    assert says("c002_drop_within_family", *tests(-0.05)) == "contradicted: 2 of 3 families"


def test_order_of_models_by_score_is_compared_with_their_drops():
    stated = states(drop_ministral3_14b="0.06", drop_ministral3_8b="0.05", drop_ministral3_3b="0.04")
    sizes = ("14b", "8b", "3b")

    def table(scores, *texts):
        frame = [
            ("drop", f"ministral3-{size}", metric, text)
            for size, text, score in zip(sizes, texts, scores, strict=True)
            for metric, text in (("ap_drop", text), ("lbp", score))
        ]
        return prints("table model metric printed", *frame)

    down, turned = ("40.1", "37.8", "30.2"), ("30.2", "37.8", "40.1")
    assert verdict("c002_drop_ministral_order", stated, table(down, "0.06", "0.05", "0.04")) == "holds"
    assert verdict("c002_drop_ministral_order", stated, table(down, "0.07", "0.05", "0.04")) == "contradicted"
    answers = says("c002_drop_ministral_order", stated, table(turned, "0.06", "0.05", "0.04"))
    assert answers == "contradicted: 3B (0.04) > 8B (0.05) > 14B (0.06)"


def test_anomalous_model_must_be_below_its_siblings():
    def table(own):
        drops = {"ministral3-3b": own, "ministral3-8b": "0.06", "ministral3-14b": "0.08", "qwen3-4b": "0.01"}
        lines = [("drop", model, "ap_drop", text) for model, text in drops.items()]
        return prints("table model metric printed", *lines)

    assert verdict("c002_drop_ministral_anomaly", table("0.05")) == "holds"
    assert says("c002_drop_ministral_anomaly", table("0.07")) == "not supported: 0.070 in 0.060 to 0.080"


def test_claim_that_larger_models_drop_less_and_score_more_is_checked():
    assert says("c002_drop_qwen_monotone", scored()) == "holds: 0.180, 0.160"
    assert verdict("c002_drop_qwen_monotone", scored(lbp=[40.0, 30.0, 31.0, 32.0, 20.0, 25.0])) == "contradicted"
    assert verdict("c002_drop_qwen_monotone", scored(ap_drop=[0.06, 0.05, 0.19, 0.18, 0.23, 0.17])) == "contradicted"


def test_steepest_scored_model_must_score_least():
    assert says("c002_drop_llama_steepest", scored()) == "holds: 0.230, 20.00"
    assert verdict("c002_drop_llama_steepest", scored(lbp=[40.0, 10.0, 38.0, 32.0, 20.0, 25.0])) == "contradicted"
    assert verdict("c002_drop_llama_steepest", scored(ap_drop=[0.06, 0.05, 0.3, 0.18, 0.23, 0.17])) == "contradicted"
    # a model without a score in the document changes nothing
    assert verdict("c002_drop_llama_steepest", scored(ap_drop=[0.06, 0.05, 0.16, 0.18, 0.23, 0.4])) == "holds"


def test_typical_drops_are_compared_with_family_means():
    means = rows(
        "scope family ap_drop n",
        ("source", "Ministral 3", 0.07, 3),
        ("source", "Qwen3", 0.17, 3),
        ("source", "Llama 3", 0.2, 1),
    )
    stated = states(drop_ministral_typical="0.07", drop_qwen_typical="0.17", drop_llama_typical="0.23")
    judged = verdicts("c002_drop_typical", stated, means)
    assert judged == {"ministral": "holds", "qwen": "holds", "llama": "contradicted"}


def test_family_order_is_not_supported_when_a_lower_drop_scores_worse():
    means = rows("scope family ap_drop lbp", ("source", "Ministral 3", 0.05, 35.0), ("source", "Qwen3", 0.17, 34.0))
    assert verdict("c002_drop_family_order", means, scored()) == "holds"  # 0.17 is not below every Qwen3 value
    late = scored(ap_drop=[0.06, 0.05, 0.16, 0.18, 0.23, 0.15])
    assert verdict("c002_drop_family_order", means, late) == "not supported"
    assert verdict("c002_drop_family_order", means.assign(lbp=[33.0, 34.0]), scored()) == "not supported"
