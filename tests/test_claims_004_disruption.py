"""Claims on document 004 about zeroing massive dimensions, on hand-made frames: seeds, texts, and usability."""

import pytest

from claims_cases import function, prints, reason, rows, say, says, states, verdict, verdicts

CONTRAST = "RoPE against DroPE: massive minus random"
ALONE = "RoPE against DroPE: massive increase alone"
TESTS = "comparison test unit p_value n estimate ci_low ci_high effect"


def seeds(*, p=0.001, effect=1500.0, alone=2000.0):
    """Return four tests over ten seeds (three against random dimensions, one without them) and one over three texts."""
    names = ("RoPE: massive against random", "DroPE: massive against random", CONTRAST)
    table = [(name, "t", "seed", p, 10, 2.0, 1.0, 3.0, effect) for name in names]
    table += [(ALONE, "t", "seed", p, 10, 2.0, 1.0, 3.0, alone)]
    table += [(CONTRAST, "log_perplexity_contrast", "text", 0.04, 3, 2.0, 1.0, 3.0, 1.0)]
    return rows(TESTS, *table)


def test_seeds_are_compared_with_the_published_trials():
    for counts, expected in (((10, 10), "holds: 10"), ((10, 9), "contradicted: 10"), ((5, 5), "contradicted: 5")):
        for distinct, phrase in ((1, "draws the random control only."), (3, "control and moves the massive run.")):
            trials = rows("seeds massive_values", *[(count, distinct) for count in counts])
            assert says("c004_disruption_settings", states(s3_1_seeds="10"), trials) == expected
            assert phrase in reason("c004_disruption_settings", states(s3_1_seeds="10"), trials)


STATISTICS = prints(
    "statistic comparison printed",
    ("paired_t_p", "RoPE", "< 0.001"),
    ("paired_t_p", "DroPE", "< 0.01"),
    ("independent_t_p", "RoPE against DroPE", "< 0.0001"),
    ("cohens_d", "RoPE against DroPE", "> 1000"),
    ("reliance_ratio", "RoPE against DroPE", "82x"),
)


def test_p_bound_holds_only_when_p_is_below_it():
    judged = verdicts("c004_p_bounds", STATISTICS, seeds(p=0.0005))
    assert list(judged.values()) == ["holds", "holds", "contradicted"]
    assert set(verdicts("c004_p_bounds", STATISTICS, seeds(p=0.02)).values()) == {"contradicted"}
    assert set(verdicts("c004_p_bounds", STATISTICS, seeds(p=0.00002)).values()) == {"holds"}


def test_seeds_count_as_units_only_with_distinct_values():
    for distinct, expected in ((10, "holds: 2.0 nats"), (1, "not supported: 2.0 nats")):
        trials = rows("seeds massive_values", (10, 10), (10, distinct))
        assert says("c004_seeds_as_unit", trials, seeds()) == expected


@pytest.mark.parametrize(
    ("effect", "alone", "expected"),
    [(1500.0, 2000.0, "holds: 1,500"), (1500.0, None, "not supported: 1,500"), (900.0, 2000.0, "contradicted: 900")],
)
def test_cohens_d_needs_a_spread_over_seeds(effect, alone, expected):
    # the pooled d of both models is ignored, since the source's script computes another quantity
    table = seeds(effect=5.0, alone=alone).astype({"effect": float})
    trials = rows("positional seeds mr_d", ("RoPE", 10, 1e5), ("DroPE", 10, effect))
    assert says("c004_cohens_d", STATISTICS, trials, table) == expected
    end = "d has no finite value." if alone is None else "alone d is 2,000."
    assert reason("c004_cohens_d", STATISTICS, trials, table).endswith(end)
    assert f"{effect:,.0f} for DroPE" in reason("c004_cohens_d", STATISTICS, trials, table)


@pytest.mark.parametrize(
    ("chosen", "other", "expected"),
    [
        (82.3, 81.6, ("holds", "holds")),
        (82.3, 40.0, ("holds", "not supported")),
        (85.0, 90.0, ("contradicted", "holds")),
    ],
)
def test_stated_ratio_is_checked_for_every_text(chosen, other, expected):
    ratios = rows(
        "text ratio_of_percentages ratio_of_nats difference_nats", ("news", chosen, 2.0, 3.0), ("code", other, 1.5, 2.0)
    )
    texts = rows("text positional selected", ("news", "RoPE", True), ("code", "RoPE", False))
    judged = verdicts("c004_reliance", STATISTICS, ratios, texts)
    assert (judged["ratio"], judged["reliance"]) == expected


