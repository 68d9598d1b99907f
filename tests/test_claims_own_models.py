"""Claims of the thesis on benchmarks, anchoring, lab tasks and training, on hand-made frames."""

import pytest

from claims_cases import reason, rows, says, verdict

# --- benchmarks

TEST = "comparison test estimate p_value p_adjusted n effect_ci_low effect_ci_high"


def correlations(*tests, n=7):
    """Return tests; each of `tests` is metric, test, r, p and corrected p."""
    return rows(TEST, *[(*test, n, -0.1, 0.4) for test in tests])


@pytest.mark.parametrize(("r", "expected"), [(-0.80, "holds"), (-0.95, "contradicted")])
def test_smallest_correlation_claim_is_compared_with_the_power_of_seven_models(r, expected):
    # 80 % power at 0.05 needs |r| of about 0.87 with seven pairs
    table = correlations(("one", "pearson", r, 0.1, 0.2), ("two", "pearson", 0.3, 0.5, 0.6), ("x", "kendall", 1, 0, 0))
    assert verdict("thesis_smallest_correlation", table) == expected


@pytest.mark.parametrize(("p", "expected"), [(0.05, "holds"), (0.049, "not supported")])
def test_metric_is_not_significant_in_either_family_of_tests(p, expected):
    first = correlations(("one", "pearson", 0.5, 0.01, 0.3), ("one", "pearson_partial", 0.9, 0.0, 0.0))
    second = correlations(("two", "kendall", 0.5, 0.001, p), n=8)
    assert verdict("thesis_no_metric_significant", first, second) == expected


def test_one_model_decides_only_when_it_does_for_every_metric():
    for p, expected in ((0.41, "holds: 0.4100"), (0.39, "contradicted: 0.3900")):
        name = "pearson_leave_one_out"
        table = correlations(("ap_overall", name, 0.5, 0.6, 1.0), ("b", name, 0.5, p, 1.0), ("b", "pearson", 1, 0, 0))
        assert says("thesis_one_model_decides", table) == expected


def test_leading_metric_at_equal_size_must_lead_in_both_sets():
    name = "pearson_partial"
    lead = correlations(("ap_overall", name, -0.9, 0.01, 0.1), ("other", name, 0.8, 0.02, 0.1))
    behind = lead.assign(estimate=[-0.7, 0.8])
    assert verdict("thesis_given_size", lead, lead) == "holds"
    assert verdict("thesis_given_size", lead, behind) == "contradicted"
    assert verdict("thesis_given_size", behind, lead) == "contradicted"


@pytest.mark.parametrize(("five", "four", "expected"), [(0.3, -0.2, "holds"), (0.3, 0.1, "contradicted")])
def test_one_model_sets_the_sign_when_its_removal_reverses_it(five, four, expected):
    frames = [correlations(("ap_drop", "pearson", r, 0.5, 0.6), ("x", "pearson", -r, 0, 0)) for r in (five, four)]
    assert says("thesis_ruler_one_model", *frames) == f"{expected}: {four:.4f}"


# --- anchoring

CURVE = (
    "model display_name data split group layer above_chance delta_p delta_p_low delta_p_high question_share filler "
    "control control_n n"
)


def curves(**values):
    """Return rows by split and group: a tiny model's layer, its layer with the probe at chance, a layer of another."""
    numbers = {"delta_p": -9.0, "delta_p_low": -12.0, "delta_p_high": -6.0, "question_share": 1.0}
    numbers |= {"filler": 0.5, "control": 0.5}
    table = []
    for group in ("question", "answer"):
        values_of_group = numbers | values.get(group, {})
        for split in ("design", "half"):
            table.append(("tiny-rope", "Tiny", "planted", split, group, 3, True, *values_of_group.values(), 40, 40))
            table.append(("tiny-rope", "Tiny", "planted", split, group, 0, False, 0, -9, 9, 90, 9, 9, 40, 40))
            table.append(("llama", "Llama", "planted", split, group, 3, True, 0, -9, 9, 90, 9, 9, 40, 40))
    return rows(CURVE, *table)


def test_belief_is_lost_if_the_interval_lies_below_zero():
    assert says("thesis_anchoring_question", curves()) == "holds: 1 of 1 layers"
    open_ = curves(question={"delta_p_high": 0.1})
    assert says("thesis_anchoring_question", open_) == "contradicted: 0 of 1 layers"


