"""Claims on document 002 about plasticity and bias over SmolLM3's training, each made true and false."""

import pytest

from claims_002_cases import FAMILIES, word
from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

LAST, ANNEALED, FIRST = "lc-32k-to-64k-step-20000", "stage3-step-4720000", "stage1-step-40000"


def changes(**after):
    """Return the changes over the extensions, from 10 to the given values."""
    values = {"key_drift": 12.0, "alpha_k": 1.0, "bias_window": 15.0, "bias_strength": 1.0, "ap_drop": 20.0, **after}
    columns = "span metric before after fold fold_low fold_high ratio ratio_low ratio_high"
    columns += " difference difference_low difference_high"
    table = []
    for metric, end in values.items():
        fold, ratio = 10 / end, end / 10
        table.append(
            ("extensions", metric, 10.0, end, fold, fold, fold, ratio, ratio, ratio, end - 10, end - 10, end - 10)
        )
    return rows(columns, *table)


def test_bias_collapse_needs_a_smaller_bias_or_key_drift_over_the_window():
    run = rows("checkpoint context", (LAST, 65536), (ANNEALED, 4096))
    assert says("c002_bias_collapse", changes(), run) == "not supported: 1.50-fold per window"
    assert verdict("c002_bias_collapse", changes(bias_window=9.0), run) == "holds"
    assert verdict("c002_bias_collapse", changes(key_drift=9.0), run) == "holds"


def test_bias_ratio_is_that_of_the_extensions():
    assert says("c002_bias_falls_tenfold", states(finding_bias_ratio="10×"), changes()) == "holds: 10.00"
    assert verdict("c002_bias_falls_tenfold", states(finding_bias_ratio="7×"), changes()) == "contradicted"


BINS = rows(
    "checkpoint bin extension start gap gathered_bias",
    (LAST, "48K-64K", True, 49152, None, 100.0),
    (LAST, "8K-16K", True, 8192, -0.02, 50.0),
    (LAST, "0-1K", True, 0, 0.5, 5.0),
)


def test_plasticity_recovery_claim_needs_a_reduced_bias():
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


def test_equal_bias_levels_are_judged_within_rounding():
    def table(late):
        return prints("checkpoint metric printed", (FIRST, "bias_strength", "0.010"), (LAST, "bias_strength", late))

    stated = states(finding_bias_level=word("that bias"))
    assert says("c002_same_bias_level", stated, table("0.010")) == "holds: 1.0 times"
    assert says("c002_same_bias_level", stated, table("0.002")) == "contradicted: 5.0 times"


def test_stated_plasticities_are_compared_with_the_tables():
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


def test_claim_of_two_candidates_needs_a_bias_that_orders_no_better():
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
        "family kind ap_drop bias_strength context",
        ("Ministral 3", "model", 0.07, 0.001, 131072),
        ("Qwen3", "model", 0.17, 0.002, 131072),
        ("SmolLM3", "checkpoint", 0.06, 0.02, 4096),
    )
    return table.assign(**changed)


def test_necessary_bias_claim_needs_no_equally_flat_profile():
    assert verdict("c002_h4_necessary", flat()) == "not testable"  # this checkpoint was captured over a shorter window
    long = flat(context=131072)
    assert says("c002_h4_necessary", long) == "contradicted: 1 flat profiles besides"
    assert verdict("c002_h4_necessary", long.assign(bias_strength=[0.001, 0.002, 0.0009])) == "holds"


def test_claim_that_a_smaller_bias_is_not_sufficient_needs_a_smaller_bias():
    assert says("c002_h4_not_sufficient", changes()) == "not supported: 1.50-fold per window"
    assert verdict("c002_h4_not_sufficient", changes(bias_window=9.0)) == "holds"
    assert "move together" not in reason("c002_h4_not_sufficient", changes(bias_window=9.0))


def comparison(token):
    return rows(
        "model family bias_strength_of_smollm3 bias_window_of_smollm3 bias_strength bias_window",
        ("ministral3-3b", "Ministral 3", 1 / token, 0.5, 0.001, 60.0),
        ("smollm3-3b", "SmolLM3", 1.0, 1.0, 0.002, 120.0),
    )


@pytest.mark.parametrize(
    ("claim", "stated"),
    [("c002_h4_comparable", "h4_bias_comparable"), ("c002_ministral_bias_comparable", "cross_bias_comparable")],
)
def test_comparable_means_less_than_twice(claim, stated):
    stated_words = states(**{stated: word("comparable")})
    assert says(claim, stated_words, comparison(1.9)) == "holds: 1.9 times"
    assert says(claim, stated_words, comparison(2.1)) == "contradicted: 2.1 times"


def test_stated_excess_is_the_difference_of_two_drops():
    assert verdict("c002_h6_excess", states(h6_excess="10"), changes()) == "holds"
    assert verdict("c002_h6_excess", states(h6_excess="20"), changes()) == "contradicted"


def test_numbers_of_hypothesis_4_are_recomputed_from_the_changes():
    drops = rows("family ap_drop", ("Ministral 3", 0.06), ("Ministral 3", 0.08))
    right = states(h4_bias_ratio="10×", h4_drop_ratio="0.5", h6_bias_ratio="10×", h4_ministral_drop="0.07")
    assert set(verdicts("c002_h4_numbers", right, changes(), drops).values()) == {"holds"}
    wrong = states(h4_bias_ratio="7×", h4_drop_ratio="0.9", h6_bias_ratio="7×", h4_ministral_drop="0.17")
    assert set(verdicts("c002_h4_numbers", wrong, changes(), drops).values()) == {"contradicted"}


def test_independence_claim_is_not_supported_when_a_relation_is_significant():
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
    for interval in ((0.15, 0.186), (0.17, 0.186), (0.161, 0.2), (0.161, 0.17)):
        assert verdict("c002_qwen_drop_range", stated, drops(*interval)) == "contradicted"


def test_degradation_is_compared_over_the_same_window():
    def table(own):
        return rows(
            "family ap_drop drop_same drop_same_low drop_same_high far_same",
            ("SmolLM3", 0.17, own, own, own, 0.43),
            ("Qwen3", 0.17, 0.12, 0.119, 0.121, 0.58),
        )

    assert verdict("c002_smollm3_like_qwen", table(0.12)) == "holds"
    assert says("c002_smollm3_like_qwen", table(0.16)) == "not supported: 0.160 against 0.120 to 0.120"


def test_model_class_needs_two_to_four_billion_parameters_and_one_recipe():
    stated = states(cross_model_class=word("3B class"))

    def sizes(*values):
        return rows("family parameters_nominal_b", *[("Qwen3", value) for value in values])

    judged = say("c002_same_class", stated, sizes(2.0, 3.9), FAMILIES)
    assert judged == {"size": "holds: 2 to 3.9 billion", "recipe": "not supported"}
    assert verdicts("c002_same_class", stated, sizes(2.0, 4.0), FAMILIES)["size"] == "contradicted"
    assert verdicts("c002_same_class", stated, sizes(1.7), FAMILIES)["size"] == "contradicted"
    assert (
        verdicts("c002_same_class", stated, sizes(3.0), FAMILIES.assign(position_encoding="RoPE"))["recipe"] == "holds"
    )


def test_trained_context_must_be_claimed_and_not_scaled():
    table = rows("model context_trained", ("ministral3-3b", "256K"), ("llama3.2-3b", "64K"), ("qwen3-4b", "128K"))
    judged = verdicts("c002_training_contexts", table, FAMILIES)
    assert judged == {"ministral3-3b": "holds", "llama32-3b": "contradicted", "qwen3-4b": "not supported"}
