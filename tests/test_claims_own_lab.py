"""Claims of the thesis on its tiny pair, on frames made by hand: what makes each true and what false."""

import pytest

from artifacts.errors import DataError
from claims_cases import function, reason, rows, say, says, verdict, verdicts

# --- keys by distance


def spans(near=(1.0, 1.0), far=(0.0, 0.09), other=(0.6, 0.9)):
    columns = "side span least most right n seeds low high"
    return rows(
        columns,
        ("rope", "near", *near, 8, 8, 3, 0.5, 1.0),
        ("rope", "far", *far, 1, 8, 3, 2.0, 4.0),
        ("drope", "near", 0.0, 0.0, 0, 8, 3, 0.5, 1.0),
        ("drope", "far", *other, 6, 8, 3, 2.0, 4.0),
    )


@pytest.mark.parametrize(
    ("given", "key", "expected"),
    [
        ({}, "near", "holds: 8 of 8"),
        ({"near": (0.9, 1.0)}, "near", "not supported: 8 of 8"),
        ({"near": (0.8, 0.9)}, "near", "contradicted: 8 of 8"),
        ({}, "far", "holds: 1 of 8"),
        ({"far": (0.0, 0.1)}, "far", "not supported: 1 of 8"),
        ({"far": (0.1, 0.2)}, "far", "contradicted: 1 of 8"),
        ({}, "without", "holds: 6 of 8"),
        ({"other": (0.5, 0.9)}, "without", "not supported: 6 of 8"),
        ({"other": (0.2, 0.5)}, "without", "not supported: 6 of 8"),
        ({"other": (0.2, 0.49)}, "without", "contradicted: 6 of 8"),
    ],
)
def test_a_cliff_is_between_keys_near_and_far_in_every_seed(given, key, expected):
    assert say("thesis_lab_cliff", spans(**given))[key] == expected


def test_a_cliff_is_told_in_percent():
    near, far, _ = function("thesis_lab_cliff")(spans())
    assert near.reason == "It finds 8 of 8 of them at 0.5 to 1 times the training length, 100 to 100 % in single seeds."
    assert "0 to 9 % in single seeds" in far.reason


@pytest.mark.parametrize(
    ("surely", "most", "expected"),
    [(0.26, 0.9, "holds: 60 %"), (0.25, 0.9, "not supported: 60 %"), (0.1, 0.25, "contradicted: 60 %")],
)
def test_ranking_is_above_a_guess_if_the_lower_end_is(surely, most, expected):
    columns = "metric ratio drope drope_least drope_most drope_surely chance n seeds"
    table = rows(
        columns,
        *[(f"ranking_{name}", 1.0, 0.6, 0.5, most, surely, 0.25, 40, 3) for name in ("likelihood", "yes")],
        *[(f"ranking_{name}", 2.0, 0.0, 0.0, 0.0, 0.0, 0.25, 40, 3) for name in ("likelihood", "yes")],
    )
    assert set(say("thesis_lab_ranks", table).values()) == {expected}
    assert "50 to" in function("thesis_lab_ranks")(table)[0].reason


@pytest.mark.parametrize(
    ("least", "most", "expected"),
    [(0.76, 0.9, "holds"), (0.75, 0.9, "not supported"), (0.3, 0.51, "not supported"), (0.3, 0.5, "contradicted")],
)
def test_a_key_is_told_from_a_miss_in_three_pairs_of_four(least, most, expected):
    sides = [value for _ in range(2) for value in (0.8, least, most)]
    columns = "metric ratio rope rope_least rope_most drope drope_least drope_most chance seeds"
    table = rows(
        columns,
        ("verification_auc_one-digit", 1.0, *sides, 0.5, 3),
        ("verification_auc_one-digit", 2.0, *[0.0] * 6, 0.5, 3),
    )
    assert say("thesis_lab_verifies", table) == dict.fromkeys(("rope", "drope"), f"{expected}: 80 %")


@pytest.mark.parametrize(
    ("gap", "expected"),
    [(0.0625, "holds: +6.2 points"), (-0.125, "contradicted: -12.5 points"), (0.125, "contradicted: +12.5 points")],
)
def test_wordings_differ_by_less_than_ten_points_at_every_length(gap, expected):
    columns = "kind part ratio rope drope seeds"
    table = rows(
        columns,
        ("form", "key", 1.0, 0.5, 0.5, 3),
        ("form", "code", 1.0, 0.46875, 0.5, 3),
        ("form", "key", 2.0, 0.5 + gap, 0.5, 3),
        ("form", "code", 2.0, 0.5, 0.5, 3),
        ("place", "key", 1.0, 0.0, 1.0, 3),
    )
    found = say("thesis_lab_wording", table)
    assert found["rope"] == expected
    assert found["drope"] == "holds: +0.0 points"
    assert "at 2 times the training length" in function("thesis_lab_wording")(table)[0].reason