def by_text(*ratios):
    """Return the perplexity ratio on each text: `ratios` for DroPE, 1000 for RoPE."""
    columns = "positional text massive_ratio massive_nats massive_increase"
    table = [("DroPE", str(index), ratio, 2.0, 100 * (ratio - 1)) for index, ratio in enumerate(ratios)]
    table += [("RoPE", str(index), 1000.0, 7.0, 99900.0) for index, _ in enumerate(ratios)]
    return rows(columns, *table)


def test_degradation_claim_is_not_supported_by_tenfold_perplexity():
    assert says("c004_only_degrades", by_text(3.0, 9.0)) == "holds: 3 to 9 times"
    assert says("c004_only_degrades", by_text(3.0, 10.0)) == "not supported: 3 to 10 times"


@pytest.mark.parametrize(
    ("largest", "difference", "repeats", "expected"),
    [
        (3.0, 1.0, 1, {"RoPE": "holds", "DroPE": "holds", "order": "holds"}),
        (3.04, 1.0, 1, {"RoPE": "holds", "DroPE": "holds", "order": "holds"}),  # 2.04 times rounds to 2.0
        (3.06, 1.0, 1, {"RoPE": "holds", "DroPE": "contradicted", "order": "holds"}),
        (3.0, -1.0, 1, {"RoPE": "holds", "DroPE": "holds", "order": "contradicted"}),
        (3.0, 1.0, 50, {"RoPE": "holds", "DroPE": "holds", "order": "not supported"}),
    ],
)
def test_text_types_are_compared_by_size_and_order(largest, difference, repeats, expected):
    # the printed increases are 100 and 200 %, a ratio of two
    printed = prints(
        "positional text printed",
        *[(model, text, value) for model in ("RoPE", "DroPE") for text, value in (("0", "100%"), ("1", "200%"))],
    )
    ratios = rows("text difference_nats", ("0", 5.0), ("1", difference))
    copies = rows("experiment repeats", ("2", repeats), ("2", 50), ("3", 1))
    assert verdicts("c004_text_types", printed, by_text(2.0, largest), ratios, copies) == expected


# --- layer 1 removed

EFFECTS = "positional condition ratio ratio_low ratio_high ablated_printed baseline_ppl ratio_printed nats"


def effects(**ratios):
    """Return perplexity ratios over a baseline of 10, for DroPE, or for RoPE if the name begins with `rope_`."""
    table = []
    for name, ratio in ratios.items():
        model = "RoPE" if name.startswith("rope_") else "DroPE"
        condition = name.removeprefix("rope_")
        table.append((model, condition, ratio, ratio - 0.2, ratio + 0.2, str(10 * ratio), 10.0, f"{ratio:g}x", 5.0))
    return rows(EFFECTS, *table)


def contrast(name, model="both", **values):
    numbers = {
        "ratio": 9.0, "ratio_low": 8.9, "ratio_high": 9.1,
        "nats_ratio": 1.4, "first_nats": 7.0, "second_nats": 5.0, "increase_ratio": 700.0,
    } | values  # fmt: skip
    return rows(" ".join(["contrast", "positional", *numbers]), (name, model, *numbers.values()))


def test_perplexity_ratios_are_those_of_the_ablated_model():
    table = prints(
        "condition positional metric printed",
        ("layer1_mlp", "DroPE", "ppl_ratio", "201x"),
        ("layer1_attn", "DroPE", "ppl_ratio", "202x"),
    )
    answers = say("c004_layer1_ratios", table, effects(layer1_mlp=201.1, layer1_attn=201.1))
    assert answers == {"DroPE-layer1_mlp": "holds: 201.1", "DroPE-layer1_attn": "contradicted: 201.1"}


RATIOS = prints(
    "condition positional metric printed",
    ("layer1_mlp", "RoPE", "ppl_ratio", "1,800x"),
    ("layer1_attn", "RoPE", "ppl_ratio", "2.5x"),
    ("layer1_attn", "DroPE", "ppl_ratio", "9x"),
)


