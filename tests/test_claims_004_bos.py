"""Claims on document 004 about the first token, on hand-made frames: effects of its MLP output and its values."""

import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

# --- its MLP output

EFFECTS = (
    "experiment positional layer write_share mlp_write norm_after nats nats_low ratio ratio_low ratio_high "
    "ratio_printed ablated_printed baseline_printed"
)


def effects(*, share_4=1.0, share_6=60.0, nats=5.0, rope_nats=7.0):
    """Return write shares of the removed layer, and effects in nats: DroPE in experiments 4 and 6, RoPE in 4."""
    return rows(
        EFFECTS,
        (4, "RoPE", 1, 99.0, 900.0, 910.0, rope_nats, rope_nats, 1000.0, 999, 1001, "1000x", "10000", "10.0"),
        (4, "DroPE", 2, share_4, 9.0, 900.0, 0.01, 0.0, 1.01, 1.0, 1.02, "1.0x", "10.1", "10.0"),
        (6, "DroPE", 1, share_6, 900.0, 900.0, nats, nats, 150.0, 149, 151, "150x", "1500", "10.0"),
    )


def test_ablated_layer_must_be_the_one_that_writes_the_spike():
    for spike, expected in ((2, "holds: layer 2"), (1, "contradicted: layer 1")):
        phase = rows("quantity rope drope", ("mlp_write_layer_1", 900, 800), ("spike_largest_rise", 1, spike))
        assert says("c004_ablated_layer_matches", effects(), phase) == expected


def test_perplexity_ratio_is_judged_within_its_rounding():
    printed = prints("positional metric printed", ("RoPE", "ppl_ratio", "1001x"), ("DroPE", "ppl_ratio", "1.04x"))
    answers = say("c004_bos_mlp_ratios", printed, effects())
    assert answers == {"RoPE": "holds after rounding: 1000.0", "DroPE": "contradicted: 1.010"}


@pytest.mark.parametrize(("nats", "expected"), [(4.7, "holds: 1000×"), (4.5, "contradicted: 1000×")])
def test_perplexity_explosion_means_a_hundredfold(nats, expected):
    # log(100) is 4.605 nats
    assert says("c004_fig13_rope_explodes", effects(rope_nats=nats)) == expected


@pytest.mark.parametrize(("share", "expected"), [(51.0, "holds: 150x"), (49.0, "not supported: 150x")])
def test_unaffected_claim_is_not_supported_when_little_was_removed(share, expected):
    assert says("c004_fig13_drope_unaffected", effects(share_4=share)) == expected


def test_position_information_claim_is_not_supported_by_a_constant_state():
    assert verdict("c004_position_information_in_bos", rows("norm_sd_rope", (0.0,), (0.0,))) == "not supported"
    assert verdict("c004_position_information_in_bos", rows("norm_sd_rope", (0.0,), (0.1,))) == "holds"
    assert "A constant" not in reason("c004_position_information_in_bos", rows("norm_sd_rope", (0.1,)))


def test_claim_that_only_rope_stores_needs_no_loss_of_drope():
    def tasks(right):
        cells = [("RoPE", "layer1_bos_only", 0), ("DroPE", "layer1_mlp", 0), ("DroPE", "layer1_bos_only", right)]
        return rows("positional condition right_high", *cells)

    assert verdict("c004_only_rope_stores", effects(nats=0.9), tasks(3)) == "holds"
    assert verdict("c004_only_rope_stores", effects(nats=1.1), tasks(3)) == "contradicted"
    assert verdict("c004_only_rope_stores", effects(nats=0.9), tasks(0)) == "contradicted"
    assert "1 of 1 tasks fall" in reason("c004_only_rope_stores", effects(), tasks(0))


# --- the four tasks

CELL = "positional condition task share right_high count n n_low n_high items high printed_text"


def cells(*values):
    """Return task results; each value gives positional, condition, task, and right and readable answers out of ten."""
    table = [
        (model, condition, task, 100 * right / read if read else None, right, right, 10, read, read, 10, 30, f"{right}")
        for model, condition, task, right, read in values
    ]
    return rows(CELL, *table)


