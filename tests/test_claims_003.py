"""Claims on document 003, on hand-made frames that make each claim true or false."""

from claims_cases import function, prints, reason, rows, say, says, states, verdict, verdicts

ONE, THREE = "llama3.2-1b", "llama3.2-3b"
MODELS = rows("model layers", (ONE, 16), (THREE, 28))


def landmarks(**changed):
    """Return landmarks alike in both charts: start -5, trough -50, ends from -20 to -30, answer band down to -10."""
    values = {
        "start-delta_p": "-5",
        "lowest-delta_p": "-50", "lowest-layer": "8",
        "trough-layer_low": "7", "trough-layer_high": "9",
        "end-delta_p_high": "-20", "end-delta_p_low": "-30", "end-layer": "14",
        "degraded-layer_low": "6", "degraded-layer_high": "10",
        "band-delta_p_low": "-10",
    }  # fmt: skip
    table = []
    for model in (ONE, THREE):
        for key, text in {**values, **changed.get(model, changed.get("both", {}))}.items():
            landmark, metric = key.split("-")
            table.append((model, "answer" if landmark == "band" else "question", landmark, metric, text, "PopQA"))
    return prints("model anchoring landmark metric printed data_set", *table)


def both(answer):
    return {"1b": answer, "3b": answer}


def test_middle_layers_claim_needs_later_layers():
    assert verdicts("c003_middle_layers", landmarks(), MODELS) == both("holds")
    ends_late = landmarks(both={"degraded-layer_high": "14"})
    assert verdicts("c003_middle_layers", ends_late, MODELS) == both("contradicted")


def test_partial_recovery_needs_a_gain_of_every_curve():
    assert say("c003_partial_recovery", landmarks()) == both("holds: 20 to 30 points")
    level = landmarks(both={"end-delta_p_low": "-50"})
    assert say("c003_partial_recovery", level) == both("not supported: 0 to 30 points")


def test_u_shape_needs_a_recovery_of_half_the_fall():
    # from -5 to -50 and back to -20: 30 of 45
    assert say("c003_u_shape", landmarks()) == both("holds: 67 %")
    assert say("c003_u_shape", landmarks(both={"end-delta_p_high": "-41"})) == both("not supported: 20 %")


def test_separated_groups_need_starts_and_ends_below_the_band():
    assert say("c003_separation", landmarks()) == both("not supported: 10 points at the end")
    assert verdicts("c003_separation", landmarks(both={"start-delta_p": "-15"})) == both("holds")
    assert verdicts("c003_separation", landmarks(both={"end-delta_p_high": "-9"})) == both("contradicted")


def test_near_zero_curve_must_stay_above_the_start_of_the_others():
    stated = rows("statement printed", ("observations_answer_level", "near zero"))
    assert verdict("c003_near_zero", stated, landmarks()) == "not supported"
    high = landmarks(both={"band-delta_p_low": "-2"})
    assert verdict("c003_near_zero", stated, high) == "holds"


def stated_counts(**changed):
    values = {
        "overview_anchorings": 2.0, "overview_data_sets": 4.0, "overview_conditions": 8.0,
        "axes_series": 8.0, "overview_charts": 2.0, "overview_models": 2.0,
    }  # fmt: skip
    return rows("statement as_number", *{**values, **changed}.items())


def test_number_of_series_is_the_product_of_its_factors():
    assert says("c003_series", stated_counts()) == "holds: 8"
    for changed in ({"overview_data_sets": 3.0}, {"axes_series": 6.0}, {"overview_charts": 3.0}):
        assert verdict("c003_series", stated_counts(**changed)) == "contradicted"
    assert reason("c003_series", stated_counts()) != reason("c003_series", stated_counts(axes_series=6.0))