def test_answer_anchored_statements_must_rarely_flip():
    assert says("thesis_anchoring_answer", curves(answer={"question_share": 4.9})) == "holds: 4.9%"
    assert says("thesis_anchoring_answer", curves(answer={"question_share": 5.0})) == "contradicted: 5.0%"
    assert says("thesis_anchoring_answer", curves(question={"question_share": 60.0})) == "holds: 1.0%"


@pytest.mark.parametrize("group", ["question", "answer"])
def test_control_tokens_must_stay_within_two_points(group):
    for claim, column in (("thesis_anchoring_control", "filler"), ("thesis_anchoring_opening", "control")):
        assert says(claim, curves(**{group: {column: -1.9}})) == "holds: -1.90"
        assert says(claim, curves(**{group: {column: -2.0}})) == "contradicted: -2.00"


def test_probe_groups_differ_when_their_intervals_are_disjoint():
    far = {"delta_p": 0.0, "delta_p_low": -5.0, "delta_p_high": 5.0}
    assert says("thesis_anchoring_half", curves(answer=far)) == "holds: 1 of 1 layers"
    assert says("thesis_anchoring_half", curves(answer=far | {"delta_p_low": -6.5})) == "not supported: 0 of 1 layers"


def test_circular_groups_and_needing_samples_are_judged():
    def counts(outcome, needing):
        values = {"gap_layer": outcome, "gap_design": -20.0, "models_last": 2, "needing": needing, "question_flips": 60}
        return rows("quantity value", *values.items())

    assert verdict("thesis_anchoring_circular", counts(-30.0, 9)) == "holds"
    assert says("thesis_anchoring_circular", counts(-10.0, 9)) == "contradicted: -10.0 against -20.0"
    assert says("thesis_anchoring_needing", counts(-30.0, 9)) == "holds: 9%"
    assert says("thesis_anchoring_needing", counts(-30.0, 5)) == "contradicted: 5%"


# --- training


def bias(low, p):
    comparison = "per token, models over the same window"
    return rows(
        "comparison test estimate ci_low ci_high p_value n",
        (comparison, "pearson", 0.8, low, 0.95, 0.001, 12),
        (comparison, "pearson_within_family", 0.1, -0.5, 0.6, p, 10),
        (comparison, "pearson_leave_one_out", 0.7, 0.1, 0.9, 0.02, 12),
        ("per token, captured models", "pearson", 0.2, -0.4, 0.7, 0.5, 12),
    )


@pytest.mark.parametrize(
    ("low", "p", "expected"), [(0.1, 0.06, "holds"), (-0.1, 0.06, "contradicted"), (0.1, 0.04, "contradicted")]
)
def test_bias_and_drop_relation_is_judged_between_families(low, p, expected):
    assert says("thesis_equal_window_bias", bias(low, p)) == f"{expected}: 0.8000"


@pytest.mark.parametrize(
    ("gathered", "expected"),
    [(-0.9, "holds"), (-0.71, "holds"), (-0.7, "contradicted"), (-0.6, "contradicted"), (0.9, "contradicted")],
)
@pytest.mark.parametrize(("share", "compared"), [(-0.91, "as well"), (-0.95, "better"), (-0.85, "less well")])
def test_gathered_bias_is_compared_with_position(gathered, expected, share, compared):
    table = {
        "position, bins of all": -0.7,
        "share of the context, bins of all": -0.8,
        "gathered bias, bins of all": gathered,
        "gathered bias, bins of extension": -0.9,
        "share of the context, bins of extension": share,
    }
    tests = [(f"plasticity against {name} checkpoints", rho, 30) for name, rho in table.items()]
    frames = rows("comparison estimate n", *tests), rows("checkpoint", ("a",))
    assert says("thesis_gathered_bias", *frames) == f"{expected}: {gathered:.4f}"
    assert f"the share does {compared} (" in reason("thesis_gathered_bias", *frames)


@pytest.mark.parametrize(("far", "expected"), [(-0.018, "holds: 0.0180"), (-0.03, "contradicted: 0.0300")])
def test_extension_bins_must_lie_within_nine_tenths_of_base_bins(far, expected):
    base = [("early", False, 0, 0.02), ("early", False, 8192, -0.02), ("early", False, 1024, 0.02)]
    later_bins = [("late", True, 8192, far), ("late", True, 1024, 0.5), ("late", True, 16384, None)]
    table = rows("checkpoint extension start gap", *base, *later_bins)
    assert says("thesis_gathered_bias_transfers", table) == expected