SIGNED = [
    ("thesis_lab_concentration", "gini_q, seed {}", "q", -1),
    ("thesis_lab_levelled", "passkey, rope, seed {}", "rope", -1),
    ("thesis_lab_heads_keep", "entropy_share, rope, seed {}", "entropy_share", 1),
]
OTHERS = {
    "thesis_lab_concentration": ("gini_k, 0", "gini_v, 0"),
    "thesis_lab_levelled": ("passkey, drope, 0",),
    "thesis_lab_heads_keep": ("first_attention, 0", "local_attention, 0"),
}


@pytest.mark.parametrize(("claim", "comparison", "key", "sign"), SIGNED)
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((1, 0.01), (1, 0.049), "holds: 2 of 2 seeds"),
        ((1, 0.01), (1, 0.05), "not supported: 1 of 2 seeds"),
        ((1, 0.01), (-1, 0.01), "not supported: 1 of 2 seeds"),
        ((-1, 0.01), (-1, 0.01), "contradicted: 0 of 2 seeds"),
        ((-1, 0.01), (-1, 0.05), "not supported: 0 of 2 seeds"),
        ((0, 0.01), (0, 0.01), "not supported: 0 of 2 seeds"),
    ],
)
def test_an_effect_is_in_every_seed_after_correction(claim, comparison, key, sign, first, second, expected):
    table = [(comparison.format(seed), sign * step * 0.1, p, 50) for seed, (step, p) in enumerate((first, second))] + [
        (name, 1.0, 0.5, 50) for name in OTHERS[claim]
    ]
    assert say(claim, rows("comparison estimate p_adjusted n", *table))[key] == expected


@pytest.mark.parametrize(
    ("estimate", "p", "expected"),
    [
        (0.0, 0.01, "holds: 0 of 2 differ"),
        (0.1, 0.05, "not supported: 1 of 2 differ"),
        (-0.1, 0.049, "contradicted: 1 of 2 differ"),
    ],
)
def test_no_answer_of_the_weights_is_lost_or_won(estimate, p, expected):
    table = rows(
        "comparison estimate p_adjusted n",
        ("cities, rope", estimate, p, 20),
        ("sports, rope", 0.0, 1.0, 20),
        ("passkey, rope", 0.9, 0.001, 20),
    )
    assert says("thesis_lab_levelled_facts", table) == expected


# --- experiments


@pytest.mark.parametrize(("most", "expected"), [(0.0, "holds: 0 and 0"), (0.5, "contradicted: 0 and 0.5")])
def test_no_dimension_is_massive_in_any_seed(most, expected):
    columns = "threshold tensor rope_most drope_most seeds"
    table = rows(columns, (5.0, "query", 0.0, most, 3), (5.0, "key", 0.0, 0.0, 3), (3.0, "query", 7.0, 7.0, 3))
    assert says("thesis_lab_massive_values", table) == expected


@pytest.mark.parametrize(
    ("layers", "expected"),
    [((0, 2), "holds: 0 of 2"), ((1, 2), "not supported: 1 of 2"), ((1, 1), "contradicted: 2 of 2")],
)
def test_layer_one_is_not_the_costliest(layers, expected):
    columns = "ablation costliest_layer largest layer1"
    table = [(part, layer, 2.0, 1.0) for part in ("mlp", "attention", "both") for layer in layers]
    assert set(say("thesis_lab_layer1", rows(columns, *table)).values()) == {expected}


def measured(low, high, **others):
    columns = "quantity digits unit rope drope difference difference_low difference_high seeds note"
    names = ("largest_minus_random", "largest_minus_matched", "contextual_degradation", "passkey_degradation")
    middle = None if low is None else (low + high) / 2
    values = [(name, 3, "percent", 0.4, 0.3, middle, low, high, 3, "one model") for name in (*names, "layer1_share")]
    return rows(columns, *values).assign(reported_rope=4.0, reported_drope=6.0, **others)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.2, -0.1, "holds"),
        (-0.2, 0.1, "not significant"),
        (-0.1, 0.2, "not supported"),
        (0.1, 0.2, "contradicted"),
        (None, None, "not testable"),
    ],
)
def test_one_model_depends_less_if_the_interval_over_seeds_is_below_zero(low, high, expected):
    assert set(verdicts("thesis_lab_largest_dimensions", measured(low, high)).values()) == {expected}


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(0.1, 0.2, "holds"), (-0.1, 0.2, "not significant"), (-0.2, -0.1, "contradicted")]
)
def test_a_share_is_larger_if_the_interval_is_above_zero(low, high, expected):
    assert verdict("thesis_lab_layer1_share", measured(low, high)) == expected
    assert "Reported: 4.0 and 6.0 %." in reason("thesis_lab_layer1_share", measured(low, high))