def test_ratio_of_perplexities_is_distinguished_from_a_ratio_of_effects():
    stated = states(s7_4_rope_mlp_over_attention="725x")
    for nats, expected in ((101.0, "holds"), (5.0, "not supported")):
        row = contrast("mlp_over_attention", "RoPE", ratio=725.2, ratio_low=724, ratio_high=726, nats_ratio=nats)
        assert verdicts("c004_mlp_over_attention", row, RATIOS, stated) == {"number": "holds", "meaning": expected}
    row = contrast("mlp_over_attention", "RoPE", ratio=730.0, ratio_low=725.2, ratio_high=735)
    assert verdicts("c004_mlp_over_attention", row, RATIOS, stated)["number"] == "holds after rounding"
    row = contrast("mlp_over_attention", "RoPE", ratio=730.0, ratio_low=728, ratio_high=732)
    assert verdicts("c004_mlp_over_attention", row, RATIOS, stated)["number"] == "contradicted"
    # 1,800 over 2.5
    (number, _) = function("c004_mlp_over_attention")(row, RATIOS, stated)
    assert "the printed ratios, 1,800x over 2.5x, give 720." in number.reason


@pytest.mark.parametrize(
    ("share", "expected"), [(0.95, "holds: 95% of the sum"), (0.5, "not supported: 50% of the sum")]
)
def test_uniform_dependence_claim_needs_additive_effects(share, expected):
    table = effects(layer1_mlp=201.0, layer1_attn=210.0, layer1_both=220.0)
    sums = contrast("additivity", "DroPE", nats_ratio=share)
    tasks = rows(
        "condition positional right_high",
        *[("layer1_mlp", "DroPE", right_count) for right_count in (0, 0, 4)],
        *[("layer1_attn", "DroPE", 0), ("layer1_both", "DroPE", 0), ("layer1_mlp", "RoPE", 0)],
    )
    stated = states(s7_4_drope_either="~201x")
    answers = say("c004_drope_uniform", table, sums, tasks, stated)
    explanation = function("c004_drope_uniform")(table, sums, tasks, stated)[-1].reason
    assert "with either removed 3 of 4 task results are 0%" in explanation
    assert answers["equal"] == expected
    assert answers["layer1_mlp"].startswith("holds")
    assert answers["layer1_attn"].startswith("contradicted")  # 201 stands for 199.5 to 202.5


def test_resilience_claim_is_contradicted_by_a_task_at_zero():
    stated = states(s7_4_resilience_ratio="9x")
    for right_count, expected in ((1, "holds"), (0, "not supported")):
        tasks = rows("condition right_high", ("layer1_mlp", 4), ("layer1_mlp", right_count), ("layer1_attn", 0))
        judged = verdicts("c004_drope_more_resilient", contrast("mlp_rope_over_drope"), tasks, stated)
        assert judged == {"number": "holds", "meaning": expected}


def test_total_gap_is_recomputed_from_the_stated_contrast():
    row = contrast("rope_mlp_over_drope_both", ratio=9.3, ratio_low=9.2, ratio_high=9.4)
    assert verdict("c004_total_criticality", row, states(s7_5_total_gap="9x")) == "holds"
    assert verdict("c004_total_criticality", row, states(s7_5_total_gap="10x")) == "contradicted"


@pytest.mark.parametrize(
    ("rope", "drope", "expected", "phrase"),
    [
        (0.4, 0.4, "holds: 40% and 40%", "most of what is lost sits at other tokens"),
        (0.4, 0.6, "not supported: 40% and 60%", "in one model most of what is lost"),
        (0.6, 0.6, "not supported: 60% and 60%", "(nats): most of what is lost sits at one token"),
    ],
)
def test_position_in_mlp_claim_needs_less_than_half_at_the_first_token(rope, drope, expected, phrase):
    shares = [contrast("bos_only_over_mlp", m, nats_ratio=v) for m, v in (("RoPE", rope), ("DroPE", drope))]
    table = shares[0].merge(shares[1], how="outer")
    ablated_both = effects(rope_layer1_both=900.0, rope_layer1_mlp=1000.0)
    assert says("c004_position_in_mlp", table, ablated_both) == expected
    assert phrase in reason("c004_position_in_mlp", table, ablated_both)
