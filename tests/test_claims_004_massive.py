"""Claims on the massive values of document 004, on hand-made frames: their number and location."""

import pytest

from claims_cases import prints, reason, rows, say, says, states, verdict, verdicts

TENSORS = ("query", "key", "value")
MODELS = ("RoPE", "DroPE")


def test_massive_value_threshold_must_agree_in_words_and_formula():
    names = ("s1_1_threshold", "s1_1_threshold_formula", "s2_1_threshold", "s3_1_threshold")
    assert says("c004_massive_threshold", states(**dict.fromkeys(names, "5"))) == "holds: 5"
    for name in names:
        assert verdict("c004_massive_threshold", states(**(dict.fromkeys(names, "5") | {name: "3"}))) == "contradicted"


def test_number_of_texts_must_agree_in_caption_and_script():
    def script(count):
        return rows("section items", ("2 (Table 2.2)", f"{count} texts"), ("3", "7 texts"))

    stated = states(s2_1_texts="10")
    assert verdict("c004_massive_settings", stated, states(fig_1_samples="10"), script(10)) == "holds"
    assert verdict("c004_massive_settings", stated, states(fig_1_samples="8"), script(10)) == "contradicted"
    assert verdict("c004_massive_settings", stated, states(fig_1_samples="10"), script(1)) == "contradicted"


@pytest.mark.parametrize(
    ("items", "precision", "expected"),
    [("10 texts", "16 bit", "holds"), ("3 texts", "16 bit", "contradicted"), ("10 texts", "4 bit", "contradicted")],
)
def test_layers_of_the_same_run_share_number_of_texts_and_precision(items, precision, expected):
    columns = "section items precision note"
    runs = rows(columns, ("2 (Table 2.2)", "10 texts", "16 bit", "a"), ("2.3 (layers)", items, precision, "b"))
    assert says("c004_layers_same_run", states(s2_1_texts="10"), runs) == f"{expected}: {items}"


@pytest.mark.parametrize(
    ("estimate", "p", "left", "expected"),
    [
        (-50.0, 0.01, 20.0, "holds"),
        (50.0, 0.01, 20.0, "not supported"),
        (-50.0, 0.06, 20.0, "not supported"),
        (-50.0, 0.01, 0.0, "not supported"),  # none is left
    ],
)
def test_fewer_massive_values_must_be_significant_and_not_none(estimate, p, left, expected):
    counts = rows("tensor change texts drope_mean", *[(tensor, -30.0, 10, left) for tensor in ("query", "key")])
    columns = "comparison estimate ci_low ci_high p_value p_adjusted n"
    tests = rows(columns, *[(tensor, estimate, -90.0, 90.0, p / 2, p, 20) for tensor in ("query", "key")])
    assert set(verdicts("c004_massive_fewer", counts, tests).values()) == {expected}


@pytest.mark.parametrize(
    ("estimate", "ci", "expected"),
    [(2.0, (1.0, 3.0), "holds"), (2.0, (-1.0, 5.0), "not significant"), (-2.0, (-3.0, -1.0), "contradicted")],
)
def test_rise_of_the_value_count_needs_its_interval(estimate, ci, expected):
    table = prints("tensor positional metric printed", ("value", "DroPE", "change_from_rope", "+1.5%"))
    test = rows("comparison estimate ci_low ci_high p_value n", ("value", estimate, *ci, 0.01, 20))
    assert says("c004_value_count_rises", table, test) == f"{expected}: {estimate:.1f} values"


SUMMARY = (
    "tensor layer1_rope layer1_drope layer1_increase layer1_ratio later_layers later_mean_rope later_mean_drope "
    "later_low_rope later_low_drope later_high_rope later_high_drope later_change later_layers_fallen_by_stated "
    "layers_with_more"
)


def summed(*, query=38.0, others=38.0, more="1"):
    """Return a summary: layer 1 has 10 values in RoPE and a multiple in DroPE; later layers, 51 and 24 on average."""
    ratios = {"query": query, "key": others, "value": others, "all": others}
    return rows(
        SUMMARY,
        *[
            (tensor, 10.0, 10 * ratio, ratio - 1, ratio, 30, 51.0, 24.0, 40, 10, 60, 30, -60.2, 20, more)
            for tensor, ratio in ratios.items()
        ],
    )


LAYER1 = prints(
    "layers positional metric printed",
    ("1", "RoPE", "count", "10"),
    ("1", "DroPE", "count", "380"),
    ("1", "DroPE", "change_from_rope", "+37x"),
    ("2-31", "RoPE", "count", "~50"),
    ("2-31", "DroPE", "count", "~20"),
    ("2-31", "DroPE", "change_from_rope", "-60%"),
)


def test_layer_1_ratio_of_37_times_more_means_38_times_as_many():
    assert says("c004_layer1_times", LAYER1, summed()) == "holds: 37.0"
    assert says("c004_layer1_times", LAYER1, summed(query=37.0)) == "contradicted: 36.0"
    assert verdicts("c004_layer1_counts", LAYER1, summed()) == {"RoPE": "holds", "DroPE": "holds"}
    assert verdicts("c004_layer1_counts", LAYER1, summed(query=37.0)) == {"RoPE": "holds", "DroPE": "contradicted"}