def test_zero_accuracy_from_missing_answers_is_not_counted_as_failure():
    def ablated(cities, read):
        return cells(
            ("RoPE", "bos_mlp_ablation", "cities", cities, read),
            ("RoPE", "bos_mlp_ablation", "passkey", 0, 10),
            ("RoPE", "baseline", "passkey", 10, 10),
        )

    stated = states(s5_5_rope_tasks=("all", 2))
    assert says("c004_rope_fails_all_tasks", ablated(0, 5), stated) == "holds: 2 of 2"
    assert says("c004_rope_fails_all_tasks", ablated(0, 0), stated) == "not supported: 1 of 2"
    assert says("c004_rope_fails_all_tasks", ablated(1, 5), stated) == "contradicted: 1 of 2"
    more = states(s5_5_rope_tasks=("all", 3))
    assert verdict("c004_rope_fails_all_tasks", ablated(0, 5), more) == "not supported"  # two tasks instead of three


def test_valid_answers_are_those_that_could_be_read():
    def ablated(read):
        return cells(("RoPE", "bos_mlp_ablation", "cities", 0, 0), ("RoPE", "bos_mlp_ablation", "sports", 0, read))

    assert says("c004_no_valid_answers", ablated(0)) == "holds: 0 of 20"
    assert says("c004_no_valid_answers", ablated(2)) == "contradicted: 2 of 20"
    assert "they leave the denominator, and the printed 0% is no measure" in reason("c004_no_valid_answers", ablated(0))
    assert "only the others leave" in reason("c004_no_valid_answers", ablated(2))


def test_claim_that_the_model_cannot_function_is_not_supported_by_answers():
    def combined(sports):
        return cells(("RoPE", "combined", "cities", 0, 0), ("RoPE", "combined", "sports", sports, 5))

    assert says("c004_rope_cannot_function", combined(0)) == "holds: 0%"
    assert says("c004_rope_cannot_function", combined(2)) == "not supported: 40%"


def test_category_means_are_judged_within_rounding():
    means = rows(
        "positional condition category mean",
        ("DroPE", "baseline", "parametric", 65.2),
        ("DroPE", "bos_mlp_ablation", "parametric", 65.5),
        ("DroPE", "baseline", "contextual", 19.5),
        ("DroPE", "bos_mlp_ablation", "contextual", 18.0),
    )
    table = prints(
        "positional condition task printed",
        *[("DroPE", "baseline", task, f"{value}%") for task, value in zip(TASKS, (60, 71, 30, 9), strict=True)],
        *[("DroPE", "bos_mlp_ablation", task, f"{value}%") for task, value in zip(TASKS, (60, 71, 30, 6), strict=True)],
    )
    stated = states(
        s5_5_drope_parametric_baseline="65%",
        s5_5_drope_parametric_ablated="65.5%",
        s5_5_drope_contextual_baseline="21%",
        s5_5_drope_contextual_ablated="18%",
    )
    assert say("c004_drope_category_means", means, table, stated) == {
        "parametric-baseline": "holds: 65.2",
        "parametric-ablated": "holds: 65.50",
        "contextual-baseline": "contradicted: 19.5",  # the cells allow a mean of 19 to 20
        "contextual-ablated": "holds: 18.0",
    }


TASKS = ("cities", "sports", "passkey", "imdb")


@pytest.mark.parametrize(
    ("share", "p", "expected"), [(60.0, 0.2, "holds"), (60.0, 0.04, "not supported"), (40.0, 0.2, "not supported")]
)
def test_unchanged_needs_that_something_was_removed(share, p, expected):
    tests = rows(
        "comparison p_value ci_low ci_high n",
        *[(f"DroPE, {task}, bos_mlp_ablation against baseline", p, -0.3, 0.1, 20) for task in ("passkey", "imdb")],
    )
    assert verdict("c004_drope_unchanged", tests, effects(share_4=share)) == expected
    assert ("little was taken" in reason("c004_drope_unchanged", tests, effects(share_4=share))) == (share < 50)


