"""Claims on document 004 about attention and MLP, on hand-made frames: which layers changed, and how."""

import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict

COLUMNS = "layer share_rope share_drope difference attention_rope attention_drope attention_ratio mlp_ratio inverted"


def layers(*differences, attention=1.0, mlp=1.0, inverted=(1,)):
    """Return layers whose share is 50 % in RoPE, and in DroPE 50 % plus the layer's value in `differences`."""
    table = [
        (layer, 50.0, 50.0 + gap, gap, 1.0, attention, attention, mlp, layer in inverted)
        for layer, gap in enumerate(differences)
    ]
    return rows(COLUMNS, *table)


def summary_row(name="2-31", **values):
    """Return the summary row of a range of layers: default numbers, replaced by those in `values`."""
    numbers = {
        "layers_above_five_points": 0, "mean_difference": 0.1,
        "mean_absolute_difference": 1.0, "largest_difference_layer": 5, "largest_difference": 2.0,
        "n": 30,
        "mean_rope": 35.0, "mean_drope": 35.0,
        "low_rope": 20.0, "low_drope": 20.0, "high_rope": 50.0, "high_drope": 50.0,
        "total_share": 4.0, "total_share_squared": 90.0, "attention_ratio": 1.0, "mlp_ratio": 1.0,
    } | values  # fmt: skip
    return rows(" ".join(["layers", *numbers]), (name, *numbers.values()))


def test_stated_mean_is_judged_by_the_farther_model():
    stated = states(s10_4_later_attention="~35%", s10_4_later_mlp="~65%")
    verdicts = say("c004_bal_about_a_third", stated, summary_row(mean_rope=35.2, mean_drope=38.0))
    # 35 means 33.5 to 36.5, and 65 means 63.5 to 66.5
    assert verdicts == {"attention": "contradicted: 38.0", "mlp": "contradicted: 62.0"}
    verdicts = say("c004_bal_about_a_third", stated, summary_row(mean_rope=36.0, mean_drope=34.5))
    assert verdicts == {"attention": "holds: 36.0", "mlp": "holds: 64.0"}


def test_near_identity_is_contradicted_by_a_layer_five_points_apart():
    tests = rows("comparison test estimate", ("layers 2-31", "pearson", 0.9))
    captions = prints(
        "statement printed", ("fig_23_identical_layers", "2-31"), ("fig_22_identical_after", "2"), ("other", "9")
    )
    for count, expected in ((0, "holds: 1.0000"), (1, "not supported: 1.0000")):
        later_layers = summary_row(layers_above_five_points=count)
        assert says("c004_bal_nearly_identical", later_layers, tests, captions) == expected
        assert says("c004_bal_after_layer2", summary_row("3-31", layers_above_five_points=count), captions) == expected


@pytest.mark.parametrize(("gap", "expected"), [(0.5, "holds: 0.5000"), (-0.6, "contradicted: 0.6000")])
def test_identical_layers_differ_by_at_most_half_a_point(gap, expected):
    captions = prints("statement printed", ("fig_g_identical_layers", "2-4"))
    # the range is 2-4: layers 0, 1 and 5 do not count
    assert says("c004_bal_identical", layers(-30, 40, 0.1, gap, 0.2, 9.0), captions) == expected


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ((-30.0, 40.0, 5.0, 1.0), "holds"),
        ((-30.0, 5.0, 40.0, 1.0), "contradicted"),  # layer 2 has one of the two largest values
        ((-30.0, 40.0, 15.0, 1.0), "contradicted"),  # 30 is not more than twice 15
        ((-30.0, 40.0, 14.0, 1.0), "holds"),
    ],
)
def test_localized_rewiring_needs_twice_the_difference_in_the_first_two_layers(differences, expected):
    stated = states(s10_4_rewired_layers=("first two", 2))
    assert verdict("c004_bal_localized", layers(*differences), summary_row("0-1"), stated) == expected
    third = "others layer 2 most" in reason("c004_bal_localized", layers(*differences), summary_row("0-1"), stated)
    assert third == (abs(differences[2]) > abs(differences[3]))


def test_entire_change_leaves_less_than_five_percent_to_other_layers():
    assert says("c004_bal_entirely", summary_row(total_share=4.0)) == "holds: 4.0000"
    assert says("c004_bal_entirely", summary_row(total_share=5.0)) == "contradicted: 5.0000"


