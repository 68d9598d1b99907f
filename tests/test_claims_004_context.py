"""Claims on document 004 about passkeys within and beyond the training length, on hand-made frames."""

import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

MODELS = rows("model display_name claimed_context", ("llama2-7b-rope", "Llama 2", 4096))


def cells(*values):
    """Return passkey rates; each value gives positional, protocol, context, share; `errors` has 20 trials."""
    table = []
    for model, protocol, context, share in values:
        trials = 20 if protocol == "errors" else 5
        low, high = max(share - 10, 0.0), min(share + 10, 100.0)
        beyond, count = context > 4096, round(share * trials / 100)
        table.append((model, protocol, context, context / 4096, beyond, share, count, trials, low, high, "section 11"))
    return rows("positional protocol context multiple beyond share correct trials ci_low ci_high section", *table)


def test_context_range_must_begin_at_the_shortest_length():
    table = cells(("RoPE", "lengths", 2048, 100.0), ("RoPE", "lengths", 8192, 0.0))
    assert says("c004_ctx_contexts", states(s11_1_within_contexts="2048-4096"), table) == "holds: from 2048"
    assert says("c004_ctx_contexts", states(s11_1_within_contexts="512-4096"), table) == "not supported: from 2048"


def test_context_multiples_refer_to_the_training_length():
    assert verdict("c004_ctx_training_length", states(s11_1_training_length="4096"), MODELS) == "holds"
    assert verdict("c004_ctx_training_length", states(s11_1_training_length="4000"), MODELS) == "contradicted"
    table = prints("context printed", (2048, "0.5×"), (8192, "2×"), (6144, "1.4×"))
    judged = verdicts("c004_ctx_multiples", table, MODELS)
    assert judged == {"2048": "holds", "8192": "holds", "6144": "contradicted"}
    axes = prints("figure element printed", ("H", "training_boundary", "4096"), ("J", "training_boundary", "1"))
    assert verdict("c004_ctx_figure_h_boundary", axes, MODELS) == "holds"
    assert verdict("c004_ctx_figure_h_boundary", axes, MODELS.assign(claimed_context=2048)) == "contradicted"


@pytest.mark.parametrize(
    ("within", "beyond", "expected"),
    [
        (100.0, 0.0, "holds: 5 of 5 and 0 of 5"),
        (80.0, 0.0, "contradicted: 4 of 5 and 0 of 5"),
        (100.0, 20.0, "contradicted: 5 of 5 and 1 of 5"),
    ],
)
def test_collapse_claim_needs_a_fall_from_all_to_none(within, beyond, expected):
    drope = ("DroPE", "lengths", 4096, 40.0)  # the claim is not about the other model
    table = cells(("RoPE", "lengths", 4096, within), ("RoPE", "lengths", 8192, beyond), drope)
    assert says("c004_ctx_rope_collapses", table) == expected


def test_a_cliff_needs_lengths_on_both_its_sides():
    near = cells(("RoPE", "lengths", 4096, 100.0), ("RoPE", "lengths", 4400, 0.0), ("DroPE", "lengths", 8192, 0.0))
    far = cells(("RoPE", "lengths", 4096, 100.0), ("RoPE", "lengths", 8192, 0.0), ("DroPE", "lengths", 4400, 0.0))
    assert verdict("c004_ctx_cliff", near) == "holds"
    assert says("c004_ctx_cliff", far) == "not supported: 2.0000"


@pytest.mark.parametrize(("edge", "expected"), [(40.0, "holds: 40.0000"), (39.0, "contradicted: 39.0000")])
def test_no_cliff_claim_needs_success_at_the_boundary(edge, expected):
    # the interval reaches ten points above the share; rows with five trials are ignored
    table = cells(("DroPE", "errors", 2048, 50.0), ("DroPE", "errors", 4096, edge), ("DroPE", "lengths", 4096, 0.0))
    assert says("c004_ctx_drope_no_cliff", table) == expected
    assert ("fails at the boundary" in reason("c004_ctx_drope_no_cliff", table)) == (edge < 40)


def test_stated_share_must_be_reached_by_every_protocol():
    stated = states(s11_3_drope_beyond="80-100%")
    for errors, expected in ((80.0, "holds: 80 and 80 %"), (10.0, "contradicted: 80 and 10 %")):
        table = cells(
            ("DroPE", "lengths", 8192, 80.0), ("DroPE", "errors", 8192, errors), ("RoPE", "errors", 8192, 0.0)
        )
        assert says("c004_ctx_drope_twice", stated, table) == expected


@pytest.mark.parametrize(
    ("p", "expected", "phrase"),
    [
        (0.06, "holds", "are not told apart"), (0.05, "not supported", "do not measure one accuracy"),
        (0.01, "not supported", "do not measure one accuracy"),
    ],
)  # fmt: skip
def test_two_protocol_runs_count_as_equal_unless_significantly_different(p, expected, phrase):
    columns = "study comparison p_value p_adjusted ci_low ci_high n"
    tests = rows(columns, ("protocols", "8192: lengths against errors", p / 2, p, 0.1, 0.9, 25))
    table = cells(("DroPE", "lengths", 8192, 80.0), ("DroPE", "errors", 8192, 0.0))
    captions = states(fig_h_drope_accuracy="80%")
    assert says("c004_ctx_same_protocols", captions, table, tests) == f"{expected}: 80 and 0 %"
    assert phrase in reason("c004_ctx_same_protocols", captions, table, tests)


def drawn(*values):
    return prints("figure series x printed", *[("H", *value) for value in values], ("I", "RoPE", "9", "9"))


