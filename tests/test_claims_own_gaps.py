"""Claims of the thesis on heads and texts of the tiny pair, on frames made by hand."""

import pytest

from claims_cases import reason, rows, say, says, verdict

SIDES = ("rope", "drope")


def ablations():
    """Four heads and eight removed, at either end; only the fewest are read."""
    columns = "side rank metric heads value random draws"
    return rows(
        columns,
        *[
            (side, rank, "passkey_accuracy", heads, 0.4, 0.9, 5)
            for side in SIDES
            for rank in ("highest", "lowest")
            for heads in (4, 8)
        ],
    )


def head_tests(rank, *values):
    """Of RoPE and DroPE: estimate and interval with four heads; with eight nothing is right."""
    columns = "comparison estimate ci_low ci_high p_value n"
    found = [
        (f"{side}, passkey_accuracy, {rank} 4 heads - random", *each, 0.01, 3)
        for side, each in zip(SIDES, values, strict=True)
    ]
    found += [(f"{side}, passkey_accuracy, {rank} 8 heads - random", 9, 9, 9, 0.9, 3) for side in SIDES]
    return rows(columns, *found)


@pytest.mark.parametrize(
    ("claim", "rank", "sign"), [("thesis_lab_plastic_heads", "highest", -1), ("thesis_lab_rigid_heads", "lowest", 1)]
)
def test_heads_matter_by_the_interval_over_seeds(claim, rank, sign):
    def effect(size, reach):
        return (sign * size, *sorted((sign * (size - reach), sign * (size + reach))))

    found = say(claim, ablations(), head_tests(rank, effect(0.5, 0.2), effect(0.5, 0.9)))
    assert found == {
        "rope": f"holds: {50 * sign:+d} points",
        "drope": f"not significant: {50 * sign:+d} points",
    }
    found = say(claim, ablations(), head_tests(rank, effect(-0.5, 0.2), effect(-0.5, 0.9)))
    assert found["rope"].startswith("contradicted")
    assert found["drope"].startswith("not supported")


@pytest.mark.parametrize(
    ("drope", "expected"), [((0.2, 0.1, 0.3), "holds"), ((-0.2, -0.3, -0.1), "holds"), ((0.2, -0.1, 0.5), "no")]
)
def test_a_text_matters_if_it_does_in_the_weaker_model(drope, expected):
    columns = (
        "metric comparison rope rope_low rope_high rope_least rope_most drope drope_low drope_high drope_least "
        "drope_most seeds"
    )
    found = rows(
        columns,
        ("ap_overall", "code less prose", 0.9, 0.8, 1.0, 0.8, 1.0, *drope, *drope[1:], 3),
        ("ap_drop", "code less prose", 0.0, -1.0, 1.0, 0, 0, 0.0, -1.0, 1.0, 0, 0, 3),
    )
    tests = rows(
        "comparison unit estimate p_adjusted",
        ("rope ap_overall, code", "training seed", 0.5, 0.01),
        ("rope ap_overall, code", "layer", 0.5, 0.01),
    )
    answer = verdict("thesis_lab_text_matters", found, tests)
    assert answer == ("holds" if expected == "holds" else "not significant")


def test_the_weaker_model_is_the_one_whose_effect_is_less_beside_its_interval():
    columns = (
        "metric comparison rope rope_low rope_high rope_least rope_most drope drope_low drope_high drope_least "
        "drope_most seeds"
    )
    rope, drope = (0.9, 0.8, 1.0, 0.8, 1.0), (0.5, 0.45, 0.55, 0.4, 0.6)  # 4.5 and 5 times as large as wide
    found = rows(columns, ("ap_overall", "code less prose", *rope, *drope, 3))
    tests = rows(
        "comparison unit estimate p_adjusted",
        ("rope ap_overall, code", "training seed", 0.5, 0.01),
        ("rope ap_overall, code", "layer", -0.5, 0.01),
    )
    said = reason("thesis_lab_text_matters", found, tests)
    assert "in RoPE +0.900 [+0.800, +1.000]" in said
    assert "this sign in 0 of 1 models" in said


@pytest.mark.parametrize(
    ("low", "p", "expected"),
    [(0.1, 0.04, "holds"), (0.1, 0.06, "not supported"), (-0.1, 0.2, "not significant")],
)
def test_pairs_speak_if_the_weakest_model_does(low, p, expected):
    columns = "test estimate ci_low ci_high p_value p_adjusted n"
    found = rows(
        columns,
        ("pearson_within_layer", 0.8, 0.5, 0.9, 0.001, 0.001, 40),
        ("pearson_within_layer", 0.3, low, 0.5, p / 2, p, 40),
        ("spearman", -0.9, -1.0, -0.8, 1.0, 1.0, 40),
    )
    assert says("thesis_lab_pairs_speak", found) == f"{expected}: 0.30 to 0.80"