def test_layer_1_ratio_without_a_named_tensor_covers_all_tensors():
    stated = states(paradox_layer1_ratio="37x")
    assert says("c004_layer1_tensors", stated, summed()) == "holds: 38.0 in all"
    assert "holds for query, key, value and all:" in reason("c004_layer1_tensors", stated, summed())
    assert says("c004_layer1_tensors", stated, summed(others=38.5)) == "holds: 38.5 in all"
    assert says("c004_layer1_tensors", stated, summed(others=5.0)) == "not supported: 5.0 in all"


def test_later_layer_counts_are_compared_approximately():
    answers = say("c004_later_layers", LAYER1, summed())
    # 50 means 42.5 to 57.5, and 20 means 17 to 23
    assert answers == {"RoPE": "holds: 51.0", "DroPE": "contradicted: 24.0", "change": "holds: -60.2"}


@pytest.mark.parametrize(
    ("more", "expected"), [("1", "holds: 1 layer"), ("1 7", "contradicted: 2 layers"), ("7", "contradicted: 1 layer")]
)
def test_only_layer_claim_needs_the_first_and_no_other(more, expected):
    assert set(say("c004_only_layer", summed(more=more)).values()) == {expected}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [((-10, 50, -20), "holds"), ((-10, -50, -20), "contradicted"), ((10, 50, -20), "contradicted")],
)
def test_not_uniform_claim_needs_layer_1_to_rise_and_the_others_to_fall(changes, expected):
    table = [("query", layer, float(change)) for layer, change in enumerate(changes)]
    assert verdict("c004_not_uniform", rows("tensor layer change", *table, ("key", 0, 9.0))) == expected


def counts(drope="160", rope="200", change="-20%"):
    """Return the table of counts, each with a standard deviation of 3."""
    table = [(tensor, model, "count_sd", "3") for tensor in TENSORS for model in MODELS]
    table += [(tensor, "RoPE", "count_mean", rope) for tensor in TENSORS]
    table += [(tensor, "DroPE", "count_mean", drope) for tensor in TENSORS]
    table += [(tensor, "DroPE", "change_from_rope", change) for tensor in TENSORS]
    return prints("tensor positional metric printed", *table)


def test_a_change_follows_from_its_means_and_their_rounding():
    assert set(verdicts("c004_massive_change_cells", counts()).values()) == {"holds"}
    # 160.5 / 199.5 is 80.5 %, and 159.5 / 200.5 is 79.6 %
    assert set(verdicts("c004_massive_change_cells", counts(change="-20.4%")).values()) == {"holds after rounding"}
    assert set(verdicts("c004_massive_change_cells", counts(change="+20%")).values()) == {"contradicted"}


def test_totals_without_layer_1_are_compared_with_the_later_layers():
    # (500 - 380) / (310 - 10) - 1 = -60 %
    assert verdicts("c004_later_layers_from_totals", LAYER1, counts(drope="500", rope="310")) == {"query": "holds"}
    assert say("c004_later_layers_from_totals", LAYER1, counts(drope="440", rope="310")) == {
        "query": "contradicted: -80.0"
    }


def drawn(figure, *values):
    """Return points of a figure; each value gives model, tensor, metric and printed text."""
    return prints("figure series x metric printed", *[(figure, *value) for value in values])


def test_figure_a_coordinates_are_compared_with_table_cells():
    points = [
        (model, tensor.capitalize(), metric, text)
        for model, mean in (("RoPE", "200"), ("DroPE", "161"))
        for tensor in TENSORS
        for metric, text in (("count_mean", mean), ("count_sd", "3"))
    ]
    judged = verdicts("c004_figure_a", drawn("A", *points), counts())
    assert {key for key, answer in judged.items() if answer == "contradicted"} == {
        f"DroPE-{tensor}-count_mean" for tensor in TENSORS
    }
    assert len(judged) == 12


def bars(*, query=("10", "370"), other=("10", "20")):
    pairs = {"Query": query, "Key": other, "Value": other}
    return drawn(
        "B", *[(model, x, "count", text) for x, pair in pairs.items() for model, text in zip(MODELS, pair, strict=True)]
    )


def test_figure_b_bars_are_compared_with_layer_1_counts():
    table = [(tensor, layer, 10.0, 20.0) for tensor in TENSORS for layer in (0, 1)]
    answers = verdicts("c004_figure_b", bars(), rows("tensor layer rope drope", *table))
    assert [key for key, answer in answers.items() if answer != "holds"] == ["DroPE-query"]


def test_figure_b_caption_must_hold_for_all_three_bars():
    stated = states(fig_b_layer1_ratio="37x")
    assert says("c004_figure_b_caption", bars(), stated) == "not supported: 14"  # 410 over 30
    assert says("c004_figure_b_caption", bars(other=("10", "372")), stated) == "holds: 37"