@pytest.mark.parametrize(("most", "expected"), [(0.99, "holds: 0.500 nats"), (1.0, "contradicted: 0.500 nats")])
def test_values_cost_less_than_a_tenth_of_what_is_reported(most, expected):
    columns = "quantity rope rope_least rope_most reported_rope drope drope_least drope_most reported_drope seeds"
    table = rows(columns, ("bos_value_all", 0.5, 0.1, most, 10.0, 0.5, 0.1, 0.2, 10.0, 3))
    assert say("thesis_lab_first_values", table) == {"rope": expected, "drope": "holds: 0.500 nats"}


@pytest.mark.parametrize(
    ("yes", "decided", "expected"),
    [(2, 5, "holds: 2 of 5"), (2, 4, "contradicted: 2 of 4"), (3, 5, "contradicted: 3 of 5"), (0, 0, "not testable")],
)
def test_fewer_than_half_of_the_directions_appear(yes, decided, expected):
    counts = {"yes": yes, "decided": decided, "opposite": 1, "no": 1, "not measurable": 4, "seeds": 3}
    assert says("thesis_lab_directions", rows("what count", *counts.items())) == expected


# --- geometry


@pytest.mark.parametrize(
    ("low", "high", "seeds", "expected"),
    [
        (0.1, 0.2, 2, "holds"),
        (-0.1, 0.2, 2, "not significant"),
        (-0.2, -0.1, 2, "contradicted"),
        (0.1, 0.2, 1, "not testable"),
    ],
)
def test_plasticity_of_a_pair_falls_by_the_interval_over_seeds(low, high, seeds, expected):
    middle = (low + high) / 2
    table = rows(
        "metric seeds rope rope_low rope_high drope drope_low drope_high",
        ("ap_drop", seeds, middle, low, high, middle, low, high),
    )
    single = rows("side ap_drop ap_drop_low ap_drop_high", ("rope", 0.1, 0.0, 0.2), ("drope", 0.3, 0.2, 0.4))
    assert verdicts("thesis_lab_plasticity_falls", single, table) == dict.fromkeys(("rope", "drope"), expected)
    if seeds > 1:
        assert (
            "0.100 [0.000, 0.200] over the key heads"
            in function("thesis_lab_plasticity_falls")(single, table)[0].reason
        )


@pytest.mark.parametrize(
    ("low", "high", "seeds", "expected"),
    [
        (-0.2, -0.1, 2, "holds"),
        (-0.2, 0.1, 2, "not significant"),
        (0.1, 0.2, 2, "contradicted"),
        (-0.2, -0.1, 1, "not testable"),
    ],
)
def test_drift_shrinks_by_the_interval_over_seeds(low, high, seeds, expected):
    values = (seeds, 0.5, 0.4, (low + high) / 2, low, high)
    columns = "metric seeds rope drope difference difference_low difference_high"
    table = rows(columns, ("r_q_a", *values), ("r_k_a_size", *values))
    assert verdicts("thesis_lab_drift_shrinks", table) == dict.fromkeys(("queries", "keys"), expected)


@pytest.mark.parametrize(("most", "expected"), [(0.0, "holds: 0.1000"), (0.1, "contradicted: 0.1000")])
def test_no_head_follows_position_in_any_seed(most, expected):
    names = ("position-dominated", "Q-positional", "K-positional")
    shares = [(f"share_{name}", 0.2, 0.0, 0.0, 3) for name in names[:2]] + [(f"share_{names[2]}", 0.1, 0.1, most, 3)]
    table = rows("metric rope drope drope_most seeds", *shares)
    assert says("thesis_lab_no_positional_heads", table) == expected
    assert reason("thesis_lab_no_positional_heads", table).startswith("50% of the heads with rotation and 10%")


@pytest.mark.parametrize(
    ("second", "expected"),
    [(-0.1, "holds: -0.1000"), (-0.2, "not supported: -0.0500"), (0.3, "not supported: 0.0000")],
)
def test_a_drop_comes_nearer_to_zero_in_every_seed(second, expected):
    values = [(1, "rope", 0.2), (1, "drope", 0.1), (2, "rope", -0.2), (2, "drope", second), (3, "rope", 9.0)]
    assert says("thesis_lab_flatter", rows("training_seed side ap_drop", *values)) == expected


def test_a_drop_that_never_comes_nearer_contradicts_it_and_no_pair_is_an_error():
    columns = "training_seed side ap_drop"
    assert verdict("thesis_lab_flatter", rows(columns, (1, "rope", 0.1), (1, "drope", 0.2))) == "contradicted"
    with pytest.raises(DataError, match="no training seed with both models"):
        function("thesis_lab_flatter")(rows(columns, (1, "rope", 0.1), (2, "drope", 0.2)))
