"""Claims of the thesis on benchmarks, shares and captures, on hand-made frames that make each true or false."""

import pytest

from claims_cases import reason, rows, say, says, verdict, verdicts

# --- drop and decline


def decline_frames(apart=0.2, inside=(0.0, 0.01, 0.02, 0.03), overall=(8, 7, 6, 5, 4, 3, 2, 1), later=None):
    """Return frames of eight compared models (four Ministral 3, four Qwen3 with larger drops) and of one other."""
    drops = [0.05 + step for step in (0.0, 0.01, 0.02, 0.03)]
    drops += [drop + apart for drop in drops]
    declines = [0.10 + step for step in inside]
    declines += [decline + apart for decline in declines]
    names = [f"m{index}" for index in range(8)]
    families = ["Ministral 3"] * 4 + ["Qwen3"] * 4
    table = [
        (name, family, "nonthinking", True, drop, decline)
        for name, family, drop, decline in zip(names, families, drops, declines, strict=True)
    ]
    table += [("m0", "Ministral 3", "thinking", True, 9.0, -9.0), ("x", "Llama 3", "nonthinking", False, 9.0, -9.0)]
    losses = drops if later is None else later
    scores = [(name, "nonthinking", "16k", 50.0) for name in names]
    scores += [(name, "nonthinking", "128k", 50.0 * (1 - loss)) for name, loss in zip(names, losses, strict=True)]
    scores += [(name, "thinking", length, 1.0) for name in names for length in ("16k", "128k")]
    return (
        rows("model family mode in_source ap_drop decline", *table),
        rows("model mode length lbp", *scores),
        rows("model ap_overall", *zip(names, overall, strict=True)),
    )


def checks(**options):
    return verdicts("thesis_decline_checks", *decline_frames(**options))


def test_relation_within_families_is_judged_by_its_test():
    assert checks()["within"] == "not supported"  # in both families, larger drops have larger declines
    answers = say("thesis_decline_checks", *decline_frames(inside=(0.01, -0.01, -0.01, 0.01)))
    assert answers["within"] == "holds: 0.0000"


def test_family_membership_claim_needs_separated_families():
    assert checks()["member"] == "holds"
    assert checks(apart=0.01)["member"] == "not supported"
    level = {"inside": (0.0, 0.0, 0.0, 1e-6)}  # family membership alone predicts better than the drop
    assert checks(**level)["member"] == "not supported"


def test_overall_plasticity_is_compared_with_the_drop():
    families = (8.0, 7.9, 7.8, 7.7, 1.0, 0.9, 0.8, 0.7)
    assert checks(overall=families)["overall"] == "holds"
    assert checks(overall=(8, 1, 7, 2, 3, 6, 4, 5))["overall"] == "not supported"


def test_relation_from_a_later_start_is_compared_with_the_full_one():
    assert checks()["start"] == "not supported"
    assert checks(later=(0.1, 0.3, 0.2, 0.15, 0.12, 0.28, 0.22, 0.13))["start"] == "holds"


@pytest.mark.parametrize(
    ("estimate", "adjusted", "inside", "expected"),
    [
        (0.9, 0.049, (0.0, 0.01, 0.02, 0.03), "holds"), (0.9, 0.05, (0.0, 0.01, 0.02, 0.03), "not supported"),
        (-0.9, 0.01, (0.0, 0.01, 0.02, 0.03), "not supported"),
        (0.9, 0.01, (0.2, -0.2, 0.2, -0.2), "not supported"),
    ],
)  # fmt: skip
def test_decline_and_drop_relation_must_not_depend_on_one_model(estimate, adjusted, inside, expected):
    decline, *_ = decline_frames(inside=inside)
    tests = rows("comparison test estimate", ("ap_drop, nonthinking, n = 7", "pearson", 0.95))
    joint = rows(
        "comparison estimate p_value p_adjusted n",
        ("drop and loss, variants from 8k", estimate, 0.01, adjusted, 7),
        ("drop and loss, variants from every start", 0.5, 0.1, 0.2, 7),
    )
    answer = says("thesis_decline_goes_with_drop", decline, tests, joint)
    assert answer == f"{expected}: {estimate:.4f}"
    assert "with one of 8 models left out" in reason("thesis_decline_goes_with_drop", decline, tests, joint)


# --- over equal fractions of the context


def shares(ministral=(0.05, 0.06), claimed=262144, qwen=(0.9, 0.8, 0.2), qwen_claimed=131072):
    profile = [
        ("a", "Ministral 3", 131072, 0.7, 0.1, ministral[0]),
        ("b", "Ministral 3", 131072, 0.7, 0.1, ministral[1]),
    ]
    profile += [("q", "Qwen3", 131072, *qwen), ("over", "Qwen3", 131072, 0.9, 0.1, 0.9)]
    profile += [("llama3.2-1b", "Llama 3", 131072, 0.9, 0.6, 0.4)]
    stated = [("a", claimed), ("b", claimed), ("q", qwen_claimed), ("over", 65536), ("llama3.2-1b", 131072)]
    frame = rows("model family captured_context d0 d4 drop", *profile)
    return frame.assign(display_name=frame["model"]), rows("model claimed_context", *stated)


def test_flatter_family_over_an_equal_share_is_recomputed():
    assert says("thesis_equal_share", *shares()) == "holds: 1.8182"
    explanation = reason("thesis_equal_share", *shares())
    assert "0.050 to 0.060 and Qwen3 by 0.100 to 0.100, a factor of 1.8" in explanation
    assert "differ by 3.6; llama3.2-1b falls by 0.300" in explanation