def test_figure_h_points_are_compared_with_the_protocol_of_that_length():
    table = cells(("RoPE", "lengths", 8192, 20.0), ("RoPE", "errors", 8192, 95.0), ("RoPE", "errors", 2048, 100.0))
    right_points = drawn(("RoPE", "8192", "20"), ("RoPE", "2048", "100"))
    assert set(verdicts("c004_ctx_figure_h", right_points, table).values()) == {"holds"}
    wrong_points = drawn(("RoPE", "8192", "95"), ("RoPE", "2048", "100"))
    assert verdicts("c004_ctx_figure_h", wrong_points, table) == {"RoPE-8192": "contradicted", "RoPE-2048": "holds"}


def test_figure_h_line_must_join_points_of_one_protocol():
    points = drawn(("RoPE", "2048", "100"), ("RoPE", "8192", "0"))
    one_protocol = cells(
        ("RoPE", "lengths", 2048, 100.0), ("RoPE", "lengths", 8192, 0.0), ("RoPE", "errors", 2048, 100.0)
    )
    assert verdict("c004_ctx_figure_h_one_line", points, one_protocol) == "holds"
    explanation = reason("c004_ctx_figure_h_one_line", points, one_protocol)
    assert explanation.startswith("All lengths 2048, 8192 are of one")
    two_protocols = cells(("RoPE", "lengths", 8192, 0.0), ("RoPE", "errors", 2048, 100.0))
    assert verdict("c004_ctx_figure_h_one_line", points, two_protocols) == "not supported"
    assert reason("c004_ctx_figure_h_one_line", points, two_protocols).startswith("No protocol has all")


# --- advice and conclusions


def functional(**arms):
    """Return task accuracies of both models under disruption."""
    table = [
        ("qk_disruption", model, task, f"{value}%")
        for model, values in arms.items()
        for task, value in zip(("cities", "sports", "passkey", "imdb"), values, strict=True)
    ]
    return prints("condition positional task printed", *table)


@pytest.mark.parametrize(
    ("rope", "drope", "expected"),
    [
        ((0, 0, 0, 0), (60, 70, 5, 0), "holds"), ((0, 10, 0, 0), (60, 70, 5, 0), "not supported"),
        ((0, 0, 0, 0), (50, 70, 5, 0), "not supported"), ((0, 0, 0, 0), (60, 70, 0, 0), "not supported"),
    ],
)  # fmt: skip
def test_usable_means_above_half_with_a_passkey(rope, drope, expected):
    assert verdict("c004_dis_unusable", functional(RoPE=rope, DroPE=drope)) == expected


def test_summary_baselines_are_means_of_two_tasks():
    tasks = ("cities", "sports", "passkey", "imdb")
    table = prints(
        "condition positional task printed",
        *[
            ("baseline", model, task, f"{share}%")
            for model, shares in (("RoPE", (90, 80, 100, 50)), ("DroPE", (60, 70, 30, 10)))
            for task, share in zip(tasks, shares, strict=True)
        ],
    )

    def summary(drope):
        cell = ("metric positional printed", ("parametric_baseline", "RoPE", "85%"))
        more = [("contextual_baseline", "RoPE", "75%"), ("parametric_baseline", "DroPE", drope)]
        return prints(*cell, *more, ("contextual_baseline", "DroPE", "20%"))

    assert set(verdicts("c004_dis_baselines", summary("65%"), table).values()) == {"holds"}
    judged = say("c004_dis_baselines", summary("67%"), table)
    assert judged["parametric-DroPE"] == "contradicted: 65.0"
    knowledge = table.rename(columns={"condition": "metric"})
    assert set(verdicts("c004_dis_drope_weaker", summary("65%"), knowledge).values()) == {"holds"}
    stronger = verdicts("c004_dis_drope_weaker", summary("86%"), knowledge)
    assert stronger == {"parametric": "not supported", "contextual": "holds"}


def test_only_option_claim_needs_success_above_zero():
    stated = states(s12_2_only_option=("the only", None))
    for share, expected in ((80.0, "holds: 80 to 80 %"), (15.0, "not supported: 15 to 80 %")):
        table = cells(("DroPE", "lengths", 8192, 80.0), ("DroPE", "errors", 8192, share), ("RoPE", "errors", 8192, 0.0))
        assert says("c004_dis_only_option", stated, table) == expected


@pytest.mark.parametrize(
    ("drope", "p", "expected"), [(50.0, 0.04, "holds"), (50.0, 0.06, "contradicted"), (100.0, 0.04, "contradicted")]
)
def test_better_model_must_be_right_more_often_at_every_length(drope, p, expected):
    table = cells(
        *[(model, "errors", n, share) for model, share in (("RoPE", 90.0), ("DroPE", drope)) for n in (2048, 4096)]
    )
    columns = "study comparison p_value p_adjusted"
    tests = rows(columns, ("models", "errors, 2048, single", 0.001, 0.01), ("models", "errors, 4096, single", 0.03, p))
    assert verdict("c004_dis_rope_within", table, tests) == expected


def test_summary_ratio_is_recomputed_from_two_perplexities():
    table = prints(
        "condition positional metric printed",
        *[("layer1_mlp", model, "ppl", text) for model, text in (("RoPE", "7250"), ("DroPE", "2010"))],
        *[("layer1_attn", model, "ppl", "10.0") for model in ("RoPE", "DroPE")],
    )

    def summary(drope):
        ratio = "layer1_mlp_over_attention"
        return prints("metric positional printed as_number", (ratio, "RoPE", "725x", 725), (ratio, "DroPE", "x", drope))

    assert set(verdicts("c004_dis_layer1_ratio", summary(201), table).values()) == {"holds"}
    assert verdicts("c004_dis_layer1_ratio", summary(1), table)["DroPE"] == "contradicted"