def test_passkey_destruction_needs_an_interval_below_zero():
    tasks = cells(*[(model, arm, "passkey", 5, 10) for model in ("RoPE", "DroPE") for arm in ("baseline", DISRUPTED)])
    tests = rows(
        "comparison estimate ci_low ci_high p_value p_adjusted n",
        (f"RoPE, passkey, {DISRUPTED} against baseline", -0.9, -1.0, -0.5, 0.001, 0.01, 20),
        (f"DroPE, passkey, {DISRUPTED} against baseline", -0.2, -0.5, 0.1, 0.4, 0.9, 20),
    )
    judged = say("c004_qk_passkey", tasks, tests)
    assert judged == {"rope": "holds: -90 points", "drope": "not significant: -20 points"}
    worse = tests.assign(estimate=0.3, ci_low=0.1, ci_high=0.5)
    assert verdicts("c004_qk_passkey", tasks, worse) == {"rope": "contradicted", "drope": "contradicted"}


DISRUPTED = "qk_disruption"


def test_stable_tasks_change_by_at_most_ten_points():
    means = rows(
        "positional condition category mean",
        ("DroPE", "baseline", "parametric", 55.0),
        ("DroPE", DISRUPTED, "parametric", 60.0),
    )

    def tasks(sports, read):
        before = [("DroPE", "baseline", task, 5, 10) for task in ("cities", "sports")]
        return cells(*before, ("DroPE", DISRUPTED, "cities", 5, 10), ("DroPE", DISRUPTED, "sports", sports, read))

    assert says("c004_drope_parametric_stable", tasks(6, 10), means) == "holds: +10 points in sports"
    assert says("c004_drope_parametric_stable", tasks(3, 10), means) == "not supported: -20 points in sports"
    assert verdict("c004_drope_parametric_stable", tasks(4, 8), means) == "not supported"  # 50 %, but two lose answers
    assert "no test can be made" not in reason("c004_drope_parametric_stable", tasks(6, 10), means)
    known = tasks(6, 10)
    before = (known["condition"] == "baseline") & (known["task"] == "sports")
    bounded = known.assign(n_low=known["n_low"].where(~before, 3))
    assert "How many are read before is not stored" in reason("c004_drope_parametric_stable", bounded, means)


def test_massive_value_roles_claim_is_contradicted_by_a_loss_in_drope():
    def tasks(left):
        arms = [(model, "baseline", "passkey", 9, 10) for model in ("RoPE", "DroPE")]
        return cells(*arms, ("RoPE", DISRUPTED, "passkey", 0, 10), ("DroPE", DISRUPTED, "passkey", left, 10))

    def texts(worst):
        return rows("positional massive_ratio", ("DroPE", 2.0), ("DroPE", worst), ("RoPE", 999.0))

    assert verdict("c004_massive_values_roles", tasks(1), texts(9.4)) == "holds"
    assert verdict("c004_massive_values_roles", tasks(0), texts(9.4)) == "contradicted"
    assert verdict("c004_massive_values_roles", tasks(1), texts(10.0)) == "contradicted"
    assert "not vestigial" not in reason("c004_massive_values_roles", tasks(1), texts(9.4))


def test_figure_16_caption_counts_conditions_tasks_and_range():
    table = prints(
        "positional condition task printed",
        ("DroPE", "bos_mlp_ablation", "cities", "60%"),
        ("DroPE", "bos_mlp_ablation", "sports", "71%"),
        ("DroPE", "baseline", "passkey", "5%"),
    )
    right_caption = states(fig_16_conditions="2", fig_16_tasks="3", fig_16_drope_parametric="60-71%")
    assert set(verdicts("c004_fig16_panels", table, right_caption).values()) == {"holds"}
    wrong_caption = states(fig_16_conditions="4", fig_16_tasks="4", fig_16_drope_parametric="60-73%")
    assert set(verdicts("c004_fig16_panels", table, wrong_caption).values()) == {"contradicted"}