@pytest.mark.parametrize(
    "other",
    [
        {"claimed": 131072},
        {"qwen_claimed": 262144},
        {"ministral": (0.05, 0.0995)},  # the difference is less than two roundings
        {"qwen": (0.9, 0.8, 0.099)},  # the full drops do not differ by more
    ],
)
def test_equal_share_claim_is_contradicted_by_other_drops(other):
    assert verdict("thesis_equal_share", *shares(**other)) == "contradicted"
    assert verdict("thesis_equal_share", *shares(ministral=(0.05, 0.0985))) == "holds"


@pytest.mark.parametrize(
    ("low", "early", "whole", "expected"),
    [(0.011, 0.010, 3.0, "holds"), (0.010, 0.010, 3.0, "contradicted"), (0.011, 0.010, 1.5, "contradicted")],
)
def test_outer_drop_must_grow_less_than_the_whole_drop(low, early, whole, expected):
    frame = rows(
        "phase order drop_outer drop_outer_low drop_outer_high ap_drop",
        ("Anneal", 1, 0.010, 0.009, early, 0.05),
        ("LC 4K-32K", 2, 0.001, 0.001, 0.001, 0.9),
        ("LC 32K-64K", 3, 0.012, low, 0.02, 0.04),
        ("LC 32K-64K", 4, 0.018, 0.016, 0.02, 0.05 * whole),
    )
    assert says("thesis_outer_drop_grows", frame) == f"{expected}: 1.8000"


# --- pretrained models

GEOMETRY = "column label metric value low high n context"


def geometry(metric, low, high, n=20):
    return rows(
        GEOMETRY,
        ("mine", "Mine", metric, (low + high) / 2, low, high, n, 2048),
        ("reported", "reported", metric, 0.5, 0.4, 0.6, 13, 0),
        ("small", "small", metric, 9.0, 9.0, 9.0, 3, 0),
        *[("reported", "reported", name, 0.5, 0.4, 0.6, 13, 0) for name in NAMES if name != metric],
    )


NAMES = ("ap_overall", "ap_drop", "plane_var")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.4, 0.6, "holds"), (0.39, 0.6, "not supported"), (0.4, 0.61, "not supported"), (0.2, 0.39, "contradicted"),
        (0.61, 0.7, "contradicted"), (0.3, 0.4, "not supported"), (0.6, 0.7, "not supported"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("metric", NAMES)
def test_model_in_range_needs_its_whole_interval_inside(metric, low, high, expected):
    answers = say("thesis_pretrained_in_range", geometry(metric, low, high))
    assert answers == {f"mine_{metric}": f"{expected}: {(low + high) / 2:.4f}"}


@pytest.mark.parametrize(("n", "expected"), [(9, "not testable"), (10, "holds")])
def test_model_with_few_heads_is_not_judged(n, expected):
    assert verdict("thesis_pretrained_in_range", geometry("ap_drop", 0.4, 0.6, n)) == expected
    assert verdict("thesis_pretrained_falls", geometry("ap_drop", 0.4, 0.6, n)) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.1, 0.2, "holds"), (-0.1, 0.2, "not significant"), (-0.2, 0.1, "not supported"), (-0.2, -0.1, "contradicted")],
)
def test_fall_of_plasticity_is_judged_by_interval_over_heads(low, high, expected):
    assert verdict("thesis_pretrained_falls", geometry("ap_drop", low, high)) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.41, 0.5, "holds"), (0.35, 0.5, "not significant"), (0.3, 0.39, "contradicted"), (0.3, 0.45, "not supported")],
)
def test_pretrained_drift_must_exceed_the_least_reported_model(low, high, expected):
    assert verdict("thesis_pretrained_drift", geometry("r_q_a", low, high)) == expected


def massive(query, key, value):
    columns = "model display_name threshold where tensor count low high texts"
    table = []
    for tensor, (low, high) in {"query": query, "key": key, "value": value}.items():
        table += [("a", "A", 5.0, "pre", tensor, (low + high) / 2, low, high, 8)]
        table += [
            ("a", "A", 3.0, "pre", tensor, 99.0, 99.0, 99.0, 8),
            ("a", "A", 5.0, "post", tensor, 0.0, 0.0, 0.0, 8),
        ]
    return rows(columns, *table)


@pytest.mark.parametrize(
    ("query", "key", "value", "expected"),
    [
        ((10, 12), (4, 6), (0, 2), ("holds: 6.0000", "holds: 4.0000")),
        ((4, 6), (10, 12), (0, 2), ("contradicted: -6.0000", "holds: 4.0000")),
        ((6, 12), (4, 6), (0, 2), ("not supported: 4.0000", "holds: 4.0000")),
        ((10, 12), (4, 6), (2, 4), ("holds: 6.0000", "not supported: 2.0000")),
        ((10, 12), (4, 6), (7, 8), ("holds: 6.0000", "contradicted: -2.5000")),
    ],
)
def test_massive_counts_differ_when_their_intervals_are_disjoint(query, key, value, expected):
    assert tuple(say("thesis_pretrained_massive", massive(query, key, value)).values()) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.005, 0.007, "holds"), (0.005, 0.0072, "not supported"), (0.0071, 0.009, "contradicted")],
)
def test_captures_differ_by_less_than_a_reported_pair(low, high, expected):
    table = rows(
        "model display_name metric noise_low noise_high twice_sd twin_difference documents splits",
        ("a", "A", "ap_drop", low, high, 0.008, 0.01, 16, 7),  # the pair's .01 is .00707 times the square root of two
        ("a", "A", "plane_var", 9.0, 9.0, 9.0, None, 16, 7),
        ("a", "A", "another", 9.0, 9.0, 9.0, 1.0, 16, 7),
    )
    assert say("thesis_pretrained_noise", table) == {"a_ap_drop": f"{expected}: 0.0080"}
