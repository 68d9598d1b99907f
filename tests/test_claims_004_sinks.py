"""Claims on the sinks of document 004, on hand-made frames: rates per layer, and the threshold."""

import pytest

from claims_cases import function, prints, reason, rows, say, says, states, verdict, verdicts


def summary(**values):
    return rows("quantity value", *values.items())


def layers(rope, drope):
    """Return sink rates in percent by layer."""
    return rows("layer rope drope", *[(index, *pair) for index, pair in enumerate(zip(rope, drope, strict=True))])


@pytest.mark.parametrize(
    ("rotated", "taken_from", "expected"),
    [
        ("yes", "hand", "holds: 60.0%"), ("no", "model", "holds: 60.0%"), ("no", "hand", "not supported: 60.0%"),
        ("", "hand", "not supported: 60.0%"),
    ],
)  # fmt: skip
def test_hand_computed_attention_counts_only_when_rotated(rotated, taken_from, expected):
    models = rows("model position_encoding", ("llama2-7b-rope", "RoPE"))
    origins = rows(
        "experiment run positional rotated taken_from",
        ("4", "printed", "RoPE", rotated, taken_from),
        ("4", "first", "RoPE", "yes", "model"),
    )
    first = rows("layer value", (0, 0.4), (1, 0.8))
    assert says("c004_attention_by_hand", models, origins, first, layers((90.0, 100.0), (90.0, 100.0))) == expected


def test_reason_states_whether_hand_computed_attention_is_rotated():
    models = rows("model position_encoding", ("llama2-7b-rope", "RoPE"))
    first, published = rows("layer value", (0, 0.4)), layers((90.0,), (90.0,))
    for rotated, phrase in (("yes", "rates are of"), ("no", "rates are not of"), ("?", "rates are not shown to be of")):
        origins = rows("experiment run positional rotated taken_from", ("4", "printed", "RoPE", rotated, "hand"))
        assert phrase in reason("c004_attention_by_hand", models, origins, first, published)


def test_sink_rate_cells_are_compared_with_layer_means_and_ranges():
    bands = rows(
        "positional layers printed_text mean smallest largest agreement",
        ("RoPE", "0", "63.4%", 63.44, 63.0, 64.0, "holds"),
        ("RoPE", "2-31", "97-98%", 97.5, 96.0, 98.0, "contradicted"),
        ("RoPE", "average", "97.8%", 97.9, 63.0, 98.0, "holds"),
    )
    printed = prints(
        "layers positional printed", ("0", "RoPE", "63.4%"), ("2-31", "RoPE", "97-98%"), ("average", "RoPE", "97.8%")
    )
    assert say("c004_sink_rate_cells", bands, printed) == {
        "RoPE-0": "holds: 63.44",
        "RoPE-2-31": "contradicted: 96.0-98.0%",
        "RoPE-average": "contradicted: 97.90",
    }


@pytest.mark.parametrize(
    ("above", "rope", "drope", "expected"),
    [
        (10, 0.91, 91.0, "holds: 10 of 10"),
        (8, 0.91, 91.0, "holds: 10 of 10"),
        (7, 0.91, 91.0, "contradicted: 10 of 10"),
        (10, 0.90, 91.0, "contradicted: 0 of 10"),  # exactly 0.9 is not above the threshold
        (10, 0.91, 90.0, "contradicted: 0 of 10"),
    ],
)
def test_high_sink_rates_need_both_models_in_nearly_all_layers(above, rope, drope, expected):
    table = summary(layers=10, layers_above_90_in_both=above, shortest_pattern_text=8, longest_pattern_text=12)
    first = rows("layer value", *[(layer, rope) for layer in range(10)])
    attention = prints("positional metric printed", ("DroPE", "sink_heads", "90%"))
    published = layers([95.0] * 10, [drope] * 10)
    assert says("c004_sink_rates_high", table, published, first, attention) == expected


def test_high_sink_rates_allow_one_low_layer_in_ten():
    table = summary(layers=10, layers_above_90_in_both=10, shortest_pattern_text=8, longest_pattern_text=12)
    attention = prints("positional metric printed", ("DroPE", "sink_heads", "90%"))
    for low, expected in ((1, "holds: 9 of 10"), (2, "contradicted: 8 of 10")):
        first = rows("layer value", *[(layer, 0.5 if layer < low else 0.95) for layer in range(10)])
        published = layers([95.0] * 10, [95.0] * 10)
        assert says("c004_sink_rates_high", table, published, first, attention) == expected


def test_converged_sink_rate_is_that_of_the_later_layers():
    captions = states(fig_12_sink_rate="~97%", fig_12_layer="2")
    table = summary(rope_after_layer_1=98.4, drope_after_layer_1=99.0)
    published = layers((60.0, 70.0, 98.0), (60.0, 70.0, 99.0))
    rates = prints("layers positional printed", ("average", "RoPE", "97.8%"), ("average", "DroPE", "95.6%"))
    frames = (published, table, rates, captions)
    assert say("c004_fig12_converge", *frames) == {"rope": "holds: 98.4", "drope": "contradicted: 99.0"}
    explanations = [each.reason for each in function("c004_fig12_converge")(*frames)]
    assert ["is 97.8%." in explanations[0], "is 95.6%." in explanations[1]] == [True, True]


def test_sink_rate_of_about_97_means_within_one_and_a_half():
    rates = prints("layers positional printed", ("average", "RoPE", "98.6%"), ("average", "DroPE", "95.6%"))
    assert verdicts("c004_sink_rates_about_97", rates, states(s6_1_sink_rate="~97%")) == {
        "rope": "contradicted",
        "drope": "holds",
    }


def test_nearly_identical_sink_rates_need_no_differing_layer():
    tests = rows("comparison estimate ci_low ci_high p_value p_adjusted n", ("layer 1", -20.0, -25.0, -15.0, 0, 0, 20))
    for distance, expected in ((0, "holds"), (1, "not supported")):
        table = summary(layers_apart=distance, gap_average=0.5, layers_tested=9)
        assert says("c004_sink_rates_nearly_identical", table, tests) == f"{expected}: -20.0 points in layer 1"


def test_free_later_layers_need_ten_points_less_on_the_first_token():
    table = summary(rope_after_layer_1=98, drope_after_layer_1=95)
    origins = rows("experiment run positional rotated taken_from", ("5", "printed", "RoPE", "yes", "model"))

    def write(rope, drope):
        # layers 0 and 1 are not later layers
        return rows("layer mass_rope mass_drope", (0, 0.0, 1.0), (1, 0.0, 1.0), (2, rope, drope), (3, rope, drope))

    assert says("c004_later_layers_free", table, write(0.9, 0.7), origins).startswith("holds: 20.0 points")
    assert says("c004_later_layers_free", table, write(0.9, 0.85), origins).startswith("not supported: 5.0 points")
    assert "no layer is freed" not in reason("c004_later_layers_free", table, write(0.9, 0.7), origins)
    assert "no layer is freed" in reason("c004_later_layers_free", table, write(0.9, 0.85), origins)
    unknown = origins.assign(rotated="no", taken_from="hand")
    assert verdict("c004_later_layers_free", table, write(0.9, 0.7), unknown) == "not supported"