def axes(**changed):
    cells = {f"axes_{size}_delta_p_high": "0" for size in ("1b", "3b")}
    cells |= {f"axes_{size}_delta_p_low": "-60" for size in ("1b", "3b")}
    cells |= {"axes_1b_layer_first": "1", "axes_1b_layer_last": "15", "axes_3b_layer_first": "0"}
    cells |= {"axes_3b_layer_last": "27", "observations_1b_lowest": "-50", "observations_3b_lowest": "-50"}
    lines = [(key, text, "about" if key == "axes_1b_layer_first" else "") for key, text in {**cells, **changed}.items()]
    return prints("statement printed qualifier", *lines)


def test_values_must_lie_within_their_axis():
    assert verdicts("c003_axes", axes(), landmarks()) == both("holds")
    short = axes(axes_1b_delta_p_low="-40", axes_3b_delta_p_high="-10")
    assert verdicts("c003_axes", short, landmarks()) == both("contradicted")


def test_axis_ends_must_be_multiples_of_ten():
    assert verdicts("c003_axis_ticks", axes()) == both("holds")
    odd = axes(axes_1b_delta_p_low="-67", axes_3b_delta_p_high="5")
    assert verdicts("c003_axis_ticks", odd) == both("not supported")
    (first, _) = function("c003_axis_ticks")(odd)
    assert first.failure == "number"
    assert "not both multiples of 10" in first.reason


def test_an_approximate_layer_may_be_off_by_one():
    assert verdicts("c003_layers", axes(), MODELS) == both("holds")
    wrong_axes = axes(axes_1b_layer_first="2", axes_3b_layer_first="1")
    assert verdicts("c003_layers", wrong_axes, MODELS) == both("contradicted")
    assert verdicts("c003_layers", axes(axes_1b_layer_last="16"), MODELS)["1b"] == "contradicted"


def test_lowest_values_must_agree_in_both_places_and_lie_in_the_trough():
    assert verdicts("c003_restated", axes(), landmarks()) == both("holds")
    assert verdicts("c003_restated", axes(observations_3b_lowest="-70"), landmarks())["3b"] == "contradicted"
    assert verdicts("c003_lowest_in_trough", landmarks()) == both("holds")
    for layer in ("6", "10"):
        assert verdicts("c003_lowest_in_trough", landmarks(both={"lowest-layer": layer})) == both("contradicted")


def test_longer_phase_must_have_more_layers():
    longer = landmarks(**{THREE: {"degraded-layer_high": "12"}})
    assert says("c003_longer_phase", longer, MODELS) == "holds: 7 against 5 layers"
    assert says("c003_longer_phase", landmarks(), MODELS) == "contradicted: 5 against 5 layers"


def test_anchoring_effect_is_not_supported_when_groups_are_defined_by_it():
    def groups(text):
        return rows("fact printed", ("delta_p_groups", text))

    # the gap at the trough is 40; data sets spread by 10, models by 0
    assert verdict("c003_anchoring_effect", landmarks(), groups("prompts of either kind")) == "holds"
    assert verdict("c003_anchoring_effect", landmarks(), groups("answers that flip: flips")) == "not supported"
    near = landmarks(both={"band-delta_p_low": "-45"})
    assert verdict("c003_anchoring_effect", near, groups("prompts of either kind")) == "contradicted"


def test_performance_claim_is_contradicted_by_a_probe_output():
    for quantity, expected in (("probability of the answer", "holds"), ("output of a probe", "contradicted")):
        assert verdict("c003_performance", rows("fact printed", ("delta_p_quantity", quantity))) == expected


def test_curve_ends_are_compared_with_the_axis():
    keys = [f"axes_{size}_layer_{end}" for size in ("1b", "3b") for end in ("first", "last")]
    stated = states(**dict(zip(keys, ("0", "14", "0", "15"), strict=True)))
    judged = verdicts("c003_drawn_ends", stated, landmarks(both={"start-layer": "0"}))
    assert judged == {"1b-start": "holds", "1b-end": "holds", "3b-start": "holds", "3b-end": "contradicted"}
    starts_late = verdicts("c003_drawn_ends", stated, landmarks(both={"start-layer": "4"}))
    assert (starts_late["1b-start"], starts_late["1b-end"]) == ("contradicted", "holds")