def test_inverted_layers_are_compared_between_both_captions():
    def captions(fig_22, fig_g):
        return prints("statement printed", ("fig_22_inverted_layers", fig_22), ("fig_g_inverted_layers", fig_g))

    table = layers(-30.0, 40.0, 1.0, inverted=(0, 1))
    assert says("c004_bal_inverted_layers", table, captions("0-1", "0-1")) == "holds: layer 0, 1"
    assert verdict("c004_bal_inverted_layers", table, captions("0-1", "0-2")) == "not supported"
    single = layers(-30.0, 40.0, 1.0)
    assert says("c004_bal_inverted_layers", single, captions("0-1", "0-1")) == "not supported: layer 1"
    # shares of 50 and 20 % hold, shares of 49 and 20 % do not
    assert "larger part in 1 of 2 models" in reason("c004_bal_inverted_layers", single, captions("0-1", "0-1"))
    lower_rope = single.assign(share_rope=49.0)
    assert "larger part in 2 of 2 models" in reason("c004_bal_inverted_layers", lower_rope, captions("0-1", "0-1"))


@pytest.mark.parametrize(
    ("gap_0", "gap_1", "expected"),
    [
        (-30.0, 40.0, "holds: -30.0 and +40.0"),
        (30.0, 40.0, "contradicted: 30.0 and +40.0"),
        (-30.0, -4.0, "contradicted: -30.0 and -4.0"),
    ],
)
def test_opposite_changes_are_a_fall_followed_by_a_rise(gap_0, gap_1, expected):
    captions = prints("statement printed", ("fig_23_opposite_layers", "0-1"))
    assert says("c004_bal_opposite", layers(gap_0, gap_1, 5.0), captions) == expected


@pytest.mark.parametrize(
    ("gap", "ratio", "expected"), [(-30.0, 0.9, "holds"), (-30.0, 1.2, "not supported"), (30.0, 1.2, "contradicted")]
)
def test_suppressed_attention_is_judged_by_its_output_not_its_share(gap, ratio, expected):
    assert verdict("c004_bal_layer0_suppressed", layers(gap, 1.0, attention=ratio)) == expected


def test_amplified_attention_is_judged_by_its_output():
    assert says("c004_bal_layer1_amplified", layers(0.0, 1.0, attention=3.0)) == "holds: 3.0000"
    assert says("c004_bal_layer1_amplified", layers(0.0, 1.0, attention=0.5)) == "contradicted: 0.5000"


@pytest.mark.parametrize(
    ("attention", "mlp", "count", "expected"),
    [
        (1.04, 0.96, "2", "holds"), (1.06, 1.0, "2", "contradicted"), (0.9, 1.0, "2", "contradicted"),
        (1.0, 0.9, "2", "contradicted"), (1.0, 1.0, "3", "contradicted"),
    ],
)  # fmt: skip
def test_unchanged_layers_must_keep_their_output_norm(attention, mlp, count, expected):
    table = layers(-30.0, 40.0, 0.0, 0.0, attention=attention, mlp=mlp)
    assert verdict("c004_bal_unchanged", table, summary_row(), states(s10_5_unchanged_layers=count)) == expected


def test_back_to_normal_layer_is_no_further_off_than_later_layers():
    assert says("c004_bal_back_to_normal", layers(0, 0, 2.0, -1.0, 2.0, 3.0)) == "holds: 2.0000"
    assert says("c004_bal_back_to_normal", layers(0, 0, -2.5, -1.0, 2.0, 3.0)) == "not supported: -2.5000"


def test_figure_g_values_may_differ_from_measured_shares_by_half_a_point():
    columns = "layer positional published drawn difference repeats"

    def drawn(far):
        # the statement is not about the first layers
        points = [(0, "RoPE", 50.0, 90.0, 40.0, False), (2, "RoPE", 35.0, 35.0 + far, far, False)]
        return rows(columns, *points, (9, "RoPE", 35.0, 35.0, 0.0, True))

    assert says("c004_bal_figure_g_measured", drawn(-0.5)) == "holds: 0.2500"
    assert says("c004_bal_figure_g_measured", drawn(-0.6)) == "contradicted: 0.3000"
    assert "1 of 1 coordinates repeat" in reason("c004_bal_figure_g_measured", drawn(0.5))
